//! A job: one run of a campaign, and the key that its result is kept under.
//!
//! # The key
//! It is the BLAKE3 hash, its first 128 bits in hexadecimal, of the job's content as JSON without
//! spaces whose keys are sorted:
//!
//! - `format`: [`FORMAT`];
//! - `engine`: the engine's name;
//! - `basis`: what the engine's results depend on in addition to the job: hashes of sources and
//!   files, or a kernel's release. The caller provides it;
//! - `scenario`: with every default written out ([`scenario::Document::completed`]). Each name of a
//!   trace's or page's file is replaced by hashes of the files' contents, for pages with the files'
//!   stems, which results name. Parts on which no result depends are left out: the scenario's name,
//!   its summary, and which disciplines are compared;
//! - `discipline`: the one under test, with its settings as written, for results repeat them;
//! - `seed`;
//! - `without`: the traffic entry that a control run leaves out, or null.
//!
//! The same job therefore has the same key on every machine, independent of the place of its files,
//! and of the name of the case or axis that asks for it.

use crate::Error;
use measure::{EngineError, RunResult, Sink, WITHOUT};
use scenario::{Choice, OF_LINK, Scenario, files};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Refusal;

/// Version of the results' format and of the key's definition.
pub const FORMAT: u32 = 1;

/// Bytes of a key.
const BYTES: usize = 16;
/// The prefixes of the names of sources and traces that are not in files of their own.
const MADE: [&str; 3] = ["generated", "document:", OF_LINK];

/// A listener to a run, such as a file that it is written to.
pub trait Listener: fmt::Debug + Send + Sync {
    /// Makes the run, by calling `run` once with the tap that receives its events; returns the
    /// value of `run`.
    ///
    /// # Errors
    /// Those of the run. The listener's own troubles are no part of it.
    fn listen(
        &self,
        run: &mut dyn FnMut(&mut dyn Sink) -> Result<RunResult, EngineError>,
    ) -> Result<RunResult, EngineError>;
}

/// One run to make, and the name of its result.
#[derive(Debug, Clone)]
pub struct Job {
    /// The name of the case: its result's `discipline`.
    pub case: String,
    /// The scenario to run.
    pub scenario: Arc<Scenario>,
    /// The discipline under test.
    pub discipline: Choice,
    /// The seed.
    pub seed: u64,
    /// The settings that distinguish the scenario from its siblings.
    pub variant: BTreeMap<String, String>,
    /// Whether to keep the data for plots.
    pub series: bool,
    /// Its listener. A run with a listener is made even if its result is stored.
    pub listener: Option<Arc<dyn Listener>>,
    /// The scenario with every default written out.
    pub(crate) written: Arc<Value>,
}

impl Job {
    /// The traffic entry that this run leaves out.
    pub fn without(&self) -> Option<&str> {
        self.variant.get(WITHOUT).map(String::as_str)
    }

    /// The same job, which keeps what is needed to draw it.
    pub fn drawn(&self) -> Job {
        Job {
            series: true,
            ..self.clone()
        }
    }

    /// The same job in another scenario with another seed, without anything that records it. It has no key
    /// of its own: its result is for no store.
    pub(crate) fn again(&self, scenario: Arc<Scenario>, seed: u64) -> Job {
        Job {
            scenario,
            seed,
            series: false,
            listener: None,
            ..self.clone()
        }
    }

    /// The result under this job's names. The same run may serve two cases, or two values of an axis
    /// that a case overrides.
    pub fn called(&self, mut result: RunResult) -> RunResult {
        // One that was drawn once may be stored with more than others have.
        if !self.series {
            result.calls.iter_mut().for_each(|call| call.why = None);
        }
        RunResult {
            discipline: self.case.clone(),
            variant: self.variant.clone(),
            series: result.series.filter(|_| self.series),
            ..result
        }
    }

    /// The data needed to run this job, asked for by `plan`.
    ///
    /// # Errors
    /// If a file that it names cannot be found from here.
    pub fn description(&self, plan: &str) -> Result<Description, Error> {
        let mut scenario = (*self.written).clone();
        each_file(&mut scenario, &mut |_, name| {
            let path = std::path::absolute(name);
            let path = path.map_err(|error| Error::file(Path::new(name), error))?;
            Ok(path.to_string_lossy().into_owned().into())
        })?;
        let at = self
            .variant
            .iter()
            .map(|(axis, value)| format!("{axis} {value}"));
        let about: Vec<String> = [format!("{plan}: {}", self.case)]
            .into_iter()
            .chain(at)
            .collect();
        Ok(Description {
            about: about.join(", "),
            scenario,
            discipline: self.discipline.to_string(),
            seed: self.seed,
            without: self.without().map(str::to_owned),
        })
    }
}

