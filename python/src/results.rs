//! Results, and what frames are made of.

use crate::refused::Refused;
use measure::estimate::{self, Against, LEVEL};
use measure::metric::{Observed, Registry};
use measure::{Estimate, RunResult, Series, Statistic};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use report::export::{self, Document};
use scenario::Scenario;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use units::Refusal;

/// Results of runs.
#[pyclass(module = "analects._core", frozen)]
pub struct Results {
    results: Vec<RunResult>,
    /// The scenario of them all, if there is one.
    scenario: Option<Arc<Scenario>>,
    metrics: Registry,
}

impl Results {
    /// Results, of one scenario or of several.
    pub fn new(results: Vec<RunResult>, scenario: Option<Arc<Scenario>>) -> Results {
        Results {
            results,
            scenario,
            metrics: Registry::builtin(),
        }
    }

    /// The runs of which frames tell; a control run belongs to another one.
    fn observed(&self) -> Vec<Observed<'_>> {
        Observed::pairs(&self.results)
    }
}

#[pymethods]
impl Results {
    /// Each run's discipline, seed and variant.
    fn runs(&self) -> Vec<(String, u64, BTreeMap<String, String>)> {
        let runs = self.observed().into_iter().map(|observed| observed.run);
        runs.map(|run| (run.discipline.clone(), run.seed, run.variant.clone()))
            .collect()
    }

    /// The values of a metric, `NAME` or `NAME:ENTRY`, in each run.
    fn values(&self, metric: &str) -> PyResult<Vec<Vec<f64>>> {
        let selection = self.metrics.select(metric).map_err(Refused::from)?;
        Ok(self
            .observed()
            .iter()
            .map(|observed| selection.of(observed))
            .collect())
    }

    /// The results as JSON, as the program prints them in its list `results`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.results)
            .map_err(|error| Refused::new(error.to_string(), "report this").into())
    }

    /// All figures as CSV, as the program prints them.
    fn csv(&self) -> PyResult<String> {
        Ok(export::csv(&self.results)?)
    }

    /// The report, an HTML page.
    fn report(&self, version: &str) -> PyResult<String> {
        let scenario = self.scenario.as_ref().ok_or_else(|| {
            Refused::new(
                "these results are of several scenarios",
                "make the report of one run()",
            )
        })?;
        let document = Document {
            version,
            engine: "sim",
            scenario: &serde_json::Value::Null,
            results: &self.results,
        };
        Ok(report::html(scenario, &document, &self.metrics).html)
    }

    /// What was kept of each run over time: lists of one length by kind and column. `run` counts the runs.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut columns = Columns::default();
        for (run, observed) in self.observed().iter().enumerate() {
            if let Some(series) = &observed.run.series {
                columns.add(run, observed.run, series);
            }
        }
        columns.into_dict(py)
    }

    fn __len__(&self) -> usize {
        self.observed().len()
    }
}

/// Series of all runs, column by column.
#[derive(Default)]
struct Columns {
    frames: (Vec<usize>, Vec<String>, Vec<f64>, Vec<Option<f64>>),
    shares: (Vec<usize>, Vec<String>, Vec<String>, Vec<f64>, Vec<f64>),
    sojourn: (Vec<usize>, Vec<String>, Vec<f64>, Vec<f64>, Vec<f64>),
    classes: (Vec<usize>, Vec<f64>, Vec<String>, Vec<String>, Vec<String>),
}

