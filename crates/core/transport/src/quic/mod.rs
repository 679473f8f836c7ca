//! QUIC's shape: one handshake round trip, streams, packet numbers, RFC 9002's recovery.
//!
//! Packets, streams, acknowledgements and recovery are as RFC 9000 and RFC 9002 have them. The
//! handshake is a stream of its own: 300 bytes of ClientHello in a padded datagram, 3300 bytes from
//! the server within three times the bytes it has received, and the client's Finished, with which
//! its data leaves after one round trip. Streams with data take turns by packet.
//!
//! If the control needs subflows ([`Control::needs_subflows`]) there are two paths between the same
//! hosts, as in multipath QUIC (draft-ietf-quic-multipath): each with packet numbers, round trips
//! and loss detection of its own, which acknowledges on the same path. The second opens with the
//! end of the handshake; that its ports be proven first is left out, since the addresses are.
//!
//! Simplified: one space of packet numbers for three; flow control counts acknowledged bytes, as
//! receivers read at once; every control is paced (7.7). Not done: 0-RTT, HANDSHAKE_DONE and other
//! small frames, migration, ECN validation, loss of keys, proportional rate reduction (the window
//! drops at once, as section 7.3.2 allows), restart after idle, closing.

mod acks;
mod sender;
mod streams;

pub use crate::wire::quic::{
    Ack, CRYPTO, DATAGRAM, IP_UDP, MAX_FRAMES, MAX_RANGES, QuicFrame, QuicFrames, QuicPacket,
};

use crate::{Config, Connection, Event, SenderLimits, SenderState, Stats, Transmit, Wire};
use acks::{ArrivedPackets, MAX_ACK_DELAY};
use cca::{Control, ControlPhase, EcnMode};
use sender::QuicSender;
use streams::{RecvStreams, SendStreams};
use units::{Duration, Ecn, Instant};

/// Bytes of the ClientHello.
const HELLO: u64 = 300;
/// Bytes from ServerHello to the server's Finished, with a chain of two ECDSA certificates.
const SERVER_FLIGHT: u64 = 3300;
/// Bytes of the client's Finished.
const FINISHED: u64 = 52;
/// A client's datagrams of the handshake are padded to this (RFC 9000, 14.1).
const PADDED: u32 = 1200;
/// A server sends at most so many times the bytes it received until the client's address is proven
/// (RFC 9000, 8.1).
const AMPLIFICATION: u64 = 3;

/// One end of a QUIC connection.
pub struct Quic {
    opens: bool,
    started: bool,
    connected: bool,
    /// The application knows that.
    told_connected: bool,
    /// The peer's address is proven.
    validated: bool,
    /// UDP payload received and sent.
    bytes: (u64, u64),
    /// The ECN field of every packet.
    ecn: Ecn,
    receive_window: u64,
    unsent_low: u64,
    /// The application gave data since it was last notified of room.
    gave: bool,
    /// One, or two if the control has subflows.
    paths: Vec<QuicPath>,
    /// The path that is asked first for the next packet: not the one that sent last, which else
    /// could take all room in a window that both share.
    first: usize,
    send_streams: SendStreams,
    recv_streams: RecvStreams,
}

/// One way to the peer.
struct QuicPath {
    sender: QuicSender,
    arrivals: ArrivedPackets,
}

impl QuicPath {
    fn new(control: Box<dyn Control>, config: &Config) -> Self {
        QuicPath {
            sender: QuicSender::new(control),
            arrivals: ArrivedPackets::new(config.ack_every),
        }
    }
}

impl Quic {
    /// An end that `opens`, or waits to be opened. The control's `mss` should be [`DATAGRAM`].
    pub fn new(config: Config, mut control: Box<dyn Control>, opens: bool) -> Self {
        let path = |control| QuicPath::new(control, &config);
        let paths: Vec<QuicPath> = match control.split() {
            Some(controls) => controls.into_iter().map(path).collect(),
            None => vec![path(control)],
        };
        Quic {
            opens,
            started: false,
            connected: false,
            told_connected: false,
            validated: opens,
            bytes: (0, 0),
            ecn: match paths[0].sender.control.ecn() {
                EcnMode::Scalable => Ecn::Ect1,
                EcnMode::Classic if config.ecn => Ecn::Ect0,
                EcnMode::Classic => Ecn::NotCapable,
            },
            receive_window: config.receive_window,
            unsent_low: config.unsent_low,
            gave: false,
            paths,
            first: 0,
            send_streams: SendStreams::default(),
            recv_streams: RecvStreams::default(),
        }
    }

