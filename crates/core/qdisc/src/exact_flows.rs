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
struct TableEntry {
    used: bool,
    hash: u32,
    /// The flow's identity for observers.
    id: FlowId,
    last_active: Instant,
}

/// Result of a lookup: the flow's place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The flow was known.
    Known(usize),
    /// It was not, and is now.
    Fresh(usize),
    /// It was not, and its set is full of active flows: it is one of these guests.
    Shared(usize),
    /// It is the first of such guests.
    FirstShared(usize),
}

/// The flow table.
#[derive(Debug)]
pub(crate) struct ExactFlows {
    /// In the order of the sets, and then the guests of each set.
    entries: Vec<TableEntry>,
    sets: usize,
    by_activity: List,
    nodes: Nodes,
    active: usize,
    shared: u64,
}

impl ExactFlows {
    /// A table for at least `flows` flows.
    pub(crate) fn new(flows: usize) -> Self {
        let sets = flows.max(1).div_ceil(WAYS);
        let len = sets * (WAYS + 1);
        ExactFlows {
            entries: vec![TableEntry::default(); len],
            sets,
            by_activity: List::default(),
            nodes: Nodes::with_len(len),
            active: 0,
            shared: 0,
        }
    }

    /// How many flows there may be, the guests of each set counted as one.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many flows there may be without guests.
    pub(crate) fn ways(&self) -> usize {
        self.sets * WAYS
    }

    /// The place of the guests of the set of `hash`.
    pub(crate) fn guests_of(&self, hash: u32) -> usize {
        self.ways() + self.set_of(hash)
    }

    /// Whether `flow` is the guests of a set.
    pub(crate) fn are_guests(&self, flow: usize) -> bool {
        flow >= self.ways()
    }

    /// Number of packets that were treated as another flow's because the set was full.
    pub(crate) const fn shared(&self) -> u64 {
        self.shared
    }

    /// The identity of `flow` for observers.
    pub(crate) fn id(&self, flow: usize) -> FlowId {
        self.entries[flow].id
    }

    /// The flow of the packet with `hash` that comes `now`; it is active from now on.
    /// `waits(flow)`: packets of `flow` wait.
    ///
    /// Flows for which a full set has no room are its guests. They count as one flow that stays
    /// new: other flows' age and class say nothing about them, nor theirs about others. While
    /// packets of guests wait, unknown flows of the set go on being guests although there may be
    /// room again, because otherwise they could overtake themselves.
    // In place, so that `waits` is too.
    #[inline]
    pub(crate) fn find(
        &mut self,
        now: Instant,
        hash: u32,
        id: FlowId,
        waits: impl Fn(usize) -> bool,
    ) -> Found {
        let guests = self.guests_of(hash);
        let found = if let Some(flow) = self.lookup(hash) {
            Found::Known(flow)
        } else if let Some(flow) = self.free_way(hash)
            && !waits(guests)
        {
            Found::Fresh(flow)
        } else if self.entries[guests].used {
            Found::Shared(guests)
        } else {
            Found::FirstShared(guests)
        };
        match found {
            Found::Known(flow) | Found::Shared(flow) => self.touch(now, flow),
            Found::Fresh(flow) | Found::FirstShared(flow) => self.insert(now, hash, id, flow),
        }
        if matches!(found, Found::Shared(_) | Found::FirstShared(_)) {
            self.shared += 1;
        }
        found
    }

