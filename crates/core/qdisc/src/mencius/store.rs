//! Packets in the queues of flows; those of settled flows also in the order of their arrival, by
//! host, so that the one that has waited longest need not be searched.

use crate::list::{List, Nodes};
use crate::pool::{Fifo, Pool};
use crate::{Backlog, Packet};
use units::Instant;

/// The packet in a place of the pool.
#[derive(Debug, Clone, Copy)]
struct PacketPlace {
    flow: u32,
    /// Whether it is in the list of its host.
    listed: bool,
}

/// Packets of the settled flows of a host, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Listed(List);

/// All packets of the discipline.
#[derive(Debug)]
pub(super) struct FlowStore<P> {
    pool: Pool<P>,
    places: Vec<PacketPlace>,
    in_host: Nodes,
    backlog: Backlog,
}

impl<P> FlowStore<P> {
    /// Empty.
    pub(super) fn new() -> Self {
        FlowStore {
            pool: Pool::new(),
            places: Vec::new(),
            in_host: Nodes::default(),
            backlog: Backlog::default(),
        }
    }

    /// The total backlog.
    pub(super) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Appends a packet to the `queue` of `flow`, which is settled if there is a `list`.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub(super) fn push(
        &mut self,
        now: Instant,
        (flow, queue): (usize, &mut Fifo),
        list: Option<&mut Listed>,
        packet: Packet<P>,
    ) {
        self.backlog.add(packet.len);
        let index = self.pool.push(queue, now, packet);
        let place = PacketPlace {
            flow: flow as u32,
            listed: list.is_some(),
        };
        match self.places.get_mut(index as usize) {
            Some(known) => *known = place,
            None => {
                self.places.push(place);
                self.in_host.grow();
            }
        }
        if let Some(list) = list {
            self.in_host.push_back(&mut list.0, index);
        }
    }

    /// Takes the oldest packet of `queue`; `list` is that of its host.
    // In place: calls and copies are some percent of the cost of a packet.
    #[inline]
    pub(super) fn pop(&mut self, queue: &mut Fifo, list: &mut Listed) -> Option<Packet<P>> {
        let index = queue.head();
        let packet = self.pool.pop(queue)?;
        self.unlist(index, list);
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// The arrival of the oldest packet of `queue`.
    pub(super) fn oldest(&self, queue: &Fifo) -> Option<Instant> {
        self.pool.peek(queue).map(|packet| packet.arrived)
    }

    /// The oldest packet in the list of a host, and its flow.
    pub(super) fn front(&self, list: &Listed) -> Option<(u32, usize)> {
        let index = list.0.head();
        let place = self.places.get(index as usize)?;
        Some((index, place.flow as usize))
    }

    /// The packet's flow is not settled any more; `list` is that of its host.
    pub(super) fn unlist(&mut self, index: u32, list: &mut Listed) {
        if std::mem::take(&mut self.places[index as usize].listed) {
            self.in_host.remove(&mut list.0, index);
        }
    }
}
