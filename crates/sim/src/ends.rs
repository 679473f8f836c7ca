//! End points: one end of a connection or of a media session.

use transport::media;
use transport::{Connection, Transmit, Wire};
use units::{Ecn, Instant};
use workload::ConnId;
use workload::ledger::Ledger;

/// One end point.
pub struct End {
    /// What it is.
    pub kind: EndKind,
    /// The other end.
    pub peer: u32,
    /// Who is told of what happens at this end.
    pub owner: Owner,
    /// What this end sent.
    pub outgoing: Ledger,
    /// Bytes that arrived of a transfer.
    pub received: u64,
    /// Whether what arrives here counts as its flow's goodput.
    pub counts: bool,
    /// When the earliest of its timers that stand in the agenda is due.
    pub scheduled: Instant,
}

/// What an end point is.
pub enum EndKind {
    /// An end of a connection.
    Connection(Box<dyn Connection>),
    /// The sending end of a media session.
    Sender(Box<media::Sender>),
    /// The receiving end of a media session.
    Receiver(Box<media::Receiver>),
    /// Closed: packets that still come are passed over.
    Closed,
}

/// Who is told of what happens at an end point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// An application, which calls the connection by this number.
    App(u32, ConnId),
    /// Nobody: the receiving end of a transfer.
    Nobody,
    /// A call, by its traffic entry.
    Call(u16),
}

impl End {
    /// A packet arrived.
    pub fn handle(&mut self, now: Instant, ecn: Ecn, wire: &Wire) {
        match &mut self.kind {
            EndKind::Connection(connection) => connection.handle(now, ecn, wire),
            EndKind::Sender(sender) => sender.handle(now, ecn, wire),
            EndKind::Receiver(receiver) => receiver.handle(now, ecn, wire),
            EndKind::Closed => {}
        }
    }

    /// The next packet to send.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        match &mut self.kind {
            EndKind::Connection(connection) => connection.transmit(now),
            EndKind::Sender(sender) => sender.transmit(now),
            EndKind::Receiver(receiver) => receiver.transmit(now),
            EndKind::Closed => None,
        }
    }

    /// When [`on_timer`](Self::on_timer) wants to be called.
    pub fn next_timer(&self) -> Instant {
        match &self.kind {
            EndKind::Connection(connection) => connection.next_timer(),
            EndKind::Sender(sender) => sender.next_timer(),
            EndKind::Receiver(receiver) => receiver.next_timer(),
            EndKind::Closed => Instant::NEVER,
        }
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        match &mut self.kind {
            EndKind::Connection(connection) => connection.on_timer(now),
            EndKind::Sender(sender) => sender.on_timer(now),
            EndKind::Receiver(receiver) => receiver.on_timer(now),
            EndKind::Closed => {}
        }
    }
}
