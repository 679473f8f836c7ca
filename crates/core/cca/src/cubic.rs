//! `cubic`: the window as a cubic function of the time since the last loss.
//!
//! Principles: loss is the only sign of congestion; the window returns quickly to its value before
//! the last loss, lingers there, and then searches beyond; how fast does not depend on the round
//! trip, except where Reno would be faster. Not for: calls (it fills the buffer).
//!
//! RFC 9438 with the choices of Linux `tcp_cubic.c`: the target is that of one smallest round trip
//! ahead; without a loss so far the window grows by at least 5 % a round trip; a timeout forgets
//! the last maximum; a Reno estimate that is ahead is approached, not jumped to; both are whole
//! segments, looked for when the window has moved and 32 times a second while it stands. Left out:
//! the rounding to jiffies inside the formula, β as 717/1024, and the undoing of spurious losses.

use crate::hystart::{Advice, ConnectionView, Hystart, HystartKind};
use crate::reno::{avoid, slow_start};
use crate::undo::Taken;
use crate::{Ack, Congestion, Control, ControlEntry, Setup, Signal};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `cubic`.
    pub struct CubicParams {
        /// Rule that ends slow start before a loss: ack trains and delay (linux), RFC 9406
        /// (plusplus), or none.
        hystart: HystartKind = "linux", source "Linux net/ipv4/tcp_cubic.c: hystart = 1";
        /// Give up more of the window if it shrank since the last loss, to make room for new flows.
        fast_convergence: bool = "yes", source "RFC 9438, 4.7; Linux: fast_convergence = 1";
        /// Let the Reno estimate grow by a whole segment a round trip once it is back at the
        /// window before the loss. Linux does not.
        reno_catchup: bool = "no", source "RFC 9438, 4.3 (SHOULD); off as in Linux";
    }
}

/// `cubic` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "cubic",
    summary: "cubic growth since the last loss, 0.7 of the window on loss",
    about: "The window returns along a cubic curve to where the last loss happened, stays near it \
        for a time, and grows beyond it. A loss takes 30 % of the window. HyStart leaves slow \
        start when the round trip grows.\n\nNot for calls: it fills the buffer.",
    source: "RFC 9438, RFC 9406, Linux net/ipv4/tcp_cubic.c",
    params: CubicParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Cubic::new(parts.settings, parts.setup)?)),
};

/// Steepness, segments per cubic second (RFC 9438, 5.1).
const C: f64 = 0.4;
/// The tenths of the window that remain after a loss (RFC 9438, 4.6).
const BETA_TENTHS: u64 = 7;
/// Growth of the Reno estimate, segments a round trip: 3 (1 − β) / (1 + β) with β = 0.7
/// (RFC 9438, 4.3), at which a Reno flow that backs off by β is as fast as one that halves.
const ALPHA: f64 = 3.0 * 0.3 / 1.7;
/// Linux's floor for the slow start threshold: two segments.
const MIN_SEGMENTS: u64 = 2;
/// After the curve has started, round trips are not believed for this long: the queue that the
/// loss revealed is still draining (Linux `cubictcp_acked`).
const UNTRUSTED: Duration = Duration::from_secs(1);
/// The curve is not evaluated again for this long while the window stands (Linux `bictcp_update`:
/// HZ / 32).
const HOLD: Duration = Duration::from_micros(31_250);

/// Cubic's state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Cubic {
    params: CubicParams,
    mss: u64,
    initial_window: u64,
    paced: bool,
    window: u64,
    threshold: u64,
    taken: Taken,
    /// The window at the last loss, lowered by fast convergence; 0 before the first one.
    last_max: u64,
    /// The window before the last reduction.
    prior: u64,
    curve: Option<Curve>,
    /// Bytes acknowledged that have not bought a segment yet.
    credit: u64,
    delay_min: Option<Duration>,
    hystart: Hystart,
    repair: Repair,
    /// Up to when the curve's time has been accounted for.
    clock: Instant,
}

