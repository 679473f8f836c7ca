//! When runs decide for or against a limit.
//!
//! A limit is about a call: each run keeps it or misses it. A *good* application misses it in at most one call of
//! twenty ([`GOOD`]), a *bad* one in at least half of them ([`BAD`]). After each run it is looked whether that is
//! decided, so that an interval of a fixed number of runs would be wrong more often than it says. A. Wald's sequential
//! test of the two (Annals of Mathematical Statistics 16, 1945) may be looked at after every run: the ratio of both
//! likelihoods stays between two bounds until it decides, and the chance that it ever leaves by the wrong one is at
//! most [`FALSE_ALARM`] for all limits of a file together, and at most [`OVERLOOKED`] for a bad application at each.
//! Between good and bad either may come out.
//!
//! No distribution of the figures is assumed, only that runs do not depend on each other.

use serde::Serialize;

/// The share of calls of a good application that miss a limit.
pub const GOOD: f64 = 0.05;
/// That of a bad one.
pub const BAD: f64 = 0.5;
/// The chance that a good application fails.
pub const FALSE_ALARM: f64 = 0.05;
/// The chance that a bad one keeps a limit.
pub const OVERLOOKED: f64 = 0.05;

/// What runs say of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is kept.
    Kept,
    /// It is missed.
    Missed,
    /// They do not say yet.
    Open,
}

/// What runs say of one of `limits`, of which each kept it or not, in the order in which they were made.
pub fn decision(kept: impl IntoIterator<Item = bool>, limits: usize) -> Decision {
    let alarm = FALSE_ALARM / limits.max(1) as f64;
    let least = libm::log(OVERLOOKED / (1.0 - alarm));
    let most = libm::log((1.0 - OVERLOOKED) / alarm);
    let mut ratio = 0.0;
    for kept in kept {
        ratio += if kept {
            libm::log((1.0 - BAD) / (1.0 - GOOD))
        } else {
            libm::log(BAD / GOOD)
        };
        if ratio <= least {
            return Decision::Kept;
        }
        if ratio >= most {
            return Decision::Missed;
        }
    }
    Decision::Open
}

/// The fewest runs in which limits can be kept.
pub fn fewest() -> usize {
    let kept = |runs: &usize| decision(core::iter::repeat_n(true, *runs), 1) == Decision::Kept;
    (1..).find(kept).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn five_runs_keep_a_limit_and_two_miss_it() {
        assert_eq!(fewest(), 5);
        assert_eq!(decision([true; 4], 4), Decision::Open);
        assert_eq!(decision([true; 5], 4), Decision::Kept);
        assert_eq!(decision([false], 1), Decision::Open);
        assert_eq!(decision([false; 2], 4), Decision::Missed);
        assert_eq!(decision([false; 2], 30), Decision::Open);
        assert_eq!(decision([false; 3], 30), Decision::Missed);
        // What was decided stays so.
        assert_eq!(
            decision([false, false, true, true, true, true, true, true, true], 1),
            Decision::Missed
        );
    }

    /// Of 20,000 checks, by the share of their calls that miss a limit: how many are decided wrongly, and how long it
    /// takes.
    #[test]
    fn errors_are_as_rare_as_they_say() {
        let mut chance = Stream::new(1, "check");
        for (share, limits, wrong, most) in [
            (GOOD, 1, Decision::Missed, FALSE_ALARM),
            (GOOD, 10, Decision::Missed, FALSE_ALARM / 10.0),
            (BAD, 1, Decision::Kept, OVERLOOKED),
            (0.8, 10, Decision::Kept, OVERLOOKED),
        ] {
            let (mut count, mut runs) = (0, 0);
            for _ in 0..20_000 {
                let mut kept = Vec::new();
                while decision(kept.iter().copied(), limits) == Decision::Open {
                    kept.push(chance.unit() >= share);
                }
                count += usize::from(decision(kept.iter().copied(), limits) == wrong);
                runs += kept.len();
            }
            let rate = count as f64 / 20_000.0;
            println!(
                "{share} missed, {limits} limits: {rate:.4} wrong, {:.1} runs",
                runs as f64 / 20_000.0
            );
            assert!(rate <= most, "{share}, {limits}: {rate}");
            assert!(runs < 20_000 * 12, "{share}, {limits}: {runs}");
        }
    }
}
