//! Distributions: a line for each discipline in one plot.

use super::report::{CARD, Report};
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use maud::{Markup, html};

/// A discipline, its values, and how many there would be if none were missing.
pub type Values = (usize, Vec<f64>, usize);

/// Figures side by side under one legend; nothing if there are none.
pub fn side_by_side(report: &Report<'_>, figures: &[Markup]) -> Markup {
    html! {
        @if !figures.is_empty() {
            (report.legend(0..report.summaries.len()))
            div class="grid" { @for figure in figures { (figure) } }
        }
    }
}

/// A figure of distributions with an upright line at `limit`, or nothing if there are no values.
pub fn distribution(
    report: &Report<'_>,
    file: &str,
    (label, caption): (&str, &str),
    mut lines: Vec<Values>,
    limit: f64,
) -> Option<Markup> {
    let values = || lines.iter().flat_map(|line| line.1.iter().copied());
    let most = values().max_by(f64::total_cmp)?;
    let least = values()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most = if limit > 0.0 {
        most.max(limit * 1.2)
    } else {
        most
    };
    let x = Axis::fitting(label, least, most, 6);
    let zeroes = x.is_log() && values().any(|value| value <= 0.0);
    let mut plot = Plot::new(CARD, 290.0, x, Axis::percent("share"));
    for (n, values, total) in &mut lines {
        plot.series(&report.plotted(*n), &format!("d{n}"), |plot| {
            plot.distribution(values, *total);
        });
    }
    if limit > 0.0 {
        plot.upright(limit, &format!("{limit:.0} ms"));
    }
    let drawing = plot.finish(&format!("distribution of {label}"));
    let caption = html! {
        (caption)
        @if zeroes { " What is zero stands at the left end of the axis." }
    };
    Some(html! { figure { (report.plot(file, drawing, &caption)) } })
}
