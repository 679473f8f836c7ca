//! The agenda: entries by due time.

use crate::ring::Ring;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use units::Instant;

/// What is due: its kind, and up to two numbers. In one word, which is moved in one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due(u64);

/// Kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum DueKind {
    /// There is nothing.
    Nothing,
    /// The packet with this number reaches the queue of its next link.
    Arrive,
    /// The packet with this number reaches its end point.
    Deliver,
    /// The link with this small number has sent its packet.
    Sent,
    /// The queue with this small number has to be asked again.
    Wake,
    /// A timer of the end point with this number, which had been used so often before as the small
    /// number says.
    Timer,
    /// An application's timer, by its number.
    App,
    /// The traffic entry with this small number starts one more of its instances.
    Start,
    /// The traffic entry with this small number takes another path: that of this number.
    Move,
    /// The controllers of followed links are asked.
    Follow,
    /// Senders are looked at.
    Look,
}

impl Due {
    const NOTHING: Due = Due(0);

    /// What is due, with its numbers.
    pub const fn new(kind: DueKind, small: u16, number: u32) -> Self {
        Due((number as u64) << 32 | (small as u64) << 16 | kind as u64)
    }

    /// A packet's step.
    pub const fn packet(kind: DueKind, packet: u32) -> Self {
        Due::new(kind, 0, packet)
    }

    /// A link's.
    pub const fn link(kind: DueKind, link: u16) -> Self {
        Due::new(kind, link, 0)
    }

    /// Its kind.
    #[inline]
    pub const fn kind(self) -> DueKind {
        match self.0 as u16 {
            0 => DueKind::Nothing,
            1 => DueKind::Arrive,
            2 => DueKind::Deliver,
            3 => DueKind::Sent,
            4 => DueKind::Wake,
            5 => DueKind::Timer,
            6 => DueKind::App,
            7 => DueKind::Start,
            8 => DueKind::Move,
            9 => DueKind::Follow,
            _ => DueKind::Look,
        }
    }

