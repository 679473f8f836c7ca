//! The sending half: the timing of transmissions.

mod acks;

use super::ecn::{Echo, Marks};
use super::rack::Rack;
use super::recovery::{Recovery, ReductionCause};
use super::scoreboard::Scoreboard;
use super::timers::Timers;
use crate::delivery::Delivery;
use crate::pacing::{self, SendPacer};
use crate::rtt::{Floor, Rtt};
use crate::usage::Usage;

use crate::limits::{SenderLimit, SenderLimits};
use crate::{Config, SenderState, Stats};
use cca::{Control, ControlPhase};
use units::{Duration, Ecn, Instant};

/// Linux's `sk_pacing_shift` of 10: a 1024th of a second, in nanoseconds.
const NANOS_IN_1024TH: u64 = 1_000_000_000 / 1024;
/// Linux's `tcp_limit_output_bytes` since 6.6 (1 MiB before).
const LIMIT_OUTPUT: u64 = 4 << 20;

/// The sending half of a connection. Sizes in bytes.
pub struct Sender {
    config: Config,
    control: Box<dyn Control>,
    rtt: Rtt,
    board: Scoreboard,
    rack: Rack,
    /// Given by the application so far.
    given: u64,
    /// Next byte to send for the first time.
    next: u64,
    /// Data was given, and the application waits for a notification of room.
    awaited: bool,
    recovery: Option<Recovery>,
    marks: Marks,
    tell_reduced: bool,
    timers: Timers,
    probe: Option<Probe>,
    forced: Forced,
    /// The bytes acknowledged when the timer last ran out.
    timed_out: Option<u64>,
    /// When it ran out first in this episode; no data was sent again before.
    repeats_since: Instant,
    /// Bytes found lost that were not yet reported to the control with an acknowledgement.
    lost_untold: u64,
    last_sent: Instant,
    delivery: Delivery,
    usage: Usage,
    pacer: SendPacer,
    /// A packet left since sending last paused.
    active: bool,
    limits: SenderLimits,
    stats: Stats,
}

/// Data that leaves.
#[derive(Debug, Clone, Copy)]
pub struct Data {
    /// Offset of its first byte.
    pub seq: u64,
    /// Bytes.
    pub len: u32,
    /// The segment says that the window was reduced.
    pub cwr: bool,
    /// The ECN field to send it with.
    pub ecn: Ecn,
}

/// A tail loss probe that is not resolved (RFC 8985, 7.4).
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// The end of the data sent when it left.
    end: u64,
    /// It repeated a segment, rather than carry new data.
    repeated: bool,
}

/// The kind of packet that leaves next regardless of window and pacer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forced {
    Nothing,
    /// The first lost segment, after a timeout.
    Repair,
    /// A tail loss probe.
    Probe,
}

impl Sender {
    /// No data was given yet.
    pub fn new(config: Config, control: Box<dyn Control>) -> Self {
        let floor = if config.rto_over_srtt {
            Floor::Variance(config.min_rto)
        } else {
            Floor::Sum(config.min_rto)
        };
        Sender {
            rtt: Rtt::new(config.initial_rto, floor),
            timers: Timers::new(&config),
            marks: Marks::new(control.ecn()),
            config,
            control,
            board: Scoreboard::default(),
            rack: Rack::default(),
            given: 0,
            next: 0,
            awaited: false,
            recovery: None,
            tell_reduced: false,
            probe: None,
            forced: Forced::Nothing,
            timed_out: None,
            repeats_since: Instant::ZERO,
            lost_untold: 0,
            last_sent: Instant::ZERO,
            delivery: Delivery::default(),
            usage: Usage::default(),
            pacer: SendPacer::default(),
            active: false,
            limits: SenderLimits::default(),
            stats: Stats::default(),
        }
    }

    /// How long to wait for the answer to a packet of the handshake: twice as long for each time
    /// that it leaves (RFC 6298, 5.5).
    pub fn wait_for_handshake(&mut self) -> Duration {
        let wait = self.rtt.timeout();
        self.rtt.back_off();
        wait
    }

