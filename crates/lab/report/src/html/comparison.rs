//! The comparison: a line for each discipline.

use super::frame::section as wrap;
use super::report::Report;
use crate::summary::{Cell, Summary, columns, loads};
use crate::{doubts, limits};
use maud::{Markup, html};
use measure::metric::{Better, Column, Metric};
use std::fmt::Write as _;

/// The table, and how much was run.
pub fn section(report: &Report<'_>) -> Markup {
    let doubts = doubts::told(report.document.results);
    let limits = limits::told(report.document.results);
    let content = html! {
        @for doubt in doubts.lines() { p { strong { (doubt) } } }
        @for limit in limits.lines() { p { (limit) } }
        (table(report))
        p class="note" { (extent(report)) }
    };
    wrap("comparison", "Comparison", &content)
}

/// A line for each discipline, with its tick; behind figures for which less is better a bar, its
/// share of the largest.
fn table(report: &Report<'_>) -> Markup {
    let columns = columns(&report.summaries, report.metrics);
    let columns: Vec<(&Metric, Column, f64)> = columns
        .into_iter()
        .map(|(metric, column)| (metric, column, largest(report, metric)))
        .collect();
    html! {
        div class="wide" {
            table class="cards" {
                thead {
                    tr {
                        th scope="col" { "discipline" }
                        @for (metric, column, _) in &columns {
                            th scope="col" title=(metric.summary) {
                                (column.heading) br; small { (metric.unit) }
                            }
                        }
                    }
                }
                tbody {
                    @for (n, summary) in report.summaries.iter().enumerate() {
                        tr {
                            (name(report, n))
                            @for (metric, column, largest) in &columns {
                                (cell(metric, *column, summary, *largest))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn largest(report: &Report<'_>, metric: &Metric) -> f64 {
    let figures = report.summaries.iter().filter_map(|s| s.get(metric));
    figures.map(|estimate| estimate.value).fold(0.0, f64::max)
}

fn name(report: &Report<'_>, n: usize) -> Markup {
    let tick = format!("t{n}");
    let of = (report.summaries[n].discipline.as_str(), None);
    let doubted = doubts::is_doubted(report.document.results, of);
    html! {
        th scope="row" {
            input type="checkbox" id=(tick) class=(report.look(n).classes()) checked;
            label for=(tick) { (report.look(n).swatch()) (report.name(n)) @if doubted { (doubts::MARK) } }
        }
    }
}

fn cell(metric: &Metric, column: Column, summary: &Summary, largest: f64) -> Markup {
    let estimate = summary.get(metric);
    let share = estimate.map_or(0.0, |estimate| estimate.value / largest * 100.0);
    let drawn = metric.better == Better::Less && share > 0.0;
    let bar = drawn.then(|| format!("--bar:{:.0}%", share.min(100.0)));
    let heading = format!("{} {}", column.heading, metric.unit);
    html! {
        @match summary.cell(metric, column) {
            Some(Cell { value, interval }) => {
                td style=[bar] data-of=(heading.trim_end()) {
                    (value)
                    @if let Some(interval) = interval { br; small { (interval) } }
                }
            }
            None => { td data-of=(heading.trim_end()) { "–" } }
        }
    }
}

/// The number of runs, and which of them the plots over time show.
fn extent(report: &Report<'_>) -> String {
    let runs = report.runs();
    let mut text = match runs {
        0 => "There are no results.".to_owned(),
        1 => "One run of each discipline, so no intervals.".to_owned(),
        runs => format!(
            "{runs} runs of each discipline; below a figure its 95 % interval, or that there are too few runs to tell."
        ),
    };
    // Writing to a string does not fail.
    if let Some(loads) = loads(&report.summaries) {
        _ = write!(text, " {loads}.");
    }
    match report.which() {
        None if runs > 0 => text += " No series was kept, so nothing is drawn over time.",
        None => {}
        Some(which) => _ = write!(text, " Plots over time show {which}."),
    }
    if report.summaries.len() > 1 {
        text += " Bars, where less is better: share of the largest in the column. Ticks, and \
                 the names above the plots, choose what is drawn.";
    }
    text
}
