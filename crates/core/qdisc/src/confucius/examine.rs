//! Which class a flow belongs to, from how it uses the buffer: the rules of section 5.1.

use super::NEW;
use super::params::{Occupancy, Targets};
use units::Duration;

/// Hundredths of a percent in one percent.
pub(super) const PERCENT: u64 = 100;
/// Full occupancy.
pub(super) const FULL: u64 = 100 * PERCENT;

/// Where to move: one class up, one down, or nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum ClassMove {
    /// To the class with the next lower target.
    Down,
    /// Nowhere.
    #[default]
    Stay,
    /// To the class with the next higher target.
    Up,
}

/// The rules. Classes are numbered from 1, as in the paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Targets of the classes.
    pub(super) targets: Targets,
    /// The hysteresis, in percent.
    pub(super) alpha: u32,
    /// The definition of occupancy.
    pub(super) occupancy: Occupancy,
}

impl Rules {
    fn target(&self, class: usize) -> u64 {
        u64::from(self.targets.percent()[class - 1]) * PERCENT
    }

    /// The highest class.
    pub(super) fn classes(&self) -> usize {
        self.targets.percent().len()
    }

    /// How long a packet of `class` may wait before it is marked: its target in percent of `scale`.
    /// The target of the class of new flows is not known yet, so it is given the largest.
    pub(super) fn target_delay(&self, class: usize, scale: Duration) -> Duration {
        let target = match class {
            NEW => self.target(self.classes()),
            class => self.target(class),
        };
        scale.scale(target, FULL)
    }

    /// The quantity compared with a class's target, given the sum over its flows: packets in the
    /// buffer add up; delays are those of the class.
    pub(super) fn length(&self, sum: u64, flows: u64) -> u64 {
        match self.occupancy {
            Occupancy::Buffer => sum,
            Occupancy::Delay => sum / flows.max(1),
        }
    }

    /// The class whose target is nearest; of two, the lower one.
    pub(super) fn nearest(&self, occupancy: u64) -> usize {
        (1..=self.classes())
            .min_by_key(|&class| self.target(class).abs_diff(occupancy))
            .unwrap_or(1)
    }

    /// Equations (2) and (3): the verdict on a flow with occupancy `own` in a class of `flows`
    /// flows with `total` together; none within the hysteresis, or without another flow to compare
    /// with.
    ///
    /// A class of 1/alpha flows or more could never demote: the threshold of (3) is at least half
    /// the fair share. A class that is shorter than half its target has no aggressive flow. And a
    /// flow does not move to a class from which, alone, the queue-level examination would send it
    /// straight back.
    pub(super) fn by_share(
        &self,
        class: usize,
        own: u64,
        (total, flows): (u64, u64),
    ) -> Option<ClassMove> {
        if flows < 2 || total == 0 {
            return None;
        }
        // own/total ≥ 1/flows + alpha/100, multiplied by 100 · flows · total.
        let share = own * 100 * flows;
        let margin = u64::from(self.alpha) * flows;
        if share >= total * (100 + margin) {
            let may_rise = class < self.classes()
                && self.length(total, flows) >= self.target(class) / 2
                && self.by_length(class + 1, own) != ClassMove::Down;
            return may_rise.then_some(ClassMove::Up);
        }
        // own/total ≤ max(1/flows − alpha/100, 1/(2·flows)).
        let low = 100_u64.saturating_sub(margin).max(50);
        // In the lowest class it stays, regardless of the class as a whole.
        let may_fall = class == 1 || self.by_length(class - 1, own) != ClassMove::Up;
        (share <= total * low && may_fall).then_some(ClassMove::Down)
    }

