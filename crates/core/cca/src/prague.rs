//! `prague`: the window follows the share of packets that are marked.
//!
//! Principles: where the bottleneck marks early and often (L4S: a step or a ramp at about a
//! millisecond of queue), the share of marked packets measures how far the window is too large, so
//! that it shrinks by half of that share, once a round trip, instead of by half. If marks come at
//! random, two of them a round trip hold a flow at any rate; so the queue stays short and the link
//! busy. Packets are ECT(1), feedback is accurate, sending is paced. Short round trips are made to
//! behave like one of 25 ms. A loss is answered like Reno's. Not for: bottlenecks that only drop
//! (it is Reno there), or that mark ECT(1) packets as if they were ECT(0) (a classic AQM; see
//! `classic_fallback`).
//!
//! draft-briscoe-iccrg-prague-congestion-control-04 with the choices of Linux `tcp_prague.c` of the
//! L4STeam tree (0.6); RFC 9331, section 4, has the requirements. In floating point. Left out: the
//! undoing of spurious losses; GSO bursts (each packet is paced); a window of less than two
//! segments, as in Linux. Linux moves the window by one segment with each acknowledgement towards
//! its target; here it is there at once, and pacing smooths the way.

mod classic;
#[cfg(test)]
mod tests;

use crate::undo::Taken;
use crate::{Ack, Congestion, Control, ControlEntry, EcnMode, Setup, Signal};
use classic::Classic;
use core::fmt;
use units::param::{Settings, Value};
use units::{Duration, Instant, ParseError, Rate, Refusal};

/// How growth depends on the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum RttScaling {
    /// One segment a round trip, as Reno.
    None,
    /// As a flow whose round trip is at least the target.
    Rate,
    /// As a flow whose round trip is longer by the target.
    Additive,
}

impl fmt::Display for RttScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RttScaling::None => "none",
            RttScaling::Rate => "rate",
            RttScaling::Additive => "additive",
        })
    }
}

impl Value for RttScaling {
    const KIND: &'static str = "none, rate or additive";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "none" => Ok(RttScaling::None),
            "rate" => Ok(RttScaling::Rate),
            "additive" => Ok(RttScaling::Additive),
            _ => Err(ParseError::new(text, "none, rate or additive")),
        }
    }
}

units::params! {
    /// Parameters of `prague`.
    pub struct PragueParams {
        /// Dependence of growth on the round trip: as Reno's (`none`), as if the round trip were at
        /// least `rtt_target` (`rate`), or as if it were longer by `rtt_target` (`additive`).
        rtt_scaling: RttScaling = "rate", source "Linux tcp_prague.c: prague_rtt_scaling";
        /// Round trip that flows with shorter ones behave as if they had.
        rtt_target: Duration = "25ms", range "1ms".."1s", source "draft-briscoe-iccrg-prague-congestion-control; Linux tcp_prague.c: prague_rtt_target";
        /// Number of rounds after slow start during which growth is still Reno's.
        rtt_transition: u32 = "500", range "0".."1000000", source "Linux tcp_prague.c: DEFAULT_RTT_TRANSITION";
        /// Share of the window that is left after a loss.
        loss_factor: f64 = "0.5", range "0.1".."0.9", source "Linux tcp_prague.c: prague_enter_loss; 0.7 would be Cubic's";
        /// Answer marks of a classic AQM nearly as Reno would. A classic AQM is suspected if the
        /// round trip varies by more than 750 us and the queue is longer than 2 ms.
        classic_fallback: bool = "no", source "Linux tcp_prague.c: prague_ecn_fallback = 0; arXiv:1911.00710";
    }
}

