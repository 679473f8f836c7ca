//! When to probe, and at which rate.
//!
//! libwebrtc's `probe_controller.cc`: exponential probing at the start, periodic probing while the
//! encoder leaves the estimate unused, if that is enabled, and one probe after a large drop.

use crate::Probe;
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// The first two probes, in start rates.
const FIRST: [f64; 2] = [3.0, 6.0];
/// Probes that follow, in estimates.
const FURTHER: f64 = 2.0;
/// The part of a probe's own rate that it must have reached for another to follow.
const WORTH_FURTHER: f64 = 0.7;
/// How long a result is waited for.
const WAIT: Duration = Duration::from_secs(1);
/// Time in the application-limited region, and between probes in it.
const ALR_INTERVAL: Duration = Duration::from_secs(5);
/// A fall to less than this is a large drop.
const LARGE_DROP: f64 = 0.66;
/// After one: the part of the rate to probe for, how late, and how often.
const RECOVERY: f64 = 0.85;
const RECOVERY_TIME: Duration = Duration::from_secs(5);
/// Expected uncertainty of a result.
const UNCERTAINTY: f64 = 0.05;
/// Least length of a burst, in time and in packets.
const SPAN: Duration = Duration::from_millis(15);
const PACKETS: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
enum ProbeState {
    /// No probe was sent yet.
    Fresh,
    /// A result above this rate lets another probe follow.
    Waiting(f64),
    /// All results are in, or were waited for in vain.
    Complete,
}

/// The controller's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Prober {
    state: ProbeState,
    pending: VecDeque<Probe>,
    next_id: u32,
    /// No probes above this rate.
    most: f64,
    estimate: f64,
    /// A queue grows or drains, packets get lost, or feedback is missing: a probe would do harm.
    blocked: bool,
    started: Instant,
    /// When the last large drop was, and the estimate before it.
    drop: Option<(Instant, f64)>,
    recovered: Option<Instant>,
}

impl Prober {
    /// For probes of `most` at most, starting at `estimate`.
    pub fn new(estimate: f64, most: f64) -> Self {
        Prober {
            state: ProbeState::Fresh,
            pending: VecDeque::new(),
            next_id: 1,
            most,
            estimate,
            blocked: false,
            started: Instant::ZERO,
            drop: None,
            recovered: None,
        }
    }

    /// The next burst to send.
    pub fn take(&mut self, now: Instant) -> Option<Probe> {
        if self.state == ProbeState::Fresh {
            self.state = ProbeState::Complete;
            self.initiate(now, &FIRST.map(|scale| scale * self.estimate), true);
        }
        self.pending.pop_front()
    }

    /// The estimate is now `rate`; `blocked` while a probe would do harm.
    pub fn set_estimate(&mut self, now: Instant, rate: f64, blocked: bool) {
        if rate < LARGE_DROP * self.estimate {
            self.drop = Some((now, self.estimate));
        }
        self.estimate = rate;
        self.blocked = blocked;
        if let ProbeState::Waiting(above) = self.state
            && rate > above
        {
            self.initiate(now, &[FURTHER * rate], true);
        }
    }

    /// Gives up waiting, and probes periodically in the application-limited region that lasts
    /// since `limited_since`.
    pub fn process(&mut self, now: Instant, limited_since: Option<Instant>) {
        if matches!(self.state, ProbeState::Waiting(_)) && now.since(self.started) > WAIT {
            self.state = ProbeState::Complete;
        }
        if self.state == ProbeState::Complete
            && let Some(since) = limited_since
            && now >= since.max(self.started) + ALR_INTERVAL
        {
            self.initiate(now, &[FURTHER * self.estimate], true);
        }
    }

    /// Overuse has ended: was it a short disturbance? A probe at a little less than the rate
    /// before the drop finds out.
    pub fn on_recovery(&mut self, now: Instant) {
        let Some((at, before)) = self.drop else {
            return;
        };
        let rate = RECOVERY * before;
        let due = self
            .recovered
            .is_none_or(|last| now.since(last) > RECOVERY_TIME);
        if self.state == ProbeState::Complete
            && due
            && now.since(at) < RECOVERY_TIME
            && (1.0 - UNCERTAINTY) * rate > self.estimate
        {
            self.recovered = Some(now);
            self.initiate(now, &[rate], false);
        }
    }

