//! Set-associative hashing: which queue a flow has, and which entry a host.
//!
//! 1024 places in sets of eight. A hash has a place of its own; if that is occupied, it takes any
//! other in the set, and keeps it as long as it is active. Flows share a queue only if nine or more
//! are active in one set.
//!
//! One thing differs from Linux's `cake_hash`. There, a flow that finds its set full takes over the
//! tag of the queue at its own place, and the flow that had that queue gets another one while its
//! packets still wait in the first, which reorders them. Here the newcomer joins that queue as a
//! guest: the tag stays, and as long as the queue is active, guests keep coming to it although
//! another one may have become free meanwhile.

use super::params::FlowMode;
use crate::Hosts;

/// Places in a table.
pub(super) const PLACES: usize = 1024;
/// Places in a set.
const WAYS: usize = 8;

/// The place of a hash, and those after it in its set, round and round.
fn set_of(hash: u32) -> impl Iterator<Item = usize> {
    let direct = hash as usize % PLACES;
    (0..WAYS).map(move |way| direct - direct % WAYS + (direct + way) % WAYS)
}

/// A flow's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowPlace {
    /// It has this one, and is active.
    Known(usize),
    /// It takes this one, which is not active.
    New(usize),
    /// It joins another flow here.
    Guest(usize),
}

/// The places of flows.
#[derive(Debug)]
pub(super) struct FlowPlaces {
    tags: Vec<u32>,
}

impl FlowPlaces {
    /// All places free.
    pub(super) fn new() -> Self {
        FlowPlaces {
            tags: vec![0; PLACES],
        }
    }

    /// The place of `hash`; `active` are the places in use and `has_guests` those with guests.
    pub(super) fn place(
        &mut self,
        hash: u32,
        active: impl Fn(usize) -> bool,
        has_guests: impl Fn(usize) -> bool,
    ) -> FlowPlace {
        let direct = hash as usize % PLACES;
        if self.tags[direct] == hash && active(direct) {
            return FlowPlace::Known(direct);
        }
        if let Some(place) = set_of(hash).find(|&place| self.tags[place] == hash) {
            return if active(place) {
                FlowPlace::Known(place)
            } else {
                FlowPlace::New(place)
            };
        }
        if active(direct) && has_guests(direct) {
            return FlowPlace::Guest(direct);
        }
        match set_of(hash).find(|&place| !active(place)) {
            Some(place) => {
                self.tags[place] = hash;
                FlowPlace::New(place)
            }
            None => FlowPlace::Guest(direct),
        }
    }
}

/// One side's hosts.
#[derive(Debug)]
struct HostSide {
    tags: Vec<u32>,
    /// Bulk flows of each.
    bulk: Vec<u16>,
}

impl HostSide {
    fn new() -> Self {
        HostSide {
            tags: vec![0; PLACES],
            bulk: vec![0; PLACES],
        }
    }

    /// The entry of a host. If the set is full of hosts with bulk flows, two share an entry.
    fn place(&mut self, hash: u32) -> u16 {
        let known = set_of(hash).find(|&place| self.tags[place] == hash);
        let place = known
            .or_else(|| set_of(hash).find(|&place| self.bulk[place] == 0))
            .unwrap_or(hash as usize % PLACES);
        self.tags[place] = hash;
        place as u16
    }
}

/// The hosts of one flow, as entries of [`HostTable`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HostPair {
    source: u16,
    destination: u16,
}

/// The hosts of a tin, and how many bulk flows each has.
#[derive(Debug)]
pub(super) struct HostTable {
    sources: HostSide,
    destinations: HostSide,
}

impl HostTable {
    /// No hosts.
    pub(super) fn new() -> Self {
        HostTable {
            sources: HostSide::new(),
            destinations: HostSide::new(),
        }
    }

    /// The entries of `hosts`, on the sides that matter in `mode`.
    pub(super) fn find(&mut self, hosts: Hosts, mode: FlowMode) -> HostPair {
        let mut pair = HostPair::default();
        if mode.fair_to_sources() {
            pair.source = self.sources.place(hosts.source);
        }
        if mode.fair_to_destinations() {
            pair.destination = self.destinations.place(hosts.destination);
        }
        pair
    }

    /// A flow of `pair` became a bulk flow.
    pub(super) fn add(&mut self, pair: HostPair) {
        self.sources.bulk[usize::from(pair.source)] += 1;
        self.destinations.bulk[usize::from(pair.destination)] += 1;
    }

    /// A bulk flow of `pair` is none any more.
    pub(super) fn remove(&mut self, pair: HostPair) {
        self.sources.bulk[usize::from(pair.source)] -= 1;
        self.destinations.bulk[usize::from(pair.destination)] -= 1;
    }

