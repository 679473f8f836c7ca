//! What a check found.

use crate::baseline::Baseline;
use crate::cause::{Cause, CheckCauseKind};
use crate::decide::{Decision, decision};
use crate::file::{Check, Condition};
use crate::worse::{Worse, worse};
use measure::{Statistic, interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// A call over a condition's link.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Why its figures are not to be believed: this host was late. None if they are.
    pub late: Option<String>,
    /// How the application failed, whatever its figures: it ended badly, or no call came about.
    pub failed: Option<String>,
    /// The value of each limit, in their order; empty if it is not believed, or failed.
    pub values: Vec<f64>,
    /// Causes of each limit that it missed, by the limit's number.
    pub causes: BTreeMap<usize, Vec<Cause>>,
}

/// What is said of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its limits are kept, and nothing got worse.
    Passed,
    /// One is missed, something got worse, or the application failed.
    Failed,
    /// Runs do not say.
    Undecided,
}

/// The cause of most runs that missed a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Because {
    /// The cause, as one of these runs has it.
    pub cause: Cause,
    /// What else that run's packets show.
    pub also: Vec<Cause>,
    /// Runs with it.
    pub runs: usize,
    /// Runs that missed the limit.
    pub of: usize,
}

/// A limit, tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedLimit {
    /// What it is about: `fps_p5`.
    pub name: String,
    /// As it is written: `fps_p5 >= 20`.
    pub limit: String,
    /// The mean of the runs, as people read it; `-` without runs.
    pub shown: String,
    /// The interval that the mean is in with 95 % confidence, in the limit's unit; none of too few runs.
    pub ci95: Option<(f64, f64)>,
    /// The value of each run, in the order in which they were made, in s, shares, bit/s or numbers.
    pub values: Vec<f64>,
    /// Runs that missed it.
    pub missed: usize,
    /// What that says.
    pub decision: Decision,
    /// Why they did.
    pub because: Option<Because>,
    /// How it compares with the baseline; none without one.
    pub compared: Option<Worse>,
}

/// A condition, tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub verdict: Verdict,
    /// Runs that count.
    pub runs: usize,
    /// Runs in which this host was late.
    pub late: usize,
    /// How the application failed, run by run.
    pub failed: Vec<String>,
    /// Why nothing is said; none if something is.
    pub undecided: Option<String>,
    /// Its limits.
    pub limits: Vec<TriedLimit>,
}

/// All conditions, tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The check's name.
    pub name: String,
    /// What is said of all together.
    pub verdict: Verdict,
    /// The conditions.
    pub conditions: Vec<Judged>,
}

/// Runs that are all late say that more will be.
const LATE: usize = 3;

/// The decision on each limit of a condition, and on whether calls come about and run to their end, which is one more.
fn decisions(condition: &Condition, runs: &[Run], tests: usize) -> (Vec<Decision>, Decision) {
    let counted = || runs.iter().filter(|run| run.late.is_none());
    let of_limit = |(number, limit): (usize, &crate::Limit)| {
        let values = counted().filter_map(|run| run.values.get(number));
        decision(values.map(|value| limit.is_kept(*value)), tests)
    };
    let all = condition.limits.iter().enumerate().map(of_limit).collect();
    (
        all,
        decision(counted().map(|run| run.failed.is_none()), tests),
    )
}

/// What is decided in all.
fn tests(check: &Check) -> usize {
    check.limits() + check.conditions.len()
}

impl Run {
    /// Whether it counts.
    fn counts(&self) -> bool {
        self.late.is_none() && self.failed.is_none()
    }
}

/// Whether a condition needs more runs: a limit is open and none is missed, or a baseline cannot be compared with yet.
pub fn needs_runs(
    check: &Check,
    condition: &Condition,
    runs: &[Run],
    baseline: Option<&Baseline>,
) -> bool {
    let late = runs.iter().filter(|run| run.late.is_some()).count();
    if late >= LATE && late == runs.len() {
        return false;
    }
    let (decisions, whole) = decisions(condition, runs, tests(check));
    if whole == Decision::Missed || decisions.contains(&Decision::Missed) {
        return false;
    }
    let is_open = whole == Decision::Open || decisions.contains(&Decision::Open);
    let compared = baseline.is_none_or(|baseline| {
        let mut tried = compare(check, condition, runs, baseline)
            .into_iter()
            .flatten();
        tried.all(|compared| compared.could || compared.is_worse)
    });
    is_open || !compared
}