    /// Bytes of UDP payload in flight.
    pub fn in_flight(&self) -> u64 {
        self.paths.iter().map(|path| path.sender.in_flight()).sum()
    }

    /// Smoothed round trip of the first path; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.paths[0].sender.rtt.srtt
    }

    /// The congestion control of the first path.
    pub fn control(&self) -> &dyn Control {
        &*self.paths[0].sender.control
    }

    /// Advances the handshake as far as the data that arrived allows.
    fn shake_hands(&mut self, now: Instant) {
        let crypto = self.recv_streams.crypto();
        let complete = if self.opens {
            SERVER_FLIGHT
        } else {
            HELLO + FINISHED
        };
        if !self.opens && !self.started && crypto >= HELLO {
            self.started = true;
            self.send_streams.give(CRYPTO, SERVER_FLIGHT);
        }
        if self.connected || crypto < complete {
            return;
        }
        self.connected = true;
        // The end of a handshake proves the address as well (RFC 9000, 8.1): the packet that ends
        // it may contain no acknowledgement.
        self.validated = true;
        if self.opens {
            self.send_streams.give(CRYPTO, FINISHED);
        }
        for QuicPath { sender, .. } in &mut self.paths {
            sender.rtt.ack_delay = MAX_ACK_DELAY;
            sender.keep_probing = false;
            sender.arm_probe(now);
        }
    }

    /// Bytes of streams that may be sent for the first time.
    fn fresh(&self) -> u64 {
        if !self.connected {
            return 0;
        }
        self.receive_window.saturating_sub(self.send_streams.open())
    }

    /// UDP payload that the next datagram may have.
    fn limit(&self) -> u32 {
        if self.validated {
            return DATAGRAM;
        }
        let left = (AMPLIFICATION * self.bytes.0).saturating_sub(self.bytes.1);
        left.min(u64::from(DATAGRAM)) as u32
    }

    /// The next packet of one path.
    fn transmit_on(&mut self, now: Instant, place: usize) -> Option<Transmit> {
        let has_work = self.send_streams.has_work(self.fresh());
        let limit = self.limit();
        let path = &mut self.paths[place];
        let probe = path.sender.probe_due();
        let data = probe || (has_work && path.sender.may_send(now));
        if !has_work {
            path.sender.on_quiet();
        }
        if self.connected && !data {
            let unsent = self.send_streams.unsent() > 0;
            path.sender.wait(now, has_work, unsent);
        }
        if !self.started || !(data || path.arrivals.is_due()) {
            return None;
        }
        let mut packet = QuicPacket {
            path: place as u8,
            number: path.sender.next_number(),
            frames: QuicFrames::default(),
            ack: None,
            ping: false,
            long: !self.connected,
        };
        if packet.room(limit) == 0 {
            // The server waits for leave to send more.
            return None;
        }
        packet.ack = path.arrivals.take(now);
        if data {
            self.fill(&mut packet, limit);
        }
        let QuicPath { sender, arrivals } = &mut self.paths[place];
        let empty = packet.frames.is_empty();
        packet.ping = empty && (probe || (self.connected && arrivals.wants_answer()));
        if packet.is_eliciting() {
            arrivals.will_be_answered();
        } else if packet.ack.is_none() {
            return None;
        }
        let padding = if self.opens && packet.long { PADDED } else { 0 };
        let len = packet.wire_len().max(padding);
        let told = packet.ack.as_ref().map_or(0, |ack| ack.largest + 1);
        sender.on_sent(now, &packet, len, told);
        self.bytes.1 += u64::from(len);
        Some(Transmit {
            len: len + IP_UDP,
            ecn: self.ecn,
            packet: Wire::Quic(packet),
        })
    }

    /// Fills a packet with the data of streams.
    fn fill(&mut self, packet: &mut QuicPacket, limit: u32) {
        while !packet.frames.is_full() {
            let room = packet.room(limit);
            if room == 0 {
                break;
            }
            let Some(frame) = self.send_streams.take(room, self.fresh()) else {
                return;
            };
            packet.frames.push(frame);
        }
        self.send_streams.pass_turn();
    }
}

