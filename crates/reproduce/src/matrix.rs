//! From an experiment to the runs that it needs.

use crate::Run;
use crate::data::{self, Data};
use crate::experiment::{Case, Experiment, Settings};
use measure::WITHOUT;
use measure::{Engine, RunResult};
use scenario::{Choice, Document, Names, ScenarioError};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use units::Refusal;

/// Which discipline settings an axis may change: `disciplines.NAME.KEY`.
pub const SETTING: &str = "disciplines.";

/// What is run how.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// With fewer seeds, traces and values.
    pub quick: bool,
    /// Where traces and pages come from.
    pub data: &'a Data,
}

/// A run, and the name of the case that its result gets.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The case's name.
    pub case: String,
    /// What is run.
    pub run: Run,
    /// The scenario as text, and the state of the files that it names.
    described: Arc<String>,
}

impl Planned {
    /// The result under this run's names. The same run may serve two cases, or two values of an axis
    /// that a case overrides.
    pub fn called(&self, result: RunResult) -> RunResult {
        RunResult {
            discipline: self.case.clone(),
            variant: self.run.variant.clone(),
            ..result
        }
    }

    /// What distinguishes its result from all others that may be kept beside it.
    pub fn key(&self, build: &str) -> String {
        let without = self.run.variant.get(WITHOUT).map_or("", String::as_str);
        let text = format!("{}\n{}\n{without}", self.described, self.run.discipline);
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        format!("{build}/{:016x}/{}", hash.finish(), self.run.seed)
    }
}

/// All runs of `experiment`, each just behind its control run if there is one.
///
/// # Errors
/// What is wrong with the scenario, or what `engine` cannot run of it.
pub fn plan(
    experiment: &Experiment,
    wanted: Wanted<'_>,
    engine: &dyn Engine,
    names: &dyn Names,
) -> Result<Vec<Planned>, ScenarioError> {
    let written = &experiment.written;
    let mut base = experiment.scenario.clone();
    if let Some(entry) = &written.pages {
        base.set(&format!("traffic.{entry}.source"), &wanted.data.pages())?;
    }
    if wanted.quick {
        apply(&mut base, &written.quick.set)?;
    }
    let seeds = experiment.seeds(wanted.quick);
    let traces = traces(experiment, wanted)
        .map_err(|reason| base.error_at_path("link.trace", &reason, "see ANALECTS_DATA"))?;
    let mut planned = Vec::new();
    for cell in cells(experiment, wanted.quick) {
        for (place, trace) in traces.iter().enumerate() {
            for case in &written.cases {
                let (document, choice) = prepared(&base, case, &cell, trace.as_deref())?;
                let scenario = document.resolve(names)?;
                if let Some(refused) = engine.check(&scenario).first() {
                    let Refusal { message, help } = &refused.refusal;
                    let help = help.as_deref().unwrap_or("change the experiment");
                    return Err(document.error_at_path(&refused.entry, message, help));
                }
                let scenario = Arc::new(scenario);
                let described = Arc::new(described(&document));
                let mut variant: BTreeMap<String, String> = cell
                    .iter()
                    .map(|set| (set.axis.to_owned(), set.label.to_owned()))
                    .collect();
                if let Some(trace) = trace {
                    variant.insert("trace".to_owned(), wanted.data.shown(trace));
                }
                for seed in 0..seeds {
                    let run = Run {
                        scenario: scenario.clone(),
                        discipline: choice.clone(),
                        // Traces have seeds of their own, so that they do not all see the same pages.
                        seed: written.first_seed.wrapping_add(place as u64 * seeds + seed),
                        variant: variant.clone(),
                        series: false,
                    };
                    let control = written.without.as_ref().map(|entry| run.without(entry));
                    planned.extend(control.into_iter().chain([run]).map(|run| Planned {
                        case: case.name.clone(),
                        run,
                        described: described.clone(),
                    }));
                }
            }
        }
    }
    Ok(planned)
}

fn traces(experiment: &Experiment, wanted: Wanted<'_>) -> Result<Vec<Option<String>>, String> {
    let Some(set) = &experiment.written.traces else {
        return Ok(vec![None]);
    };
    let mut traces = wanted.data.traces(set)?;
    if let (true, Some(few)) = (wanted.quick, experiment.written.quick.traces) {
        traces = data::spread(traces, few);
    }
    Ok(traces.into_iter().map(Some).collect())
}

/// A value of an axis, and what has to be set for it.
#[derive(Debug, Clone)]
struct Set<'a> {
    axis: &'a str,
    label: &'a str,
    settings: Settings,
}

/// Every combination of the axes' values, the last axis changing fastest.
fn cells(experiment: &Experiment, quick: bool) -> Vec<Vec<Set<'_>>> {
    let mut cells: Vec<Vec<Set<'_>>> = vec![Vec::new()];
    for axis in &experiment.written.vary {
        let mut longer = Vec::new();
        for cell in &cells {
            for value in axis.chosen(quick) {
                let set = Set {
                    axis: &axis.name,
                    label: value.label(),
                    settings: axis.settings(value),
                };
                longer.push(cell.iter().cloned().chain([set]).collect());
            }
        }
        cells = longer;
    }
    cells
}

/// The scenario for `case` in `cell`, and the discipline under test.
fn prepared(
    base: &Document,
    case: &Case,
    cell: &[Set<'_>],
    trace: Option<&str>,
) -> Result<(Document, Choice), ScenarioError> {
    let mut document = base.clone();
    let mut settings = Settings::new();
    for set in cell {
        settings.extend(set.settings.clone());
    }
    // What makes the case comes last: it holds whatever varies.
    settings.extend(case.set.clone());
    if let Some(trace) = trace {
        settings.insert("link.trace".to_owned(), trace.to_owned());
    }
    let refused = |refusal: Refusal| {
        let help = refusal.help.as_deref().unwrap_or("name another");
        base.error_at_path("disciplines", &refusal.message, help)
    };
    let mut choice: Choice = case.discipline.parse().map_err(refused)?;
    for (path, value) in &settings {
        match path.strip_prefix(SETTING).and_then(|p| p.split_once('.')) {
            None => document.set(path, value)?,
            Some((name, key)) if name == choice.name => choice.set(key, value).map_err(refused)?,
            Some(_) => {}
        }
    }
    document.set_disciplines(&[choice.to_string()]);
    Ok((document, choice))
}

/// The document, and when the files that it names were changed.
fn described(document: &Document) -> String {
    let json = document.to_json();
    let mut text = json.to_string();
    stamps(&json, &mut text);
    text
}

fn stamps(value: &serde_json::Value, text: &mut String) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, inner) in fields {
                let names_file = matches!(key.as_str(), "trace" | "source");
                match inner.as_str().filter(|_| names_file).map(std::fs::metadata) {
                    // Writing to a string does not fail.
                    Some(Ok(file)) => _ = write!(text, "{} {:?}", file.len(), file.modified()),
                    _ => stamps(inner, text),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| stamps(item, text)),
        _ => {}
    }
}

fn apply(document: &mut Document, settings: &Settings) -> Result<(), ScenarioError> {
    for (path, value) in settings {
        document.set(path, value)?;
    }
    Ok(())
}
