//! Thresholds for actors who have one transfer after the other, by simulation.

use super::{round_sizes, size};
use crate::cli::{ThresholdArgs, ThresholdFormat};
use crate::runs::progress::Bar;
use campaign::Progress as _;
use measure::interval::{self, mean};
use rayon::prelude::*;
use serde_json::json;
use std::fmt::Write as _;
use theory::ages::{Actors, Sizes, closed_loop};

/// Simulations of each threshold, of which its interval is made.
const RUNS: u64 = 8;
/// Transfers in each.
const TRANSFERS: f64 = 200_000.0;

/// The output.
pub(super) struct FollowedOutput {
    of: String,
    sizes: Sizes,
    actors: Actors,
    /// With one level, ms.
    one_level: Vec<f64>,
    /// Thresholds in bytes, and mean times in ms of each run.
    curve: Vec<(f64, Vec<f64>)>,
}

impl FollowedOutput {
    /// Follows the actors that `args` describe.
    pub(super) fn new(
        args: &ThresholdArgs,
        (of, sizes): (String, Sizes),
        asked: Option<f64>,
    ) -> Self {
        let think = args.think.unwrap_or_default().as_nanos() as f64 / 1e9;
        let count = args.actors.unwrap_or_default();
        let rate = args.rate.map_or(0.0, |rate| rate.as_bits() as f64 / 8.0);
        let actors = Actors { count, think, rate };
        let (least, most) = sizes.bounds();
        let mut thresholds: Vec<f64> = round_sizes(least, most).chain(asked).collect();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let turn = think + closed_loop(count, think, sizes.mean() / rate, |_| 1.0);
        let seconds = TRANSFERS * turn / f64::from(count);
        let simulations = (thresholds.len() + 1) * RUNS as usize;
        let bar = Bar::new(simulations, "simulations");
        let followed = |threshold: f64, seed: u64| {
            let time = actors.followed(&sizes, threshold, seconds, seed);
            bar.done();
            Some(time? * 1e3)
        };
        let times = |threshold: f64| {
            let runs = (1..=RUNS).into_par_iter();
            runs.filter_map(|seed| followed(threshold, seed)).collect()
        };
        let one_level = times(f64::INFINITY);
        let curve = thresholds.iter().map(|at| (*at, times(*at))).collect();
        bar.clear();
        FollowedOutput {
            one_level,
            curve,
            of,
            sizes,
            actors,
        }
    }

    pub(super) fn printed(&self, format: ThresholdFormat) -> String {
        match format {
            ThresholdFormat::Text => self.as_text(),
            ThresholdFormat::Json => self.as_json(),
        }
    }

    /// The threshold with the least mean time.
    fn best(&self) -> Option<&(f64, Vec<f64>)> {
        let order = |a: &&(f64, Vec<f64>), b: &&(f64, Vec<f64>)| mean(&a.1).total_cmp(&mean(&b.1));
        self.curve.iter().min_by(order)
    }

    fn as_text(&self) -> String {
        let mut text = format!(
            "{}: {} on average; {} actors who think for {} s on average\n\
             with one level a transfer takes {}\n\n\
             threshold  mean time of {RUNS} runs (95 %), and more than at the best threshold\n",
            self.of,
            size(self.sizes.mean()),
            self.actors.count,
            self.actors.think,
            with_interval(&self.one_level, "ms"),
        );
        let Some((best, least)) = self.best() else {
            return text;
        };
        for (at, times) in &self.curve {
            let note = if at == best {
                "the best of these".to_owned()
            } else {
                with_interval(&more(times, least), "%")
            };
            let time = with_interval(times, "ms");
            // Writing to a string does not fail.
            _ = writeln!(text, "{:>9}  {time:<26}  {note}", size(*at));
        }
        text
    }

    fn as_json(&self) -> String {
        let least = self.best().map_or(&[][..], |(_, times)| times);
        let curve = self.curve.iter().map(|(at, times)| {
            let more = more(times, least);
            json!({
                "threshold_bytes": at.round(),
                "mean_ms": mean(times),
                "mean_ms_ci95": interval::of_mean(times, 0.95),
                "more_than_best_percent": mean(&more),
                "more_than_best_percent_ci95": interval::of_mean(&more, 0.95),
            })
        });
        let document = json!({
            "sizes": self.of,
            "mean_bytes": self.sizes.mean(),
            "actors": self.actors.count,
            "think_s": self.actors.think,
            "runs": RUNS,
            "one_level_ms": mean(&self.one_level),
            "one_level_ms_ci95": interval::of_mean(&self.one_level, 0.95),
            "curve": curve.collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }
}

/// By how many percent `times` are above `least`, run by run.
fn more(times: &[f64], least: &[f64]) -> Vec<f64> {
    let pairs = times.iter().zip(least);
    pairs
        .map(|(time, least)| 100.0 * (time / least - 1.0))
        .collect()
}

/// With one digit after the point, short times with four.
fn with_interval(values: &[f64], unit: &str) -> String {
    let mean = mean(values);
    let digits = if unit == "ms" && mean < 10.0 { 4 } else { 1 };
    let number = |value: f64| format!("{value:.digits$}");
    let text = match interval::of_mean(values, 0.95) {
        Some(ends) => {
            let ends = interval::written(mean, ends, number);
            format!("{} ({ends})", number(mean))
        }
        None => number(mean),
    };
    format!("{text} {unit}")
}