/// The curve that the window follows between two losses.
#[derive(Debug, Clone)]
struct Curve {
    start: Instant,
    /// Seconds until the window is back at `origin`.
    k: f64,
    /// The plateau, segments.
    origin: u64,
    /// Reno's window in the same place, segments, and the bytes acknowledged since it last grew.
    reno: u64,
    acked: u64,
    /// When and for which window the price of a segment was found, and the price, bytes.
    looked: Instant,
    window: u64,
    price: u64,
}

/// The kind of repair in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    Nothing,
    /// A loss, by fast retransmission: the window rests.
    Loss,
    /// A timeout: slow start from one segment (RFC 5681, 3.1).
    Timeout,
}

impl Cubic {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = CubicParams::parse(settings)?;
        Ok(Cubic {
            hystart: Hystart::new(params.hystart),
            params,
            mss: setup.mss,
            initial_window: setup.initial_window,
            paced: setup.paced,
            window: setup.initial_window,
            threshold: u64::MAX,
            taken: Taken::default(),
            last_max: 0,
            prior: 0,
            curve: None,
            credit: 0,
            delay_min: None,
            repair: Repair::Nothing,
            clock: Instant::ZERO,
        })
    }

    /// Moves the curve by the time since it was last accounted for, in which there was no growth
    /// (RFC 9438, 5.8; Linux does so for idle times).
    fn pause_curve(&mut self, now: Instant) {
        let idle = now.since(self.clock);
        if let Some(curve) = &mut self.curve {
            curve.start += idle;
        }
        self.clock = self.clock.max(now);
    }

    /// The acknowledgement's round trip if it may be used; remembers the smallest.
    fn sample_delay(&mut self, now: Instant, ack: &Ack) -> Option<Duration> {
        let fresh = self.curve.as_ref().map(|curve| now.since(curve.start));
        let delay = ack
            .rtt
            .filter(|_| fresh.is_none_or(|age| age >= UNTRUSTED))?;
        self.delay_min = Some(self.delay_min.map_or(delay, |min| min.min(delay)));
        Some(delay)
    }

    /// Asks HyStart; returns the bytes by which slow start may grow.
    fn advise(&mut self, now: Instant, ack: &Ack, delay: Option<Duration>) -> u64 {
        let view = ConnectionView {
            window: self.window,
            mss: self.mss,
            delay_min: self.delay_min.unwrap_or(Duration::ZERO),
            paced: self.paced,
        };
        match self.hystart.on_ack(now, ack, delay, &view) {
            Advice::Grow(bytes) => bytes,
            Advice::Leave => {
                self.threshold = self.window;
                ack.bytes
            }
        }
    }

    /// The curve from the present window to the last maximum (RFC 9438, 4.2).
    fn new_curve(&self, now: Instant) -> Curve {
        let rise = self.last_max.saturating_sub(self.window);
        Curve {
            start: now,
            k: libm::cbrt(rise as f64 / self.mss as f64 / C),
            origin: self.last_max.max(self.window) / self.mss,
            reno: self.window / self.mss,
            acked: 0,
            looked: now,
            window: 0,
            price: u64::MAX,
        }
    }

    /// Congestion avoidance: grows towards the curve, or towards Reno if that is ahead. Bytes
    /// acknowledged while there is no room to grow are credit, and count at once when there is.
    fn avoid(&mut self, now: Instant, acked: u64) {
        let price = self.price(now, acked);
        avoid(&mut self.window, &mut self.credit, acked, price, self.mss);
    }

    /// Bytes that have to be acknowledged for each segment that the window grows (Linux
    /// `bictcp_update`, in whole segments).
    fn price(&mut self, now: Instant, acked: u64) -> u64 {
        let mut curve = self.curve.take().unwrap_or_else(|| self.new_curve(now));
        curve.acked += acked;
        let unchanged = curve.window == self.window && now.since(curve.looked) <= HOLD;
        if !unchanged {
            self.look(now, &mut curve);
        }
        let price = curve.price;
        self.curve = Some(curve);
        price
    }

    /// Finds the price anew for the present window.
    fn look(&self, now: Instant, curve: &mut Curve) {
        let window = self.window / self.mss;
        let ahead = now.since(curve.start) + self.delay_min.unwrap_or(Duration::ZERO);
        let offset = ahead.as_secs_f64() - curve.k;
        let rise = (C * offset * offset * offset) as i64;
        let target = curve.origin.saturating_add_signed(rise);
        // In acknowledged segments: to the target in a round trip, or one in a hundred round trips.
        let mut count = match target.saturating_sub(window) {
            0 => window * 100,
            missing => window / missing,
        };
        if self.last_max == 0 {
            count = count.min(20);
        }
        let caught_up = self.params.reno_catchup && curve.reno * self.mss >= self.prior;
        let step = self.window as f64 / if caught_up { 1.0 } else { ALPHA };
        let steps = (curve.acked as f64 / step) as u64;
        curve.reno += steps;
        curve.acked -= (steps as f64 * step) as u64;
        if let behind @ 1.. = curve.reno.saturating_sub(window) {
            count = count.min(window / behind);
        }
        // At most half the window a round trip.
        curve.price = count.max(2) * self.mss;
        (curve.looked, curve.window) = (now, self.window);
    }

    /// Remembers the window; 70 % of it are the threshold. Both are whole segments, as in Linux
    /// `cubictcp_recalc_ssthresh`, so that a curve always begins at the same height.
    fn reduce(&mut self) {
        let whole = self.window / self.mss;
        self.prior = self.window;
        let remembered = if self.params.fast_convergence && self.window < self.last_max {
            whole * (10 + BETA_TENTHS) / 20
        } else {
            whole
        };
        self.last_max = remembered * self.mss;
        self.threshold = (whole * BETA_TENTHS / 10).max(MIN_SEGMENTS) * self.mss;
        self.curve = None;
        self.credit = 0;
    }
}

