//! The interval of a population's mean, from a few values that vary independently.
//!
//! Runs are few, skewed, and often most of them are zero: a stall happens in one run of five. The
//! interval of Student's t alone then covers the mean in four cases of five instead of nineteen of
//! twenty. So it is joined with others that cover these cases (decision 0041):
//!
//! - if all values are positive, with the interval of a log-normal's mean (G. Y. Zou, J. Taleban, C. Y.
//!   Huo, Computational Statistics & Data Analysis 53, 2009, with a quantile of t), and if their logarithms
//!   are skewed to the right, with that of a Pareto distribution's mean;
//! - if some are zero, with the product of two: that of the share that is not zero (C. J. Clopper
//!   and E. S. Pearson, 1934), and that of the mean of those that are not.
//!
//! If too few values differ from zero, or from each other, or if by the Pareto distribution that they
//! look like there may be no mean, there is no interval.
//!
//! No method sees what did not occur. A value fifty times the others that comes once in twenty runs is
//! absent from most samples of ten, and their intervals lie below the mean. A mean that is missed is nearly
//! always missed on this side: the low end of an interval can be trusted more than the high one.

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, StudentsT};

/// Fewer values prove nothing: an interval of two reaches from zero to millions.
pub const LEAST: usize = 4;
/// Fewer values that are not zero prove nothing about the size of such values.
const LEAST_PRESENT: usize = 3;
/// So many values that are all alike mean that it does not vary; fewer can occur by chance.
pub const LEAST_ALIKE: usize = 8;
/// Level of each of the two intervals whose product is taken. Their errors are independent, and the
/// ends of a product are reached only if both err: simulated coverage stays above 93 %.
const LEVEL_OF_PARTS: f64 = 0.85;

/// The mean of at least one value.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The interval that the population's mean lies in with the confidence `level`, between 0 and 1;
/// none if `values` do not suffice.
pub fn of_mean(values: &[f64], level: f64) -> Option<(f64, f64)> {
    if values.len() < LEAST {
        return None;
    }
    let present: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
    if present.len() == values.len() {
        return without_zeros(values, level);
    }
    if present.len() < LEAST_PRESENT {
        return None;
    }
    let parts = 1.0 - (1.0 - level) * (1.0 - LEVEL_OF_PARTS) / 0.05;
    let share = of_share(present.len(), values.len(), parts.max(0.0));
    let size = without_zeros(&present, parts.max(0.0)).unwrap_or((present[0], present[0]));
    let products = [share.0, share.1].map(|share| [share * size.0, share * size.1]);
    let product = products.concat().into_iter().fold(EMPTY, reach);
    Some(join(product, student(values, level)?))
}

/// The interval of a share, given that `count` of `all` were seen.
pub fn of_share(count: usize, all: usize, level: f64) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let quantile = |a: usize, b: usize, at: f64| {
        let beta = Beta::new(a as f64, b as f64);
        beta.map_or(f64::NAN, |beta| beta.inverse_cdf(at))
    };
    let low = match count {
        0 => 0.0,
        _ => quantile(count, all - count + 1, tail),
    };
    let high = match all - count {
        0 => 1.0,
        absent => quantile(count + 1, absent, 1.0 - tail),
    };
    (low, high)
}

/// So many times the estimate, the upper end says no more than that these values do not bound the mean.
const FAR: f64 = 10.0;

/// An interval around `value` as it is printed: `1.2 to 3.4`, or `1.2 or more` if its upper end is more than ten
/// times the value. That covers whatever the interval does.
pub fn written(value: f64, (low, high): (f64, f64), number: impl Fn(f64) -> String) -> String {
    if value > 0.0 && low >= 0.0 && high > FAR * value {
        format!("{} or more", number(low))
    } else {
        format!("{} to {}", number(low), number(high))
    }
}

/// Zero, to which any interval can be joined.
const EMPTY: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

