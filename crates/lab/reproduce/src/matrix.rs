//! From an experiment to its runs.

use crate::data::{self, Data};
use crate::experiment::{AxisValue, Experiment};
use crate::sample;
use campaign::{Cell, Grid, Trace};
use scenario::ScenarioError;
use std::collections::BTreeMap;
use units::Refusal;

/// Begins the name of a trace of the experiments' data in a value of an axis.
const OF_DATA: &str = "data:";

/// The part of an experiment that is run, and its data.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// With fewer seeds, traces and values.
    pub quick: bool,
    /// Where traces and pages come from.
    pub data: &'a Data,
}

impl Experiment {
    /// The runs of the experiment.
    ///
    /// # Errors
    /// If a name to set does not exist, or the traces do not.
    pub fn grid(&self, wanted: Wanted<'_>) -> Result<Grid, ScenarioError> {
        let written = &self.written;
        let mut base = self.scenario.clone();
        if let Some(entry) = &written.pages {
            base.set(&format!("traffic.{entry}.source"), &wanted.data.pages())?;
        }
        if wanted.quick {
            for (path, value) in &written.quick.set {
                base.set(path, value)?;
            }
        }
        let traces = self.traces(wanted);
        let traces = traces.map_err(|refusal| {
            let help = refusal.help.as_deref().unwrap_or("see ANALECTS_DATA");
            base.error_at_path(&self.traced("trace"), &refusal.message, help)
        })?;
        let cells = self.cells(wanted).map_err(|refusal| {
            let help = refusal.help.as_deref().unwrap_or("see ANALECTS_DATA");
            base.error_at_path("vary", &refusal.message, help)
        })?;
        Ok(Grid {
            base,
            cases: written.cases.clone(),
            cells,
            traces,
            seeds: (written.first_seed, self.seeds(wanted.quick)),
            without: written.without.clone(),
            common: BTreeMap::new(),
        })
    }

    fn traces(&self, wanted: Wanted<'_>) -> Result<Vec<Option<Trace>>, Refusal> {
        let Some(set) = &self.written.traces else {
            return Ok(vec![None]);
        };
        let mut traces = wanted.data.traces(set)?;
        if let (true, Some(few)) = (wanted.quick, self.written.quick.traces) {
            traces = data::evenly(traces, few);
        }
        let trace = |path: String| {
            let shown = wanted.data.shown(&path);
            Trace {
                at: self.traced("trace"),
                with: data::by_trace(&self.written.by_trace, &shown),
                shown,
                path,
            }
        };
        Ok(traces.into_iter().map(trace).map(Some).collect())
    }

    /// The path of `key` in the direction of a link that an experiment's traces are for: the first that
    /// has a trace, or else the first link.
    pub(crate) fn traced(&self, key: &str) -> String {
        let traces = self.scenario.traces().into_iter();
        let way = traces.map(|(path, _)| path.strip_suffix(".trace").unwrap_or(&path).to_owned());
        let way = way.chain(self.scenario.links()).next();
        format!("{}.{key}", way.as_deref().unwrap_or("link"))
    }

    /// Every combination of the axes' values, the last axis changing fastest; or the sample of them.
    fn cells(&self, wanted: Wanted<'_>) -> Result<Vec<Cell>, Refusal> {
        let axes = &self.written.vary;
        let values: Vec<Vec<&AxisValue>> =
            axes.iter().map(|axis| axis.chosen(wanted.quick)).collect();
        let lengths: Vec<usize> = values.iter().map(Vec::len).collect();
        let chosen = match (self.sample(wanted.quick), &self.written.draw) {
            (Some(size), Some(text)) => sample::drawn(&lengths, size, text),
            (Some(size), None) => sample::spread(&lengths, size),
            (None, _) => sample::all(&lengths),
        };
        let cell = |places: Vec<usize>| -> Result<Cell, Refusal> {
            let mut cell = Cell::default();
            for ((axis, values), place) in axes.iter().zip(&values).zip(places) {
                let value = values[place];
                let label = (axis.name.clone(), value.label().to_owned());
                cell.labels.extend([label]);
                cell.settings.extend(axis.settings(value));
                cell.traffic.extend_from_slice(value.traffic());
            }
            for value in cell.settings.values_mut() {
                if let Some(name) = value.strip_prefix(OF_DATA) {
                    *value = wanted.data.trace(name)?;
                }
            }
            Ok(cell)
        };
        chosen.into_iter().map(cell).collect()
    }
}
