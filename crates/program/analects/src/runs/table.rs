//! Results as a table to read.

use crate::runs::selected;
use comfy_table::{Cell, ContentArrangement, Table};
use command::cells::{empty, right};
use measure::metric::{Column, Metric, Registry, Selection};
use measure::{RunResult, WITHOUT};
use report::{Summary, columns, doubts, limits, loads, summarize, summarize_selected};
use scenario::Scenario;
use terminal_size::{Width, terminal_size_of};
use units::Refusal;

/// The comparison: a line for each discipline, with a column for each of `metrics` that has one, or for
/// what is `wanted`; and, `by_entry`, a line below it for each traffic entry that has any of them.
pub fn comparison(
    scenario: &Scenario,
    results: &[RunResult],
    metrics: &Registry,
    wanted: &[Selection],
    by_entry: bool,
) -> String {
    let (summaries, selected) = match wanted {
        [] => {
            let summaries = summarize(results, metrics);
            let columns = columns(&summaries, metrics).into_iter();
            let selected = columns.map(|(metric, _)| of_entry(metric, ""));
            let selected: Vec<_> = selected.collect();
            (summaries, selected)
        }
        wanted => (summarize_selected(results, wanted), wanted.to_vec()),
    };
    let headings: Vec<Heading> = selected.into_iter().filter_map(Heading::of).collect();
    let mut table = empty();
    let texts = headings.iter().map(|heading| right(&heading.text));
    table.set_header([Cell::new("discipline")].into_iter().chain(texts));
    let entries = if by_entry {
        entries(scenario, results, &headings)
    } else {
        Vec::new()
    };
    let controls = controls(results, &headings);
    let row = |name: String, summary: &Summary| {
        let cells = headings
            .iter()
            .map(|heading| right(&cell(summary, &heading.selection)));
        [Cell::new(name)]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
    };
    for (place, summary) in summaries.iter().enumerate() {
        let mark = |without: Option<&str>| {
            if doubts::is_doubted(results, (&summary.discipline, without)) {
                doubts::MARK
            } else {
                ""
            }
        };
        table.add_row(row(
            format!("{}{}", summary.discipline, mark(None)),
            summary,
        ));
        for (name, control) in &controls {
            if control.discipline == summary.discipline {
                let mark = mark(Some(name));
                table.add_row(row(format!("  without {name}{mark}"), control));
            }
        }
        for (name, of_entry) in &entries {
            let Some(summary) = of_entry.get(place) else {
                continue;
            };
            let cells = headings
                .iter()
                .map(|heading| right(&heading.of_entry(summary, name)));
            let name = Cell::new(format!("  {name}"));
            table.add_row([name].into_iter().chain(cells));
        }
    }
    let (name, summary) = (&scenario.name, &scenario.summary);
    let doubted = doubts::told(results) + &limits::told(results);
    format!(
        "{name}: {summary}\n{}\n{doubted}\n{table}\n",
        extent(&summaries)
    )
}

/// The summaries of the runs without a traffic entry, and its name.
fn controls<'a>(results: &'a [RunResult], headings: &[Heading]) -> Vec<(&'a str, Summary)> {
    let mut names: Vec<&str> = Vec::new();
    let mut runs: Vec<RunResult> = Vec::new();
    for result in results {
        if let Some(name) = result.variant.get(WITHOUT) {
            let mut run = RunResult {
                series: None,
                ..result.clone()
            };
            run.variant.remove(WITHOUT);
            runs.push(run);
            names.push(name);
        }
    }
    // All control runs of a command leave out the same entry.
    let Some(name) = names.first() else {
        return Vec::new();
    };
    let selected: Vec<Selection> = headings.iter().map(|of| of.selection.clone()).collect();
    let summaries = summarize_selected(&runs, &selected).into_iter();
    summaries.map(|summary| (*name, summary)).collect()
}

/// The traffic entries that have any of what the columns show, and the summaries of each.
fn entries<'a>(
    scenario: &'a Scenario,
    results: &[RunResult],
    headings: &[Heading],
) -> Vec<(&'a str, Vec<Summary>)> {
    let names = scenario.traffic.iter().map(|entry| entry.name.as_str());
    let summarized = names.map(|name| {
        let of_all = headings.iter().filter(|heading| heading.is_of_all());
        let selected = of_all.map(|heading| of_entry(&heading.selection.metric, name));
        let selected: Vec<Selection> = selected.collect();
        let mut summaries = summarize_selected(results, &selected);
        let has_any = |summary: &Summary| selected.iter().any(|of| cell(summary, of) != NOTHING);
        if !summaries.iter().any(has_any) {
            summaries.clear();
        }
        (name, summaries)
    });
    summarized
        .filter(|(_, summaries)| !summaries.is_empty())
        .collect()
}

/// A metric of the traffic entry `entry`; of all if it is empty.
fn of_entry(metric: &Metric, entry: &str) -> Selection {
    Selection {
        metric: metric.clone(),
        entry: entry.to_owned(),
    }
}

/// A column of the table.
struct Heading {
    selection: Selection,
    text: String,
}

impl Heading {
    /// The column of what is selected, if its metric has one.
    fn of(selection: Selection) -> Option<Self> {
        let text = heading(
            &selection.metric,
            selection.metric.column?,
            &selection.entry,
        );
        Some(Heading { selection, text })
    }

    fn is_of_all(&self) -> bool {
        self.selection.entry.is_empty()
    }

    /// Its cell in the line of an entry; empty if the column is of one entry itself.
    fn of_entry(&self, summary: &Summary, entry: &str) -> String {
        if self.is_of_all() {
            cell(summary, &of_entry(&self.selection.metric, entry))
        } else {
            String::new()
        }
    }
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

/// Where there is no value.
const NOTHING: &str = "-";

/// A figure, and its interval in a line of its own.
fn cell(summary: &Summary, selection: &Selection) -> String {
    let column = selection.metric.column;
    let cell = column.and_then(|column| summary.cell_of(&selection.to_string(), column));
    match cell {
        Some(report::Cell { value, interval }) => match interval {
            Some(interval) => format!("{value}\n{interval}"),
            None => value,
        },
        None => NOTHING.to_owned(),
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
