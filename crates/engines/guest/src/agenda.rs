//! The agenda: entries by due time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Instant;

/// An entry with a due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A traffic entry starts one more of its instances.
    Start(u16),
    /// An application's timer, by its number.
    App(u32),
    /// The timer of an end point.
    End {
        /// The end point's number.
        end: u32,
        /// How often that number had been used before.
        used: u32,
    },
    /// The link's rate changes: which step.
    Rate(u32),
}

/// Equal times come out in the order in which they went in.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<(Instant, u64, Due)>>,
    sequence: u64,
}

impl Agenda {
    /// Notes that `due` is due `at`.
    pub fn push(&mut self, at: Instant, due: Due) {
        self.sequence += 1;
        self.heap.push(Reverse((at, self.sequence, due)));
    }

    /// The next entry due by `now`.
    pub fn pop_until(&mut self, now: Instant) -> Option<Due> {
        let Reverse((at, ..)) = self.heap.peek()?;
        if *at > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, _, due))| due)
    }

    /// The next due time; [`Instant::NEVER`] if there is none.
    pub fn next(&self) -> Instant {
        self.heap
            .peek()
            .map_or(Instant::NEVER, |Reverse((at, ..))| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time_then_of_arrival() {
        let mut agenda = Agenda::default();
        let at = Instant::from_nanos;
        agenda.push(at(5), Due::App(9));
        agenda.push(at(3), Due::Rate(2));
        agenda.push(at(5), Due::Start(3));
        agenda.push(at(9), Due::Rate(4));
        assert_eq!(agenda.next(), at(3));
        let order: Vec<Due> = std::iter::from_fn(|| agenda.pop_until(at(5))).collect();
        assert_eq!(order, [Due::Rate(2), Due::App(9), Due::Start(3)]);
        assert_eq!(agenda.next(), at(9));
    }
}
