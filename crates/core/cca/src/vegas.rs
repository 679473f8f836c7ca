//! `vegas`: a few packets in the queue, no more.
//!
//! Principles: the difference between the window and the delivery in the smallest round trip is the
//! backlog in queues; once a round trip, hold it between `alpha` and `beta` packets. Not for: links
//! shared with senders that fill buffers (it yields to them).
//!
//! Brakmo and Peterson, IEEE JSAC 13(8), 1995; Linux `tcp_vegas.c`: it grows in every round of slow
//! start, falls back to Reno for a round with fewer than three samples and during repairs, and
//! grows whether or not the application uses the window.

use crate::window::{MIN_SEGMENTS, Window};
use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `vegas`.
    pub struct VegasParams {
        /// With fewer packets than this in the queue, the window grows by one packet per round
        /// trip.
        alpha: u64 = "2", range "0".."1000", source "Linux net/ipv4/tcp_vegas.c: alpha = 2";
        /// With more packets than this in the queue, the window shrinks by one packet per round
        /// trip.
        beta: u64 = "4", range "0".."1000", source "Linux net/ipv4/tcp_vegas.c: beta = 4";
        /// More packets than this in the queue end slow start.
        gamma: u64 = "1", range "0".."1000", source "Linux net/ipv4/tcp_vegas.c: gamma = 1";
    }
}

/// `vegas` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "vegas",
    summary: "two to four packets in the queue, estimated from the round trip",
    about: "Once a round trip the window grows or shrinks by one packet, so that the round trip \
        shows two to four packets waiting.\n\nNot for links shared with senders that fill \
        buffers: it yields to them.",
    source: "Brakmo and Peterson, JSAC 1995; Linux net/ipv4/tcp_vegas.c",
    params: VegasParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Vegas::new(parts.settings, parts.setup)?)),
};

/// Samples of the round trip that a round needs, so that not all are from delayed
/// acknowledgements.
const MIN_SAMPLES: u32 = 3;

/// Vegas' state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Vegas {
    params: VegasParams,
    window: Window,
    rtts: RoundTrips,
}

/// The round trips of a round, and that of the path without queues.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundTrips {
    /// The smallest since the sender last started.
    base: Option<Duration>,
    /// The smallest of this round, and how many there were.
    least: Option<Duration>,
    samples: u32,
    /// When this round began; it ends with a packet that was sent later.
    start: Instant,
}

impl RoundTrips {
    pub(crate) fn start_round(&mut self, now: Instant) {
        self.start = now;
        self.least = None;
        self.samples = 0;
    }

    /// Restarted from an empty flight: the path may have changed.
    pub(crate) fn start_anew(&mut self, now: Instant) {
        self.base = None;
        self.start_round(now);
    }

    pub(crate) fn sample(&mut self, rtt: Duration) {
        // A round trip of zero would cause a division by zero (Linux adds a microsecond).
        let rtt = rtt.max(Duration::from_nanos(1));
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// Whether this acknowledgement ends the round.
    pub(crate) fn round_ends(&self, ack: &Ack) -> bool {
        ack.newest_sent >= self.start
    }

    /// The smallest round trip ever and of this round, if there were enough to believe the latter.
    pub(crate) fn believed(&self) -> Option<(Duration, Duration)> {
        (self.samples >= MIN_SAMPLES)
            .then_some(self.base.zip(self.least))
            .flatten()
    }
}

impl Vegas {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused, or `alpha` is above `beta`.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = VegasParams::parse(settings)?;
        if params.alpha > params.beta {
            let (alpha, beta) = (params.alpha, params.beta);
            let text = format!("parameter alpha ({alpha}) is above parameter beta ({beta})");
            return Err(Refusal::new(text));
        }
        Ok(Vegas {
            params,
            window: Window::new(setup),
            rtts: RoundTrips::default(),
        })
    }

