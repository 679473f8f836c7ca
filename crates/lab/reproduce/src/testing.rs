//! Shared parts of several tests.

use crate::claim::{Checked, ClaimsPlace, judged};
use crate::data::Data;
use crate::departures::Departures;
use crate::experiment::Experiment;
use crate::facts::Facts;
use crate::records::Records;
use measure::{BuiltLink, Engine, EngineError, MeasuredValue, RunResult, Sink};
use scenario::{Choice, Scenario};

/// For tests that need no run.
pub(crate) struct NoEngine;

impl Engine for NoEngine {
    fn name(&self) -> &'static str {
        "none"
    }

    fn check(&self, _: &Scenario) -> Vec<measure::Unsupported> {
        Vec::new()
    }

    fn run(
        &self,
        _: &Scenario,
        _: &Choice,
        _: u64,
        _: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        panic!("nothing is to be run")
    }
}

/// A run of a case in which `metric` has one value.
pub(crate) fn run(case: &str, seed: u64, metric: &str, value: f64) -> RunResult {
    let value = MeasuredValue {
        of: String::new(),
        at: None,
        value,
    };
    RunResult {
        discipline: case.to_owned(),
        seed,
        measured: [(metric.to_owned(), vec![value])].into(),
        ..RunResult::default()
    }
}

/// The first cell of the first claim of `experiment` against `runs`.
pub(crate) fn first_cell(experiment: &Experiment, runs: &[RunResult]) -> Checked {
    let data = Data::default();
    let facts = Facts::new(&NoEngine, &data);
    let records = Records::new(experiment.design(), false, &facts, runs);
    let place = ClaimsPlace {
        experiment: "test",
        calls: None,
        paper: "p",
        departures: &Departures::default(),
    };
    let mut sentences = judged(&experiment.written.claim, place, &records);
    sentences.remove(0).checks.remove(0).cells.remove(0)
}
