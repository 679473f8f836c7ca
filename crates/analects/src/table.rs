//! Results as a table to read.

use comfy_table::{Cell, CellAlignment, Table, presets};
use measure::RunResult;
use report::{Mean, Summary, summarize};
use scenario::Scenario;

/// A column: its heading, and its cell for a discipline.
type Column = (&'static str, fn(&Summary) -> Option<String>);

const COLUMNS: &[Column] = &[
    ("stall s", |s| mean(s.stall_s, 2)),
    ("stall/page ms", |s| mean(s.stall_per_load_ms, 0)),
    ("frame p95 ms", |s| mean(s.frame_p95_ms, 0)),
    ("frame max ms", |s| {
        s.frame_max_ms.map(|max| format!("{max:.0}"))
    }),
    ("call Mbit/s", |s| mean(s.call_mbps, 2)),
    ("caused/page ms", |s| mean(s.caused_per_load_ms, 0)),
    ("PLT ms", |s| mean(s.plt_ms, 0)),
    ("transfer ms", |s| mean(s.fct_ms, 0)),
    ("bulk Mbit/s", |s| mean(s.bulk_mbps, 2)),
    ("sojourn ms", |s| mean(s.sojourn_ms, 1)),
    ("use", |s| {
        s.utilization.map(|m| format!("{:.0}%", m.mean * 100.0))
    }),
    ("drops", |s| mean(s.drops, 0)),
    ("JFI", |s| s.jfi.map(|m| format!("{:.3}", m.mean))),
];

/// The comparison: a line for each discipline.
pub fn comparison(scenario: &Scenario, results: &[RunResult]) -> String {
    let summaries = summarize(results);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // A column that no discipline has a value for says nothing.
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(_, cell)| summaries.iter().any(|s| cell(s).is_some()))
        .collect();
    let heading = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let headings = columns.iter().map(|(name, _)| heading(name));
    table.set_header([Cell::new("discipline")].into_iter().chain(headings));
    for summary in &summaries {
        let cells = columns.iter().map(|(_, cell)| {
            let text = cell(summary).unwrap_or_else(|| "-".to_owned());
            Cell::new(text).set_alignment(CellAlignment::Right)
        });
        table.add_row([Cell::new(&summary.discipline)].into_iter().chain(cells));
    }
    let runs = summaries.first().map_or(0, |summary| summary.runs);
    let loads = summaries.first().map_or(0, |summary| summary.loads);
    let mut head = format!("{}: {}", scenario.name, scenario.summary);
    if runs > 1 {
        head += &format!("\n{runs} runs each; means, ± 95 % confidence");
    }
    if loads > 1 {
        head += &format!("\n{loads} page loads each");
    }
    format!("{head}\n\n{table}\n")
}

/// A table with a head; the columns behind the first are aligned to the right if they hold numbers.
pub fn plain(head: &[String], rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(head);
    table.add_rows(rows);
    table
}

fn mean(value: Option<Mean>, decimals: usize) -> Option<String> {
    value.map(|Mean { mean, ci95 }| match ci95 {
        Some(ci95) => format!("{mean:.decimals$} ±{ci95:.decimals$}"),
        None => format!("{mean:.decimals$}"),
    })
}
