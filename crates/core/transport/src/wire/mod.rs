//! Packets on the wire.

pub mod media;
pub mod quic;
pub mod segment;

use units::{Ecn, Instant};

/// A packet to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Length in bytes, IP header included.
    pub len: u32,
    /// The ECN field to send it with.
    pub ecn: Ecn,
    /// Its contents.
    pub packet: Wire,
}

/// The contents of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    /// A TCP segment.
    Tcp(segment::Segment),
    /// A QUIC packet.
    Quic(quic::QuicPacket),
    /// Media, from a session's sender.
    Media(media::MediaPacket),
    /// Feedback, from a session's receiver.
    Feedback(media::Feedback),
    /// An application's datagram.
    Datagram(Datagram),
    /// Of a [`Session`](crate::endpoint::Session) of another make, as it stands there.
    Session(Box<[u8]>),
}

impl Wire {
    /// Which of its flow's subflows it belongs to: another pair of ports, so another flow to a queue.
    pub fn subflow(&self) -> u8 {
        match self {
            Wire::Quic(packet) => packet.path,
            _ => 0,
        }
    }
}

/// An application's datagram, directly over UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The number that its sender gave it.
    pub id: u64,
    /// Length in bytes, IP header included.
    pub len: u32,
    /// When it was sent.
    pub sent: Instant,
}
