//! Packets in the queues of flows; those of established flows also in the order of their arrival, by
//! host and among all, so that the one that has waited longest need not be searched.

use crate::list::{List, NIL, Nodes};
use crate::{Backlog, Packet};
use units::Instant;

#[derive(Debug)]
struct Slot<P> {
    packet: Option<Packet<P>>,
    flow: u32,
    /// The next packet of the flow, or the next free slot.
    next: u32,
    /// Whether it is in the two lists.
    listed: bool,
}

/// The queue of a flow.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

/// Packets of the established flows of a host, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Listed(List);

/// All packets of the discipline.
#[derive(Debug)]
pub(super) struct Store<P> {
    slots: Vec<Slot<P>>,
    free: u32,
    in_host: Nodes,
    in_all: Nodes,
    all: List,
    backlog: Backlog,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            head: NIL,
            tail: NIL,
            backlog: Backlog::default(),
        }
    }
}

impl Queue {
    /// What waits in it.
    pub(super) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Nothing waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }
}

impl<P> Store<P> {
    /// Nothing.
    pub(super) fn new() -> Self {
        Store {
            slots: Vec::new(),
            free: NIL,
            in_host: Nodes::default(),
            in_all: Nodes::default(),
            all: List::default(),
            backlog: Backlog::default(),
        }
    }

    /// What waits in all.
    pub(super) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Appends a packet to the `queue` of `flow`, which is established if there is a `list`.
    // In place: calls and copies are some percent of what a packet costs.
    #[inline]
    pub(super) fn push(
        &mut self,
        now: Instant,
        (flow, queue): (usize, &mut Queue),
        list: Option<&mut Listed>,
        mut packet: Packet<P>,
    ) {
        packet.arrived = now;
        queue.backlog.add(packet.len);
        self.backlog.add(packet.len);
        let index = self.take_slot(Slot {
            packet: Some(packet),
            flow: flow as u32,
            next: NIL,
            listed: list.is_some(),
        });
        match self.slots.get_mut(queue.tail as usize) {
            Some(tail) => tail.next = index,
            None => queue.head = index,
        }
        queue.tail = index;
        if let Some(list) = list {
            self.in_host.push_back(&mut list.0, index);
            self.in_all.push_back(&mut self.all, index);
        }
    }

    /// Takes the oldest packet of `queue`; `list` is that of its host.
    // In place: calls and copies are some percent of what a packet costs.
    #[inline]
    pub(super) fn pop(&mut self, queue: &mut Queue, list: &mut Listed) -> Option<Packet<P>> {
        let index = queue.head;
        let slot = self.slots.get_mut(index as usize)?;
        let packet = slot.packet.take()?;
        queue.head = slot.next;
        if queue.head == NIL {
            queue.tail = NIL;
        }
        self.unlist(index, list);
        self.slots[index as usize].next = self.free;
        self.free = index;
        queue.backlog.remove(packet.len);
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// When the oldest packet of `queue` came.
    pub(super) fn oldest(&self, queue: &Queue) -> Option<Instant> {
        let slot = self.slots.get(queue.head as usize)?;
        slot.packet.as_ref().map(|packet| packet.arrived)
    }

    /// The oldest packet in the list of a host, and its flow.
    pub(super) fn front(&self, list: &Listed) -> Option<(u32, usize)> {
        self.with_flow(list.0.head())
    }

    /// The oldest packet in any list, and its flow.
    pub(super) fn front_of_all(&self) -> Option<(u32, usize)> {
        self.with_flow(self.all.head())
    }

    fn with_flow(&self, index: u32) -> Option<(u32, usize)> {
        let slot = self.slots.get(index as usize)?;
        Some((index, slot.flow as usize))
    }

    /// The packet's flow is not established any more; `list` is that of its host.
    pub(super) fn unlist(&mut self, index: u32, list: &mut Listed) {
        if std::mem::take(&mut self.slots[index as usize].listed) {
            self.in_host.remove(&mut list.0, index);
            self.in_all.remove(&mut self.all, index);
        }
    }

    fn take_slot(&mut self, slot: Slot<P>) -> u32 {
        let index = self.free;
        if index == NIL {
            self.slots.push(slot);
            self.in_host.grow();
            self.in_all.grow();
            return (self.slots.len() - 1) as u32;
        }
        self.free = self.slots[index as usize].next;
        self.slots[index as usize] = slot;
        index
    }
}
