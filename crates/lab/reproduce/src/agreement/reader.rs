//! What a user reads of two engines' figures: those of flows, as far apart as matters to anybody.
//!
//! One figure is decided by its own few runs. A deviation that all disciplines share shows sooner in
//! all of them together.

use super::figures::AgreementFigure;
use super::{AgreementVerdict, Row, decided, pairs_of_runs};
use measure::estimate::{self, Against, Bounds, Estimate, LEVEL, Statistic};
use measure::metric::Registry;
use measure::{RunResult, Units};
use serde::Serialize;

/// Nobody cares about a smaller share of the witness's value,
const SHARE: f64 = 0.1;
/// or less of a time, in ms.
const FLOOR_MS: f64 = 5.0;
/// So many of a user's figures are to be near.
const MOST: f64 = 0.95;

/// A user's view of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// The greatest difference that does not matter: 10 % of the witness's, or 5 ms of a time.
    pub allowed: f64,
    /// Whether it is that near.
    pub verdict: AgreementVerdict,
    /// The complement of the least confidence with which that would be decided.
    pub p: f64,
}

/// What does not matter of a figure in this `unit` that is `witness` in the reference.
pub(super) fn allowed(unit: &str, witness: f64) -> f64 {
    let floor = match unit {
        "ms" => FLOOR_MS,
        "s" => FLOOR_MS / 1e3,
        _ => 0.0,
    };
    floor.max(SHARE * witness.abs())
}

/// A metric of an experiment's flows, over all of its disciplines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pooled {
    /// The experiment.
    pub scenario: String,
    /// The metric's name.
    pub metric: &'static str,
    /// Figures, each of one flow under one discipline.
    pub figures: usize,
    /// Disciplines under which the first engine has less than the witness, and more.
    pub lower: usize,
    /// See `lower`.
    pub higher: usize,
    /// The first engine's less the witness's, in percent: the mean over figures, each in parts of the
    /// witness's mean, so that all count alike. A time below 50 ms counts as that, so that 10 % are
    /// what does not matter.
    pub percent: f64,
    /// Its 95 % interval, over seeds; null if it is unknown.
    pub ci95: Option<(f64, f64)>,
    /// Whether it is within 10 %.
    pub verdict: AgreementVerdict,
    /// As in [`Reading`].
    pub p: f64,
}

/// A run with the same figure of both sides, in parts of the witness's mean, as in [`Pooled`].
type Part<'a> = (&'a RunResult, [f64; 2]);

/// The runs of `sides` with their [`Part`] of `figure`; none if it is zero in all runs of both, or the
/// witness's is a rate of zero.
fn parts<'a>(
    figure: &AgreementFigure,
    sides: [&'a [RunResult]; 2],
    metrics: &Registry,
) -> Vec<Part<'a>> {
    let pairs = pairs_of_runs(figure, sides, metrics);
    let witness = pairs.iter().map(|(_, pair)| pair[1].value);
    let mean = witness.sum::<f64>() / pairs.len() as f64;
    let whole = allowed(figure.unit, mean) / SHARE;
    let parts = pairs
        .iter()
        .map(|(run, pair)| (*run, pair.map(|seen| seen.value / whole)));
    let mut seen = pairs.iter().flat_map(|(_, pair)| pair);
    if whole > 0.0 && seen.any(|seen| seen.value != 0.0) {
        parts.collect()
    } else {
        Vec::new()
    }
}

/// The metrics of flows among `figures`, each over all `cases`: the runs of a discipline on both
/// sides.
pub(super) fn pooled(
    scenario: &str,
    figures: &[AgreementFigure],
    cases: &[[Vec<RunResult>; 2]],
    metrics: &Registry,
) -> Vec<Pooled> {
    let mut names: Vec<&'static str> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.kind.is_some()) {
        if !names.contains(&figure.metric) {
            names.push(figure.metric);
        }
    }
    let of_metric = |name| {
        let figures: Vec<&AgreementFigure> =
            figures.iter().filter(|all| all.metric == name).collect();
        let cases = cases.iter();
        let cases = cases.map(|[ours, witness]| of_case(&figures, [ours, witness], metrics));
        let cases: Vec<Vec<Vec<Part<'_>>>> = cases.collect();
        over(scenario, name, &cases)
    };
    names.into_iter().filter_map(of_metric).collect()
}

/// The parts of each of `figures` under one discipline, whose runs `sides` are; without those that are
/// zero.
fn of_case<'a>(
    figures: &[&AgreementFigure],
    sides: [&'a [RunResult]; 2],
    metrics: &Registry,
) -> Vec<Vec<Part<'a>>> {
    let parts = figures.iter().map(|figure| parts(figure, sides, metrics));
    parts.filter(|parts| !parts.is_empty()).collect()
}

/// One metric over all `cases`, each with its figures; none if there are none.
fn over(scenario: &str, metric: &'static str, cases: &[Vec<Vec<Part<'_>>>]) -> Option<Pooled> {
    let signs = cases.iter().map(|figures| {
        let parts = figures.iter().flatten();
        parts
            .map(|(_, [ours, witness])| ours - witness)
            .sum::<f64>()
    });
    let signs: Vec<f64> = signs.collect();
    let count = |wanted: fn(&f64) -> bool| signs.iter().filter(|sign| wanted(sign)).count();
    let all = || cases.iter().flatten().flatten();
    let units = Units::of(all().map(|(run, _)| *run));
    let [ours, witness] = [0, 1].map(|side| {
        let values = all().map(|(run, pair)| (*run, vec![100.0 * pair[side]]));
        units.gather(values)
    });
    let difference = |level| -> Option<Estimate> {
        let sides = [&ours[..], &witness[..]];
        estimate::compare(
            Statistic::Mean,
            sides,
            Bounds::NONE,
            Against::Difference,
            level,
        )
    };
    let found = difference(LEVEL)?;
    let (verdict, p) = decided(difference, 100.0 * SHARE);
    Some(Pooled {
        scenario: scenario.to_owned(),
        metric,
        figures: cases.iter().map(Vec::len).sum(),
        lower: count(|sign| *sign < 0.0),
        higher: count(|sign| *sign > 0.0),
        percent: found.value,
        ci95: found.ci95,
        verdict,
        p,
    })
}

/// How many of a user's figures are near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readings {
    /// All.
    pub all: usize,
    /// Those that are near,
    pub near: usize,
    /// and those that are not. The rest cannot be told.
    pub far: usize,
    /// Those whose means are near, whatever chance has done to them.
    pub means_near: usize,
}

impl Readings {
    /// Those of `rows`.
    pub fn of(rows: &[Row]) -> Readings {
        let read = rows
            .iter()
            .filter_map(|row| Some((row, row.reader.as_ref()?)));
        let mut found = Readings {
            all: 0,
            near: 0,
            far: 0,
            means_near: 0,
        };
        for (row, reading) in read {
            found.all += 1;
            found.near += usize::from(reading.verdict == AgreementVerdict::Agrees);
            found.far += usize::from(reading.verdict == AgreementVerdict::Differs);
            found.means_near += usize::from(row.difference.abs() <= reading.allowed);
        }
        found
    }

    /// Whether 95 % of them are near; of none that cannot be told.
    pub fn verdict(&self) -> AgreementVerdict {
        let most = MOST * self.all as f64;
        if self.all > 0 && self.near as f64 >= most {
            AgreementVerdict::Agrees
        } else if ((self.all - self.far) as f64) < most {
            AgreementVerdict::Differs
        } else {
            AgreementVerdict::Untold
        }
    }
}
