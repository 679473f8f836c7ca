//! How long packets waited in a queue over time.

use super::frame::section as wrap;
use super::report::{CARD, Drawn, Report};
use super::words::time;
use crate::draw::Point;
use crate::draw::axis::{Axis, flattened};
use crate::draw::plot::Plot;
use maud::{Markup, html};
use measure::RunResult;

/// Less than this is as good as no wait: a logarithmic axis begins here.
const LEAST_MS: f64 = 0.01;

/// Mean and largest sojourn in each run that is drawn, at each queue that mattered.
pub fn section(report: &Report<'_>) -> Markup {
    let content = report.by_queue("sojourn", |queue, file| at(report, queue, file));
    wrap("sojourn", "Sojourn time", &content)
}

/// The plots of one queue, on the same axis.
fn at(report: &Report<'_>, queue: usize, file: &str) -> Markup {
    let Some(y) = axis(report, queue) else {
        return html! {};
    };
    let cards = report.cards("grid", file, |card| {
        let bins = card.series.sojourn.get(queue)?;
        let mut plot = Plot::new(CARD, 210.0, report.time_axis(), y.clone());
        report.shade(&mut plot, card.run);
        let points = |value: fn(&(f64, f64)) -> f64| -> Vec<Point> {
            let middle = |bin: usize| (bin as f64 + 0.5) * card.series.bin_s;
            let values = bins.iter().enumerate();
            values
                .map(|(bin, pair)| (middle(bin), pair.as_ref().map(value)))
                .collect()
        };
        plot.series(&card.key, "", |plot| {
            plot.line("largest", &points(|pair| pair.1));
            plot.line("mean", &points(|pair| pair.0));
        });
        let drawing = plot.finish(&format!("sojourn time with {}", card.run.discipline));
        let plot = report.plot(card.file, drawing, &html! {});
        Some((fact(card.run, queue), plot))
    });
    let bin = report.drawn.first().map_or(0.1, |drawn| drawn.series.bin_s);
    html! {
        (cards)
        p class="note" {
            "Strong: mean, faint: longest, of packets that left the queue in each "
            (format!("{bin:.1}")) " s. " (report.shades())
        }
    }
}

/// The axis of all of them: logarithmic if one discipline flattens the others. None if no packets
/// waited.
fn axis(report: &Report<'_>, queue: usize) -> Option<Axis> {
    let label = "sojourn time, ms";
    let bins = |drawn: &Drawn<'_>| {
        let bins = drawn.series.sojourn.get(queue);
        bins.into_iter().flatten().flatten().copied().collect()
    };
    let all: Vec<Vec<(f64, f64)>> = report.drawn.iter().map(bins).collect();
    let longest = |bins: &Vec<(f64, f64)>| bins.iter().map(|(_, max)| *max).fold(0.0, f64::max);
    let longest: Vec<f64> = all.iter().map(longest).collect();
    let most = longest.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    if !flattened(&longest) {
        return Some(Axis::from_zero(label, most, 5));
    }
    let means = all.iter().flatten().map(|(mean, _)| *mean);
    let least = means.filter(|mean| *mean > 0.0).fold(most, f64::min);
    Some(Axis::logarithmic(label, least.max(LEAST_MS), most, 5))
}

fn fact(run: &RunResult, queue: usize) -> String {
    let Some(link) = run.links.get(queue) else {
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
