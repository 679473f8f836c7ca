//! `scream`: SCReAM version 2, a call's window by marks, losses and queueing delay, for L4S.
//!
//! Principles: a reference window says how much may be in flight, the encoder gets a rate of a window a
//! round trip, and what bursts of pictures need above it may be in flight for a moment. Marks of
//! L4S shrink the window by half of their share; a queueing delay above half of a target does as if it
//! were marks, the more the nearer to the target; a loss takes three tenths. It grows by a packet a
//! round trip, and by a part of itself when nothing was congested for long; near the window at
//! which congestion came last both steps are small, so that the rate is steady. Beside flows that fill
//! buffers the target rises. Not for: bulk data, which has other controls.
//!
//! draft-johansson-ccwg-rfc8298bis-screamv2-07, whose section is named at each constant. In
//! floating point. Differences: the queueing delay is that of the round trip above its least one of ten
//! minutes, since acknowledgements tell no one-way delays (so no clock can drift); shares are those of
//! bytes, not of packets; the draft's examples of a slower encoder behind long pictures and waiting media
//! are left out, since the session bounds that wait itself; a timeout counts as a loss, which the draft
//! does not say. Facts from EricssonResearch/scream where the draft refers to it: the window's bound at
//! the highest rate, and the share of round trips with losses.

mod competing;
#[cfg(test)]
mod tests;

use crate::copa::Least;
use crate::{Ack, Congestion, Control, ControlEntry, EcnMode, Setup, Signal};
use competing::Competing;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of SCReAM.
    pub struct ScreamParams {
        /// Packets are ECT(1), and marks are answered by their share (L4S). Otherwise a mark is answered
        /// as `mark_factor` says, if ECN is on.
        l4s: bool = "yes", source "SCReAMv2, 4.2.2: IS_L4S";
        /// Queueing delay that it stays below when alone.
        target: Duration = "60ms", range "5ms".."1s", source "SCReAMv2, 4.2.2: QDELAY_TARGET_LO";
        /// Queueing delay up to which the target may rise beside flows that fill the buffer.
        target_most: Duration = "400ms", range "5ms".."2s", source "SCReAMv2, 4.2.2: QDELAY_TARGET_HI";
        /// Let the target rise.
        compete: bool = "yes", source "SCReAMv2, 4.2.1.4";
        /// Round trip that flows with shorter ones behave as if they had.
        virtual_rtt: Duration = "25ms", range "1ms".."1s", source "SCReAMv2, 4.2.2: VIRTUAL_RTT";
        /// Share of the window that a loss leaves.
        loss_factor: f64 = "0.7", range "0.1".."0.95", source "SCReAMv2, 4.2.2: BETA_LOSS";
        /// Share of the window that a mark leaves without L4S.
        mark_factor: f64 = "0.8", range "0.1".."0.95", source "SCReAMv2, 4.2.2: BETA_ECN";
        /// Part of the window by which it grows in a round trip, long after congestion.
        increase: f64 = "0.02", range "0".."0.5", source "SCReAMv2, 4.2.2: MUL_INCREASE_FACTOR";
    }
}

/// `scream` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "scream",
    summary: "a call's window by marks of L4S, losses and queueing delay (SCReAM v2)",
    about: "The window shrinks by half of the share of packets that are marked, by up to half as the \
        queueing delay goes from half of its target to all of it, and by three tenths at a loss. It \
        grows by a packet a round trip, and faster when nothing was congested for a hundred of \
        them. The encoder's rate is somewhat less than a window a round trip.\n\nIts packets are ECT(1) \
        unless `l4s` is off. Beside flows that fill the buffer its target rises.\n\nFor calls only; \
        version 1 (RFC 8298) is another control.",
    source: "draft-johansson-ccwg-rfc8298bis-screamv2-07; EricssonResearch/scream",
    params: ScreamParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Scream::new(parts.settings, parts.setup)?)),
};

