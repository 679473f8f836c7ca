//! Which class a flow belongs to, from how it uses the buffer (section 5.1).
//!
//! Occupancy is in hundredths of a percent, sampled at the flow's own packets and averaged over
//! `interval`. It counts towards the class's occupancy only once it was measured in that class, so
//! that a flow passing through says nothing about those who stay.

use super::params::Targets;
use crate::Backlog;
use units::{Duration, Instant};

/// Hundredths of a percent in one percent.
const PERCENT: u64 = 100;
/// Full occupancy.
const FULL: u64 = 100 * PERCENT;
/// More is not told apart: ten times full.
const MOST: u64 = 10 * FULL;

/// The occupancy of a flow with `own` packets waiting in a buffer of `limit`.
pub(super) fn of_buffer(own: Backlog, limit: u32) -> u64 {
    (u64::from(own.packets) * FULL / u64::from(limit.max(1))).min(MOST)
}

/// The occupancy of a flow one of whose packets leaves after `sojourn`, with `own` bytes of it and
/// `class` bytes of its class waiting, both including the packet.
///
/// sojourn · own / class is the delay that the flow itself causes: its backlog over the rate of its
/// class (Little's law). The flows of a class add up to the delay of the class.
pub(super) fn of_delay(sojourn: Duration, own: u64, class: u64, scale: Duration) -> u64 {
    let us = sojourn.as_micros().min(u64::from(u32::MAX));
    // At most 2^32 µs times 2^30 bytes, and no more than all of the wait.
    let class = class.clamp(1, 1 << 30);
    let caused = us * own.min(class) / class;
    (caused * FULL / scale.as_micros().max(1)).min(MOST)
}

/// A flow's measurement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Window {
    start: Instant,
    sum: u64,
    samples: u64,
    /// The last complete interval's mean; before the first, nothing.
    mean: Option<u64>,
    /// Whether `mean` was measured in the flow's present class.
    counted: bool,
}

impl Window {
    /// A flow that begins `now`.
    pub(super) fn new(now: Instant) -> Self {
        Window {
            start: now,
            ..Window::default()
        }
    }

    /// One sample.
    pub(super) fn sample(&mut self, occupancy: u64) {
        self.sum += occupancy;
        self.samples += 1;
    }

    /// Closes the interval if it is over; whether there is a new mean. An interval without samples
    /// says nothing.
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

    /// The best there is to say about the flow: the last complete interval, or what was seen of
    /// the first; nothing seen is nothing occupied.
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

/// Where to move: one class up, one down, or nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Verdict {
    /// To the class with the next lower target.
    Down,
    /// Nowhere.
    #[default]
    Stay,
    /// To the class with the next higher target.
    Up,
}

/// A class's measurement: the sum over its flows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClassOccupancy {
    sum: u64,
    flows: u64,
    judged: Option<Instant>,
    verdict: Verdict,
}

impl ClassOccupancy {
    /// Takes in the new mean of a flow of this class.
    pub(super) fn count(&mut self, window: &mut Window, before: Option<u64>) {
        if window.counted {
            self.sum -= before.unwrap_or(0);
        } else {
            self.flows += 1;
        }
        window.counted = true;
        self.sum += window.mean.unwrap_or(0);
    }

    /// A flow leaves the class; its next interval starts `now`.
    pub(super) fn uncount(&mut self, window: &mut Window, now: Instant) {
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
    ) -> Verdict {
        let due = self
            .judged
            .is_none_or(|judged| now.since(judged) >= interval);
        if due {
            self.judged = Some(now);
            let at_most = self.sum * members / self.flows.max(1);
            self.verdict = match rules.by_length(class, self.sum) {
                Verdict::Down => rules.by_length(class, at_most).min(Verdict::Stay),
                verdict => verdict,
            };
        }
        self.verdict
    }

    /// Occupancy of the class, and the number of flows that it is the sum of.
    pub(super) const fn total(&self) -> (u64, u64) {
        (self.sum, self.flows)
    }
}

