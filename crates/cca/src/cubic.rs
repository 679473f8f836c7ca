//! `cubic`: the window as a cubic function of the time since the last loss.
//!
//! Principles: loss is the only sign of congestion; the window returns quickly to where it was
//! before the last loss, lingers there, and then searches beyond; how fast does not depend on the
//! round trip, except where Reno would be faster.
//! Not for: calls (it fills the buffer).
//!
//! RFC 9438 with the choices of Linux `tcp_cubic.c`: the target is that of one smallest round trip
//! ahead; without a loss so far the window grows by at least 5 % a round trip; a timeout forgets
//! the last maximum; a Reno estimate that is ahead is approached, not jumped to; both are whole
//! segments, looked for when the window has moved and 32 times a second while it stands. Left out:
//! the rounding to jiffies inside the formula, and the undoing of spurious losses.

use crate::hystart::{Advice, Hystart, HystartKind, View};
use crate::reno::slow_start;
use crate::{Ack, Congestion, Control, ControlEntry, Setup, Signal};
use units::param::{ParamError, Settings};
use units::{Duration, Instant};

units::params! {
    /// Parameters of `cubic`.
    pub struct CubicParams {
        /// How slow start ends before a loss: by ack trains and delay, by RFC 9406, or not at all.
        hystart: HystartKind = "linux", source "Linux net/ipv4/tcp_cubic.c: hystart = 1";
        /// Give up more of the window where it shrank since the last loss, for newcomers.
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
    about: "The window returns along a cubic curve to where the last loss happened, lingers, and \
        searches beyond; a loss takes 30 % of it. HyStart leaves slow start when the round trip \
        grows.\n\nNot for calls: it fills the buffer.",
    source: "RFC 9438, RFC 9406, Linux net/ipv4/tcp_cubic.c",
    params: CubicParams::SPECS,
    media_only: false,
    build: |settings, setup| Ok(Box::new(Cubic::new(settings, setup)?)),
};

/// Steepness, segments per cubic second (RFC 9438, 5.1).
const C: f64 = 0.4;
/// What a loss leaves of the window, in tenths (RFC 9438, 4.6).
const BETA_TENTHS: u64 = 7;
/// Growth of the Reno estimate, segments a round trip: 3 (1 − β) / (1 + β) with β = 0.7
/// (RFC 9438, 4.3), at which a Reno flow that backs off by β is as fast as one that halves.
const ALPHA: f64 = 3.0 * 0.3 / 1.7;
/// Linux's floor for the slow start threshold: two segments.
const MIN_SEGMENTS: u64 = 2;
/// After the curve has started, round trips are not believed for this long: the queue that the
/// loss revealed is still draining (Linux `cubictcp_acked`).
const UNTRUSTED: Duration = Duration::from_secs(1);
/// The curve is not looked at again for this long while the window stands (Linux `bictcp_update`:
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
    /// The window at the last loss, lowered by fast convergence; 0 before the first one.
    last_max: u64,
    /// The window before the last reduction.
    prior: u64,
    curve: Option<Curve>,
    /// What was acknowledged and has not bought a segment yet.
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
    /// What Reno's window would be, segments, and what was acknowledged since it was that, bytes.
    reno: u64,
    acked: u64,
    /// When and for which window the price of a segment was found, and the price, bytes.
    looked: Instant,
    window: u64,
    price: u64,
}