fn values(runs: &[Run], number: usize) -> Vec<f64> {
    let counted = runs.iter().filter(|run| run.counts());
    counted
        .filter_map(|run| run.values.get(number).copied())
        .collect()
}

/// Each limit beside the baseline.
fn compare(
    check: &Check,
    condition: &Condition,
    runs: &[Run],
    baseline: &Baseline,
) -> Vec<Option<Worse>> {
    let limits = condition.limits.iter().enumerate().map(|(number, limit)| {
        let before = baseline.values(&condition.name, &limit.name);
        worse(
            before,
            &values(runs, number),
            limit.figure.more,
            check.tolerance,
            check.limits(),
        )
    });
    limits.collect()
}

impl Outcome {
    /// That of runs, of each condition in its order; `stopped` is why there are no more.
    pub fn of(
        check: &Check,
        runs: &[Vec<Run>],
        baseline: Option<&Baseline>,
        stopped: Option<&str>,
    ) -> Outcome {
        let conditions = check.conditions.iter().zip(runs);
        let conditions: Vec<Judged> = conditions
            .map(|(condition, runs)| judged(check, condition, runs, (baseline, stopped)))
            .collect();
        let any = |wanted| conditions.iter().any(|judged| judged.verdict == wanted);
        Outcome {
            name: check.name.clone(),
            verdict: match (any(Verdict::Failed), any(Verdict::Undecided)) {
                (true, _) => Verdict::Failed,
                (false, true) => Verdict::Undecided,
                (false, false) => Verdict::Passed,
            },
            conditions,
        }
    }
}

impl Outcome {
    /// The values of all calls, for later ones to be compared with.
    pub fn baseline(&self) -> Baseline {
        let mut baseline = Baseline::new(&self.name);
        for judged in &self.conditions {
            for tried in &judged.limits {
                baseline.add(&judged.name, &tried.name, &tried.values);
            }
        }
        baseline
    }
}

fn judged(
    check: &Check,
    condition: &Condition,
    runs: &[Run],
    (baseline, stopped): (Option<&Baseline>, Option<&str>),
) -> Judged {
    let (decisions, whole) = decisions(condition, runs, tests(check));
    let compared = baseline.map_or(vec![None; decisions.len()], |baseline| {
        compare(check, condition, runs, baseline)
    });
    let limits: Vec<TriedLimit> = (0..decisions.len())
        .map(|number| tried(condition, runs, number, decisions[number], compared[number]))
        .collect();
    let late = runs.iter().filter(|run| run.late.is_some()).count();
    let is_worse = limits
        .iter()
        .any(|tried| tried.compared.is_some_and(|compared| compared.is_worse));
    let failed = whole == Decision::Missed || decisions.contains(&Decision::Missed) || is_worse;
    let verdict = match failed {
        true => Verdict::Failed,
        false if !needs_runs(check, condition, runs, baseline) && late < runs.len() => {
            Verdict::Passed
        }
        false => Verdict::Undecided,
    };
    Judged {
        name: condition.name.clone(),
        verdict,
        runs: runs.iter().filter(|run| run.counts()).count(),
        late,
        failed: runs
            .iter()
            .filter(|run| run.late.is_none())
            .filter_map(|run| run.failed.clone())
            .collect(),
        undecided: (verdict == Verdict::Undecided).then(|| undecided(runs, late, stopped)),
        limits,
    }
}

/// Why runs do not say.
fn undecided(runs: &[Run], late: usize, stopped: Option<&str>) -> String {
    let all = runs.len();
    let why = runs
        .iter()
        .filter_map(|run| run.late.as_deref())
        .next_back();
    let said = match why {
        Some(why) if late == all => format!("this host was late in all of {all} runs: {why}"),
        Some(why) => format!(
            "{} runs do not decide; this host was late in {late} more: {why}",
            all - late
        ),
        None => format!("{all} runs do not decide"),
    };
    match stopped {
        Some(stopped) => format!("{said}, and no more came: {stopped}"),
        None => said,
    }
}

