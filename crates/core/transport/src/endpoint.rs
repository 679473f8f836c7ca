//! One end of a flow, with any carrier.

use crate::quic::Quic;
use crate::tcp::Tcp;
use crate::{Connection, Datagram, SenderState, Transmit, Wire, media};
use std::collections::VecDeque;
use units::{Ecn, Instant, Rate};

/// One end of a flow.
pub enum Endpoint {
    /// An end of a TCP connection.
    Tcp(Box<Tcp>),
    /// An end of a QUIC connection.
    Quic(Box<Quic>),
    /// The sending end of a media session.
    Sender(Box<media::MediaSender>),
    /// The receiving end of a media session.
    Receiver(Box<media::MediaReceiver>),
    /// An end of a flow of datagrams.
    Datagrams(Box<Datagrams>),
    /// An end of a media session of another make.
    Session(Box<dyn Session>),
    /// Closed: packets that still come are passed over.
    Closed,
}

/// Events of an end point for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndEvent {
    /// Of a connection.
    Connection(crate::Event),
    /// Of a media session.
    Media(media::MediaEvent),
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

/// An end of a media session that is not this crate's: one stream of video, and one of audio.
pub trait Session {
    /// A packet of its peer's arrived.
    fn handle(&mut self, now: Instant, contents: &[u8]);

    /// What the next packet has behind the headers of IP and UDP.
    fn transmit(&mut self) -> Option<Vec<u8>>;

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    fn next_timer(&self) -> Instant;

    /// Time has passed.
    fn on_timer(&mut self, now: Instant);

    /// What became of frames here, in order.
    fn event(&mut self) -> Option<media::MediaEvent>;

    /// The rate that its encoder may have, audio included.
    fn media_rate(&self) -> Rate;

    /// Whether its peer has asked for a key frame since the last call.
    fn take_keyframe_request(&mut self) -> bool;

    /// Sends a frame of video.
    fn push_frame(&mut self, now: Instant, frame: media::EncodedFrame);

    /// Sends a frame of audio.
    fn push_audio(&mut self, now: Instant, id: u64, bytes: u32);
}

/// Bytes of the headers of IPv4 and UDP.
pub const UDP_HEADERS: u32 = 28;

/// The next packet of a session; it sends without ECN.
fn session_packet(session: &mut dyn Session) -> Option<Transmit> {
    let contents = session.transmit()?.into_boxed_slice();
    Some(Transmit {
        len: contents.len() as u32 + UDP_HEADERS,
        ecn: Ecn::NotCapable,
        packet: Wire::Session(contents),
    })
}

impl Endpoint {
    /// The connection that this is an end of, if it is one.
    pub fn connection(&self) -> Option<&dyn Connection> {
        match self {
            Endpoint::Tcp(tcp) => Some(&**tcp),
            Endpoint::Quic(quic) => Some(&**quic),
            _ => None,
        }
    }

    /// As [`connection`](Self::connection), to change it.
    pub fn connection_mut(&mut self) -> Option<&mut dyn Connection> {
        match self {
            Endpoint::Tcp(tcp) => Some(&mut **tcp),
            Endpoint::Quic(quic) => Some(&mut **quic),
            _ => None,
        }
    }

    /// A packet arrived with `ecn` in its IP header.
    #[inline]
    pub fn handle(&mut self, now: Instant, ecn: Ecn, wire: &Wire) {
        match self {
            Endpoint::Tcp(tcp) => tcp.handle(now, ecn, wire),
            Endpoint::Quic(quic) => quic.handle(now, ecn, wire),
            Endpoint::Sender(sender) => sender.handle(now, ecn, wire),
            Endpoint::Receiver(receiver) => receiver.handle(now, ecn, wire),
            Endpoint::Datagrams(datagrams) => {
                if let Wire::Datagram(datagram) = wire {
                    datagrams.came.push_back(*datagram);
                }
            }
            Endpoint::Session(session) => {
                if let Wire::Session(contents) = wire {
                    session.handle(now, contents);
                }
            }
            Endpoint::Closed => {}
        }
    }

    /// The next packet to send `now`, if any may be sent.
    #[inline]
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        match self {
            Endpoint::Tcp(tcp) => tcp.transmit(now),
            Endpoint::Quic(quic) => quic.transmit(now),
            Endpoint::Sender(sender) => sender.transmit(now),
            Endpoint::Receiver(receiver) => receiver.transmit(now),
            Endpoint::Datagrams(datagrams) => datagrams.transmit(),
            Endpoint::Session(session) => session_packet(&mut **session),
            Endpoint::Closed => None,
        }
    }

    /// Bytes that may wait in a queue of its own computer while it sends more: see
    /// [`Connection::may_wait`].
    #[inline]
    pub fn may_wait(&self) -> u64 {
        match self {
            Endpoint::Tcp(tcp) => tcp.may_wait(),
            Endpoint::Quic(quic) => quic.may_wait(),
            _ => u64::MAX,
        }
    }

    /// It is not asked for packets, because more than [`may_wait`](Self::may_wait) waits.
    pub fn held_back(&mut self, now: Instant) {
        if let Some(connection) = self.connection_mut() {
            connection.held_back(now);
        }
    }

    /// Subflows, each with another pair of ports: see [`Connection::subflows`].
    pub fn subflows(&self) -> u8 {
        self.connection().map_or(1, Connection::subflows)
    }

    /// What its sending half is at; none if it has none, or tells nothing.
    pub fn state(&self) -> Option<SenderState> {
        match self {
            Endpoint::Sender(sender) => Some(sender.state()),
            _ => self.connection().map(Connection::state),
        }
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    #[inline]
    pub fn next_timer(&self) -> Instant {
        match self {
            Endpoint::Tcp(tcp) => tcp.next_timer(),
            Endpoint::Quic(quic) => quic.next_timer(),
            Endpoint::Sender(sender) => sender.next_timer(),
            Endpoint::Receiver(receiver) => receiver.next_timer(),
            Endpoint::Session(session) => session.next_timer(),
            Endpoint::Datagrams(_) | Endpoint::Closed => Instant::NEVER,
        }
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        match self {
            Endpoint::Tcp(tcp) => tcp.on_timer(now),
            Endpoint::Quic(quic) => quic.on_timer(now),
            Endpoint::Sender(sender) => sender.on_timer(now),
            Endpoint::Receiver(receiver) => receiver.on_timer(now),
            Endpoint::Session(session) => session.on_timer(now),
            Endpoint::Datagrams(_) | Endpoint::Closed => {}
        }
    }

    /// The next event since the last call, in order.
    #[inline]
    pub fn event(&mut self) -> Option<EndEvent> {
        match self {
            Endpoint::Tcp(tcp) => tcp.event().map(EndEvent::Connection),
            Endpoint::Quic(quic) => quic.event().map(EndEvent::Connection),
            Endpoint::Receiver(receiver) => receiver.event().map(EndEvent::Media),
            Endpoint::Session(session) => session.event().map(EndEvent::Media),
            Endpoint::Datagrams(datagrams) => datagrams.came.pop_front().map(EndEvent::Datagram),
            Endpoint::Sender(_) | Endpoint::Closed => None,
        }
    }
}
