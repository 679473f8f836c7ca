//! The table of flows: sets of eight ways, looked up by the packet's hash.
//!
//! A flow is *active* while packets of it wait or the last one came or left less than `idle` ago;
//! the table knows active flows only. They are kept in the order of their last activity, so that
//! those that fell idle are at the front and are forgotten in O(1) each.

use crate::FlowId;
use crate::list::{List, NIL, Nodes};
use units::{Duration, Instant};

/// Entries that one hash may use.
const WAYS: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    used: bool,
    hash: u32,
    /// Who the flow is to observers.
    id: FlowId,
    started: Instant,
    last_active: Instant,
}

/// What a lookup found: the flow's place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The flow was known.
    Known(usize),
    /// It was not, and is now.
    Fresh(usize),
    /// It was not, and its set is full of active flows: it is treated as one with this flow.
    Shared(usize),
}

/// The way of the entry that began last; of equals the last. In a crowded table every arrival comes
/// here; `max_by_key` is compiled to a call that takes twice as many instructions.
fn newest(set: &[Entry; WAYS]) -> usize {
    let (mut newest, mut started) = (0, set[0].started);
    for (way, entry) in set.iter().enumerate() {
        if entry.started >= started {
            (newest, started) = (way, entry.started);
        }
    }
    newest
}

/// Packets of flows for which a set had no room.
#[derive(Debug, Clone, Copy)]
struct Guests {
    /// The flow as whose they were treated.
    host: usize,
    /// Number of the last one's arrival.
    last: u64,
}

/// The flow table.
#[derive(Debug)]
pub(super) struct FlowTable {
    entries: Vec<Entry>,
    /// For each set.
    guests: Vec<Option<Guests>>,
    by_activity: List,
    nodes: Nodes,
    shared: u64,
}

impl FlowTable {
    /// A table for at least `flows` flows.
    pub(super) fn new(flows: usize) -> Self {
        let len = flows.max(1).next_multiple_of(WAYS);
        FlowTable {
            entries: vec![Entry::default(); len],
            guests: vec![None; len / WAYS],
            by_activity: List::default(),
            nodes: Nodes::with_len(len),
            shared: 0,
        }
    }

    /// How many flows there is room for.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many packets were treated as another flow's for want of room.
    pub(super) const fn shared(&self) -> u64 {
        self.shared
    }

    /// Who `flow` is to observers.
    pub(super) fn id(&self, flow: usize) -> FlowId {
        self.entries[flow].id
    }

    /// The flow of the packet with `hash` that comes `now` as number `arrival`; it is active from
    /// now on. `waits(flow, number)` says whether a packet of `flow` up to that number waits.
    ///
    /// In a full set it joins the flow that began last: the old flows, whose class says what they
    /// are, stay what they are. While packets of such guests wait, unknown flows of the set go on
    /// being guests although there may be room again, because otherwise they could overtake
    /// themselves.
    // In place, so that `waits` is too.
    #[inline]
    pub(super) fn find(
        &mut self,
        now: Instant,
        hash: u32,
        id: FlowId,
        arrival: u64,
        waits: impl Fn(usize, u64) -> bool,
    ) -> Found {
        let index = ((u64::from(hash) * self.guests.len() as u64) >> 32) as usize;
        let first = index * WAYS;
        let set = &self.entries.as_chunks::<WAYS>().0[index];
        let known = |entry: &Entry| entry.used && entry.hash == hash;
        let pinned = |guests: &Guests| waits(guests.host, guests.last);
        let found = if let Some(way) = set.iter().position(known) {
            Found::Known(first + way)
        } else if let Some(guests) = self.guests[index].filter(pinned) {
            Found::Shared(guests.host)
        } else if let Some(way) = set.iter().position(|entry| !entry.used) {
            Found::Fresh(first + way)
        } else {
            Found::Shared(first + newest(set))
        };
        match found {
            Found::Known(flow) => self.touch(now, flow),
            Found::Shared(flow) => {
                self.guests[index] = Some(Guests {
                    host: flow,
                    last: arrival,
                });
                self.shared += 1;
                self.touch(now, flow);
            }
            Found::Fresh(flow) => {
                self.entries[flow] = Entry {
                    used: true,
                    hash,
                    id,
                    started: now,
                    last_active: now,
                };
                self.nodes.push_back(&mut self.by_activity, flow as u32);
            }
        }
        found
    }