/// The least window, bytes (4.2.2: MIN_REF_WND).
const LEAST_WINDOW: f64 = 3000.0;
/// For how long the least round trip is remembered (RFC 6817, section 3.4.2: ten minutes).
const BASE_WINDOW: Duration = Duration::from_secs(600);
/// Weights of the newest share of marks, when it rises and when it falls (4.2.1.3).
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
/// The share of marks is found so often (4.2.1.3).
const ALPHA_EVERY: Duration = Duration::from_millis(10);
/// Weight of the newest queueing delay when it rises (4.2.1.4: QDELAY_AVG_G).
const DELAY_UP: f64 = 1.0 / 4.0;
/// Weight of the newest variation, and its unit, seconds (4.2.1.4: QDELAY_DEV_AVG_G, QDELAY_DEV_NORM).
const VARIATION_GAIN: f64 = 1.0 / 64.0;
const VARIATION_UNIT: f64 = 0.025;
/// The least part that varying delay leaves of a step (4.2.2: MIN_QUEUE_DELAY_DEV_SCALE).
const LEAST_STEP: f64 = 0.1;
/// The window may be above what is in flight by this (4.2.2: BYTES_IN_FLIGHT_HEAD_ROOM).
const HEADROOM: f64 = 1.5;
/// Round trips after congestion until growth is as fast as ever (4.2.2: POST_CONGESTION_DELAY_RTT), and after
/// which a window that was not used does not count.
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// The window at congestion is noted at most so often, round trips (4.2.2.1).
const NOTED_EVERY: f64 = 10.0;
/// Bytes in flight above the window, as a factor: while the delay varies, and while it does not (4.3.1).
const OVERHEAD: (f64, f64) = (1.5, 3.0);
/// Pacing above the encoder's rate (4.3.2: PACKET_PACING_HEADROOM), the least pace in bits per second, and how much
/// more near the encoder's highest rate, from which part of it on.
const PACE: f64 = 1.5;
const LEAST_PACE: f64 = 50_000.0;
const RELAXED: f64 = 4.0;
const RELAXED_FROM: f64 = 0.8;
/// What the encoder's rate stays below a window a round trip (4.4), and bytes of headers of a packet.
const CAUTION: f64 = 1.2;
const HEADERS: f64 = 20.0;
/// At this part of the highest rate the window is bound by it (scream: ScreamV2Tx.cpp).
const NEARLY_ALL: f64 = 0.95;

/// Marked, lost, or as if marked.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reason {
    Loss,
    Mark,
    /// With the share of marks that the delay stands for.
    Delay(f64),
}

/// SCReAM's state. Sizes in bytes and times in seconds, as fractions.
#[derive(Debug, Clone)]
pub struct Scream {
    params: ScreamParams,
    mss: f64,
    initial_rate: Rate,
    /// The encoder's least and highest rate, bits per second.
    bounds: (f64, f64),
    window: f64,
    /// The window at which congestion came last, and when that was noted.
    noted: f64,
    noted_at: Instant,
    srtt: f64,
    base: Least,
    /// Queueing delay: the newest, its average, and its variation.
    delay: f64,
    delay_mean: f64,
    variation: f64,
    delay_at: Instant,
    /// Share of bytes that are marked; delivered and marked since it was found.
    alpha: f64,
    round: (u64, u64),
    alpha_at: Instant,
    /// Most in flight in this round trip and the one before.
    in_flight: (u64, u64),
    /// Lost or marked since the last reaction.
    lost: bool,
    marked: bool,
    congested_at: Instant,
    reacted_at: Instant,
    competing: Competing,
    /// The encoder's rate, bits per second.
    rate: f64,
}

