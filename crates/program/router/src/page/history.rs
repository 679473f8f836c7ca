//! The last ten minutes of a line in one direction, in a bounded memory.

use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a point is kept, in seconds.
const KEPT: u32 = 600;
/// The most points: one a second.
pub const MOST: usize = KEPT as usize;
/// The most that one direction's history takes, in bytes.
pub const BYTES: usize = MOST * size_of::<HistoryPoint>();

/// In place of a wait that is not known.
const UNKNOWN: u32 = u32::MAX;

/// How a line stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HistoryPoint {
    /// Bits a second; zero where nothing shapes.
    rate: u64,
    /// Seconds since the machine started.
    at: u32,
    /// Microseconds.
    wait: u32,
}

/// The course of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History(VecDeque<HistoryPoint>);

/// A history as the document has it: a list for each value.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct HistoryCourse {
    /// When, in seconds since the machine started.
    pub at_s: Vec<u32>,
    /// The shaper's rate; none where nothing shapes.
    pub rate_bps: Vec<Option<u64>>,
    /// How long packets waited, in microseconds; none where that was not known.
    pub wait_us: Vec<Option<u32>>,
}

impl Default for History {
    fn default() -> Self {
        History(VecDeque::with_capacity(MOST))
    }
}

impl History {
    /// Adds how the line stands `at` a time, which is later than the last one; what is older than ten minutes makes room.
    pub fn push(&mut self, at: Duration, rate: Option<u64>, wait: Option<Duration>) {
        let now = u32::try_from(at.as_secs()).unwrap_or(u32::MAX);
        let is_old = |point: &HistoryPoint| now.saturating_sub(point.at) >= KEPT;
        while self.0.front().is_some_and(is_old) || self.0.len() == MOST {
            self.0.pop_front();
        }
        let micros = |wait: Duration| u32::try_from(wait.as_micros()).unwrap_or(UNKNOWN);
        self.0.push_back(HistoryPoint {
            rate: rate.unwrap_or_default(),
            at: now,
            wait: wait.map_or(UNKNOWN, |wait| micros(wait).min(UNKNOWN - 1)),
        });
    }

    /// As the document has it.
    pub fn course(&self) -> HistoryCourse {
        let of = self.0.iter();
        let known = |wait: u32| (wait != UNKNOWN).then_some(wait);
        HistoryCourse {
            at_s: of.clone().map(|point| point.at).collect(),
            rate_bps: of
                .clone()
                .map(|point| (point.rate > 0).then_some(point.rate))
                .collect(),
            wait_us: of.map(|point| known(point.wait)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_ten_minutes_makes_room() {
        let mut history = History::default();
        let room = history.0.capacity();
        for second in 0..1000 {
            history.push(Duration::from_secs(second), Some(1000 + second), None);
        }
        assert_eq!((history.0.len(), history.0.capacity()), (MOST, room));
        let course = history.course();
        assert_eq!((course.at_s[0], course.at_s[MOST - 1]), (400, 999));
        assert_eq!(course.rate_bps[0], Some(1400));
        assert_eq!(BYTES, 9600);
    }

    #[test]
    fn points_that_come_seldom_are_kept_no_longer() {
        let mut history = History::default();
        for second in (0..2000).step_by(5) {
            history.push(Duration::from_secs(second), Some(1), None);
        }
        let course = history.course();
        assert_eq!((course.at_s.len(), course.at_s[0]), (120, 1400));
    }

    #[test]
    fn what_is_not_known_is_none() {
        let mut history = History::default();
        history.push(Duration::from_millis(1700), None, None);
        let long = Duration::from_secs(1 << 40);
        for wait in [Duration::ZERO, Duration::from_millis(3), long] {
            history.push(Duration::from_secs(2), Some(5), Some(wait));
        }
        let expected = HistoryCourse {
            at_s: vec![1, 2, 2, 2],
            rate_bps: vec![None, Some(5), Some(5), Some(5)],
            wait_us: vec![None, Some(0), Some(3000), Some(UNKNOWN - 1)],
        };
        assert_eq!(history.course(), expected);
    }
}
