//! Runs a scenario, on as many threads as asked for, without holding up the interpreter.

use crate::own::{self, Kind};
use crate::plan::Request;
use crate::refused::Refused;
use crate::results::Results;
use crate::simulator::{Stoppable, basis, check_keeping, simulator};
use campaign::{Job, Keeping, Progress, Store};
use measure::RunResult;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How often signals are looked at and progress is told.
const GLANCE: Duration = Duration::from_millis(50);

/// Registers a class under a name: `kind` is "discipline" or "control".
#[pyfunction]
pub fn register(kind: &str, name: &str, summary: &str, class: Py<PyAny>) -> PyResult<()> {
    let kind = match kind {
        "discipline" => Kind::Discipline,
        _ => Kind::Control,
    };
    own::register(kind, name, summary, class).map_err(|refusal| Refused::from(refusal).into())
}

/// Runs what `request`, JSON, asks for. `progress` is called with the number of runs that are done and that
/// of all. `threads` 0 means as many as there are processors.
#[pyfunction]
#[pyo3(signature = (request, series, store, threads, progress))]
pub fn run(
    py: Python<'_>,
    request: &str,
    series: bool,
    store: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let request: Request = serde_json::from_str(request)
        .map_err(|error| Refused::new(format!("the request: {error}"), "report this"))?;
    own::take_failure();
    let simulator = simulator();
    let planned = py.detach(|| request.jobs(&simulator));
    // A class that cannot be built says so itself.
    let mut jobs =
        planned.map_err(|refused| own::take_failure().unwrap_or_else(|| refused.into()))?;
    jobs.iter_mut().for_each(|job| job.series = series);
    if store.is_some() {
        check_keeping(&jobs)?;
    }
    let store = store
        .map(|folder| Store::open(&folder))
        .transpose()
        .map_err(Refused::from)?;
    let scenario = whole(&jobs).scenario.clone();
    let counts = Counts::default();
    let done = watched(py, &counts, progress.as_ref(), |stop| {
        let engine = Stoppable {
            simulator: &simulator,
            stop,
        };
        let basis = basis();
        let keeping = store.as_ref().map(|store| Keeping {
            store,
            basis: &basis,
        });
        pool(threads)?.install(|| Ok(campaign::run(&engine, &jobs, keeping, &counts)?))
    })?;
    if let Some(failure) = own::take_failure() {
        return Err(failure);
    }
    let results: Vec<RunResult> = done?;
    Ok(Results::new(results, Some(scenario)))
}

/// The job whose scenario is whole: a control run's lacks the traffic that it leaves out.
fn whole(jobs: &[Job]) -> &Job {
    jobs.iter()
        .find(|job| job.without().is_none())
        .unwrap_or(&jobs[0])
}

/// Threads for runs.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, Refused> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Refused::new(error.to_string(), "use fewer threads"))
}

/// Does `work` on a thread of its own. Meanwhile signals are heard: Ctrl-C makes the work stop behind the
/// runs that are going on.
///
/// # Errors
/// What a signal raised, or `progress`.
pub fn watched<T: Send>(
    py: Python<'_>,
    counts: &Counts,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&AtomicBool) -> Result<T, Refused> + Send,
) -> PyResult<Result<T, Refused>> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        std::thread::scope(|scope| {
            let working = scope.spawn(|| work(&stop));
            let mut raised = None;
            loop {
                let ends = working.is_finished();
                if raised.is_none() {
                    raised = Python::attach(|py| look(py, counts, progress)).err();
                    stop.store(raised.is_some(), Ordering::Relaxed);
                }
                if ends {
                    break;
                }
                std::thread::sleep(GLANCE);
            }
            let done = working
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map_or(Ok(done), Err)
        })
    })
}

fn look(py: Python<'_>, counts: &Counts, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    let (done, all) = counts.get();
    if let Some(progress) = progress
        && counts.told.swap(done, Ordering::Relaxed) != done
    {
        progress.call1(py, (done, all))?;
    }
    Ok(())
}

/// How many runs there are, and how many are done.
#[derive(Default)]
pub struct Counts {
    all: AtomicUsize,
    done: AtomicUsize,
    told: AtomicUsize,
}

impl Counts {
    /// Those done, and all.
    pub fn get(&self) -> (usize, usize) {
        (
            self.done.load(Ordering::Relaxed),
            self.all.load(Ordering::Relaxed),
        )
    }
}

impl Progress for Counts {
    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn planned(&self, all: usize, missing: usize) {
        self.all.fetch_add(all, Ordering::Relaxed);
        self.done.fetch_add(all - missing, Ordering::Relaxed);
    }
}