impl Control for Cubic {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if in_flight == bytes {
            self.pause_curve(now);
        }
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let delay = self.sample_delay(now, ack);
        if !ack.in_recovery {
            self.repair = Repair::Nothing;
        }
        let mut acked = ack.bytes;
        if self.in_slow_start() {
            acked = self.advise(now, ack, delay);
        }
        let resting = ack.in_recovery && self.repair != Repair::Timeout;
        if resting || !ack.window_limited {
            self.pause_curve(now);
            return;
        }
        self.clock = now;
        if self.in_slow_start() {
            acked = slow_start(&mut self.window, self.threshold, acked);
        }
        if acked > 0 && !self.in_slow_start() {
            self.avoid(now, acked);
        }
    }

    fn on_congestion(&mut self, _now: Instant, congestion: &Congestion) {
        self.reduce();
        self.window = self.threshold;
        if congestion.signal == Signal::Loss {
            self.repair = Repair::Loss;
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.taken.forget();
        self.repair = Repair::Nothing;
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.taken.note(self.window, self.threshold);
        // One episode of losses reduces the threshold once (Linux `tcp_enter_loss`).
        if self.repair == Repair::Nothing {
            self.reduce();
        }
        self.repair = Repair::Timeout;
        self.window = self.mss;
        self.last_max = 0;
        self.curve = None;
        self.credit = 0;
        self.delay_min = None;
        self.hystart.reset();
    }

    fn on_spurious_timeout(&mut self, _now: Instant) {
        self.taken.give_back(&mut self.window, &mut self.threshold);
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        // The state of the path is kept in the threshold (Linux `tcp_cwnd_restart`).
        crate::restart_after_idle(&mut self.window, &mut self.threshold, self.initial_window);
    }

    fn adopt(&mut self, window: u64) -> bool {
        self.prior = self.window;
        self.last_max = self.window;
        self.window = window.max(MIN_SEGMENTS * self.mss);
        self.threshold = self.window;
        self.curve = None;
        self.credit = 0;
        true
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }
}

#[cfg(test)]
mod tests;