    /// The once-a-round decision on the round's smallest round trip.
    fn judge(&mut self, ack: &Ack, base: Duration, rtt: Duration) {
        // The part of the window that waits in queues: window × (rtt − base) / base.
        let waiting = scale(self.window.bytes, rtt.saturating_sub(base), base) / self.window.mss;
        if self.in_slow_start() {
            if waiting > self.params.gamma {
                // The delivery in the smallest round trip at the actual rate, and one segment for
                // the rounding.
                let target =
                    (scale(self.window.bytes, base, rtt) / self.window.mss + 1) * self.window.mss;
                self.window.bytes = self.window.bytes.min(target);
                self.window.threshold = self.window.threshold.min(self.window.bytes);
            } else {
                self.window.slow_start(ack.bytes);
            }
        } else if waiting > self.params.beta {
            self.window.bytes = self.window.bytes.saturating_sub(self.window.mss);
            self.window.threshold = self.window.threshold.min(self.window.bytes);
        } else if waiting < self.params.alpha {
            self.window.bytes += self.window.mss;
        }
        self.window.bytes = self.window.bytes.max(MIN_SEGMENTS * self.window.mss);
        // Linux `tcp_current_ssthresh`.
        self.window.threshold = self.window.threshold.max(self.window.bytes / 4 * 3);
    }

    fn halve(&mut self) {
        self.window.cut(self.window.bytes / 2);
    }
}