impl Scream {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = ScreamParams::parse(settings)?;
        let (least, most) = setup.media_bounds;
        Ok(Scream {
            mss: setup.mss as f64,
            initial_rate: setup.initial_rate,
            bounds: (least.as_bits() as f64, most.as_bits() as f64),
            window: LEAST_WINDOW,
            noted: 1.0,
            noted_at: Instant::ZERO,
            srtt: 0.0,
            base: Least::default(),
            delay: 0.0,
            delay_mean: 0.0,
            variation: 0.0,
            delay_at: Instant::ZERO,
            alpha: 0.0,
            round: (0, 0),
            alpha_at: Instant::ZERO,
            in_flight: (0, 0),
            lost: false,
            marked: false,
            congested_at: Instant::ZERO,
            reacted_at: Instant::ZERO,
            competing: Competing::new(&params),
            rate: setup.initial_rate.as_bits() as f64,
            params,
        })
    }

    /// The reference window, bytes.
    pub const fn reference_window(&self) -> f64 {
        self.window
    }

    /// The smoothed share of marked bytes, 0 to 1.
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    fn virtual_rtt(&self) -> f64 {
        self.params.virtual_rtt.as_secs_f64()
    }

    /// The part of a packet in the window, at most 1.
    fn ratio(&self) -> f64 {
        (self.mss / self.window).min(1.0)
    }

    /// What is left of a step while the delay varies, 0 to 1.
    fn calm(&self) -> f64 {
        let threshold = self.variation_threshold();
        ((threshold - self.variation) / threshold).max(0.0)
    }

    /// Above this variation steps are the least ones; it is lower for small windows.
    fn variation_threshold(&self) -> f64 {
        (0.1 - self.ratio()).max(0.05)
    }

    /// How far the window is from where congestion came last, 0.1 to 1.
    fn distance(&self) -> f64 {
        let far = (self.window - self.noted) / self.noted * 8.0;
        (far * far).clamp(0.1, 1.0)
    }

    /// Takes a round trip.
    fn measure(&mut self, now: Instant, rtt: Duration) {
        self.base.push(now, rtt.as_nanos(), BASE_WINDOW);
        let base = self.base.get().unwrap_or(0);
        self.delay = rtt.as_nanos().saturating_sub(base) as f64 * 1e-9;
        self.competing.sample(now, self.delay);
        if now.since(self.delay_at).as_secs_f64() < self.virtual_rtt().min(self.srtt) {
            return;
        }
        self.delay_at = now;
        let above = (self.delay - self.delay_mean).max(0.0);
        self.delay_mean = self.delay.min(self.delay_mean) + above * DELAY_UP;
        let found = (self.delay - VARIATION_UNIT / 4.0) / VARIATION_UNIT;
        let found = found.clamp(0.0, self.variation_threshold() * 1.5);
        self.variation += (found - self.variation) * VARIATION_GAIN;
    }

    /// A packet was found lost.
    fn lose(&mut self, now: Instant) {
        self.lost = true;
        self.congested_at = now;
        self.competing.lost();
    }

    /// Takes what was delivered and marked into the share of marks.
    fn count(&mut self, now: Instant, ack: &Ack) {
        self.round.0 += ack.bytes;
        self.round.1 += ack.marked;
        let every = ALPHA_EVERY.as_secs_f64().min(self.srtt);
        if now.since(self.alpha_at).as_secs_f64() < every || self.round.0 == 0 {
            return;
        }
        let share = self.round.1 as f64 / self.round.0 as f64;
        self.alpha += if share >= self.alpha {
            (share - self.alpha) * ALPHA_UP
        } else {
            -self.alpha * ALPHA_DOWN
        };
        self.round = (0, 0);
        self.alpha_at = now;
    }

    /// The reason for a reduction, if there is one and it is time for it.
    fn reason(&self, now: Instant) -> Option<Reason> {
        if now.since(self.reacted_at).as_secs_f64() < self.virtual_rtt().min(self.srtt) {
            return None;
        }
        if self.lost {
            return Some(Reason::Loss);
        }
        if self.marked {
            return Some(Reason::Mark);
        }
        let half = self.competing.target() / 2.0;
        let above = (self.delay_mean - half) / half;
        (above > 0.0).then_some(Reason::Delay(above.min(1.0)))
    }

    /// The part of the window that marks of L4S take.
    fn step_of_marks(&self) -> f64 {
        let step = self.alpha / 2.0 / (self.srtt / self.virtual_rtt()).max(1.0);
        if self.delay >= self.competing.target() / 4.0 {
            return step;
        }
        step * self.distance().max(0.25) * self.calm().max(LEAST_STEP)
    }

    fn reduce(&mut self, now: Instant, reason: Reason) {
        if now.since(self.noted_at).as_secs_f64() > NOTED_EVERY * self.srtt {
            self.noted_at = now;
            self.noted = self.window;
        }
        match reason {
            Reason::Loss => self.window *= self.params.loss_factor,
            Reason::Mark if self.params.l4s => {
                let rested = now.since(self.reacted_at).as_secs_f64();
                if rested > CAUTIOUS_ROUNDS * self.virtual_rtt().max(self.srtt) {
                    self.window = self.window.min(self.in_flight.1 as f64);
                }
                self.window *= 1.0 - self.step_of_marks();
            }
            Reason::Mark => self.window *= self.params.mark_factor,
            Reason::Delay(share) => {
                self.window *= 1.0 - share / 2.0 / (self.srtt / self.virtual_rtt()).max(1.0);
            }
        }
        self.window = self.window.max(LEAST_WINDOW);
        self.reacted_at = now;
        (self.lost, self.marked) = (false, false);
    }

    /// Bytes delivered without a mark let the window grow, by a packet a round trip and more.
    fn grow(&mut self, now: Instant, ack: &Ack) {
        let used = self.in_flight.0.max(self.in_flight.1) as f64;
        let rested = now.since(self.congested_at).as_secs_f64();
        let rested = rested / (CAUTIOUS_ROUNDS * self.virtual_rtt().max(self.srtt));
        let faster = self.params.increase * self.window / self.mss;
        let step = ack.bytes.saturating_sub(ack.marked) as f64
            * self.ratio()
            * (self.srtt / self.virtual_rtt()).min(1.0)
            * self.distance().max(0.25)
            * self.calm().max(LEAST_STEP)
            * (1.0 + faster * rested.min(1.0) * self.distance());
        if self.window + step <= self.mss + used * HEADROOM && self.rate < self.bounds.1 {
            self.window += step;
        }
        if self.rate > NEARLY_ALL * self.bounds.1 {
            let all = HEADROOM * self.bounds.1 / 8.0 * self.srtt;
            self.window = self.window.min(used.max(all)).max(LEAST_WINDOW);
        }
    }

    /// The encoder's rate by the window.
    fn find_rate(&mut self) {
        let small = 1.0 - (self.ratio() - 0.1).clamp(0.0, 0.2);
        let rate =
            8.0 * self.window / self.srtt * small * self.mss / (self.mss + HEADERS) / CAUTION;
        self.rate = rate.min(self.bounds.1).max(self.bounds.0);
    }
}