/// The rules of section 5.1. Classes are numbered from 1, as in the paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Targets of the classes.
    pub(super) targets: Targets,
    /// The hysteresis, in percent.
    pub(super) alpha: u32,
}

impl Rules {
    fn target(&self, class: usize) -> u64 {
        u64::from(self.targets.percent()[class - 1]) * PERCENT
    }

    /// The highest class.
    pub(super) fn classes(&self) -> usize {
        self.targets.percent().len()
    }

    /// The class whose target is nearest; of two, the lower one.
    pub(super) fn nearest(&self, occupancy: u64) -> usize {
        (1..=self.classes())
            .min_by_key(|&class| self.target(class).abs_diff(occupancy))
            .unwrap_or(1)
    }

    /// Equations (2) and (3): what the share of a flow with occupancy `own` says beside the `flows`
    /// of the class with `total` together; nothing where it is within the hysteresis, or where
    /// there is no other flow to compare with.
    ///
    /// A class of 1/alpha flows or more could never demote: the threshold of (3) is at least half
    /// the fair share. A class that is shorter than half its target has no aggressive flow. And
    /// nobody goes where the queue-level examination would send them straight back from, with the
    /// occupancy that they have there `alone`.
    pub(super) fn by_share(
        &self,
        class: usize,
        own: u64,
        alone: u64,
        (total, flows): (u64, u64),
    ) -> Option<Verdict> {
        if flows < 2 || total == 0 {
            return None;
        }
        // own/total ≥ 1/flows + alpha/100, multiplied by 100 · flows · total.
        let share = own * 100 * flows;
        let margin = u64::from(self.alpha) * flows;
        if share >= total * (100 + margin) {
            let may_rise = class < self.classes()
                && total >= self.target(class) / 2
                && self.by_length(class + 1, alone) != Verdict::Down;
            return may_rise.then_some(Verdict::Up);
        }
        // own/total ≤ max(1/flows − alpha/100, 1/(2·flows)).
        let low = 100_u64.saturating_sub(margin).max(50);
        // In the lowest class it stays, whatever the class as a whole does.
        let may_fall = class == 1 || self.by_length(class - 1, alone) != Verdict::Up;
        (share <= total * low && may_fall).then_some(Verdict::Down)
    }

    /// The queue-level examination (figure 9): whether a class with `total` is past the middle
    /// between its target and a neighbour's, by more than the hysteresis.
    fn by_length(&self, class: usize, total: u64) -> Verdict {
        let margin = u64::from(self.alpha) * PERCENT;
        let middle = |low: usize| (self.target(low) + self.target(low + 1)) / 2;
        if class < self.classes() && total > middle(class) + margin {
            return Verdict::Up;
        }
        if class > 1 && total < middle(class - 1).saturating_sub(margin) {
            return Verdict::Down;
        }
        Verdict::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::param::Value;

    fn rules(targets: &str, alpha: u32) -> Rules {
        Rules {
            targets: Targets::parse(targets).unwrap(),
            alpha,
        }
    }

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
        // A packet waited 40 ms; a quarter of what waits is the flow's: it causes 10 of 100 ms.
        assert_eq!(of_delay(ms(40), 3000, 12_000, ms(100)), 1000);
        assert_eq!(of_delay(ms(40), 12_000, 12_000, ms(100)), 4000);
        assert_eq!(of_delay(Duration::MAX, u64::MAX, 0, ms(1)), MOST);
        assert_eq!(of_delay(ms(0), 1500, 1500, ms(100)), 0);
    }

    #[test]
    fn new_flows_go_to_the_nearest_target() {
        let rules = rules("10/50/90", 10);
        // The middles are 30 % and 70 %; a tie goes down.
        for (percent, class) in [(0, 1), (30, 1), (31, 2), (70, 2), (71, 3), (400, 3)] {
            assert_eq!(rules.nearest(percent * PERCENT), class, "{percent}");
        }
    }