impl Columns {
    fn add(&mut self, run: usize, result: &RunResult, series: &Series) {
        for (call, time, delay) in &series.frames {
            self.frames.0.push(run);
            self.frames.1.push(series.calls[*call].clone());
            self.frames.2.push(*time);
            self.frames.3.push(*delay);
        }
        let links: Vec<&str> = result.links.iter().map(|link| link.name.as_str()).collect();
        for (link, flows) in links.iter().zip(&series.share) {
            for (flow, bins) in series.flows.iter().zip(flows) {
                for (bin, bytes) in bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                    self.shares.0.push(run);
                    self.shares.1.push((*link).to_owned());
                    self.shares.2.push(flow.clone());
                    self.shares.3.push(bin as f64 * series.bin_s);
                    self.shares.4.push(*bytes as f64 * 8e-6 / series.bin_s);
                }
            }
        }
        for (link, bins) in links.iter().zip(&series.sojourn) {
            for (bin, value) in bins.iter().enumerate() {
                if let Some((mean, max)) = value {
                    self.sojourn.0.push(run);
                    self.sojourn.1.push((*link).to_owned());
                    self.sojourn.2.push(bin as f64 * series.bin_s);
                    self.sojourn.3.push(*mean);
                    self.sojourn.4.push(*max);
                }
            }
        }
        for &(time, link, flow, class) in &series.moves {
            self.classes.0.push(run);
            self.classes.1.push(time);
            self.classes.2.push(links[link].to_owned());
            self.classes.3.push(series.flows[flow].clone());
            self.classes
                .4
                .push(series.classes[link][usize::from(class)].clone());
        }
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let all = PyDict::new(py);
        let (frames, shares, sojourn, classes) = (
            PyDict::new(py),
            PyDict::new(py),
            PyDict::new(py),
            PyDict::new(py),
        );
        frames.set_item("run", self.frames.0)?;
        frames.set_item("call", self.frames.1)?;
        frames.set_item("time_s", self.frames.2)?;
        frames.set_item("delay_ms", self.frames.3)?;
        shares.set_item("run", self.shares.0)?;
        shares.set_item("link", self.shares.1)?;
        shares.set_item("flow", self.shares.2)?;
        shares.set_item("time_s", self.shares.3)?;
        shares.set_item("mbps", self.shares.4)?;
        sojourn.set_item("run", self.sojourn.0)?;
        sojourn.set_item("link", self.sojourn.1)?;
        sojourn.set_item("time_s", self.sojourn.2)?;
        sojourn.set_item("mean_ms", self.sojourn.3)?;
        sojourn.set_item("max_ms", self.sojourn.4)?;
        classes.set_item("run", self.classes.0)?;
        classes.set_item("time_s", self.classes.1)?;
        classes.set_item("link", self.classes.2)?;
        classes.set_item("flow", self.classes.3)?;
        classes.set_item("class", self.classes.4)?;
        all.set_item("frames", frames)?;
        all.set_item("shares", shares)?;
        all.set_item("sojourn", sojourn)?;
        all.set_item("classes", classes)?;
        Ok(all)
    }
}

/// One side against the other, unit by unit: the difference (or with `percent` the change), the ends of its
/// 95 % interval, and the number of units. The interval is None if there is none; all of it is None if no
/// unit has values on both sides.
#[pyfunction]
pub fn compare(
    ours: Vec<Vec<f64>>,
    theirs: Vec<Vec<f64>>,
    statistic: &str,
    percent: bool,
) -> PyResult<Option<Figure>> {
    let against = match percent {
        true => Against::Percent,
        false => Against::Difference,
    };
    let sides = [&ours[..], &theirs[..]];
    Ok(estimate::compare(read(statistic)?, sides, against, LEVEL).map(figure))
}

/// A statistic of units, as `compare` has it.
#[pyfunction]
pub fn estimated(units: Vec<Vec<f64>>, statistic: &str) -> PyResult<Option<Figure>> {
    Ok(estimate::estimate(read(statistic)?, &units).map(figure))
}

/// A value, the ends of its interval, and the number of units behind it.
type Figure = (f64, Option<(f64, f64)>, usize);

fn figure(estimate: Estimate) -> Figure {
    (estimate.value, estimate.ci95, estimate.units)
}

fn read(statistic: &str) -> Result<Statistic, Refused> {
    statistic
        .parse()
        .map_err(|error: Refusal| Refused::from(error))
}

/// The half width, in standard errors, of the 95 % interval of a mean with so many degrees of freedom.
#[pyfunction]
pub fn student(freedom: usize) -> f64 {
    measure::interval::quantile_of_t(freedom, LEVEL)
}

/// A store's file, or a folder that should be one.
pub fn no_store(folder: &PathBuf) -> Refused {
    Refused::new(
        format!("{}: there is no such store", folder.display()),
        "name a folder that a run was told to keep results in",
    )
}
