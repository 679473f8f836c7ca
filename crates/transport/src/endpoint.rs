//! One end of a flow, with any carrier.

use crate::{Connection, Datagram, Transmit, Wire, media};
use std::collections::VecDeque;
use units::{Ecn, Instant};

/// One end of a flow.
pub enum Endpoint {
    /// An end of a connection.
    Connection(Box<dyn Connection>),
    /// The sending end of a media session.
    Sender(Box<media::Sender>),
    /// The receiving end of a media session.
    Receiver(Box<media::Receiver>),
    /// An end of a flow of datagrams.
    Datagrams(Box<Datagrams>),
    /// Closed: packets that still come are passed over.
    Closed,
}

/// Events of an end point for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndEvent {
    /// Of a connection.
    Connection(crate::Event),
    /// Of a media session.
    Media(media::Event),
    /// A datagram arrived.
    Datagram(Datagram),
}

/// Datagrams at an end: they leave as they are given, and arrive as they come.
#[derive(Debug)]
pub struct Datagrams {
    /// What their IP headers say.
    ecn: Ecn,
    out: VecDeque<Datagram>,
    came: VecDeque<Datagram>,
}

impl Datagrams {
    /// An end whose datagrams have `ecn` in their IP headers.
    pub fn new(ecn: Ecn) -> Self {
        Datagrams {
            ecn,
            out: VecDeque::new(),
            came: VecDeque::new(),
        }
    }

    /// Gives a datagram to be sent.
    pub fn send(&mut self, datagram: Datagram) {
        self.out.push_back(datagram);
    }

    fn transmit(&mut self) -> Option<Transmit> {
        self.out.pop_front().map(|datagram| Transmit {
            len: datagram.len,
            ecn: self.ecn,
            packet: Wire::Datagram(datagram),
        })
    }
}

impl Endpoint {
    /// A packet arrived with `ecn` in its IP header.
    #[inline]
    pub fn handle(&mut self, now: Instant, ecn: Ecn, wire: &Wire) {
        match self {
            Endpoint::Connection(connection) => connection.handle(now, ecn, wire),
            Endpoint::Sender(sender) => sender.handle(now, ecn, wire),
            Endpoint::Receiver(receiver) => receiver.handle(now, ecn, wire),
            Endpoint::Datagrams(datagrams) => {
                if let Wire::Datagram(datagram) = wire {
                    datagrams.came.push_back(*datagram);
                }
            }
            Endpoint::Closed => {}
        }
    }

    /// The next packet to send `now`, if any may be sent.
    #[inline]
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        match self {
            Endpoint::Connection(connection) => connection.transmit(now),
            Endpoint::Sender(sender) => sender.transmit(now),
            Endpoint::Receiver(receiver) => receiver.transmit(now),
            Endpoint::Datagrams(datagrams) => datagrams.transmit(),
            Endpoint::Closed => None,
        }
    }

    /// Bytes that may wait in a queue of its own computer while it sends more: see
    /// [`Connection::may_wait`].
    #[inline]
    pub fn may_wait(&self) -> u64 {
        match self {
            Endpoint::Connection(connection) => connection.may_wait(),
            _ => u64::MAX,
        }
    }

    /// It is not asked for packets, because more than [`may_wait`](Self::may_wait) waits.
    pub fn held_back(&mut self) {
        if let Endpoint::Connection(connection) = self {
            connection.held_back();
        }
    }

    /// Subflows, each with another pair of ports: see [`Connection::subflows`].
    pub fn subflows(&self) -> u8 {
        match self {
            Endpoint::Connection(connection) => connection.subflows(),
            _ => 1,
        }
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    #[inline]
    pub fn next_timer(&self) -> Instant {
        match self {
            Endpoint::Connection(connection) => connection.next_timer(),
            Endpoint::Sender(sender) => sender.next_timer(),
            Endpoint::Receiver(receiver) => receiver.next_timer(),
            Endpoint::Datagrams(_) | Endpoint::Closed => Instant::NEVER,
        }
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        match self {
            Endpoint::Connection(connection) => connection.on_timer(now),
            Endpoint::Sender(sender) => sender.on_timer(now),
            Endpoint::Receiver(receiver) => receiver.on_timer(now),
            Endpoint::Datagrams(_) | Endpoint::Closed => {}
        }
    }

    /// The next event since the last call, in order.
    #[inline]
    pub fn event(&mut self) -> Option<EndEvent> {
        match self {
            Endpoint::Connection(connection) => connection.event().map(EndEvent::Connection),
            Endpoint::Receiver(receiver) => receiver.event().map(EndEvent::Media),
            Endpoint::Datagrams(datagrams) => datagrams.came.pop_front().map(EndEvent::Datagram),
            Endpoint::Sender(_) | Endpoint::Closed => None,
        }
    }
}
