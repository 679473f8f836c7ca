//! What senders are at over time, and what most limited them.

use crate::flows::flow_name;
use crate::result::{LimitResult, SenderResult};
use scenario::Traffic;
use std::collections::BTreeMap;
use transport::{SenderLimit, SenderState};
use units::{FlowId, Instant};
use workload::Rows;

/// More moments are not kept, of all senders together.
pub const MOST: usize = 500_000;

/// The senders of a run.
#[derive(Debug, Default)]
pub struct Senders {
    /// Their courses, by flow.
    courses: BTreeMap<FlowId, SenderCourse>,
    /// How many moments these have.
    moments: usize,
    /// There were more.
    more: bool,
    /// What keeps the network from deciding the rate of flows.
    limits: Vec<(FlowId, LimitResult)>,
}

/// A sender's.
#[derive(Debug)]
struct SenderCourse {
    result: SenderResult,
    /// The last moment, and the bytes acknowledged until then.
    last: (Instant, u64),
}

impl Senders {
    /// A sender is at `state`; `name` has the name of its flow in results, and its congestion control.
    pub fn at(
        &mut self,
        now: Instant,
        flow: FlowId,
        state: &SenderState,
        name: impl FnOnce() -> (String, String),
    ) {
        if self.moments == MOST {
            self.more = true;
            return;
        }
        self.moments += 1;
        let course = self.courses.entry(flow).or_insert_with(|| {
            let (name, control) = name();
            let result = SenderResult {
                flow: flow.0,
                name,
                control,
                ..SenderResult::default()
            };
            let last = (Instant::ZERO, 0);
            SenderCourse { result, last }
        });
        course.add(now, state);
    }

    /// A flow of `entry` waited for `limit` in this share of its time, more than half. Noted is what keeps the
    /// network from deciding its rate: the receiver's window, or the application of a transfer without an end, which
    /// should never lack data. Window and pacing are what the network decides, by losses, marks and delays; the queue of
    /// its own computer is one of the network's.
    pub fn limited(
        &mut self,
        flow: FlowId,
        entry: &Traffic,
        number: u32,
        limit: SenderLimit,
        share: f64,
    ) {
        let kind = &entry.kind;
        let is_noted = match limit {
            SenderLimit::Receiver => matches!(kind.entry.rows, Rows::Flows | Rows::Call),
            SenderLimit::Application => kind.entry.rows == Rows::Flows && kind.workload.lasts(),
            SenderLimit::Window | SenderLimit::Pacing | SenderLimit::Computer => false,
        };
        if is_noted {
            let result = LimitResult {
                name: flow_name(entry, number),
                entry: entry.name.clone(),
                by: limit.name().to_owned(),
                share,
            };
            self.limits.push((flow, result));
        }
    }

    /// The courses, in the order in which flows started, and whether all moments are in them.
    pub fn results(&mut self) -> (Vec<SenderResult>, bool) {
        let courses = core::mem::take(&mut self.courses).into_values();
        let results = courses.map(|course| course.result).collect();
        (results, !self.more)
    }

    /// The limits that were noted, in the order in which flows started.
    pub fn limits(&mut self) -> Vec<LimitResult> {
        let mut limits = core::mem::take(&mut self.limits);
        limits.sort_by_key(|(flow, _)| *flow);
        limits.into_iter().map(|(_, limit)| limit).collect()
    }
}

impl SenderCourse {
    fn add(&mut self, now: Instant, state: &SenderState) {
        let (before, acked) = self.last;
        self.last = (now, state.acked);
        let span = now.since(before).as_secs_f64();
        let delivered = state.acked.saturating_sub(acked) as f64 * 8e-6;
        let first = self.result.time_s.is_empty();
        let to = &mut self.result;
        to.time_s.push(now.as_secs_f64());
        to.window_bytes.push(state.window);
        to.in_flight_bytes.push(state.in_flight);
        to.srtt_ms.push(state.srtt.map(|srtt| srtt.as_millis_f64()));
        to.pacing_mbps
            .push(state.pacing.map(|rate| rate.as_mbit_f64()));
        to.delivered_mbps
            .push((!first && span > 0.0).then(|| delivered / span));
        to.phase.push(state.phase.name().to_owned());
        to.limit
            .push(state.limit.map(|limit| limit.name().to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn state(acked: u64) -> SenderState {
        SenderState {
            window: Some(30_000),
            pacing: None,
            srtt: Some(Duration::from_millis(40)),
            in_flight: 20_000,
            acked,
            phase: cca::ControlPhase::SlowStart,
            limit: Some(SenderLimit::Window),
        }
    }

    #[test]
    fn a_course_has_the_rate_between_its_moments() {
        let mut senders = Senders::default();
        for (ms, acked) in [(100, 10_000), (200, 60_000), (300, 60_000)] {
            let at = Instant::ZERO + Duration::from_millis(ms);
            let name = || ("bulk".to_owned(), "reno".to_owned());
            senders.at(at, FlowId(3), &state(acked), name);
        }
        let (results, all) = senders.results();
        assert!(all);
        let [course] = results.as_slice() else {
            panic!("{results:?}");
        };
        assert_eq!(course.name, "bulk");
        assert_eq!(course.time_s, [0.1, 0.2, 0.3]);
        // 50 kB in 100 ms.
        let [None, Some(moved), Some(0.0)] = course.delivered_mbps[..] else {
            panic!("{:?}", course.delivered_mbps);
        };
        assert!((moved - 4.0).abs() < 1e-9, "{moved}");
        assert_eq!(course.window_bytes, [Some(30_000); 3]);
        assert_eq!(course.phase[0], "slow_start");
    }

    #[test]
    fn what_is_beyond_the_most_is_not_kept_and_that_is_told() {
        let mut senders = Senders {
            moments: MOST - 1,
            ..Senders::default()
        };
        let name = || (String::new(), String::new());
        senders.at(Instant::ZERO, FlowId(1), &state(0), name);
        let mut exactly = Senders {
            moments: MOST - 1,
            ..Senders::default()
        };
        exactly.at(Instant::ZERO, FlowId(1), &state(0), name);
        assert!(exactly.results().1, "none is left out");
        senders.at(Instant::ZERO, FlowId(2), &state(0), name);
        let (results, all) = senders.results();
        assert_eq!((results.len(), all), (1, false));
    }
}
