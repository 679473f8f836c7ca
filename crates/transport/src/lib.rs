//! Sans-I/O transports: TCP, QUIC's shape, and media sessions.
//!
//! A transport is a state machine: packets and timers go in, packets and events come out, and every
//! call takes `now`. No bytes are carried, only their numbers: whoever runs a connection keeps the
//! content beside it (a simulator), or writes real bytes (a socket).
//!
//! After any call, drive an end point until it is quiet: [`Connection::transmit`] until it returns
//! nothing, [`Connection::event`] until it returns nothing, then look at
//! [`Connection::next_timer`].
//!
//! Not for: deciding how fast to send (`cca`); what the bytes mean (`workload`).

#![deny(missing_docs)]

mod config;
mod delivery;
pub mod endpoint;
mod flight;
mod loss;
pub mod media;
mod pacing;
pub mod quic;
mod ranges;
mod recovery;
mod rtt;
pub mod tcp;
mod usage;

pub use config::Config;
pub use endpoint::Endpoint;

use units::{Ecn, Instant};

/// One end of a connection that carries byte streams, whatever the protocol.
pub trait Connection: Send {
    /// Starts the handshake; only at the end that opens.
    fn open(&mut self, now: Instant);

    /// Appends `bytes` to what `stream` has to send. TCP has one stream, 0. Bytes given before
    /// the handshake is complete wait for it.
    fn send(&mut self, now: Instant, stream: u32, bytes: u64);

    /// A packet arrived with `ecn` in its IP header.
    fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire);

    /// The next packet to send `now`, if any may be sent.
    fn transmit(&mut self, now: Instant) -> Option<Transmit>;

    /// When [`on_timer`](Self::on_timer) wants to be called; [`Instant::NEVER`] if not at all. May
    /// be called earlier or later; a call that comes early does nothing.
    fn next_timer(&self) -> Instant;

    /// Time has passed. Afterwards packets may be ready to be sent.
    fn on_timer(&mut self, now: Instant);

    /// What happened since the last call, in order.
    fn event(&mut self) -> Option<Event>;

    /// Bytes given to [`send`](Self::send) and not sent for the first time yet.
    fn unsent(&self) -> u64;

    /// Counters, for results and tests.
    fn stats(&self) -> Stats;
}

/// What a connection tells its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete; what was given to send goes out.
    Connected,
    /// `bytes` more of `stream` arrived in order.
    Received {
        /// Which stream.
        stream: u32,
        /// How many more.
        bytes: u64,
    },
    /// Fewer bytes than [`Config::unsent_low`] wait to be sent for the first time: an application
    /// that interleaves streams itself may give more.
    Writable,
}

/// A packet to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Length in bytes, IP header included.
    pub len: u32,
    /// The ECN field to send it with.
    pub ecn: Ecn,
    /// What it carries.
    pub packet: Wire,
}

/// What a packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    /// A TCP segment.
    Tcp(tcp::Segment),
    /// A QUIC packet.
    Quic(quic::Packet),
    /// Media, from a session's sender.
    Media(media::Packet),
    /// Feedback, from a session's receiver.
    Feedback(media::Feedback),
    /// An application's datagram.
    Datagram(Datagram),
}

/// An application's datagram, over UDP without anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The number that its sender gave it.
    pub id: u64,
    /// Length in bytes, IP header included.
    pub len: u32,
    /// When it was sent.
    pub sent: Instant,
}

/// What a connection counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Times that fast recovery was entered.
    pub recoveries: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Bytes delivered to the peer in order, as far as acknowledged.
    pub acked: u64,
}