/// `prague` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "prague",
    summary: "shrinks by half the share of marked packets: scalable, for L4S",
    about: "An L4S sender: its packets are ECT(1) whatever the scenario's ECN setting, feedback is \
        accurate, and once a round trip the window shrinks by half of the share of packets that \
        are marked, smoothed over about 16 round trips. A queue that marks at about a millisecond \
        stays at that delay, with the link busy.\n\nFlows with round trips below 25 ms grow as \
        slowly as one of 25 ms, once they are 500 round trips old. Losses halve the window.\n\nNot \
        for bottlenecks that only drop, where it acts as Reno, nor for AQMs that treat ECT(1) as \
        ECT(0), where it displaces other flows unless `classic_fallback` detects them.",
    source: "draft-briscoe-iccrg-prague-congestion-control-04, Linux tcp_prague.c (L4STeam), RFC 9331",
    params: PragueParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Prague::new(parts.settings, parts.setup)?)),
};

/// Weight of the newest round in the share of marked packets.
const GAIN: f64 = 1.0 / 16.0;
/// Smallest window after a reduction, segments (Linux `MIN_CWND`).
const MIN_SEGMENTS: f64 = 2.0;

/// Prague's state.
#[derive(Debug, Clone)]
pub struct Prague {
    params: PragueParams,
    /// Bytes.
    mss: f64,
    /// Bytes.
    initial_window: f64,
    /// Bytes, with fractions: a mark in a hundred packets changes it by less than one of them.
    window: f64,
    /// Bytes.
    threshold: f64,
    taken: Taken<f64>,
    /// Smoothed share of marked bytes. Stays at 1 until the first mark.
    alpha: f64,
    saw_mark: bool,
    /// Delivered and marked since `alpha` was last updated, bytes.
    round: (u64, u64),
    updated: Instant,
    /// Rounds since slow start.
    rounds: u32,
    /// When a mark last reduced the window.
    reduced: Option<Instant>,
    /// Losses are being repaired.
    repairing: bool,
    srtt: Duration,
    classic: Option<Classic>,
}

impl Prague {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = PragueParams::parse(settings)?;
        Ok(Prague {
            mss: setup.mss as f64,
            initial_window: setup.initial_window as f64,
            window: setup.initial_window as f64,
            threshold: f64::INFINITY,
            taken: Taken::default(),
            alpha: 1.0,
            saw_mark: false,
            round: (0, 0),
            updated: Instant::ZERO,
            rounds: 0,
            reduced: None,
            repairing: false,
            srtt: Duration::ZERO,
            classic: params.classic_fallback.then(Classic::default),
            params,
        })
    }

    /// The smoothed share of marked bytes, 0 to 1.
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The window with its fraction of a segment, bytes.
    pub const fn fractional_window(&self) -> f64 {
        self.window
    }

    /// The round trip whose behaviour this flow imitates, if it is longer than its own; not before
    /// the flow is old enough.
    fn virtual_rtt(&self) -> Option<Duration> {
        let old = !self.in_slow_start() && self.rounds >= self.params.rtt_transition;
        let target = match self.params.rtt_scaling {
            RttScaling::None => return None,
            RttScaling::Rate => self.params.rtt_target,
            RttScaling::Additive => self.params.rtt_target + self.srtt,
        };
        (old && self.srtt < target).then_some(target)
    }

    /// Growth in a round trip, in segments: (srtt / virtual)². Once a virtual round trip would be
    /// srtt / virtual of a segment; a window that is as much smaller for the same rate takes the
    /// other factor.
    fn increase(&self) -> f64 {
        let Some(target) = self.virtual_rtt() else {
            return 1.0;
        };
        let share = self.srtt.as_secs_f64() / target.as_secs_f64();
        share * share
    }

    /// Bytes delivered without a mark let the window grow, also in a round trip with marks:
    /// otherwise a share of marks that reaches one in every round trip would carry no further
    /// information.
    fn grow(&mut self, ack: &Ack) {
        // Paced at just the window a round trip, a sender need not fill it to be limited by it.
        let limited = ack.window_limited || ack.rate.is_some_and(|sample| !sample.app_limited);
        let mut acked = ack.bytes.saturating_sub(ack.marked) as f64;
        if ack.in_recovery || !limited || acked == 0.0 {
            return;
        }
        if self.in_slow_start() {
            let used = acked.min(self.threshold - self.window);
            self.window += used;
            acked -= used;
        }
        self.window += acked * self.mss * self.increase() / self.window;
    }

    /// Updates the share of marks when a round trip and a virtual one have passed.
    fn update_alpha(&mut self, now: Instant, ack: &Ack) {
        if ack.bytes == 0 || ack.newest_sent < self.updated {
            return;
        }
        let passed = now.since(self.updated);
        if self.virtual_rtt().is_some_and(|target| passed < target) {
            return;
        }
        if self.saw_mark {
            let (delivered, marked) = self.round;
            self.alpha += (marked as f64 / delivered as f64 - self.alpha) * GAIN;
            if let Some(classic) = &mut self.classic {
                classic.judge(ack.min_rtt);
            }
        }
        self.round = (0, 0);
        self.updated = now;
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn answer_mark(&mut self, now: Instant) {
        self.saw_mark = true;
        let since = self.reduced.map(|at| now.since(at));
        let again = since.is_some_and(|since| self.virtual_rtt().is_some_and(|rtt| since < rtt));
        if self.repairing || again {
            return;
        }
        self.reduced = Some(now);
        let mut share = self.alpha;
        if let Some(classic) = &mut self.classic {
            share = share.max(classic.least_share());
            classic.set_gain(self.threshold / self.mss);
        }
        self.reduce(1.0 - share / 2.0);
    }

    fn reduce(&mut self, factor: f64) {
        self.window = (self.window * factor).max(MIN_SEGMENTS * self.mss);
        self.threshold = self.window;
    }

    /// The window per round trip; twice that in slow start, until half of the threshold (Linux
    /// `prague_update_pacing_rate`).
    fn rate(&self, srtt: Duration) -> Rate {
        let doubled = self.window < self.threshold / 2.0;
        let bits = self.window * if doubled { 16.0 } else { 8.0 };
        Rate::from_bits((bits / srtt.as_secs_f64()) as u64)
    }
}

