//! The counters of composite disciplines' children.

use super::frame::section as wrap;
use super::report::Report;
use maud::{Markup, html};
use measure::{ChildResult, RunResult};

/// A line for each child of each discipline that has some; nothing if none has.
pub fn section(report: &Report<'_>) -> Markup {
    let several = report
        .document
        .results
        .iter()
        .any(|run| run.links.len() > 1);
    let lines: Vec<Markup> = (0..report.summaries.len())
        .flat_map(|n| lines(report, n, several))
        .collect();
    let content = html! {
        @if !lines.is_empty() {
            div class="wide" {
                table {
                    thead {
                        tr {
                            th scope="col" { "discipline" } th scope="col" { "part" } th scope="col" { "packets" } th scope="col" { "MB" }
                            th scope="col" { "drops" } th scope="col" { "marks" }
                        }
                    }
                    tbody { @for line in &lines { (line) } }
                }
            }
            p class="note" { "Means over runs, the warm-up included." }
        }
    };
    wrap("children", "Parts of a discipline", &content)
}

fn lines(report: &Report<'_>, n: usize, several: bool) -> Vec<Markup> {
    let runs: Vec<&RunResult> = report
        .document
        .results
        .iter()
        .filter(|run| run.discipline == report.name(n))
        .collect();
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let links = first.links.iter().enumerate();
    let parts = links.flat_map(|(link, result)| {
        let children = result.children.iter().enumerate();
        children.map(move |(child, part)| (link, child, part))
    });
    parts
        .map(|(link, child, part)| {
            let of = |run: &&RunResult| run.links.get(link)?.children.get(child).cloned();
            let all: Vec<ChildResult> = runs.iter().filter_map(of).collect();
            let mean = |figure: fn(&ChildResult) -> u64| {
                all.iter().map(figure).sum::<u64>() as f64 / all.len().max(1) as f64
            };
            let name = if several {
                format!("{}: {}", first.links[link].name, part.name)
            } else {
                part.name.clone()
            };
            html! {
                tr class=(format!("d{n}")) {
                    th scope="row" { (report.look(n).swatch()) (report.name(n)) }
                    td { (name) }
                    td { (format!("{:.0}", mean(|part| part.packets))) }
                    td { (format!("{:.1}", mean(|part| part.bytes) / 1e6)) }
                    td { (format!("{:.0}", mean(|part| part.drops))) }
                    td { (format!("{:.0}", mean(|part| part.marks))) }
                }
            }
        })
        .collect()
}
