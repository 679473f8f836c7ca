//! How much of the buffer flows and classes occupy.
//!
//! Occupancy is in hundredths of a percent, sampled at the flow's own packets and averaged over
//! `interval`. It counts towards the class's occupancy only once it was measured in that class, so
//! that a flow passing through does not affect the verdict on those that stay.

use super::examine::{ClassMove, FULL, Rules};
use crate::Backlog;
use units::{Duration, Instant};

/// More is not told apart: ten times full.
const MOST: u64 = 10 * FULL;

/// The occupancy of a flow with `own` packets waiting in a buffer of `limit`.
pub(super) fn of_buffer(own: Backlog, limit: u32) -> u64 {
    (u64::from(own.packets) * FULL / u64::from(limit.max(1))).min(MOST)
}

/// The occupancy of a flow one of whose packets leaves after `sojourn`, with `own` bytes of it and
/// `class` bytes of the `waiting` flows of its class, all including the packet.
///
/// sojourn · own / class is the flow's backlog over the rate of its class (Little's law): the part
/// of the delay that it causes. Times the flows waiting, this is its backlog over its fair share of
/// that rate: the delay that it would have if all were like it. That does not depend on the class,
/// and the mean over the flows of a class is the delay of the class.
pub(super) fn of_delay(
    sojourn: Duration,
    own: u64,
    class: u64,
    waiting: u64,
    scale: Duration,
) -> u64 {
    let us = sojourn.as_micros().min(u64::from(u32::MAX));
    // At most 2^32 µs times 2^30 bytes of memory; then at most 2^32 µs times 2^16 flows times 10^4.
    let caused = us * own / class.max(1);
    (caused * waiting * FULL / scale.as_micros().max(1)).min(MOST)
}

/// A flow's measurement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlowWindow {
    start: Instant,
    sum: u64,
    samples: u64,
    /// The last complete interval's mean; none before the first.
    mean: Option<u64>,
    /// Whether `mean` was measured in the flow's present class.
    counted: bool,
}

impl FlowWindow {
    /// A flow that begins `now`.
    pub(super) fn new(now: Instant) -> Self {
        FlowWindow {
            start: now,
            ..FlowWindow::default()
        }
    }

    /// One sample.
    pub(super) fn sample(&mut self, occupancy: u64) {
        self.sum += occupancy;
        self.samples += 1;
    }

    /// Closes the interval if it is over; returns whether there is a new mean. An interval without
    /// samples has no effect.
    pub(super) fn close(&mut self, now: Instant, interval: Duration) -> bool {
        if now.since(self.start) < interval {
            return false;
        }
        let measured = self.samples > 0;
        if measured {
            self.mean = Some(self.sum / self.samples);
        }
        self.restart(now);
        measured
    }

    /// The best available value for the flow: the last complete interval, or the part of the first
    /// one seen so far; 0 if nothing was seen.
    pub(super) fn latest(&self) -> u64 {
        self.mean.unwrap_or(self.sum / self.samples.max(1))
    }

    /// The mean of the last complete interval, if there was one.
    pub(super) const fn mean(&self) -> Option<u64> {
        self.mean
    }

    /// Whether the class counts this flow.
    #[cfg(test)]
    pub(super) const fn counted(&self) -> bool {
        self.counted
    }

    fn restart(&mut self, now: Instant) {
        self.start = now;
        self.sum = 0;
        self.samples = 0;
    }
}

/// A class's measurement: the sum over its flows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClassOccupancy {
    sum: u64,
    flows: u64,
    judged: Option<Instant>,
    verdict: ClassMove,
}

impl ClassOccupancy {
    /// Takes in the new mean of a flow of this class.
    pub(super) fn count(&mut self, window: &mut FlowWindow, before: Option<u64>) {
        if window.counted {
            self.sum -= before.unwrap_or(0);
        } else {
            self.flows += 1;
        }
        window.counted = true;
        self.sum += window.mean.unwrap_or(0);
    }

    /// A flow leaves the class; its next interval starts `now`.
    pub(super) fn uncount(&mut self, window: &mut FlowWindow, now: Instant) {
        if window.counted {
            self.flows -= 1;
            self.sum -= window.mean.unwrap_or(0);
        }
        window.counted = false;
        window.restart(now);
    }

