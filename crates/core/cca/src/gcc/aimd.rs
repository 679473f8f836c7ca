//! The rate of the delay-based controller: additive or multiplicative increase, multiplicative
//! decrease.
//!
//! draft-ietf-rmcat-gcc-02, section 5.5, with the additions of libwebrtc's `aimd_rate_control.cc`
//! and `link_capacity_estimator.cc`: the estimate of the link's capacity decides which increase.

use super::detector::PathUsage;
use units::{Duration, Instant};

/// The part of the measured rate that is kept on a decrease (section 5.5, β).
const BETA: f64 = 0.85;
/// And reduced further by so much, bit/s, if that leaves a positive rate (libwebrtc).
const DRAIN: f64 = 5000.0;
/// Growth per second far from the link's capacity (section 5.5, η).
const ETA: f64 = 1.08;
/// The round trip before one was measured.
const FIRST_RTT: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateState {
    Hold,
    Increase,
    Decrease,
}

/// The controller's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Aimd {
    rate: f64,
    least: f64,
    state: RateState,
    capacity: Capacity,
    /// R_hat, the start rate before there is one.
    throughput: f64,
    changed: Option<Instant>,
    rtt: Duration,
}

impl Aimd {
    /// Starts at `rate` and never goes below `least`.
    pub fn new(rate: f64, least: f64) -> Self {
        Aimd {
            rate: rate.max(least),
            least,
            state: RateState::Hold,
            capacity: Capacity::default(),
            throughput: rate,
            changed: None,
            rtt: FIRST_RTT,
        }
    }

    /// A_hat.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Sets the delay of feedback.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Takes `rate` from a probe.
    pub fn set(&mut self, now: Instant, rate: f64) {
        self.rate = rate.max(self.least);
        self.changed = Some(now);
    }

    /// Whether a further decrease may come: the last change had a round trip to show, or the rate
    /// is off by half.
    pub fn may_decrease(&self, now: Instant, throughput: f64) -> bool {
        let wait = self
            .rtt
            .clamp(Duration::from_millis(10), Duration::from_millis(200));
        self.changed.is_none_or(|at| now.since(at) >= wait) || throughput < 0.5 * self.rate
    }

    /// Overuse before R_hat is known: half, at every report. (libwebrtc's comment says every
    /// 200 ms; its code asks whether a half is below a half less a bit.)
    pub fn halve(&mut self, now: Instant) {
        self.set(now, self.rate / 2.0);
    }

    /// One step, at feedback. `throughput` is R_hat, where known.
    pub fn update(&mut self, now: Instant, usage: PathUsage, throughput: Option<f64>) {
        self.throughput = throughput.unwrap_or(self.throughput);
        match (usage, self.state) {
            (PathUsage::Over, _) => self.state = RateState::Decrease,
            (PathUsage::Under, _) => self.state = RateState::Hold,
            (PathUsage::Normal, RateState::Hold) => {
                self.state = RateState::Increase;
                self.changed = Some(now);
            }
            (PathUsage::Normal, _) => {}
        }
        match self.state {
            RateState::Hold => {}
            RateState::Increase => self.increase(now),
            RateState::Decrease => self.decrease(now),
        }
    }

    fn increase(&mut self, now: Instant) {
        if self.throughput > self.capacity.upper() {
            self.capacity.forget();
        }
        let elapsed = self.changed.map_or(1.0, |at| now.since(at).as_secs_f64());
        let step = if self.capacity.is_known() {
            self.additive() * elapsed
        } else {
            let factor = libm::pow(ETA, elapsed.min(1.0));
            (self.rate * (factor - 1.0)).max(1000.0)
        };
        // Section 5.5: not far above the acknowledged rate, or an idle encoder would inflate the
        // estimate.
        let limit = 1.5 * self.throughput + 10_000.0;
        self.rate = self.rate.max((self.rate + step).min(limit));
        self.changed = Some(now);
    }

    /// Near the capacity: about one packet per response time, in bit/s per second; at least
    /// 4 kbit/s (libwebrtc's `GetNearMaxIncreaseRateBpsPerSecond`).
    fn additive(&self) -> f64 {
        let frame = self.rate / 30.0;
        let packets = libm::ceil(frame / (1200.0 * 8.0)).max(1.0);
        // The estimator takes some 100 ms, and twice the time damps.
        let response = 2.0 * (self.rtt + Duration::from_millis(100)).as_secs_f64();
        (frame / packets / response).max(4000.0)
    }

    fn decrease(&mut self, now: Instant) {
        let mut rate = BETA * self.throughput;
        if rate > DRAIN {
            rate -= DRAIN;
        }
        if rate > self.rate
            && let Some(mean) = self.capacity.mean
        {
            rate = BETA * mean;
        }
        // Overuse never raises the rate.
        self.rate = rate.min(self.rate).max(self.least);
        if self.throughput < self.capacity.lower() {
            self.capacity.forget();
        }
        self.capacity.overused_at(self.throughput);
        // Until the queue has drained.
        self.state = RateState::Hold;
        self.changed = Some(now);
    }
}

