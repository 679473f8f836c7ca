//! The simulator, with what was written in Python.

use crate::own;
use crate::refused::Refused;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use scenario::{Choice, Scenario};
use sim::Simulator;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Refusal;

/// What results of the simulator depend on beside their jobs, as the program `analects` has it.
pub fn basis() -> String {
    format!("sources {}", analects::SIM_SOURCES)
}

/// The simulator with the disciplines and controls that are registered now.
pub fn simulator() -> Simulator {
    let mut simulator = Simulator::default();
    own::add(&mut simulator);
    simulator
}

/// The simulator, until it is told to stop: then it refuses each further run.
pub struct Stoppable<'a> {
    /// It.
    pub simulator: &'a Simulator,
    /// Whether to stop.
    pub stop: &'a AtomicBool,
}

impl Engine for Stoppable<'_> {
    fn name(&self) -> &'static str {
        self.simulator.name()
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        self.simulator.check(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(EngineError {
                entry: scenario.name.clone(),
                refusal: Refusal::new("stopped before this run"),
            });
        }
        self.simulator.run(scenario, discipline, seed, sink)
    }
}

/// Refuses to keep results of what is written in Python: a key does not tell its versions apart.
pub fn check_keeping(jobs: &[campaign::Job]) -> Result<(), Refused> {
    let used = jobs.iter().find_map(|job| {
        let controls = job
            .scenario
            .traffic
            .iter()
            .filter_map(|entry| entry.control.as_ref());
        let mut choices = controls.chain([&job.discipline]);
        choices.find_map(own::first_in)
    });
    match used {
        None => Ok(()),
        Some(name) => Err(Refused::new(
            format!(
                "store: {name} is written in Python, and a store cannot tell its versions apart"
            ),
            "leave the store out",
        )),
    }
}
