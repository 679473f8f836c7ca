//! Whether two engines say the same: the same scenarios, seeds and disciplines through both.
//!
//! An engine that shares no code with the other is the better witness. Where they differ, one of
//! them is wrong, or says something that the scenario leaves open.

use crate::experiment::Experiment;
use crate::{Error, Keeping, Progress, Wanted, run};
use measure::estimate::{Estimate, Statistic, estimate};
use measure::metric::{Observed, Registry};
use measure::{Engine, RunResult, Units};
use scenario::Names;
use serde::Serialize;

/// How near a figure has to be.
#[derive(Debug, Clone, Copy)]
enum Near {
    /// Within this share of the witness's.
    Share(f64),
    /// Within this share, or inside the witness's 95 % interval.
    ShareOrInterval(f64),
    /// Within this share, or this far.
    ShareOrDistance(f64, f64),
}

/// What came of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As near as it has to be.
    Agrees,
    /// Not so near, but inside the witness's 95 % interval: more runs would tell.
    Undecided,
    /// Neither.
    Differs,
}

impl Near {
    fn verdict(self, ours: f64, witness: &Estimate) -> Verdict {
        let distance = (ours - witness.value).abs();
        let share = |share: f64| distance <= share * witness.value.abs();
        let inside = witness
            .ci95
            .is_some_and(|(low, high)| low <= ours && ours <= high);
        let near = match self {
            Near::Share(of) => share(of),
            Near::ShareOrInterval(of) => share(of) || inside,
            Near::ShareOrDistance(of, far) => share(of) || distance <= far,
        };
        match (near, inside) {
            (true, _) => Verdict::Agrees,
            (false, true) => Verdict::Undecided,
            (false, false) => Verdict::Differs,
        }
    }

    fn said(self) -> String {
        match self {
            Near::Share(of) => format!("{:.0} %", of * 100.0),
            Near::ShareOrInterval(of) => format!("{:.0} % or its interval", of * 100.0),
            Near::ShareOrDistance(of, far) => format!("{:.0} % or {far}", of * 100.0),
        }
    }
}

/// What is compared, and how near it has to be.
const COMPARED: [(&str, Near); 5] = [
    ("call_rate", Near::Share(0.03)),
    ("flow_rate", Near::Share(0.03)),
    ("sojourn", Near::ShareOrInterval(0.15)),
    ("plt", Near::ShareOrInterval(0.15)),
    ("stall", Near::ShareOrDistance(0.15, 0.1)),
];

/// A figure of both engines.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The experiment.
    pub scenario: String,
    /// The discipline.
    pub case: String,
    /// The metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The first engine's mean.
    pub ours: f64,
    /// The witness's mean.
    pub witness: f64,
    /// The 95 % interval of the witness's.
    pub witness_ci95: Option<(f64, f64)>,
    /// How near they have to be.
    pub near: String,
    /// Whether they are.
    pub verdict: Verdict,
}

/// Runs `experiment` through both `engines`, or takes what was kept of their runs, and compares: the
/// first is judged, the second is believed. A metric that one of them does not observe is left out.
///
/// # Errors
/// See [`Error`].
pub fn compare(
    engines: [(&dyn Engine, Keeping<'_>); 2],
    names: &dyn Names,
    experiment: &Experiment,
    wanted: Wanted<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Row>, Error> {
    let grid = experiment.grid(wanted)?;
    let of = |(engine, keeping): (&dyn Engine, Keeping<'_>)| {
        let jobs = grid.plan(engine, names)?;
        run(engine, &jobs, Some(keeping), progress)
    };
    let (ours, witness) = (of(engines[0])?, of(engines[1])?);
    let cases = experiment.written.cases.iter();
    let rows = cases.flat_map(|case| {
        COMPARED
            .iter()
            .filter_map(|compared| row(experiment, &case.name, *compared, &ours, &witness))
    });
    Ok(rows.collect())
}

fn row(
    experiment: &Experiment,
    case: &str,
    (name, near): (&str, Near),
    ours: &[RunResult],
    witness: &[RunResult],
) -> Option<Row> {
    let metric = Registry::builtin().select(name).ok()?;
    let of = |results: &[RunResult]| {
        let runs = results.iter().filter(|run| run.discipline == case);
        let units = Units::of(runs.clone());
        let values = runs.map(|run| (run, metric.of(&Observed { run, control: None })));
        estimate(Statistic::Mean, &units.gather(values))
    };
    let (ours, witness) = (of(ours)?, of(witness)?);
    Some(Row {
        scenario: experiment.id.clone(),
        case: case.to_owned(),
        metric: metric.metric.name,
        unit: metric.metric.unit,
        ours: ours.value,
        witness: witness.value,
        witness_ci95: witness.ci95,
        near: near.said(),
        verdict: near.verdict(ours.value, &witness),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_by_share_interval_or_distance() {
        let witness = Estimate {
            value: 10.0,
            ci95: Some((7.0, 12.0)),
            units: 4,
        };
        use Verdict::{Agrees, Differs, Undecided};
        let of = |near: Near, ours: f64| near.verdict(ours, &witness);
        assert_eq!(of(Near::Share(0.03), 10.29), Agrees);
        assert_eq!(of(Near::Share(0.03), 10.31), Undecided);
        assert_eq!(of(Near::Share(0.03), 12.1), Differs);
        assert_eq!(of(Near::ShareOrInterval(0.15), 7.0), Agrees);
        assert_eq!(of(Near::ShareOrInterval(0.15), 11.5), Agrees);
        assert_eq!(of(Near::ShareOrInterval(0.15), 12.1), Differs);
        let witness = Estimate::exact(0.0);
        let of = |near: Near, ours: f64| near.verdict(ours, &witness);
        assert_eq!(of(Near::ShareOrDistance(0.15, 0.1), 0.1), Agrees);
        assert_eq!(of(Near::ShareOrDistance(0.15, 0.1), 0.11), Differs);
        assert_eq!(of(Near::ShareOrInterval(0.15), 0.11), Differs);
    }
}
