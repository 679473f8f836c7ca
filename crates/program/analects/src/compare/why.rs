//! Why calls stalled, in the runs that tell most.

use crate::runs::many::{self, counted};
use campaign::tried::Trials;
use campaign::{Job, Keeping};
use command::Refused;
use measure::{Engine, RunResult};
use report::{Telling, telling};
use std::fmt::Write as _;

/// Of results that were kept without the data to draw them, those of the runs that tell most are made
/// again with it. Runs of an engine that does the same again are given as `jobs`.
pub fn look_closer(
    engine: &dyn Engine,
    jobs: &[Job],
    keeping: Option<Keeping<'_>>,
    pool: &rayon::ThreadPool,
    results: &mut [RunResult],
) -> Result<(), Refused> {
    let told = telling(results).into_iter().map(|told| told.place);
    let places: Vec<usize> = told
        .filter(|place| results[*place].series.is_none())
        .collect();
    let again = places.iter().map(|place| {
        let mut job = jobs[*place].drawn();
        // What it records is recorded.
        job.listener = None;
        job
    });
    let again: Vec<Job> = again.collect();
    let name = "the typical and the worst runs, to look closer";
    let found = counted(pool, name, |bar| {
        campaign::run(engine, &again, keeping, bar)
    });
    for (place, result) in places.into_iter().zip(found.map_err(many::refused)?) {
        results[place] = result;
    }
    Ok(())
}

/// Tries the causes of the stalls in the runs that tell most by leaving each out, in runs with other
/// seeds; returns how many runs that took.
pub fn try_causes(
    engine: &dyn Engine,
    jobs: &[Job],
    pool: &rayon::ThreadPool,
    results: &mut [RunResult],
) -> Result<usize, Refused> {
    let first = jobs.iter().map(|job| job.seed).max().unwrap_or_default();
    let told = telling(results);
    let tried = counted(pool, "the causes of stalls, each left out", |bar| {
        let mut made = 0;
        for (place, job) in jobs.iter().enumerate() {
            let of_job = |told: &&Telling| jobs[told.place].case == job.case;
            // The typical and the worst run of a case are tried by the same runs.
            if told.iter().find(of_job).map(|told| told.place) != Some(place) {
                continue;
            }
            let mut trials = Trials::new(engine, bar, job, first.wrapping_add(1));
            for told in told.iter().filter(of_job) {
                for call in &mut results[told.place].calls {
                    if let Some(why) = &mut call.why {
                        trials.judge(why, &call.name, &call.control)?;
                    }
                }
            }
            made += trials.made();
        }
        Ok(made)
    });
    tried.map_err(many::refused)
}

/// Forgets the data to draw runs that do not tell most.
pub fn forget_others(results: &mut [RunResult]) {
    let told: Vec<usize> = telling(results).iter().map(|told| told.place).collect();
    for (place, result) in results.iter_mut().enumerate() {
        if !told.contains(&place) {
            result.series = None;
        }
    }
}

/// The explanations as a text to follow the table.
pub fn text(results: &[RunResult], tried: Option<usize>) -> String {
    let several = results
        .iter()
        .any(|result| result.discipline == results[0].discipline && result.seed != results[0].seed);
    let mut text = "\nWhy calls stall:\n".to_owned();
    let mut calls = 0;
    for Telling { place, worst } in telling(results) {
        let result = &results[place];
        let whys = result.calls.iter().filter_map(|call| call.why.as_ref());
        for why in whys {
            calls += 1;
            let which = match (several, worst) {
                (false, _) => String::new(),
                (true, true) => format!(", worst run, seed {}", result.seed),
                (true, false) => format!(", typical run, seed {}", result.seed),
            };
            // Writing to a string does not fail.
            _ = writeln!(text, " {}{which}: {}", result.discipline, why.text);
        }
    }
    if calls == 0 {
        text += " there is no call.\n";
    }
    // Writing to a string does not fail.
    _ = match tried {
        Some(0) => Ok(()),
        Some(runs) => writeln!(
            text,
            " {runs} more runs tried the causes by leaving each out."
        ),
        None => writeln!(
            text,
            " Shares are what packets suggest; the engine sim tries each cause by leaving it out."
        ),
    };
    text
}
