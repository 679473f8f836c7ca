//! `bbr`: sending at the rate that the path delivers, with no more in flight than it holds.
//!
//! Principles: the highest delivery rate of ten rounds is the bandwidth, the smallest round trip of
//! ten seconds the delay of the empty path; their product belongs in flight. One round in eight
//! probes a quarter higher, and the next drains the resulting queue. Losses and marks are not
//! congestion. Not for: shallow buffers (it loses without slowing down); calls that must never be
//! interrupted (every ten seconds it nearly stops for 200 ms if it has kept a queue).
//!
//! BBR version 1; version 3 is in [`v3`]. Sources: draft-cardwell-iccrg-bbr-congestion-control-00
//! ("the draft") and Linux `tcp_bbr.c`. Of Linux's additions to the draft, the allowance for
//! bunched acknowledgements is implemented; the estimate of a policer's rate (`lt_bw`) is not, nor
//! is Linux's rounding of the window to an even number of segments.
//!
//! A media session sends the output of its encoder, which never exceeds the estimate and so never
//! raises it. Like WebRTC's BBR, this one asks for padding while it probes for more.

mod filter;
mod probe_rtt;
#[cfg(test)]
mod tests;
pub mod v3;
mod version;
mod window;

use crate::{Ack, Congestion, Control, ControlEntry, ControlPhase, Probe, Setup, Signal};
use filter::{Aggregation, FullPipe, HeldBack, MaxRate};
use units::param::Settings;
use units::random::Stream;
use units::{Duration, Instant, Rate, Refusal};
pub use version::Version;

units::params! {
    /// Parameters of `bbr`.
    pub struct BbrParams {
        /// Time after which the smallest round trip is measured again.
        min_rtt_window: Duration = "10s", range "1s".."1h", source "draft, 4.1.2.3: RTpropFilterLen; Linux: bbr_min_rtt_win_sec";
        /// Time for which four packets are kept in flight to measure it.
        probe_rtt_time: Duration = "200ms", range "10ms".."10s", source "draft, 4.3.5: ProbeRTTDuration; Linux: bbr_probe_rtt_mode_ms";
        /// Enlarge the window for acknowledgements that arrive in bunches.
        extra_acked: bool = "yes", source "Linux: bbr_extra_acked_gain = 1; the draft has none";
        /// Share of the estimate that an encoder gets: less than the pacing rate, so that the
        /// sender's queue empties after ProbeRtt.
        encoder_share: f64 = "0.95", range "0.1".."1", source "own: 1 % pacing margin, 2 % ProbeRtt (200 ms in 10 s), 2 % to catch up";
        /// Ask a media session for padding while probing for more bandwidth.
        padding: bool = "yes", source "libwebrtc bbr_network_controller.cc: pad_window while probing";
        /// Version of the algorithm: 1 as in Linux, or 3, which answers losses.
        version: Version = "1", source "Linux net/ipv4/tcp_bbr.c; 3: draft-ietf-ccwg-bbr-06";
    }
}

/// `bbr` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "bbr",
    summary: "paces at the measured bandwidth: version 1, which ignores loss, or 3",
    about: "Version 1 sends at the highest delivery rate of the last ten rounds, with at most \
        twice the bandwidth-delay product in flight; it probes a quarter higher one round in \
        eight.\n\nVersion 3 probes every two to three seconds and bounds the data in flight by the \
        amount with which probes have lost more than two per cent.\n\nVersion 1 is not for shallow \
        buffers: it loses packets and does not slow down.",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00, Linux net/ipv4/tcp_bbr.c; version 3: \
        draft-ietf-ccwg-bbr-06",
    params: BbrParams::SPECS,
    children: &[],
    build: |parts| {
        let (settings, setup) = (parts.settings, parts.setup);
        Ok(match BbrParams::parse(settings)?.version {
            Version::One => Box::new(Bbr::new(settings, setup)?),
            Version::Three => Box::new(v3::Bbr3::new(settings, setup)?),
        })
    },
};

impl BbrParams {
    fn encoder_share(&self) -> Gain {
        ((self.encoder_share * 1000.0 + 0.5) as u64, 1000)
    }
}

/// A factor, numerator and denominator.
type Gain = (u64, u64);

