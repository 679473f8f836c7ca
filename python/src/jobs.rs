//! Jobs of a store, in the files that the program's `analects jobs` and `analects job` read and write.

use crate::plan::Request;
use crate::refused::Refused;
use crate::results::{Results, no_store};
use crate::run::{Counts, pool, watched};
use crate::simulator::{Stoppable, basis, check_keeping, simulator};
use campaign::job::{self, is_key};
use campaign::store::StoredJob;
use campaign::{Description, Job, Store, work};
use pyo3::prelude::*;
use rayon::prelude::*;
use reproduce::{Data, Experiment, Wanted, Wants, registry};
use serde::{Deserialize, Serialize};
use sim::Simulator;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use units::Refusal;

/// A job as it is left in the store. The program's `analects job` reads the same.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    engine: EngineWords,
    run: Description,
}

/// The words of the command line that choose an engine.
#[derive(Serialize, Deserialize)]
struct EngineWords {
    name: String,
    linux: LinuxWords,
}

#[derive(Serialize, Deserialize)]
struct LinuxWords {
    kernel: Option<String>,
}

impl EngineWords {
    fn sim() -> EngineWords {
        EngineWords {
            name: "sim".to_owned(),
            linux: LinuxWords { kernel: None },
        }
    }
}

/// A plan: a scenario with its request, or experiments.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Plan {
    /// As for `run`.
    Scenario(Request),
    /// A name of the registry, such as `matrix/edges` or `floq/all`, and whether in its quick form.
    Experiments(String, bool),
    /// A file's name and text, and whether in its quick form.
    Own(String, String, bool),
}

/// Leaves a description of each job of `plan`, JSON, in the store; returns each key, and whether its result
/// is there.
#[pyfunction]
pub fn list_jobs(
    py: Python<'_>,
    plan: &str,
    name: &str,
    folder: PathBuf,
    data: Option<PathBuf>,
) -> PyResult<Vec<(String, bool)>> {
    let plan: Plan = serde_json::from_str(plan)
        .map_err(|error| Refused::new(format!("the plan: {error}"), "report this"))?;
    Ok(py.detach(|| listed(&plan, name, &folder, data.as_deref()))?)
}

fn listed(
    plan: &Plan,
    name: &str,
    folder: &Path,
    data: Option<&Path>,
) -> Result<Vec<(String, bool)>, Refused> {
    let simulator = simulator();
    let jobs = planned(plan, &simulator, &Data::new(data))?;
    check_keeping(&jobs)?;
    let store = Store::open(folder)?;
    let mut seen = BTreeSet::new();
    let mut listed = Vec::new();
    let basis = basis();
    for keyed in job::keyed(&jobs, ("sim", &basis))? {
        if !seen.insert(keyed.key.clone()) {
            continue;
        }
        let is_done = matches!(store.read(&keyed.key)?, StoredJob::Result(_));
        if !is_done {
            let run = keyed.job.description(name)?;
            store.describe(
                &keyed.key,
                &Listed {
                    engine: EngineWords::sim(),
                    run,
                },
            )?;
        }
        listed.push((keyed.key, is_done));
    }
    Ok(listed)
}

fn planned(plan: &Plan, simulator: &Simulator, data: &Data) -> Result<Vec<Job>, Refused> {
    let (experiments, quick) = match plan {
        Plan::Scenario(request) => return request.jobs(simulator),
        Plan::Experiments(name, quick) => (registry::find(name)?, *quick),
        Plan::Own(file, text, quick) => (vec![Experiment::parse("own", file, text)?], *quick),
    };
    let mut jobs = Vec::new();
    for experiment in experiments
        .iter()
        .filter(|experiment| experiment.has_runs())
    {
        if experiment.written.engine == Wants::Kernel {
            let message = format!("{}: it needs the engine kernel", experiment.id);
            return Err(Refused::new(message, "run it with the program `analects`"));
        }
        let grid = experiment.grid(Wanted { quick, data })?;
        jobs.extend(grid.plan(simulator, simulator)?);
    }
    Ok(jobs)
}

