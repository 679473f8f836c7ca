//! Causes of stalls, tried: the run again on other seeds, with and without what is named.
//!
//! A share of the stall that the packets suggest is a suspicion. What disappears when its cause is left out
//! is the share of the cause. Seeds are others than those of the runs that raised the suspicion, so that
//! nothing is confirmed by the chance that named it.

mod left_out;

pub use left_out::LeftOut;

use crate::{Error, Job, Progress, run};
use measure::why::{CauseShare, Tried, Why};
use measure::{Engine, RunResult, interval};
use std::sync::Arc;

/// A suspicion of at least this share of the stall is tried.
const TRIED: f64 = 0.2;
/// What takes at least this share of the stall away by itself explains it.
const EXPLAINS: f64 = 0.5;
/// What takes less than this share of its suspicion away is not a cause.
const KEPT: f64 = 0.5;
/// What takes less of the stall away than this is none of its causes.
const LEAST: f64 = 0.1;
/// Runs to begin with; and all, if the call stalls in few of those.
const RUNS: u64 = 6;
const MOST_RUNS: u64 = 24;
/// With a stall in fewer runs, and in none without something, that may be chance: of 24 and 24 with a
/// probability of 0.11 for four, 0.05 for five (R. A. Fisher's exact test, two-sided).
const STALLING: usize = 5;
/// Of the things of a scenario, so many are tried in pairs if none explains the stall alone.
const PARTS: usize = 4;
/// Confidence of intervals.
const LEVEL: f64 = 0.95;

/// The runs of one job with other seeds, with different things left out.
pub struct Trials<'a> {
    engine: &'a dyn Engine,
    progress: &'a dyn Progress,
    job: &'a Job,
    /// The first seed that no run before had, and how many are taken.
    seeds: (u64, u64),
    done: Vec<Done>,
}

/// Runs without something.
struct Done {
    /// What, and for which call where that matters.
    without: Option<(LeftOut, String)>,
    results: Vec<RunResult>,
}

impl<'a> Trials<'a> {
    /// Runs of `job`, with seeds from `first` on.
    pub fn new(
        engine: &'a dyn Engine,
        progress: &'a dyn Progress,
        job: &'a Job,
        first: u64,
    ) -> Self {
        Trials {
            engine,
            progress,
            job,
            seeds: (first, RUNS),
            done: Vec::new(),
        }
    }

    /// Runs that were made.
    pub fn made(&self) -> usize {
        self.done.iter().map(|of| of.results.len()).sum()
    }

