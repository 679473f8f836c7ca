//! Which runs vary independently of each other.

use crate::result::RunResult;
use std::collections::BTreeSet;

/// The key of a run's variant that names its recorded trace.
const TRACE: &str = "trace";

/// The units of some runs: their traces if there are several, else their seeds. Two runs of one
/// trace differ less than two traces do, and two runs with one seed have the same pages.
#[derive(Debug, Clone)]
pub struct Units<'a> {
    names: Vec<Name<'a>>,
    by_trace: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name<'a> {
    Trace(&'a str),
    Seed(u64),
}

fn trace(run: &RunResult) -> Option<&str> {
    run.variant.get(TRACE).map(String::as_str)
}

impl<'a> Units<'a> {
    /// The units of `runs`, in the order of their first run.
    pub fn of(runs: impl Iterator<Item = &'a RunResult> + Clone) -> Self {
        let traces: BTreeSet<&str> = runs.clone().filter_map(trace).collect();
        let mut units = Units {
            names: Vec::new(),
            by_trace: traces.len() > 1,
        };
        for run in runs {
            let name = units.name(run);
            if !units.names.contains(&name) {
                units.names.push(name);
            }
        }
        units
    }

    fn name(&self, run: &'a RunResult) -> Name<'a> {
        match trace(run) {
            Some(trace) if self.by_trace => Name::Trace(trace),
            _ => Name::Seed(run.seed),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The values of each unit, in order, from those of its runs; a unit without a run has none.
    pub fn gather(&self, runs: impl Iterator<Item = (&'a RunResult, Vec<f64>)>) -> Vec<Vec<f64>> {
        let mut units = vec![Vec::new(); self.names.len()];
        for (run, values) in runs {
            let name = self.name(run);
            if let Some(place) = self.names.iter().position(|known| *known == name) {
                units[place].extend(values);
            }
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(trace: Option<&str>, seed: u64) -> RunResult {
        let trace = trace.map(|trace| (TRACE.to_owned(), trace.to_owned()));
        RunResult {
            seed,
            variant: trace.into_iter().collect(),
            ..RunResult::default()
        }
    }

    fn gathered(runs: &[RunResult]) -> Vec<Vec<f64>> {
        let numbered = runs
            .iter()
            .zip(1..)
            .map(|(run, n)| (run, vec![f64::from(n)]));
        Units::of(runs.iter()).gather(numbered)
    }

    #[test]
    fn several_traces_are_units_and_else_seeds() {
        let one = [run(Some("a"), 1), run(Some("a"), 2), run(Some("a"), 1)];
        assert_eq!(gathered(&one), [vec![1.0, 3.0], vec![2.0]]);
        let two = [run(Some("a"), 1), run(Some("b"), 1), run(Some("a"), 2)];
        assert_eq!(gathered(&two), [vec![1.0, 3.0], vec![2.0]]);
        assert_eq!(
            gathered(&[run(None, 7), run(None, 8)]),
            [vec![1.0], vec![2.0]]
        );
    }
}
