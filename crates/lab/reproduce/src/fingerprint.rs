//! What a page's verdicts were made by: the text of its experiment, and the statistics.

use crate::claim::Range;
use crate::discovery::limit;
use measure::estimate::{Against, Bounds, Estimate, LEVEL, Statistic, compare, estimate_at};
use std::fmt::Write as _;
use units::random::Stream;

/// Digits of a hash that are printed.
pub(crate) const DIGITS: usize = 12;

/// What makes verdicts of intervals (decision 0041): to be raised whenever that changes.
const RULES: u32 = 2;

/// How many values samples have.
const SIZES: [usize; 3] = [4, 10, 30];
/// The shapes of what they are drawn from.
const POPULATIONS: [fn(&mut Stream) -> f64; 5] = [
    |random| 50.0 + 10.0 * random.normal(),
    |random| random.log_normal(10.0, 1.0),
    |random| random.exponential(10.0),
    |random| {
        if random.unit() < 0.5 {
            0.0
        } else {
            random.exponential(10.0)
        }
    },
    |_| 0.0,
];

/// Digits that are the same as long as values give the same intervals, and these the same verdicts: a hash
/// of what the statistics make of samples that are always the same.
pub fn statistics() -> String {
    let mut told = format!("rules {RULES}\n");
    let statistics = [
        Statistic::Mean,
        Statistic::Quantile(0.5),
        Statistic::ShareAbove(20.0),
    ];
    let mut random = Stream::new(1, "statistics");
    for (draw, size) in POPULATIONS
        .iter()
        .flat_map(|draw| SIZES.map(|size| (draw, size)))
    {
        let mut units =
            || -> Vec<Vec<f64>> { (0..size).map(|_| vec![draw(&mut random)]).collect() };
        let sides = [units(), units()];
        let [ours, theirs] = &sides;
        for statistic in statistics {
            let one = estimate_at(statistic, ours, Bounds::NONE, LEVEL);
            let others = [Against::Percent, Against::Difference].map(|against| {
                compare(
                    statistic,
                    [&ours[..], &theirs[..]],
                    Bounds::NONE,
                    against,
                    LEVEL,
                )
            });
            for found in others.into_iter().chain([one]).flatten() {
                tell(&mut told, &found);
            }
        }
    }
    let chances = [0.001, 0.004, 0.02, 0.03, 0.04, 0.2, 0.9];
    _ = write!(told, "{}", limit(chances.into_iter()));
    let hash = blake3::hash(told.as_bytes()).to_hex();
    hash[..DIGITS].to_owned()
}

/// Seven digits, which another order of additions does not change.
fn tell(told: &mut String, found: &Estimate) {
    let (low, high) = found.ci95.unwrap_or((0.0, 0.0));
    let never = found.most_often();
    let verdicts = ["at most 10", "more than 10", "5 to 20"].map(|text| {
        let range = Range::try_from(text.to_owned());
        range.ok().map(|range| range.judge(found))
    });
    _ = writeln!(
        told,
        "{:.6e} {low:.6e} {high:.6e} {never:?} {verdicts:?}",
        found.value
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_statistics_have_the_same_digits() {
        let digits = statistics();
        assert_eq!(digits.len(), DIGITS);
        assert_eq!(digits, statistics());
    }
}