impl Control for Prague {
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.srtt = ack.srtt;
        // No event reports the end of the repair after a timeout.
        self.repairing &= ack.in_recovery;
        if let (Some(classic), Some(rtt)) = (&mut self.classic, ack.rtt) {
            classic.sample(rtt);
        }
        self.round.0 += ack.bytes;
        self.round.1 += ack.marked.min(ack.bytes);
        self.grow(ack);
        self.update_alpha(now, ack);
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        match congestion.signal {
            Signal::Mark => self.answer_mark(now),
            Signal::Loss => {
                self.repairing = true;
                self.reduce(self.params.loss_factor);
            }
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.taken.forget();
        self.repairing = false;
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.taken.note(self.window, self.threshold);
        // One episode of losses reduces the threshold once.
        if !self.repairing {
            self.reduce(self.params.loss_factor);
        }
        self.repairing = true;
        self.window = self.mss;
    }

    fn on_spurious_timeout(&mut self, _now: Instant) {
        self.taken.give_back(&mut self.window, &mut self.threshold);
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        // As Linux `tcp_cwnd_restart`: the state of the path is kept in the threshold.
        self.threshold = self.threshold.max(self.window * 0.75);
        self.window = self.window.min(self.initial_window);
    }

    fn window(&self) -> u64 {
        // Whole segments: the fraction is left to pacing (Linux `prague_frac_cwnd_to_snd_cwnd`).
        let mss = self.mss as u64;
        (self.window as u64).div_ceil(mss).saturating_mul(mss)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.srtt > Duration::ZERO).then(|| self.rate(self.srtt))
    }

    fn media_rate(&self, srtt: Duration) -> Rate {
        Rate::from_bits((self.window * 8.0 / srtt.as_secs_f64()) as u64)
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn ecn(&self) -> EcnMode {
        EcnMode::Scalable
    }
}
