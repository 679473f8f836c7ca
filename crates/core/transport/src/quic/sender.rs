//! The sending half: transmission of packets, and probes (RFC 9002).

mod acks;

use super::streams::SendStreams;
use crate::Stats;
use crate::flight::Flight;
use crate::limits::{SenderLimit, SenderLimits};
use crate::pacing::{self, SendPacer};
use crate::recovery::RecoveryPeriod;
use crate::rtt::{Floor, GRANULARITY, Rtt};
use crate::usage::Usage;
use crate::wire::quic::{DATAGRAM, QuicFrames, QuicPacket};
use cca::{Control, EcnMode};
use units::{Duration, Instant};

/// Probe timeout before the first sample: three times `kInitialRtt`.
const INITIAL_PTO: Duration = Duration::from_millis(999);
/// Share of the window per round trip at which packets leave (7.7).
const PACING_PERCENT: u64 = 125;

/// The contents of a packet.
#[derive(Debug)]
struct PacketContent {
    frames: QuicFrames,
    /// It acknowledges packets below this number.
    told: u64,
}

/// The packets sent, and the state of the path derived from them. Bytes are UDP payload.
pub(super) struct QuicSender {
    pub(super) control: Box<dyn Control>,
    pub(super) rtt: Rtt,
    pub(super) stats: Stats,
    flight: Flight<PacketContent>,
    /// Probe although no packets are in flight: the server may wait for permission to send
    /// (6.2.2.1).
    pub(super) keep_probing: bool,
    probe_at: Instant,
    probes_due: u32,
    pub(super) recovery: RecoveryPeriod,
    /// The first packet of a recovery may leave regardless of the window (7.3.2).
    rescue: bool,
    marks: u32,
    scalable: bool,
    /// The round trips in which marks were reported to a scalable control.
    marked: RecoveryPeriod,
    lost_untold: u64,
    usage: Usage,
    pacer: SendPacer,
    pace_at: Instant,
    active: bool,
    pub(super) limits: SenderLimits,
}

impl QuicSender {
    /// No packets were sent.
    pub(super) fn new(control: Box<dyn Control>) -> Self {
        QuicSender {
            scalable: control.ecn() == EcnMode::Scalable,
            control,
            rtt: Rtt::new(INITIAL_PTO, Floor::Variance(GRANULARITY)),
            stats: Stats::default(),
            flight: Flight::default(),
            keep_probing: false,
            probe_at: Instant::NEVER,
            probes_due: 0,
            recovery: RecoveryPeriod::default(),
            rescue: false,
            marks: 0,
            marked: RecoveryPeriod::default(),
            lost_untold: 0,
            usage: Usage::default(),
            pacer: SendPacer::default(),
            pace_at: Instant::NEVER,
            active: false,
            limits: SenderLimits::default(),
        }
    }