fn tried(
    condition: &Condition,
    runs: &[Run],
    number: usize,
    decision: Decision,
    compared: Option<Worse>,
) -> TriedLimit {
    let limit = &condition.limits[number];
    let values = values(runs, number);
    let mean = Statistic::Mean.of(&mut values.clone());
    let ends = interval::of_mean(&values, measure::estimate::LEVEL);
    let shown = mean.map_or("-".to_owned(), |mean| match ends {
        Some(ends) if ends.0 < ends.1 => {
            let ends = (ends.0.max(0.0), ends.1);
            format!(
                "{} ({})",
                limit.shown(mean),
                interval::written(mean, ends, |end| limit.shown(end))
            )
        }
        _ => limit.shown(mean),
    });
    TriedLimit {
        name: limit.name.clone(),
        limit: limit.text.clone(),
        shown,
        ci95: ends,
        missed: values
            .iter()
            .filter(|value| !limit.is_kept(**value))
            .count(),
        values,
        decision,
        because: because(runs, number),
        compared,
    }
}

/// The kind of cause and the direction that most runs have that missed a limit.
fn because(runs: &[Run], number: usize) -> Option<Because> {
    let missed = runs.iter().filter(|run| run.counts());
    let missed: Vec<&Vec<Cause>> = missed.filter_map(|run| run.causes.get(&number)).collect();
    let kind = |causes: &&Vec<Cause>| causes.first().map(|cause| (cause.kind, cause.way));
    let mut counts: BTreeMap<(CheckCauseKind, Option<&str>), usize> = BTreeMap::new();
    for of in missed.iter().filter_map(kind) {
        *counts.entry(of).or_default() += 1;
    }
    let (most, runs) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let causes = missed.iter().find(|causes| kind(causes) == Some(most))?;
    let (cause, also) = causes.split_first()?;
    Some(Because {
        cause: cause.clone(),
        also: also.to_vec(),
        runs,
        of: missed.len(),
    })
}

impl Judged {
    /// How the application failed, as a sentence without a stop; none if it did not.
    pub fn failure(&self) -> Option<String> {
        let first = self.failed.first()?;
        let (failed, all) = (self.failed.len(), self.runs + self.failed.len());
        Some(format!(
            "the application failed in {failed} of {all} calls: {first}"
        ))
    }
}

impl Because {
    /// A sentence without a stop.
    pub fn words(&self) -> String {
        let mut text = self.cause.words.clone();
        if !self.also.is_empty() {
            let also: Vec<&str> = self.also.iter().map(|cause| cause.words.as_str()).collect();
            text = format!("{text}; also: {}", also.join("; "));
        }
        if self.runs == self.of {
            text
        } else {
            format!(
                "{text} (so in {} of {} runs that missed it)",
                self.runs, self.of
            )
        }
    }
}

