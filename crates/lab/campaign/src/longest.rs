//! The order in which jobs are made: the longest first, so that all processors are busy to the end.

use crate::Error;
use crate::job::Job;
use rayon::prelude::*;
use std::cmp::Reverse;
use units::Duration;

/// About how long a job takes, in bytes that its links could carry.
fn length(job: &Job) -> u64 {
    let until = job.scenario.duration;
    let capacities = job.scenario.links.iter().flat_map(|link| {
        let up = link.up.as_ref().map(|up| &up.capacity);
        std::iter::once(&link.capacity).chain(up)
    });
    capacities
        .map(|capacity| capacity.bytes_between(Duration::ZERO, until) as u64)
        .fold(0, u64::saturating_add)
}

/// Calls `make` with each of `items`, whose jobs `of` gives, the longest first; each thread takes the
/// next when it is done with one. Items of one length keep their order.
///
/// # Errors
/// The first error in the order of `items`. All others have been made.
pub fn longest_first<I: Send>(
    items: Vec<I>,
    of: impl Fn(&I) -> &Job,
    make: impl Fn(I) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let mut placed: Vec<(usize, I)> = items.into_iter().enumerate().collect();
    placed.sort_by_cached_key(|(_, item)| Reverse(length(of(item))));
    let failed = placed
        .into_iter()
        .par_bridge()
        .filter_map(|(place, item)| Some((place, make(item).err()?)));
    let first = failed.min_by_key(|(place, _)| *place);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};
    use std::sync::{Arc, Mutex};

    fn job(duration: &str, rate: &str, seed: u64) -> Job {
        let text = format!(
            "name = \"small\"\nduration = \"{duration}\"\ndisciplines = [\"pfifo\"]\n\
             [link]\nrate = \"{rate}\"\nrtt = \"40ms\"\nbuffer = \"100p\"\n\
             [[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\n"
        );
        let document = Document::parse("small.toml", &text).unwrap();
        Job {
            case: "pfifo".to_owned(),
            scenario: Arc::new(document.resolve(&AnyNames::default()).unwrap()),
            discipline: "pfifo".parse().unwrap(),
            seed,
            variant: Default::default(),
            series: false,
            listener: None,
            written: Default::default(),
        }
    }

    /// The seeds in the order in which one thread makes their jobs, and the outcome where those of
    /// `failing` fail.
    fn made(jobs: &[Job], failing: &[u64]) -> (Vec<u64>, Result<(), Error>) {
        let order = Mutex::new(Vec::new());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        let made = pool.build().unwrap().install(|| {
            longest_first(
                jobs.iter().collect(),
                |job| job,
                |job: &Job| {
                    order.lock().unwrap().push(job.seed);
                    if failing.contains(&job.seed) {
                        Err(Error::Wrong(units::Refusal::new(job.seed.to_string())))
                    } else {
                        Ok(())
                    }
                },
            )
        });
        (order.into_inner().unwrap(), made)
    }

    #[test]
    fn long_and_fast_ones_come_first_and_equal_ones_keep_their_order() {
        let jobs = [
            job("10s", "10mbit", 1),
            job("10s", "100mbit", 2),
            job("10s", "10mbit", 3),
            job("60s", "10mbit", 4),
        ];
        assert_eq!(made(&jobs, &[]).0, [2, 4, 1, 3]);
    }

    #[test]
    fn the_first_error_in_the_order_of_the_jobs_is_returned_and_all_are_made() {
        let jobs = [
            job("10s", "10mbit", 1),
            job("60s", "10mbit", 2),
            job("20s", "10mbit", 3),
        ];
        let (order, outcome) = made(&jobs, &[2, 3]);
        assert_eq!(order, [2, 3, 1]);
        assert_eq!(outcome.unwrap_err().to_string(), "2");
    }
}