    /// The handshake is complete: it took `rtt`, and marks come back by `echo`.
    pub fn establish(&mut self, rtt: Duration, echo: Echo) {
        self.sample(rtt);
        self.marks.agree(echo);
    }

    /// Only a round trip ends the doubling of the timeout, not any acknowledgement (Linux
    /// `tcp_ack_update_rtt`).
    fn sample(&mut self, rtt: Duration) {
        self.rtt.sample(rtt, Duration::ZERO);
        self.rtt.restart();
    }

    /// The ECN field of an acknowledgement alone.
    pub fn ack_field(&self) -> Ecn {
        self.marks.other_field()
    }

    /// The application gives `bytes`.
    pub fn give(&mut self, bytes: u64) {
        // Linux `tcp_rate_check_app_limited`: the window had room and there was no data to fill it.
        let idle = self.unsent() < self.mss() && self.board.lost_len().is_none();
        if idle && self.in_flight() < self.control.window() {
            self.delivery.limited_by_app(self.in_flight());
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

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            acked: self.board.una(),
            ..self.stats
        }
    }

    /// What it is at: the repair of losses where that rations, or else the control's phase.
    pub fn state(&self) -> SenderState {
        let of = SenderState::of(self.control(), self.srtt());
        let repair = self.recovery.as_ref().filter(|_| self.control.uses_prr());
        SenderState {
            in_flight: self.in_flight(),
            acked: self.board.una(),
            phase: repair.map_or(of.phase, |repair| match repair.cause {
                ReductionCause::Timeout => ControlPhase::Timeout,
                ReductionCause::Loss | ReductionCause::Mark => ControlPhase::Recovery,
            }),
            limit: self.limits.now(),
            ..of
        }
    }

