//! A figure over several runs, with its interval.
//!
//! The *unit* of independent variation is a run with its seed or, if recorded traces differ, all
//! runs of a trace. The values inside one (the loads of its pages) do not vary independently, so
//! each unit counts as one value: its mean, or its share. [`interval`] says where the mean of such
//! values lies. Comparisons pair units, which have the same seeds and so the same pages.
//!
//! A quantile is that of all values of all units; its interval follows from that of the share of
//! values below it (R. S. Woodruff, JASA 47, 1952). A maximum grows with the number of runs and has
//! none.

use crate::interval;
use units::Refusal;

/// The statistic of many values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The value that at least this share of them does not exceed.
    Quantile(f64),
    /// The largest.
    Max,
    /// How many percent of them exceed this.
    ShareAbove(f64),
}

impl core::str::FromStr for Statistic {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let refused = || {
            let help = "write mean, max, p50, p95, or above:190 for the share above 190 in the metric's unit";
            Refusal::new(format!("{text:?} is no statistic")).with_help(help)
        };
        if let Some(threshold) = text.strip_prefix("above:") {
            let threshold = threshold.parse().ok().filter(|t: &f64| t.is_finite());
            return threshold.map(Statistic::ShareAbove).ok_or_else(refused);
        }
        if let Some(percent) = text.strip_prefix('p') {
            let percent: f64 = percent.parse().map_err(|_| refused())?;
            let inside = (0.0..=100.0).contains(&percent);
            return inside
                .then_some(Statistic::Quantile(percent / 100.0))
                .ok_or_else(refused);
        }
        match text {
            "mean" => Ok(Statistic::Mean),
            "max" => Ok(Statistic::Max),
            _ => Err(refused()),
        }
    }
}

impl core::fmt::Display for Statistic {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Max => f.write_str("max"),
            Statistic::Quantile(share) => write!(f, "p{}", libm::round(share * 1e6) / 1e4),
            Statistic::ShareAbove(threshold) => write!(f, "above:{threshold}"),
        }
    }
}

impl Statistic {
    /// Of `values`, in any order; none of none.
    pub fn of(self, values: &mut [f64]) -> Option<f64> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        Some(match self {
            Statistic::Mean => values.iter().sum::<f64>() / n as f64,
            Statistic::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Statistic::ShareAbove(threshold) => {
                let above = values.iter().filter(|value| **value > threshold).count();
                100.0 * above as f64 / n as f64
            }
            Statistic::Quantile(share) => {
                values.sort_by(f64::total_cmp);
                let place = libm::ceil(share * n as f64) as usize;
                values[place.clamp(1, n) - 1]
            }
        })
    }
}

/// Confidence of the intervals that are shown.
pub const LEVEL: f64 = 0.95;

/// A share of a value that rounding explains.
const HAIR: f64 = 1e-9;

/// What values can be, and so their means: both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// None is less.
    pub least: f64,
    /// None is more.
    pub most: f64,
}

impl Bounds {
    /// Of values that can be anything.
    pub const NONE: Bounds = Bounds {
        least: f64::NEG_INFINITY,
        most: f64::INFINITY,
    };

    /// The part of an interval in which the figure can be. Rounding may leave its value a hair outside of bounds; bounds
    /// that it is far outside of bound nothing.
    fn of(self, (low, high): (f64, f64), value: f64) -> (f64, f64) {
        let hair = HAIR * value.abs();
        (
            if value < self.least - hair {
                low
            } else {
                low.max(self.least).min(value)
            },
            if value > self.most + hair {
                high
            } else {
                high.min(self.most).max(value)
            },
        )
    }

    /// Those of the statistic of values in these.
    fn after(self, statistic: Statistic) -> Bounds {
        match statistic {
            Statistic::ShareAbove(_) => Bounds {
                least: 0.0,
                most: 100.0,
            },
            Statistic::Mean | Statistic::Quantile(_) | Statistic::Max => self,
        }
    }

