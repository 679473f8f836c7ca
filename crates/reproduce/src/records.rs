//! The runs of an experiment, found by what distinguishes them.

use crate::experiment::{Experiment, Settings};
use crate::facts::Facts;
use measure::RunResult;
use measure::WITHOUT;
use measure::metric::{Metric, Observed};

/// The results of an experiment's runs.
#[derive(Debug)]
pub struct Records<'a> {
    experiment: &'a Experiment,
    quick: bool,
    facts: &'a Facts<'a>,
    observed: Vec<Observed<'a>>,
}

impl<'a> Records<'a> {
    /// Pairs each run of `results` with its control run. A result's discipline is the case's name;
    /// its variant has the axes' names and values.
    pub fn new(
        experiment: &'a Experiment,
        quick: bool,
        facts: &'a Facts<'a>,
        results: &'a [RunResult],
    ) -> Self {
        let is_control = |run: &&RunResult| run.variant.contains_key(WITHOUT);
        let controls: Vec<&RunResult> = results.iter().filter(is_control).collect();
        let alike = |run: &RunResult, control: &RunResult| {
            let mut variant = control.variant.clone();
            variant.remove(WITHOUT);
            (control.seed, &control.discipline, &variant)
                == (run.seed, &run.discipline, &run.variant)
        };
        let mut at = 0;
        let observed = results.iter().filter(|run| !is_control(run)).map(|run| {
            // Control runs stand in the order of the runs that they serve.
            let control = controls
                .get(at)
                .copied()
                .filter(|control| alike(run, control));
            at += usize::from(control.is_some());
            Observed { run, control }
        });
        Records {
            experiment,
            quick,
            facts,
            observed: observed.collect(),
        }
    }

    /// What is known beside the runs.
    pub fn facts(&self) -> &Facts<'a> {
        self.facts
    }

    /// How many runs there are, without control runs.
    pub fn runs(&self) -> usize {
        self.observed.len()
    }

    /// The values of the axis `name` that were run, in order.
    pub fn labels(&self, name: &str) -> Vec<String> {
        let axis = self.experiment.axis(name).ok();
        let values = axis.map(|axis| axis.chosen(self.quick)).unwrap_or_default();
        values
            .iter()
            .map(|value| value.label().to_owned())
            .collect()
    }

    /// The values of `metric` in each run of `case` whose axes have the values of `place`; in the same
    /// order for every case.
    pub fn values(&self, metric: &Metric, case: &str, place: &Settings) -> Vec<Vec<f64>> {
        let here = |observed: &&Observed<'_>| {
            let at =
                |(name, label): (&String, &String)| observed.run.variant.get(name) == Some(label);
            observed.run.discipline == case && place.iter().all(at)
        };
        let runs = self.observed.iter().filter(here);
        runs.map(|observed| metric.of(observed)).collect()
    }
}
