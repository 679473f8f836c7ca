//! The sending half: what leaves when, and what is made of acknowledgements.

use super::recovery::Recovery;
use super::rtt::RttEstimator;
use super::scoreboard::{Acked, Scoreboard, Snapshot};
use super::segment::Segment;
use crate::{Config, Stats};
use cca::{Ack, Congestion, Control, RateSample, Signal};
use units::{Duration, Ecn, Instant, Rate};

/// The sending half of a connection. Sizes in bytes.
pub struct Sender {
    config: Config,
    control: Box<dyn Control>,
    rtt: RttEstimator,
    board: Scoreboard,
    /// Given by the application so far.
    given: u64,
    /// Next byte to send for the first time.
    next: u64,
    /// Given, and the application waits to be told that there is room again.
    awaited: bool,
    recovery: Option<Recovery>,
    /// Marks are not answered again until this is acknowledged.
    reduced_until: u64,
    tell_reduced: bool,
    /// Retransmission timer, or the probe's.
    timer: Timer,
    /// When RACK wants to look again.
    reordering_timer: Instant,
    /// End of a tail loss probe that retransmitted, until it is acknowledged.
    probe: Option<u64>,
    probe_due: bool,
    /// The next packet may not leave before this.
    pace: Instant,
    last_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Delivered bytes at which the application's limit no longer shows; 0 if it does not limit.
    app_limited_until: u64,
    round_end: u64,
    /// The most in flight in this round trip and in the last one.
    most_in_flight: (u64, u64),
    /// The window held sending back in this round trip, and in the last one.
    held_back: (bool, bool),
    stats: Stats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    Off,
    Retransmit(Instant),
    Probe(Instant),
}

/// Packets that leave before pacing begins (Linux `tcp_update_skb_after_send`).
const UNPACED: u64 = 10;

impl Sender {
    /// Nothing was given yet.
    pub fn new(config: Config, control: Box<dyn Control>) -> Self {
        Sender {
            rtt: RttEstimator::new(&config),
            config,
            control,
            board: Scoreboard::default(),
            given: 0,
            next: 0,
            awaited: false,
            recovery: None,
            reduced_until: 0,
            tell_reduced: false,
            timer: Timer::Off,
            reordering_timer: Instant::NEVER,
            probe: None,
            probe_due: false,
            pace: Instant::ZERO,
            last_sent: Instant::ZERO,
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            app_limited_until: 0,
            round_end: 0,
            most_in_flight: (0, 0),
            held_back: (false, false),
            stats: Stats::default(),
        }
    }

    /// The application gives `bytes`.
    pub fn give(&mut self, now: Instant, bytes: u64) {
        let idle = now.since(self.last_sent);
        let resting = self.board.is_empty() && self.next == self.given && self.next > 0;
        if resting && self.config.idle_restart && idle > self.rtt.rto() {
            self.control.on_idle_restart(now, idle);
        }
        self.given = self.given.saturating_add(bytes);
        self.awaited = true;
    }

    /// Given and never sent.
    pub const fn unsent(&self) -> u64 {
        self.given - self.next
    }

    /// Offset of the next new byte.
    pub const fn next_seq(&self) -> u64 {
        self.next
    }

    /// Once after each gift, when little of it is left.
    pub fn take_writable(&mut self) -> bool {
        self.unsent() < self.config.unsent_low && core::mem::take(&mut self.awaited)
    }

