//! What is due when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Instant;

/// Something that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A packet reaches the queue of its next link.
    Arrive(u32),
    /// A packet reaches its end point.
    Deliver(u32),
    /// A link has sent its packet.
    Sent(u16),
    /// A queue wants to be asked again.
    Wake(u16),
    /// An end point's timer.
    Timer(u32),
    /// An application's timer, by its place in the table of timers.
    App(u32),
    /// A traffic entry starts one more of its instances.
    Start(u16),
    /// A call's encoder takes its turn.
    Frame(u16),
}

/// A queue of things that are due. Equal times come out in the order in which they went in.
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

    /// What is due next, unless that is after `end`.
    pub fn pop_until(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let &Reverse((at, _, due)) = self.heap.peek()?;
        if at > end {
            return None;
        }
        self.heap.pop();
        Some((at, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time_then_of_arrival() {
        let mut agenda = Agenda::default();
        let at = Instant::from_nanos;
        agenda.push(at(5), Due::Timer(1));
        agenda.push(at(3), Due::Timer(2));
        agenda.push(at(5), Due::Deliver(3));
        agenda.push(at(9), Due::Timer(4));
        let order: Vec<Due> = std::iter::from_fn(|| agenda.pop_until(at(5)))
            .map(|(_, due)| due)
            .collect();
        assert_eq!(order, [Due::Timer(2), Due::Timer(1), Due::Deliver(3)]);
    }
}
