//! TCP: a handshake, one byte stream each way, SACK-based recovery with RACK-TLP.
//!
//! RFC 9293 as far as bytes and acknowledgements go, RFC 2018 (SACK), RFC 5681, RFC 6298 (timer),
//! RFC 6928 (initial window), RFC 6937 (PRR), RFC 7323 (time stamps), RFC 8985 (RACK-TLP), RFC 3168
//! (ECN), RFC 9768 (accurate feedback, if the opener's control is scalable). Left out: FIN and RST
//! (an application closes by dropping both ends), giving up, urgent data, zero and autotuned
//! windows (receivers read at once), Nagle's algorithm (applications switch it off), F-RTO and the
//! undoing of reductions.

mod ecn;
mod rack;
mod receiver;
mod recovery;
mod scoreboard;
mod sender;
mod timers;

pub use crate::wire::segment::{MAX_SACKS, Segment, SegmentKind};

use crate::{
    Config, Connection, Event, SenderLimits, SenderState as Sending, Stats, Transmit, Wire,
};
use cca::{Control, EcnMode};
use ecn::Echo;
use receiver::Receiver;
use sender::Sender;
use units::{Duration, Ecn, Instant};

/// Options of a SYN beyond the time stamps of every segment: MSS, SACK permitted, window scale.
const SYN_OPTIONS: u32 = 8;
/// Largest size of options in addition to the time stamps: 40 bytes less 12.
const MAX_OPTIONS: u32 = 28;

/// One end of a TCP connection.
pub struct Tcp {
    state: State,
    header: u32,
    opens: bool,
    receiver: Receiver,
    sender: Sender,
    /// The handshake packet of this end is to leave.
    greet: bool,
    offers_ecn: bool,
    /// The control needs accurate feedback.
    scalable: bool,
    /// The form of ECN that both ends agreed upon.
    echo: Echo,
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
            offers_ecn: config.ecn,
            scalable: control.ecn() == EcnMode::Scalable,
            sender: Sender::new(config, control),
            greet: false,
            echo: Echo::None,
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

    fn establish(&mut self, now: Instant, segment: &Segment) {
        if self.state == State::Established {
            return;
        }
        self.state = State::Established;
        self.deadline = Instant::NEVER;
        self.greet = false;
        self.connected = true;
        self.sender.establish(now.since(segment.echo), self.echo);
    }

    fn greeting(&mut self, now: Instant) -> Transmit {
        self.greet = false;
        self.deadline = if self.state == State::Established {
            Instant::NEVER
        } else {
            now + self.sender.wait_for_handshake()
        };
        let mut segment = Segment {
            kind: if self.opens {
                SegmentKind::Syn
            } else {
                SegmentKind::SynAck
            },
            ..self.receiver.stamp(now)
        };
        if self.opens {
            segment.accurate = self.scalable;
            segment.ece = self.offers_ecn || self.scalable;
            segment.cwr = segment.ece;
        } else {
            segment.accurate = self.echo == Echo::Accurate;
            segment.ece = self.echo == Echo::Classic;
        }
        // The SYN itself carries no counters (RFC 9768, 3.2.3.2.1).
        let counters = if self.opens { 0 } else { self.counters_len() };
        self.packet(segment, SYN_OPTIONS + counters, Ecn::NotCapable)
    }

    fn acknowledgement(&mut self, now: Instant) -> Transmit {
        let segment = Segment {
            seq: self.sender.next_seq(),
            sacks: self.receiver.sacks(),
            ..self.receiver.stamp(now)
        };
        // If three ranges leave no room for the counters, ACE replaces them.
        let options = (segment.sack_len() + self.counters_len()).min(MAX_OPTIONS);
        self.packet(segment, options, self.sender.ack_field())
    }

    fn counters_len(&self) -> u32 {
        if self.echo == Echo::Accurate {
            ecn::OPTION
        } else {
            0
        }
    }