    /// Its small number.
    #[inline]
    pub const fn small(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Its number.
    #[inline]
    pub const fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A queue of things that are due. Those that are due at the same time come out in the order in which
/// they were noted.
///
/// Most entries are packets on wires and the departures of links: those in one lane come out in the
/// order in which they went in, or nearly so. Only the first entry of each lane competes for the next
/// place. These are in a short sorted list, which a usual scenario never fills; a heap has those that
/// it has no room for, and the entries in no lane.
#[derive(Debug, Default)]
pub struct Agenda {
    /// The moment of the last entry that came out.
    now: Instant,
    /// The number of the last entry that was noted.
    noted: u64,
    lanes: Vec<AgendaLane>,
    firsts: Firsts,
    heap: BinaryHeap<Reverse<(Key, Due)>>,
}

/// When an entry is due; when it was noted, which decides between equal moments; its order among those
/// noted in the same nanosecond; and its lane. In one number, which is compared and moved in a few
/// instructions.
type Key = u128;

/// Moments up to 13 days, twice the longest scenario.
const MOMENT_BITS: u32 = 50;
const LATEST: u64 = (1 << MOMENT_BITS) - 1;
const ORDER_BITS: u32 = 12;
const LANE_BITS: u32 = 16;
const _: () = assert!(2 * MOMENT_BITS + ORDER_BITS + LANE_BITS == Key::BITS);

const fn key(at: Instant, number: u64, lane: u16) -> Key {
    let at = if at.as_nanos() < LATEST {
        at.as_nanos()
    } else {
        LATEST
    };
    (at as u128) << (Key::BITS - MOMENT_BITS) | (number as u128) << LANE_BITS | lane as u128
}

const fn due_at(key: Key) -> Instant {
    Instant::from_nanos((key >> (Key::BITS - MOMENT_BITS)) as u64)
}

/// The least number of an entry that is noted at this moment.
const fn number(noted: Instant) -> u64 {
    noted.as_nanos() << ORDER_BITS
}

/// A lane of an [`Agenda`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(u16);

/// No lane. All lanes beyond this number are none.
const NONE: u16 = u16::MAX;

/// When the last of somebody's entries counts as noted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noted(u64);

#[derive(Debug)]
struct AgendaLane {
    /// The latest key so far.
    last: Key,
    /// The entry that competes, if one does.
    first: Due,
    /// The entries behind it.
    waiting: Ring<Key, Due>,
}

/// The keys of the first entries of lanes, the soonest last. Below them is one that is never due.
#[derive(Debug)]
struct Firsts {
    len: usize,
    keys: [Key; FIRSTS],
}

/// A power of two.
const FIRSTS: usize = 16;

impl Firsts {
    fn soonest(&self) -> Key {
        self.keys[self.len % FIRSTS]
    }

    fn is_full(&self) -> bool {
        self.len + 1 == FIRSTS
    }

    fn insert(&mut self, key: Key) {
        self.len += 1;
        let mut place = self.len % FIRSTS;
        // Ends at 0 at the latest, where the greatest key is.
        while let below = self.keys[place.wrapping_sub(1) % FIRSTS]
            && below < key
        {
            self.keys[place] = below;
            place = place.wrapping_sub(1) % FIRSTS;
        }
        self.keys[place] = key;
    }
}

impl Default for Firsts {
    fn default() -> Self {
        Firsts {
            len: 0,
            keys: [Key::MAX; FIRSTS],
        }
    }
}

impl Agenda {
    /// A lane without entries.
    pub fn add_lane(&mut self) -> LaneId {
        let id = u16::try_from(self.lanes.len()).unwrap_or(NONE);
        if id != NONE {
            self.lanes.push(AgendaLane {
                last: 0,
                first: Due::NOTHING,
                waiting: Ring::default(),
            });
        }
        LaneId(id)
    }

    /// The moment of the last entry that came out.
    pub const fn now(&self) -> Instant {
        self.now
    }

    #[inline]
    fn next_number(&mut self) -> u64 {
        self.noted = (self.noted + 1).max(number(self.now));
        self.noted
    }

    /// Notes that `due` is due `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, due: Due) {
        let number = self.next_number();
        self.heap.push(Reverse((key(at, number, NONE), due)));
    }

    /// As [`push`](Self::push), for an entry that is nearly always due after the earlier ones in
    /// `lane`.
    #[inline]
    pub fn push_in(&mut self, lane: LaneId, at: Instant, due: Due) {
        let number = self.next_number();
        self.insert(key(at, number, lane.0), due);
    }

    /// As [`push_in`](Self::push_in), for an entry that counts as noted at `moment`, which may be to
    /// come, and after all entries that had the same `noted` before.
    #[inline]
    pub fn push_later(
        &mut self,
        lane: LaneId,
        noted: &mut Noted,
        moment: Instant,
        at: Instant,
        due: Due,
    ) {
        noted.0 = number(moment).max(noted.0 + 1);
        self.insert(key(at, noted.0, lane.0), due);
    }

    #[inline(always)]
    fn insert(&mut self, key: Key, due: Due) {
        let Some(lane) = self.lanes.get_mut(usize::from(key as u16)) else {
            return self.heap.push(Reverse((key, due)));
        };
        if key < lane.last {
            if !lane.waiting.overtake(key, due) {
                self.heap.push(Reverse((key | Key::from(NONE), due)));
            }
            return;
        }
        lane.last = key;
        if lane.first != Due::NOTHING {
            return lane.waiting.append(key, due);
        }
        lane.first = due;
        self.compete(key, due);
    }

    /// The first entry of a lane competes for the next place.
    #[inline]
    fn compete(&mut self, key: Key, due: Due) {
        if self.firsts.is_full() {
            return self.heap.push(Reverse((key, due)));
        }
        self.firsts.insert(key);
    }

    /// The next entry, unless that is after `end`.
    #[inline]
    pub fn pop_until(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let key = self.firsts.soonest();
        if self.heap.peek().is_some_and(|other| other.0.0 < key) {
            return self.pop_heap(end);
        }
        if due_at(key) > end || key == Key::MAX {
            return None;
        }
        self.firsts.len -= 1;
        Some((due_at(key), self.take_first(key)))
    }

    /// Takes the first entry of the lane of `key`, if it is in one, and the next one competes.
    #[inline(always)]
    fn take_first(&mut self, key: Key) -> Due {
        self.now = due_at(key);
        let Some(lane) = self.lanes.get_mut(usize::from(key as u16)) else {
            return Due::NOTHING;
        };
        let next = lane.waiting.pop();
        let due = next.map_or(Due::NOTHING, |(_, due)| due);
        let first = core::mem::replace(&mut lane.first, due);
        if let Some((key, due)) = next {
            self.compete(key, due);
        }
        first
    }

    #[inline(never)]
    fn pop_heap(&mut self, end: Instant) -> Option<(Instant, Due)> {
        let first = self.heap.peek_mut()?;
        if due_at(first.0.0) > end {
            return None;
        }
        let Reverse((key, due)) = PeekMut::pop(first);
        self.take_first(key);
        Some((due_at(key), due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn app(timer: u32) -> Due {
        Due::new(DueKind::App, 0, timer)
    }

    #[test]
    fn in_order_of_time_then_of_arrival() {
        let mut agenda = Agenda::default();
        let at = Instant::from_nanos;
        agenda.push(at(5), app(1));
        agenda.push(at(3), app(2));
        agenda.push(at(5), Due::packet(DueKind::Deliver, 3));
        agenda.push(at(9), app(4));
        let order: Vec<Due> = std::iter::from_fn(|| agenda.pop_until(at(5)))
            .map(|(_, due)| due)
            .collect();
        assert_eq!(order, [app(2), app(1), Due::packet(DueKind::Deliver, 3)]);
    }

    #[test]
    fn what_is_noted_of_a_later_moment_waits_for_what_is_noted_until_then() {
        let mut agenda = Agenda::default();
        let lane = agenda.add_lane();
        let at = Instant::from_nanos;
        agenda.push_later(lane, &mut Noted::default(), at(5), at(10), app(1));
        for moment in [3, 7] {
            agenda.push(at(moment), app(moment as u32));
            agenda.pop_until(at(moment));
            agenda.push(at(10), app(10 + moment as u32));
        }
        let order = std::iter::from_fn(|| agenda.pop_until(at(10)));
        let order: Vec<Due> = order.map(|(_, due)| due).collect();
        assert_eq!(order, [app(13), app(1), app(17)]);
    }

    /// Of many at once, the heap has some, and a lane the others.
    #[test]
    fn what_is_noted_of_the_same_later_moment_keeps_its_order() {
        let mut agenda = Agenda::default();
        let lane = agenda.add_lane();
        let moment = |late: u32| Instant::from_nanos(u64::from(late));
        let mut noted = [Noted::default(); 30];
        for timer in 0..60 {
            let late = 30 - timer % 30;
            let noted = &mut noted[timer as usize % 30];
            agenda.push_later(
                lane,
                noted,
                moment(late),
                moment(100 + late),
                app(59 - timer),
            );
        }
        let order = std::iter::from_fn(|| agenda.pop_until(Instant::NEVER));
        let order: Vec<u32> = order.map(|(_, due)| due.number()).collect();
        let expected: Vec<u32> = (0..30)
            .rev()
            .flat_map(|timer| [59 - timer, 29 - timer])
            .collect();
        assert_eq!(order, expected);
    }

    proptest! {
        /// Lanes have no effect on the order: entries come out by time, and at equal times in the
        /// order of insertion.
        #[test]
        fn lanes_keep_the_order(
            entries in proptest::collection::vec((0u64..20, 0u32..24, 0u32..3), 1..300),
        ) {
            let mut agenda = Agenda::default();
            // More than the sorted list holds; numbers beyond are in none.
            let lanes: Vec<LaneId> = (0..20).map(|_| agenda.add_lane()).collect();
            let (mut now, mut noted, mut order) = (0, Vec::new(), Vec::new());
            for (number, (later, lane, pops)) in (0..).zip(entries) {
                let at = Instant::from_nanos(now + later);
                match lanes.get(lane as usize) {
                    Some(&lane) => agenda.push_in(lane, at, app(number)),
                    None => agenda.push(at, app(number)),
                }
                noted.push((at, number));
                for _ in 0..pops {
                    let Some((at, due)) = agenda.pop_until(Instant::NEVER) else {
                        break;
                    };
                    now = at.as_nanos();
                    let (first, &expected) = noted.iter().enumerate().min_by_key(|e| e.1).unwrap();
                    noted.remove(first);
                    prop_assert_eq!((at, due), (expected.0, app(expected.1)));
                    order.push(at);
                }
            }
            noted.sort_unstable();
            let rest = std::iter::from_fn(|| agenda.pop_until(Instant::NEVER));
            let noted = noted.into_iter().map(|(at, number)| (at, app(number)));
            prop_assert!(rest.eq(noted));
            prop_assert!(order.is_sorted());
        }
    }
}
