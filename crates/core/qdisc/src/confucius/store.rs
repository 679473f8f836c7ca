//! Packets in classes between which whole flows can be moved, in O(1) and without reordering.
//!
//! The paper binds packets to flows and searches all flows of a class for the earliest packet
//! (section 6). Here a class also has a list of its packets in arrival order, so that no search is
//! needed. A flow that moves leaves its packets in the old class's list; they are skipped there
//! when they come to the front. Until they are gone the flow is a *migrant* of its new class, which
//! serves it through a heap ordered by the arrival of each migrant's oldest packet. The next packet
//! of a class is the earlier of the two fronts: exactly the one a search would find.

use super::MAX_CLASSES;
use super::dwrr::ClassSet;
use super::heap::{Heap, HeapPlaces};
use crate::list::{List, NIL, Nodes};
use crate::{Backlog, Packet};
use units::Instant;

#[derive(Debug)]
struct StoreSlot<P> {
    packet: Option<Packet<P>>,
    /// Number of the arrival.
    arrival: u64,
    flow: u32,
    /// The next packet of the flow, or the next free slot.
    next: u32,
    /// The class whose list holds the packet, which is not its flow's class after a move.
    listed_in: Option<u8>,
}

#[derive(Debug, Clone, Copy)]
struct FlowQueue {
    head: u32,
    tail: u32,
    class: u8,
    /// Packets that arrived before this one came while the flow was in another class.
    native_from: u64,
    backlog: Backlog,
}

#[derive(Debug, Default)]
struct ClassQueue {
    list: List,
    migrants: Heap,
    backlog: Backlog,
    /// Number of flows with packets queued.
    waiting: u32,
}

impl ClassQueue {
    /// A flow with packets waiting moves into the class.
    fn join(&mut self, backlog: Backlog) {
        self.waiting += 1;
        self.backlog.packets += backlog.packets;
        self.backlog.bytes += backlog.bytes;
    }

    /// A flow with packets waiting moves out of it.
    fn leave(&mut self, backlog: Backlog) {
        self.waiting -= 1;
        self.backlog.packets -= backlog.packets;
        self.backlog.bytes -= backlog.bytes;
    }
}

/// A packet that leaves.
#[derive(Debug)]
pub(super) struct Popped<P> {
    pub(super) packet: Packet<P>,
    pub(super) flow: usize,
    /// Whether it came while its flow was in the class from which it leaves.
    pub(super) native: bool,
}

/// All packets of the discipline.
#[derive(Debug)]
pub(super) struct ClassStore<P> {
    slots: Vec<StoreSlot<P>>,
    nodes: Nodes,
    free: u32,
    flows: Vec<FlowQueue>,
    places: HeapPlaces,
    classes: [ClassQueue; MAX_CLASSES],
    /// Classes with packets queued.
    backlogged: ClassSet,
    arrivals: u64,
    backlog: Backlog,
}

impl<P> ClassStore<P> {
    /// An empty store for `flows` flows, all of them in class 0.
    pub(super) fn new(flows: usize) -> Self {
        let queue = FlowQueue {
            head: NIL,
            tail: NIL,
            class: 0,
            native_from: 0,
            backlog: Backlog::default(),
        };
        ClassStore {
            slots: Vec::new(),
            nodes: Nodes::default(),
            free: NIL,
            flows: vec![queue; flows],
            places: HeapPlaces::new(flows),
            classes: Default::default(),
            backlogged: ClassSet::default(),
            arrivals: 0,
            backlog: Backlog::default(),
        }
    }

    /// The total backlog.
    pub(super) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Classes with packets queued.
    pub(super) const fn backlogged(&self) -> ClassSet {
        self.backlogged
    }

    /// The backlog of the flows of `class`.
    pub(super) fn class_backlog(&self, class: usize) -> Backlog {
        self.classes[class].backlog
    }

    /// How many flows of `class` have packets waiting.
    pub(super) fn class_waiting(&self, class: usize) -> u64 {
        u64::from(self.classes[class].waiting)
    }

    /// The backlog of `flow`.
    pub(super) fn flow_backlog(&self, flow: usize) -> Backlog {
        self.flows[flow].backlog
    }

    /// The class of `flow`.
    pub(super) fn class_of(&self, flow: usize) -> usize {
        usize::from(self.flows[flow].class)
    }

