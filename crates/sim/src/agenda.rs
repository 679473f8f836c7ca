//! The agenda: entries by due time.

use std::cmp::{Ordering, Reverse};
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use units::Instant;

/// An entry with a due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A packet reaches the queue of its next link.
    Arrive(u32),
    /// A packet reaches its end point.
    Deliver(u32),
    /// A link has sent its packet.
    Sent(u16),
    /// A queue has to be asked again.
    Wake(u16),
    /// An end point's timer.
    Timer {
        /// The end point's number.
        end: u32,
        /// How often that number had been used before.
        generation: u16,
    },
    /// An application's timer, by its number.
    App(u32),
    /// A traffic entry starts one more of its instances.
    Start(u16),
    /// A traffic entry takes another path.
    Move {
        /// The entry.
        entry: u16,
        /// Which of its paths.
        step: u16,
    },
}

/// A queue of things that are due. Equal times come out in the order in which they went in.
///
/// Most entries are packets on wires, and those on one wire arrive in the order in which they left.
/// They stand in lanes; only the first entry of a lane takes part in the sorting.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    lanes: Vec<Lane>,
}

/// Ordered by time, then by number. No two have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    at: Instant,
    sequence: u64,
    due: Due,
    /// The lane whose next entry follows this one.
    lane: Option<LaneId>,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A lane of an [`Agenda`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(u32);

#[derive(Debug, Default)]
struct Lane {
    /// When the last entry so far is due.
    last: Instant,
    /// The first entry stands in the heap.
    occupied: bool,
    /// The others.
    waiting: VecDeque<Entry>,
}

impl Agenda {
    /// A lane without entries.
    pub fn add_lane(&mut self) -> LaneId {
        self.lanes.push(Lane::default());
        LaneId((self.lanes.len() - 1) as u32)
    }

    /// Notes that `due` is due `at`.
    pub fn push(&mut self, at: Instant, due: Due) {
        let entry = self.entry(at, due, None);
        self.heap.push(Reverse(entry));
    }

    /// As [`push`](Self::push), for an entry that is nearly always due after the earlier ones in
    /// `lane`.
    pub fn push_in(&mut self, lane: LaneId, at: Instant, due: Due) {
        let entry = self.entry(at, due, Some(lane));
        let lane = &mut self.lanes[lane.0 as usize];
        if at < lane.last {
            self.heap.push(Reverse(Entry {
                lane: None,
                ..entry
            }));
            return;
        }
        lane.last = at;
        if lane.occupied {
            lane.waiting.push_back(entry);
        } else {
            lane.occupied = true;
            self.heap.push(Reverse(entry));
        }
    }

    fn entry(&mut self, at: Instant, due: Due, lane: Option<LaneId>) -> Entry {
        self.sequence += 1;
        Entry {
            at,
            sequence: self.sequence,
            due,
            lane,
        }
    }

    /// The next entry, unless that is after `end`.
    pub fn pop_until(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let mut first = self.heap.peek_mut()?;
        let Reverse(Entry { at, due, lane, .. }) = *first;
        if at > end {
            return None;
        }
        let lane = lane.map(|lane| &mut self.lanes[lane.0 as usize]);
        match lane.map(|lane| (lane.waiting.pop_front(), lane)) {
            Some((Some(next), _)) => *first = Reverse(next),
            Some((None, lane)) => {
                lane.occupied = false;
                PeekMut::pop(first);
            }
            None => {
                PeekMut::pop(first);
            }
        }
        Some((at, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn in_order_of_time_then_of_arrival() {
        let mut agenda = Agenda::default();
        let at = Instant::from_nanos;
        agenda.push(at(5), Due::App(1));
        agenda.push(at(3), Due::App(2));
        agenda.push(at(5), Due::Deliver(3));
        agenda.push(at(9), Due::App(4));
        let order: Vec<Due> = std::iter::from_fn(|| agenda.pop_until(at(5)))
            .map(|(_, due)| due)
            .collect();
        assert_eq!(order, [Due::App(2), Due::App(1), Due::Deliver(3)]);
    }

    proptest! {
        /// Lanes have no effect on the order: entries come out by time, and at equal times in the
        /// order of insertion.
        #[test]
        fn lanes_keep_the_order(
            entries in proptest::collection::vec((0u64..20, 0u32..4, 0u32..3), 1..100),
        ) {
            let mut agenda = Agenda::default();
            let lanes = [agenda.add_lane(), agenda.add_lane(), agenda.add_lane()];
            let (mut now, mut noted, mut order) = (0, Vec::new(), Vec::new());
            for (number, (later, lane, pops)) in (0..).zip(entries) {
                let at = Instant::from_nanos(now + later);
                match lanes.get(lane as usize) {
                    Some(&lane) => agenda.push_in(lane, at, Due::App(number)),
                    None => agenda.push(at, Due::App(number)),
                }
                noted.push((at, number));
                for _ in 0..pops {
                    let Some((at, due)) = agenda.pop_until(Instant::NEVER) else {
                        break;
                    };
                    now = at.as_nanos();
                    let (first, &expected) = noted.iter().enumerate().min_by_key(|e| e.1).unwrap();
                    noted.remove(first);
                    prop_assert_eq!((at, due), (expected.0, Due::App(expected.1)));
                    order.push(at);
                }
            }
            noted.sort_unstable();
            let rest = std::iter::from_fn(|| agenda.pop_until(Instant::NEVER));
            let noted = noted.into_iter().map(|(at, number)| (at, Due::App(number)));
            prop_assert!(rest.eq(noted));
            prop_assert!(order.is_sorted());
        }
    }
}
