//! What one direction of a condition's line can carry, over time.

use link::Capacity;
use units::Duration;

/// A line that carries less than this part of its nominal rate stands still.
const NOTHING: f64 = 0.01;

/// One direction.
#[derive(Debug, Clone)]
pub struct Lane {
    capacity: Capacity,
    still: Vec<(f64, f64)>,
}

impl Lane {
    /// That of a link, for as long as a call takes.
    pub fn new(capacity: &Capacity, seconds: f64) -> Lane {
        Lane {
            capacity: capacity.clone(),
            still: still(capacity, seconds),
        }
    }

    /// From when to when it stands still, in s.
    pub fn still(&self) -> &[(f64, f64)] {
        &self.still
    }

    /// For how long it stands still between two moments, in s.
    pub fn stands(&self, from: f64, until: f64) -> f64 {
        let common = |(start, end): &(f64, f64)| (until.min(*end) - from.max(*start)).max(0.0);
        self.still.iter().map(common).sum()
    }

    /// Bytes that it can carry between two moments; none without a limit.
    pub fn bytes(&self, from: f64, until: f64) -> Option<f64> {
        let [from, until] = [from, until].map(|at| Duration::from_secs_f64(at.max(0.0)));
        let bytes = self.capacity.bytes_between(from, until);
        bytes.is_finite().then_some(bytes)
    }

    /// When it takes another step, in s.
    pub fn steps(&self) -> Vec<f64> {
        let Capacity::Trace(trace) = &self.capacity else {
            return Vec::new();
        };
        if trace.period() != Duration::MAX {
            return Vec::new();
        }
        let ends = trace.pieces().scan(0.0, |at, (_, holds)| {
            *at += holds.as_secs_f64();
            Some(*at)
        });
        // The last one holds for ever.
        let mut ends: Vec<f64> = ends.collect();
        ends.pop();
        ends
    }
}

/// When a capacity is next to nothing, those times together that meet.
fn still(capacity: &Capacity, seconds: f64) -> Vec<(f64, f64)> {
    let Capacity::Trace(trace) = capacity else {
        return Vec::new();
    };
    let pieces: Vec<_> = trace.pieces().collect();
    // Steps may begin with nothing.
    let usual = pieces
        .iter()
        .map(|(rate, _)| rate.as_bits())
        .max()
        .unwrap_or_default();
    let least = NOTHING * trace.nominal().as_bits().max(usual / 100) as f64;
    let (mut at, mut found) = (0.0, Vec::<(f64, f64)>::new());
    for (rate, holds) in pieces.iter().cycle() {
        if at >= seconds {
            break;
        }
        let end = at + holds.as_secs_f64();
        if (rate.as_bits() as f64) < least || rate.as_bits() == 0 {
            match found.last_mut().filter(|last| last.1 == at) {
                Some(last) => last.1 = end,
                None => found.push((at, end)),
            }
        }
        at = end;
    }
    found
        .iter_mut()
        .for_each(|(_, end)| *end = end.min(seconds));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::Trace;
    use std::sync::Arc;
    use units::Rate;

    fn steps(steps: &[(u64, u64)]) -> Lane {
        let steps: Vec<_> = steps
            .iter()
            .map(|&(at, mbit)| (Duration::from_secs(at), Rate::from_bits(mbit * 1_000_000)))
            .collect();
        Lane::new(&Capacity::Trace(Arc::new(Trace::steps(&steps))), 20.0)
    }

    #[test]
    fn a_line_of_steps_stands_still_at_times() {
        let lane = steps(&[(0, 8), (5, 0), (7, 8)]);
        assert_eq!(lane.still(), [(5.0, 7.0)]);
        assert_eq!(lane.steps(), [5.0, 7.0]);
        assert_eq!(lane.stands(6.0, 6.5), 0.5);
        assert_eq!(lane.stands(0.0, 20.0), 2.0);
        assert_eq!(lane.bytes(4.0, 6.0), Some(1e6));
        let to_the_end = steps(&[(0, 8), (15, 0)]);
        assert_eq!(to_the_end.still(), [(15.0, 20.0)]);
    }

    #[test]
    fn others_do_not() {
        let constant = Lane::new(&Capacity::Constant(Rate::from_bits(8_000_000)), 20.0);
        assert_eq!(
            (constant.still(), constant.bytes(0.0, 1.0)),
            (&[][..], Some(1e6))
        );
        let unlimited = Lane::new(&Capacity::Unlimited, 20.0);
        assert_eq!(
            (unlimited.steps().len(), unlimited.bytes(0.0, 1.0)),
            (0, None)
        );
    }

    #[test]
    fn a_trace_that_repeats_stands_still_again() {
        let trace = Trace::parse("0 8\n1 0\n2 8\n").unwrap();
        let lane = Lane::new(&Capacity::Trace(Arc::new(trace)), 6.0);
        assert_eq!(lane.still(), [(1.0, 2.0), (4.0, 5.0)]);
        assert_eq!(lane.steps(), [0.0; 0]);
    }
}
