//! Shared parts of several tests.

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
