//! Results as a table to read.

use comfy_table::{Cell, CellAlignment, Table, presets};
use measure::RunResult;
use measure::metric::{Column, Metric, Registry};
use report::{Summary, columns, loads, summarize};
use scenario::Scenario;
use units::Refusal;

/// The comparison: a line for each discipline, with a column for each of `metrics` that has one, or for
/// those that are `wanted`.
pub fn comparison(
    scenario: &Scenario,
    results: &[RunResult],
    metrics: &Registry,
    wanted: &[String],
) -> String {
    let summaries = summarize(results, metrics);
    let columns = match wanted {
        [] => columns(&summaries, metrics),
        wanted => {
            let called = |name: &String| metrics.columns().find(|(metric, _)| metric.name == name);
            wanted.iter().filter_map(called).collect()
        }
    };
    let mut table = empty();
    let headings = columns.iter().map(|(metric, column)| {
        let heading = format!("{} {}", column.heading, metric.unit);
        right(heading.trim())
    });
    table.set_header([Cell::new("discipline")].into_iter().chain(headings));
    for summary in &summaries {
        let cells = columns
            .iter()
            .map(|(metric, column)| right(&cell(summary, metric, *column)));
        table.add_row([Cell::new(&summary.discipline)].into_iter().chain(cells));
    }
    let (name, summary) = (&scenario.name, &scenario.summary);
    format!("{name}: {summary}\n{}\n\n{table}\n", extent(&summaries))
}

/// Refuses a column that no metric has.
pub fn check_columns(wanted: &[String], metrics: &Registry) -> Result<(), Refusal> {
    let names = || metrics.columns().map(|(metric, _)| metric.name);
    let strange = wanted
        .iter()
        .find(|name| !names().any(|known| known == *name));
    strange.map_or(Ok(()), |name| {
        Err(Refusal::unknown("column", name, names()).within("--columns"))
    })
}

/// A figure, and its interval in a line of its own.
fn cell(summary: &Summary, metric: &Metric, column: Column) -> String {
    match summary.cell(metric, column) {
        Some(report::Cell { value, interval }) => match interval {
            Some(interval) => format!("{value}\n{interval}"),
            None => value,
        },
        None => "-".to_owned(),
    }
}

/// How much was run.
fn extent(summaries: &[Summary]) -> String {
    let runs = match summaries.iter().map(|summary| summary.runs).max() {
        None | Some(1) => "one run each, so no intervals".to_owned(),
        Some(runs) => format!("{runs} runs each; below a figure its 95 % interval"),
    };
    let lines = [Some(runs), loads(summaries)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A table with a head.
pub fn plain(head: &[String], rows: Vec<Vec<String>>) -> Table {
    let mut table = empty();
    table.set_header(head);
    table.add_rows(rows);
    table
}

/// A table without lines.
pub fn empty() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// A right-aligned cell.
pub fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
