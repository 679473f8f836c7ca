//! A tin: flows that take turns, and hosts that share them.
//!
//! DRR++: flows that send little go first. A flow that becomes active is sparse, and has one
//! quantum; once it has used that up with packets left over, it is bulk and takes turns with the
//! others, a quantum each. A quantum is divided by the bulk flows of the flow's host, so that hosts
//! share the tin independent of the number of flows they open. A flow that becomes empty stays as
//! decaying until its Cobalt has no signals in memory.

use super::cobalt::{Aim, Cobalt};
use super::params::FlowMode;
use super::ways::{FlowPlace, FlowPlaces, HostPair, HostTable, PLACES};
use crate::list::{List, NIL, Nodes};
use crate::pool::Fifo;
use crate::shaper::Pace;
use crate::{Backlog, Hosts};
use units::Instant;

/// The state of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    Idle,
    /// Among the new flows, which go first.
    Sparse,
    /// Empty, counted as sparse, and already among those that take turns.
    SparseWait,
    Bulk,
    Decaying,
}

/// One queue.
#[derive(Debug, Clone)]
pub(super) struct TinQueue {
    pub(super) queue: Fifo,
    pub(super) cobalt: Cobalt,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    set: Set,
    /// A flow without a place of its own joined it since it became active.
    has_guests: bool,
    hosts: HostPair,
}

/// One tin.
#[derive(Debug)]
pub(super) struct Tin {
    flows: Vec<TinQueue>,
    places: FlowPlaces,
    hosts: HostTable,
    nodes: Nodes,
    sparse: List,
    bulk: List,
    decaying: List,
    sparse_count: u32,
    bulk_count: u32,
    /// A flow's quantum, before it is divided.
    quantum: i64,
    pub(super) aim: Aim,
    pub(super) backlog: Backlog,
    /// Bytes that it may still send in this round, if nothing is shaped.
    pub(super) deficit: i64,
    /// Increase of `deficit` in a round.
    pub(super) share: i64,
    /// The pace of its threshold.
    pub(super) pace: Pace,
    /// When it will have been at its threshold.
    pub(super) due: Instant,
}

/// The factor for `quantum / load`, which is then divided by 2^16.
const fn reciprocal(load: u16) -> i64 {
    65_535 / load as i64
}

impl Tin {
    /// An empty tin.
    pub(super) fn new() -> Self {
        let flow = TinQueue {
            queue: Fifo::default(),
            cobalt: Cobalt::default(),
            deficit: 0,
            set: Set::Idle,
            has_guests: false,
            hosts: HostPair::default(),
        };
        Tin {
            flows: vec![flow; PLACES],
            places: FlowPlaces::new(),
            hosts: HostTable::new(),
            nodes: Nodes::with_len(PLACES),
            sparse: List::default(),
            bulk: List::default(),
            decaying: List::default(),
            sparse_count: 0,
            bulk_count: 0,
            quantum: 0,
            aim: Aim::default(),
            backlog: Backlog::default(),
            deficit: 0,
            share: 0,
            pace: Pace::default(),
            due: Instant::ZERO,
        }
    }

    /// Sets the quantum for a tin of `rate` bytes per second, 0 if unlimited (`cake_set_rate`).
    pub(super) fn set_quantum(&mut self, rate: u64) {
        self.quantum = match rate {
            0 => 1514,
            _ => (rate >> 12).clamp(300, 1514) as i64,
        };
    }

    /// Flows that take turns with each other.
    pub(super) const fn bulk_flows(&self) -> u32 {
        self.bulk_count
    }

    /// Whether anyone has a turn to come.
    pub(super) const fn has_turns(&self) -> bool {
        self.sparse_count + self.bulk_count > 0
    }

    /// A flow's queue and the rest.
    pub(super) fn flow(&mut self, flow: usize) -> &mut TinQueue {
        &mut self.flows[flow]
    }

    /// Bytes that wait in a queue.
    pub(super) fn bytes(&self, flow: usize) -> u64 {
        self.flows[flow].queue.backlog().bytes
    }

    /// Whether no state of `flow` is kept.
    #[cfg(test)]
    pub(super) fn is_idle(&self, flow: usize) -> bool {
        self.flows[flow].set == Set::Idle
    }