/// A job as it is left for another process to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// A line for people.
    pub about: String,
    /// The scenario, with every default and with whole paths of files.
    pub scenario: Value,
    /// The discipline under test.
    pub discipline: String,
    /// The seed.
    pub seed: u64,
    /// The traffic entry that is left out.
    pub without: Option<String>,
}

/// A job with its key.
#[derive(Debug, Clone)]
pub struct Keyed<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its key.
    pub key: String,
    /// The scenario as it stands in the job's content.
    scenario: Arc<Value>,
    /// The engine's name, and the dependencies of its results.
    engine: (&'a str, &'a str),
}

impl Keyed<'_> {
    /// The content whose hash is the key.
    pub fn content(&self) -> Value {
        let (engine, basis) = self.engine;
        json!({
            "format": FORMAT,
            "engine": engine,
            "basis": basis,
            "scenario": *self.scenario,
            "discipline": self.job.discipline.to_string(),
            "seed": self.job.seed,
            "without": self.job.without(),
        })
    }
}

/// The keys of `jobs`, for the engine of this name whose results depend on `basis`. Each file is read
/// once.
///
/// # Errors
/// If a file that a job names cannot be read.
pub fn keyed<'a>(jobs: &'a [Job], engine: (&'a str, &'a str)) -> Result<Vec<Keyed<'a>>, Error> {
    let mut hashes = Hashes::default();
    let mut last: Option<(&Arc<Value>, Arc<Value>)> = None;
    let keyed = jobs.iter().map(|job| {
        let scenario = match &last {
            Some((written, scenario)) if Arc::ptr_eq(written, &job.written) => scenario.clone(),
            _ => Arc::new(scenario_content(&job.written, &mut hashes)?),
        };
        last = Some((&job.written, scenario.clone()));
        let mut keyed = Keyed {
            job,
            key: String::new(),
            scenario,
            engine,
        };
        keyed.key = key(keyed.content());
        Ok(keyed)
    });
    keyed.collect()
}

/// The key of a job with this content.
pub(crate) fn key(mut content: Value) -> String {
    content.sort_all_objects();
    let hash = blake3::hash(content.to_string().as_bytes());
    hex(&hash.as_bytes()[..BYTES])
}

/// Whether `text` can be a key.
pub fn is_key(text: &str) -> bool {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 2 * BYTES && text.bytes().all(digit)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The scenario as it stands in a key.
fn scenario_content(written: &Value, hashes: &mut Hashes) -> Result<Value, Error> {
    let mut scenario = written.clone();
    if let Value::Object(fields) = &mut scenario {
        for key in ["name", "summary", "disciplines"] {
            fields.remove(key);
        }
    }
    each_file(&mut scenario, &mut |key, name| match key {
        "trace" => Ok(json!({ "blake3": hashes.of(Path::new(name))? })),
        _ => {
            let files = files::expand(name).map_err(|reason| {
                Error::Wrong(Refusal::new(format!("{name:?} cannot be read: {reason}")))
            })?;
            let page = |file: &PathBuf| {
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                Ok(json!({ "page": stem, "blake3": hashes.of(file)? }))
            };
            files.iter().map(page).collect::<Result<Value, Error>>()
        }
    })?;
    Ok(scenario)
}

/// Replaces each name of a trace's or of pages' files in `value`, a scenario or a part of it;
/// `change` receives the key and the name.
fn each_file(
    value: &mut Value,
    change: &mut dyn FnMut(&str, &str) -> Result<Value, Error>,
) -> Result<(), Error> {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                match inner.as_str().map(str::to_owned) {
                    Some(name)
                        if matches!(key.as_str(), "trace" | "source")
                            && !MADE.iter().any(|made| name.starts_with(made)) =>
                    {
                        *inner = change(key, &name)?;
                    }
                    _ => each_file(inner, change)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| each_file(item, change)),
        _ => Ok(()),
    }
}

/// Hashes of files that were read.
#[derive(Default)]
struct Hashes(BTreeMap<PathBuf, String>);

impl Hashes {
    fn of(&mut self, path: &Path) -> Result<String, Error> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let mut hash = blake3::Hasher::new();
        let read = File::open(path).and_then(|file| hash.update_reader(file).map(|_| ()));
        read.map_err(|error| Error::file(path, error))?;
        let hash = hash.finalize().to_hex().to_string();
        self.0.insert(path.to_owned(), hash.clone());
        Ok(hash)
    }
}
