//! Packet storage for disciplines with many queues.
//!
//! One slab holds the packets of all queues of a discipline; a queue is a list of indices through
//! it. The slab grows to its high-water mark, and then no packet costs an allocation.

use crate::{Backlog, Packet};
use units::Instant;

const NIL: u32 = u32::MAX;

/// The packets of one discipline.
#[derive(Debug)]
pub struct Pool<P> {
    slots: Vec<PoolSlot<P>>,
    free: u32,
}

#[derive(Debug)]
struct PoolSlot<P> {
    packet: Option<Packet<P>>,
    next: u32,
}

/// A first-in-first-out list of packets in a [`Pool`].
#[derive(Debug, Clone)]
pub struct Fifo {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo {
            head: NIL,
            tail: NIL,
            backlog: Backlog::default(),
        }
    }
}

impl Fifo {
    /// The backlog of this list.
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Whether this list is empty.
    pub const fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    /// The place of its oldest packet in the pool; no place if there is none.
    pub(crate) const fn head(&self) -> u32 {
        self.head
    }
}

impl<P> Default for Pool<P> {
    fn default() -> Self {
        Pool {
            slots: Vec::new(),
            free: NIL,
        }
    }
}

impl<P> Pool<P> {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `packet` to `fifo`, stamping it with its arrival. The place that it has in the pool until
    /// it leaves.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub fn push(&mut self, fifo: &mut Fifo, now: Instant, mut packet: Packet<P>) -> u32 {
        packet.arrived = now;
        fifo.backlog.add(packet.len);
        let index = self.take_slot(packet);
        if fifo.tail == NIL {
            fifo.head = index;
        } else {
            self.slots[fifo.tail as usize].next = index;
        }
        fifo.tail = index;
        index
    }

    /// Takes the oldest packet of `fifo`.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub fn pop(&mut self, fifo: &mut Fifo) -> Option<Packet<P>> {
        let slot = self.slots.get_mut(fifo.head as usize)?;
        let packet = slot.packet.take()?;
        let next = slot.next;
        slot.next = self.free;
        self.free = fifo.head;
        fifo.head = next;
        if next == NIL {
            fifo.tail = NIL;
        }
        fifo.backlog.remove(packet.len);
        Some(packet)
    }

    /// The oldest packet of `fifo`, left where it is.
    pub fn peek<'a>(&'a self, fifo: &Fifo) -> Option<&'a Packet<P>> {
        self.slots.get(fifo.head as usize)?.packet.as_ref()
    }

    fn take_slot(&mut self, packet: Packet<P>) -> u32 {
        let index = self.free;
        if index == NIL {
            self.slots.push(PoolSlot {
                packet: Some(packet),
                next: NIL,
            });
            return (self.slots.len() - 1) as u32;
        }
        let slot = &mut self.slots[index as usize];
        self.free = slot.next;
        *slot = PoolSlot {
            packet: Some(packet),
            next: NIL,
        };
        index
    }
}
