//! The view that a discipline has of a packet.

use units::{Ecn, FlowId, Instant};

/// A packet as a discipline sees it, around a payload that it never looks into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packet<P> {
    /// Length in bytes, IP header included.
    pub len: u32,
    /// The flow of the packet. Only for observers: a discipline separates flows by `hash`.
    pub flow: FlowId,
    /// Hash of the flow's addresses and ports, salted by its creator (`skb_get_hash_perturb`).
    pub hash: u32,
    /// Hashes of the flow's addresses, each by itself.
    pub hosts: Hosts,
    /// The Differentiated Services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// The band that this host chose for it, from 1 on; 0 if it has not. It does not leave the host
    /// (Linux: the minor number of `skb->priority`). Only disciplines that document it may read it.
    pub band: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// The end host's claim about the packet. Only disciplines that document it may read it.
    pub label: Label,
    /// When it was enqueued; set by [`Pool::push`](crate::pool::Pool::push) or the discipline.
    pub arrived: Instant,
    /// The packet itself.
    pub payload: P,
}

/// Hashes of a packet's two addresses, salted by their creator. Equal hashes are one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hosts {
    /// Of the sender's address.
    pub source: u32,
    /// Of the receiver's address.
    pub destination: u32,
    /// Whether later packets of the flow may have others: address translation has not recorded it
    /// yet.
    pub provisional: bool,
}

impl Hosts {
    /// Hosts that will not change.
    pub const fn new(source: u32, destination: u32) -> Self {
        Hosts {
            source,
            destination,
            provisional: false,
        }
    }
}

/// The end host's claim about its traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Label {
    /// No claim.
    #[default]
    None,
    /// Delay-sensitive.
    RealTime,
    /// All other traffic, explicitly.
    Bulk,
}

impl<P> Packet<P> {
    /// Marks the packet as having met congestion; false if its sender is not capable of it.
    pub fn mark(&mut self) -> bool {
        let capable = self.ecn != Ecn::NotCapable;
        if capable {
            self.ecn = Ecn::Ce;
        }
        capable
    }
}

/// The packets and bytes queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Counts a packet of `len` bytes in.
    pub fn add(&mut self, len: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }

    /// Counts a packet of `len` bytes out.
    pub fn remove(&mut self, len: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(len);
    }

    /// No packets wait.
    pub const fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