    /// What it waited for so far.
    pub const fn limits(&self) -> &SenderLimits {
        &self.limits
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

    fn mss(&self) -> u64 {
        u64::from(self.config.mss)
    }

    /// It has nothing to send and waits for nothing.
    pub fn is_idle(&self) -> bool {
        self.given == self.next
            && self.board.is_empty()
            && !self.active
            && self.forced == Forced::Nothing
            && self.timers.pace == Instant::NEVER
    }

    // ---- sending -------------------------------------------------------------------------------

    /// The next data that may leave.
    #[inline(always)]
    pub fn transmit(&mut self, now: Instant) -> Option<Data> {
        let forced = core::mem::replace(&mut self.forced, Forced::Nothing);
        if forced == Forced::Probe {
            return self.send_probe(now);
        }
        let lost = self.board.lost_len();
        let len = lost.unwrap_or_else(|| self.new_len());
        let may = forced == Forced::Repair && lost.is_some();
        if !may && !self.may_send(now, len) {
            return None;
        }
        match lost {
            Some(_) => self.send_lost(now),
            None => Some(self.send_new(now, len)),
        }
    }

    /// Length of the next new segment; 0 if there is none. The receiver's window is not cut into
    /// small segments (RFC 9293, 3.8.6.2.1).
    fn new_len(&self) -> u32 {
        let len = self.unsent().min(self.mss());
        let room = (self.board.una() + self.config.receive_window).saturating_sub(self.next);
        if len > room { 0 } else { len as u32 }
    }

    /// Whether `len` bytes may leave; notes how the window is used when they may not.
    fn may_send(&mut self, now: Instant, len: u32) -> bool {
        let fits = self.fits(len.into());
        let paced_until = self.pacer.next();
        let waits = len > 0 && fits && paced_until > now;
        self.timers.pace = if waits { paced_until } else { Instant::NEVER };
        if len > 0 && fits && !waits {
            return true;
        }
        if self.active || !fits {
            self.pause(!fits);
        }
        let limit = self.limit(len, fits);
        self.limits.wait(now, limit);
        false
    }

    /// What keeps the next data from leaving: `len` bytes, none if there are none to be sent now.
    fn limit(&self, len: u32, fits: bool) -> SenderLimit {
        match (len, fits) {
            (0, _) if self.unsent() == 0 => SenderLimit::Application,
            (0, _) if self.fits(self.mss()) => SenderLimit::Receiver,
            (0, _) | (_, false) => SenderLimit::Window,
            (_, true) => SenderLimit::Pacing,
        }
    }

    /// Sending pauses, because the window is `full` or for another reason.
    fn pause(&mut self, full: bool) {
        self.active = false;
        let una = self.board.una();
        let limited = full || self.in_flight() >= self.control.window();
        self.usage
            .on_pause(limited, self.next - una, una, self.next);
    }

    /// The queue of its own computer is full: the window is not the limit then, and does not grow
    /// (Linux `tcp_write_xmit` and `tcp_cwnd_validate`).
    pub fn held_back(&mut self, now: Instant) {
        if self.active {
            self.pause(false);
        }
        let len = self.board.lost_len().unwrap_or_else(|| self.new_len());
        let fits = self.fits(len.into());
        let may = len > 0 && fits && self.pacer.next() <= now;
        let limit = if may {
            SenderLimit::Computer
        } else {
            self.limit(len, fits)
        };
        self.limits.wait(now, limit);
    }

    fn fits(&self, len: u64) -> bool {
        let in_flight = self.board.in_flight();
        in_flight == 0
            || match &self.recovery {
                Some(recovery) if recovery.rations() && self.control.uses_prr() => {
                    len <= recovery.allowance()
                }
                _ => in_flight + len <= self.control.window(),
            }
    }

    fn send_new(&mut self, now: Instant, len: u32) -> Data {
        let (seq, rests) = (self.next, self.board.is_empty());
        if rests && seq > 0 && self.config.idle_restart {
            let idle = now.since(self.last_sent);
            if idle > self.rtt.timeout() {
                self.control.on_idle_restart(now, idle);
            }
        }
        let stamp = self.delivery.stamp(now, rests);
        self.board.sent(seq, len, stamp);
        self.next += u64::from(len);
        if rests {
            self.timers.start_retransmit(now, &self.rtt);
        }
        self.arm_probe(now);
        self.count_sent(now, len);
        Data {
            seq,
            len,
            // RFC 3168, 6.1.2: new data carries it.
            cwr: core::mem::take(&mut self.tell_reduced),
            ecn: self.marks.field(self.config.ecn),
        }
    }

    fn send_lost(&mut self, now: Instant) -> Option<Data> {
        let stamp = self.delivery.stamp(now, false);
        let (seq, len, first) = self.board.resend_lost(stamp)?;
        if first {
            self.timers.start_retransmit(now, &self.rtt);
        }
        Some(self.sent_again(now, seq, len))
    }

    /// New data if there is any, the last segment otherwise (RFC 8985, 7.3).
    fn send_probe(&mut self, now: Instant) -> Option<Data> {
        let len = self.new_len();
        let sent = if len > 0 {
            self.send_new(now, len)
        } else {
            let stamp = self.delivery.stamp(now, false);
            let (seq, len) = self.board.resend_last(stamp)?;
            self.sent_again(now, seq, len)
        };
        self.stats.probes += 1;
        self.timers.probe = Instant::NEVER;
        self.probe = Some(Probe {
            end: self.next,
            repeated: len == 0,
        });
        Some(sent)
    }

    fn sent_again(&mut self, now: Instant, seq: u64, len: u32) -> Data {
        self.stats.retransmits += 1;
        self.count_sent(now, len);
        Data {
            seq,
            len,
            cwr: false,
            ecn: self.marks.other_field(),
        }
    }

    fn count_sent(&mut self, now: Instant, len: u32) {
        let bytes = u64::from(len);
        self.stats.packets_sent += 1;
        self.active = true;
        self.last_sent = now;
        if let Some(recovery) = &mut self.recovery {
            recovery.on_sent(bytes);
        }
        self.control.on_sent(now, bytes, self.board.in_flight());
        if let Some(gap) = self.pacing_gap(bytes) {
            self.pacer.on_sent(now, gap);
        }
    }

    /// Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`, unless the control names a rate.
    fn pacing_gap(&self, bytes: u64) -> Option<Duration> {
        if let Some(rate) = self.control.pacing_rate() {
            return Some(rate.time_for(bytes));
        }
        self.config.pacing.then(|| self.gap_by_window(bytes))
    }

    fn gap_by_window(&self, bytes: u64) -> Duration {
        let percent = if self.control.in_slow_start() {
            200
        } else {
            120
        };
        let window = self.control.window().max(self.board.in_flight());
        pacing::gap(bytes, window, self.rtt.srtt, percent)
    }

    /// Linux `tcp_small_queue_check`: the bytes of 1/1024 s at the pacing rate, but at least two
    /// packets, and no more than `tcp_limit_output_bytes`. Linux has a pacing rate also when it
    /// does not pace.
    pub fn may_wait(&self) -> u64 {
        if !self.config.small_queues {
            return u64::MAX;
        }
        let packet = u64::from(self.config.mss + self.config.header);
        let gap = match self.control.pacing_rate() {
            Some(rate) => rate.time_for(packet),
            None => self.gap_by_window(packet),
        };
        let by_rate = packet * NANOS_IN_1024TH / gap.as_nanos().max(1);
        by_rate.clamp(2 * packet, LIMIT_OUTPUT)
    }

    // ---- timers --------------------------------------------------------------------------------

    /// After a delivery, every timer starts anew.
    fn arm(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.timers.stop();
            return;
        }
        self.timers.start_retransmit(now, &self.rtt);
        self.arm_probe(now);
    }

