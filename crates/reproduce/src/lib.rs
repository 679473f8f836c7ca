//! Experiments: what a paper claims, run again, with a verdict.
//!
//! An experiment is a file ([`experiment`]); [`outcome`] runs what of it has not been run yet and
//! checks each claim; [`page`] prints what came of it for a terminal, as Markdown and as HTML.
//!
//! Not for: running a scenario (`sim`, `linux`); measuring a run (`measure`); drawing (`report`).

#![deny(missing_docs)]

pub mod agreement;
pub mod claim;
pub mod curves;
pub mod data;
pub mod design;
pub mod experiment;
pub mod facts;
pub mod figure;
mod matrix;
pub mod page;
pub mod pages;
mod plan;
pub mod records;
pub mod registry;
mod store;
pub mod sweep;

pub use data::Data;
pub use experiment::{Experiment, Wants};
pub use plan::{Plan, Progress, Run, run};

use claim::Checked;
use facts::Facts;
use figure::Shown;
use matrix::{Planned, Wanted};
use measure::{Engine, EngineError, RunResult};
use rayon::prelude::*;
use records::Records;
use scenario::{Names, ScenarioError};
use std::path::Path;
use store::Store;

/// How experiments are run.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// With fewer seeds, traces and values.
    pub quick: bool,
    /// Where traces and pages come from.
    pub data: &'a Data,
    /// Where results are kept and looked for.
    pub folder: &'a Path,
    /// What distinguishes this program from others whose results may lie there.
    pub build: &'a str,
}

/// What came of an experiment.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its runs, without control runs.
    pub runs: usize,
    /// Its claims, checked.
    pub claims: Vec<Checked>,
    /// Its figures.
    pub figures: Vec<Shown>,
    /// A report on one run of each case over time: who waits, and why.
    pub mechanism: Option<String>,
}

/// Why an experiment was not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The experiment is wrong.
    #[error("{}: {}; {}", .0.place(), .0.message, .0.help)]
    Scenario(#[from] ScenarioError),
    /// The engine could not run it.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// Results cannot be kept.
    #[error("{0}")]
    Store(#[from] std::io::Error),
    /// Something that it names does not exist.
    #[error("{0}")]
    Wrong(String),
}

/// Runs `experiment`, or takes what was kept of its runs, and checks its claims. `start` is told how
/// many runs there are and how many of them are still to be made.
///
/// # Errors
/// See [`Error`].
pub fn outcome<'a>(
    engine: &dyn Engine,
    names: &Names<'_>,
    experiment: &'a Experiment,
    options: Options<'_>,
    start: impl FnOnce(usize, usize),
    progress: &dyn Progress,
) -> Result<Outcome<'a>, Error> {
    let wanted = Wanted {
        quick: options.quick,
        data: options.data,
    };
    let planned = match experiment.has_runs() {
        true => matrix::plan(experiment, wanted, engine, names)?,
        false => Vec::new(),
    };
    let results = results(engine, experiment, &planned, options, start, progress)?;
    let facts = Facts::new(engine, options.data);
    let records = Records::new(experiment.design(), options.quick, &facts, &results);
    let claims = experiment.written.claim.iter();
    let claims = claims
        .flat_map(|claim| claim.checked(&experiment.id, &experiment.written.paper, &records))
        .collect();
    let figures = experiment.written.figure.iter();
    let figures = figures.map(|figure| figure.shown(&records));
    let curves = experiment.written.curves.iter();
    let curves = curves.map(|curves| curves.shown(&facts));
    let figures: Result<Vec<Shown>, String> = figures.chain(curves).collect();
    Ok(Outcome {
        experiment,
        runs: records.runs(),
        claims,
        figures: figures.map_err(Error::Wrong)?,
        mechanism: mechanism(engine, experiment, &planned)?,
    })
}

/// Runs one run of each case again, keeping what is needed to draw it.
fn mechanism(
    engine: &dyn Engine,
    experiment: &Experiment,
    planned: &[Planned],
) -> Result<Option<String>, Error> {
    if experiment.written.engine != Wants::Sim {
        // Linux does not tell of each packet what drawings of queues need.
        return Ok(None);
    }
    let chosen = &experiment.written.mechanism;
    let here = |planned: &&Planned| {
        let variant = &planned.run.variant;
        let at = |(name, label)| variant.get(name) == Some(label);
        !variant.contains_key(measure::WITHOUT) && chosen.iter().all(at)
    };
    let mut runs = planned.iter().filter(here);
    let Some(first) = runs.next() else {
        return Ok(None);
    };
    let alike = |planned: &&Planned| {
        (planned.run.seed, &planned.run.variant) == (first.run.seed, &first.run.variant)
    };
    let drawn: Vec<&Planned> = planned.iter().filter(alike).collect();
    let one = |planned: &&Planned| {
        let run = &planned.run;
        let result = measure::run(engine, &run.scenario, &run.discipline, run.seed, true);
        result.map(|result| planned.called(result))
    };
    let results: Vec<Result<RunResult, EngineError>> = drawn.par_iter().map(one).collect();
    let results: Result<Vec<RunResult>, EngineError> = results.into_iter().collect();
    let document = report::export::Document {
        version: env!("CARGO_PKG_VERSION"),
        engine: engine.name(),
        scenario: &experiment.scenario.to_json(),
        results: &results?,
    };
    Ok(Some(report::html(
        &first.run.scenario,
        &document,
        &experiment.metrics,
    )))
}

fn results(
    engine: &dyn Engine,
    experiment: &Experiment,
    planned: &[Planned],
    options: Options<'_>,
    start: impl FnOnce(usize, usize),
    progress: &dyn Progress,
) -> Result<Vec<RunResult>, Error> {
    if planned.is_empty() {
        start(0, 0);
        return Ok(Vec::new());
    }
    let kept = experiment.written.store.as_ref().unwrap_or(&experiment.id);
    let store = Store::open(&options.folder.join(kept).join("runs.jsonl"))?;
    let keys: Vec<String> = planned
        .iter()
        .map(|planned| planned.key(options.build))
        .collect();
    let missing = keys.iter().filter(|key| store.get(key).is_none()).count();
    start(planned.len(), missing);
    made(engine, planned, Some((&store, &keys)), progress)
}

/// The results of `planned`, in that order: taken from the store, or run and kept there, if there is
/// one; it comes with each run's key.
fn made(
    engine: &dyn Engine,
    planned: &[Planned],
    kept: Option<(&Store, &[String])>,
    progress: &dyn Progress,
) -> Result<Vec<RunResult>, Error> {
    let one = |(place, planned): (usize, &Planned)| -> Result<RunResult, Error> {
        let run = &planned.run;
        let kept = kept.map(|(store, keys)| (store, &keys[place]));
        if let Some(known) = kept.and_then(|(store, key)| store.get(key)) {
            return Ok(planned.called(known.clone()));
        }
        let result = measure::run(engine, &run.scenario, &run.discipline, run.seed, false)?;
        let result = planned.called(result);
        if let Some((store, key)) = kept {
            store.keep(key.clone(), &result)?;
        }
        progress.done();
        Ok(result)
    };
    let results: Vec<Result<RunResult, Error>> = planned.par_iter().enumerate().map(one).collect();
    results.into_iter().collect()
}
