//! Results, and what frames are made of.

use crate::refused::Refused;
use measure::estimate::{self, Against, Bounds, LEVEL};
use measure::metric::{Observed, Registry, Selection};
use measure::{Estimate, RunResult, SenderResult, Statistic};
use pyo3::prelude::*;
use report::export::{self, ExportDocument};
use reproduce::discovery;
use scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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

    /// The values of a metric in each run, each with the name of what it is of; without one where it is of several.
    fn named_values(&self, metric: &str) -> PyResult<Vec<Vec<(String, f64)>>> {
        let selection = self.metrics.select(metric).map_err(Refused::from)?;
        let runs = self.observed();
        Ok(runs.iter().map(|run| named(&selection, run)).collect())
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

    /// The report, an HTML page; with a folder its plots are written there as well.
    fn report(&self, version: &str, plots: Option<PathBuf>) -> PyResult<String> {
        let scenario = self.scenario.as_ref().ok_or_else(|| {
            Refused::new(
                "these results are of several scenarios",
                "make the report of one run()",
            )
        })?;
        let document = ExportDocument {
            version,
            engine: "sim",
            scenario: &serde_json::Value::Null,
            results: &self.results,
        };
        let page = report::html(scenario, &document, &self.metrics);
        if let Some(folder) = plots {
            report::plots::write(&folder, &page.drawings)?;
        }
        Ok(page.html)
    }

    /// What senders were at in runs that tell: run, and the columns of `SENDERS`.
    fn senders(&self) -> Vec<Moment> {
        let mut rows = Vec::new();
        for (run, observed) in self.observed().iter().enumerate() {
            for of in &observed.run.senders {
                rows.extend((0..of.time_s.len()).map(|place| moment(run, of, place)));
            }
        }
        rows
    }

    /// What was kept of each run over time, row by row; the first column counts the runs.
    fn series(&self) -> Series {
        let mut series = Series::default();
        for (run, observed) in self.observed().iter().enumerate() {
            if let Some(kept) = &observed.run.series {
                series.add(run, observed.run, kept);
            }
        }
        series
    }

    fn __len__(&self) -> usize {
        self.observed().len()
    }
}

/// The values of a metric in a run by what they are of, if that accounts for all of them; of several, as
/// the last of all transfers, or of the first of several queues, without names.
fn named(selection: &Selection, run: &Observed<'_>) -> Vec<(String, f64)> {
    let all = selection.of(run);
    let mut by_name = Vec::new();
    let names = names(run.run).into_iter();
    for name in names.filter(|name| selection.has(name)) {
        let of_it = Selection {
            entry: name.clone(),
            ..selection.clone()
        };
        let values = of_it.of(run).into_iter();
        by_name.extend(values.map(|value| (name.clone(), value)));
    }
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let named = sorted(by_name.iter().map(|(_, value)| *value).collect());
    if named == sorted(all.clone()) {
        by_name
    } else {
        all.into_iter()
            .map(|value| (String::new(), value))
            .collect()
    }
}

/// The names of all that a run has results of, each once.
fn names(run: &RunResult) -> Vec<String> {
    let calls = run.calls.iter().map(|of| &of.name);
    let pages = run.pages.iter().map(|of| &of.name);
    let flows = run.flows.iter().map(|of| &of.name);
    let figures = run.figures.iter().map(|of| &of.name);
    let links = run.links.iter().map(|of| &of.name);
    let all = calls.chain(pages).chain(flows).chain(figures).chain(links);
    let mut seen = BTreeSet::new();
    all.filter(|name| seen.insert(*name)).cloned().collect()
}

/// A sender's moment: run, flow, name, congestion control, time in seconds, window and bytes in flight, round trip in
/// ms, rates in Mbit/s that the control names and that were acknowledged, phase, limit.
type Moment = (
    usize,
    u32,
    String,
    String,
    f64,
    Option<u64>,
    u64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    String,
    Option<String>,
);

fn moment(run: usize, of: &SenderResult, place: usize) -> Moment {
    (
        run,
        of.flow,
        of.name.clone(),
        of.control.clone(),
        of.time_s[place],
        of.window_bytes[place],
        of.in_flight_bytes[place],
        of.srtt_ms[place],
        of.pacing_mbps[place],
        of.delivered_mbps[place],
        of.phase[place].clone(),
        of.limit[place].clone(),
    )
}