const ONE: Gain = (1, 1);
/// 2 / ln 2: the least that doubles the rate every round (draft, 4.3.2.1).
const HIGH: Gain = (2885, 1000);
/// Its inverse drains the queue of start-up in a round (draft, 4.3.3).
const DRAIN: Gain = (1000, 2885);
/// Bandwidth-delay products in flight in steady state, for delayed acknowledgements (draft, 4.2.3).
const WINDOW: Gain = (2, 1);
/// Pacing in the phases of the gain cycle (draft, 4.3.4.1).
const CYCLE: [Gain; 8] = [(5, 4), (3, 4), ONE, ONE, ONE, ONE, ONE, ONE];
/// Pacing stays 1 % below the estimate, so that queues do not last (Linux
/// `bbr_pacing_margin_percent`).
const MARGIN: Gain = (99, 100);
/// Segments that are always allowed in flight (draft, 4.2.3: BBRMinPipeCwnd).
const MIN_SEGMENTS: u64 = 4;
/// The round trip assumed before the first sample, for the first pacing rate (draft, 4.2.1).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The mode of BBR (draft, 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Doubling the rate every round.
    Startup,
    /// Draining that queue.
    Drain,
    /// Around the estimate, by the gain cycle.
    ProbeBw,
    /// Nearly nothing in flight, to see the empty path.
    ProbeRtt,
}

/// The kind of repair in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BbrRepair {
    Nothing,
    /// A loss was noticed with the acknowledgement that is being handled.
    Entering,
    /// The first round of a repair: a packet leaves for each that arrives (draft, 4.2.3.4).
    Conserving,
    /// Later rounds of it.
    Under,
    /// Data presumed lost by a timeout.
    TimedOut,
}

/// BBRv1's state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Bbr {
    params: BbrParams,
    encoder_share: Gain,
    setup: Setup,
    random: Stream,
    mode: Mode,
    /// Phase of the gain cycle, and since when.
    phase: usize,
    phase_start: Instant,
    bandwidth: MaxRate,
    full: FullPipe,
    aggregation: Aggregation,
    /// Rounds so far; one ends when a packet is acknowledged at whose sending this much had been
    /// delivered.
    rounds: u64,
    round_end: u64,
    round_start: bool,
    /// The smallest round trip and when it was last seen.
    min_rtt: Option<(Duration, Instant)>,
    /// When the present ProbeRtt may end, once few enough packets are in flight; and whether a
    /// round has passed since.
    probe_rtt_end: Option<Instant>,
    probe_rtt_round: bool,
    held_back: HeldBack,
    /// The last sample was limited by the application.
    app_limited: bool,
    /// Sending has restarted from an empty flight, and no data was acknowledged since.
    idle_restart: bool,
    repair: BbrRepair,
    window: u64,
    /// The window before a repair or ProbeRtt cut it.
    prior_window: u64,
    pacing: Rate,
    seen_rtt: bool,
    probes: u32,
}

impl Bbr {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = BbrParams::parse(settings)?;
        let mut bbr = Bbr {
            encoder_share: params.encoder_share(),
            params,
            random: Stream::new(setup.seed, "bbr"),
            mode: Mode::Startup,
            phase: 0,
            phase_start: Instant::ZERO,
            bandwidth: MaxRate::new(),
            full: FullPipe::default(),
            aggregation: Aggregation::new(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            min_rtt: None,
            probe_rtt_end: None,
            probe_rtt_round: false,
            held_back: HeldBack::default(),
            app_limited: false,
            idle_restart: false,
            repair: BbrRepair::Nothing,
            window: setup.initial_window,
            prior_window: 0,
            pacing: Rate::default(),
            seen_rtt: false,
            probes: 0,
            setup: setup.clone(),
        };
        bbr.pacing = bbr.first_pacing(NOMINAL_RTT);
        Ok(bbr)
    }

    fn first_pacing(&self, rtt: Duration) -> Rate {
        gained(
            gained(Rate::from_bytes_over(self.window, rtt), HIGH),
            MARGIN,
        )
    }

