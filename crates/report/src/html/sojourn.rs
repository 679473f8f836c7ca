//! How long packets waited in the first queue over time.

use super::frame::section as wrap;
use super::report::{CARD, Report};
use super::words::time;
use crate::draw::Point;
use crate::draw::axis::{Axis, flattened};
use crate::draw::plot::Plot;
use maud::{Markup, html};
use measure::{RunResult, Series};

/// Less than this is as good as no wait: a logarithmic axis begins here.
const LEAST_MS: f64 = 0.01;

/// Mean and largest sojourn for each discipline, on the same axis.
pub fn section(report: &Report<'_>) -> Markup {
    let Some(y) = axis(report) else {
        return html! {};
    };
    let cards = report.cards("grid", "sojourn", |card| {
        let bins = card.series.sojourn.first()?;
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
        Some((fact(card.run), plot))
    });
    let bin = report
        .drawn
        .first()
        .map_or(0.1, |(.., series)| series.bin_s);
    let content = html! {
        (cards)
        p class="note" {
            "Strong: mean, faint: longest, of packets that left the first queue in each "
            (format!("{bin:.1}")) " s. " (report.shades())
        }
    };
    wrap("sojourn", "Sojourn time", &content)
}

/// The axis of all of them: logarithmic if one discipline flattens the others. None if no packets
/// waited.
fn axis(report: &Report<'_>) -> Option<Axis> {
    let label = "sojourn time, ms";
    let bins = |(.., series): &(usize, &RunResult, &Series)| {
        let first = series.sojourn.first();
        first.into_iter().flatten().flatten().copied().collect()
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
