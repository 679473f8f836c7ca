//! Input and output of an application.

use crate::carrier::Carrier;
use units::{Duration, Instant, Rate};

/// One end of an application.
pub trait App: Send {
    /// Handles an event; the resulting actions are appended to `out`.
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>);
}

/// A connection's number, chosen by the end that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ConnId(pub u32);

/// An event for an application.
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
        /// Its contents.
        message: Message,
    },
    /// Fewer bytes than the transport's low mark wait to be sent: more may be given. Follows once
    /// after an [`Output::Send`] that reached the mark, when it no longer is reached; further ones
    /// do no harm.
    Writable(ConnId),
    /// A datagram arrived.
    Datagram {
        /// On which connection.
        conn: ConnId,
        /// Which one.
        datagram: Datagram,
    },
    /// The state of a media session, as [`Output::Ask`] asked for it.
    Session {
        /// Which one.
        conn: ConnId,
        /// For which stream of video.
        stream: u8,
        /// Its state.
        conditions: Conditions,
    },
    /// Bytes given to a TCP connection and never sent, as [`Output::Ask`] asked for.
    Unsent {
        /// Which one.
        conn: ConnId,
        /// Bytes.
        bytes: u64,
    },
    /// The time asked for by [`Output::Timer`] has come.
    Timer(u64),
}

/// An action of an application.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Open a connection.
    Open {
        /// Its number.
        conn: ConnId,
        /// Its carrier.
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
        /// Its contents.
        message: Message,
    },
    /// Send a datagram.
    Datagram {
        /// On which connection.
        conn: ConnId,
        /// Which one.
        datagram: Datagram,
    },
    /// Report the state of a media session, with [`Input::Session`]; of a TCP connection the unsent
    /// bytes, with [`Input::Unsent`].
    Ask {
        /// Which one.
        conn: ConnId,
        /// For which stream of video; 0 for TCP.
        stream: u8,
    },
    /// Send a frame over a media session.
    Frame {
        /// Which session.
        conn: ConnId,
        /// The frame.
        frame: Frame,
    },
    /// Make a media session fill the rest that video leaves of a rate, headers excluded, with
    /// padding, as far as its control allows, from now on; zero for no padding.
    Fill {
        /// Which session.
        conn: ConnId,
        /// The rate.
        rate: Rate,
    },
    /// Send a frame of audio over a media session.
    Audio {
        /// Which session.
        conn: ConnId,
        /// The frame.
        frame: AudioFrame,
    },
    /// Call with [`Input::Timer`] and this token at this moment.
    Timer(Instant, u64),
    /// The connection is no longer needed: both ends are removed, and so is the application at the
    /// far end.
    Close(ConnId),
    /// An event for results.
    Report(Report),
}

/// A datagram, as applications see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Its number.
    pub id: u64,
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    /// When it was sent.
    pub sent: Instant,
}

/// The contents of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// TLS 1.3 ClientHello.
    ClientHello,
    /// TLS 1.3 ServerHello to Finished, certificates included.
    ServerHello,
    /// A request, with the action of the server.
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
    /// A frame of a call.
    Frame {
        /// Its number.
        id: u64,
    },
    /// Bytes of no meaning.
    Bulk {
        /// No events follow these.
        last: bool,
    },
}

/// An event for results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Report {
    /// Navigation starts.
    PageStarted {
        /// Which load, counted from 0.
        load: u32,
        /// Which page: an index into the entry's list.
        page: u32,
        /// Its duration on an ideal link.
        ideal: crate::ideal::Ideal,
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
    /// A frame of a call was handed over.
    FrameSent {
        /// Its number.
        frame: u64,
    },
    /// The last byte of a frame arrived.
    FrameArrived {
        /// Its number.
        frame: u64,
    },
    /// A frame was shown.
    FrameShown {
        /// Its number.
        frame: u64,
    },
    /// All data that the connection was opened for has arrived.
    Done(ConnId),
    /// A value of one of the workload's [figures](crate::Figure).
    Figure {
        /// Which figure, by its place.
        figure: u8,
        /// The value, in the figure's unit.
        value: f64,
        /// When the observation began, which decides whether it is measured.
        began: Instant,
    },
}

/// A frame of video in a media session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Its stream. Results speak of the frames of stream 0; the others' bytes count all the same.
    pub stream: u8,
    /// Its number in the stream: 0, then one more for each. Skipped turns have none.
    pub id: u64,
    /// How long it is.
    pub bytes: u32,
    /// It depends on no other; any other depends on the one before it in its stream, or on that which
    /// `back` says.
    pub key: bool,
    /// Its temporal layer, from 0, the base.
    pub layer: u8,
    /// In a stream with temporal layers, how many frames before it that is on which it depends; 0 in one
    /// without.
    pub back: u8,
}

/// A frame of audio: [`audio::FRAME`](crate::audio::FRAME) of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioFrame {
    /// Its number: 0, then one more for each.
    pub id: u64,
    /// How long it is.
    pub bytes: u32,
}

/// The state of a media session, when a frame's turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The rate to produce at, headers of packets excluded.
    pub rate: Rate,
    /// The receiver asks for a key frame of the stream. Remembered over skipped turns.
    pub keyframe_requested: bool,
    /// The sender holds too much already: skip this turn.
    pub congested: bool,
}