fn reach((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

fn join(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

fn without_zeros(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let first = *values.first()?;
    if values.len() >= LEAST_ALIKE && values.iter().all(|value| *value == first) {
        return Some((first, first));
    }
    let student = student(values, level)?;
    if values.iter().any(|value| *value < 0.0) {
        return Some(student);
    }
    let logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let joined = join(student, log_normal(&logs, level));
    if tailed(&logs) {
        Some(join(joined, pareto(&logs, level)?))
    } else {
        Some(joined)
    }
}

/// By Student's t; none of fewer than two values, or of values that are all alike.
fn student(values: &[f64], level: f64) -> Option<(f64, f64)> {
    let (mean, variance) = moments(values)?;
    let error = (variance / values.len() as f64).sqrt();
    let half = quantile_of_t(values.len() - 1, level) * error;
    (variance > 0.0).then_some((mean - half, mean + half))
}

/// Of values with these logarithms, as if they were log-normal: the distances of the mean's and the
/// variance's ends from their estimates, added as squares.
fn log_normal(logs: &[f64], level: f64) -> (f64, f64) {
    let Some((mean, variance)) = moments(logs) else {
        return EMPTY;
    };
    let (n, freedom) = (logs.len() as f64, logs.len() - 1);
    let of_mean = quantile_of_t(freedom, level) * (variance / n).sqrt();
    let ratio = |at: f64| freedom as f64 / quantile_of_chi_squared(freedom, at);
    let below = variance / 2.0 * (1.0 - ratio((1.0 + level) / 2.0));
    let above = variance / 2.0 * (ratio((1.0 - level) / 2.0) - 1.0);
    let centre = mean + variance / 2.0;
    let end = |part: f64| (of_mean * of_mean + part * part).sqrt();
    (
        libm::exp(centre - end(below)),
        libm::exp(centre + end(above)),
    )
}

/// Fewer values say nothing of a tail.
const LEAST_SKEWED: usize = 8;
/// Logarithms as skewed as this have a tail heavier than a log-normal's: those of a Pareto distribution
/// have 2, those of a log-normal one 0, with an error of 0.4 in thirty values.
const SKEWED: f64 = 0.7;

/// The largest value is more than twice the smallest, or no tail matters to the mean.
const TAILED: f64 = core::f64::consts::LN_2;

/// Whether values with these logarithms look as if their tail were heavier than a log-normal's.
fn tailed(logs: &[f64]) -> bool {
    let (least, most) = logs.iter().copied().fold(EMPTY, reach);
    logs.len() >= LEAST_SKEWED && most - least > TAILED && skewness(logs) > SKEWED
}

/// Third moment of `values` about their mean, in standard deviations.
fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = mean(values);
    let moment = |power: i32| {
        let powers = values
            .iter()
            .map(|v| (0..power).fold(1.0, |p, _| p * (v - mean)));
        powers.sum::<f64>() / n
    };
    let variance = moment(2);
    moment(3) / (variance * variance.sqrt())
}

/// Of values with these logarithms, as if they followed a Pareto distribution that begins with the
/// smallest: the sum of the logarithms' distances from that has a gamma distribution (H. J. Malik, 1970).
/// None if its mean may be infinite.
fn pareto(logs: &[f64], level: f64) -> Option<(f64, f64)> {
    let (least, _) = logs.iter().copied().fold(EMPTY, reach);
    let sum: f64 = logs.iter().map(|log| log - least).sum();
    let freedom = 2 * (logs.len() - 1);
    let shape = |at: f64| quantile_of_chi_squared(freedom, at) / (2.0 * sum);
    let mean = |shape: f64| libm::exp(least) * shape / (shape - 1.0);
    let [heavy, light] = [(1.0 - level) / 2.0, f64::midpoint(1.0, level)].map(shape);
    (heavy > 1.0).then(|| (mean(light), mean(heavy)))
}

/// Mean and variance; none of fewer than two values.
pub(crate) fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (values.len() > 1).then(|| (mean, squares / (n - 1.0)))
}

/// How many standard errors an interval reaches to either side.
pub fn quantile_of_t(freedom: usize, level: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64);
    t.map_or(f64::NAN, |t| t.inverse_cdf(0.5 + level / 2.0))
}