impl Connection for Quic {
    fn open(&mut self, _now: Instant) {
        if self.opens && !self.started {
            self.started = true;
            self.paths[0].sender.keep_probing = true;
            self.send_streams.give(CRYPTO, HELLO);
        }
    }

    fn send(&mut self, _now: Instant, stream: u32, bytes: u64) {
        if stream == CRYPTO {
            return;
        }
        if self.send_streams.unsent() == 0 && !self.send_streams.has_work(0) {
            for path in &mut self.paths {
                path.sender.on_idle();
            }
        }
        self.send_streams.give(stream, bytes);
        self.gave = true;
    }

    fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire) {
        let Wire::Quic(packet) = packet else {
            return;
        };
        let padded = if packet.long && !self.opens {
            PADDED
        } else {
            0
        };
        self.bytes.0 += u64::from(packet.wire_len().max(padded));
        let eliciting = packet.is_eliciting();
        let (marked, hurry) = (ecn == Ecn::Ce, !self.connected);
        let number = packet.number;
        let Some(path) = self.paths.get_mut(usize::from(packet.path)) else {
            return;
        };
        if !path
            .arrivals
            .on_packet(now, number, eliciting, marked, hurry)
        {
            return;
        }
        if let Some(ack) = &packet.ack {
            // A peer that acknowledges packets sent to an address owns the address.
            self.validated = true;
            path.sender
                .on_ack(now, ack, &mut self.send_streams, &mut path.arrivals);
        }
        for frame in packet.frames.iter() {
            self.recv_streams.on_frame(frame);
        }
        self.shake_hands(now);
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        let open = if self.connected { self.paths.len() } else { 1 };
        let first = self.first;
        let (path, transmit) = (first..first + open).find_map(|place| {
            let path = place % open;
            Some((path, self.transmit_on(now, path)?))
        })?;
        self.first = (path + 1) % open;
        Some(transmit)
    }

    fn next_timer(&self) -> Instant {
        let next = |path: &QuicPath| path.sender.next_timer().min(path.arrivals.next_timer());
        self.paths.iter().map(next).min().unwrap_or(Instant::NEVER)
    }

    fn on_timer(&mut self, now: Instant) {
        for path in &mut self.paths {
            path.arrivals.on_timer(now);
            path.sender.on_timer(now, &mut self.send_streams);
        }
    }

    fn event(&mut self) -> Option<Event> {
        if !self.connected {
            return None;
        }
        if !self.told_connected {
            self.told_connected = true;
            return Some(Event::Connected);
        }
        if let Some((stream, bytes)) = self.recv_streams.read() {
            return Some(Event::Received { stream, bytes });
        }
        if self.gave && self.unsent() < self.unsent_low {
            self.gave = false;
            return Some(Event::Writable);
        }
        let notice = self.paths[0].sender.control.take_notice();
        notice.map(Event::Noticed)
    }

    fn unsent(&self) -> u64 {
        self.send_streams.unsent()
    }

    fn subflows(&self) -> u8 {
        self.paths.len() as u8
    }

    fn stats(&self) -> Stats {
        let mut sum = Stats {
            acked: self.send_streams.acked(),
            ..Stats::default()
        };
        for QuicPath { sender, .. } in &self.paths {
            sum.packets_sent += sender.stats.packets_sent;
            sum.retransmits += sender.stats.retransmits;
            sum.recoveries += sender.stats.recoveries;
            sum.timeouts += sender.stats.timeouts;
            sum.spurious += sender.stats.spurious;
            sum.probes += sender.stats.probes;
        }
        sum
    }

    /// Of the first path, but for the bytes, which are those of all.
    fn state(&self) -> SenderState {
        let of = SenderState::of(self.control(), self.srtt());
        let repairs = self.paths[0].sender.recovery.is_active() && self.control().uses_prr();
        SenderState {
            in_flight: self.in_flight(),
            acked: self.send_streams.acked(),
            limit: self.limits().now(),
            phase: if repairs {
                ControlPhase::Recovery
            } else {
                of.phase
            },
            ..of
        }
    }

    fn limits(&self) -> &SenderLimits {
        &self.paths[0].sender.limits
    }
}
