//! Shared parts of several tests.

use measure::{BuiltLink, Engine, EngineError, Sink};
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