    /// The field for data packets.
    pub const fn ecn(&self) -> Ecn {
        if self.config.ecn {
            Ecn::Ect0
        } else {
            Ecn::NotCapable
        }
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            acked: self.board.una(),
            ..self.stats
        }
    }

    /// Bytes in flight.
    pub const fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// Smoothed round trip; zero before the first sample.
    pub const fn srtt(&self) -> Duration {
        self.rtt.srtt
    }

    /// The congestion control.
    pub fn control(&self) -> &dyn Control {
        &*self.control
    }

    /// The retransmission timeout now.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// The handshake packet was not answered.
    pub fn back_off(&mut self) {
        self.rtt.back_off();
    }

    /// The handshake took this long.
    pub fn handshake_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
    }

    /// When something is due.
    pub fn next_timer(&self) -> Instant {
        let timer = match self.timer {
            Timer::Off => Instant::NEVER,
            Timer::Retransmit(at) | Timer::Probe(at) => at,
        };
        let pace = if self.paced() && self.could_send() {
            self.pace
        } else {
            Instant::NEVER
        };
        let control = self.control.next_timer().unwrap_or(Instant::NEVER);
        timer.min(self.reordering_timer).min(pace).min(control)
    }

    fn paced(&self) -> bool {
        self.pace > self.last_sent
    }

    // ---- sending -------------------------------------------------------------------------------

    /// The next data segment that may leave.
    pub fn transmit(&mut self, now: Instant) -> Option<Segment> {
        if core::mem::take(&mut self.probe_due) {
            return self.send_probe(now);
        }
        if now < self.pace && self.could_send() {
            return None;
        }
        if let Some(len) = self.board.lost_len() {
            if !self.may_send(u64::from(len)) {
                return None;
            }
            let snapshot = self.snapshot(now);
            let (seq, len) = self.board.resend_lost(now, snapshot)?;
            return Some(self.sent(now, seq, len, true));
        }
        let len = self.new_len();
        if len == 0 {
            return None;
        }
        if !self.may_send(u64::from(len)) {
            self.held_back.0 = true;
            return None;
        }
        Some(self.send_new(now, len))
    }

    fn new_len(&self) -> u32 {
        let room = (self.board.una() + self.config.receive_window).saturating_sub(self.next);
        u64::from(self.config.mss).min(self.unsent()).min(room) as u32
    }

    fn could_send(&self) -> bool {
        let len = self.board.lost_len().unwrap_or_else(|| self.new_len());
        len > 0 && self.may_send(u64::from(len))
    }

    fn may_send(&self, len: u64) -> bool {
        match &self.recovery {
            Some(recovery) if !recovery.after_timeout && self.control.uses_prr() => {
                // A first retransmission may be larger than what was delivered so far.
                recovery.allowance() > 0
            }
            _ => {
                let in_flight = self.board.in_flight();
                in_flight == 0 || in_flight + len <= self.control.window()
            }
        }
    }

    fn send_new(&mut self, now: Instant, len: u32) -> Segment {
        let (snapshot, seq) = (self.snapshot(now), self.next);
        self.board.sent(now, seq, len, snapshot);
        self.next += u64::from(len);
        if self.unsent() == 0 {
            // From here on the application limits, not the network.
            self.app_limited_until = (self.delivered + self.board.in_flight()).max(1);
        }
        self.sent(now, seq, len, false)
    }

    fn send_probe(&mut self, now: Instant) -> Option<Segment> {
        self.stats.probes += 1;
        let len = self.new_len();
        if len > 0 {
            return Some(self.send_new(now, len));
        }
        let snapshot = self.snapshot(now);
        let (seq, len) = self.board.resend_last(now, snapshot)?;
        self.probe = Some(seq + u64::from(len));
        Some(self.sent(now, seq, len, true))
    }

    fn snapshot(&mut self, now: Instant) -> Snapshot {
        if self.board.in_flight() == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until > 0,
        }
    }

    fn sent(&mut self, now: Instant, seq: u64, len: u32, again: bool) -> Segment {
        let bytes = u64::from(len);
        self.stats.packets_sent += 1;
        self.stats.retransmits += u64::from(again);
        if let Some(recovery) = &mut self.recovery {
            recovery.on_sent(bytes);
        }
        let in_flight = self.board.in_flight();
        self.most_in_flight.0 = self.most_in_flight.0.max(in_flight);
        self.control.on_sent(now, bytes, in_flight);
        self.last_sent = now;
        if let Some(rate) = self
            .pacing_rate()
            .filter(|_| self.stats.packets_sent > UNPACED)
        {
            self.pace = self.pace.max(now) + rate.time_for(bytes + u64::from(self.config.header));
        }
        if self.timer == Timer::Off {
            self.arm(now);
        }
        Segment {
            seq,
            len,
            cwr: core::mem::take(&mut self.tell_reduced),
            ..Segment::default()
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let named = self.control.pacing_rate();
        if named.is_some() || !self.config.pacing || self.rtt.srtt == Duration::ZERO {
            return named;
        }
        let percent = if self.control.in_slow_start() {
            200
        } else {
            120
        };
        let window = self.control.window().max(self.board.in_flight());
        Some(Rate::from_bytes_over(window, self.rtt.srtt).scale(percent, 100))
    }

    // ---- acknowledgements ----------------------------------------------------------------------

    /// An acknowledgement arrived, alone or with data.
    pub fn on_ack(&mut self, now: Instant, segment: &Segment) {
        if self.board.is_empty() {
            return;
        }
        let prior_in_flight = self.board.in_flight();
        let acked = self.board.acknowledge(segment);
        self.delivered += acked.bytes;
        if acked.bytes > 0 {
            self.delivered_at = now;
        }
        let rtt = self.take_rtt(now, &acked);
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let lost = self.detect(now, &acked);
        self.check_probe(now, segment);
        self.check_mark(now, segment);
        self.leave_recovery(now);
        let ack = self.describe(segment, &acked, rtt, prior_in_flight, lost, now);
        if let Some(recovery) = &mut self.recovery {
            let (target, mss) = (self.control.window(), u64::from(self.config.mss));
            recovery.on_delivered(acked.bytes, self.board.in_flight(), target, mss);
        }
        if acked.bytes > 0 || lost > 0 {
            self.control.on_ack(now, &ack);
        }
        if acked.advanced || acked.bytes > 0 {
            self.arm(now);
        }
    }

    fn take_rtt(&mut self, now: Instant, acked: &Acked) -> Option<Duration> {
        let newest = acked.newest?;
        if !newest.retransmitted {
            let rtt = now.since(newest.at);
            self.rtt.sample(rtt);
            self.board.update_rack(now, newest, self.rtt.min);
            return Some(rtt);
        }
        if acked.advanced {
            self.rtt.progress();
        }
        self.board.update_rack(now, newest, self.rtt.min);
        None
    }

    /// Finds losses, and answers the first of an episode.
    fn detect(&mut self, now: Instant, acked: &Acked) -> u64 {
        let flight = self.board.in_flight() + acked.bytes;
        let lost = if self.config.rack {
            let recovering = self.recovery.is_some();
            let (lost, again) = self.board.detect_by_time(now, self.rtt.min, recovering);
            self.reordering_timer = again;
            lost
        } else {
            self.board.detect_by_count()
        };
        if lost > 0 && self.recovery.is_none() {
            self.enter_recovery(now, lost, flight);
        }
        lost
    }

    fn enter_recovery(&mut self, now: Instant, lost: u64, flight: u64) {
        self.stats.recoveries += 1;
        self.probe = None;
        let mss = u64::from(self.config.mss);
        self.recovery = Some(Recovery::fast(self.next, flight, mss));
        // A reduction in answer to a mark of the same round trip counts for the loss as well.
        if self.board.una() >= self.reduced_until {
            self.congestion(now, Signal::Loss, lost);
        }
    }

    fn congestion(&mut self, now: Instant, signal: Signal, lost: u64) {
        self.control.on_congestion(
            now,
            &Congestion {
                signal,
                lost,
                in_flight: self.board.in_flight(),
                min_rtt: self.rtt.min,
            },
        );
    }

    /// A probe that retransmitted hid a loss, unless the receiver says that it had it already
    /// (RFC 8985, 7.4).
    fn check_probe(&mut self, now: Instant, segment: &Segment) {
        let Some(end) = self.probe else {
            return;
        };
        if segment.duplicate {
            self.probe = None;
        } else if segment.ack >= end {
            self.probe = None;
            if self.recovery.is_none() {
                self.congestion(now, Signal::Loss, 0);
                self.control.on_recovered(now);
            }
        }
    }

    fn check_mark(&mut self, now: Instant, segment: &Segment) {
        if self.config.ecn && segment.ece && self.board.una() >= self.reduced_until {
            self.reduced_until = self.next;
            self.tell_reduced = true;
            if self.recovery.is_none() {
                self.congestion(now, Signal::Mark, 0);
            }
        }
    }

    fn leave_recovery(&mut self, now: Instant) {
        let una = self.board.una();
        if self
            .recovery
            .as_ref()
            .is_some_and(|recovery| una >= recovery.until)
        {
            self.recovery = None;
            self.control.on_recovered(now);
        }
    }

    fn describe(
        &mut self,
        segment: &Segment,
        acked: &Acked,
        rtt: Option<Duration>,
        prior_in_flight: u64,
        lost: u64,
        now: Instant,
    ) -> Ack {
        let newest = acked.newest;
        let round_start = newest.is_some_and(|n| n.snapshot.delivered >= self.round_end);
        if round_start {
            self.round_end = self.delivered;
            self.most_in_flight = (self.board.in_flight(), self.most_in_flight.0);
            self.held_back = (false, self.held_back.0);
        }
        let most = self
            .most_in_flight
            .0
            .max(self.most_in_flight.1)
            .max(prior_in_flight);
        // Linux `tcp_is_cwnd_limited`: in slow start, half a window in use is use enough.
        let window_limited = match self.control.in_slow_start() {
            true => self.control.window() < 2 * most,
            false => self.held_back.0 || self.held_back.1,
        };
        Ack {
            bytes: acked.bytes,
            lost,
            rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            prior_in_flight,
            in_flight: self.board.in_flight(),
            delivered: self.delivered,
            rate: newest.and_then(|newest| self.rate_sample(now, newest.at, newest.snapshot)),
            round_start,
            newest_sent: newest.map_or(Instant::ZERO, |newest| newest.at),
            in_recovery: self
                .recovery
                .as_ref()
                .is_some_and(|recovery| !recovery.after_timeout),
            window_limited,
            marked: if segment.ece { acked.bytes } else { 0 },
        }
    }

    /// draft-cheng-iccrg-delivery-rate-estimation-02, section 3.3.
    fn rate_sample(&mut self, now: Instant, sent: Instant, then: Snapshot) -> Option<RateSample> {
        let send_span = sent.since(then.first_sent);
        let ack_span = now.since(then.delivered_at);
        self.first_sent = sent;
        let interval = send_span.max(ack_span);
        // Faster than the path can be: the sample spans no round trip.
        (interval >= self.rtt.min && interval > Duration::ZERO).then_some(RateSample {
            delivered: self.delivered - then.delivered,
            interval,
            prior_delivered: then.delivered,
            app_limited: then.app_limited,
        })
    }

    // ---- timers --------------------------------------------------------------------------------

    /// Arms the timer anew: a probe first where one may be sent, else the retransmission timer.
    fn arm(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.timer = Timer::Off;
            return;
        }
        let retransmit = now + self.rtt.rto();
        let probing = self.config.rack
            && self.recovery.is_none()
            && !self.board.has_sacked()
            && self.probe.is_none()
            && self.rtt.srtt > Duration::ZERO;
        self.timer = Timer::Retransmit(retransmit);
        if probing {
            // RFC 8985, 7.2: a lone segment's acknowledgement may be held back.
            let alone = self.board.count() == 1;
            let wait = if alone {
                self.config.min_rto
            } else {
                Duration::ZERO
            };
            let probe = now + self.rtt.srtt * 2 + wait;
            if probe < retransmit {
                self.timer = Timer::Probe(probe);
            }
        }
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        if self.control.next_timer().is_some_and(|at| now >= at) {
            self.control.on_timer(now);
        }
        if now >= self.reordering_timer {
            self.reordering_timer = Instant::NEVER;
            self.detect(now, &Acked::default());
        }
        match self.timer {
            Timer::Probe(at) if now >= at => {
                self.probe_due = true;
                // One probe for each flight; then the timer (RFC 8985, 7.3).
                self.timer = Timer::Retransmit(now + self.rtt.rto());
            }
            Timer::Retransmit(at) if now >= at => self.time_out(now),
            _ => {}
        }
    }

    fn time_out(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        let in_flight = self.board.in_flight();
        self.board.lose_all();
        self.probe = None;
        self.probe_due = false;
        self.rtt.back_off();
        self.recovery = Some(Recovery::timeout(self.next));
        self.control.on_timeout(now, in_flight);
        self.pace = now;
        self.timer = Timer::Retransmit(now + self.rtt.rto());
    }
}
