//! How page load times, stalls for each load, and completion times are distributed.

use super::distribution::{Values, distribution, side_by_side};
use super::frame::section as wrap;
use super::report::Report;
use maud::Markup;
use measure::RunResult;

/// Fewer values than this, under every discipline, are no distribution to speak of.
const LEAST: usize = 3;

/// Distributions over all page loads, and all bulk transfers, of all runs.
pub fn section(report: &Report<'_>) -> Markup {
    let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1e3);
    let loads = values(report, |run| {
        run.pages.iter().map(|p| seconds(p.plt_ms)).collect()
    });
    let stalls = values(report, |run| match run.calls.as_slice() {
        [] => Vec::new(),
        _ => run
            .pages
            .iter()
            .map(|page| Some(page.stall_s * 1e3))
            .collect(),
    });
    let transfers = values(report, |run| {
        run.flows.iter().map(|f| seconds(f.fct_ms)).collect()
    });
    let plots = [
        figure(
            report,
            "page-load-times",
            "page load time, s",
            loads,
            "Share of page loads that took at most this long; a line that ends below 100 %: the \
             run ended before.",
        ),
        figure(
            report,
            "stalls-per-load",
            "stall per page load, ms",
            stalls,
            "Share of page loads with at most this stall of calls.",
        ),
        figure(
            report,
            "completion-times",
            "flow completion time, s",
            transfers,
            "Share of bulk transfers that took at most this long; a line that ends below 100 %: \
             unlimited ones, or the run ended before.",
        ),
    ];
    let plots: Vec<Markup> = plots.into_iter().flatten().collect();
    let content = side_by_side(report, &plots);
    wrap("loads", "Page loads and transfers", &content)
}

/// The values that `of` finds in each discipline's runs; `None` for a value that should be there,
/// but is not.
fn values(report: &Report<'_>, of: impl Fn(&RunResult) -> Vec<Option<f64>>) -> Vec<Values> {
    let results = report.document.results;
    (0..report.summaries.len())
        .map(|n| {
            let runs = results
                .iter()
                .filter(|result| result.discipline == report.name(n));
            let values: Vec<Option<f64>> = runs.flat_map(&of).collect();
            (n, values.iter().copied().flatten().collect(), values.len())
        })
        .collect()
}

fn figure(
    report: &Report<'_>,
    file: &str,
    label: &str,
    lines: Vec<Values>,
    caption: &str,
) -> Option<Markup> {
    if lines.iter().all(|line| line.1.len() < LEAST) {
        return None;
    }
    distribution(report, file, (label, caption), lines, 0.0)
}
