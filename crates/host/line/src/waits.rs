//! How long packets waited, from times of handshakes and requests.

use crate::course::Course;
use crate::direction::{Loaded, Sample, TimeKind};
use serde::Serialize;

/// How long TCP waits for an answer to its first packet, in ms.
const RETRY: f64 = 1e3;
/// Handshakes within so much time wait about as long, in ms.
const NEAR: f64 = 1500.0;

/// Waits beyond those of the idle line, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Waits {
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
}

impl Waits {
    /// Those of `times` beyond `least`, both in ms; none without a time.
    pub(crate) fn of(times: &[f64], least: f64) -> Option<Self> {
        let sorted = sorted(times);
        let last = sorted.len().checked_sub(1)?;
        let at = |part: f64| sorted[((sorted.len() as f64 * part) as usize).min(last)];
        Some(Waits {
            median: (at(0.5) - least).max(0.0),
            p95: (at(0.95) - least).max(0.0),
        })
    }
}

pub(crate) fn sorted(times: &[f64]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Handshakes since `from` ms that passed without a loss: one whose first packet is lost takes a second longer
/// (RFC 6298, 2.1) than those about it, and tells of no queue.
pub(crate) fn passed(loaded: &Loaded, from: f64) -> Vec<Sample> {
    let handshakes: Vec<Sample> = loaded.of(TimeKind::Tcp, from).copied().collect();
    let about = |at: f64| {
        let near = handshakes
            .iter()
            .filter(|other| (other.at - at).abs() <= NEAR);
        let near = sorted(&near.map(|other| other.ms).collect::<Vec<_>>());
        // Half of all may be lost.
        near[near.len() / 4]
    };
    let waited = |it: &&Sample| it.ms < RETRY || it.ms - about(it.at) < 0.7 * RETRY;
    handshakes.iter().filter(waited).copied().collect()
}

/// The times of samples, in ms.
pub(crate) fn times(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.ms).collect()
}

/// A queue's length by time, in bytes of the load: that of the longer of two handshakes, one before and one after.
///
/// What came while a packet waited is what was before it, however the line's rate varies.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// Moment in ms, and length.
    marks: Vec<(f64, f64)>,
}

impl Lengths {
    /// Those that `passed` handshakes found, which take `least` ms without a queue, of a load with this `course`.
    pub(crate) fn of(passed: &[Sample], least: f64, course: &Course) -> Self {
        let length =
            |one: &Sample| course.by(one.at) - course.by(one.at - (one.ms - least).max(0.0));
        let lengths = passed.iter().map(|one| (one.at, length(one)));
        let mut marks: Vec<(f64, f64)> = lengths.collect();
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        Lengths { marks }
    }

    /// The length at `at` ms; none without a handshake.
    pub(crate) fn by(&self, at: f64) -> Option<f64> {
        let next = self.marks.partition_point(|mark| mark.0 < at);
        let about = &self.marks[next.saturating_sub(1)..self.marks.len().min(next + 1)];
        about.iter().map(|mark| mark.1).reduce(f64::max)
    }

    /// That of a full queue since `from` ms: the 95th percentile.
    pub(crate) fn full(&self, from: f64) -> f64 {
        let since = self.marks.iter().filter(|mark| mark.0 >= from);
        let lengths: Vec<f64> = since.map(|mark| mark.1).collect();
        Waits::of(&lengths, 0.0).map_or(0.0, |lengths| lengths.p95)
    }

    /// The longest but one since the load began: one may be the host's.
    pub(crate) fn longest(&self) -> Option<f64> {
        let lengths: Vec<f64> = self.marks.iter().map(|mark| mark.1).collect();
        let sorted = sorted(&lengths);
        sorted.len().checked_sub(2).map(|longest| sorted[longest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_what_came_while_the_longer_of_its_neighbours_waited() {
        let kind = TimeKind::Tcp;
        let samples = [(200.0, 60.0), (100.0, 30.0), (300.0, 40.0)];
        let samples = samples.map(|(at, ms)| Sample { kind, at, ms });
        let mut course = Course::default();
        // A kB each ms, and twice as much from 250 ms on.
        for (at, kb) in [(250.0, 250), (350.0, 450)] {
            course.push(at, kb * 1000);
        }
        let lengths = Lengths::of(&samples, 20.0, &course);
        let by = [50.0, 150.0, 250.0, 900.0].map(|at| lengths.by(at).map(f64::round));
        assert_eq!(by, [10e3, 40e3, 40e3, 40e3].map(Some));
        assert_eq!(lengths.longest().map(f64::round), Some(40e3));
        assert_eq!(lengths.full(0.0).round(), 40e3);
        let none = Lengths::of(&[], 0.0, &course);
        assert_eq!(
            (none.by(1.0), none.longest(), none.full(0.0)),
            (None, None, 0.0)
        );
    }
}
