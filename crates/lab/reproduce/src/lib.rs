//! Experiments: a paper's claims, each with a verdict.
//!
//! An experiment is a file ([`experiment`]) that says what to run and what is claimed; [`outcome`] runs
//! it as a [campaign] and checks each claim; [`page`] prints the verdicts for a terminal, as Markdown
//! and as HTML.
//!
//! Not for: making and keeping many runs (`campaign`); measuring a run (`measure`); drawing (`report`).

#![deny(missing_docs)]

pub mod agreement;
pub mod budget;
mod calls;
pub mod claim;
pub mod curves;
pub mod data;
pub mod departures;
pub mod design;
pub mod discovery;
mod drawn;
pub mod evaluation;
pub mod experiment;
pub mod facts;
pub mod figure;
mod fingerprint;
#[cfg(test)]
mod linted;
mod matrix;
mod only;
pub mod page;
pub mod pages;
pub mod records;
pub mod registry;
mod sample;
pub mod score;
mod scoreboard;
mod set_up;
pub mod sweep;
#[cfg(test)]
mod testing;

pub use data::Data;
pub use experiment::{Experiment, Wants};
pub use fingerprint::statistics;
pub use matrix::Wanted;
pub use scoreboard::{Board, boards};

use campaign::{Error, Job, Keeping, Progress, run};
use claim::Judged;
use departures::Departures;
use facts::Facts;
use figure::ShownFigure;
use measure::{Engine, RunResult};
use records::Records;
use scenario::Names;
use score::Scored;
use units::Refusal;

/// The outcome of an experiment.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Whether it is its quick form.
    pub quick: bool,
    /// The source of its traces and pages.
    pub data: &'static str,
    /// Its runs, without control runs.
    pub runs: usize,
    /// Seeds of each combination.
    pub seeds: u64,
    /// How the runs depart from what the experiment is about.
    pub departures: Departures,
    /// The program's version.
    pub version: String,
    /// Its claims, by sentence.
    pub claims: Vec<Judged>,
    /// How one case does against the others.
    pub scores: Vec<Scored>,
    /// Its figures.
    pub figures: Vec<ShownFigure>,
    /// A line for each reason for which runs are not to be believed; empty if all are.
    pub invalid: String,
    /// A line for each transfer whose rate something other than the network decided. Only of a sweep: an experiment says
    /// how it is set up.
    pub limited: String,
    /// A report on one run of each case over time: who waits, and why.
    pub mechanism: Option<String>,
}

/// Runs `experiment`, or takes what was kept of its runs, and checks its claims. `version` is the
/// program's, for the report.
///
/// # Errors
/// See [`Error`].
pub fn outcome<'a>(
    engine: &dyn Engine,
    names: &dyn Names,
    experiment: &'a Experiment,
    wanted: Wanted<'_>,
    keeping: Keeping<'_>,
    progress: &dyn Progress,
    version: &str,
) -> Result<Outcome<'a>, Error> {
    let jobs = if experiment.has_runs() {
        experiment.grid(wanted)?.plan(engine, names)?
    } else {
        Vec::new()
    };
    let results = run(engine, &jobs, Some(keeping), progress)?;
    let facts = Facts::new(engine, wanted.data);
    let records = Records::new(experiment.design(), wanted.quick, &facts, &results);
    let departures = experiment.departures(wanted);
    let place = claim::ClaimsPlace {
        experiment: &experiment.id,
        calls: experiment.calls.as_deref(),
        paper: &experiment.written.paper,
        departures: &departures,
    };
    let mut claims = claim::judged(&experiment.written.claim, place, &records);
    claim::judged_together(&mut claims);
    let scores = experiment.written.score.iter();
    let scores: Result<Vec<Scored>, Refusal> = scores
        .map(|score| score.scored(&records, &experiment.written.score))
        .collect();
    let scores = scores.map_err(Error::Wrong)?;
    let invalid = report::doubts::told(&results);
    let doubted = !invalid.is_empty();
    // These are counts of verdicts that were judged together already.
    let scored = scores
        .iter()
        .filter_map(|scored| scored.claimed(place, doubted));
    claims.extend(scored);
    for claim in &mut claims {
        claim.conclude(&departures);
    }
    let figures = experiment.written.figure.iter();
    let figures = figures.map(|figure| figure.shown(&records));
    let curves = experiment.written.curves.iter();
    let curves = curves.map(|curves| curves.shown(&facts));
    let figures: Result<Vec<ShownFigure>, Refusal> = figures.chain(curves).collect();
    Ok(Outcome {
        experiment,
        quick: wanted.quick,
        data: wanted.data.described(),
        runs: records.runs(),
        claims,
        scores,
        figures: figures.map_err(Error::Wrong)?,
        invalid,
        limited: String::new(),
        seeds: experiment.seeds(wanted.quick),
        departures,
        version: version.to_owned(),
        mechanism: mechanism(engine, experiment, &jobs, version)?,
    })
}

/// Runs one run of each case again, keeping the data for plots.
fn mechanism(
    engine: &dyn Engine,
    experiment: &Experiment,
    jobs: &[Job],
    version: &str,
) -> Result<Option<String>, Error> {
    if experiment.written.engine != Wants::Sim {
        // Linux does not report for each packet the data that drawings of queues need.
        return Ok(None);
    }
    let chosen = &experiment.written.mechanism;
    let here = |job: &&Job| {
        let at = |(name, label)| job.variant.get(name) == Some(label);
        job.without().is_none() && chosen.iter().all(at)
    };
    let Some(first) = jobs.iter().find(here) else {
        return Ok(None);
    };
    let alike = |job: &&Job| (job.seed, &job.variant) == (first.seed, &first.variant);
    let drawn: Vec<Job> = jobs.iter().filter(alike).map(Job::drawn).collect();
    let results: Vec<RunResult> = run(engine, &drawn, None, &Untold)?;
    let document = report::export::ExportDocument {
        version,
        engine: engine.name(),
        scenario: &experiment.scenario.to_json(),
        results: &results,
    };
    let page = report::html(&first.scenario, &document, &experiment.metrics);
    Ok(Some(page.html))
}

/// Progress that is not reported.
struct Untold;

impl Progress for Untold {
    fn done(&self) {}
}