    /// Those of a comparison of two such values.
    fn between(self, against: Against) -> Bounds {
        match against {
            Against::Difference => Bounds {
                least: self.least - self.most,
                most: self.most - self.least,
            },
            // Nothing is less than none of theirs.
            Against::Percent if self.least >= 0.0 => Bounds {
                least: -100.0,
                ..Bounds::NONE
            },
            Against::Percent => Bounds::NONE,
        }
    }
}

/// A figure, and its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The interval that contains it with 95 % confidence; none if it is unknown.
    pub ci95: Option<(f64, f64)>,
    /// Number of units behind it.
    pub units: usize,
}

impl Estimate {
    /// A figure that does not come from a sample: a single run, a theorem.
    pub const fn exact(value: f64) -> Self {
        Estimate {
            value,
            ci95: None,
            units: 1,
        }
    }

    /// Upper bound, with 95 % confidence, on the percentage of units in which it is not zero, if it
    /// was zero in each of several; else none.
    pub fn most_often(&self) -> Option<f64> {
        let never = self.ci95.is_none() && self.units > 1 && self.value == 0.0;
        never.then(|| 100.0 * interval::of_share(0, self.units, 2.0 * LEVEL - 1.0).1)
    }

    /// Why there is no interval; none if there is one, or the values did not vary.
    pub fn doubt(&self) -> Option<String> {
        let units = self.units;
        match (self.ci95, self.most_often()) {
            (Some(_), _) => None,
            (None, _) if units < 2 => None,
            (None, Some(most)) => Some(format!(
                "in none of {units}: with 95 % confidence in at most {most:.0} % of all"
            )),
            (None, None) => Some(format!("{units} are too few to tell how sure this is")),
        }
    }

    /// Number of units that would probably narrow the interval enough to separate the value from
    /// `border`; none if there is no interval, or no difference.
    pub fn units_to_reach(&self, border: f64) -> Option<u64> {
        let (low, high) = self.ci95?;
        let half = if border < self.value {
            self.value - low
        } else {
            high - self.value
        };
        let ratio = half / (self.value - border).abs();
        let units = libm::ceil(self.units as f64 * ratio * ratio);
        units.is_finite().then_some(units as u64)
    }
}

/// How two sides are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Ours less theirs.
    Difference,
    /// The same in percent of theirs.
    Percent,
}

/// `ours` less `theirs`, in percent of `theirs`; none if that is zero, or less.
pub fn change(ours: f64, theirs: f64) -> Option<f64> {
    (theirs > 0.0).then(|| 100.0 * (ours - theirs) / theirs)
}

/// The statistic over `units`, each with its values, which are within `bounds`; none if there is no value.
pub fn estimate(statistic: Statistic, units: &[Vec<f64>], bounds: Bounds) -> Option<Estimate> {
    estimate_at(statistic, units, bounds, LEVEL)
}

/// The same, with an interval of the confidence `level`.
pub fn estimate_at(
    statistic: Statistic,
    units: &[Vec<f64>],
    bounds: Bounds,
    level: f64,
) -> Option<Estimate> {
    let filled = units.iter().filter(|unit| !unit.is_empty()).count();
    let ci95 = match statistic.of_units(units) {
        Some(each) => interval::of_mean(&each, level),
        None => quantile_interval(statistic, units, level),
    };
    let (value, bounds) = (statistic.over(units)?, bounds.after(statistic));
    Some(Estimate {
        value,
        ci95: ci95.map(|ends| bounds.of(ends, value)),
        units: filled,
    })
}

impl Statistic {
    /// Of all units; none if there is no value.
    fn over(self, units: &[Vec<f64>]) -> Option<f64> {
        match self.of_units(units) {
            Some(mut each) => Statistic::Mean.of(&mut each),
            None => self.of(&mut units.concat()),
        }
    }

    /// One value for each unit that has values, whose mean the statistic is; none if it is no mean.
    fn of_units(self, units: &[Vec<f64>]) -> Option<Vec<f64>> {
        let mean = matches!(self, Statistic::Mean | Statistic::ShareAbove(_));
        mean.then(|| {
            units
                .iter()
                .filter_map(|unit| self.of(&mut unit.clone()))
                .collect()
        })
    }
}

