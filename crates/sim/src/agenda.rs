//! The agenda: entries by due time.

use crate::ring::{Inserted, Ring};
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

/// A queue of things that are due. Those that are due at the same time come out in the order in which
/// they were noted.
///
/// Most entries are packets on wires and the departures of links: those in one lane come out in the
/// order in which they went in. Only the first entries of lanes compete for the next place. The
/// soonest of these are in a short sorted list, which a usual scenario never fills; a heap has the
/// others, and the entries in no lane.
#[derive(Debug, Default)]
pub struct Agenda {
    /// The moment of the last entry that came out.
    now: Instant,
    /// The number of the last entry that was noted.
    noted: u64,
    lanes: Vec<Lane>,
    firsts: Firsts,
    heap: BinaryHeap<Reverse<(Key, LaneId, Due)>>,
}

/// When an entry is due, and a number that decides between equal moments: the nanosecond in which it
/// was noted, and in the lowest bits its order among those of that nanosecond.
/// The moment is in the upper half: one number takes a third of the instructions of a pair.
type Key = u128;

/// Leaves room for thirteen days, twice the longest scenario.
const ORDER_BITS: u32 = 14;

const fn key(at: Instant, number: u64) -> Key {
    (at.as_nanos() as u128) << 64 | number as u128
}

const fn due_at(key: Key) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
}

/// A lane of an [`Agenda`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(u32);

/// No lane.
const NONE: LaneId = LaneId(u32::MAX);

/// The entries of a lane in order; the first of them competes.
type Lane = Ring<Key, Due>;

/// The first entries of some lanes, the soonest last. Below them is a key that is never due.
#[derive(Debug)]
struct Firsts {
    len: usize,
    keys: [(Key, LaneId); FIRSTS],
}

/// A power of two.
const FIRSTS: usize = 16;

impl Firsts {
    fn soonest(&self) -> (Key, LaneId) {
        self.keys[self.len % FIRSTS]
    }

    fn is_full(&self) -> bool {
        self.len + 1 == FIRSTS
    }

    fn insert(&mut self, key: Key, lane: LaneId) {
        self.len += 1;
        let mut place = self.len % FIRSTS;
        // Ends at 0 at the latest, where the greatest key is.
        while let below = self.keys[place.wrapping_sub(1) % FIRSTS]
            && below.0 < key
        {
            self.keys[place] = below;
            place = place.wrapping_sub(1) % FIRSTS;
        }
        self.keys[place] = (key, lane);
    }
}

impl Default for Firsts {
    fn default() -> Self {
        Firsts {
            len: 0,
            keys: [(Key::MAX, NONE); FIRSTS],
        }
    }
}

/// The least number of an entry that is noted at this moment.
const fn number(noted: Instant) -> u64 {
    noted.as_nanos() << ORDER_BITS
}

impl Agenda {
    /// A lane without entries.
    pub fn add_lane(&mut self) -> LaneId {
        self.lanes.push(Lane::default());
        LaneId((self.lanes.len() - 1) as u32)
    }

    #[inline]
    fn next_number(&mut self) -> u64 {
        self.noted = (self.noted + 1).max(number(self.now));
        self.noted
    }

    /// Notes that `due` is due `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, due: Due) {
        let key = key(at, self.next_number());
        self.heap.push(Reverse((key, NONE, due)));
    }

    /// As [`push`](Self::push), for an entry that is nearly always due after the earlier ones in
    /// `lane`.
    #[inline]
    pub fn push_in(&mut self, lane: LaneId, at: Instant, due: Due) {
        let key = key(at, self.next_number());
        self.insert(lane, key, due);
    }

    /// As [`push_in`](Self::push_in), for an entry that counts as noted at a moment to come.
    #[inline]
    pub fn push_later(&mut self, lane: LaneId, noted: Instant, at: Instant, due: Due) {
        self.insert(lane, key(at, number(noted)), due);
    }

    fn insert(&mut self, lane: LaneId, key: Key, due: Due) {
        match self.lanes[lane.0 as usize].insert(key, due) {
            Inserted::First => self.compete(lane, key, due),
            Inserted::Behind => {}
            Inserted::Refused => self.heap.push(Reverse((key, NONE, due))),
        }
    }

    /// The first entry of a lane competes for the next place.
    #[inline]
    fn compete(&mut self, lane: LaneId, key: Key, due: Due) {
        if self.firsts.is_full() {
            return self.heap.push(Reverse((key, lane, due)));
        }
        self.firsts.insert(key, lane);
    }

    /// The next entry, unless that is after `end`.
    #[inline]
    pub fn pop_until(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let (mut key, mut lane) = self.firsts.soonest();
        if self.heap.peek().is_some_and(|other| other.0.0 < key) {
            let (first, from, due) = self.pop_heap(end)?;
            if from == NONE {
                return Some((self.now, due));
            }
            (key, lane) = (first, from);
        } else if due_at(key) > end || lane == NONE {
            return None;
        } else {
            self.firsts.len -= 1;
        }
        self.now = due_at(key);
        let of = &mut self.lanes[lane.0 as usize];
        let (_, due) = of.pop()?;
        if let Some((key, due)) = of.front() {
            self.compete(lane, key, due);
        }
        Some((self.now, due))
    }

    #[inline(never)]
    fn pop_heap(&mut self, end: Instant) -> Option<(Key, LaneId, Due)> {
        let first = self.heap.peek_mut()?;
        let at = due_at(first.0.0);
        if at > end {
            return None;
        }
        self.now = at;
        Some(PeekMut::pop(first).0)
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
