//! Results as a table to read.

use crate::selected;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use measure::RunResult;
use measure::metric::{Column, Metric, Registry, Selection};
use report::{Summary, columns, loads, summarize, summarize_selected};
use scenario::Scenario;
use terminal_size::{Width, terminal_size_of};
use units::Refusal;

/// The comparison: a line for each discipline, with a column for each of `metrics` that has one, or for
/// what is `wanted`.
pub fn comparison(
    scenario: &Scenario,
    results: &[RunResult],
    metrics: &Registry,
    wanted: &[Selection],
) -> String {
    let (summaries, columns) = match wanted {
        [] => {
            let summaries = summarize(results, metrics);
            let columns = columns(&summaries, metrics);
            let columns = columns.into_iter().map(|(metric, column)| Heading {
                selection: metric.name.to_owned(),
                text: heading(metric, column, ""),
                column,
            });
            let columns: Vec<_> = columns.collect();
            (summaries, columns)
        }
        wanted => {
            let columns = wanted.iter().filter_map(|selection| {
                let column = selection.metric.column?;
                Some(Heading {
                    selection: selection.to_string(),
                    text: heading(&selection.metric, column, &selection.entry),
                    column,
                })
            });
            (summarize_selected(results, wanted), columns.collect())
        }
    };
    let mut table = empty();
    let headings = columns.iter().map(|heading| right(&heading.text));
    table.set_header([Cell::new("discipline")].into_iter().chain(headings));
    for summary in &summaries {
        let cells = columns.iter().map(|heading| right(&cell(summary, heading)));
        table.add_row([Cell::new(&summary.discipline)].into_iter().chain(cells));
    }
    let (name, summary) = (&scenario.name, &scenario.summary);
    format!("{name}: {summary}\n{}\n\n{table}\n", extent(&summaries))
}

/// A column of the table.
struct Heading {
    /// What it shows, as it is selected.
    selection: String,
    text: String,
    column: Column,
}

/// `call: stall s`, of the entry `call`.
fn heading(metric: &Metric, column: Column, entry: &str) -> String {
    let colon = if entry.is_empty() { "" } else { ": " };
    let text = format!("{entry}{colon}{} {}", column.heading, metric.unit);
    text.trim_end().to_owned()
}

/// The columns that `--columns` asks for.
///
/// # Errors
/// If no metric of that name has a column, or the scenario has no such entry or link.
pub fn wanted(
    columns: &[String],
    metrics: &Registry,
    scenario: &Scenario,
) -> Result<Vec<Selection>, Refusal> {
    let of = |text: &String| {
        let name = text.split(':').next().unwrap_or_default();
        let names = || metrics.columns().map(|(metric, _)| metric.name);
        if !names().any(|known| known == name) {
            return Err(Refusal::unknown("column", name, names()));
        }
        let selection = metrics.select(text)?;
        selected::known(&selection, scenario).map(|()| selection)
    };
    let wanted: Result<Vec<_>, Refusal> = columns.iter().map(of).collect();
    wanted.map_err(|refusal| refusal.within("--columns"))
}

/// A figure, and its interval in a line of its own.
fn cell(summary: &Summary, heading: &Heading) -> String {
    match summary.cell_of(&heading.selection, heading.column) {
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
    if let Some((Width(columns), _)) = terminal_size_of(std::io::stdout()) {
        wrap(&mut table, columns);
    }
    table
}

/// Breaks the texts of cells so that lines have at most so many columns. A pipe gets them whole.
fn wrap(table: &mut Table, columns: u16) {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_breaks_the_texts_of_cells() {
        let words =
            "calls stall for less than a tenth of the time that they stall under a FIFO queue";
        let row = ["holds", words, "0.3"].map(str::to_owned).to_vec();
        let mut table = plain(&["verdict", "claim", "ours"].map(str::to_owned), vec![row]);
        wrap(&mut table, 60);
        let text = table.to_string();
        assert!(
            text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
        for word in words.split(' ') {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