    #[test]
    fn shares_against_the_fair_share() {
        let rules = rules("10/50/90", 10);
        let says = |own, total, flows| {
            let alone = 100 * PERCENT;
            rules.by_share(1, own * PERCENT, alone, (total * PERCENT, flows))
        };
        // Two flows: fair is 1/2, up from 0.6, down from 0.4.
        assert_eq!(says(60, 100, 2), Some(Verdict::Up));
        assert_eq!(says(59, 100, 2), None);
        assert_eq!(says(41, 100, 2), None);
        assert_eq!(says(40, 100, 2), Some(Verdict::Down));
        // Twenty: fair is 5 %, up from 15 %; 5 % − 10 % is no threshold, half of 5 % is.
        assert_eq!(says(30, 200, 20), Some(Verdict::Up));
        assert_eq!(says(5, 200, 20), Some(Verdict::Down));
        assert_eq!(says(6, 200, 20), None);
        // One flow, and an empty class.
        assert_eq!(says(60, 60, 1), None);
        assert_eq!(says(0, 0, 2), None);
        // A class at 4 % with a target of 10 % has no aggressive flow.
        assert_eq!(says(4, 4, 2), None);
        assert_eq!(says(5, 5, 2), Some(Verdict::Up));
    }

    #[test]
    fn nobody_is_sent_where_they_are_sent_back_from() {
        let rules = rules("10/50/90", 10);
        let says = |class, share, alone: u64| {
            rules.by_share(class, share * PERCENT, alone * PERCENT, (100 * PERCENT, 2))
        };
        // Class 2 alone sends down below 20 %, and up above 80 %; class 3 down below 60 %.
        assert_eq!(
            (says(1, 90, 19), says(1, 90, 20)),
            (None, Some(Verdict::Up))
        );
        assert_eq!(
            (says(2, 90, 59), says(2, 90, 60)),
            (None, Some(Verdict::Up))
        );
        assert_eq!(
            (says(3, 10, 81), says(3, 10, 80)),
            (None, Some(Verdict::Down))
        );
        // Nothing is above class 3; in class 1 a lesser flow stays.
        assert_eq!(says(3, 90, 500), None);
        assert_eq!(says(1, 10, 500), Some(Verdict::Down));
    }

    #[test]
    fn length_against_the_middles() {
        let rules = rules("10/50/90", 10);
        let says = |class, percent: u64| rules.by_length(class, percent * PERCENT);
        // Up past 30 + 10 and 70 + 10, down below 30 − 10 and 70 − 10.
        assert_eq!((says(1, 40), says(1, 41)), (Verdict::Stay, Verdict::Up));
        assert_eq!((says(2, 80), says(2, 81)), (Verdict::Stay, Verdict::Up));
        assert_eq!((says(2, 20), says(2, 19)), (Verdict::Stay, Verdict::Down));
        assert_eq!((says(3, 60), says(3, 59)), (Verdict::Stay, Verdict::Down));
        // The ends have one neighbour.
        assert_eq!((says(1, 0), says(3, 900)), (Verdict::Stay, Verdict::Stay));
    }

    #[test]
    fn a_class_half_measured_is_not_short() {
        let interval = Duration::from_millis(100);
        let rules = rules("10/50/90", 10);
        // One flow of 7 % is known of a class with target 50 %. With two more like it the class
        // has 21 %, above the 20 % at which it would be short; with one more it has 14 %.
        for (members, verdict) in [(3, Verdict::Stay), (2, Verdict::Down)] {
            let mut class = ClassOccupancy::default();
            let mut window = Window::new(Instant::ZERO);
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
        let mut window = Window::new(at(0));
        window.sample(100);
        window.sample(200);
        assert_eq!(window.latest(), 150);
        assert!(!window.close(at(99), interval));
        assert!(window.close(at(100), interval));
        class.count(&mut window, None);
        assert_eq!(class.total(), (150, 1));
        // Nothing seen in the second interval: the mean stands.
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
