//! Whether two engines agree, flow by flow: the same scenarios, seeds and disciplines through both.
//!
//! A mean over flows hides who gets what: of a full link *n* flows have the *n*th part on average,
//! whatever the engine. So each figure is that of one flow. Runs are paired by seed. A seed gives both
//! engines the same pages, frames and starts, but not the same losses, so pairing narrows an interval
//! where pages decide; where nothing is shared it costs a few degrees of freedom and is as true.
//!
//! An engine that shares no code with the other is the better witness. If they differ, one of them
//! is wrong, or chooses a value that the scenario leaves open.

mod figures;
mod reader;

use crate::Wanted;
use crate::discovery::{least_p, limit};
use crate::experiment::Experiment;
use campaign::{Error, Keeping, Progress, run};
use figures::{AgreementFigure, Near, SeenFigure, figures};
use measure::estimate::{self, Against, Bounds, Estimate, LEVEL, Statistic};
use measure::interval::LEAST_ALIKE;
use measure::metric::Registry;
use measure::{Engine, RunResult, Units};
pub use reader::{Pooled, Reading, Readings};
use scenario::Names;
use serde::Serialize;

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AgreementVerdict {
    /// The 95 % interval of the difference lies within the allowed range.
    Agrees,
    /// It lies outside.
    Differs,
    /// It reaches over a border, or there is none, or it may be chance among so many.
    Untold,
}

/// A figure of both engines.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The experiment.
    pub scenario: String,
    /// The discipline.
    pub case: String,
    /// Which flow: an entry's name, with a rank from the smallest value up or a load's number; `link`.
    pub of: String,
    /// The kind of its traffic; null of the link.
    pub kind: Option<&'static str>,
    /// The metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The first engine's mean.
    pub ours: f64,
    /// The witness's mean.
    pub witness: f64,
    /// The first engine's less the witness's.
    pub difference: f64,
    /// Its 95 % interval; null if it is unknown.
    pub ci95: Option<(f64, f64)>,
    /// The greatest difference that is allowed.
    pub allowed: f64,
    /// Pairs of runs with one seed.
    pub pairs: usize,
    /// The complement of the least confidence with which it would be decided.
    pub p: f64,
    /// The outcome.
    pub verdict: AgreementVerdict,
    /// Number of pairs that would probably decide it; null if it is decided, or the number is
    /// unknown.
    pub needed: Option<u64>,
    /// How a user reads it; null of the link.
    pub reader: Option<Reading>,
    /// Whether one of the runs of its discipline is not to be believed.
    pub invalid: bool,
}

/// Two engines side by side.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Compared {
    /// Figure by figure.
    pub figures: Vec<Row>,
    /// What a user reads, over all disciplines.
    pub pooled: Vec<Pooled>,
    /// A line for each reason for which runs are not to be believed.
    pub invalid: Vec<String>,
}

/// Runs `experiment` through both `engines`, or takes the stored results, and compares: the first
/// is judged, the second is the reference. Figures that one of them does not observe, or that are
/// zero in all runs of both, are left out. Verdicts stand alone: see [`judged_together`].
///
/// # Errors
/// See [`Error`].
pub fn compare(
    engines: [(&dyn Engine, Keeping<'_>); 2],
    names: &dyn Names,
    experiment: &Experiment,
    wanted: Wanted<'_>,
    progress: &dyn Progress,
) -> Result<Compared, Error> {
    let grid = experiment.grid(wanted)?;
    let of = |(engine, keeping): (&dyn Engine, Keeping<'_>)| {
        let jobs = grid.plan(engine, names)?;
        let results = run(engine, &jobs, Some(keeping), progress)?;
        Ok::<_, Error>((jobs, results))
    };
    let ((jobs, ours), (_, witness)) = (of(engines[0])?, of(engines[1])?);
    let pages = ours.iter().chain(&witness).flat_map(|run| &run.pages);
    let loads = pages.map(|page| page.load + 1).max().unwrap_or(0);
    let Some(first) = jobs.first() else {
        return Ok(Compared::default());
    };
    let metrics = &experiment.metrics;
    let figures = figures(&first.scenario, loads, metrics);
    let cases = experiment.written.cases.iter().map(|case| {
        let of_case = |results: &[RunResult]| -> Vec<RunResult> {
            let runs = results.iter().filter(|run| run.discipline == case.name);
            runs.cloned().collect()
        };
        [of_case(&ours), of_case(&witness)]
    });
    let cases: Vec<[Vec<RunResult>; 2]> = cases.collect();
    let named = experiment.written.cases.iter().zip(&cases);
    let rows = named.flat_map(|(case, sides)| {
        let mut runs = sides.iter().flatten();
        let invalid = runs.any(|run| !run.invalid.is_empty());
        let rows = figures.iter().filter_map(move |figure| {
            let row = row(figure, [&sides[0], &sides[1]], metrics)?;
            Some(Row {
                scenario: experiment.id.clone(),
                case: case.name.clone(),
                invalid,
                ..row
            })
        });
        rows.collect::<Vec<Row>>()
    });
    Ok(Compared {
        figures: rows.collect(),
        pooled: reader::pooled(&experiment.id, &figures, &cases, metrics),
        invalid: [ours, witness]
            .iter()
            .flat_map(|side| invalid(&experiment.id, side))
            .collect(),
    })
}

/// A line for each reason for which runs are not to be believed.
fn invalid(experiment: &str, runs: &[RunResult]) -> Vec<String> {
    let told = report::doubts::told(runs);
    let lines = told.lines().map(|line| format!("{experiment}: {line}"));
    lines.collect()
}

/// Takes back verdicts of `all`, those of a page, that could be chance among so many, so that at most
/// one in twenty is wrong: of figures, of what a user reads of them, and of all disciplines.
pub fn judged_together(all: &mut Compared) {
    let Compared {
        figures, pooled, ..
    } = all;
    take_back(figures.iter_mut().map(|row| (row.p, &mut row.verdict)));
    let readings = figures.iter_mut().filter_map(|row| row.reader.as_mut());
    take_back(readings.map(|reading| (reading.p, &mut reading.verdict)));
    take_back(
        pooled
            .iter_mut()
            .map(|pooled| (pooled.p, &mut pooled.verdict)),
    );
}

/// Takes back those verdicts, each with its p, that could be chance among all of them.
fn take_back<'a>(judged: impl Iterator<Item = (f64, &'a mut AgreementVerdict)>) {
    let judged: Vec<(f64, &mut AgreementVerdict)> = judged.collect();
    let limit = limit(judged.iter().map(|(p, _)| *p));
    for (_, verdict) in judged.into_iter().filter(|(p, _)| *p > limit) {
        *verdict = AgreementVerdict::Untold;
    }
}

