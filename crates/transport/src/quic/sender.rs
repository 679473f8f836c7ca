//! Loss detection and congestion control (RFC 9002).

use super::acks::{Arrivals, MAX_ACK_DELAY};
use super::loss::Loss;
use super::packet::{Ack, DATAGRAM, Frames, Packet};
use super::streams::SendStreams;
use crate::Stats;
use crate::delivery::{Delivery, Stamp};
use crate::pacing::{self, Pacer};
use crate::ranges::Ranges;
use crate::rtt::{Floor, GRANULARITY, Rtt};
use crate::usage::Usage;
use cca::{Congestion, Control, EcnMode, Signal};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Packets that must be acknowledged beyond a lost one (`kPacketThreshold`).
const PACKET_THRESHOLD: u64 = 3;
/// Probe timeout before the first sample: three times `kInitialRtt`.
const INITIAL_PTO: Duration = Duration::from_millis(999);
/// Probe timeouts of loss that make congestion persistent (`kPersistentCongestionThreshold`).
const PERSISTENT: u64 = 3;
/// Share of the window per round trip at which packets leave (7.7).
const PACING_PERCENT: u64 = 125;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Flying,
    Acked,
    Lost,
    /// It asked for no acknowledgement, and is not missed.
    Quiet,
}

#[derive(Debug)]
struct Sent {
    stamp: Stamp,
    frames: Frames,
    /// It acknowledged packets below this number.
    told: u64,
    bytes: u32,
    fate: Fate,
}

/// What one acknowledgement delivered.
#[derive(Debug, Default)]
struct News {
    bytes: u64,
    packets: u64,
    newest: Option<(u64, Stamp)>,
}

/// What was sent, and what that says about the path. Bytes are UDP payload.
pub(super) struct Sender {
    pub(super) control: Box<dyn Control>,
    pub(super) rtt: Rtt,
    pub(super) stats: Stats,
    /// Packets by number, beginning with `first`.
    packets: VecDeque<Sent>,
    first: u64,
    acked: Ranges,
    largest_acked: Option<u64>,
    in_flight: u64,
    first_rtt_at: Instant,
    /// Probe although nothing is in flight: the server may wait for leave to send (6.2.2.1).
    pub(super) keep_probing: bool,
    loss_at: Instant,
    probe_at: Instant,
    probes_due: u32,
    /// Packets sent up to then do not reduce the window again.
    recovery_since: Option<Instant>,
    repairing: bool,
    /// The first packet of a recovery may leave whatever the window says (7.3.2).
    rescue: bool,
    marks: u32,
    scalable: bool,
    /// As `recovery_since`, for the marks of a scalable control.
    marked_since: Option<Instant>,
    lost_untold: u64,
    delivery: Delivery,
    usage: Usage,
    pacer: Pacer,
    pace_at: Instant,
    active: bool,
}

impl Sender {
    /// Nothing was sent.
    pub(super) fn new(control: Box<dyn Control>) -> Self {
        Sender {
            scalable: control.ecn() == EcnMode::Scalable,
            control,
            rtt: Rtt::new(INITIAL_PTO, Floor::Variance(GRANULARITY)),
            stats: Stats::default(),
            packets: VecDeque::new(),
            first: 0,
            acked: Ranges::default(),
            largest_acked: None,
            in_flight: 0,
            first_rtt_at: Instant::NEVER,
            keep_probing: false,
            loss_at: Instant::NEVER,
            probe_at: Instant::NEVER,
            probes_due: 0,
            recovery_since: None,
            repairing: false,
            rescue: false,
            marks: 0,
            marked_since: None,
            lost_untold: 0,
            delivery: Delivery::default(),
            usage: Usage::default(),
            pacer: Pacer::default(),
            pace_at: Instant::NEVER,
            active: false,
        }
    }

    /// Bytes in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of the next packet.
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// The application is about to give more, with nothing left to send.
    pub(super) fn on_idle(&mut self) {
        if self.in_flight < self.control.window() {
            self.delivery.limited_by_app(self.in_flight);
        }
    }

    /// A probe has to leave, whatever the window says.
    pub(super) fn probe_due(&self) -> bool {
        self.probes_due > 0
    }

