//! One run, measured.

use crate::collect::Collector;
use crate::engine::{Engine, EngineError};
use crate::result::RunResult;
use scenario::{Choice, Scenario};

/// Runs `scenario` on `engine` and measures it. With `series`, what is needed to draw it is kept.
///
/// # Errors
/// What [`Engine::run`] returns.
pub fn run(
    engine: &dyn Engine,
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
    series: bool,
) -> Result<RunResult, EngineError> {
    let mut collector = Collector::new(scenario, series);
    let links = engine.run(scenario, discipline, seed, &mut collector)?;
    Ok(collector.finish(discipline, seed, &links))
}