    /// Bytes in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.flight.in_flight()
    }

    /// Number of the next packet.
    pub(super) fn next_number(&self) -> u64 {
        self.flight.next_number()
    }

    /// The application is about to give more, with no data left to send.
    pub(super) fn on_idle(&mut self) {
        if self.in_flight() < self.control.window() {
            self.flight.limited_by_app();
        }
    }

    /// A probe has to leave, regardless of the window.
    pub(super) fn probe_due(&self) -> bool {
        self.probes_due > 0
    }

    /// Whether a full datagram may leave now.
    pub(super) fn may_send(&mut self, now: Instant) -> bool {
        let fits = self.fits();
        let paced_until = self.control.release().unwrap_or(self.pacer.next());
        let waits = fits && paced_until > now;
        self.pace_at = if waits { paced_until } else { Instant::NEVER };
        if fits && !waits {
            return true;
        }
        self.on_pause(!fits);
        false
    }

    /// No data is left to send.
    pub(super) fn on_quiet(&mut self) {
        self.pace_at = Instant::NEVER;
        self.on_pause(!self.fits());
    }

    /// No data leaves now, although there `is` some, or some beyond the receiver's window, which is
    /// `unsent`.
    pub(super) fn wait(&mut self, now: Instant, is: bool, unsent: bool) {
        let limit = if !is && !unsent {
            SenderLimit::Application
        } else if !self.fits() {
            SenderLimit::Window
        } else if is {
            SenderLimit::Pacing
        } else {
            SenderLimit::Receiver
        };
        self.limits.wait(now, limit);
    }

    fn fits(&self) -> bool {
        let in_flight = self.in_flight();
        let after = in_flight + u64::from(DATAGRAM);
        after <= self.control.window() || in_flight == 0 || self.rescue
    }

    fn on_pause(&mut self, limited: bool) {
        if self.active || limited {
            self.active = false;
            let (out, settled) = (self.in_flight(), self.flight.first());
            let next = self.next_number();
            self.usage.on_pause(limited, out, settled, next);
        }
    }

    /// A packet leaves with a UDP payload of `bytes`; it acknowledges packets below `told`.
    pub(super) fn on_sent(&mut self, now: Instant, packet: &QuicPacket, bytes: u32, told: u64) {
        self.stats.packets_sent += 1;
        let content = PacketContent {
            frames: packet.frames.clone(),
            told,
        };
        if !packet.is_eliciting() {
            self.flight.sent_quiet(content);
            return;
        }
        self.flight.sent(now, bytes, content);
        self.active = true;
        self.rescue = false;
        self.probes_due = self.probes_due.saturating_sub(1);
        self.control
            .on_sent(now, bytes.into(), self.flight.in_flight());
        self.pace(now, bytes);
        self.probe_at = now + self.rtt.timeout();
    }

    /// RFC 9002, 7.7: 1.25 times the window per round trip, unless the control names a rate or paces
    /// itself.
    fn pace(&mut self, now: Instant, bytes: u32) {
        let bytes = u64::from(bytes);
        let gap = match self.control.pacing_rate() {
            Some(rate) => rate.time_for(bytes),
            None => pacing::gap(bytes, self.control.window(), self.rtt.srtt, PACING_PERCENT),
        };
        self.pacer.on_sent(now, gap);
    }

    /// The probe timeout starts anew, if there are packets to wait for.
    pub(super) fn arm_probe(&mut self, now: Instant) {
        self.probe_at = if self.in_flight() > 0 || self.keep_probing {
            now + self.rtt.timeout()
        } else {
            Instant::NEVER
        };
    }

    /// When [`on_timer`](Self::on_timer) has work to do.
    pub(super) fn next_timer(&self) -> Instant {
        let loss_at = self.flight.loss_at();
        let probe = if loss_at == Instant::NEVER {
            self.probe_at
        } else {
            loss_at
        };
        let control = self.control.next_timer().unwrap_or(Instant::NEVER);
        probe.min(self.pace_at).min(control)
    }

    /// Time has passed.
    pub(super) fn on_timer(&mut self, now: Instant, streams: &mut SendStreams) {
        if self.control.next_timer().is_some_and(|at| at <= now) {
            self.control.on_timer(now);
        }
        let loss_at = self.flight.loss_at();
        if loss_at < Instant::NEVER {
            if now >= loss_at {
                self.find_lost(now, streams);
                self.arm_probe(now);
            }
        } else if now >= self.probe_at {
            self.on_probe_timeout(now, streams);
        }
    }

    /// RFC 9002, 6.2.4: two probes (one in the handshake), with new data if there is any, otherwise
    /// with the data that has been in flight for longest. Nothing is taken for lost.
    fn on_probe_timeout(&mut self, now: Instant, streams: &mut SendStreams) {
        let in_handshake = self.rtt.ack_delay == Duration::ZERO;
        self.rtt.back_off();
        self.stats.probes += 1;
        self.probes_due = if in_handshake { 1 } else { 2 };
        self.probe_at = now + self.rtt.timeout();
        if streams.has_work(0) || (!in_handshake && streams.has_work(1)) {
            return;
        }
        let oldest = self.flight.flying().take(self.probes_due as usize);
        for sent in oldest {
            for frame in sent.content.frames.iter() {
                streams.on_lost(frame);
            }
        }
    }
}
