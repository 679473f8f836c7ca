//! Packets of both subflows that left next to each other, and by how much their delays differ.
//!
//! In one queue both wait equally long, whatever the load. With a queue each they do not, once a
//! packet waits. The halves of an interval are looked at apart: after a swap the queue first moves
//! from one subflow to the other, and only the second half shows where it stands.

use units::{Duration, Instant};

/// Packets closer than this to the one before are left out, so that memory is bounded at any rate.
const SPACING: Duration = Duration::from_micros(200);
/// Neighbours left within this part of the interval.
const NEAR: u64 = 8;
/// Median of the absolute difference of two normal values, in standard deviations.
const MEDIAN_OF_DIFFERENCE: f64 = 0.954;

/// One subflow's delays in an interval, by the time of sending.
#[derive(Debug, Clone, Default)]
pub(super) struct SubflowDelays(Vec<(Instant, f64)>);

impl SubflowDelays {
    /// A packet that left at `sent` took `delay`. Those that were sent before one that is known are left
    /// out.
    pub(super) fn add(&mut self, sent: Instant, delay: Duration) {
        let last = self.0.last().map(|&(last, _)| last);
        if last.is_none_or(|last| sent >= last + SPACING) {
            self.0.push((sent, delay.as_millis_f64()));
        }
    }

    /// Forgets them, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The delay at `at`, between the two packets round it, if one of them left within `near`.
    fn at(&self, at: Instant, near: Duration) -> Option<f64> {
        let after = self.0.partition_point(|&(sent, _)| sent <= at);
        let before = self.0.get(after.wrapping_sub(1)).copied();
        let after = self.0.get(after).copied();
        let is_near = |(sent, _): (Instant, f64)| at.since(sent).max(sent.since(at)) <= near;
        if ![before, after].into_iter().flatten().any(is_near) {
            return None;
        }
        match (before, after) {
            (Some((from, first)), Some((to, second))) => {
                let part = at.since(from).as_secs_f64() / to.since(from).as_secs_f64();
                Some(first + (second - first) * part)
            }
            (known, other) => known.or(other).map(|(_, delay)| delay),
        }
    }
}

/// One half of an interval: means over its neighbours, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IntervalHalf {
    /// Pairs of neighbours.
    pub(super) n: u32,
    /// The dominant subflow's delay.
    pub(super) dominant: f64,
    /// The other one's.
    pub(super) lesser: f64,
}

impl IntervalHalf {
    /// By how much the dominant subflow waited longer.
    pub(super) fn difference(&self) -> f64 {
        self.dominant - self.lesser
    }

    fn add(&mut self, dominant: f64, lesser: f64) {
        self.n += 1;
        self.dominant += (dominant - self.dominant) / f64::from(self.n);
        self.lesser += (lesser - self.lesser) / f64::from(self.n);
    }
}

/// The neighbours of an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Neighbours {
    /// Both halves.
    pub(super) halves: [IntervalHalf; 2],
    /// Standard deviation of one pair's difference, milliseconds: by the median step from a pair to
    /// the next, which a queue that grows does not widen.
    pub(super) noise: f64,
}

impl Neighbours {
    /// Those of an interval from `start` on. `scratch` is memory that is used again.
    pub(super) fn of(
        dominant: &SubflowDelays,
        lesser: &SubflowDelays,
        (start, length): (Instant, Duration),
        scratch: &mut Vec<f64>,
    ) -> Self {
        let mut halves = [IntervalHalf::default(); 2];
        let mut last = None;
        scratch.clear();
        for &(sent, delay) in &lesser.0 {
            let Some(other) = dominant.at(sent, length / NEAR) else {
                continue;
            };
            let late = sent.since(start) >= length / 2;
            halves[usize::from(late)].add(other, delay);
            let difference = other - delay;
            scratch.extend(last.map(|last: f64| (difference - last).abs()));
            last = Some(difference);
        }
        Neighbours {
            halves,
            noise: median(scratch) / MEDIAN_OF_DIFFERENCE,
        }
    }
}

/// The median of `values`, or zero if there are none. Their order changes.
pub(super) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        0.0
    } else {
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn delays(of: &[(u64, u64)]) -> SubflowDelays {
        let mut delays = SubflowDelays::default();
        for &(sent, delay) in of {
            delays.add(at(sent), Duration::from_millis(delay));
        }
        delays
    }

    #[test]
    fn a_delay_between_two_packets_is_interpolated() {
        let known = delays(&[(10, 20), (20, 40)]);
        let near = Duration::from_millis(6);
        assert_eq!(known.at(at(15), near), Some(30.0));
        assert_eq!(known.at(at(10), near), Some(20.0));
        assert_eq!(known.at(at(5), near), Some(20.0), "before the first");
        assert_eq!(known.at(at(26), near), Some(40.0), "after the last");
        assert_eq!(known.at(at(27), near), None, "too far");
        assert_eq!(SubflowDelays::default().at(at(0), near), None);
    }

    #[test]
    fn halves_are_taken_apart() {
        // The dominant one waits 2 ms longer in the first half, 6 in the second.
        let dominant = delays(&[(0, 22), (10, 22), (60, 26), (90, 26)]);
        let lesser = delays(&[(5, 20), (8, 20), (70, 20)]);
        let interval = (at(0), Duration::from_millis(100));
        let found = Neighbours::of(&dominant, &lesser, interval, &mut Vec::new());
        let [first, second] = found.halves;
        assert_eq!((first.n, first.difference()), (2, 2.0));
        assert_eq!((second.n, second.difference()), (1, 6.0));
        assert!(
            (found.noise - 4.0 / 0.954).abs() < 1e-9,
            "steps of 0 and 4: {found:?}"
        );
    }

    #[test]
    fn memory_is_bounded_at_any_rate() {
        let mut delays = SubflowDelays::default();
        for ns in 0..1_000_000 {
            delays.add(Instant::from_nanos(50 * ns), Duration::from_millis(1));
        }
        assert_eq!(delays.0.len(), 250, "50 ms");
    }
}