    /// Appends a packet to `flow`.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub(super) fn push(&mut self, now: Instant, flow: usize, mut packet: Packet<P>) {
        packet.arrived = now;
        let len = packet.len;
        let queue = self.flows[flow];
        let index = self.take_slot(StoreSlot {
            packet: Some(packet),
            arrival: self.arrivals,
            flow: flow as u32,
            next: NIL,
            listed_in: Some(queue.class),
        });
        self.arrivals += 1;
        let class = &mut self.classes[usize::from(queue.class)];
        if queue.tail == NIL {
            self.flows[flow].head = index;
            class.waiting += 1;
            self.backlogged.insert(usize::from(queue.class));
        } else {
            self.slots[queue.tail as usize].next = index;
        }
        self.flows[flow].tail = index;
        self.nodes.push_back(&mut class.list, index);
        class.backlog.add(len);
        self.flows[flow].backlog.add(len);
        self.backlog.add(len);
    }

    /// Takes the packet in slot `index`, the [`front`](Self::front) of `class`.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub(super) fn pop(&mut self, class: usize, index: u32) -> Option<Popped<P>> {
        self.unlist(index);
        let slot = &mut self.slots[index as usize];
        let packet = slot.packet.take()?;
        let flow = slot.flow as usize;
        let arrival = slot.arrival;
        let next = slot.next;
        slot.next = self.free;
        self.free = index;

        self.classes[class].backlog.remove(packet.len);
        self.backlog.remove(packet.len);
        let queue = &mut self.flows[flow];
        queue.backlog.remove(packet.len);
        queue.head = next;
        if next == NIL {
            queue.tail = NIL;
            self.classes[class].waiting -= 1;
            self.note_backlogged(class);
        }
        if self.places.holds(flow) {
            self.classes[class].migrants.remove(&mut self.places, flow);
            self.note_migrant(flow);
        }
        Some(Popped {
            packet,
            flow,
            native: arrival >= self.flows[flow].native_from,
        })
    }

    /// Puts `flow` with all its packets into class `to`.
    pub(super) fn move_flow(&mut self, flow: usize, to: usize) {
        let FlowQueue { class, backlog, .. } = self.flows[flow];
        let from = usize::from(class);
        if from == to {
            return;
        }
        if self.places.holds(flow) {
            self.classes[from].migrants.remove(&mut self.places, flow);
        }
        self.flows[flow].class = to as u8;
        self.flows[flow].native_from = self.arrivals;
        if !backlog.is_empty() {
            self.classes[from].leave(backlog);
            self.classes[to].join(backlog);
            self.note_backlogged(from);
            self.note_backlogged(to);
            self.note_migrant(flow);
        }
    }

    fn note_backlogged(&mut self, class: usize) {
        if self.classes[class].waiting == 0 {
            self.backlogged.remove(class);
        } else {
            self.backlogged.insert(class);
        }
    }

    /// Enters `flow` among the migrants of its class while its oldest packet came before it moved.
    fn note_migrant(&mut self, flow: usize) {
        let queue = self.flows[flow];
        if queue.head == NIL {
            return;
        }
        let arrival = self.slots[queue.head as usize].arrival;
        if arrival < queue.native_from {
            let class = &mut self.classes[usize::from(queue.class)];
            class.migrants.push(&mut self.places, arrival, flow);
        }
    }

    /// The slot of the packet of `class` that arrived first; none if more than `skips` packets of
    /// flows that have moved stand before it. `skips` is reduced by the number skipped.
    ///
    /// It is its flow's oldest: an older native packet of the flow would stand before it in the
    /// list, and an older one from before the move would be at the top of the heap.
    #[inline]
    pub(super) fn front(&mut self, class: usize, skips: &mut u32) -> Option<u32> {
        let (before, migrant) = self.first_migrant(class).unzip();
        loop {
            let index = self.classes[class].list.head();
            let listed = self.slots.get(index as usize);
            let Some(slot) =
                listed.filter(|slot| before.is_none_or(|before| slot.arrival < before))
            else {
                return migrant;
            };
            if usize::from(self.flows[slot.flow as usize].class) == class {
                return Some(index);
            }
            *skips = skips.checked_sub(1)?;
            self.unlist(index);
        }
    }

    /// The arrival and slot of the first packet of the migrants of `class`.
    fn first_migrant(&self, class: usize) -> Option<(u64, u32)> {
        let (arrival, flow) = self.classes[class].migrants.top()?;
        Some((arrival, self.flows[flow].head))
    }

    /// The class of the oldest packet of all, which is at the front of a list or a heap, so that
    /// nothing has to be skipped for it.
    pub(super) fn eldest(&self) -> Option<usize> {
        let first = |class: usize| {
            let listed = self.slots.get(self.classes[class].list.head() as usize);
            let native =
                |slot: &&StoreSlot<P>| usize::from(self.flows[slot.flow as usize].class) == class;
            let listed = listed.filter(native).map(|slot| slot.arrival);
            let migrant = self.first_migrant(class).map(|(arrival, _)| arrival);
            listed.into_iter().chain(migrant).min()
        };
        let firsts = self.backlogged.from(0);
        let firsts = firsts.filter_map(|class| Some((first(class)?, class)));
        firsts.min().map(|(_, class)| class)
    }

    fn unlist(&mut self, index: u32) {
        if let Some(class) = self.slots[index as usize].listed_in.take() {
            let list = &mut self.classes[usize::from(class)].list;
            self.nodes.remove(list, index);
        }
    }

    fn take_slot(&mut self, slot: StoreSlot<P>) -> u32 {
        let index = self.free;
        if index == NIL {
            self.slots.push(slot);
            self.nodes.grow();
            return (self.slots.len() - 1) as u32;
        }
        self.free = self.slots[index as usize].next;
        self.slots[index as usize] = slot;
        index
    }
}

#[cfg(test)]
impl<P> ClassStore<P> {
    /// The paper's way (section 6): search all flows of `class` for the packet that arrived first.
    pub(super) fn front_by_search(&self, class: usize) -> Option<&Packet<P>> {
        let heads = self
            .flows
            .iter()
            .filter(|queue| usize::from(queue.class) == class && queue.head != NIL);
        let first = heads
            .map(|queue| &self.slots[queue.head as usize])
            .min_by_key(|slot| slot.arrival)?;
        first.packet.as_ref()
    }

    /// Recounts every class from its flows: the backlog, and the number of flows in it.
    pub(super) fn recount(&self) -> [(Backlog, u64); MAX_CLASSES] {
        let mut counted = [(Backlog::default(), 0); MAX_CLASSES];
        for queue in &self.flows {
            let class = &mut counted[usize::from(queue.class)];
            class.1 += u64::from(queue.head != NIL);
            let mut at = queue.head;
            while at != NIL {
                let slot = &self.slots[at as usize];
                let len = slot.packet.as_ref().map_or(0, |packet| packet.len);
                class.0.add(len);
                at = slot.next;
            }
        }
        counted
    }
}