    /// The set of `hash`.
    fn set_of(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.sets as u64) >> 32) as usize
    }

    /// The flow with `hash`, if it is known.
    #[inline]
    pub(crate) fn lookup(&self, hash: u32) -> Option<usize> {
        let index = self.set_of(hash);
        let set = &self.entries.as_chunks::<WAYS>().0[index];
        let known = |entry: &TableEntry| entry.used && entry.hash == hash;
        Some(index * WAYS + set.iter().position(known)?)
    }

    /// A place that is not in use in the set of `hash`.
    pub(crate) fn free_way(&self, hash: u32) -> Option<usize> {
        let index = self.set_of(hash);
        let set = &self.entries.as_chunks::<WAYS>().0[index];
        Some(index * WAYS + set.iter().position(|entry| !entry.used)?)
    }

    /// The flow with `hash` and this identity is in the place `flow` from `now` on, which was not in
    /// use.
    pub(crate) fn insert(&mut self, now: Instant, hash: u32, id: FlowId, flow: usize) {
        self.entries[flow] = TableEntry {
            used: true,
            hash,
            id,
            last_active: now,
        };
        self.nodes.push_back(&mut self.by_activity, flow as u32);
        self.active += 1;
    }

    /// The flow that has been inactive longest in the set of `hash`, which is full, among those that
    /// do not keep their place.
    pub(crate) fn inactive_longest(
        &self,
        hash: u32,
        keeps: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let first = self.set_of(hash) * WAYS;
        let free = (first..first + WAYS).filter(|&flow| !keeps(flow));
        free.min_by_key(|&flow| self.entries[flow].last_active)
    }

    /// A packet of `flow` came or left `now`.
    #[inline]
    pub(crate) fn touch(&mut self, now: Instant, flow: usize) {
        self.entries[flow].last_active = now;
        if self.by_activity.tail() != flow as u32 {
            self.move_to_end(flow);
        }
    }

    #[inline(never)]
    fn move_to_end(&mut self, flow: usize) {
        self.nodes.remove(&mut self.by_activity, flow as u32);
        self.nodes.push_back(&mut self.by_activity, flow as u32);
    }

    /// The flow that has been inactive longest, if that is for `idle` or longer.
    pub(crate) fn idle(&self, now: Instant, idle: Duration) -> Option<usize> {
        let entry = self.entries.get(self.by_activity.head() as usize)?;
        (now.since(entry.last_active) >= idle).then_some(self.by_activity.head() as usize)
    }

    /// The time since the last arrival or departure of `flow`.
    pub(crate) fn silence(&self, now: Instant, flow: usize) -> Duration {
        now.since(self.entries[flow].last_active)
    }

    /// The last activity of the flow that has been inactive longest; `now` if there is none.
    pub(crate) fn idle_since(&self, now: Instant) -> Instant {
        let entry = self.entries.get(self.by_activity.head() as usize);
        entry.map_or(now, |entry| entry.last_active)
    }

    /// Forgets `flow`.
    pub(crate) fn forget(&mut self, flow: usize) {
        self.entries[flow].used = false;
        self.nodes.remove(&mut self.by_activity, flow as u32);
        self.active -= 1;
    }

    /// Number of active flows.
    pub(crate) const fn active_count(&self) -> usize {
        self.active
    }

    /// All active flows.
    pub(crate) fn active(&self) -> impl Iterator<Item = usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(flow, entry)| entry.used.then_some(flow))
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
        let mut table = ExactFlows::new(3);
        // Eight, and the guests of their set.
        assert_eq!(table.len(), 9);
        assert_eq!([7, 8].map(|flow| table.are_guests(flow)), [false, true]);
        let empty = |_| false;
        for hash in 0..8 {
            let found = table.find(at(u64::from(hash)), hash, FlowId(hash), empty);
            assert_eq!(found, Found::Fresh(hash as usize));
        }
        let known = table.find(at(8), 3, FlowId(3), empty);
        assert_eq!(known, Found::Known(3));
        let ninth = table.find(at(9), 99, FlowId(99), empty);
        assert_eq!(ninth, Found::FirstShared(8));
        let tenth = table.find(at(9), 100, FlowId(100), empty);
        assert_eq!(tenth, Found::Shared(8));
        assert_eq!((table.id(8), table.shared()), (FlowId(99), 2));

        let idle = Duration::from_millis(100);
        assert_eq!(table.idle(at(99), idle), None);
        assert_eq!(table.idle(at(100), idle), Some(0));
        table.forget(0);
        assert_eq!(table.idle(at(101), idle), Some(1));
        // It stays where it is while packets of guests wait there, and then has its own place.
        let again = table.find(at(101), 99, FlowId(99), |flow| flow == 8);
        assert_eq!(again, Found::Shared(8));
        let alone = table.find(at(101), 99, FlowId(99), empty);
        assert_eq!(alone, Found::Fresh(0));
        assert_eq!(table.active().count(), 9);
    }

    #[test]
    fn the_longest_inactive_of_a_full_set() {
        let mut table = ExactFlows::new(8);
        for hash in 0..8 {
            table.find(at(u64::from(hash)), hash, FlowId(hash), |_| false);
        }
        assert_eq!(table.inactive_longest(99, |_| false), Some(0));
        assert_eq!(table.inactive_longest(99, |flow| flow < 2), Some(2));
        assert_eq!(table.inactive_longest(99, |_| true), None);
    }

    #[test]
    fn sets_are_chosen_by_the_high_bits_of_the_hash() {
        let mut table = ExactFlows::new(1024);
        // 128 sets: the upper 7 bits choose. 0xFF… is the last set, whose first way is 127·8.
        for (hash, flow) in [(1 << 25, 8), (u32::MAX, 1016)] {
            let found = table.find(at(0), hash, FlowId(0), |_| false);
            assert_eq!(found, Found::Fresh(flow));
        }
    }
}