/// What the transport is repairing.
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
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, ParamError> {
        let params = CubicParams::parse(settings)?;
        Ok(Cubic {
            hystart: Hystart::new(params.hystart),
            params,
            mss: setup.mss,
            initial_window: setup.initial_window,
            paced: setup.paced,
            window: setup.initial_window,
            threshold: u64::MAX,
            last_max: 0,
            prior: 0,
            curve: None,
            credit: 0,
            delay_min: None,
            repair: Repair::Nothing,
            clock: Instant::ZERO,
        })
    }

    /// Moves the curve by the time since it was last accounted for: nothing grew in it
    /// (RFC 9438, 5.8; Linux does so for idle times).
    fn pause_curve(&mut self, now: Instant) {
        let idle = now.since(self.clock);
        if let Some(curve) = &mut self.curve {
            curve.start += idle;
        }
        self.clock = self.clock.max(now);
    }

    /// The acknowledgement's round trip where it may be used; remembers the smallest.
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
        let view = View {
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

    /// Congestion avoidance: grows towards the curve, or towards Reno where that is ahead. What was
    /// acknowledged while there was nothing to grow to is credit, and counts at once when there is
    /// (Linux `tcp_cong_avoid_ai`).
    fn avoid(&mut self, now: Instant, acked: u64) {
        let price = self.price(now, acked);
        if self.credit >= price {
            self.credit = 0;
            self.window += self.mss;
        }
        self.credit += acked;
        self.window += self.credit / price * self.mss;
        self.credit %= price;
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

    /// Remembers the window, and takes 30 % of it for the threshold.
    fn reduce(&mut self) {
        self.prior = self.window;
        self.last_max = if self.params.fast_convergence && self.window < self.last_max {
            self.window * (10 + BETA_TENTHS) / 20
        } else {
            self.window
        };
        self.threshold = (self.window * BETA_TENTHS / 10).max(MIN_SEGMENTS * self.mss);
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
        self.repair = Repair::Nothing;
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
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

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        // What was known of the path is kept in the threshold (Linux `tcp_cwnd_restart`).
        crate::restart_after_idle(&mut self.window, &mut self.threshold, self.initial_window);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testpath::Path;
    use units::Rate;

    const MSS: u64 = 1000;

    fn setup() -> Setup {
        Setup {
            mss: MSS,
            initial_window: 10 * MSS,
            ..Setup::default()
        }
    }

    fn cubic(settings: &[(&str, &str)]) -> Cubic {
        let settings: Vec<_> = settings
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Cubic::new(&settings, &setup()).unwrap()
    }

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn lose(cubic: &mut Cubic, segments: u64) {
        cubic.window = segments * MSS;
        let congestion = Congestion {
            signal: Signal::Loss,
            lost: MSS,
            in_flight: cubic.window,
            min_rtt: Duration::ZERO,
        };
        cubic.on_congestion(Instant::ZERO, &congestion);
        cubic.on_recovered(Instant::ZERO);
    }

    /// Acknowledges a window every round trip, from `from` until `to` seconds.
    fn drive(cubic: &mut Cubic, rtt: f64, from: f64, to: f64, limited: bool) {
        let mut time = from;
        while time < to {
            let ack = Ack {
                bytes: MSS,
                rtt: Some(Duration::from_secs_f64(rtt)),
                window_limited: limited,
                ..Ack::default()
            };
            cubic.on_ack(at(time), &ack);
            time += rtt * MSS as f64 / cubic.window as f64;
        }
    }

    fn segments(cubic: &Cubic) -> u64 {
        cubic.window / MSS
    }

    /// W_max = 100: the loss leaves 70, and K = cbrt(30 / 0.4) = cbrt(75) = 4.217 s. With a round
    /// trip of 100 ms Reno gains 0.53 a round trip, 22 in K: the curve is ahead all the way.
    /// At K / 2: 100 − 0.4 × 2.109³ = 96.2; at K: 100; at 2 K: 100 + 30 = 130.
    #[test]
    fn the_window_is_back_at_the_maximum_after_k() {
        let mut cubic = cubic(&[]);
        lose(&mut cubic, 100);
        assert_eq!(segments(&cubic), 70);
        drive(&mut cubic, 0.1, 0.0, 2.109, true);
        let k = cubic.curve.as_ref().unwrap().k;
        assert!((k - 4.217_163).abs() < 1e-6, "{k}");
        assert!((95..=97).contains(&segments(&cubic)), "{}", cubic.window);
        drive(&mut cubic, 0.1, 2.109, 4.217, true);
        assert!((99..=100).contains(&segments(&cubic)), "{}", cubic.window);
        drive(&mut cubic, 0.1, 4.217, 8.434, true);
        assert!((127..=131).contains(&segments(&cubic)), "{}", cubic.window);
    }

    /// W_max = 20, round trip 10 ms: the curve stands at 20 − 0.4 × 1.466³ = 18.7 after 1 s, while
    /// Reno has gained 0.529 in each of 100 round trips: 14 + 53 = 67.
    #[test]
    fn reno_is_followed_where_it_is_faster() {
        let mut cubic = cubic(&[]);
        lose(&mut cubic, 20);
        assert_eq!(segments(&cubic), 14);
        drive(&mut cubic, 0.01, 0.0, 1.0, true);
        assert!((64..=67).contains(&segments(&cubic)), "{}", cubic.window);
    }

    /// As above with RFC 9438's alpha of 1 above 20: reached after 6 / 0.529 = 11.3 round trips,
    /// then 88.7 more gain a segment each: 20 + 89 = 109, and the curve is no faster. The estimate is
    /// looked at every 31 ms while the window stands, and so up to three round trips late; without
    /// the setting it ends at 67.
    #[test]
    fn the_reno_estimate_catches_up_if_asked_to() {
        let mut cubic = cubic(&[("reno_catchup", "yes")]);
        lose(&mut cubic, 20);
        drive(&mut cubic, 0.01, 0.0, 1.0, true);
        assert!((103..=109).contains(&segments(&cubic)), "{}", cubic.window);
    }

    /// 100, then 80 below it: with fast convergence the plateau is 80 × 1.7 / 2 = 68 (and K is
    /// cbrt((68 − 56) / 0.4) = 3.107 s), without it 80.
    #[test]
    fn fast_convergence_lowers_the_plateau() {
        for (setting, plateau) in [("yes", 68), ("no", 80)] {
            let mut cubic = cubic(&[("fast_convergence", setting)]);
            lose(&mut cubic, 100);
            lose(&mut cubic, 80);
            assert_eq!((cubic.last_max, segments(&cubic)), (plateau * MSS, 56));
        }
    }

    /// Four seconds without use of the window: neither does it grow in them, nor does it jump
    /// afterwards. Without the shift it would be at 99 after the second second of use; with it,
    /// t = 2.109: 96.2.
    #[test]
    fn application_limited_time_does_not_count() {
        let mut cubic = cubic(&[]);
        lose(&mut cubic, 100);
        drive(&mut cubic, 0.1, 0.0, 1.0, true);
        let before = cubic.window;
        drive(&mut cubic, 0.1, 1.0, 3.0, false);
        assert_eq!(cubic.window, before);
        // Idle from 3 s to 5 s.
        cubic.on_sent(at(5.0), MSS, MSS);
        drive(&mut cubic, 0.1, 5.0, 6.109, true);
        assert!((95..=97).contains(&segments(&cubic)), "{}", cubic.window);
    }

    /// 100 segments: the threshold is 70; slow start from one segment, also while the losses are
    /// being repaired, and a second timeout in the same episode leaves the threshold alone.
    #[test]
    fn a_timeout_starts_from_one_segment() {
        let mut cubic = cubic(&[]);
        cubic.window = 100 * MSS;
        cubic.on_timeout(Instant::ZERO, 50 * MSS);
        cubic.on_timeout(at(0.5), MSS);
        assert_eq!((cubic.window, cubic.threshold), (MSS, 70 * MSS));
        let repairing = Ack {
            bytes: MSS,
            in_recovery: true,
            window_limited: true,
            ..Ack::default()
        };
        cubic.on_ack(at(1.0), &repairing);
        assert_eq!(cubic.window, 2 * MSS);
        cubic.on_idle_restart(at(9.0), Duration::from_secs(8));
        assert_eq!((cubic.window, cubic.threshold), (2 * MSS, 70 * MSS));
    }

    /// 20 Mbit/s and 40 ms make 100 segments of 1000 B, 0.4 ms each; the buffer holds 100 more.
    /// Without HyStart slow start notices at 401 that it has lost about 200; a loss leaves 281.
    /// With Linux's, the train of acknowledgements is (40.4 + 1) / 2 = 20.7 ms long after 52 of
    /// the fourth round's 80: the window is 80 + 52 = 132. HyStart++ has no trains: the first
    /// packets of the fifth round found no queue yet, so it waits for the sixth, at 320 + 7; of the
    /// other 74 it takes a quarter: 345, of which 0.7 is 242. Too late for this buffer.
    #[test]
    fn hystart_ends_slow_start_before_the_buffer_overflows() {
        let run = |hystart| {
            let mut cubic = cubic(&[("hystart", hystart)]);
            let rate = Rate::from_bits(20_000_000);
            let mut path = Path::new(rate, Duration::from_millis(40), 100 * MSS, MSS);
            let slow = (0..1000).find(|&ms| {
                path.run(&mut cubic, at(f64::from(ms) / 1e3));
                !cubic.in_slow_start()
            });
            let threshold = cubic.threshold / MSS;
            // What was in flight when slow start ended may still be lost.
            path.run(&mut cubic, path.now + Duration::from_millis(90));
            assert!(slow.is_some());
            (threshold, path.lost / MSS)
        };
        assert_eq!(run("linux"), (132, 0));
        let ((plus, plus_lost), (none, none_lost)) = (run("plusplus"), run("none"));
        assert_eq!((plus, none), (242, 281));
        assert!((140..150).contains(&plus_lost), "{plus_lost}");
        assert!((195..205).contains(&none_lost), "{none_lost}");
    }

    /// On the same path for a minute: the queue is full now and then, the link always busy.
    #[test]
    fn fills_a_link_whose_buffer_holds_its_bandwidth_delay_product() {
        let mut cubic = cubic(&[]);
        let rate = Rate::from_bits(20_000_000);
        let mut path = Path::new(rate, Duration::from_millis(40), 100 * MSS, MSS);
        path.run(&mut cubic, at(10.0));
        let before = path.delivered;
        path.run(&mut cubic, at(60.0));
        let carried = (path.delivered - before) as f64 / (50.0 * 2_500_000.0);
        assert!(carried > 0.98, "{carried}");
        assert!(path.lost > 0);
    }
}
