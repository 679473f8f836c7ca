//! The agenda: entries by due time.

use crate::ring::Ring;
use crate::tournament::{ABSENT, Key, Tournament};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
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
/// Most entries are packets on wires and the departures of links: those in one lane come out in the
/// order in which they went in. Only the first entries of lanes compete for the next place, with the
/// first of the others, which are sorted by a heap.
#[derive(Debug, Default)]
pub struct Agenda {
    sequence: u64,
    lanes: Vec<Lane>,
    /// The keys of the first entries of lanes.
    firsts: Tournament,
    /// Entries in no lane.
    heap: BinaryHeap<Reverse<Entry>>,
}

/// Bits of a key's number for the lane: entries come out by moment and then in the order of
/// insertion, which has the bits above. A run of 2^40 entries takes days.
const LANE_BITS: u32 = 24;

const fn key(at: Instant, sequence: u64, lane: usize) -> Key {
    (at.as_nanos(), sequence << LANE_BITS | lane as u64)
}

const fn lane_of(key: Key) -> usize {
    key.1 as usize & ((1 << LANE_BITS) - 1)
}

const fn due_at(key: Key) -> Instant {
    Instant::from_nanos(key.0)
}

/// Ordered by key; no two have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: Key,
    due: Due,
}

/// A lane of an [`Agenda`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(u32);

#[derive(Debug, Default)]
struct Lane {
    /// When the last entry so far is due.
    last: Instant,
    waiting: Ring<Entry>,
}

impl Agenda {
    /// A lane without entries.
    pub fn add_lane(&mut self) -> LaneId {
        self.lanes.push(Lane::default());
        self.firsts.reserve(self.lanes.len());
        LaneId((self.lanes.len() - 1) as u32)
    }

    /// Notes that `due` is due `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, due: Due) {
        self.sequence += 1;
        let key = key(at, self.sequence, 0);
        self.heap.push(Reverse(Entry { key, due }));
    }

    /// As [`push`](Self::push), for an entry that is nearly always due after the earlier ones in
    /// `lane`.
    #[inline]
    pub fn push_in(&mut self, lane: LaneId, at: Instant, due: Due) {
        let place = lane.0 as usize;
        let of = &mut self.lanes[place];
        if at < of.last || place >> LANE_BITS != 0 {
            return self.push(at, due);
        }
        of.last = at;
        self.sequence += 1;
        let key = key(at, self.sequence, place);
        if of.waiting.is_empty() {
            self.firsts.lower(place, key);
        }
        of.waiting.push(Entry { key, due });
    }

    /// The next entry, unless that is after `end`.
    #[inline]
    pub fn pop_until(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let key = self.firsts.least();
        if self
            .heap
            .peek()
            .is_some_and(|Reverse(other)| other.key < key)
        {
            return self.pop_other(end);
        }
        let at = due_at(key);
        if key == ABSENT || at > end {
            return None;
        }
        let place = lane_of(key);
        let lane = &mut self.lanes[place];
        let (entry, next) = lane.waiting.pop()?;
        self.firsts.set(place, next.map_or(ABSENT, |next| next.key));
        Some((at, entry.due))
    }

    /// The next entry of those in no lane.
    fn pop_other(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let first = self.heap.peek_mut()?;
        let at = due_at(first.0.key);
        if at > end {
            return None;
        }
        let Reverse(entry) = PeekMut::pop(first);
        Some((at, entry.due))
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