    /// The queue-level examination (figure 9): whether a class of `length` is past the middle
    /// between its target and a neighbour's, by more than the hysteresis.
    pub(super) fn by_length(&self, class: usize, length: u64) -> ClassMove {
        let margin = u64::from(self.alpha) * PERCENT;
        let middle = |low: usize| (self.target(low) + self.target(low + 1)) / 2;
        if class < self.classes() && length > middle(class) + margin {
            return ClassMove::Up;
        }
        if class > 1 && length < middle(class - 1).saturating_sub(margin) {
            return ClassMove::Down;
        }
        ClassMove::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::param::Value;

    fn rules(occupancy: Occupancy) -> Rules {
        Rules {
            targets: Targets::parse("10/50/90").unwrap(),
            alpha: 10,
            occupancy,
        }
    }

    #[test]
    fn new_flows_go_to_the_nearest_target() {
        let rules = rules(Occupancy::Buffer);
        // The middles are 30 % and 70 %; a tie goes down.
        for (percent, class) in [(0, 1), (30, 1), (31, 2), (70, 2), (71, 3), (400, 3)] {
            assert_eq!(rules.nearest(percent * PERCENT), class, "{percent}");
        }
    }

    #[test]
    fn shares_against_the_fair_share() {
        let by_buffer = rules(Occupancy::Buffer);
        let says = |own, total, flows| {
            let scaled = |percent: u64| percent * PERCENT;
            by_buffer.by_share(1, scaled(own), (scaled(total), flows))
        };
        // Two flows: fair is 1/2, up from 0.6, down from 0.4.
        assert_eq!(says(60, 100, 2), Some(ClassMove::Up));
        assert_eq!(says(59, 100, 2), None);
        assert_eq!(says(41, 100, 2), None);
        assert_eq!(says(40, 100, 2), Some(ClassMove::Down));
        // Twenty: fair is 5 %, up from 15 %; 5 % − 10 % is no threshold, half of 5 % is.
        assert_eq!(says(30, 200, 20), Some(ClassMove::Up));
        assert_eq!(says(5, 200, 20), Some(ClassMove::Down));
        assert_eq!(says(6, 200, 20), None);
        // One flow, and an empty class.
        assert_eq!(says(60, 60, 1), None);
        assert_eq!(says(0, 0, 2), None);
        // Twenty flows with a mean delay of 4 % and a target of 10 %: none is aggressive; at 5 %
        // one may be.
        let by_delay = |own: u64, total: u64| {
            rules(Occupancy::Delay).by_share(1, own * PERCENT, (total * PERCENT, 20))
        };
        assert_eq!(by_delay(30, 80), None);
        assert_eq!(by_delay(30, 100), Some(ClassMove::Up));
    }

    #[test]
    fn nobody_is_sent_where_they_are_sent_back_from() {
        let rules = rules(Occupancy::Buffer);
        let most = |class, own: u64| rules.by_share(class, own * PERCENT, (own * PERCENT, 2));
        let least = |class, own: u64| rules.by_share(class, own * PERCENT, (own * 1000, 2));
        // Class 2 sends down below 20 %, and up above 80 %; class 3 down below 60 %.
        assert_eq!((most(1, 19), most(1, 20)), (None, Some(ClassMove::Up)));
        assert_eq!((most(2, 59), most(2, 60)), (None, Some(ClassMove::Up)));
        assert_eq!((least(3, 81), least(3, 80)), (None, Some(ClassMove::Down)));
        // No class is above class 3; in class 1 a lesser flow stays.
        assert_eq!(most(3, 500), None);
        assert_eq!(least(1, 80), Some(ClassMove::Down));
    }

    #[test]
    fn what_a_packet_may_wait_before_it_is_marked() {
        let rules = rules(Occupancy::Delay);
        let ms = Duration::from_millis;
        for (class, target) in [(1, 10), (2, 50), (3, 90), (NEW, 90)] {
            assert_eq!(rules.target_delay(class, ms(100)), ms(target));
        }
    }

    #[test]
    fn lengths_of_a_class() {
        // Three flows of 20 % each fill 60 % of a buffer, or wait for 20 % of the scale.
        assert_eq!(rules(Occupancy::Buffer).length(6000, 3), 6000);
        assert_eq!(rules(Occupancy::Delay).length(6000, 3), 2000);
        assert_eq!(rules(Occupancy::Delay).length(0, 0), 0);
    }

    #[test]
    fn length_against_the_middles() {
        let rules = rules(Occupancy::Buffer);
        let says = |class, percent: u64| rules.by_length(class, percent * PERCENT);
        // Up past 30 + 10 and 70 + 10, down below 30 − 10 and 70 − 10.
        assert_eq!((says(1, 40), says(1, 41)), (ClassMove::Stay, ClassMove::Up));
        assert_eq!((says(2, 80), says(2, 81)), (ClassMove::Stay, ClassMove::Up));
        assert_eq!(
            (says(2, 20), says(2, 19)),
            (ClassMove::Stay, ClassMove::Down)
        );
        assert_eq!(
            (says(3, 60), says(3, 59)),
            (ClassMove::Stay, ClassMove::Down)
        );
        // The ends have one neighbour.
        assert_eq!(
            (says(1, 0), says(3, 900)),
            (ClassMove::Stay, ClassMove::Stay)
        );
    }
}