/// The figure of both sides' runs, the first ours; none if no seed has it on both.
fn row(figure: &AgreementFigure, sides: [&[RunResult]; 2], metrics: &Registry) -> Option<Row> {
    let [ours, witness] = pairs(figure, sides, metrics);
    let all = || ours.iter().chain(&witness).flatten();
    if all().all(|value| *value == 0.0) {
        return None;
    }
    let mean = |side: &[Vec<f64>]| estimate::estimate(Statistic::Mean, side, Bounds::NONE);
    let means = [mean(&ours)?.value, mean(&witness)?.value];
    let allowed = figure.near.allowed(means[1]);
    // A value that is the same in so many pairs has no spread to make an interval of, and needs
    // none.
    let same = ours.len() >= LEAST_ALIKE && ours == witness;
    let difference = |level| {
        let sides = [&ours[..], &witness[..]];
        let found = estimate::compare(
            Statistic::Mean,
            sides,
            Bounds::NONE,
            Against::Difference,
            level,
        )?;
        Some(Estimate {
            ci95: found.ci95.or(same.then_some((0.0, 0.0))),
            ..found
        })
    };
    let found = difference(LEVEL)?;
    let (verdict, p) = decided(difference, allowed);
    let reader = figure.kind.is_some().then(|| {
        let allowed = reader::allowed(figure.unit, means[1]);
        let (verdict, p) = decided(difference, allowed);
        Reading {
            allowed,
            verdict,
            p,
        }
    });
    Some(Row {
        scenario: String::new(),
        case: String::new(),
        of: figure.of.clone(),
        kind: figure.kind,
        metric: figure.metric,
        unit: figure.unit,
        ours: means[0],
        witness: means[1],
        difference: found.value,
        ci95: found.ci95,
        allowed,
        pairs: found.units,
        p,
        verdict,
        needed: match verdict {
            AgreementVerdict::Untold => found.units_to_reach(allowed.copysign(found.value)),
            AgreementVerdict::Agrees | AgreementVerdict::Differs => None,
        },
        reader,
        invalid: false,
    })
}

/// Runs with the figure of both sides: those in which both have one, unless the end cut off both.
fn pairs_of_runs<'a>(
    figure: &AgreementFigure,
    sides: [&'a [RunResult]; 2],
    metrics: &Registry,
) -> Vec<(&'a RunResult, [SeenFigure; 2])> {
    let seen = |run: &RunResult| figure.of(run, metrics);
    // Both engines were given the same jobs in the same order.
    let runs = sides[0].iter().zip(sides[1]);
    let both = runs.filter_map(|(ours, witness)| Some((ours, [seen(ours)?, seen(witness)?])));
    both.filter(|(_, pair)| !pair.iter().all(|seen| seen.cut))
        .collect()
}

/// The values of both sides, unit by unit.
fn pairs(
    figure: &AgreementFigure,
    sides: [&[RunResult]; 2],
    metrics: &Registry,
) -> [Vec<Vec<f64>>; 2] {
    let told = pairs_of_runs(figure, sides, metrics);
    let units = Units::of(told.iter().map(|(run, _)| *run));
    [0, 1].map(|side| {
        let values = told
            .iter()
            .map(|(run, pair)| (*run, vec![pair[side].value]));
        units.gather(values)
    })
}

impl Near {
    /// The greatest difference from the witness's `value`.
    fn allowed(self, value: f64) -> f64 {
        self.distance.max(self.share * value.abs())
    }
}

/// The 95 % verdict on a difference, which `difference` gives at any level, and the complement of the
/// least confidence with which it is decided.
fn decided(difference: impl Fn(f64) -> Option<Estimate>, allowed: f64) -> (AgreementVerdict, f64) {
    let told = |level| difference(level).and_then(|found| judged(&found, allowed));
    (
        told(LEVEL).unwrap_or(AgreementVerdict::Untold),
        least_p(|p| told(1.0 - p).is_some()),
    )
}

/// The verdict on the difference `found`; none if its interval reaches over a border.
fn judged(found: &Estimate, allowed: f64) -> Option<AgreementVerdict> {
    let (low, high) = found.ci95?;
    if -allowed <= low && high <= allowed {
        Some(AgreementVerdict::Agrees)
    } else if high < -allowed || allowed < low {
        Some(AgreementVerdict::Differs)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