impl TriedLimit {
    /// What is said of it, in a word or two.
    pub fn said(&self) -> &'static str {
        match (self.decision, self.compared) {
            (Decision::Missed, _) => "missed",
            (_, Some(compared)) if compared.is_worse => "got worse",
            (Decision::Kept, _) => "kept",
            (Decision::Open, _) => "not decided",
        }
    }

    /// What is wrong with it, as a sentence without a stop; none if nothing is.
    pub fn fault(&self) -> Option<String> {
        let runs = self.values.len();
        let mut faults = Vec::new();
        if self.decision == Decision::Missed {
            let why = self
                .because
                .as_ref()
                .map_or(String::new(), |because| format!(": {}", because.words()));
            faults.push(format!(
                "{} is missed in {} of {runs} runs, mean {}{why}",
                self.limit, self.missed, self.shown
            ));
        }
        if let Some(compared) = self.compared.filter(|compared| compared.is_worse) {
            faults.push(self.regression(&compared));
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    fn regression(&self, compared: &Worse) -> String {
        let limit: Option<crate::Limit> = self.limit.parse().ok();
        let shown = |value: f64| {
            limit
                .as_ref()
                .map_or_else(|| value.to_string(), |limit| limit.shown(value))
        };
        format!(
            "{} got worse: {} on average now, {} in the baseline (by chance in {:.2} % of comparisons)",
            self.name,
            shown(compared.now),
            shown(compared.before),
            100.0 * compared.chance,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::AnyNames;

    fn check() -> Check {
        let text = "limits = [\"freezes <= 1\", \"fps >= 20\"]\n[application]\nnear = \"x\"\n\
            [[condition]]\nname = \"lte\"\npreset = \"lte\"\n";
        Check::read("c.toml", text, &AnyNames::default()).unwrap()
    }

    fn run(freezes: f64, fps: f64) -> Run {
        let cause = Cause {
            kind: CheckCauseKind::Loss,
            way: Some("down"),
            share: 0.1,
            words: "the wire lost some".to_owned(),
        };
        let causes = if freezes > 1.0 {
            BTreeMap::from([(0, vec![cause])])
        } else {
            BTreeMap::new()
        };
        Run {
            values: vec![freezes, fps],
            causes,
            ..Run::default()
        }
    }

    fn late() -> Run {
        Run {
            late: Some("4 ms".to_owned()),
            ..Run::default()
        }
    }

    fn found(runs: &[Run]) -> Outcome {
        Outcome::of(&check(), &[runs.to_vec()], None, None)
    }

    fn goes_on(runs: &[Run], baseline: Option<&Baseline>) -> bool {
        let check = check();
        needs_runs(&check, &check.conditions[0], runs, baseline)
    }

    #[test]
    fn five_good_runs_pass() {
        let runs = vec![run(0.0, 30.0); 5];
        assert!(goes_on(&runs[..4], None) && !goes_on(&runs, None));
        let outcome = found(&runs);
        assert_eq!(outcome.verdict, Verdict::Passed);
        assert_eq!(outcome.conditions[0].limits[1].fault(), None);
        assert_eq!(found(&runs[..4]).verdict, Verdict::Undecided);
    }

    #[test]
    fn two_bad_ones_fail_and_say_why() {
        let runs = vec![run(4.0, 30.0); 2];
        assert!(!goes_on(&runs, None));
        let outcome = found(&runs);
        assert_eq!(outcome.verdict, Verdict::Failed);
        let fault = outcome.conditions[0].limits[0].fault().unwrap();
        assert_eq!(
            fault,
            "freezes <= 1 is missed in 2 of 2 runs, mean 4: the wire lost some"
        );
    }

    #[test]
    fn late_runs_do_not_count() {
        let mut runs = vec![late(), run(0.0, 30.0), late(), run(4.0, 5.0)];
        let outcome = found(&runs);
        assert_eq!(
            (outcome.conditions[0].runs, outcome.conditions[0].late),
            (2, 2)
        );
        assert_eq!(outcome.verdict, Verdict::Undecided);
        assert!(goes_on(&runs, None));
        runs = vec![late(); 3];
        assert!(!goes_on(&runs, None), "more are late, too");
        let outcome = found(&runs);
        assert_eq!(outcome.verdict, Verdict::Undecided);
        assert!(
            outcome.conditions[0]
                .undecided
                .as_ref()
                .unwrap()
                .contains("late in all of 3 runs: 4 ms")
        );
        assert_eq!(found(&[]).verdict, Verdict::Undecided);
    }

    #[test]
    fn an_application_that_fails_does() {
        let failed = Run {
            failed: Some("status 3 after 2.0 s".to_owned()),
            ..Run::default()
        };
        assert!(!goes_on(&vec![failed.clone(); 2], None));
        let outcome = found(&vec![failed; 2]);
        assert_eq!(
            (outcome.verdict, outcome.conditions[0].failed.len()),
            (Verdict::Failed, 2)
        );
    }

    #[test]
    fn what_got_worse_fails_although_limits_are_kept() {
        let fps = |from: f64| -> Vec<Run> {
            (0..5)
                .map(|number| run(0.0, from + 0.1 * f64::from(number)))
                .collect()
        };
        let baseline = found(&fps(30.0)).baseline();
        let outcome = |runs: &[Run]| Outcome::of(&check(), &[runs.to_vec()], Some(&baseline), None);
        assert_eq!(outcome(&fps(29.5)).verdict, Verdict::Passed);
        let worse = outcome(&fps(24.0));
        assert_eq!(worse.verdict, Verdict::Failed);
        let fault = worse.conditions[0].limits[1].fault().unwrap();
        assert_eq!(
            fault,
            "fps got worse: 24.2 on average now, 30.2 in the baseline (by chance in 0.40 % of comparisons)"
        );
        // Of a baseline of few runs, more are needed now.
        let few = found(&fps(30.0)[..2]).baseline();
        assert!(goes_on(&fps(30.0), Some(&few)));
    }
}