    /// Pacing and window gain.
    fn gains(&self) -> (Gain, Gain) {
        match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (DRAIN, HIGH),
            Mode::ProbeBw => (CYCLE[self.phase], WINDOW),
            Mode::ProbeRtt => (ONE, ONE),
        }
    }

    fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.setup.mss
    }

    /// `gain` bandwidth-delay products; the initial window while there is no round trip.
    fn bdp(&self, gain: Gain) -> u64 {
        match self.min_rtt {
            Some((rtt, _)) => gained(self.bandwidth.get(), gain).bytes_in(rtt),
            None => self.setup.initial_window,
        }
    }

    /// Rounds and bandwidth (draft, 4.1.1). A sample that the application limited counts only if it
    /// raises the estimate.
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.round_start = false;
        let Some(sample) = ack.rate.filter(|sample| sample.interval > Duration::ZERO) else {
            return;
        };
        if sample.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.rounds += 1;
            self.round_start = true;
            if self.repair == BbrRepair::Conserving {
                self.repair = BbrRepair::Under;
            }
        }
        self.app_limited = sample.app_limited || self.held_back.covers(&sample);
        let rate = sample.rate();
        if !self.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.add(self.rounds, rate);
        }
    }

    /// Moves on in the gain cycle (draft, 4.3.4.3).
    fn update_phase(&mut self, now: Instant, ack: &Ack) {
        let Some((min_rtt, _)) = self.min_rtt else {
            return;
        };
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = now.since(self.phase_start) > min_rtt;
        let target = |gain| self.with_budget(self.bdp(gain));
        let done = match self.phase {
            // Until as much is in flight as the gain asks for, unless it does not fit.
            0 => full_length && (ack.lost > 0 || ack.prior_in_flight >= target(CYCLE[0])),
            // Until the queue is drained.
            1 => full_length || ack.prior_in_flight <= target(ONE),
            _ => full_length,
        };
        if done {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_start = now;
        }
    }

    /// Out of start-up when the pipe is full, out of draining when the queue is empty.
    fn update_mode(&mut self, now: Instant, ack: &Ack) {
        if !self.full.reached && self.round_start && !self.app_limited {
            self.full.on_round(self.bandwidth.get());
        }
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight <= self.with_budget(self.bdp(ONE)) {
            self.leave_for_steady_state(now);
        }
    }

    /// Into the gain cycle, at any phase but the draining one, so that flows do not probe together
    /// (draft, 4.3.4.2); or back to start-up if it has not filled the pipe.
    fn leave_for_steady_state(&mut self, now: Instant) {
        if !self.full.reached {
            self.mode = Mode::Startup;
            return;
        }
        self.mode = Mode::ProbeBw;
        self.phase = (2 + self.random.below(7) as usize) % CYCLE.len();
        self.phase_start = now;
    }

    /// The pacing rate; in start-up it only grows (draft, 4.2.1).
    fn set_pacing(&mut self, srtt: Duration) {
        if !self.seen_rtt && srtt > Duration::ZERO {
            self.seen_rtt = true;
            self.pacing = self.first_pacing(srtt);
        }
        let (gain, _) = self.gains();
        let rate = gained(gained(self.bandwidth.get(), gain), MARGIN);
        if self.full.reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// Sending restarts after the application had no data (draft, 4.3.4.4).
    fn restart(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            // No gain: a probe would only queue.
            Mode::ProbeBw => self.pacing = gained(self.bandwidth.get(), MARGIN),
            Mode::ProbeRtt => self.leave_probe_rtt(now),
            Mode::Startup | Mode::Drain => {}
        }
    }
}

/// `rate × gain`.
fn gained(rate: Rate, gain: Gain) -> Rate {
    rate.scale(gain.0, gain.1)
}

impl Control for Bbr {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if in_flight == bytes && self.app_limited {
            self.restart(now);
        }
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        if !ack.in_recovery {
            self.restore_window();
        }
        self.update_bandwidth(ack);
        if ack.rate.is_some() {
            let (rate, round_start) = (self.bandwidth.get(), self.round_start);
            self.aggregation
                .on_ack(now, ack.bytes, rate, self.window, round_start);
        }
        self.update_phase(now, ack);
        self.update_mode(now, ack);
        self.update_min_rtt(now, ack);
        self.set_pacing(ack.srtt);
        self.set_window(ack);
    }

    fn on_congestion(&mut self, _now: Instant, congestion: &Congestion) {
        if congestion.signal == Signal::Loss {
            self.save_window();
            // An episode that follows another at once does not conserve packets again (Linux
            // `bbr_set_cwnd_to_recover_or_restore` sees the same state as before).
            if matches!(self.repair, BbrRepair::Nothing | BbrRepair::TimedOut) {
                self.repair = BbrRepair::Entering;
            }
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.restore_window();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.save_window();
        self.repair = BbrRepair::TimedOut;
        self.full.forget_rate();
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
        let rate = gained(self.bandwidth.get(), self.encoder_share);
        if self.full.reached {
            rate
        } else {
            rate.max(self.setup.initial_rate)
        }
    }

    /// Padding for a quarter of a round trip at a time, so that it ends soon after probing does: in
    /// start-up and in the cycle's probing phase, until the estimate reaches the highest rate that
    /// the encoder can use.
    fn take_probe(&mut self, _now: Instant) -> Option<Probe> {
        let (min_rtt, _) = self.min_rtt?;
        let most = self.setup.media_bounds.1;
        let probing = match self.mode {
            Mode::Startup => true,
            Mode::ProbeBw => self.phase == 0,
            Mode::Drain | Mode::ProbeRtt => false,
        };
        if !self.params.padding || !probing || self.bandwidth.get() >= most {
            return None;
        }
        self.probes = self.probes.wrapping_add(1);
        Some(Probe {
            id: self.probes,
            rate: self.pacing.min(gained(most, CYCLE[0])),
            span: min_rtt / 4,
            packets: 1,
        })
    }

    fn phase(&self) -> ControlPhase {
        match self.mode {
            Mode::Startup => ControlPhase::Startup,
            Mode::Drain => ControlPhase::Drain,
            Mode::ProbeBw => ControlPhase::ProbeBw,
            Mode::ProbeRtt => ControlPhase::ProbeRtt,
        }
    }

    /// It conserves packets by itself.
    fn uses_prr(&self) -> bool {
        false
    }
}