    /// Tries the causes of why `call`, whose control is `control`, stalled. Those that do not change the
    /// stall are refuted; if none explains it, whatever else the scenario has is tried.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn judge(&mut self, why: &mut Why, call: &str, control: &str) -> Result<(), Error> {
        if why.causes.is_empty() {
            return Ok(());
        }
        let with = self.baseline(call)?;
        if stalling(&with) < STALLING {
            why.rare = true;
            why.tell(call, control);
            return Ok(());
        }
        let mut known = Vec::new();
        let (mut confirmed, mut refuted, mut small) = (Vec::new(), Vec::new(), Vec::new());
        for share in core::mem::take(&mut why.causes) {
            if share.share < TRIED {
                small.push(share);
                continue;
            }
            let enough = (share.share * KEPT).max(LEAST);
            let tries = LeftOut::of(&share.cause, &self.job.scenario);
            let tried = self.first_that(tries, enough, (call, &with), &mut known)?;
            let share = CauseShare { tried, ..share };
            if share.tried.as_ref().is_some_and(|of| holds(of, enough)) {
                add(&mut confirmed, share)
            } else {
                refuted.push(share)
            }
        }
        if !confirmed.iter().any(|of| weight(of) >= EXPLAINS) {
            confirmed.extend(self.search(call, &with, &mut known)?);
        }
        if !confirmed.iter().any(|of| gone(of) >= EXPLAINS) {
            confirmed.extend(self.pair(call, &with)?);
        }
        // Equal ones stay in the order of what the packets suggest.
        confirmed.sort_by_key(|of| core::cmp::Reverse((weight(of) * 20.0).round() as i64));
        (why.causes, why.refuted) = (confirmed, refuted);
        why.causes.extend(small);
        why.tell(call, control);
        Ok(())
    }

    /// The stall of `call` with everything, by seed.
    fn baseline(&mut self, call: &str) -> Result<Vec<f64>, Error> {
        let with = self.stalls(None, call)?.unwrap_or_default();
        if stalling(&with) >= STALLING || self.seeds.1 == MOST_RUNS {
            return Ok(with);
        }
        self.seeds.1 = MOST_RUNS;
        Ok(self.stalls(None, call)?.unwrap_or_default())
    }

    /// The first of `tries` that takes away `enough`, or else the one that takes away most.
    fn first_that(
        &mut self,
        tries: Vec<LeftOut>,
        enough: f64,
        (call, with): (&str, &[f64]),
        known: &mut Vec<LeftOut>,
    ) -> Result<Option<Tried>, Error> {
        let mut best: Option<Tried> = None;
        for left_out in tries {
            let Some(tried) = self.tried(&left_out, call, with)? else {
                continue;
            };
            known.push(left_out);
            let found = holds(&tried, enough);
            if best.as_ref().is_none_or(|best| tried.gone > best.gone) {
                best = Some(tried);
            }
            if found {
                break;
            }
        }
        Ok(best)
    }

    /// What explains the stall among all that the scenario has and that is not `known` yet. That the link
    /// is no faster is an explanation only if there is no other.
    fn search(
        &mut self,
        call: &str,
        with: &[f64],
        known: &mut Vec<LeftOut>,
    ) -> Result<Vec<CauseShare>, Error> {
        let all = LeftOut::all(&self.job.scenario, call);
        let (shortage, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(left_out, _)| matches!(left_out, LeftOut::Shortage(_)));
        let mut found = Vec::new();
        for group in [others, shortage] {
            for (left_out, cause) in group {
                if known.contains(&left_out) {
                    continue;
                }
                known.push(left_out.clone());
                let tried = self.tried(&left_out, call, with)?;
                if tried.as_ref().is_some_and(|tried| holds(tried, LEAST)) {
                    found.push(CauseShare {
                        stall_s: 0.0,
                        share: 0.0,
                        cause,
                        tried,
                    });
                }
            }
            if found.iter().any(|of| gone(of) >= EXPLAINS) {
                break;
            }
        }
        Ok(found)
    }

    /// Two things that explain the stall together where neither does alone, since each suffices for it.
    fn pair(&mut self, call: &str, with: &[f64]) -> Result<Option<CauseShare>, Error> {
        let mut parts = Vec::new();
        for (left_out, cause) in LeftOut::all(&self.job.scenario, call) {
            if !matches!(left_out, LeftOut::Shortage(_))
                && let Some(tried) = self.tried(&left_out, call, with)?
            {
                parts.push((tried.gone, left_out, cause));
            }
        }
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        parts.truncate(PARTS);
        for (place, (_, first, cause)) in parts.iter().enumerate() {
            for (_, second, _) in &parts[place + 1..] {
                let both = LeftOut::Together(vec![first.clone(), second.clone()]);
                let tried = self.tried(&both, call, with)?;
                if tried.as_ref().is_some_and(|of| holds(of, EXPLAINS)) {
                    return Ok(Some(CauseShare {
                        stall_s: 0.0,
                        share: 0.0,
                        cause: cause.clone(),
                        tried,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// What happens to the stall of `call` without something; none if there is no such thing.
    fn tried(
        &mut self,
        left_out: &LeftOut,
        call: &str,
        with: &[f64],
    ) -> Result<Option<Tried>, Error> {
        let without = self.stalls(Some(left_out), call)?;
        Ok(without.map(|without| compared(left_out, with, &without)))
    }

    /// The stall of `call` in each run; none if there is nothing to leave out.
    fn stalls(
        &mut self,
        left_out: Option<&LeftOut>,
        call: &str,
    ) -> Result<Option<Vec<f64>>, Error> {
        let of_call = match left_out {
            Some(LeftOut::Access | LeftOut::Distance | LeftOut::Together(_)) => call,
            _ => "",
        };
        let key = left_out.map(|left_out| (left_out.clone(), of_call.to_owned()));
        let (first, count) = self.seeds;
        let known = self.done.iter().position(|of| of.without == key);
        let before = known.map_or(0, |place| self.done[place].results.len() as u64);
        if before < count {
            let scenario = match left_out {
                None => self.job.scenario.clone(),
                Some(left_out) => match left_out.apply(&self.job.scenario, call) {
                    Some(changed) => Arc::new(changed),
                    None => return Ok(None),
                },
            };
            let jobs: Vec<Job> = (before..count)
                .map(|number| self.job.again(scenario.clone(), first.wrapping_add(number)))
                .collect();
            // A changed scenario has no key, so that no store keeps its result.
            let made = run(self.engine, &jobs, None, self.progress)?;
            match known {
                Some(place) => self.done[place].results.extend(made),
                None => self.done.push(Done {
                    without: key.clone(),
                    results: made,
                }),
            }
        }
        let done = self.done.iter().find(|of| of.without == key);
        let of_call = |result: &RunResult| {
            let of = result.calls.iter().find(|of| of.name == call);
            of.map_or(0.0, |of| of.stall_s)
        };
        Ok(done.map(|done| {
            let results = done.results.iter().take(count as usize);
            results.map(of_call).collect()
        }))
    }
}

/// Adds a cause to those that were confirmed by leaving out the same.
fn add(confirmed: &mut Vec<CauseShare>, share: CauseShare) {
    let name = |of: &CauseShare| of.tried.as_ref().map(|tried| tried.left_out.clone());
    match confirmed.iter_mut().find(|of| name(of) == name(&share)) {
        Some(same) => {
            same.stall_s += share.stall_s;
            same.share += share.share;
        }
        None => confirmed.push(share),
    }
}

/// Runs with a stall.
fn stalling(stalls: &[f64]) -> usize {
    stalls.iter().filter(|stall| **stall > 0.0).count()
}

/// Whether enough of the stall is gone, and not by chance.
fn holds(tried: &Tried, enough: f64) -> bool {
    tried.gone >= enough && tried.ci95.is_some_and(|[low, _]| low > 0.0)
}

/// The share of the stall that is gone without a cause.
fn gone(share: &CauseShare) -> f64 {
    share.tried.as_ref().map_or(0.0, |tried| tried.gone)
}

/// The same, to compare causes: on an endless link nothing waits, whatever fills a queue, so that it
/// explains a stall only if nothing else does.
fn weight(share: &CauseShare) -> f64 {
    let of_link = share.tried.as_ref().is_some_and(|tried| tried.is_capacity);
    gone(share) * if of_link { 0.49 } else { 1.0 }
}

/// The share of the stall that is gone, and its interval: that of a ratio of two means, from the
/// residuals of each pair of runs (W. G. Cochran, Sampling Techniques, 1977, 6.4).
fn compared(left_out: &LeftOut, with: &[f64], without: &[f64]) -> Tried {
    let [mean, rest] = [with, without].map(interval::mean);
    let ratio = rest / mean;
    let n = with.len() as f64;
    let pairs = with.iter().zip(without);
    let squares: f64 = pairs
        .map(|(with, without)| without - ratio * with)
        .map(|residual| residual * residual)
        .sum();
    let error = libm::sqrt(squares / (n * (n - 1.0))) / mean;
    let reach = interval::quantile_of_t(with.len() - 1, LEVEL) * error;
    let gone = 1.0 - ratio;
    Tried {
        left_out: left_out.to_string(),
        is_capacity: matches!(left_out, LeftOut::Shortage(_)),
        runs: with.len() as u64,
        with_s: mean,
        without_s: rest,
        gone,
        ci95: Some([gone - reach, (gone + reach).min(1.0)]).filter(|_| reach.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(with: &[f64], without: &[f64]) -> Tried {
        compared(&LeftOut::Access, with, without)
    }

    #[test]
    fn the_interval_is_that_of_a_ratio_of_means() {
        // The ratio is 0.5, and the residuals are 0.5, -0.5, 0.5 and -0.5.
        let tried = gone(&[1.0, 3.0, 1.0, 3.0], &[1.0, 1.0, 1.0, 1.0]);
        assert!((tried.gone - 0.5).abs() < 1e-12);
        let error = (1.0_f64 / 12.0).sqrt() / 2.0;
        let reach = 3.182 * error;
        let [low, high] = tried.ci95.unwrap();
        assert!((low - (0.5 - reach)).abs() < 1e-3, "{low}");
        assert!((high - (0.5 + reach)).abs() < 1e-3, "{high}");
        assert!(holds(&tried, 0.4) && !holds(&tried, 0.6));
    }

    #[test]
    fn what_may_be_chance_does_not_hold() {
        let tried = gone(&[3.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0]);
        assert!(tried.gone > 0.6 && !holds(&tried, 0.1), "{tried:?}");
    }
}