impl Control for Scream {
    fn on_sent(&mut self, _now: Instant, _bytes: u64, in_flight: u64) {
        self.in_flight.0 = self.in_flight.0.max(in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.srtt = ack.srtt.as_secs_f64();
        if self.srtt == 0.0 {
            return;
        }
        if ack.round_start {
            self.in_flight = (ack.in_flight, self.in_flight.0);
            self.competing.round();
        }
        if ack.lost > 0 {
            self.lose(now);
        }
        if ack.marked > 0 {
            self.marked = true;
            self.congested_at = now;
        }
        if let Some(rtt) = ack.rtt {
            self.measure(now, rtt);
        }
        self.count(now, ack);
        if let Some(reason) = self.reason(now) {
            self.reduce(now, reason);
        }
        self.grow(now, ack);
        self.find_rate();
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        // Marks come with their acknowledgement.
        if congestion.signal == Signal::Loss {
            self.lose(now);
        }
    }

    fn on_timeout(&mut self, now: Instant, _in_flight: u64) {
        self.lose(now);
        if self.srtt > 0.0 {
            self.reduce(now, Reason::Loss);
            self.find_rate();
        }
    }

    fn window(&self) -> u64 {
        let (least, most) = OVERHEAD;
        (self.window * (least + (most - least) * self.calm())) as u64
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let near = (self.rate / self.bounds.1 - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        let relaxed = (1.0 - near).clamp(1.0 / RELAXED, 1.0);
        Some(Rate::from_bits(
            (self.rate.max(LEAST_PACE) * PACE / relaxed) as u64,
        ))
    }

    fn media_rate(&self, srtt: Duration) -> Rate {
        if srtt == Duration::ZERO || self.srtt == 0.0 {
            return self.initial_rate;
        }
        Rate::from_bits(self.rate as u64)
    }

    fn uses_prr(&self) -> bool {
        false
    }

    fn ecn(&self) -> EcnMode {
        if self.params.l4s {
            EcnMode::Scalable
        } else {
            EcnMode::Classic
        }
    }
}
