//! What came of a sentence: its verdict, its checks, their cells.

use super::cells::{ClaimCell, Quantifier};
use super::{Claim, never};
use crate::departures::{Departures, Difference};
use crate::records::Records;
use measure::estimate::LEVEL;
use serde::Serialize;

/// The place of an experiment's claims.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimsPlace<'a> {
    /// The experiment that they belong to.
    pub(crate) experiment: &'a str,
    /// The preset of that one's calls, if one was asked for.
    pub(crate) calls: Option<&'a str>,
    /// The place of its results in the paper, unless a claim has one.
    pub(crate) paper: &'a str,
    /// How its runs depart from the paper's.
    pub(crate) departures: &'a Departures,
}

/// Who says a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The paper.
    Paper,
    /// We ask it.
    Own,
    /// The paper, of its recordings: other recordings neither confirm nor refute it.
    Data,
}

/// The outcome of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ClaimVerdict {
    /// Our values are where it has them, at the confidence required of claims (decision 0041).
    #[serde(rename = "holds")]
    Holds,
    /// They are not, and what was run is what the sentence is about.
    #[serde(rename = "does not hold")]
    Fails,
    /// What was run is not what the sentence is about.
    #[serde(rename = "not tested")]
    Untested,
    /// There are too few runs to decide.
    #[serde(rename = "cannot be told")]
    Untold,
}

impl ClaimVerdict {
    /// As it is printed.
    pub fn name(&self) -> &'static str {
        match self {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::Fails => "does not hold",
            ClaimVerdict::Untested => "not tested",
            ClaimVerdict::Untold => "cannot be told",
        }
    }
}

/// A sentence and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// Its name: experiment and claim.
    pub id: String,
    /// The preset of its calls, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// Who says it.
    pub kind: Speaker,
    /// Its place in the paper; for a question of our own, what the experiment is about.
    pub place: String,
    /// The sentence, or the question.
    pub sentence: String,
    /// The verdict; null for what a paper says of its recordings.
    pub verdict: Option<ClaimVerdict>,
    /// Why it is not tested: settings that differ, or that the paper does not state.
    pub limits: Vec<String>,
    /// Its checks: it holds if all of them do.
    pub checks: Vec<Check>,
}

/// A check of a sentence.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The name of the claim: experiment and claim.
    pub id: String,
    /// What is compared with what number, and over what.
    pub check: String,
    /// Whether our values are as it has them; null if that is open.
    pub inside: Option<bool>,
    /// How the check follows from the sentence, and why our values are what they are.
    pub note: String,
    /// Each cell.
    pub cells: Vec<Checked>,
    #[serde(skip)]
    quantifier: Quantifier,
}

/// A cell of a check with its measured value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Checked {
    /// What sets it apart; empty if there is only one.
    pub cell: String,
    /// Our value, in `unit`; null if there is none.
    pub ours: Option<f64>,
    /// Its 95 % interval; null if it is unknown, and for values that do not come from runs.
    pub ci95: Option<(f64, f64)>,
    /// The complement of the least confidence with which it would be decided, between 0 and 1; null
    /// for values that do not come from runs.
    pub p: Option<f64>,
    /// Runs, or traces, that would probably decide it; null if their number is unknown too.
    pub needed: Option<u64>,
    /// The unit.
    pub unit: String,
    /// Whether it is in the range of the check; null if that is open.
    pub inside: Option<bool>,
    /// Whether one of its runs is not to be believed, and so the value.
    pub invalid: bool,
    /// Why.
    pub note: String,
}

impl Check {
    /// One of a single cell, without a range of its own.
    pub(crate) fn of_one(id: String, check: String, cell: Checked) -> Self {
        Check {
            id,
            check,
            inside: cell.inside,
            note: String::new(),
            cells: vec![cell],
            quantifier: Quantifier::Each,
        }
    }
}

/// The claims against `records`, by sentence, without verdicts.
pub(crate) fn judged(claims: &[Claim], of: ClaimsPlace<'_>, records: &Records<'_>) -> Vec<Judged> {
    let heads = claims.iter().filter(|claim| claim.part_of.is_none());
    let sentence = |head: &Claim| {
        let part = |claim: &&Claim| claim.part_of.as_ref() == Some(&head.id);
        let all = std::iter::once(head).chain(claims.iter().filter(part));
        let all: Vec<&Claim> = all.collect();
        let checks = all.iter().map(|claim| claim.checked(of, records));
        Judged {
            id: format!("{}/{}", of.experiment, head.id),
            calls: of.calls.map(str::to_owned),
            kind: head.kind(),
            place: head.paper.as_deref().unwrap_or(of.paper).to_owned(),
            sentence: (head.quote.as_ref().or(head.question.as_ref()))
                .cloned()
                .unwrap_or_default(),
            verdict: None,
            limits: head.limits(&all, of.departures),
            checks: checks.collect(),
        }
    };
    heads.map(sentence).collect()
}

