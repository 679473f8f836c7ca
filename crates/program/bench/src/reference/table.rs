//! The comparison as Markdown: a text with gaps, filled with tables.

use super::call::FIGURES;
use super::{Burst, ComparedFigure, MeansVerdict, Reference, ReferenceCall, ReferenceFigures, Row};
use measure::interval::mean;
use std::fmt::Write as _;

/// The text around the tables.
const TEXT: &str = include_str!("ns3.md");

/// The whole document.
pub fn document(reference: &Reference) -> String {
    let compared = reference.rows.iter().filter(|row| row.ours.is_some());
    let figures: usize = compared
        .clone()
        .map(|row| row.theirs.compared().len())
        .sum();
    let misses: usize = compared.clone().map(|row| row.misses().len()).sum();
    let whole = compared.clone().filter(|row| row.misses().is_empty());
    let count = format!(
        "Of {figures} figures in {} rows, {} are within their tolerance, and {} rows are in all \
         three.",
        compared.clone().count(),
        figures - misses,
        whole.count(),
    );
    TEXT.replace("{count}", &count)
        .replace("{rows}", rows(&reference.rows).trim_end())
        .replace("{burst}", burst(&reference.burst).trim_end())
        .replace("{calls}", calls(&reference.calls).trim_end())
        .replace("{variants}", variants(&reference.variants).trim_end())
}

fn rows(rows: &[Row]) -> String {
    let mut text = String::from(
        "| queue | control | flows | goodput, Mbit/s | JFI | mean sojourn, ms | p95, ms | drops | \
         verdict |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        _ = writeln!(
            text,
            "| {} {} | {} | {} | {} | {} |",
            row.discipline,
            row.limit,
            control(row),
            row.flows,
            figures(&row.theirs, row.ours.as_ref()),
            verdict(row),
        );
    }
    text
}

fn variants(rows: &[Row]) -> String {
    let mut text = String::from(
        "| queue | control | flows | apart, ms | goodput, Mbit/s | JFI | mean sojourn, ms | p95, ms \
         | drops |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        _ = writeln!(
            text,
            "| {} {} | {} | {} | {} | {} |",
            row.discipline,
            row.limit,
            control(row),
            row.flows,
            row.stagger_ms,
            figures(&row.theirs, row.ours.as_ref()),
        );
    }
    text
}

fn control(row: &Row) -> &str {
    row.control.trim_start_matches("Tcp")
}

/// Theirs and ours of each figure, and by how much ours differs.
fn figures(theirs: &ReferenceFigures, ours: Option<&ReferenceFigures>) -> String {
    let Some(ours) = ours else {
        let ReferenceFigures {
            goodput,
            jfi,
            sojourn,
            p95,
            drops,
        } = theirs;
        return format!("{goodput:.2} | {jfi:.3} | {sojourn:.1} | {p95:.1} | {drops}");
    };
    format!(
        "{:.2} / {:.2}{} | {:.3} / {:.3} | {:.1} / {:.1}{} | {:.1} / {:.1} | {} / {}",
        theirs.goodput,
        ours.goodput,
        percent(ours.goodput, theirs.goodput),
        theirs.jfi,
        ours.jfi,
        theirs.sojourn,
        ours.sojourn,
        percent(ours.sojourn, theirs.sojourn),
        theirs.p95,
        ours.p95,
        theirs.drops,
        ours.drops,
    )
}

fn percent(ours: f64, theirs: f64) -> String {
    if theirs == 0.0 {
        return String::new();
    }
    format!(" ({:+.1} %)", (ours / theirs - 1.0) * 100.0)
}

fn verdict(row: &Row) -> String {
    if row.ours.is_none() {
        return format!("not run: there is no {}", row.discipline);
    }
    let misses = row.misses();
    let Some((_, section)) = misses.first() else {
        return "ok".to_owned();
    };
    let names: Vec<&str> = misses.iter().map(|(figure, _)| figure.name()).collect();
    missed(&names, *section)
}

fn missed(names: &[&str], section: Option<&str>) -> String {
    let section = section.unwrap_or("unexplained");
    format!("MISS: {} ({section})", names.join(", "))
}

fn burst(burst: &Burst) -> String {
    let mut text = String::from("| | ns-3 | Analects | difference |\n| --- | --- | --- | --- |\n");
    let names = ["fastest flow", "mean", "slowest flow", "longest sojourn"];
    for (name, (theirs, ours)) in names.iter().zip(burst.theirs.iter().zip(burst.ours)) {
        let percent = percent(ours, *theirs);
        let percent = percent.trim_matches([' ', '(', ')']);
        _ = writeln!(text, "| {name}, ms | {theirs:.1} | {ours:.1} | {percent} |");
    }
    let verdict = if burst.holds() { "ok" } else { "MISS" };
    _ = writeln!(
        text,
        "\nVerdict on {}: {verdict}.",
        ComparedFigure::Completion.name()
    );
    text
}

fn calls(calls: &[ReferenceCall]) -> String {
    let mut text = String::from("| discipline |");
    for (_, name, _) in FIGURES {
        _ = write!(text, " {name} |");
    }
    _ = write!(
        text,
        " verdict |\n| --- |{}\n",
        " --- |".repeat(FIGURES.len() + 1)
    );
    for call in calls {
        _ = write!(text, "| {} {} |", call.discipline, call.limit);
        for ((theirs, ours), (figure, ..)) in call.theirs.iter().zip(&call.ours).zip(FIGURES) {
            let (theirs, ours, digits) = (mean(theirs), mean(ours), figure.digits());
            let percent = percent(ours, theirs);
            _ = write!(text, " {theirs:.digits$} / {ours:.digits$}{percent} |");
        }
        _ = writeln!(text, " {} |", said(call));
    }
    text
}

/// The verdicts on a row of calls in words.
fn said(call: &ReferenceCall) -> String {
    let mut parts = Vec::new();
    let mut sections: Vec<_> = call
        .verdicts()
        .into_iter()
        .filter_map(MeansVerdict::missed)
        .collect();
    sections.dedup();
    for section in sections {
        let names = call.named(|verdict| verdict == MeansVerdict::Miss(section));
        parts.push(missed(&names, section));
    }
    let untold = call.named(|verdict| verdict == MeansVerdict::Untold);
    if !untold.is_empty() {
        parts.push(format!("cannot be told: {}", untold.join(", ")));
    }
    if parts.is_empty() {
        parts.push("ok".to_owned());
    }
    parts.join("; ")
}
