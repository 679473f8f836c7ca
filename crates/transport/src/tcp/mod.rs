//! TCP: a handshake, one byte stream each way, SACK-based recovery with RACK-TLP.
//!
//! RFC 9293 as far as bytes and acknowledgements go, RFC 2018 (SACK), RFC 5681, RFC 6298 (timer),
//! RFC 6928 (initial window), RFC 6937 (PRR), RFC 8985 (RACK-TLP), RFC 3168 (ECN). Left out: FIN
//! and RST (an application closes by dropping both ends), urgent data, zero windows (receivers
//! read at once), F-RTO and the undoing of reductions.

pub(crate) mod ranges;
mod receiver;
mod recovery;
pub(crate) mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use segment::{Kind, MAX_SACKS, Segment};

use crate::{Config, Connection, Event, Stats, Transmit, Wire};
use cca::Control;
use receiver::Receiver;
use sender::Sender;
use units::{Duration, Ecn, Instant};

/// One end of a TCP connection.
pub struct Tcp {
    state: State,
    header: u32,
    opens: bool,
    receiver: Receiver,
    sender: Sender,
    /// The handshake packet of this end is to leave.
    greet: bool,
    /// When the handshake packet last left, and whether it left more than once.
    greeted: Option<(Instant, bool)>,
    /// When it is to leave again.
    deadline: Instant,
    connected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    /// This end's SYN or SYN-ACK waits for its answer.
    Handshake,
    Established,
}

impl Tcp {
    /// An end that `opens`, or waits to be opened.
    pub fn new(config: Config, control: Box<dyn Control>, opens: bool) -> Self {
        Tcp {
            state: State::Closed,
            header: config.header,
            opens,
            receiver: Receiver::new(&config),
            sender: Sender::new(config, control),
            greet: false,
            greeted: None,
            deadline: Instant::NEVER,
            connected: false,
        }
    }

    /// Bytes of data in flight: sent, not acknowledged, not lost.
    pub const fn in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Smoothed round trip; zero before the first sample.
    pub const fn srtt(&self) -> Duration {
        self.sender.srtt()
    }

    /// The congestion control.
    pub fn control(&self) -> &dyn Control {
        self.sender.control()
    }

    fn establish(&mut self, now: Instant) {
        if self.state == State::Established {
            return;
        }
        self.state = State::Established;
        self.deadline = Instant::NEVER;
        self.connected = true;
        if let Some((at, false)) = self.greeted {
            self.sender.handshake_rtt(now.since(at));
        }
    }

    fn greeting(&mut self, now: Instant) -> Transmit {
        self.greet = false;
        self.greeted = Some((now, self.greeted.is_some()));
        self.deadline = now + self.sender.rto();
        let kind = if self.opens { Kind::Syn } else { Kind::SynAck };
        self.packet(
            Segment {
                kind,
                ..Segment::default()
            },
            Ecn::NotCapable,
        )
    }

    fn packet(&self, segment: Segment, ecn: Ecn) -> Transmit {
        Transmit {
            len: self.header + segment.len,
            ecn,
            packet: Wire::Tcp(segment),
        }
    }
}

impl Connection for Tcp {
    fn open(&mut self, _now: Instant) {
        self.state = State::Handshake;
        self.greet = true;
    }

    fn send(&mut self, now: Instant, _stream: u32, bytes: u64) {
        self.sender.give(now, bytes);
    }

    fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire) {
        let Wire::Tcp(segment) = packet else {
            return;
        };
        match segment.kind {
            Kind::Syn => {
                if self.state != State::Established {
                    self.state = State::Handshake;
                }
                self.greet = true;
            }
            Kind::SynAck => {
                // One that comes again means that the answer was lost.
                self.establish(now);
                self.receiver.acknowledge();
            }
            Kind::Ack => {
                if self.state == State::Closed {
                    return;
                }
                self.establish(now);
                if segment.len > 0 {
                    self.receiver.data(now, ecn, segment);
                }
                self.sender.on_ack(now, segment);
            }
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.greet {
            return Some(self.greeting(now));
        }
        if self.state != State::Established {
            return None;
        }
        if let Some(mut segment) = self.sender.transmit(now) {
            self.receiver.stamp(&mut segment);
            // Retransmissions are not ECN-capable in RFC 3168; Linux marks new data only.
            let ecn = self.sender.ecn();
            return Some(self.packet(segment, ecn));
        }
        if !self.receiver.urgent() {
            return None;
        }
        let mut segment = Segment {
            seq: self.sender.next_seq(),
            ..Segment::default()
        };
        self.receiver.stamp(&mut segment);
        Some(self.packet(segment, Ecn::NotCapable))
    }

    fn next_timer(&self) -> Instant {
        self.deadline
            .min(self.receiver.next_timer())
            .min(self.sender.next_timer())
    }

    fn on_timer(&mut self, now: Instant) {
        if now >= self.deadline {
            self.sender.back_off();
            self.greet = true;
        }
        self.receiver.on_timer(now);
        self.sender.on_timer(now);
    }

    fn event(&mut self) -> Option<Event> {
        if core::mem::take(&mut self.connected) {
            return Some(Event::Connected);
        }
        let bytes = self.receiver.take_fresh();
        if bytes > 0 {
            return Some(Event::Received { stream: 0, bytes });
        }
        self.sender.take_writable().then_some(Event::Writable)
    }

    fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    fn stats(&self) -> Stats {
        self.sender.stats()
    }
}