/// The interval of a quantile: between the quantiles of the possible shares.
fn quantile_interval(statistic: Statistic, units: &[Vec<f64>], level: f64) -> Option<(f64, f64)> {
    let Statistic::Quantile(share) = statistic else {
        return None;
    };
    let mut all = units.concat();
    let value = statistic.of(&mut all)?;
    // How much more or less than `share` of each unit lies at or below the value.
    let filled = units.iter().filter(|unit| !unit.is_empty());
    let below = |unit: &Vec<f64>| {
        let count = unit.iter().filter(|v| **v <= value).count();
        count as f64 / unit.len() as f64 - share
    };
    let (low, high) = interval::of_mean(&filled.map(below).collect::<Vec<_>>(), level)?;
    let half = ((high - low) / 2.0).max(0.0);
    let within = share - half > 0.0 && share + half < 1.0;
    let at = |share: f64| Statistic::Quantile(share).of(&mut all.clone());
    within.then(|| Some((at(share - half)?, at(share + half)?)))?
}

/// Our side against theirs, unit by unit; none if no unit has values on both, or if a change is
/// from zero.
pub fn compare(
    statistic: Statistic,
    sides: [&[Vec<f64>]; 2],
    bounds: Bounds,
    against: Against,
    level: f64,
) -> Option<Estimate> {
    let both = sides[0].iter().zip(sides[1]);
    let both = both.filter(|(ours, theirs)| !ours.is_empty() && !theirs.is_empty());
    let (ours, theirs): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        both.map(|(o, t)| (o.clone(), t.clone())).unzip();
    let value = |value: [f64; 2]| match against {
        Against::Difference => Some(value[0] - value[1]),
        Against::Percent => change(value[0], value[1]),
    };
    let at = |level| {
        Some([
            estimate_at(statistic, &ours, bounds, level)?,
            estimate_at(statistic, &theirs, bounds, level)?,
        ])
    };
    let ci95 = match (statistic.of_units(&ours), statistic.of_units(&theirs)) {
        (Some(ours), Some(theirs)) => paired(&ours, &theirs, against, level),
        // Of a quantile both intervals hold with this confidence, so the farthest ends do.
        _ => match at(1.0 - (1.0 - level) / 2.0)?.map(|side| side.ci95) {
            [Some(ours), Some(theirs)] => {
                let ends = [value([ours.0, theirs.1]), value([ours.1, theirs.0])];
                ends[0].zip(ends[1])
            }
            _ => None,
        },
    };
    let [ours_at, theirs_at] = [&ours, &theirs].map(|units| statistic.over(units));
    let value = value([ours_at?, theirs_at?])?;
    let bounds = bounds.after(statistic).between(against);
    let ci95 = ci95.map(|ends| bounds.of(ends, value));
    Some(Estimate {
        value,
        ci95,
        units: ours.len(),
    })
}

/// Of the errors that a ratio's interval may make, those within it are allowed this share: simulated
/// coverage of two mostly zero sides is else a little below 93 %.
const SHARPER: f64 = 0.7;

/// Of means: the interval of the mean difference; or all ratios with which the mean of ours less the
/// ratio of theirs can be zero (E. C. Fieller, JRSS B 16, 1954).
fn paired(ours: &[f64], theirs: &[f64], against: Against, level: f64) -> Option<(f64, f64)> {
    let less = |ratio: f64| -> Vec<f64> {
        let pairs = ours.iter().zip(theirs);
        pairs.map(|(ours, theirs)| ours - ratio * theirs).collect()
    };
    if against == Against::Difference {
        return interval::of_mean(&less(1.0), level);
    }
    let level = 1.0 - (1.0 - level) * SHARPER;
    // If theirs can be zero, the ratio can have any value.
    let (least, _) = interval::of_mean(theirs, level).or_else(|| alike(theirs))?;
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let ratio = sum(ours) / sum(theirs);
    if least <= 0.0 || !ratio.is_finite() {
        return None;
    }
    let possible = |ratio: f64| {
        let values = less(ratio);
        match interval::of_mean(&values, level).or_else(|| alike(&values)) {
            Some((low, high)) => low <= 0.0 && 0.0 <= high,
            // Too few values differ from zero to decide: it cannot be ruled out.
            None => true,
        }
    };
    let positive = ours.iter().all(|value| *value >= 0.0);
    let low = edge(ratio, -1.0, &possible).filter(|low| *low > 0.0 || !positive);
    let low = low.or(positive.then_some(0.0))?;
    let high = edge(ratio, 1.0, &possible)?;
    Some((100.0 * (low - 1.0), 100.0 * (high - 1.0)))
}

