//! Whether calls got worse since a baseline was kept.
//!
//! The test is the one of H. B. Mann and D. R. Whitney (Annals of Mathematical Statistics 18, 1947), exact and
//! one-sided: how often a run now is worse than a run then, among all pairs of both. The baseline's values are first
//! made worse by the tolerance. Pairs that are alike count as no worse, which can hide a regression and cannot invent
//! one. It is looked at once, when limits are decided, with a level of 5 % for all limits of a file together.

use serde::Serialize;

/// The chance that one of a file's limits is said to be worse without being so.
const LEVEL: f64 = 0.05;

/// Values of a limit that are compared, the last ones: what the distribution takes grows with the third power.
const MOST: usize = 100;

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worse {
    /// The mean of the baseline.
    pub before: f64,
    /// The mean now.
    pub now: f64,
    /// The chance of such a difference if there is none beyond the tolerance.
    pub chance: f64,
    /// Whether that decides that it is worse.
    pub is_worse: bool,
    /// Whether so many runs could have decided it.
    pub could: bool,
}

/// Compares values of runs: `more` of them is better or worse, and `tolerance`, 0 or more, is the part of a value
/// that is no regression. None if there are none on one side.
pub fn worse(
    before: &[f64],
    now: &[f64],
    more: bool,
    tolerance: f64,
    limits: usize,
) -> Option<Worse> {
    let [before, now] = [before, now].map(|values| &values[values.len().saturating_sub(MOST)..]);
    if before.is_empty() || now.is_empty() {
        return None;
    }
    let is_worse = |now: f64, before: f64| {
        if more {
            now < before * (1.0 - tolerance)
        } else {
            now > before * (1.0 + tolerance)
        }
    };
    let pairs = now
        .iter()
        .flat_map(|now| before.iter().map(move |before| (*now, *before)));
    let found = pairs
        .filter(|(now, before)| is_worse(*now, *before))
        .count();
    let level = LEVEL / limits.max(1) as f64;
    let chances = chances(before.len(), now.len());
    let chance = |at_least: usize| chances[at_least..].iter().sum::<f64>();
    Some(Worse {
        before: measure::interval::mean(before),
        now: measure::interval::mean(now),
        chance: chance(found),
        is_worse: chance(found) <= level,
        could: chance(before.len() * now.len()) <= level,
    })
}

/// The chance of each number of pairs in which the one of `many` others is greater, if both are drawn alike.
fn chances(few: usize, many: usize) -> Vec<f64> {
    let most = few * many;
    // By the last value in order: if it is one of the `few`, all of the others are below it. With none of them there
    // are no pairs, in one way.
    let mut none = vec![0.0; most + 1];
    none[0] = 1.0;
    let mut fewer = vec![none.clone(); many + 1];
    for a in 1..=few {
        let mut counts = vec![none.clone()];
        for b in 1..=many {
            let count = |pairs: usize| {
                let above = pairs.checked_sub(b).map_or(0.0, |rest| fewer[b][rest]);
                above + counts[b - 1][pairs]
            };
            let row = (0..=most).map(|pairs| if pairs <= a * b { count(pairs) } else { 0.0 });
            counts.push(row.collect());
        }
        fewer = counts;
    }
    let counts = fewer.swap_remove(many);
    let all: f64 = counts.iter().sum();
    counts.into_iter().map(|count| count / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn the_distribution_is_that_of_tables() {
        // Mann and Whitney, table I: n = m = 4 and U = 1, 0.029; n = 5, m = 5: one of 252.
        let few = chances(4, 4);
        assert!((few[..=1].iter().sum::<f64>() - 2.0 / 70.0).abs() < 1e-12);
        let five = chances(5, 5);
        assert!(
            (five[25] - 1.0 / 252.0).abs() < 1e-12
                && (five.iter().sum::<f64>() - 1.0).abs() < 1e-12
        );
        assert!((chances(3, 5)[0] - 1.0 / 56.0).abs() < 1e-12);
    }

    #[test]
    fn worse_runs_are_told_from_the_same() {
        let before = [29.5, 29.9, 30.0, 29.7, 29.8];
        let judged = |now: &[f64], tolerance| worse(&before, now, true, tolerance, 4).unwrap();
        assert!(judged(&[24.0, 25.0, 23.0, 24.5, 24.2], 0.1).is_worse);
        assert!(
            !judged(&[28.0, 28.1, 28.2, 28.3, 28.4], 0.1).is_worse,
            "within the tolerance"
        );
        assert!(!judged(&[29.9, 29.8, 29.6, 30.0, 29.7], 0.0).is_worse);
        assert!(
            !judged(&[40.0, 41.0, 42.0, 43.0, 44.0], 0.0).is_worse,
            "more is better"
        );
        let one = judged(&[3.0], 0.1);
        assert!(!one.is_worse && !one.could);
        let none = [0.0; 5];
        assert!(
            worse(&none, &[2.0, 1.0, 3.0, 1.0, 1.0], false, 0.1, 4)
                .unwrap()
                .is_worse
        );
        assert!(
            !worse(&none, &none, false, 0.1, 4).unwrap().is_worse,
            "pairs that are alike"
        );
        assert_eq!(worse(&[], &none, false, 0.1, 1), None);
    }

    #[test]
    fn what_did_not_change_is_seldom_worse() {
        let mut chance = Stream::new(2, "check");
        let mut alarms = 0;
        for _ in 0..4000 {
            let mut runs = |n| {
                (0..n)
                    .map(|_| libm::floor(3.0 * chance.unit()))
                    .collect::<Vec<f64>>()
            };
            let (before, now) = (runs(6), runs(7));
            alarms += usize::from(worse(&before, &now, false, 0.0, 1).unwrap().is_worse);
        }
        assert!(alarms <= 200, "{alarms} of 4000");
    }
}
