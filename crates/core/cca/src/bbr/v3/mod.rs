//! BBR version 3: version 1 within bounds derived from losses.
//!
//! Principles: the highest delivery rate of the last two probing cycles is the bandwidth, the
//! smallest round trip of ten seconds the delay of the empty path. Every two to three seconds (or
//! as often as Reno would lose on a short path) it probes for more, after filling the pipe; a round
//! with more than two per cent of losses bounds what may be in flight in the long term, and losses
//! while it does not probe bound rate and flight until it probes again. Between probes it leaves
//! room for others.
//!
//! draft-ietf-ccwg-bbr-06 ("the draft"), which drains at 0.5 and paces at 0.9 in DOWN, where Google's
//! `tcp_bbr.c` has 0.35 and 0.91. Its `inflight_longterm` is Google's `inflight_hi`, its
//! `bw_shortterm` and `inflight_shortterm` are `bw_lo` and `inflight_lo`.
//!
//! Left out: undoing after a spurious loss, which transports here do not report; Google's answer to
//! precise marks in data centres. The draft requires that any mark is treated as congestion and
//! leaves open how: here a mark counts as a loss of more than two per cent, once a round. Sequence
//! ranges are not known, so that acknowledgements which reveal losses are counted in start-up, as
//! Google does; the bytes in flight at a lost packet are taken from the packet whose arrival
//! revealed the loss.

mod limits;
mod long_term;
mod min_rtt;
mod model;
mod probe_bw;
mod sent;
mod startup;
#[cfg(test)]
mod tests;

use super::filter::{Aggregation, FullPipe, HeldBack};
use super::{BbrParams, Gain, ONE, gained};
use crate::{Ack, Congestion, Control, ControlPhase, Probe, Setup, Signal};
use long_term::LongTerm;
use min_rtt::MinRtt;
use model::{AckSample, Latest, Losses, MaxBandwidth, ShortTerm};
use probe_bw::Cycle;
use sent::SentLog;
use units::param::Settings;
use units::random::Stream;
use units::{Duration, Instant, Rate, Refusal};

/// 4 ln 2: the least that doubles the rate every round (draft, 2.5: StartupPacingGain).
const STARTUP_PACING: Gain = (277, 100);
/// Drains the queue of start-up in a round (draft, 2.5: DrainPacingGain).
const DRAIN_PACING: Gain = (1, 2);
/// Pacing in DOWN and UP (draft, 5.6.1).
const DOWN_PACING: Gain = (9, 10);
const UP_PACING: Gain = (5, 4);
/// Bandwidth-delay products in flight by default, in UP and in ProbeRTT (draft, 5.6.1).
const WINDOW: Gain = (2, 1);
const UP_WINDOW: Gain = (9, 4);
const PROBE_RTT_WINDOW: Gain = (1, 2);
/// Smallest factor applied to a bound in a round with losses (draft, 2.8: Beta).
const BETA: Gain = (7, 10);
/// No bound.
const UNBOUNDED: u64 = u64::MAX;

/// The state of BBR (draft, 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BbrState {
    /// Doubling the rate every round.
    Startup,
    /// Draining that queue.
    Drain,
    /// ProbeBW: draining, and leaving room.
    Down,
    /// ProbeBW: at the estimate.
    Cruise,
    /// ProbeBW: filling the pipe for a round.
    Refill,
    /// ProbeBW: a quarter faster.
    Up,
    /// Half a product in flight, to see the empty path.
    ProbeRtt,
}

impl BbrState {
    fn is_probe_bw(self) -> bool {
        matches!(
            self,
            BbrState::Down | BbrState::Cruise | BbrState::Refill | BbrState::Up
        )
    }

    /// Losses are to be expected, and answered by the long-term bound only.
    fn is_accelerating(self) -> bool {
        matches!(self, BbrState::Startup | BbrState::Refill | BbrState::Up)
    }

    /// Pacing and window gain (draft, 5.6.1).
    fn gains(self) -> (Gain, Gain) {
        match self {
            BbrState::Startup => (STARTUP_PACING, WINDOW),
            BbrState::Drain => (DRAIN_PACING, WINDOW),
            BbrState::Down => (DOWN_PACING, WINDOW),
            BbrState::Cruise | BbrState::Refill => (ONE, WINDOW),
            BbrState::Up => (UP_PACING, UP_WINDOW),
            BbrState::ProbeRtt => (ONE, PROBE_RTT_WINDOW),
        }
    }
}

/// Rounds by packets: one ends when a packet is acknowledged at whose sending `end` had been
/// delivered (draft, 5.5.1).
#[derive(Debug, Clone, Default)]
struct Rounds {
    count: u64,
    end: u64,
    /// The last acknowledgement ended one.
    ended: bool,
    /// Delivered so far.
    delivered: u64,
}

impl Rounds {
    /// The next one begins here.
    fn start(&mut self) {
        self.end = self.delivered;
    }
}

/// BBRv3's state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Bbr3 {
    params: BbrParams,
    encoder_share: Gain,
    setup: Setup,
    random: Stream,
    state: BbrState,
    rounds: Rounds,
    sent: SentLog,
    /// The measurement of the current, or the last, acknowledgement.
    sample: AckSample,
    max_bandwidth: MaxBandwidth,
    latest: Latest,
    losses: Losses,
    short_term: ShortTerm,
    long_term: LongTerm,
    cycle: Cycle,
    /// Whether more can be had, looked at in start-up and in UP; whether start-up has found the
    /// most; and the round in which draining began.
    plateau: FullPipe,
    filled: bool,
    drain_start: u64,
    aggregation: Aggregation,
    min_rtt: MinRtt,
    held_back: HeldBack,
    /// Sending has restarted from an empty flight, and no data was acknowledged since.
    idle_restart: bool,
    /// Losses are being repaired.
    repairing: bool,
    /// A loss or a mark was reported for which no acknowledgement has been handled yet.
    noticed: Option<Signal>,
    window: u64,
    /// The window before a timeout or ProbeRTT cut it.
    prior_window: u64,
    pacing: Rate,
    seen_rtt: bool,
    probes: u32,
}