/// `bytes × numerator / denominator`.
pub(crate) fn scale(bytes: u64, numerator: Duration, denominator: Duration) -> u64 {
    let (numerator, denominator) = (numerator.as_nanos(), denominator.as_nanos().max(1));
    let scaled = u128::from(bytes) * u128::from(numerator) / u128::from(denominator);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

impl Control for Vegas {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if in_flight == bytes {
            self.rtts.start_anew(now);
        }
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtts.sample(rtt);
        }
        if ack.in_recovery {
            if self.window.after_timeout {
                self.window.grow_as_reno(ack);
            }
            return;
        }
        self.window.after_timeout = false;
        if !self.rtts.round_ends(ack) {
            if self.in_slow_start() {
                self.window.slow_start(ack.bytes);
            }
            return;
        }
        match self.rtts.believed() {
            Some((base, rtt)) => self.judge(ack, base, rtt),
            None => self.window.grow_as_reno(ack),
        }
        self.rtts.start_round(now);
    }

    fn on_congestion(&mut self, now: Instant, _congestion: &Congestion) {
        self.halve();
        self.window.recover();
        self.rtts.start_round(now);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.window.recovered();
        // Samples from the repair are not valid for the window after it.
        self.rtts.start_round(now);
    }

    fn on_timeout(&mut self, now: Instant, _in_flight: u64) {
        if self.window.timed_out() {
            self.halve();
        }
        self.window.restart();
        self.rtts.start_round(now);
    }

    fn on_spurious_timeout(&mut self, _now: Instant) {
        self.window.give_back();
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        self.window.after_idle();
    }

    fn window(&self) -> u64 {
        self.window.bytes
    }

    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LOSS, MSS, at, setup};
    use crate::testpath::Path;
    use units::Rate;

    fn vegas(window: u64, threshold: u64) -> Vegas {
        let mut vegas = Vegas::new(&[], &setup()).unwrap();
        vegas.window.bytes = window * MSS;
        vegas.window.threshold = threshold.saturating_mul(MSS);
        vegas.rtts.base = Some(Duration::from_millis(40));
        vegas.rtts.start_round(at(100));
        vegas
    }

    /// Samples of one round: all of `rtt` ms, the last for a packet sent in this round.
    fn round(vegas: &mut Vegas, samples: u64, rtt: u64) {
        for i in 1..=samples {
            let ack = Ack {
                bytes: MSS,
                rtt: Some(Duration::from_millis(rtt)),
                newest_sent: at(if i == samples { 100 } else { 99 }),
                ..Ack::default()
            };
            vegas.on_ack(at(100), &ack);
        }
    }

    /// Window 20, base 40 ms: waiting = ⌊20 × (rtt − 40) / 40⌋ packets.
    /// 43 ms: ⌊1.5⌋ = 1 < 2, grow; 44 ms: 2 and 49 ms: ⌊4.5⌋ = 4, stay; 50 ms: 5 > 4, shrink.
    #[test]
    fn two_to_four_packets_wait() {
        for (rtt, expected) in [(40, 21), (43, 21), (44, 20), (49, 20), (50, 19)] {
            let mut vegas = vegas(20, 20);
            round(&mut vegas, 5, rtt);
            assert_eq!(vegas.window.bytes, expected * MSS, "{rtt} ms");
        }
    }

    /// Slow start, window 40 and 4 more in the round: at 41 ms ⌊44 / 40⌋ = 1 packet waits, which
    /// gamma allows, so the fifth acknowledgement adds another. At 42 ms ⌊44 × 2 / 40⌋ = 2 wait:
    /// the window becomes ⌊44 × 40 / 42⌋ + 1 = ⌊41.9⌋ + 1 = 42, and slow start is over.
    #[test]
    fn slow_start_ends_when_more_than_one_packet_waits() {
        let mut growing = vegas(40, u64::MAX);
        round(&mut growing, 5, 41);
        assert_eq!(
            (growing.window.bytes, growing.in_slow_start()),
            (45 * MSS, true)
        );
        let mut ending = vegas(40, u64::MAX);
        round(&mut ending, 5, 42);
        assert_eq!(
            (ending.window.bytes, ending.in_slow_start()),
            (42 * MSS, false)
        );
    }

    /// Two samples may both be from delayed acknowledgements: the round counts as Reno's, which an
    /// unused window does not let grow, at any round trip.
    #[test]
    fn two_samples_are_too_few() {
        let mut vegas = vegas(20, 20);
        round(&mut vegas, 2, 60);
        assert_eq!(vegas.window.bytes, 20 * MSS);
        round(&mut vegas, 3, 60);
        assert_eq!(vegas.window.bytes, 19 * MSS);
    }

    #[test]
    fn halves_on_loss_and_forgets_the_base_when_idle() {
        let mut vegas = vegas(20, 20);
        vegas.on_congestion(at(100), &LOSS);
        assert_eq!(vegas.window.bytes, 10 * MSS);
        vegas.on_recovered(at(200));
        vegas.on_timeout(at(300), 10 * MSS);
        vegas.on_timeout(at(700), MSS);
        assert_eq!((vegas.window.bytes, vegas.window.threshold), (MSS, 5 * MSS));
        vegas.on_sent(at(900), MSS, MSS);
        assert_eq!(vegas.rtts.base, None);
    }

    #[test]
    fn alpha_above_beta_is_refused() {
        let set = [("alpha".to_owned(), "5".to_owned())];
        let error = Vegas::new(&set, &setup()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "parameter alpha (5) is above parameter beta (4)"
        );
    }

    /// Alone at 20 Mbit/s and 40 ms: after ten seconds the queue holds two to five packets of
    /// 0.4 ms (one is in transmission), and the link carries all of its 25 MB in ten seconds.
    #[test]
    fn keeps_a_short_queue_on_a_full_link() {
        let mut vegas = Vegas::new(&[], &setup()).unwrap();
        let rate = Rate::from_bits(20_000_000);
        let mut path = Path::new(rate, Duration::from_millis(40), 200 * MSS, MSS);
        path.run(&mut vegas, at(10_000));
        let (before, lost) = (path.delivered, path.lost);
        path.peak_wait = Duration::ZERO;
        path.run(&mut vegas, at(20_000));
        let carried = path.delivered - before;
        assert!(carried >= 24_990_000, "{carried}");
        let packets = path.peak_wait.as_micros() as f64 / 400.0;
        assert!((2.0..=5.0).contains(&packets), "{packets}");
        assert_eq!(path.lost, lost, "only slow start overflows the buffer");
    }
}
