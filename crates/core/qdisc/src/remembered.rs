//! Flows that are remembered by themselves, as conntrack remembers connections: none shares its entry.
//!
//! The table grows with the flows that there are. A flow is forgotten when it has been silent for a
//! time, and the one that has been silent longest when more are known than are to be remembered.
//! *Silent* is a flow without packets waiting. One with packets waiting is always known: a full buffer
//! of flows of one packet each is the most that the table can hold beyond its number.
//!
//! Flows are told apart by all 32 bits of the packet's hash: a new flow is taken for one of 8,400
//! others once in 500,000 times.

use crate::list::{List, NIL, Nodes};
use hashbrown::HashTable;
use units::{Duration, Instant};

/// Most silent flows that are forgotten when a flow begins; more than begin, so that none stays.
const FORGET: usize = 2;

/// What is remembered, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Number of flows; those with packets waiting may be more.
    pub flows: u32,
    /// A silent flow without an arrival for this long is forgotten.
    pub idle: Duration,
}

/// Flows with a state `T` each; none at first.
#[derive(Debug, Default)]
pub(crate) struct Remembered<T> {
    /// Places by hash.
    index: HashTable<u32>,
    entries: Vec<Remembrance<T>>,
    /// Those that are silent, in the order in which they fell silent.
    silent: List,
    nodes: Nodes,
    /// Places that are not in use.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Remembrance<T> {
    hash: u32,
    /// It has packets waiting, and is not in the list of silent ones.
    waits: bool,
    /// When it fell silent, or a packet last arrived since.
    since: Instant,
    state: T,
}

/// Spreads a hash over 64 bits, as the index needs it (Knuth, TAOCP 3, 6.4: the golden ratio).
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<T: Default> Remembered<T> {
    /// The place of the flow of a packet that arrives, which stays the same until the flow is
    /// forgotten. A flow that is not known, or no longer, begins with `T::default()`.
    pub(crate) fn arrival(&mut self, now: Instant, hash: u32, memory: Memory) -> usize {
        let Some(place) = self.place(hash) else {
            return self.begin(now, hash, memory);
        };
        if !self.entries[place].waits {
            if now.since(self.entries[place].since) >= memory.idle {
                self.entries[place].state = T::default();
            }
            self.nodes.remove(&mut self.silent, place as u32);
            self.fall_silent(now, place);
        }
        place
    }

    /// The place of the flow with `hash`, if it is known.
    pub(crate) fn place(&self, hash: u32) -> Option<usize> {
        let same = |place: &u32| self.entries[*place as usize].hash == hash;
        Some(*self.index.find(spread(hash), same)? as usize)
    }

    /// Remembers a flow that begins, in place of others if there are too many.
    fn begin(&mut self, now: Instant, hash: u32, memory: Memory) -> usize {
        for _ in 0..FORGET {
            let Some(longest) = self.entries.get(self.silent.head() as usize) else {
                break;
            };
            let full = self.index.len() >= memory.flows as usize;
            if !full && now.since(longest.since) < memory.idle {
                break;
            }
            self.forget_longest();
        }
        let entry = Remembrance {
            hash,
            waits: false,
            since: now,
            state: T::default(),
        };
        let place = if let Some(place) = self.free.pop() {
            self.entries[place as usize] = entry;
            place
        } else {
            self.entries.push(entry);
            self.nodes.grow();
            self.entries.len() as u32 - 1
        };
        let entries = &self.entries;
        let hasher = |place: &u32| spread(entries[*place as usize].hash);
        self.index.insert_unique(spread(hash), place, hasher);
        self.fall_silent(now, place as usize);
        place as usize
    }

    /// Forgets the flow that has been silent longest; there is one.
    fn forget_longest(&mut self) {
        let place = self.silent.head();
        debug_assert_ne!(place, NIL);
        self.nodes.remove(&mut self.silent, place);
        let hash = self.entries[place as usize].hash;
        let found = self.index.find_entry(spread(hash), |&at| at == place);
        if let Ok(found) = found {
            found.remove();
        }
        self.free.push(place);
    }

    /// Packets of the flow wait from now on.
    pub(crate) fn waits(&mut self, place: usize) {
        if !self.entries[place].waits {
            self.nodes.remove(&mut self.silent, place as u32);
            self.entries[place].waits = true;
        }
    }

    /// The flow, of which packets waited, falls silent.
    pub(crate) fn silent(&mut self, now: Instant, place: usize) {
        debug_assert!(self.entries[place].waits);
        self.entries[place].waits = false;
        self.fall_silent(now, place);
    }

    fn fall_silent(&mut self, now: Instant, place: usize) {
        self.entries[place].since = now;
        self.nodes.push_back(&mut self.silent, place as u32);
    }

    /// Whether packets of the flow wait.
    pub(crate) fn is_waiting(&self, place: usize) -> bool {
        self.entries[place].waits
    }
}