/// Makes the jobs with these keys, as they were listed, and keeps their results.
#[pyfunction]
pub fn make(py: Python<'_>, folder: PathBuf, keys: Vec<String>, threads: usize) -> PyResult<()> {
    let simulator = Simulator::default();
    let counts = Counts::default();
    watched(py, &counts, None, |stop| {
        if !folder.is_dir() {
            return Err(no_store(&folder));
        }
        let store = Store::open(&folder)?;
        let jobs: Result<Vec<Job>, Refused> = keys
            .iter()
            .map(|key| described(&store, key, &simulator))
            .collect();
        let jobs = jobs?;
        let basis = basis();
        let keyed = job::keyed(&jobs, ("sim", &basis))?;
        if let Some((asked, is)) = keys
            .iter()
            .zip(&keyed)
            .find(|(key, keyed)| **key != keyed.key)
        {
            let message = format!(
                "job {asked} is now {}: the package or a file that it names has changed since it was listed",
                is.key
            );
            return Err(Refused::new(message, "list the plan again"));
        }
        let engine = Stoppable {
            simulator: &simulator,
            stop,
        };
        pool(threads)?.install(|| work(&engine, &keyed, &store, &counts, |_| ()))?;
        Ok(())
    })??;
    Ok(())
}

/// The job of a key, from its description.
fn described(store: &Store, key: &str, simulator: &Simulator) -> Result<Job, Refused> {
    let again = "list the plan again";
    if !is_key(key) {
        return Err(Refused::new(format!("{key:?} is no key"), again));
    }
    let Some((path, bytes)) = store.description(key)? else {
        return Err(Refused::new(format!("no job {key} was listed"), again));
    };
    let path = path.display().to_string();
    let listed: Listed = serde_json::from_slice(&bytes)
        .map_err(|error| Refused::new(format!("{path}: it describes no job: {error}"), again))?;
    if listed.engine.name != "sim" {
        let message = format!("{path}: it is of the engine {:?}", listed.engine.name);
        return Err(Refused::new(message, "run `analects job` with it"));
    }
    let jobs = listed.run.grid(&path)?.plan(simulator, simulator)?;
    jobs.into_iter().next().ok_or_else(|| {
        Refused::from(Refusal::new(format!("{path}: it describes no job")).with_help(again))
    })
}

/// The stored results of these keys, and the keys of those that there are, in one order.
#[pyfunction]
pub fn stored(
    py: Python<'_>,
    folder: PathBuf,
    keys: Vec<String>,
) -> PyResult<(Results, Vec<String>)> {
    Ok(py.detach(|| -> Result<_, Refused> {
        if !folder.is_dir() {
            return Err(no_store(&folder));
        }
        let store = Store::open(&folder)?;
        let mut results = Vec::new();
        let mut found = Vec::new();
        for key in keys {
            if let StoredJob::Result(result) = store.read(&key)? {
                results.push(*result);
                found.push(key);
            }
        }
        Ok((Results::new(results, None), found))
    })?)
}

/// Those of these keys whose results the store lacks, in their order.
#[pyfunction]
pub fn missing(py: Python<'_>, folder: PathBuf, keys: Vec<String>) -> PyResult<Vec<String>> {
    Ok(py.detach(|| -> Result<_, Refused> {
        let store = Store::open(&folder)?;
        let lacks = |key: &String| Ok(!matches!(store.read(key)?, StoredJob::Result(_)));
        let lacking: Result<Vec<bool>, Refused> = keys.par_iter().map(lacks).collect();
        let pairs = keys.iter().zip(lacking?);
        Ok(pairs
            .filter(|(_, lacking)| *lacking)
            .map(|(key, _)| key.clone())
            .collect())
    })?)
}