    /// The queue for a packet with this `hash` between `hosts`.
    pub(super) fn place(&mut self, hash: u32, hosts: Hosts, mode: FlowMode) -> usize {
        let flows = &self.flows;
        let active = |flow: usize| flows[flow].set != Set::Idle;
        let has_guests = |flow: usize| flows[flow].has_guests;
        match self.places.place(hash, active, has_guests) {
            FlowPlace::Known(flow) => flow,
            FlowPlace::New(flow) => {
                self.flows[flow].hosts = self.hosts.find(hosts, mode);
                flow
            }
            FlowPlace::Guest(flow) => {
                self.flows[flow].has_guests = true;
                flow
            }
        }
    }

    /// A packet joined `flow`. `dither` is uniform in 16 bits.
    pub(super) fn joined(&mut self, flow: usize, mode: FlowMode, dither: impl FnOnce() -> u16) {
        match self.flows[flow].set {
            Set::Idle | Set::Decaying => {
                self.leave_list(flow);
                self.nodes.push_back(&mut self.sparse, flow as u32);
                self.sparse_count += 1;
                self.flows[flow].set = Set::Sparse;
                self.flows[flow].deficit = self.quantum_of(flow, mode, dither());
            }
            Set::SparseWait => {
                self.sparse_count -= 1;
                self.become_bulk(flow);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Whose turn it is. One decaying flow a time may go first, so that their end comes.
    pub(super) fn next(&self, decaying_first: bool) -> Option<usize> {
        let head = |list: &List| (list.head() != NIL).then_some(list.head() as usize);
        let decaying = head(&self.decaying).filter(|_| decaying_first);
        decaying
            .or_else(|| head(&self.sparse))
            .or_else(|| head(&self.bulk))
    }

    /// Whether `flow` has used up its turn: then it has got its next quantum, and others go before.
    pub(super) fn turn_is_over(
        &mut self,
        flow: usize,
        mode: FlowMode,
        dither: impl FnOnce() -> u16,
    ) -> bool {
        if self.flows[flow].deficit > 0 || self.flows[flow].set == Set::Decaying {
            return false;
        }
        self.leave_list(flow);
        if self.flows[flow].set == Set::Sparse {
            if self.flows[flow].queue.is_empty() {
                self.flows[flow].set = Set::SparseWait;
            } else {
                self.sparse_count -= 1;
                self.become_bulk(flow);
            }
        }
        self.flows[flow].deficit += self.quantum_of(flow, mode, dither());
        self.nodes.push_back(&mut self.bulk, flow as u32);
        true
    }

    /// `bytes` of `flow` left, or count as if they had.
    pub(super) fn charge(&mut self, flow: usize, bytes: u32) {
        self.flows[flow].deficit -= i64::from(bytes);
    }

    /// `flow` had its turn and its queue was empty.
    pub(super) fn found_empty(&mut self, flow: usize, now: Instant) {
        self.leave_list(flow);
        match self.flows[flow].set {
            Set::Sparse | Set::SparseWait => self.sparse_count -= 1,
            Set::Bulk => {
                self.bulk_count -= 1;
                self.hosts.remove(self.flows[flow].hosts);
            }
            Set::Idle | Set::Decaying => {}
        }
        let state = &mut self.flows[flow];
        state.cobalt.found_empty(now, &self.aim);
        if state.cobalt.is_at_rest(now) {
            state.set = Set::Idle;
            state.has_guests = false;
        } else {
            state.set = Set::Decaying;
            self.nodes.push_back(&mut self.decaying, flow as u32);
        }
    }

    fn become_bulk(&mut self, flow: usize) {
        self.bulk_count += 1;
        self.flows[flow].set = Set::Bulk;
        self.hosts.add(self.flows[flow].hosts);
    }

    /// The quantum of `flow`, rounded up or down at random, so that the average is exact over the
    /// rounds.
    fn quantum_of(&self, flow: usize, mode: FlowMode, dither: u16) -> i64 {
        let load = self.hosts.load(self.flows[flow].hosts, mode);
        (self.quantum * reciprocal(load) + i64::from(dither)) >> 16
    }

    fn leave_list(&mut self, flow: usize) {
        let list = match self.flows[flow].set {
            Set::Idle => return,
            Set::Sparse => &mut self.sparse,
            Set::SparseWait | Set::Bulk => &mut self.bulk,
            Set::Decaying => &mut self.decaying,
        };
        self.nodes.remove(list, flow as u32);
    }
}
