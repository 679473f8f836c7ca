//! Whether the path is overused: the delay's trend against a threshold that adapts.
//!
//! draft-ietf-rmcat-gcc-02, section 5.4, with the gains of libwebrtc's `trendline_estimator.cc`
//! while the draft recommends 0.01 and 0.00018.

use super::signed_ms;
use units::Instant;

/// The use of the path as the delay indicates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathUsage {
    /// The delay neither grows nor falls.
    Normal,
    /// A queue grows.
    Over,
    /// A queue drains.
    Under,
}

/// The first threshold, ms (`del_var_th(0)`).
const FIRST: f64 = 12.5;
/// Its limits, ms.
const LIMITS: (f64, f64) = (6.0, 600.0);
/// How fast it rises and falls, per ms.
const K_UP: f64 = 0.0087;
const K_DOWN: f64 = 0.039;
/// Trends further than this above the threshold do not move it: a sudden drop of capacity.
const OUTLIER: f64 = 15.0;
/// Longest time that one step of the adaptation accounts for, ms.
const LONGEST_STEP: f64 = 100.0;
/// The trend must be above the threshold for this long, ms (`overuse_time_th`).
const OVERUSE_TIME: f64 = 10.0;

/// The detector's state. Times in milliseconds.
#[derive(Debug, Clone)]
pub(super) struct TrendDetector {
    usage: PathUsage,
    threshold: f64,
    adapted: Option<Instant>,
    /// How long and how often in a row the trend was above the threshold.
    over: Option<(f64, u32)>,
    previous: f64,
}

impl Default for TrendDetector {
    fn default() -> Self {
        TrendDetector {
            usage: PathUsage::Normal,
            threshold: FIRST,
            adapted: None,
            over: None,
            previous: 0.0,
        }
    }
}

impl TrendDetector {
    /// The result of the last update.
    pub fn usage(&self) -> PathUsage {
        self.usage
    }

    /// Takes a `trend` that counts `weight` times, in ms, over groups sent `sent` ms apart, at the
    /// arrival `at`.
    pub fn update(&mut self, trend: f64, weight: f64, sent: f64, at: Instant) {
        let scaled = weight * trend;
        if scaled > self.threshold {
            // The first time, half of the time since the last group counts.
            let (time, times) = match self.over {
                None => (sent / 2.0, 1),
                Some((time, times)) => (time + sent, times + 1),
            };
            self.over = Some((time, times));
            // A trend that falls again is on its way back.
            if time > OVERUSE_TIME && times > 1 && trend >= self.previous {
                self.over = Some((0.0, 0));
                self.usage = PathUsage::Over;
            }
        } else {
            self.over = None;
            self.usage = if scaled < -self.threshold {
                PathUsage::Under
            } else {
                PathUsage::Normal
            };
        }
        self.previous = trend;
        self.adapt(scaled.abs(), at);
    }

    /// The threshold follows the trend, so that a call neither starves next to flows that fill the
    /// queue nor grows insensitive.
    fn adapt(&mut self, trend: f64, at: Instant) {
        let last = self.adapted.replace(at).unwrap_or(at);
        if trend > self.threshold + OUTLIER {
            return;
        }
        let gain = if trend < self.threshold { K_DOWN } else { K_UP };
        let step = signed_ms(last, at).clamp(0.0, LONGEST_STEP);
        self.threshold += gain * (trend - self.threshold) * step;
        self.threshold = self.threshold.clamp(LIMITS.0, LIMITS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn overuse_takes_ten_milliseconds_and_a_trend_that_does_not_fall() {
        let mut detector = TrendDetector::default();
        // 20 > 12.5 for 3 ms, then 3 + 6 = 9 ms, then 9 + 6 = 15 ms.
        let mut seen = Vec::new();
        for step in 0..3 {
            detector.update(20.0, 1.0, 6.0, at(6 * step));
            seen.push(detector.usage());
        }
        assert_eq!(
            seen,
            [PathUsage::Normal, PathUsage::Normal, PathUsage::Over]
        );
        // Falling, but above the threshold: the verdict stays.
        detector.update(19.0, 1.0, 6.0, at(18));
        assert_eq!(detector.usage(), PathUsage::Over);
        detector.update(-16.0, 1.0, 6.0, at(24));
        assert_eq!(detector.usage(), PathUsage::Under);
        detector.update(0.0, 1.0, 6.0, at(30));
        assert_eq!(detector.usage(), PathUsage::Normal);
    }

    #[test]
    fn a_falling_trend_is_no_overuse() {
        let mut detector = TrendDetector::default();
        for step in 0..5 {
            detector.update(26.0 - step as f64, 1.0, 20.0, at(20 * step));
            assert_eq!(detector.usage(), PathUsage::Normal);
        }
    }

    #[test]
    fn a_trend_that_only_counts_more_does_not_rise() {
        let mut detector = TrendDetector::default();
        for step in 0..5 {
            let (trend, weight) = (1.0 - 0.01 * step as f64, 20.0 + step as f64);
            detector.update(trend, weight, 20.0, at(20 * step));
            assert_eq!(detector.usage(), PathUsage::Normal);
        }
    }

    #[test]
    fn the_threshold_adapts_within_its_limits() {
        let mut detector = TrendDetector::default();
        detector.update(0.0, 1.0, 10.0, at(0));
        // 12.5 + 0.039·(0 − 12.5)·10 = 7.625.
        detector.update(0.0, 1.0, 10.0, at(10));
        assert!((detector.threshold - 7.625).abs() < 1e-9);
        // 7.625 − 0.39·7.625 = 4.65, below the least.
        detector.update(0.0, 1.0, 10.0, at(20));
        assert_eq!(detector.threshold, 6.0);
        // 6 + 0.0087·(16 − 6)·10 = 6.87.
        detector.update(16.0, 1.0, 10.0, at(30));
        assert!((detector.threshold - 6.87).abs() < 1e-9);
        // More than 15 above: not followed.
        detector.update(22.0, 1.0, 10.0, at(40));
        assert!((detector.threshold - 6.87).abs() < 1e-9);
    }
}