    /// A packet of `flow` came or left `now`.
    pub(super) fn touch(&mut self, now: Instant, flow: usize) {
        self.entries[flow].last_active = now;
        if self.by_activity.tail() == flow as u32 {
            return;
        }
        self.nodes.remove(&mut self.by_activity, flow as u32);
        self.nodes.push_back(&mut self.by_activity, flow as u32);
    }

    /// The flow that has been inactive longest, if that is for `idle` or longer.
    pub(super) fn idle(&self, now: Instant, idle: Duration) -> Option<usize> {
        let entry = self.entries.get(self.by_activity.head() as usize)?;
        (now.since(entry.last_active) >= idle).then_some(self.by_activity.head() as usize)
    }

    /// For how long no packet of `flow` came or left.
    pub(super) fn silence(&self, now: Instant, flow: usize) -> Duration {
        now.since(self.entries[flow].last_active)
    }

    /// Since when the flow that has been inactive longest is; `now` where there is none.
    pub(super) fn idle_since(&self, now: Instant) -> Instant {
        let entry = self.entries.get(self.by_activity.head() as usize);
        entry.map_or(now, |entry| entry.last_active)
    }

    /// Forgets `flow`.
    pub(super) fn forget(&mut self, flow: usize) {
        self.entries[flow].used = false;
        self.nodes.remove(&mut self.by_activity, flow as u32);
    }

    /// All active flows.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(flow, entry)| entry.used.then_some(flow))
    }
}

#[cfg(test)]
impl FlowTable {
    /// The flow with `hash`, left alone.
    pub(super) fn lookup(&self, hash: u32) -> Option<usize> {
        self.active().find(|&flow| self.entries[flow].hash == hash)
    }
}

const _: () = assert!(
    NIL as usize > 65536,
    "an index can never be taken for no index"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn nine_flows_in_a_set_of_eight_and_room_again_when_one_fell_idle() {
        let mut table = FlowTable::new(3);
        assert_eq!(table.len(), 8);
        let empty = |_, _| false;
        for hash in 0..8 {
            let found = table.find(at(u64::from(hash)), hash, FlowId(hash), 0, empty);
            assert_eq!(found, Found::Fresh(hash as usize));
        }
        let known = table.find(at(8), 3, FlowId(3), 1, empty);
        assert_eq!(known, Found::Known(3));
        // The ninth joins the one that began last, number 7.
        let ninth = table.find(at(9), 99, FlowId(99), 2, empty);
        assert_eq!(ninth, Found::Shared(7));
        assert_eq!(table.id(7), FlowId(7));
        assert_eq!(table.shared(), 1);

        let idle = Duration::from_millis(100);
        assert_eq!(table.idle(at(99), idle), None);
        assert_eq!(table.idle(at(100), idle), Some(0));
        table.forget(0);
        assert_eq!(table.idle(at(101), idle), Some(1));
        // It stays where it is while its packet number 2 waits there, and then has its own place.
        let waits = |flow, number| flow == 7 && number == 2;
        let again = table.find(at(101), 99, FlowId(99), 3, waits);
        assert_eq!(again, Found::Shared(7));
        let alone = table.find(at(101), 99, FlowId(99), 4, waits);
        assert_eq!(alone, Found::Fresh(0));
        assert_eq!(table.active().count(), 8);
    }

    #[test]
    fn sets_are_chosen_by_the_high_bits_of_the_hash() {
        let mut table = FlowTable::new(1024);
        // 128 sets: the upper 7 bits choose. 0xFF… is the last set, whose first way is 127·8.
        for (hash, flow) in [(1 << 25, 8), (u32::MAX, 1016)] {
            let found = table.find(at(0), hash, FlowId(0), 0, |_, _| false);
            assert_eq!(found, Found::Fresh(flow));
        }
    }
}
