//! The runs of an experiment, found by their settings.

use crate::design::{Axis, Design};
use crate::facts::Facts;
use campaign::Settings;
use measure::estimate::Bounds;
use measure::metric::{Observed, Selection};
use measure::{RunResult, Units};
use std::collections::BTreeMap;

/// The results of an experiment's runs.
#[derive(Debug)]
pub struct Records<'a> {
    design: Design<'a>,
    quick: bool,
    facts: &'a Facts<'a>,
    observed: Vec<Observed<'a>>,
    units: Units<'a>,
}

impl<'a> Records<'a> {
    /// Pairs each run of `results` with its control run. A result's discipline is the case's name;
    /// its variant has the axes' names and values.
    pub fn new(
        design: Design<'a>,
        quick: bool,
        facts: &'a Facts<'a>,
        results: &'a [RunResult],
    ) -> Self {
        let observed = Observed::pairs(results);
        Records {
            design,
            quick,
            facts,
            units: Units::of(observed.iter().map(|of| of.run)),
            observed,
        }
    }

    /// Those of each combination of the axes' values, in the order in which they were run.
    pub fn cells(&self) -> Vec<(Settings, Records<'a>)> {
        let mut cells: Vec<(Settings, Vec<Observed<'a>>)> = Vec::new();
        let mut known: BTreeMap<Settings, usize> = BTreeMap::new();
        for observed in &self.observed {
            let axes = self.design.axes.iter();
            let label = |axis: &Axis| {
                let label = observed.run.variant.get(&axis.name)?;
                Some((axis.name.clone(), label.clone()))
            };
            let cell: Settings = axes.filter_map(label).collect();
            let place = *known.entry(cell).or_insert_with_key(|cell| {
                cells.push((cell.clone(), Vec::new()));
                cells.len() - 1
            });
            cells[place].1.push(*observed);
        }
        let records = |observed: Vec<Observed<'a>>| Records {
            units: Units::of(observed.iter().map(|of| of.run)),
            observed,
            ..*self
        };
        let cells = cells.into_iter();
        cells
            .map(|(cell, observed)| (cell, records(observed)))
            .collect()
    }

    /// Those of the runs with this seed.
    pub fn of_seed(&self, seed: u64) -> Records<'a> {
        let here = |of: &&Observed<'a>| of.run.seed == seed;
        let observed: Vec<_> = self.observed.iter().filter(here).copied().collect();
        Records {
            units: Units::of(observed.iter().map(|of| of.run)),
            observed,
            ..*self
        }
    }

    /// The names that can be used.
    pub fn design(&self) -> Design<'a> {
        self.design
    }

    /// The facts known without runs.
    pub fn facts(&self) -> &Facts<'a> {
        self.facts
    }

    /// How many runs there are, without control runs.
    pub fn runs(&self) -> usize {
        self.observed.len()
    }

    /// The values of the axis `name` that were run, in order.
    pub fn labels(&self, name: &str) -> Vec<String> {
        let axis = self.design.axis(name).ok();
        let values = axis.map(|axis| axis.chosen(self.quick)).unwrap_or_default();
        values
            .iter()
            .map(|value| value.label().to_owned())
            .collect()
    }

    /// The runs of `case` whose axes have the values of `place`.
    fn at<'r>(
        &'r self,
        case: &'r str,
        place: &'r Settings,
    ) -> impl Iterator<Item = &'r Observed<'a>> {
        self.observed.iter().filter(move |observed| {
            let at =
                |(name, label): (&String, &String)| observed.run.variant.get(name) == Some(label);
            observed.run.discipline == case && place.iter().all(at)
        })
    }

    /// Whether one of those, or its control run, is not to be believed.
    pub fn are_doubted(&self, case: &str, place: &Settings) -> bool {
        let runs = self.at(case, place);
        let mut all = runs.flat_map(|of| std::iter::once(of.run).chain(of.control));
        all.any(|run| !run.invalid.is_empty())
    }

    /// What values of `metric` can be.
    pub fn bounds(&self, metric: &Selection) -> Bounds {
        metric.metric.range.bounds(self.design.longest)
    }

    /// The values of `metric` in each unit, from its runs of `case` whose axes have the values of
    /// `place`; units are in the same order for every case.
    pub fn values(&self, metric: &Selection, case: &str, place: &Settings) -> Vec<Vec<f64>> {
        let runs = self.at(case, place);
        let values = runs.map(|observed| (observed.run, metric.of(observed)));
        self.units.gather(values)
    }
}
