//! A figure over several runs, with its interval.
//!
//! The runs are the units that vary independently (a seed, a recorded trace); what lies inside one
//! (the loads of its pages) does not. So the interval is a bootstrap over runs (B. Efron 1979): runs
//! are drawn with replacement, the figure is computed from all that they hold, and the middle 95 % of
//! a thousand such figures is the interval. Comparisons draw the same runs of both sides, which have
//! the same seeds and so the same pages.

use units::Refusal;
use units::random::Stream;

/// Draws of the bootstrap.
const DRAWS: usize = 1000;

/// What becomes of many values.
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

/// A figure, and the interval that it lies in with 95 % confidence where there is more than one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The interval.
    pub ci95: Option<(f64, f64)>,
}

/// `ours` less `theirs`, in percent of `theirs`; none where that is nothing, or less.
pub fn change(ours: f64, theirs: f64) -> Option<f64> {
    (theirs > 0.0).then(|| 100.0 * (ours - theirs) / theirs)
}

/// The statistic over the values of all `runs`.
pub fn estimate(statistic: Statistic, runs: &[Vec<f64>]) -> Option<Estimate> {
    bootstrap(runs.len(), |drawn| statistic.of(&mut gather(runs, drawn)))
}

/// What `figure` makes of the statistic over each of several `sides`, whose runs are paired by their
/// place. None where it cannot be made: a side has nothing, or a change is from zero.
pub fn combine(
    statistic: Statistic,
    sides: &[Vec<Vec<f64>>],
    figure: impl Fn(&[f64]) -> Option<f64>,
) -> Option<Estimate> {
    let runs = sides.iter().map(Vec::len).min()?;
    bootstrap(runs, |drawn| {
        let of = |side: &Vec<Vec<f64>>| statistic.of(&mut gather(side, drawn));
        let values: Option<Vec<f64>> = sides.iter().map(of).collect();
        figure(&values?)
    })
}

fn gather(runs: &[Vec<f64>], drawn: &[usize]) -> Vec<f64> {
    let values = drawn.iter().flat_map(|run| &runs[*run]);
    values.copied().collect()
}

fn bootstrap(runs: usize, figure: impl Fn(&[usize]) -> Option<f64>) -> Option<Estimate> {
    let all: Vec<usize> = (0..runs).collect();
    let value = figure(&all)?;
    if runs < 2 {
        return Some(Estimate { value, ci95: None });
    }
    let mut chance = Stream::new(runs as u64, "bootstrap");
    let mut drawn = vec![0; runs];
    let mut draws: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            drawn.fill_with(|| chance.below(runs as u64) as usize);
            figure(&drawn)
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    // Where most draws give no figure (a change from zero), there is no interval to speak of.
    let enough = draws.len() >= DRAWS / 2;
    // Drawn from few runs, the figure varies too little, by this factor for a mean.
    let widen = libm::sqrt(runs as f64 / (runs - 1) as f64);
    let (least, most) = (draws.first().copied(), draws.last().copied());
    let at = |share: f64| {
        let drawn = draws[((draws.len() - 1) as f64 * share) as usize];
        let wide = value + widen * (drawn - value);
        // Never beyond what any draw came to: no share above 100 %, no time below zero.
        wide.clamp(least.unwrap_or(wide), most.unwrap_or(wide))
    };
    Some(Estimate {
        value,
        ci95: enough.then(|| (at(0.025), at(0.975))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn an_interval_needs_two_runs_and_is_repeatable() {
        let one = estimate(Statistic::Mean, &[vec![1.0, 3.0]]).unwrap();
        assert_eq!((one.value, one.ci95), (2.0, None));
        let runs: Vec<Vec<f64>> = (0..20).map(|n| vec![f64::from(n)]).collect();
        let many = estimate(Statistic::Mean, &runs).unwrap();
        assert_eq!(many.value, 9.5);
        // Deviation sqrt((20²-1)/12) = 5.77, error 5.77/sqrt(20) = 1.29: about 9.5 ± 2.53.
        let (low, high) = many.ci95.unwrap();
        assert!(
            (6.5..7.5).contains(&low) && (11.5..12.5).contains(&high),
            "{low} {high}"
        );
        assert_eq!(Some(many), estimate(Statistic::Mean, &runs));
    }

    #[test]
    fn paired_runs_cancel_what_they_share() {
        // Ours is always half of theirs, which vary a lot.
        let theirs: Vec<Vec<f64>> = [10.0, 1000.0, 70.0].map(|v| vec![v]).to_vec();
        let ours: Vec<Vec<f64>> = theirs.iter().map(|v| vec![v[0] / 2.0]).collect();
        let relative = |values: &[f64]| change(values[0], values[1]);
        let half = combine(Statistic::Mean, &[ours.clone(), theirs], relative).unwrap();
        assert_eq!((half.value, half.ci95), (-50.0, Some((-50.0, -50.0))));
        // From nothing there is no change in percent.
        let none = vec![vec![0.0]; 3];
        assert_eq!(combine(Statistic::Mean, &[ours, none], relative), None);
    }
}