fn quantile_of_chi_squared(freedom: usize, at: f64) -> f64 {
    let chi = ChiSquared::new(freedom as f64);
    chi.map_or(f64::NAN, |chi| chi.inverse_cdf(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
    }

    #[test]
    fn an_end_far_above_the_estimate_is_none() {
        let text = |value, ends| written(value, ends, |end| format!("{end:.0}"));
        assert_eq!(text(20.0, (10.0, 200.0)), "10 to 200");
        assert_eq!(text(20.0, (10.0, 201.0)), "10 or more");
        assert_eq!(text(0.1, (-1.0, 3.0)), "-1 to 3", "of a difference");
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        near(quantile_of_t(3, 0.95), 3.182);
        near(quantile_of_t(29, 0.95), 2.045);
        // None of thirty: at most 11.6 %; three of ten: 6.67 to 65.25 %.
        let (low, high) = of_share(0, 30, 0.95);
        near(low, 0.0);
        near(high, 0.1157);
        let (low, high) = of_share(3, 10, 0.95);
        near(low, 0.0667);
        near(high, 0.6525);
        near(of_share(10, 10, 0.95).1, 1.0);
    }

    #[test]
    fn a_symmetric_sample_has_students_interval() {
        let (low, high) = of_mean(&[-1.0, 1.0, -2.0, 2.0], 0.95).unwrap();
        // s² = 10/3, error 0.9129, times 3.182.
        near(low, -2.905);
        near(high, 2.905);
    }

    #[test]
    fn what_does_not_tell_has_none() {
        assert_eq!(of_mean(&[3.0; 8], 0.95), Some((3.0, 3.0)));
        for values in [
            &[][..],
            &[3.0],
            &[3.0, 3.0, 3.0],
            &[0.0; 30],
            &[0.0, 1.0, 2.0, 0.0],
        ] {
            assert_eq!(of_mean(values, 0.95), None, "{values:?}");
        }
    }

    #[test]
    fn a_lower_level_lies_within_a_higher_one() {
        for values in [&[1.0, 2.0, 4.0, 9.0][..], &[0.0, 0.0, 1.0, 2.0, 5.0]] {
            let [wide, narrow] = [0.99, 0.95].map(|level| of_mean(values, level).unwrap());
            assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1, "{values:?}");
        }
    }

    /// Draws one value of a population, and its true mean.
    type Population = (&'static str, fn(&mut Stream) -> f64, f64);

    fn log_normal(chance: &mut Stream) -> f64 {
        libm::exp(chance.normal())
    }

    /// Its 99th percentile is a hundred times its median.
    fn wide(chance: &mut Stream) -> f64 {
        libm::exp(2.0 * chance.normal())
    }

    /// Pareto of shape 2.2 from 1 on: its variance just exists.
    fn tailed(chance: &mut Stream) -> f64 {
        libm::pow(1.0 - chance.unit(), -1.0 / 2.2)
    }

    /// From 1 to 2, and once in twenty times up to fifty more.
    fn rarely(chance: &mut Stream) -> f64 {
        let most = zeros(chance, 0.95, |c| 50.0 * c.unit());
        1.0 + chance.unit() + most
    }

    fn zeros(chance: &mut Stream, share: f64, value: fn(&mut Stream) -> f64) -> f64 {
        if chance.unit() < share {
            0.0
        } else {
            value(chance)
        }
    }

    /// E of a log-normal with parameters 0 and 1, and with 0 and 2.
    const E: f64 = 1.648_721_270_700_128_2;
    const WIDE: f64 = E * E * E * E;

    const POPULATIONS: [Population; 10] = [
        ("normal", |c| 10.0 + 3.0 * c.normal(), 10.0),
        ("normal about zero", |c| c.normal(), 0.0),
        ("log-normal", log_normal, E),
        ("wide log-normal", wide, WIDE),
        ("50 % zero", |c| zeros(c, 0.5, log_normal), 0.5 * E),
        ("80 % zero", |c| zeros(c, 0.8, log_normal), 0.2 * E),
        ("95 % zero", |c| zeros(c, 0.95, log_normal), 0.05 * E),
        ("50 % zero, else wide", |c| zeros(c, 0.5, wide), 0.5 * WIDE),
        (
            "80 % zero, exponential",
            |c| zeros(c, 0.8, |c| -libm::log(1.0 - c.unit())),
            0.2,
        ),
        ("50 % zero, else one", |c| zeros(c, 0.5, |_| 1.0), 0.5),
    ];

    /// Of 4000 samples of `size` values: how many have an interval, and the shares of these that hold the
    /// mean and that lie below it.
    fn coverage((name, draw, mean): Population, size: u64) -> (u32, f64, f64) {
        let mut chance = Stream::new(size, name);
        let (mut given, mut held, mut below) = (0_u32, 0_u32, 0_u32);
        for _ in 0..4000 {
            let values: Vec<f64> = (0..size).map(|_| draw(&mut chance)).collect();
            if let Some((low, high)) = of_mean(&values, 0.95) {
                given += 1;
                held += u32::from(low <= mean && mean <= high);
                below += u32::from(high < mean);
            }
        }
        let [held, below] = [held, below].map(|count| f64::from(count) / f64::from(given.max(1)));
        println!(
            "{name}, {size}: {given} intervals, {held:.3} hold the mean, {below:.3} lie below it"
        );
        (given, held, below)
    }

    /// Of the intervals that are given, at least 93 % hold the mean.
    #[test]
    fn intervals_cover() {
        for population in POPULATIONS {
            for size in [4, 10, 30] {
                let (given, held, _) = coverage(population, size);
                assert!(given < 100 || held >= 0.93, "{}, {size}", population.0);
            }
        }
    }

    /// Tails that a few values do not show: with thirty a Pareto distribution is recognised; large values
    /// that are rare are missing from most samples, and no method can know of them.
    #[test]
    fn what_few_values_cannot_show() {
        let tailed = ("Pareto", tailed as fn(&mut Stream) -> f64, 2.2 / 1.2);
        let rarely = ("rarely", rarely as fn(&mut Stream) -> f64, 2.75);
        assert!(coverage(tailed, 30).1 >= 0.93);
        for (population, size) in [
            (tailed, 4),
            (tailed, 10),
            (rarely, 4),
            (rarely, 10),
            (rarely, 30),
        ] {
            let (_, held, below) = coverage(population, size);
            assert!(
                held < 0.93 && below > 0.9 * (1.0 - held),
                "{}, {size}",
                population.0
            );
        }
    }
}
