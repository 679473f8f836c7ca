//! `verdict` and `credited`: the verdicts of flows that look for fair queuing on their path, and
//! for how long.

use super::declared::{Better, Metric, Range};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use cca::Notice;
use cca::tonopah::NoticeKind;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::{Duration, FlowId, Instant};

/// Shares of time by verdict, for the registry.
pub const VERDICT: Metric = Metric {
    name: VERDICT_NAME,
    unit: "%",
    range: Range::PERCENT,
    summary: "share of time for which flows have this verdict on their path: `verdict:fair`, \
        `:shared`, `:unknown`",
    about: "Share of the time after the warm-up for which flows with such a control were open; \
        without such flows there is no value. `verdict:fair` is right behind fair queues, \
        `verdict:shared` behind one queue for all; `verdict:unknown` is never right. \
        `verdict:decided` is the share of `verdict:fair` in `verdict:fair` and `verdict:shared` \
        together. A scenario has to ask for it: metrics = [\"verdict\"].",
    source: "Bachl 2022, section III: accuracy is a share of time",
    better: Better::More,
    column: None,
    meter: Some(|scenario| Box::new(Verdicts::new(scenario))),
    take: |observed, of| found(observed, VERDICT_NAME, of),
};

/// The same as the paper's author counted it, for the registry.
pub const CREDITED: Metric = Metric {
    name: CREDITED_NAME,
    unit: "%",
    range: Range::PERCENT,
    summary: "time credited to window reductions for fair queuing, of all up to the last reduction",
    about: "The time between two reductions of the window counts for the later one, which is for \
        fair queuing, or for a loss or mark. The author's evaluation computes in this way what the \
        paper calls accuracy behind fair queues (the rest to 100 is that behind other queues). No \
        time is left out as warm-up. A scenario has to ask for it: metrics = [\"credited\"].",
    source: "Bachl's network_sim.py, with Bachl 2022",
    better: Better::More,
    column: None,
    meter: Some(|_| Box::<Credited>::default()),
    take: |observed, of| found(observed, CREDITED_NAME, of),
};

/// How soon a verdict follows a path that changes, for the registry.
pub const FOLLOWS: Metric = Metric {
    name: FOLLOWS_NAME,
    unit: "s",
    range: Range::Time,
    summary: "time after the warm-up until a flow's verdict changes",
    about: "For a path that changes when the warm-up ends: the time until the flow's verdict \
        changes from one queue to fair queuing, or the other way round; all the measured time if \
        it never changes. Without an earlier verdict there is no value. A scenario has to ask for \
        it: metrics = [\"verdict_follows\"].",
    source: "this project",
    better: Better::Less,
    column: None,
    meter: Some(|scenario| Box::new(Follows::new(scenario))),
    take: |observed, of| found(observed, FOLLOWS_NAME, of),
};

const FOLLOWS_NAME: &str = "verdict_follows";
const VERDICT_NAME: &str = "verdict";
const CREDITED_NAME: &str = "credited";
const KINDS: [(NoticeKind, &str); 3] = [
    (NoticeKind::Fair, "fair"),
    (NoticeKind::Shared, "shared"),
    (NoticeKind::Unknown, "unknown"),
];

struct Verdicts {
    from: Instant,
    end: Instant,
    /// The verdict of each open flow, and since when. Flows without one are not here.
    says: BTreeMap<FlowId, (NoticeKind, Instant)>,
    time: BTreeMap<NoticeKind, Duration>,
}

impl Verdicts {
    fn new(scenario: &Scenario) -> Self {
        Verdicts {
            from: Instant::ZERO + scenario.warmup,
            end: Instant::ZERO + scenario.duration,
            says: BTreeMap::new(),
            time: BTreeMap::new(),
        }
    }

    fn count(&mut self, kind: NoticeKind, since: Instant, until: Instant) {
        *self.time.entry(kind).or_default() += until.since(since.max(self.from));
    }
}

impl Sink for Verdicts {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Noticed { flow, notice } => {
                let new = match notice {
                    Notice::Verdict(kind) => kind,
                    // It looks, and has no verdict.
                    Notice::Reduced | Notice::Congested => {
                        let said = self.says.get(&flow);
                        said.map_or(NoticeKind::Unknown, |(kind, _)| *kind)
                    }
                };
                if let Some((old, since)) = self.says.insert(flow, (new, now)) {
                    self.count(old, since, now);
                }
            }
            Event::Traffic(workload::Event::FlowEnded { flow }) => {
                if let Some((kind, since)) = self.says.remove(&flow) {
                    self.count(kind, since, now);
                }
            }
            _ => {}
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Verdicts {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let end = self.end;
        for (kind, since) in core::mem::take(&mut self.says).into_values() {
            self.count(kind, since, end);
        }
        let all: f64 = self.time.values().map(|time| time.as_secs_f64()).sum();
        let value = |(kind, name): (NoticeKind, &str)| {
            let time = self.time.get(&kind).copied().unwrap_or_default();
            MeasuredValue {
                of: name.to_owned(),
                at: None,
                value: 100.0 * time.as_secs_f64() / all,
            }
        };
        let some = all > 0.0;
        let mut values: Vec<_> = KINDS.into_iter().filter(|_| some).map(value).collect();
        let time = |kind| self.time.get(&kind).map_or(0.0, |time| time.as_secs_f64());
        let (fair, decided) = (
            time(NoticeKind::Fair),
            time(NoticeKind::Fair) + time(NoticeKind::Shared),
        );
        values.extend((decided > 0.0).then(|| MeasuredValue {
            of: "decided".to_owned(),
            at: None,
            value: 100.0 * fair / decided,
        }));
        values
    }
}