    /// Whether a full datagram may leave now.
    pub(super) fn may_send(&mut self, now: Instant) -> bool {
        let fits = self.fits();
        let paced_until = self.pacer.next();
        let waits = fits && paced_until > now;
        self.pace_at = if waits { paced_until } else { Instant::NEVER };
        if fits && !waits {
            return true;
        }
        self.on_pause(!fits);
        false
    }

    /// Nothing is left to send.
    pub(super) fn on_quiet(&mut self) {
        self.pace_at = Instant::NEVER;
        self.on_pause(!self.fits());
    }

    fn fits(&self) -> bool {
        let after = self.in_flight + u64::from(DATAGRAM);
        after <= self.control.window() || self.in_flight == 0 || self.rescue
    }

    fn on_pause(&mut self, limited: bool) {
        if self.active || limited {
            self.active = false;
            let next = self.next_number();
            self.usage
                .on_pause(limited, self.in_flight, self.first, next);
        }
    }

    /// A packet leaves with a UDP payload of `bytes`; it acknowledges packets below `told`.
    pub(super) fn on_sent(&mut self, now: Instant, packet: &Packet, bytes: u32, told: u64) {
        self.stats.packets_sent += 1;
        let eliciting = packet.is_eliciting();
        if !eliciting && self.packets.is_empty() {
            self.first += 1;
            return;
        }
        let stamp = if eliciting {
            self.delivery.stamp(now, self.in_flight == 0)
        } else {
            Stamp::default()
        };
        self.packets.push_back(Sent {
            stamp,
            frames: packet.frames.clone(),
            told,
            bytes,
            fate: if eliciting { Fate::Flying } else { Fate::Quiet },
        });
        if !eliciting {
            return;
        }
        self.in_flight += u64::from(bytes);
        self.active = true;
        self.rescue = false;
        self.probes_due = self.probes_due.saturating_sub(1);
        self.control.on_sent(now, bytes.into(), self.in_flight);
        self.pace(now, bytes);
        self.probe_at = now + self.rtt.timeout();
    }

    /// RFC 9002, 7.7: 1.25 times the window per round trip, unless the control names a rate.
    fn pace(&mut self, now: Instant, bytes: u32) {
        let bytes = u64::from(bytes);
        let gap = match self.control.pacing_rate() {
            Some(rate) => rate.time_for(bytes),
            None => pacing::gap(bytes, self.control.window(), self.rtt.srtt, PACING_PERCENT),
        };
        self.pacer.on_sent(now, gap);
    }