    fn arm_probe(&mut self, now: Instant) {
        let repairing = self
            .recovery
            .as_ref()
            .is_some_and(|recovery| recovery.cause != ReductionCause::Mark);
        let eligible = self.config.rack
            && !repairing
            && self.board.sacked_segments() == 0
            && self.probe.is_none();
        self.timers.probe = Instant::NEVER;
        if eligible {
            self.timers.start_probe(now, &self.rtt, self.board.count());
        }
    }

    /// The next due time.
    pub fn next_timer(&self) -> Instant {
        let control = self.control.next_timer().unwrap_or(Instant::NEVER);
        self.timers.next().min(control)
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        if self.control.next_timer().is_some_and(|at| now >= at) {
            self.control.on_timer(now);
        }
        if now >= self.timers.reordering {
            self.detect(now);
        }
        if now >= self.timers.probe {
            self.timers.probe = Instant::NEVER;
            self.timers.start_retransmit(now, &self.rtt);
            self.forced = Forced::Probe;
        } else if now >= self.timers.retransmit {
            self.time_out(now);
        }
    }

    /// RFC 6298, section 5; RFC 8985, section 6.3.
    fn time_out(&mut self, now: Instant) {
        let in_flight = self.board.in_flight();
        let recent = if self.config.rack {
            self.rack.rtt()
        } else {
            Duration::ZERO
        };
        self.lost_untold += self.board.lose_all(now, recent);
        self.stats.timeouts += 1;
        if self.config.backoff {
            self.rtt.back_off();
        }
        // RFC 5681, 3.1: one segment reduces the window once, however often it times out.
        let una = Some(self.board.una());
        let again = self.recovery.as_ref().is_some_and(|r| !r.rations()) && self.timed_out == una;
        self.timed_out = una;
        self.recovery = Some(Recovery::new(ReductionCause::Timeout, self.next, 0, 0));
        if !again {
            self.repeats_since = now;
            self.control.on_timeout(now, in_flight);
        }
        self.tell_reduced = self.marks.wants_cwr();
        self.probe = None;
        self.forced = Forced::Repair;
        self.timers.stop();
        self.timers.start_retransmit(now, &self.rtt);
    }
}
