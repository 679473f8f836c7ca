//! The run that a metric is taken from.

use crate::result::{RunResult, WITHOUT};

/// A run, and its control run without the traffic whose doing is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The run.
    pub run: &'a RunResult,
    /// The same without that traffic, where it was made.
    pub control: Option<&'a RunResult>,
}

impl<'a> Observed<'a> {
    /// Each run of `results` with its control run. Control runs stand in the order of the runs that
    /// they serve.
    pub fn pairs(results: &'a [RunResult]) -> Vec<Observed<'a>> {
        let is_control = |run: &RunResult| run.variant.contains_key(WITHOUT);
        let mut controls = results.iter().filter(|run| is_control(run)).peekable();
        let runs = results.iter().filter(|run| !is_control(run));
        runs.map(|run| Observed {
            run,
            control: controls.next_if(|control| serves(control, run)),
        })
        .collect()
    }
}

/// Whether `control` differs from `run` in nothing but the traffic that it leaves out.
fn serves(control: &RunResult, run: &RunResult) -> bool {
    let mut variant = control.variant.clone();
    variant.remove(WITHOUT);
    (control.seed, &control.discipline, &variant) == (run.seed, &run.discipline, &run.variant)
}