    /// The result of a SYN's offer. An end that is asked for accurate feedback gives it, as Linux
    /// does; RFC 3168's is a setting.
    fn accept(&self, syn: &Segment) -> Echo {
        if syn.accurate {
            Echo::Accurate
        } else if self.offers_ecn && syn.ece && syn.cwr {
            Echo::Classic
        } else {
            Echo::None
        }
    }

    /// The result of the answer to this end's SYN.
    fn agreed(&self, answer: &Segment) -> Echo {
        if self.scalable && answer.accurate {
            Echo::Accurate
        } else if self.offers_ecn && answer.ece {
            Echo::Classic
        } else {
            Echo::None
        }
    }

    /// What leaves next, if anything may. Its registers need not be saved for the calls that do
    /// not come here.
    #[inline(never)]
    fn next_segment(&mut self, now: Instant) -> Option<Transmit> {
        if self.greet {
            return Some(self.greeting(now));
        }
        if self.state != State::Established {
            return None;
        }
        if self.receiver.urgent() && self.receiver.has_gap() {
            return Some(self.acknowledgement(now));
        }
        if let Some(data) = self.sender.transmit(now) {
            // A full segment has no room for ranges; any news was sent before.
            let segment = Segment {
                seq: data.seq,
                len: data.len,
                cwr: data.cwr,
                ..self.receiver.stamp(now)
            };
            return Some(self.packet(segment, 0, data.ecn));
        }
        self.receiver.urgent().then(|| self.acknowledgement(now))
    }

    fn packet(&self, segment: Segment, options: u32, ecn: Ecn) -> Transmit {
        Transmit {
            len: self.header + options + segment.len,
            ecn,
            packet: Wire::Tcp(segment),
        }
    }
}

impl Connection for Tcp {
    fn open(&mut self, _now: Instant) {
        if self.opens && self.state == State::Closed {
            self.state = State::Handshake;
            self.greet = true;
        }
    }

    fn send(&mut self, _now: Instant, _stream: u32, bytes: u64) {
        self.sender.give(bytes);
    }

    fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire) {
        let Wire::Tcp(segment) = packet else {
            return;
        };
        match segment.kind {
            SegmentKind::Syn if !self.opens => {
                if self.state == State::Closed {
                    self.state = State::Handshake;
                    self.echo = self.accept(segment);
                    self.receiver.greeted(segment, self.echo);
                }
                // A repeated one means that the answer was lost.
                self.greet = true;
            }
            SegmentKind::SynAck if self.opens && self.state != State::Closed => {
                if self.state == State::Handshake {
                    self.echo = self.agreed(segment);
                    self.receiver.greeted(segment, self.echo);
                }
                self.establish(now, segment);
                self.receiver.acknowledge();
            }
            SegmentKind::Ack => {
                if self.state == State::Handshake && !self.opens {
                    self.establish(now, segment);
                }
                if self.state != State::Established {
                    return;
                }
                if segment.len > 0 {
                    self.receiver.data(now, ecn, segment);
                }
                self.sender.on_ack(now, segment);
            }
            SegmentKind::Syn | SegmentKind::SynAck => {}
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        // Most calls end here: one end sends, the other acknowledges.
        if !self.greet && !self.receiver.urgent() && self.sender.is_idle() {
            return None;
        }
        self.next_segment(now)
    }

    fn next_timer(&self) -> Instant {
        self.deadline
            .min(self.receiver.next_timer())
            .min(self.sender.next_timer())
    }

    fn on_timer(&mut self, now: Instant) {
        if now >= self.deadline {
            self.deadline = Instant::NEVER;
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

    fn may_wait(&self) -> u64 {
        self.sender.may_wait()
    }

    fn held_back(&mut self, now: Instant) {
        self.sender.held_back(now);
    }

    fn stats(&self) -> Stats {
        self.sender.stats()
    }

    fn state(&self) -> Sending {
        self.sender.state()
    }

    fn limits(&self) -> &SenderLimits {
        self.sender.limits()
    }
}
