//! Whether a rate is worth a change.

use autorate::{Decision, Told};
use netcfg::{Limits, ShapedRate};
use std::time::Duration;

/// A rate closer to the one that stands than this part of it is the same.
const PART: u64 = 30;
/// How often a rate grows, and how often it falls, at most: packets wait until it has fallen.
const GROWS: Duration = Duration::from_millis(333);
const FALLS: Duration = Duration::from_millis(100);

/// The rate of a shaper that is followed, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The rate.
    pub rate: ShapedRate,
    /// Since when.
    pub since: Duration,
    /// How far it is followed.
    pub limits: Limits,
}

impl Standing {
    /// What is to stand in its place from `at` on, if `decision` is worth a change.
    pub fn next(self, at: Duration, decision: &Decision) -> Option<Standing> {
        let rate = self.limits.hold(decision.rate);
        self.yields(at, rate, decision.told).then_some(Standing {
            rate,
            since: at,
            ..self
        })
    }

    /// Whether `wanted` is worth a change at `at`. By nothing that was measured no rate grows.
    fn yields(&self, at: Duration, wanted: ShapedRate, told: Told) -> bool {
        let (now, new) = (u64::from(self.rate), u64::from(wanted));
        let stood = at.saturating_sub(self.since);
        let due = if new > now {
            told != Told::Nothing && stood >= GROWS
        } else {
            stood >= FALLS
        };
        due && now.abs_diff(new) > now / PART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yields(ms: u64, wanted: u64, told: Told) -> bool {
        let standing = Standing {
            rate: 30_000_000.try_into().unwrap(),
            since: Duration::from_secs(1),
            limits: Limits::default(),
        };
        let at = standing.since + Duration::from_millis(ms);
        standing.yields(at, wanted.try_into().unwrap(), told)
    }

    #[test]
    fn small_and_hasty_changes_are_left_out() {
        assert!(!yields(5000, 31_000_000, Told::Stamps));
        assert!(!yields(5000, 29_000_000, Told::Stamps));
        assert!(yields(333, 31_000_001, Told::Stamps));
        assert!(!yields(332, 60_000_000, Told::Stamps));
        assert!(yields(100, 28_900_000, Told::Stamps));
        assert!(!yields(99, 1_000_000, Told::Stamps));
    }

    #[test]
    fn nothing_grows_by_nothing() {
        assert!(!yields(5000, 60_000_000, Told::Nothing));
        assert!(yields(5000, 20_000_000, Told::Nothing));
        assert!(yields(5000, 60_000_000, Told::Pings));
    }
}
