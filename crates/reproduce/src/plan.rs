//! Which runs to make, and making them.

use measure::WITHOUT;
use measure::{Engine, EngineError, RunResult};
use rayon::prelude::*;
use scenario::{Choice, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs to make.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The runs, in the order of their results.
    pub runs: Vec<Run>,
}

/// One run to make.
#[derive(Debug, Clone)]
pub struct Run {
    /// What to run.
    pub scenario: Arc<Scenario>,
    /// The discipline under test.
    pub discipline: Choice,
    /// The seed.
    pub seed: u64,
    /// What distinguishes the scenario from its siblings.
    pub variant: BTreeMap<String, String>,
    /// Whether to keep what is needed to draw it.
    pub series: bool,
}

impl Run {
    /// The same run without the traffic entry called `name`: what it leaves is not its doing.
    #[must_use]
    pub fn without(&self, name: &str) -> Run {
        let mut run = self.clone();
        let scenario = Arc::make_mut(&mut run.scenario);
        scenario.traffic.retain(|entry| entry.name != name);
        run.variant.insert(WITHOUT.to_owned(), name.to_owned());
        run.series = false;
        run
    }
}

/// Who is told of progress.
pub trait Progress: Sync {
    /// One more run is done.
    fn done(&self);
}

/// Makes all runs of `plan`, as many at a time as there are threads. The results do not depend on
/// how many that is.
///
/// # Errors
/// The first error in the order of the plan.
pub fn run(
    engine: &dyn Engine,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Vec<RunResult>, EngineError> {
    let one = |run: &Run| {
        let result = measure::run(engine, &run.scenario, &run.discipline, run.seed, run.series);
        progress.done();
        result.map(|result| RunResult {
            variant: run.variant.clone(),
            ..result
        })
    };
    let results: Vec<_> = plan.runs.par_iter().map(one).collect();
    results.into_iter().collect()
}
