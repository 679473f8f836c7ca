//! Whether this host lets ordinary programs run when they want to: a link has its times as a real-time thread while an
//! application beside it waits for a processor.

use super::seconds;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// How often it looks.
const OFTEN: Duration = Duration::from_millis(5);
/// Of a hundred wakes one may be so late, in s: a third of the time between two frames.
const MOST: f64 = 0.01;
const OF: usize = 100;

/// A thread that wakes often, until it is asked.
pub struct Host {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<f64>>>,
}

impl Host {
    /// From now on.
    pub fn watch() -> Host {
        let over = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&over);
        let thread = spawn(move || {
            let mut late = Vec::new();
            while !theirs.load(Relaxed) {
                let before = seconds();
                sleep(OFTEN);
                late.push(seconds() - before - OFTEN.as_secs_f64());
            }
            late
        });
        Host {
            over,
            thread: Some(thread),
        }
    }

    /// Why what ran until now is not to be believed; none if it is.
    pub fn doubt(mut self) -> Option<String> {
        self.over.store(true, Relaxed);
        let late = self.thread.take().and_then(|thread| thread.join().ok());
        doubt(late.unwrap_or_default())
    }
}

fn doubt(mut late: Vec<f64>) -> Option<String> {
    late.sort_by(f64::total_cmp);
    let one = late[late.len() - late.len().div_ceil(OF).min(late.len())..].first()?;
    (*one > MOST).then(|| {
        format!(
            "this host was too slow: of {OF} times one program waited {:.0} ms for a processor, where {:.0} ms are the most",
            1e3 * one,
            1e3 * MOST
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_hundred_may_be_late() {
        let late = |count: usize| {
            let times = (0..200).map(|number| if number < count { 0.05 } else { 0.0001 });
            doubt(times.collect())
        };
        assert_eq!(late(1), None);
        assert!(late(2).unwrap().contains("waited 50 ms"));
        assert_eq!(doubt(Vec::new()), None);
    }
}
