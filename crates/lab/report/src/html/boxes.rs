//! How the runs of each discipline are spread.

use super::frame::section as wrap;
use super::report::{CARD, Report};
use crate::draw::axis::{Axis, flattened};
use crate::draw::plot::Plot;
use crate::draw::spread::{self, Spread};
use crate::summary::columns;
use maud::{Markup, html};
use measure::Statistic;
use measure::metric::Metric;

/// Metrics that are drawn, the first ones of the table.
const MOST: usize = 8;
/// Disciplines in a figure.
const MOST_ROWS: usize = 24;
/// Height of a discipline's row, its name above the box included.
const ROW: f64 = 42.0;

/// A figure for each column of the table, if runs were repeated and their values differ.
pub fn section(report: &Report<'_>) -> Markup {
    let columns = columns(&report.summaries, report.metrics).into_iter();
    let figures: Vec<Markup> = columns
        .filter_map(|(metric, _)| figure(report, metric))
        .take(MOST)
        .collect();
    let content = html! {
        @if !figures.is_empty() {
            p class="note" {
                "A point for each run; a box from the quarter to three quarters of them, in it the \
                 median; whiskers to the last run within 1.5 lengths of the box. No box for fewer \
                 than " (spread::LEAST) " runs."
            }
            div class="grid" { @for figure in &figures { (figure) } }
        }
    };
    wrap("runs", "Run by run", &content)
}

/// A value for each run of each discipline, by its number.
fn rows(report: &Report<'_>, metric: &Metric) -> Vec<(usize, Vec<f64>)> {
    let of = (0..)
        .zip(&report.summaries)
        .map(|(n, s)| (n, s.each(metric)));
    of.filter(|of| !of.1.is_empty()).take(MOST_ROWS).collect()
}

fn figure(report: &Report<'_>, metric: &Metric) -> Option<Markup> {
    let rows = rows(report, metric);
    let varies = |(_, values): &(usize, Vec<f64>)| values.iter().any(|value| *value != values[0]);
    if !rows.iter().any(varies) {
        return None;
    }
    let names: Vec<String> = rows.iter().map(|of| report.name(of.0).to_owned()).collect();
    let x = axis(&label(metric), &rows);
    let mut plot = Plot::rows(CARD, ROW, x, &names);
    for (place, (n, values)) in (0..).zip(&rows) {
        let place = f64::from(place);
        plot.series(&report.plotted(*n), &format!("d{n}"), |plot| {
            if let Some(spread) = Spread::of(values) {
                plot.spread(place, spread);
            }
            plot.dots(place, values);
        });
    }
    let drawing = plot.finish(&format!("{}, run by run", label(metric)));
    let caption = html! { (metric.summary) };
    let file = format!("runs-{}", metric.name);
    Some(html! { figure { (report.plot(&file, drawing, &caption)) } })
}

/// The metric's heading with its unit.
fn label(metric: &Metric) -> String {
    let heading = metric.column.map_or(metric.name, |column| column.heading);
    match metric.unit {
        "" => heading.to_owned(),
        unit => format!("{heading}, {unit}"),
    }
}

/// An axis for all runs: logarithmic if one discipline flattens the others.
fn axis(label: &str, rows: &[(usize, Vec<f64>)]) -> Axis {
    let all = || rows.iter().flat_map(|of| of.1.iter().copied());
    let (least, most) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let medians = rows
        .iter()
        .filter_map(|of| Statistic::Quantile(0.5).of(&mut of.1.clone()));
    if least > 0.0 && flattened(&medians.collect::<Vec<_>>()) {
        Axis::logarithmic(label, least, most, 5)
    } else {
        Axis::round(label, least, most, 5)
    }
}
