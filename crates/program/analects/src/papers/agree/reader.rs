//! What a user reads of two engines, as a table and in a sentence.

use super::{line, with_interval};
use crate::cli::Witness;
use crate::runs::table::plain;
use reproduce::agreement::{AgreementVerdict, Compared, Pooled, Readings, Row};

/// The text above the table of a page.
const ABOUT: &str = "\
Rates, delays, page loads and stall of flows are what a user reads. Nobody cares about a difference of less \
than 10 % of the other's value, or of 5 ms of a time. The table has each metric over all flows and \
disciplines, in parts of the other's mean, so that all count alike; a time below 50 ms counts as 50 ms, so \
that 10 % are 5 ms. Its intervals are over seeds. What could be chance cannot be told, here and in the counts.";

fn head(witness: Witness) -> [String; 6] {
    [
        "",
        "scenario",
        "metric",
        "figures",
        &format!("sim less {}, % (95 %)", witness.title()),
        "disciplines: lower, higher",
    ]
    .map(str::to_owned)
}

fn told(verdict: AgreementVerdict) -> &'static str {
    match verdict {
        AgreementVerdict::Agrees => "within 10 %",
        AgreementVerdict::Differs => "NOT within 10 %",
        AgreementVerdict::Untold => "cannot be told",
    }
}

fn cells(pooled: &Pooled) -> [String; 6] {
    [
        told(pooled.verdict).to_owned(),
        pooled.scenario.clone(),
        pooled.metric.to_owned(),
        pooled.figures.to_string(),
        with_interval(pooled.percent, pooled.ci95),
        format!("{}, {}", pooled.lower, pooled.higher),
    ]
}

/// Each metric over all disciplines.
pub fn table(witness: Witness, pooled: &[Pooled]) -> comfy_table::Table {
    let rows = pooled.iter().map(|pooled| cells(pooled).to_vec());
    plain(&head(witness), rows.collect())
}

/// How many figures are near, and whether those are 95 %.
pub fn statement(rows: &[Row]) -> String {
    let found = Readings::of(rows);
    let open = found.all - found.near - found.far;
    let verdict = match found.verdict() {
        AgreementVerdict::Agrees => "holds",
        AgreementVerdict::Differs => "does not hold",
        AgreementVerdict::Untold => "cannot be told",
    };
    format!(
        "Of {} figures that a user reads {} are within 10 % or 5 ms, {} are not, {open} cannot be told; the means of {} \
         are. \"95 % of what a user reads agrees within 10 % or 5 ms\" {verdict}.",
        found.all, found.near, found.far, found.means_near
    )
}

/// The section of a page.
pub fn markdown(witness: Witness, all: &Compared) -> String {
    let head = head(witness);
    let mut text = format!(
        "\n## What a user reads\n{}\n\n{ABOUT}\n\n{}{}",
        statement(&all.figures),
        line(&head),
        line(&head.clone().map(|_| "---".to_owned()))
    );
    for pooled in &all.pooled {
        text += &line(&cells(pooled));
    }
    text
}
