//! How long packets waited in the first queue over time.

use super::frame::section as wrap;
use super::report::Report;
use super::words::time;
use crate::draw::Point;
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use maud::{Markup, html};
use measure::{RunResult, Series};

/// Mean and largest sojourn for each discipline, on the same axis.
pub fn section(report: &Report<'_>) -> Markup {
    let all = report
        .drawn
        .iter()
        .filter_map(|(.., series)| series.sojourn.first());
    let most = all
        .flatten()
        .flatten()
        .map(|(_, max)| *max)
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let y = Axis::from_zero("sojourn time, ms", most, 5);
    let card = |_, run: &RunResult, series: &Series| {
        let bins = series.sojourn.first()?;
        let mut plot = Plot::new(480.0, 210.0, report.time_axis(), y.clone());
        report.shade(&mut plot, run);
        let points = |value: fn(&(f64, f64)) -> f64| -> Vec<Point> {
            let middle = |bin: usize| (bin as f64 + 0.5) * series.bin_s;
            let values = bins.iter().enumerate();
            values
                .map(|(bin, pair)| (middle(bin), pair.as_ref().map(value)))
                .collect()
        };
        plot.line("largest", &points(|pair| pair.1));
        plot.line("mean", &points(|pair| pair.0));
        Some((
            fact(run),
            plot.finish(&format!("sojourn time with {}", run.discipline)),
        ))
    };
    let cards = report.cards("grid", card);
    let bin = report
        .drawn
        .first()
        .map_or(0.1, |(.., series)| series.bin_s);
    let content = html! {
        p class="legend" {
            span { i class="patch mean" {} "mean" }
            span { i class="patch largest" {} "largest" }
        }
        (cards)
        p class="note" {
            "Of packets that left the first queue in each " (format!("{bin:.1}")) " s. "
            (report.shades())
        }
    };
    wrap("sojourn", "Sojourn time", &content)
}

fn fact(run: &RunResult) -> String {
    let Some(link) = run.links.first() else {
        return String::new();
    };
    let named = [
        ("mean", link.sojourn_ms.mean),
        ("p95", link.sojourn_ms.p95),
        ("max", link.sojourn_ms.max),
    ];
    let facts: Vec<String> = named
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", time((*value)?))))
        .collect();
    facts.join(", ")
}