impl Judged {
    /// Gives the verdict that its cells make, as far as the set-up allows one.
    pub(crate) fn conclude(&mut self, departures: &Departures) {
        for check in &mut self.checks {
            let cells = check.cells.iter().map(|cell| cell.inside);
            check.inside = check.quantifier.of(cells);
        }
        let all = Quantifier::Each.of(self.checks.iter().map(|check| check.inside));
        let verdict = match all {
            _ if self.kind == Speaker::Data => return,
            _ if !self.limits.is_empty() => ClaimVerdict::Untested,
            Some(false) if self.kind == Speaker::Paper && !departures.unstated.is_empty() => {
                self.limits = departures.silences().collect();
                ClaimVerdict::Untested
            }
            Some(true) => ClaimVerdict::Holds,
            Some(false) => ClaimVerdict::Fails,
            None => ClaimVerdict::Untold,
        };
        self.verdict = Some(verdict);
    }
}

impl Claim {
    pub(crate) fn kind(&self) -> Speaker {
        let of_data = |fact: &String| fact.starts_with("pages ") || fact.starts_with("traces ");
        if self.question.is_some() {
            Speaker::Own
        } else if self.fact.as_ref().is_some_and(of_data) {
            Speaker::Data
        } else {
            Speaker::Paper
        }
    }

    /// What keeps a sentence from being tested, of which `all` are the checks.
    fn limits(&self, all: &[&Claim], departures: &Departures) -> Vec<String> {
        let runs = all.iter().any(|claim| !claim.metrics.0.is_empty());
        let shortened = departures.shortened.iter().filter(|_| runs).cloned();
        let mut limits: Vec<String> = shortened.collect();
        if self.kind() == Speaker::Paper {
            let of_runs = departures.differs.iter().filter(|_| runs).cloned();
            let own = all.iter().flat_map(|claim| &claim.differs);
            limits.extend(of_runs.chain(own.map(Difference::told)));
        }
        limits.extend(all.iter().filter_map(|claim| claim.untestable.clone()));
        limits
    }

    /// The check against `records`, in each of its cells.
    fn checked(&self, of: ClaimsPlace<'_>, records: &Records<'_>) -> Check {
        let cells = self.cells(|axis| records.labels(axis)).into_iter();
        let notes = self.reading.iter().chain(&self.why);
        let notes: Vec<&str> = notes.map(String::as_str).collect();
        Check {
            id: format!("{}/{}", of.experiment, self.id),
            check: self.in_words(records),
            inside: None,
            note: notes.join(". "),
            cells: cells.map(|cell| cell.checked(records)).collect(),
            quantifier: self.quantified().0,
        }
    }
}

impl ClaimCell {
    /// The measured value, and whether it is in the range.
    fn checked(self, records: &Records<'_>) -> Checked {
        let ClaimCell { claim, place, name } = self;
        let mut checked = Checked {
            cell: name,
            unit: claim.unit(records.design().metrics),
            ..Checked::default()
        };
        let estimate = match claim.measured(records, &place, LEVEL) {
            Ok(estimate) => estimate,
            Err(reason) => {
                checked.note = reason;
                return checked;
            }
        };
        let mut cases = claim.of.0.iter().chain(&claim.to.0);
        checked.invalid = cases.any(|case| records.are_doubted(case, &place));
        checked.ours = Some(estimate.value);
        checked.ci95 = estimate.ci95;
        let of_runs = !claim.metrics.0.is_empty();
        let held = claim.expect.and_then(|range| {
            if of_runs {
                range.judge(&estimate)
            } else {
                Some(range.contains(estimate.value))
            }
        });
        checked.p = of_runs.then(|| claim.p(records, &place));
        checked.needed = claim.needed(&estimate);
        let never = claim.never(&estimate);
        checked.inside = held.or_else(|| {
            let (enough, p) = never?;
            checked.p = Some(p);
            checked.needed = Some(never::needed(LEVEL)).filter(|_| !enough);
            enough.then_some(true)
        });
        let lacking = checked.inside.is_none() || never.is_some();
        let lacking = lacking.then(|| claim.lacking(&estimate));
        let (theory, test) = (claim.theory(records, &place), claim.tested(records, &place));
        let notes = lacking.into_iter().chain(theory).chain(test);
        checked.note = notes.collect::<Vec<_>>().join(". ");
        checked
    }
}