    /// The number of flows, one at least, among which a flow of `pair` shares the part of its
    /// busier host.
    pub(super) fn load(&self, pair: HostPair, mode: FlowMode) -> u16 {
        let mut load = 1;
        if mode.fair_to_sources() {
            load = load.max(self.sources.bulk[usize::from(pair.source)]);
        }
        if mode.fair_to_destinations() {
            load = load.max(self.destinations.bulk[usize::from(pair.destination)]);
        }
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash whose own place is `place`.
    fn hash(place: usize, tag: usize) -> u32 {
        (tag * PLACES + place) as u32
    }

    #[test]
    fn flows_of_a_set_take_its_places_in_turn() {
        let mut flows = FlowPlaces::new();
        let mut active = vec![false; PLACES];
        // Set 1 has places 8 to 15. The first three hash to place 14, the fourth to 8.
        let mut place = |hash| {
            let place = flows.place(hash, |n| active[n], |_| false);
            if let FlowPlace::New(new) = place {
                active[new] = true;
            }
            place
        };
        assert_eq!(place(hash(14, 1)), FlowPlace::New(14));
        assert_eq!(place(hash(14, 2)), FlowPlace::New(15));
        assert_eq!(place(hash(14, 3)), FlowPlace::New(8));
        assert_eq!(place(hash(8, 4)), FlowPlace::New(9));
        assert_eq!(place(hash(14, 3)), FlowPlace::Known(8));
        assert_eq!(place(hash(14, 1)), FlowPlace::Known(14));
    }

    #[test]
    fn a_flow_finds_its_old_place_while_nobody_else_took_it() {
        let mut flows = FlowPlaces::new();
        let idle = |_| false;
        assert_eq!(flows.place(hash(5, 1), idle, idle), FlowPlace::New(5));
        assert_eq!(flows.place(hash(5, 2), |n| n == 5, idle), FlowPlace::New(6));
        assert_eq!(flows.place(hash(5, 2), idle, idle), FlowPlace::New(6));
        assert_eq!(flows.place(hash(6, 3), idle, idle), FlowPlace::New(6));
        assert_eq!(
            flows.place(hash(5, 2), idle, idle),
            FlowPlace::New(5),
            "lost"
        );
    }

    #[test]
    fn a_ninth_flow_is_a_guest_until_that_queue_is_idle() {
        let mut flows = FlowPlaces::new();
        for way in 0..8 {
            let place = flows.place(hash(way, 1), |n| n < way, |_| false);
            assert_eq!(place, FlowPlace::New(way));
        }
        let full = |n: usize| n < 8;
        assert_eq!(
            flows.place(hash(3, 2), full, |_| false),
            FlowPlace::Guest(3)
        );
        assert_eq!(
            flows.place(hash(3, 1), full, |n| n == 3),
            FlowPlace::Known(3),
            "its own"
        );
        // Place 6 is free by now; the guest's packets wait in queue 3.
        let without_6 = |n: usize| n < 8 && n != 6;
        let guest = flows.place(hash(3, 2), without_6, |n| n == 3);
        assert_eq!(guest, FlowPlace::Guest(3));
        // Queue 3 became idle, and has the first flow again; now the guest moves.
        let moved = flows.place(hash(3, 2), without_6, |_| false);
        assert_eq!(moved, FlowPlace::New(6));
    }

    #[test]
    fn hosts_count_their_bulk_flows() {
        let mode = FlowMode::TripleIsolate;
        let mut table = HostTable::new();
        let hosts = |source, destination| Hosts::new(source, destination);
        let a = table.find(hosts(1, 2), mode);
        let b = table.find(hosts(3, 2), mode);
        assert_eq!(table.load(a, mode), 1, "nobody is bulk");
        [a, a, b].into_iter().for_each(|pair| table.add(pair));
        // Source 1 has two, source 3 one, destination 2 three.
        assert_eq!((table.load(a, mode), table.load(b, mode)), (3, 3));
        let by_source = FlowMode::DualSrcHost;
        assert_eq!((table.load(a, by_source), table.load(b, by_source)), (2, 1));
        assert_eq!(table.load(a, FlowMode::Flows), 1);
        table.remove(a);
        assert_eq!(table.load(a, mode), 2);
    }

    #[test]
    fn a_host_without_bulk_flows_makes_room() {
        let mut side = HostSide::new();
        let places: Vec<u16> = (1..=8).map(|tag| side.place(hash(0, tag))).collect();
        // No host has bulk flows yet: all of them got the first place.
        assert_eq!(places, [0; 8]);
        for tag in 1..=8 {
            let place = usize::from(side.place(hash(0, tag)));
            side.bulk[place] += 1;
        }
        // Now each has its own, and a ninth shares the first.
        assert_eq!(side.bulk[..8], [1; 8]);
        assert_eq!(side.place(hash(0, 9)), 0);
    }
}
