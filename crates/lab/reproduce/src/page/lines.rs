//! A sentence with its verdict, its checks and their cells, as lines of a table.

use super::ours;
use crate::Outcome;
use crate::claim::{Check, ClaimVerdict, Judged, Speaker};

/// A line of a table of claims.
pub struct ClaimLine {
    /// The sentence, the check or its cell, our value, the verdict or whether the cell is inside, a note.
    pub cells: [String; 5],
    /// The check that it is of, none if of all, and the cell, none if of all of them.
    pub of: [Option<String>; 2],
}

/// A sentence as lines: with its check if it has one, and below it its checks and their cells. What keeps
/// all sentences of `outcome` from being tested stands above the table.
pub fn lines(judged: &Judged, outcome: &Outcome<'_>) -> Vec<ClaimLine> {
    let said = said(judged);
    let common = outcome.departures.told();
    let limits = judged.limits.iter().filter(|limit| !common.contains(limit));
    let limits: Vec<&str> = limits.map(String::as_str).collect();
    let verdict = match judged.verdict {
        Some(ClaimVerdict::Fails) => format!("**{}**", ClaimVerdict::Fails.name()),
        Some(verdict) => verdict.name().to_owned(),
        None => String::new(),
    };
    let mut lines = Vec::new();
    if judged.checks.len() > 1 {
        let note = limits.join(". ");
        let of_all = "all of these".to_owned();
        lines.push(ClaimLine {
            cells: [said.clone(), of_all, String::new(), verdict.clone(), note],
            of: [None, None],
        });
    }
    for check in &judged.checks {
        let alone = judged.checks.len() == 1;
        let [said, verdict] = if alone {
            [said.clone(), verdict.clone()]
        } else {
            [String::new(), inside(check.inside).to_owned()]
        };
        let limits = limits.iter().filter(|_| alone).copied().collect();
        lines.extend(of_check(judged, check, [said, verdict], limits));
    }
    lines
}

fn of_check(
    judged: &Judged,
    check: &Check,
    [said, verdict]: [String; 2],
    limits: Vec<&str>,
) -> Vec<ClaimLine> {
    let only = match &check.cells[..] {
        [only] => Some(only),
        _ => None,
    };
    let of_cell = only.map(|cell| cell.note.as_str()).into_iter();
    let mut notes: Vec<&str> = of_cell.chain([check.note.as_str()]).chain(limits).collect();
    notes.retain(|note| !note.is_empty());
    // What cannot be tested is the reason of cell and sentence.
    notes.dedup();
    // What a check of a capped or alone sentence has is told by its verdict, except where that is capped.
    let capped = judged.verdict == Some(ClaimVerdict::Untested) || judged.kind == Speaker::Data;
    let told = only
        .filter(|cell| capped && cell.ours.is_some())
        .map_or("", |cell| inside(cell.inside));
    let verdict = match (verdict.is_empty(), told.is_empty() || verdict == told) {
        (true, _) => told.to_owned(),
        (false, true) => verdict,
        (false, false) => format!("{verdict} ({told})"),
    };
    let value = only.map_or(String::new(), ours);
    let head = ClaimLine {
        cells: [said, check.check.clone(), value, verdict, notes.join(". ")],
        of: [Some(check.id.clone()), None],
    };
    let cells = check.cells.iter().filter(|_| only.is_none());
    let cells = cells.map(|cell| ClaimLine {
        cells: [
            String::new(),
            cell.cell.clone(),
            ours(cell),
            inside(cell.inside).to_owned(),
            cell.note.clone(),
        ],
        of: [Some(check.id.clone()), Some(cell.cell.clone())],
    });
    std::iter::once(head).chain(cells).collect()
}

/// The sentence with its place, or the question.
fn said(judged: &Judged) -> String {
    match judged.kind {
        Speaker::Own => judged.sentence.clone(),
        Speaker::Paper | Speaker::Data => format!("“{}” ({})", judged.sentence, judged.place),
    }
}

/// Whether a value is where its check has it.
fn inside(inside: Option<bool>) -> &'static str {
    match inside {
        Some(true) => "inside",
        Some(false) => "outside",
        None => "open",
    }
}