    fn initiate(&mut self, now: Instant, rates: &[f64], further: bool) {
        if self.blocked {
            return;
        }
        let cap = self.most;
        let last = rates.iter().copied().fold(0.0, f64::max);
        for &rate in rates {
            self.pending.push_back(Probe {
                id: self.next_id,
                rate: Rate::from_bits(rate.min(cap) as u64),
                span: SPAN,
                packets: PACKETS,
            });
            self.next_id = self.next_id.wrapping_add(1);
        }
        self.started = now;
        self.state = if further && last < cap {
            ProbeState::Waiting(WORTH_FURTHER * last)
        } else {
            ProbeState::Complete
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn rates(prober: &mut Prober, now: Instant) -> Vec<u64> {
        core::iter::from_fn(|| prober.take(now))
            .map(|probe| probe.rate.as_bits() / 1000)
            .collect()
    }

    #[test]
    fn exponential_at_the_start_while_results_are_good() {
        let mut prober = Prober::new(3e5, 1e7);
        assert_eq!(rates(&mut prober, at(0)), [900, 1800]);
        // 0.7·1800 = 1260 kbit/s is not reached by 900.
        prober.set_estimate(at(100), 9e5, false);
        assert_eq!(rates(&mut prober, at(100)), [0; 0]);
        prober.set_estimate(at(120), 1.7e6, false);
        assert_eq!(rates(&mut prober, at(120)), [3400]);
        // 0.7·3400 = 2380: not reached within a second, and too late after it.
        prober.process(at(1121), None);
        prober.set_estimate(at(1130), 3e6, false);
        assert_eq!(rates(&mut prober, at(1130)), [0; 0]);
    }

    #[test]
    fn a_probe_at_the_most_is_the_last() {
        let mut prober = Prober::new(3e5, 1e6);
        assert_eq!(rates(&mut prober, at(0)), [900, 1000]);
        prober.set_estimate(at(100), 9.9e5, false);
        assert_eq!(rates(&mut prober, at(100)), [0; 0]);
    }

    #[test]
    fn every_five_seconds_while_the_application_limits() {
        let mut prober = Prober::new(3e5, 1e7);
        rates(&mut prober, at(0));
        prober.process(at(1500), None);
        prober.process(at(5999), Some(at(1000)));
        assert_eq!(rates(&mut prober, at(5999)), [0; 0]);
        prober.process(at(6000), Some(at(1000)));
        assert_eq!(rates(&mut prober, at(6000)), [600]);
        // Not while overuse or loss limits.
        prober.set_estimate(at(6100), 3e5, true);
        prober.process(at(7500), Some(at(1000)));
        prober.process(at(12_000), Some(at(1000)));
        assert_eq!(rates(&mut prober, at(12_000)), [0; 0]);
    }

    #[test]
    fn one_probe_after_a_large_drop() {
        let mut prober = Prober::new(4e6, 1e7);
        rates(&mut prober, at(0));
        prober.process(at(1500), None);
        // 3 is more than 0.66·4: no large drop. 1.9 is less than 0.66·3.
        prober.set_estimate(at(2000), 3e6, true);
        prober.set_estimate(at(2100), 3e6, false);
        prober.on_recovery(at(2100));
        assert_eq!(rates(&mut prober, at(2100)), [0; 0]);
        prober.set_estimate(at(3000), 1.9e6, true);
        prober.set_estimate(at(3500), 1.9e6, false);
        // 0.85·3 = 2.55 Mbit/s.
        prober.on_recovery(at(3500));
        assert_eq!(rates(&mut prober, at(3500)), [2550]);
        prober.on_recovery(at(3600));
        assert_eq!(rates(&mut prober, at(3600)), [0; 0], "once in five seconds");
    }
}
