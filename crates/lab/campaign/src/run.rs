//! The one runner of all campaigns: runs jobs, many at a time, and keeps their results.

use crate::Error;
use crate::job::{self, Job, Keyed};
use crate::longest::longest_first;
use crate::progress::Progress;
use crate::store::{Store, StoredJob};
use measure::{Engine, RunResult, Taps};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Where results are kept, and what they depend on in addition to their jobs.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    /// Where.
    pub store: &'a Store,
    /// The dependencies of the engine's results.
    pub basis: &'a str,
}

/// The results of `jobs`, in their order: taken from the store, or made and kept there, if there is
/// one; those with a listener are made in any case. As many are made at a time as there are threads; the
/// results do not depend on how many that is. Jobs that another process is making are waited for.
///
/// # Errors
/// The first error in the order of the jobs. All others have been made.
pub fn run(
    engine: &dyn Engine,
    jobs: &[Job],
    keeping: Option<Keeping<'_>>,
    progress: &dyn Progress,
) -> Result<Vec<RunResult>, Error> {
    let Some(Keeping { store, basis }) = keeping else {
        progress.planned(jobs.len(), jobs.len());
        let one = |job: &Job| -> Result<RunResult, Error> {
            let result = made(engine, job, job.series)?;
            progress.finished(job, &result);
            progress.done();
            Ok(job.called(result))
        };
        let mut results = vec![RunResult::default(); jobs.len()];
        let open = jobs.iter().zip(&mut results).collect();
        longest_first(
            open,
            |(job, _)| job,
            |(job, result)| {
                *result = one(job)?;
                Ok(())
            },
        )?;
        return Ok(results);
    };
    let keyed = job::keyed(jobs, (engine.name(), basis))?;
    let found = work(engine, &keyed, store, progress, |result| result)?;
    let called = keyed.iter().filter_map(|keyed| {
        let result = found.get(keyed.key.as_str())?;
        Some(keyed.job.called(result.clone()))
    });
    Ok(called.collect())
}

/// Ensures that the store has the results of all jobs; returns the value of `take` for each, by
/// key. A job that is there twice is run once.
///
/// # Errors
/// The first error in the order of the jobs. All others have been made.
pub fn work<'k, T: Send>(
    engine: &dyn Engine,
    keyed: &'k [Keyed<'_>],
    store: &Store,
    progress: &dyn Progress,
    take: impl Fn(RunResult) -> T + Sync,
) -> Result<BTreeMap<&'k str, T>, Error> {
    let worker = Worker {
        engine,
        store,
        progress,
        take,
    };
    let wanted = distinct(keyed);
    let kept: Result<Vec<Option<T>>, Error> =
        wanted.par_iter().map(|job| worker.kept(job)).collect();
    let mut results = kept?;
    let missing = results.iter().filter(|result| result.is_none()).count();
    progress.planned(wanted.len(), missing);
    // Jobs that other processes run come last: by then many of them are done.
    for wait in [false, true] {
        let open = wanted.iter().zip(&mut results);
        let open = open.filter(|(_, result)| result.is_none()).collect();
        longest_first(
            open,
            |(wanted, _)| wanted.keyed.job,
            |(wanted, result)| {
                *result = worker.made(wanted, wait)?;
                Ok(())
            },
        )?;
    }
    store.tidy()?;
    let keys = wanted.iter().map(|job| job.keyed.key.as_str());
    let pairs = keys.zip(results);
    Ok(pairs
        .filter_map(|(key, result)| Some((key, result?)))
        .collect())
}

/// A job of those with the same key; one with a listener stands for itself.
struct WantedJob<'k> {
    keyed: &'k Keyed<'k>,
    /// One of them is drawn.
    series: bool,
}

impl WantedJob<'_> {
    /// It takes more than a result.
    fn is_made_anyway(&self) -> bool {
        self.series || self.keyed.job.listener.is_some()
    }
}

fn distinct<'k>(keyed: &'k [Keyed<'_>]) -> Vec<WantedJob<'k>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wanted: Vec<WantedJob<'k>> = Vec::new();
    for keyed in keyed {
        let series = keyed.job.series;
        let place = match keyed.job.listener {
            Some(_) => wanted.len(),
            None => *places.entry(&keyed.key).or_insert(wanted.len()),
        };
        match wanted.get_mut(place) {
            Some(known) => known.series |= series,
            None => wanted.push(WantedJob { keyed, series }),
        }
    }
    wanted
}

struct Worker<'a, F> {
    engine: &'a dyn Engine,
    store: &'a Store,
    progress: &'a dyn Progress,
    take: F,
}

impl<T, F: Fn(RunResult) -> T> Worker<'_, F> {
    /// The stored result of a job; none if the job needs more than a result.
    fn kept(&self, wanted: &WantedJob<'_>) -> Result<Option<T>, Error> {
        match self.store.read(&wanted.keyed.key)? {
            StoredJob::Result(result) if !wanted.is_made_anyway() => {
                self.progress.finished(wanted.keyed.job, &result);
                Ok(Some((self.take)(*result)))
            }
            StoredJob::Result(_) | StoredJob::Missing => Ok(None),
            StoredJob::Wrong(what) => {
                self.progress.remark(&format!("{what}; it is made again"));
                Ok(None)
            }
        }
    }

    /// Runs a job, unless another process does: then returns none, or with `wait` the result of
    /// that process.
    fn made(&self, wanted: &WantedJob<'_>, wait: bool) -> Result<Option<T>, Error> {
        let Keyed { job, key, .. } = wanted.keyed;
        let claim = self.store.claim(key, wait)?;
        if claim.is_none() && !wanted.is_made_anyway() {
            return Ok(None);
        }
        if let StoredJob::Result(result) = self.store.read(key)?
            && !wanted.is_made_anyway()
        {
            self.progress.finished(job, &result);
            self.progress.done();
            return Ok(Some((self.take)(*result)));
        }
        let result = made(self.engine, job, wanted.series)?;
        if let Some(claim) = claim {
            self.store.keep(key, wanted.keyed.content(), &result)?;
            drop(claim);
            self.progress.made(key);
        }
        self.progress.finished(job, &result);
        self.progress.done();
        Ok(Some((self.take)(result)))
    }
}

fn made(engine: &dyn Engine, job: &Job, series: bool) -> Result<RunResult, Error> {
    let (scenario, discipline, seed) = (&job.scenario, &job.discipline, job.seed);
    let Some(listener) = &job.listener else {
        let result = measure::run(engine, scenario, discipline, seed, series)?;
        return Ok(result);
    };
    let result = listener.listen(&mut |tap| {
        let taps = Taps {
            series,
            tap: Some(tap),
        };
        measure::tapped(engine, scenario, discipline, seed, taps)
    })?;
    Ok(result)
}
