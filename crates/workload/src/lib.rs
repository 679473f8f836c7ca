//! Sans-I/O applications: calls, web pages, bulk transfers.
//!
//! An [`App`] is a state machine: it is told what happened and answers with what to do. It knows
//! nothing of packets; whoever runs it opens the connections and carries the messages. A message's
//! content stands in a [`Message`]: a simulator keeps it beside the byte stream, a socket writes it
//! in front of that many bytes.
//!
//! Not for: carrying bytes (`transport`); saying which traffic a run has (`scenario`).

#![deny(missing_docs)]

pub mod bulk;
pub mod call;
pub mod generator;
pub mod har;
pub mod ledger;
pub mod page;
pub mod statistics;

use units::{Duration, Instant};

/// One end of an application.
pub trait App: Send {
    /// Something happened; what to do about it is appended to `out`.
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>);
}

/// A connection's number, chosen by the end that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u32);

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The application starts.
    Start,
    /// The transport's handshake is complete.
    Opened(ConnId),
    /// The last byte of a message arrived.
    Message {
        /// On which connection.
        conn: ConnId,
        /// On which stream; 0 for TCP.
        stream: u32,
        /// What it says.
        message: Message,
    },
    /// Fewer bytes than the transport's low mark wait to be sent: more may be given. Comes once
    /// after an [`Output::Send`] that left the mark reached, when it no longer is; more often does
    /// no harm.
    Writable(ConnId),
    /// The time asked for by [`Output::Timer`] has come.
    Timer(u64),
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Open a connection.
    Open {
        /// Its number.
        conn: ConnId,
        /// What carries it.
        carrier: Carrier,
        /// The machine it leads to: the same number for the same one. An application that speaks to
        /// one only says 0.
        server: u32,
        /// How much longer than the scenario's the round trip to this server is, at either end
        /// together.
        extra_rtt: Duration,
    },
    /// Send a message of `bytes` on `stream`.
    Send {
        /// On which connection.
        conn: ConnId,
        /// On which stream; 0 for TCP.
        stream: u32,
        /// How long it is.
        bytes: u64,
        /// What it says.
        message: Message,
    },
    /// Call with [`Input::Timer`] and this token at this moment.
    Timer(Instant, u64),
    /// The connection is no longer needed.
    Close(ConnId),
    /// Something that results speak of.
    Report(Report),
}

/// What carries a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// QUIC.
    Quic,
}

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// TLS 1.3 ClientHello.
    ClientHello,
    /// TLS 1.3 ServerHello to Finished, certificates included.
    ServerHello,
    /// A request, which says what the server is to do.
    Request {
        /// Its number within the page.
        id: u32,
        /// How long the answer is, bytes, headers included.
        response: u64,
        /// How long the server thinks before the first byte.
        think: Duration,
    },
    /// A part of an answer.
    Response {
        /// The request's number.
        id: u32,
        /// Whether this is the last part.
        last: bool,
    },
    /// Bytes of no meaning.
    Bulk,
}

/// Something that results speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// Navigation starts.
    PageStarted {
        /// Which load, counted from 0.
        load: u32,
        /// Which page: an index into the entry's list.
        page: u32,
    },
    /// A request was sent.
    RequestStarted {
        /// Which load.
        load: u32,
        /// Its number within the page.
        id: u32,
    },
    /// A request's answer is complete.
    RequestDone {
        /// Which load.
        load: u32,
        /// Its number within the page.
        id: u32,
        /// Length of the answer in bytes.
        bytes: u64,
    },
    /// The last request of the page is complete.
    PageDone {
        /// Which load.
        load: u32,
    },
}