    /// An acknowledgement arrived.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        ack: &Ack,
        streams: &mut SendStreams,
        arrivals: &mut Arrivals,
    ) {
        if ack.largest >= self.next_number() {
            return;
        }
        let prior_in_flight = self.in_flight;
        let news = self.credit(ack, streams, arrivals);
        self.largest_acked = self.largest_acked.max(Some(ack.largest));
        let rtt = self.measure(now, ack, &news);
        if let Some((_, stamp)) = &news.newest {
            self.rtt.restart();
            self.leave_recovery(now, stamp.sent);
        }
        let lost = self.find_lost(now, streams);
        let marked = self.count_marks(now, ack, &news);
        if news.bytes > 0 || lost > 0 {
            self.tell_control(now, &news, rtt, prior_in_flight, marked);
        }
        self.arm_probe(now);
    }

    fn credit(&mut self, ack: &Ack, streams: &mut SendStreams, arrivals: &mut Arrivals) -> News {
        let mut news = News::default();
        let mut acked = core::mem::take(&mut self.acked);
        for (start, end) in ack.ranges() {
            if end <= self.first {
                break;
            }
            acked.insert(start.max(self.first), end, |from, to| {
                for number in from..to {
                    self.credit_packet(number, streams, arrivals, &mut news);
                }
            });
        }
        self.acked = acked;
        news
    }

    fn credit_packet(
        &mut self,
        number: u64,
        streams: &mut SendStreams,
        arrivals: &mut Arrivals,
        news: &mut News,
    ) {
        let Some(sent) = self.packets.get_mut((number - self.first) as usize) else {
            return;
        };
        for frame in sent.frames.iter() {
            streams.on_acked(frame);
        }
        arrivals.forget_below(sent.told);
        if sent.fate != Fate::Flying {
            return;
        }
        sent.fate = Fate::Acked;
        let bytes = u64::from(sent.bytes);
        self.in_flight -= bytes;
        news.bytes += bytes;
        news.packets += 1;
        if news.newest.is_none_or(|(newest, _)| newest < number) {
            news.newest = Some((number, sent.stamp));
        }
    }

    /// RFC 9002, 5: a sample where the largest packet is newly acknowledged, less the time for
    /// which the peer held it back.
    fn measure(&mut self, now: Instant, ack: &Ack, news: &News) -> Option<Duration> {
        let (_, stamp) = news.newest.filter(|&(number, _)| number == ack.largest)?;
        if self.rtt.srtt == Duration::ZERO {
            self.first_rtt_at = now;
        }
        let held = Duration::from_micros(ack.delay.into()).min(self.rtt.ack_delay);
        Some(self.rtt.sample(now.since(stamp.sent), held))
    }

    /// RFC 9002, 6.1: by number or by time. Looks only at packets that are not settled.
    fn find_lost(&mut self, now: Instant, streams: &mut SendStreams) -> u64 {
        self.loss_at = Instant::NEVER;
        let Some(largest) = self.largest_acked else {
            return 0;
        };
        let patience = self.rtt.loss_delay();
        let prior_in_flight = self.in_flight;
        let mut lost = Loss::default();
        for (number, sent) in (self.first..largest).zip(&mut self.packets) {
            match sent.fate {
                Fate::Acked => lost.interrupt(),
                Fate::Lost | Fate::Quiet => {}
                Fate::Flying => {
                    let deadline = sent.stamp.sent + patience;
                    if number + PACKET_THRESHOLD > largest && deadline > now {
                        self.loss_at = deadline;
                        break;
                    }
                    sent.fate = Fate::Lost;
                    self.in_flight -= u64::from(sent.bytes);
                    lost.count(sent.stamp.sent, sent.bytes, self.first_rtt_at);
                    for frame in sent.frames.iter() {
                        streams.on_lost(frame);
                    }
                    self.stats.retransmits += u64::from(!sent.frames.is_empty());
                }
            }
        }
        self.forget_settled();
        if lost.bytes > 0 {
            self.lost_untold += lost.bytes;
            self.on_lost(now, &lost, prior_in_flight);
        }
        lost.bytes
    }

    fn forget_settled(&mut self) {
        while self
            .packets
            .front()
            .is_some_and(|sent| sent.fate != Fate::Flying)
        {
            self.packets.pop_front();
            self.first += 1;
        }
        self.acked.trim(self.first);
    }

    fn on_lost(&mut self, now: Instant, lost: &Loss, prior_in_flight: u64) {
        if self.is_news(lost.newest) {
            self.stats.recoveries += 1;
            self.rescue = true;
            self.congest(now, Signal::Loss, lost.bytes);
        }
        // RFC 9002, 7.6.
        let limit = (self.rtt.bound() + MAX_ACK_DELAY) * PERSISTENT;
        if lost.span > limit {
            self.stats.timeouts += 1;
            self.repairing = false;
            self.recovery_since = None;
            self.control.on_timeout(now, prior_in_flight);
        }
    }

    /// Congestion met by a packet that left at `sent` has not been answered yet.
    fn is_news(&self, sent: Instant) -> bool {
        self.recovery_since.is_none_or(|since| sent > since)
    }

    fn congest(&mut self, now: Instant, signal: Signal, lost: u64) {
        self.recovery_since = Some(now);
        self.repairing = true;
        self.tell_congestion(now, signal, lost);
    }

    fn tell_congestion(&mut self, now: Instant, signal: Signal, lost: u64) {
        let congestion = Congestion {
            signal,
            lost,
            in_flight: self.in_flight,
            min_rtt: self.rtt.min,
        };
        self.control.on_congestion(now, &congestion);
    }

    fn leave_recovery(&mut self, now: Instant, newest_sent: Instant) {
        if self.repairing && self.is_news(newest_sent) {
            self.repairing = false;
            self.control.on_recovered(now);
        }
    }

    /// RFC 9002, 7.1: the peer's count of marks grew. Returns the bytes that were marked: it is not
    /// known which packets were, so the share of them that was, of what was delivered. A scalable
    /// control repairs nothing after a mark, and hears of losses nonetheless.
    fn count_marks(&mut self, now: Instant, ack: &Ack, news: &News) -> u64 {
        let marks = ack.marks.saturating_sub(self.marks);
        let Some((_, stamp)) = news.newest else {
            return 0;
        };
        if marks == 0 {
            return 0;
        }
        self.marks = ack.marks;
        if !self.scalable {
            if self.is_news(stamp.sent) {
                self.congest(now, Signal::Mark, 0);
            }
        } else if self.marked_since.is_none_or(|since| stamp.sent > since) {
            self.marked_since = Some(now);
            self.tell_congestion(now, Signal::Mark, 0);
        }
        news.bytes * u64::from(marks).min(news.packets) / news.packets
    }

    fn tell_control(
        &mut self,
        now: Instant,
        news: &News,
        rtt: Option<Duration>,
        prior_in_flight: u64,
        marked: u64,
    ) {
        let (mut rate, mut round_start, mut newest_sent) = (None, false, Instant::ZERO);
        if let Some((_, stamp)) = &news.newest {
            newest_sent = stamp.sent;
            (rate, round_start) = self
                .delivery
                .on_delivered(now, news.bytes, stamp, self.rtt.min);
        }
        let (window, slow_start) = (self.control.window(), self.control.in_slow_start());
        let ack = cca::Ack {
            bytes: news.bytes,
            lost: core::mem::take(&mut self.lost_untold),
            rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            prior_in_flight,
            in_flight: self.in_flight,
            delivered: self.delivery.delivered(),
            rate,
            round_start,
            newest_sent,
            in_recovery: self.repairing,
            window_limited: self.usage.is_limited(window, slow_start),
            marked,
        };
        self.control.on_ack(now, &ack);
    }

    /// The probe timeout starts anew, if there is anything to wait for.
    pub(super) fn arm_probe(&mut self, now: Instant) {
        self.probe_at = if self.in_flight > 0 || self.keep_probing {
            now + self.rtt.timeout()
        } else {
            Instant::NEVER
        };
    }

    /// When [`on_timer`](Self::on_timer) has something to do.
    pub(super) fn next_timer(&self) -> Instant {
        let probe = if self.loss_at == Instant::NEVER {
            self.probe_at
        } else {
            self.loss_at
        };
        let control = self.control.next_timer().unwrap_or(Instant::NEVER);
        probe.min(self.pace_at).min(control)
    }

    /// Time has passed.
    pub(super) fn on_timer(&mut self, now: Instant, streams: &mut SendStreams) {
        if self.control.next_timer().is_some_and(|at| at <= now) {
            self.control.on_timer(now);
        }
        if self.loss_at < Instant::NEVER {
            if now >= self.loss_at {
                self.find_lost(now, streams);
                self.arm_probe(now);
            }
        } else if now >= self.probe_at {
            self.on_probe_timeout(now, streams);
        }
    }

    /// RFC 9002, 6.2.4: two probes (one in the handshake), with new data if there is any, otherwise
    /// with what has been in flight for longest. Nothing is taken for lost.
    fn on_probe_timeout(&mut self, now: Instant, streams: &mut SendStreams) {
        let in_handshake = self.rtt.ack_delay == Duration::ZERO;
        self.rtt.back_off();
        self.stats.probes += 1;
        self.probes_due = if in_handshake { 1 } else { 2 };
        self.probe_at = now + self.rtt.timeout();
        if streams.has_work(0) || (!in_handshake && streams.has_work(1)) {
            return;
        }
        let flying = self.packets.iter().filter(|sent| sent.fate == Fate::Flying);
        for sent in flying.take(self.probes_due as usize) {
            for frame in sent.frames.iter() {
                streams.on_lost(frame);
            }
        }
    }
}
