//! The effective rate: the delay-based one, or the loss-based one if that is lower, and less of it
//! while feedback is missing.
//!
//! libwebrtc's `send_side_bandwidth_estimation.cc`.

use super::loss::{Loss, RateLimit};
use crate::Arrival;
use units::{Duration, Instant};

/// A round trip, with the wait for feedback, beyond which the rate falls, by how much, how often,
/// and how far (`RttBasedBackoff`).
const BACKOFF_RTT: Duration = Duration::from_secs(3);
const BACKOFF: f64 = 0.8;
const BACKOFF_INTERVAL: Duration = Duration::from_secs(1);
const BACKOFF_FLOOR: f64 = 5_000.0;

/// The rate's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Target {
    rate: f64,
    bounds: (f64, f64),
    /// The delay-based estimate, once there is one.
    delay: f64,
    loss: Loss,
    watch: RttWatch,
}

/// When packets left and feedback arrived.
#[derive(Debug, Clone, Default)]
struct RttWatch {
    last_sent: Option<Instant>,
    /// The last feedback, or the first packet before there was one.
    last_heard: Option<Instant>,
    /// Round trip of the last feedback, without waiting for it to be sent.
    rtt: Duration,
    backed_off: Option<Instant>,
}

impl RttWatch {
    fn is_silent(&self) -> bool {
        match (self.last_sent, self.last_heard) {
            (Some(sent), Some(heard)) => self.rtt + sent.since(heard) > BACKOFF_RTT,
            _ => false,
        }
    }
}

impl Target {
    /// Starts at `rate` and stays within `bounds`.
    pub fn new(rate: f64, bounds: (f64, f64)) -> Self {
        Target {
            rate,
            bounds,
            delay: f64::INFINITY,
            loss: Loss::new(bounds),
            watch: RttWatch::default(),
        }
    }

    /// The rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The limit that loss sets.
    pub fn limit(&self) -> RateLimit {
        self.loss.limit()
    }

    /// Whether the round trip would be too long by now.
    pub fn is_silent(&self) -> bool {
        self.watch.is_silent()
    }

    /// A packet left.
    pub fn on_sent(&mut self, now: Instant) {
        self.watch.last_sent = Some(now);
        self.watch.last_heard.get_or_insert(now);
    }

    /// Feedback arrived, for packets whose shortest round trip was `rtt`.
    pub fn on_heard(&mut self, now: Instant, rtt: Duration) {
        self.watch.last_heard = Some(now);
        self.watch.rtt = rtt;
    }

    /// A new delay-based estimate.
    pub fn set_delay(&mut self, rate: f64) {
        self.delay = rate;
        self.set(self.rate);
    }

    /// A probe's result: the delay-based estimate is `rate`, and earlier values are discarded.
    pub fn set_probed(&mut self, rate: f64) {
        self.delay = rate;
        self.set(rate);
    }

    /// A report; `acknowledged` packets are known to arrive; `limited` if the application sends
    /// less than it may.
    pub fn on_report(
        &mut self,
        now: Instant,
        arrivals: &[Arrival],
        acknowledged: Option<f64>,
        limited: bool,
    ) {
        self.loss.set_acknowledged(acknowledged);
        self.loss.update(arrivals, self.delay, limited);
        self.update(now);
    }

    /// Time has passed.
    pub fn update(&mut self, now: Instant) {
        if self.watch.is_silent() {
            self.back_off(now);
        } else if let Some(rate) = self.loss.rate() {
            self.set(rate);
        } else if self.delay.is_finite() {
            // Before loss can be judged, probes raise the rate and only they lower it.
            self.set(self.rate.max(self.delay));
        }
    }

    fn back_off(&mut self, now: Instant) {
        let due = |at| now.since(at) >= BACKOFF_INTERVAL;
        if self.watch.backed_off.is_none_or(due) && self.rate > BACKOFF_FLOOR {
            self.watch.backed_off = Some(now);
            self.set((BACKOFF * self.rate).max(BACKOFF_FLOOR));
        }
    }

    fn set(&mut self, rate: f64) {
        self.rate = rate.min(self.delay).min(self.bounds.1).max(self.bounds.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn the_delay_limits_and_a_probe_lifts() {
        let mut target = Target::new(3e5, (1.5e5, 1e9));
        target.update(at(0));
        assert_eq!(target.rate(), 3e5);
        target.set_probed(2e6);
        assert_eq!(target.rate(), 2e6);
        target.set_delay(1e6);
        target.update(at(100));
        assert_eq!(target.rate(), 1e6);
        target.set_delay(1.1e6);
        target.update(at(200));
        assert_eq!(target.rate(), 1.1e6);
        target.set_delay(1e5);
        assert_eq!(target.rate(), 1.5e5, "the least");
    }

    #[test]
    fn a_fifth_less_every_second_of_silence() {
        let mut target = Target::new(1e6, (1e4, 1e9));
        let mut rates = Vec::new();
        for second in 0..7 {
            target.on_sent(at(1000 * second));
            target.update(at(1000 * second));
            rates.push(target.rate() / 1e4);
        }
        assert_eq!(rates, [100.0, 100.0, 100.0, 100.0, 80.0, 64.0, 51.2]);
        target.on_heard(at(6500), Duration::from_millis(40));
        target.set_delay(9e5);
        target.update(at(6500));
        assert_eq!(target.rate(), 9e5, "as it was");
    }
}