impl Bbr3 {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = BbrParams::parse(settings)?;
        let mut bbr = Bbr3 {
            encoder_share: params.encoder_share(),
            params,
            random: Stream::new(setup.seed, "bbr3"),
            state: BbrState::Startup,
            rounds: Rounds::default(),
            sent: SentLog::default(),
            sample: AckSample::default(),
            max_bandwidth: MaxBandwidth::default(),
            latest: Latest::default(),
            losses: Losses::default(),
            short_term: ShortTerm::default(),
            long_term: LongTerm::default(),
            cycle: Cycle::default(),
            plateau: FullPipe::default(),
            filled: false,
            drain_start: 0,
            aggregation: Aggregation::new(),
            min_rtt: MinRtt::default(),
            held_back: HeldBack::default(),
            idle_restart: false,
            repairing: false,
            noticed: None,
            window: setup.initial_window,
            prior_window: 0,
            pacing: Rate::default(),
            seen_rtt: false,
            probes: 0,
            setup: setup.clone(),
        };
        bbr.aggregation.slot_rounds = startup::AGGREGATION_ROUNDS;
        bbr.pacing = bbr.first_pacing(super::NOMINAL_RTT);
        Ok(bbr)
    }

    /// The bandwidth, within the short-term bound (draft: BBR.bw).
    fn bandwidth(&self) -> Rate {
        self.max_bandwidth.get().min(self.short_term.bandwidth)
    }

    /// Sending restarts after the application had no data (draft, 5.4.1).
    fn restart(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            // No gain: a probe would only queue.
            self.pacing = gained(self.bandwidth(), super::MARGIN);
        } else if self.state == BbrState::ProbeRtt {
            self.leave_probe_rtt(now);
        }
    }

    /// The model and the state, if the acknowledgement measured a rate (draft, 5.2.3).
    fn update_model(&mut self, now: Instant, ack: &Ack) {
        self.update_latest(ack);
        self.update_round();
        self.update_bandwidth();
        self.adapt_to_losses();
        let (rate, round_ended) = (self.bandwidth(), self.rounds.ended);
        self.aggregation
            .on_ack(now, ack.bytes, rate, self.window, round_ended);
        self.check_plateau();
        self.check_startup(ack);
        self.check_drain(now, ack);
        self.update_cycle(now, ack);
    }
}

impl Control for Bbr3 {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if in_flight == bytes && self.sample.app_limited {
            self.restart(now);
        }
        self.sent.on_sent(now, in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.take_sample(ack);
        self.note_congestion(now, ack);
        self.rounds.ended = false;
        self.losses.round_ended = false;
        if ack.rate.is_some() {
            self.update_model(now, ack);
        }
        self.update_min_rtt(now, ack);
        self.check_probe_rtt(now, ack);
        self.advance_latest();
        self.set_pacing(ack.srtt);
        self.set_window(ack);
    }

    fn on_congestion(&mut self, _now: Instant, congestion: &Congestion) {
        if congestion.signal == Signal::Loss {
            self.save_window();
            self.repairing = true;
        }
        self.noticed = Some(congestion.signal);
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.repairing = false;
        self.restore_window();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.save_window();
        self.repairing = true;
        self.noticed = Some(Signal::Loss);
        self.window = self.setup.mss;
    }

    fn on_idle_restart(&mut self, now: Instant, _idle: Duration) {
        self.restart(now);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing)
    }

    /// A share of the bandwidth estimate, without the gain of the moment. Until the pipe has been
    /// full, an estimate below the initial rate means only that no more was sent.
    fn media_rate(&self, _srtt: Duration) -> Rate {
        let rate = gained(self.bandwidth(), self.encoder_share);
        if self.filled {
            rate
        } else {
            rate.max(self.setup.initial_rate)
        }
    }

    /// Padding for a quarter of a round trip at a time, so that it ends soon after probing does: in
    /// start-up and UP, until the estimate reaches the highest rate that the encoder can use.
    fn take_probe(&mut self, _now: Instant) -> Option<Probe> {
        let min_rtt = self.min_rtt.get()?;
        let most = self.setup.media_bounds.1;
        let probing = matches!(self.state, BbrState::Startup | BbrState::Up);
        if !self.params.padding || !probing || self.bandwidth() >= most {
            return None;
        }
        self.probes = self.probes.wrapping_add(1);
        Some(Probe {
            id: self.probes,
            rate: self.pacing.min(gained(most, UP_PACING)),
            span: min_rtt / 4,
            packets: 1,
        })
    }

    fn phase(&self) -> ControlPhase {
        match self.state {
            BbrState::Startup => ControlPhase::Startup,
            BbrState::Drain => ControlPhase::Drain,
            BbrState::Down => ControlPhase::Down,
            BbrState::Cruise => ControlPhase::Cruise,
            BbrState::Refill => ControlPhase::Refill,
            BbrState::Up => ControlPhase::Up,
            BbrState::ProbeRtt => ControlPhase::ProbeRtt,
        }
    }

    /// The model answers losses.
    fn uses_prr(&self) -> bool {
        false
    }
}