    /// Judges the length of class number `class` at most once an interval; in between the verdict
    /// stands, so that the flows of the class follow it one by one as they are examined.
    ///
    /// Of its `members` some may not have been measured here yet. They do not make the class long,
    /// but it is short only if it were with all of them like those that have been.
    pub(super) fn judge(
        &mut self,
        now: Instant,
        interval: Duration,
        class: usize,
        members: u64,
        rules: &Rules,
    ) -> ClassMove {
        let due = self
            .judged
            .is_none_or(|judged| now.since(judged) >= interval);
        if due {
            self.judged = Some(now);
            let at_least = rules.length(self.sum, self.flows);
            let at_most = rules.length(self.sum * members / self.flows.max(1), members);
            self.verdict = match rules.by_length(class, at_least) {
                ClassMove::Down => rules.by_length(class, at_most).min(ClassMove::Stay),
                verdict => verdict,
            };
        }
        self.verdict
    }

    /// The sum of its flows' occupancies, and how many flows it is the sum of.
    pub(super) const fn total(&self) -> (u64, u64) {
        (self.sum, self.flows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::examine::PERCENT;
    use super::super::params::{Occupancy, Targets};
    use super::*;
    use units::param::Value;

    #[test]
    fn occupancy_of_the_buffer() {
        let own = |packets| Backlog { packets, bytes: 0 };
        // 25 of 1000 packets are 2.5 %.
        assert_eq!(of_buffer(own(25), 1000), 250);
        assert_eq!(of_buffer(own(1), 1_000_000), 0);
        assert_eq!(of_buffer(own(1000), 1), MOST);
    }

    #[test]
    fn occupancy_as_delay() {
        let ms = Duration::from_millis;
        // A packet waited 40 ms; a quarter of the backlog is the flow's: it causes 10 of 100 ms. If
        // both flows were like it they would wait for 20 ms.
        assert_eq!(of_delay(ms(40), 3000, 12_000, 1, ms(100)), 1000);
        assert_eq!(of_delay(ms(40), 3000, 12_000, 2, ms(100)), 2000);
        // The other's share is three quarters, 60 ms; the mean is their wait.
        assert_eq!(of_delay(ms(40), 9000, 12_000, 2, ms(100)), 6000);
        let most = of_delay(Duration::MAX, 1 << 30, 1 << 30, 65_536, ms(1));
        assert_eq!(most, MOST);
        assert_eq!(of_delay(ms(0), 1500, 1500, 1, ms(100)), 0);
    }

    #[test]
    fn a_class_half_measured_is_not_short() {
        let interval = Duration::from_millis(100);
        let rules = Rules {
            targets: Targets::parse("10/50/90").unwrap(),
            alpha: 10,
            occupancy: Occupancy::Buffer,
        };
        // One flow of 7 % is known of a class with target 50 %. With two more like it the class
        // has 21 %, above the 20 % at which it would be short; with one more it has 14 %.
        for (members, verdict) in [(3, ClassMove::Stay), (2, ClassMove::Down)] {
            let mut class = ClassOccupancy::default();
            let mut window = FlowWindow::new(Instant::ZERO);
            window.sample(7 * PERCENT);
            assert!(window.close(Instant::ZERO + interval, interval));
            class.count(&mut window, None);
            assert_eq!(
                class.judge(Instant::ZERO, interval, 2, members, &rules),
                verdict
            );
        }
    }

    #[test]
    fn windows_count_where_they_were_measured() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let interval = Duration::from_millis(100);
        let mut class = ClassOccupancy::default();
        let mut window = FlowWindow::new(at(0));
        window.sample(100);
        window.sample(200);
        assert_eq!(window.latest(), 150);
        assert!(!window.close(at(99), interval));
        assert!(window.close(at(100), interval));
        class.count(&mut window, None);
        assert_eq!(class.total(), (150, 1));
        // No samples in the second interval: the mean stays.
        assert!(!window.close(at(200), interval));
        window.sample(40);
        assert!(window.close(at(300), interval));
        class.count(&mut window, Some(150));
        assert_eq!((class.total(), window.latest()), ((40, 1), 40));
        class.uncount(&mut window, at(310));
        assert_eq!(class.total(), (0, 0));
        window.sample(7);
        assert!(!window.close(at(409), interval));
    }
}