/// The interval of values that do not vary.
fn alike(values: &[f64]) -> Option<(f64, f64)> {
    let first = *values.first()?;
    let near = |v: &f64| (v - first).abs() <= 1e-9 * first.abs();
    (values.len() >= interval::LEAST_ALIKE && values.iter().all(near)).then_some((first, first))
}

/// The farthest possible ratio from `start`, in the direction of `sign`; none if there is no end.
fn edge(start: f64, sign: f64, possible: &dyn Fn(f64) -> bool) -> Option<f64> {
    let mut step = start.abs().max(1e-6) / 64.0;
    let mut inside = start;
    let outside = loop {
        let next = inside + sign * step;
        if !possible(next) {
            break next;
        }
        inside = next;
        step *= 2.0;
        if step > 1e6 * start.abs().max(1.0) {
            return None;
        }
    };
    let (mut inside, mut outside) = (inside, outside);
    for _ in 0..40 {
        let middle = f64::midpoint(inside, outside);
        if possible(middle) {
            inside = middle
        } else {
            outside = middle
        }
    }
    Some(inside)
}

/// The largest of several figures, which may be `least` instead: that of the comparison which counts.
/// Ends come from intervals that hold together.
pub fn worst(figures: &[Estimate], least: bool) -> Option<Estimate> {
    let pick = |a: f64, b: f64| if least { a.min(b) } else { a.max(b) };
    let ends: Option<Vec<(f64, f64)>> = figures.iter().map(|figure| figure.ci95).collect();
    let end = |of: fn(&(f64, f64)) -> f64| {
        let ends = ends.as_ref()?.iter().map(of);
        ends.reduce(pick)
    };
    Some(Estimate {
        value: figures.iter().map(|figure| figure.value).reduce(pick)?,
        ci95: end(|ends| ends.0).zip(end(|ends| ends.1)),
        units: figures.iter().map(|figure| figure.units).min()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Range;
    use units::random::Stream;

    #[test]
    fn statistics() {
        let of = |text: &str, mut values: Vec<f64>| {
            let statistic: Statistic = text.parse().unwrap();
            statistic.of(&mut values)
        };
        let values = vec![4.0, 1.0, 3.0, 2.0];
        assert_eq!(of("mean", values.clone()), Some(2.5));
        assert_eq!(of("max", values.clone()), Some(4.0));
        // The smallest value that half of them do not exceed; 95 % of four is the fourth.
        assert_eq!(of("p50", values.clone()), Some(2.0));
        assert_eq!(of("p95", values.clone()), Some(4.0));
        assert_eq!(of("p0", values.clone()), Some(1.0));
        assert_eq!(of("above:2", values), Some(50.0));
        assert_eq!(of("mean", vec![]), None);
        for text in ["mean", "max", "p29", "p99.9", "above:190"] {
            assert_eq!(text.parse::<Statistic>().unwrap().to_string(), text);
        }
        for refused in ["", "p101", "p-1", "above:", "median"] {
            assert!(refused.parse::<Statistic>().is_err(), "{refused}");
        }
    }

    fn units(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![*value]).collect()
    }

    #[test]
    fn an_interval_needs_units_and_says_what_it_lacks() {
        let one = estimate(Statistic::Mean, &[vec![1.0, 3.0]], Bounds::NONE).unwrap();
        assert_eq!((one.value, one.ci95, one.doubt()), (2.0, None, None));
        let zero = estimate(Statistic::Mean, &vec![vec![0.0, 0.0]; 30], Bounds::NONE).unwrap();
        assert_eq!((zero.value, zero.ci95), (0.0, None));
        // 1 − 0.05^(1/30).
        let doubt = zero.doubt().unwrap();
        assert!(
            doubt.contains("in none of 30") && doubt.contains("10 %"),
            "{doubt}"
        );
        let few = estimate(Statistic::Mean, &units(&[0.0, 0.0, 3.0, 0.0]), Bounds::NONE).unwrap();
        assert_eq!(
            few.doubt().unwrap(),
            "4 are too few to tell how sure this is"
        );
        let many = estimate(
            Statistic::Mean,
            &units(&[1.0, 2.0, 3.0, 4.0, 5.0]),
            Bounds::NONE,
        )
        .unwrap();
        let (low, high) = many.ci95.unwrap();
        assert!((0.0..1.1).contains(&low) && high > 4.9, "{low} {high}");
    }

    #[test]
    fn an_interval_is_inside_of_what_is_possible() {
        let share = Range::PERCENT.bounds(60.0);
        let most = units(&[100.0, 99.0, 100.0, 98.0, 100.0, 100.0]);
        let ends = |bounds| {
            let estimate = estimate(Statistic::Mean, &most, bounds).unwrap();
            estimate.ci95.unwrap()
        };
        assert!(ends(Bounds::NONE).1 > 100.0);
        assert_eq!(ends(share).1, 100.0);
        // A mean beyond what was declared has its own interval.
        assert_eq!(ends(Range::Time.bounds(60.0)), ends(Bounds::NONE));
        // Of a hundred percent nothing is left to gain, and less than all cannot be lost.
        let little = units(&[1.0, 0.0, 4.0, 90.0, 0.0, 1.0]);
        let differs = |against| {
            let sides = [&little[..], &most[..]];
            compare(Statistic::Mean, sides, share, against, LEVEL).unwrap()
        };
        let (low, high) = differs(Against::Difference).ci95.unwrap();
        assert!(low >= -100.0 && high <= 100.0, "{low} {high}");
        assert!(differs(Against::Percent).ci95.unwrap().0 >= -100.0);
        // A share of values is in percent, whatever the values are in.
        let few = estimate(Statistic::ShareAbove(99.5), &most, Range::Any.bounds(0.0));
        assert!(few.unwrap().ci95.unwrap().1 <= 100.0);
    }

    #[test]
    fn a_unit_counts_once_however_many_values_it_has() {
        let uneven = [vec![1.0; 1000], vec![3.0]];
        assert_eq!(
            estimate(Statistic::Mean, &uneven, Bounds::NONE)
                .unwrap()
                .value,
            2.0
        );
        let share = estimate(Statistic::ShareAbove(2.0), &uneven, Bounds::NONE).unwrap();
        assert_eq!((share.value, share.units), (50.0, 2));
    }

    #[test]
    fn paired_units_cancel_what_they_share() {
        // Ours is always half of theirs, which vary a lot.
        let theirs = units(&[10.0, 1000.0, 70.0, 200.0]);
        let ours = units(&[5.0, 500.0, 35.0, 100.0]);
        let half = compare(
            Statistic::Mean,
            [&ours, &theirs],
            Bounds::NONE,
            Against::Percent,
            LEVEL,
        );
        // Theirs vary so much that they could be zero: the ratio could then have any value.
        assert_eq!(half.map(|half| half.value), Some(-50.0));
        let theirs = units(&[10.0, 14.0, 11.0, 13.0, 10.0, 14.0, 11.0, 13.0]);
        let ours = units(&[5.0, 7.0, 5.5, 6.5, 5.0, 7.0, 5.5, 6.5]);
        let half = compare(
            Statistic::Mean,
            [&ours, &theirs],
            Bounds::NONE,
            Against::Percent,
            LEVEL,
        )
        .unwrap();
        let (low, high) = half.ci95.unwrap();
        assert!(
            (low + 50.0).abs() < 1e-6 && (high + 50.0).abs() < 1e-6,
            "{low} {high}"
        );
        // From zero there is no change in percent.
        let none = units(&[0.0; 4]);
        assert_eq!(
            compare(
                Statistic::Mean,
                [&ours, &none],
                Bounds::NONE,
                Against::Percent,
                LEVEL
            ),
            None
        );
    }

    #[test]
    fn a_quantile_lies_between_others() {
        let runs: Vec<Vec<f64>> = (0..20)
            .map(|run| (0..50).map(|n| f64::from((n * 7 + run * 3) % 50)).collect())
            .collect();
        let median = estimate(Statistic::Quantile(0.5), &runs, Bounds::NONE).unwrap();
        assert_eq!(median.value, 24.0);
        let skewed: Vec<Vec<f64>> = (0..20)
            .map(|run| (0..50).map(|n| f64::from(n) + f64::from(run)).collect())
            .collect();
        let median = estimate(Statistic::Quantile(0.5), &skewed, Bounds::NONE).unwrap();
        let (low, high) = median.ci95.unwrap();
        assert!(
            low < median.value && median.value < high && high - low < 12.0,
            "{low} {high}"
        );
        assert_eq!(
            estimate(Statistic::Max, &skewed, Bounds::NONE)
                .unwrap()
                .ci95,
            None
        );
    }

    /// One value for each of `size` units: `factor` times a log-normal, or zero.
    fn drawn(chance: &mut Stream, size: u64, factor: f64, zeros: f64) -> Vec<Vec<f64>> {
        let mut value = || {
            if chance.unit() < zeros {
                0.0
            } else {
                factor * libm::exp(0.5 * chance.normal())
            }
        };
        (0..size).map(|_| vec![value()]).collect()
    }

    /// Of the intervals of changes in percent that are given, at least 93 % hold the true change.
    #[test]
    fn changes_cover() {
        const SAMPLES: u32 = 600;
        for (factor, zeros) in [(0.5, 0.0), (0.5, 0.5), (1.0, 0.8)] {
            for size in [4, 10, 30] {
                let mut chance = Stream::new(size, "changes");
                let (mut given, mut covering) = (0_u32, 0_u32);
                for _ in 0..SAMPLES {
                    let ours = drawn(&mut chance, size, factor, zeros);
                    let theirs = drawn(&mut chance, size, 1.0, zeros);
                    let change = compare(
                        Statistic::Mean,
                        [&ours, &theirs],
                        Bounds::NONE,
                        Against::Percent,
                        LEVEL,
                    );
                    let interval = change.and_then(|change| change.ci95);
                    let truth = 100.0 * (factor - 1.0);
                    given += u32::from(interval.is_some());
                    covering += u32::from(
                        interval.is_some_and(|(low, high)| low <= truth && truth <= high),
                    );
                }
                println!("{factor}, {zeros}, {size}: {covering} of {given} of {SAMPLES}");
                let share = f64::from(covering) / f64::from(given.max(1));
                assert!(
                    given < 100 || share >= 0.93,
                    "{factor}, {zeros}, {size}: {covering} of {given}"
                );
            }
        }
    }

    #[test]
    fn the_worst_counts() {
        let figure = |value, low, high| Estimate {
            value,
            ci95: Some((low, high)),
            units: 9,
        };
        let both = [figure(-30.0, -40.0, -20.0), figure(-10.0, -35.0, 5.0)];
        assert_eq!(worst(&both, false), Some(figure(-10.0, -35.0, 5.0)));
        assert_eq!(worst(&both, true), Some(figure(-30.0, -40.0, -20.0)));
        assert_eq!(worst(&[], false), None);
    }

    #[test]
    fn what_it_would_take() {
        let figure = Estimate {
            value: 10.0,
            ci95: Some((4.0, 18.0)),
            units: 10,
        };
        // Half of 6 to reach 7: twice as near, four times as many.
        assert_eq!(figure.units_to_reach(7.0), Some(40));
        assert_eq!(figure.units_to_reach(10.0), None);
    }
}