/// Times that ended with a reduction of each kind, up to the last one.
#[derive(Default)]
struct Credited {
    last: Option<Instant>,
    fair: Duration,
    all: Duration,
}

impl Sink for Credited {
    fn event(&mut self, now: Instant, event: &Event) {
        let Event::Noticed { notice, .. } = *event else {
            return;
        };
        if let Notice::Verdict(_) = notice {
            return;
        }
        let time = self.last.map_or(Duration::ZERO, |last| now.since(last));
        self.all += time;
        if notice == Notice::Reduced {
            self.fair += time;
        }
        self.last = Some(now);
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Credited {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let value = || MeasuredValue {
            of: String::new(),
            at: None,
            value: 100.0 * self.fair.as_secs_f64() / self.all.as_secs_f64(),
        };
        let some = self.all > Duration::ZERO;
        some.then(value).into_iter().collect()
    }
}

/// The last verdict before a moment, and the first other one after it.
struct Follows {
    from: Instant,
    end: Instant,
    before: Option<NoticeKind>,
    followed: Option<Instant>,
}

impl Follows {
    fn new(scenario: &Scenario) -> Self {
        Follows {
            from: Instant::ZERO + scenario.warmup,
            end: Instant::ZERO + scenario.duration,
            before: None,
            followed: None,
        }
    }
}

impl Sink for Follows {
    fn event(&mut self, now: Instant, event: &Event) {
        let Event::Noticed { notice, .. } = *event else {
            return;
        };
        let Notice::Verdict(kind @ (NoticeKind::Fair | NoticeKind::Shared)) = notice else {
            return;
        };
        if now < self.from {
            self.before = Some(kind);
        } else if self.before.is_some_and(|before| before != kind) {
            self.followed.get_or_insert(now);
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Follows {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let value = |_| MeasuredValue {
            of: String::new(),
            at: None,
            value: self
                .followed
                .unwrap_or(self.end)
                .since(self.from)
                .as_secs_f64(),
        };
        self.before.map(value).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    fn noticed(meter: &mut dyn Meter, s: u64, notice: Notice) {
        let flow = FlowId(7);
        meter.event(at(s), &Event::Noticed { flow, notice });
    }

    fn value(found: &[MeasuredValue], of: &str) -> Option<f64> {
        let found = found.iter().find(|value| value.of == of);
        found.map(|value| value.value)
    }

    #[test]
    fn each_verdict_has_its_share_of_the_time_after_the_warm_up() {
        let mut meter = Verdicts {
            from: at(10),
            end: at(30),
            says: BTreeMap::new(),
            time: BTreeMap::new(),
        };
        noticed(&mut meter, 2, Notice::Congested);
        noticed(&mut meter, 14, Notice::Verdict(NoticeKind::Fair));
        noticed(&mut meter, 16, Notice::Reduced);
        noticed(&mut meter, 25, Notice::Verdict(NoticeKind::Shared));
        let found = meter.finish();
        assert_eq!(value(&found, "unknown"), Some(20.0), "10 to 14");
        assert_eq!(value(&found, "fair"), Some(55.0), "14 to 25");
        assert_eq!(value(&found, "shared"), Some(25.0), "25 to 30");
        assert_eq!(value(&found, "decided"), Some(100.0 * 11.0 / 16.0));
    }

    #[test]
    fn who_does_not_look_has_no_verdict() {
        let mut meter = Verdicts {
            from: at(0),
            end: at(30),
            says: BTreeMap::new(),
            time: BTreeMap::new(),
        };
        assert!(meter.finish().is_empty());
    }

    #[test]
    fn a_verdict_follows_when_it_is_another_one() {
        let run = |notices: &[(u64, NoticeKind)]| {
            let mut meter = Follows {
                from: at(10),
                end: at(30),
                before: None,
                followed: None,
            };
            for (s, kind) in notices {
                noticed(&mut meter, *s, Notice::Verdict(*kind));
            }
            value(&meter.finish(), "")
        };
        let before = (4, NoticeKind::Shared);
        assert_eq!(
            run(&[before, (12, NoticeKind::Unknown), (17, NoticeKind::Fair)]),
            Some(7.0)
        );
        assert_eq!(
            run(&[before, (12, NoticeKind::Unknown), (17, NoticeKind::Shared)]),
            Some(20.0)
        );
        assert_eq!(run(&[(17, NoticeKind::Fair)]), None);
    }

    #[test]
    fn time_is_credited_to_the_reduction_that_ends_it() {
        let mut meter = Credited::default();
        noticed(&mut meter, 2, Notice::Congested);
        noticed(&mut meter, 10, Notice::Reduced);
        noticed(&mut meter, 11, Notice::Verdict(NoticeKind::Fair));
        noticed(&mut meter, 12, Notice::Congested);
        let found = meter.finish();
        assert_eq!(value(&found, ""), Some(80.0));
        assert!(Credited::default().finish().is_empty());
    }
}