/// Series of all runs, row by row.
#[pyclass(module = "analects._core", get_all)]
#[derive(Default)]
pub struct Series {
    /// Run, call, time in seconds, delay in ms; None for a lost frame.
    frames: Vec<(usize, String, f64, Option<f64>)>,
    /// Run, link, flow, time in seconds, Mbit/s.
    shares: Vec<(usize, String, String, f64, f64)>,
    /// Run, link, time in seconds, mean and longest wait in ms.
    sojourn: Vec<(usize, String, f64, f64, f64)>,
    /// Run, time in seconds, link, flow, class.
    classes: Vec<(usize, f64, String, String, String)>,
}

impl Series {
    fn add(&mut self, run: usize, result: &RunResult, kept: &measure::Series) {
        let frames = kept.frames.iter();
        self.frames.extend(
            frames.map(|(call, time, delay)| (run, kept.calls[*call].clone(), *time, *delay)),
        );
        let links: Vec<&str> = result.links.iter().map(|link| link.name.as_str()).collect();
        for (link, flows) in links.iter().zip(&kept.share) {
            for (flow, bins) in kept.flows.iter().zip(flows) {
                for (bin, bytes) in bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                    let (time, mbps) = (bin as f64 * kept.bin_s, *bytes as f64 * 8e-6 / kept.bin_s);
                    self.shares
                        .push((run, (*link).to_owned(), flow.clone(), time, mbps));
                }
            }
        }
        for (link, bins) in links.iter().zip(&kept.sojourn) {
            for (bin, value) in bins.iter().enumerate() {
                if let Some((mean, longest)) = value {
                    self.sojourn.push((
                        run,
                        (*link).to_owned(),
                        bin as f64 * kept.bin_s,
                        *mean,
                        *longest,
                    ));
                }
            }
        }
        for &(time, link, flow, class) in &kept.moves {
            let class = kept.classes[link][usize::from(class)].clone();
            self.classes.push((
                run,
                time,
                links[link].to_owned(),
                kept.flows[flow].clone(),
                class,
            ));
        }
    }
}

/// One side against the other in a metric, unit by unit: the difference (or with `percent` the change), the ends of its
/// 95 % interval, and the number of units. The interval is None if there is none; all of it is None if no unit has values
/// on both sides.
#[pyfunction]
pub fn compare(
    ours: Vec<Vec<f64>>,
    theirs: Vec<Vec<f64>>,
    metric: &str,
    statistic: &str,
    percent: bool,
) -> PyResult<Option<Figure>> {
    let at = compared(&ours, &theirs, metric, statistic, percent)?;
    Ok(at(LEVEL).map(figure))
}

/// The complement of the least confidence whose interval of the same comparison leaves out zero.
#[pyfunction]
pub fn least_p(
    ours: Vec<Vec<f64>>,
    theirs: Vec<Vec<f64>>,
    metric: &str,
    statistic: &str,
    percent: bool,
) -> PyResult<f64> {
    let at = compared(&ours, &theirs, metric, statistic, percent)?;
    Ok(discovery::least_p(|p| {
        let ends = at(1.0 - p).and_then(|found| found.ci95);
        ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }))
}

/// One side against the other, by the confidence of its interval.
fn compared<'a>(
    ours: &'a [Vec<f64>],
    theirs: &'a [Vec<f64>],
    metric: &str,
    statistic: &str,
    percent: bool,
) -> PyResult<impl Fn(f64) -> Option<Estimate> + use<'a>> {
    let against = if percent {
        Against::Percent
    } else {
        Against::Difference
    };
    let (statistic, bounds) = (read(statistic)?, bounds(metric)?);
    Ok(move |level| estimate::compare(statistic, [ours, theirs], bounds, against, level))
}

/// The largest of these complements of confidences that is no chance among so many; 0 if all could be.
#[pyfunction]
pub fn told_together(p: Vec<f64>) -> f64 {
    discovery::limit(p.into_iter())
}

/// A statistic of units, as `compare` has it.
#[pyfunction]
pub fn estimated(units: Vec<Vec<f64>>, metric: &str, statistic: &str) -> PyResult<Option<Figure>> {
    Ok(estimate::estimate(read(statistic)?, &units, bounds(metric)?).map(figure))
}

/// What values of a metric, `NAME` or `NAME:ENTRY`, can be.
fn bounds(metric: &str) -> Result<Bounds, Refused> {
    let selection = Registry::builtin().select(metric).map_err(Refused::from)?;
    Ok(selection.metric.range.bounds(f64::INFINITY))
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

/// The refusal of a folder that is no store.
pub fn no_store(folder: &Path) -> Refused {
    Refused::new(
        format!("{}: there is no such store", folder.display()),
        "name a folder that a run was told to keep results in",
    )
}