impl<T> core::ops::Index<usize> for Remembered<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.entries[place].state
    }
}

impl<T> core::ops::IndexMut<usize> for Remembered<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.entries[place].state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;
    use std::collections::BTreeMap;
    use units::random::Stream;

    /// Counts arrivals of each flow.
    struct Bench {
        flows: Remembered<u32>,
        memory: Memory,
    }

    impl Bench {
        fn new(flows: u32, idle: u64) -> Self {
            let idle = Duration::from_millis(idle);
            Bench {
                flows: Remembered::default(),
                memory: Memory { flows, idle },
            }
        }

        /// An arrival, which does not wait; how many there have been.
        fn arrives(&mut self, at: u64, hash: u32) -> u32 {
            let place = self.flows.arrival(ms(at), hash, self.memory);
            self.flows[place] += 1;
            self.flows[place]
        }

        fn place(&self, hash: u32) -> usize {
            self.flows.place(hash).unwrap()
        }
    }

    #[test]
    fn a_flow_is_forgotten_when_it_was_idle() {
        let mut bench = Bench::new(100, 1000);
        assert_eq!(bench.arrives(0, 7), 1);
        assert_eq!(bench.arrives(999, 7), 2);
        assert_eq!(bench.arrives(1999, 7), 1);
        // With packets waiting it is not idle, and is so for as long as it was silent since.
        let place = bench.place(7);
        bench.flows.waits(place);
        assert_eq!(bench.arrives(60_000, 7), 2);
        bench.flows.silent(ms(61_000), place);
        assert_eq!(bench.arrives(61_999, 7), 3);
        assert_eq!(bench.arrives(62_999, 7), 1);
    }

    /// Of three that may be known the one that has been silent longest goes, however long ago it came;
    /// those with packets waiting stay, even if there are more.
    #[test]
    fn beyond_the_limit_the_longest_silent_is_forgotten() {
        let mut bench = Bench::new(3, 1_000_000);
        for hash in 1..=3 {
            bench.arrives(u64::from(hash), hash);
        }
        assert_eq!(bench.arrives(4, 1), 2);
        bench.arrives(5, 4);
        assert_eq!(bench.flows.place(2), None);
        for hash in [1, 3, 4] {
            let place = bench.place(hash);
            bench.flows.waits(place);
        }
        bench.arrives(6, 5);
        bench.arrives(7, 6);
        assert_eq!(bench.flows.place(5), None);
        for hash in [1, 3, 4, 6] {
            assert!(bench.flows.place(hash).is_some(), "{hash}");
        }
        assert_eq!(bench.flows.entries.len(), 4);
        // Room comes back when they fall silent: two go for one that begins.
        let place = bench.place(4);
        bench.flows.silent(ms(8), place);
        bench.arrives(9, 7);
        assert_eq!((bench.flows.place(6), bench.flows.place(4)), (None, None));
        assert_eq!(bench.flows.index.len(), 3);
    }

    /// A plain map, in which nobody is forgotten before its time, knows the same of a hundred thousand
    /// arrivals in a tenth of a second. Three thousand flows have one each 3 ms on average, and are
    /// idle after 5 ms, as one in five is at that.
    #[test]
    fn nobody_is_taken_for_another() {
        let mut bench = Bench::new(1_000_000, 5);
        let mut plain: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        let mut chance = Stream::new(1, "flows");
        let mut anew = 0;
        for arrival in 0..100_000 {
            let flow = (chance.unit() * 3000.0) as u32;
            let hash = flow.wrapping_mul(0x0010_0001);
            let now = arrival / 1000;
            let (last, count) = plain.entry(hash).or_insert((now, 0));
            if now - *last >= 5 {
                *count = 0;
                anew += 1;
            }
            (*last, *count) = (now, *count + 1);
            let count = *count;
            assert_eq!(bench.arrives(now, hash), count, "arrival {arrival}");
        }
        assert!((10_000..30_000).contains(&anew), "{anew}");
    }
}