/// The rate at which overuse was found: mean and spread of R_hat at decreases (section 5.5's R_hat
/// average, α = 0.95). Rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Capacity {
    mean: Option<f64>,
    /// Variance divided by the mean, kbit/s. It outlives the mean.
    spread: f64,
}

impl Default for Capacity {
    fn default() -> Self {
        Capacity {
            mean: None,
            spread: 0.4,
        }
    }
}

impl Capacity {
    /// Whether there is a mean.
    pub fn is_known(&self) -> bool {
        self.mean.is_some()
    }

    /// The mean counts no longer.
    pub fn forget(&mut self) {
        self.mean = None;
    }

    /// Overuse at this rate.
    pub fn overused_at(&mut self, rate: f64) {
        let mean = self.mean.map_or(rate, |mean| 0.95 * mean + 0.05 * rate);
        self.mean = Some(mean);
        let error = (mean - rate) / 1000.0;
        let sample = error * error / (mean / 1000.0).max(1.0);
        // 0.4 is about 14 kbit/s at 500 kbit/s, 2.5 about 35 kbit/s.
        self.spread = (0.95 * self.spread + 0.05 * sample).clamp(0.4, 2.5);
    }

    fn deviation(&self, mean: f64) -> f64 {
        1000.0 * (self.spread * mean / 1000.0).sqrt()
    }

    /// Above this the capacity must have grown: three standard deviations.
    pub fn upper(&self) -> f64 {
        self.mean
            .map_or(f64::INFINITY, |mean| mean + 3.0 * self.deviation(mean))
    }

    /// Below this it must have fallen.
    pub fn lower(&self) -> f64 {
        self.mean
            .map_or(0.0, |mean| mean - 3.0 * self.deviation(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn multiplicative_until_the_first_decrease_then_additive() {
        let mut aimd = Aimd::new(1e6, 1e5);
        aimd.set_rtt(Duration::from_millis(50));
        aimd.update(at(0), PathUsage::Normal, Some(1e6));
        assert_eq!(aimd.rate(), 1_001_000.0, "1000 bit/s at least");
        // A second later: × 1.08.
        aimd.update(at(1000), PathUsage::Normal, Some(1e6));
        assert!((aimd.rate() - 1_081_080.0).abs() < 1e-6);
        // Overuse with R_hat 1.02 Mbit/s: × 0.85, less 5 kbit/s, and hold.
        aimd.update(at(1100), PathUsage::Over, Some(1.02e6));
        assert_eq!(aimd.rate(), 862_000.0);
        aimd.update(at(1200), PathUsage::Under, Some(1.02e6));
        assert_eq!(aimd.rate(), 862_000.0);
        // Normal again. The capacity is known (1.02 ± 3·√(0.4·1020) kbit/s = 0.96 to 1.08): a
        // frame of 28 733 bit in three packets of 9578 bit; one per 2·150 ms: 31 926 bit/s a second.
        aimd.update(at(1300), PathUsage::Normal, Some(1e6));
        aimd.update(at(2300), PathUsage::Normal, Some(1e6));
        assert!((aimd.rate() - 862_000.0 - 31_925.9).abs() < 1.0);
        // R_hat above the capacity's range: multiplicative again.
        let before = aimd.rate();
        aimd.update(at(3300), PathUsage::Normal, Some(1.2e6));
        assert!((aimd.rate() - 1.08 * before).abs() < 1.0);
    }

    #[test]
    fn never_far_above_what_arrives_and_never_raised_by_overuse() {
        let mut aimd = Aimd::new(1e6, 1e5);
        // 1.5·0.4 + 0.01 = 0.61 Mbit/s is below the rate: it stays.
        aimd.update(at(0), PathUsage::Normal, Some(4e5));
        aimd.update(at(1000), PathUsage::Normal, Some(4e5));
        assert_eq!(aimd.rate(), 1e6);
        // 1.5·0.7 + 0.01 = 1.06 Mbit/s: up to there.
        aimd.update(at(2000), PathUsage::Normal, Some(7e5));
        assert!((aimd.rate() - 1.06e6).abs() < 1e-6);
        aimd.update(at(2100), PathUsage::Over, Some(2e6));
        assert!((aimd.rate() - 1.06e6).abs() < 1e-6);
        aimd.update(at(2200), PathUsage::Over, Some(1e4));
        assert_eq!(aimd.rate(), 1e5, "the least");
    }

    #[test]
    fn a_decrease_waits_for_the_last_one_to_show() {
        let mut aimd = Aimd::new(1e6, 1e5);
        aimd.set_rtt(Duration::from_millis(50));
        aimd.set(at(0), 1e6);
        assert!(!aimd.may_decrease(at(49), 9e5));
        assert!(aimd.may_decrease(at(50), 9e5));
        assert!(aimd.may_decrease(at(1), 4e5), "off by half");
        aimd.halve(at(100));
        aimd.halve(at(150));
        assert_eq!(aimd.rate(), 2.5e5);
    }
}
