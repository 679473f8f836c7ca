//! The slope of the delay over time, by least squares over the last groups.
//!
//! libwebrtc's `trendline_estimator.cc`, in place of the draft's Kalman filter.

use super::groups::Delta;
use super::signed_ms;
use std::collections::VecDeque;
use units::Instant;

/// Groups that the line is fitted to (`kDefaultTrendlineWindowSize`).
const WINDOW: usize = 20;
/// Weight of the past in the smoothed delay (`kDefaultTrendlineSmoothingCoeff`).
const SMOOTHING: f64 = 0.9;
/// The factor by which the slope is multiplied to compare with the threshold
/// (`kDefaultTrendlineThresholdGain`).
pub(super) const GAIN: f64 = 4.0;

/// The line's data. Times in milliseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Trendline {
    first: Option<Instant>,
    accumulated: f64,
    smoothed: f64,
    /// Arrival since the first one, and smoothed delay then.
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

impl Trendline {
    /// Takes the difference that a packet arriving at `at` completed; returns the slope, in
    /// milliseconds of delay per millisecond: (rate − capacity)/capacity while a queue grows.
    pub fn update(&mut self, delta: &Delta, at: Instant) -> f64 {
        let first = *self.first.get_or_insert(at);
        self.accumulated += delta.variation();
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.accumulated;
        self.points.push_back((signed_ms(first, at), self.smoothed));
        if self.points.len() > WINDOW {
            self.points.pop_front();
        }
        if self.points.len() == WINDOW {
            self.slope = slope(&self.points).unwrap_or(self.slope);
        }
        self.slope
    }
}

/// Least squares: Σ(x − x̄)(y − ȳ)/Σ(x − x̄)²; none if all points have the same time.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let n = points.len() as f64;
    let (sum_x, sum_y) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let (mut above, mut below) = (0.0, 0.0);
    for &(x, y) in points {
        above += (x - mean_x) * (y - mean_y);
        below += (x - mean_x) * (x - mean_x);
    }
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn run(steps: u64, variation: f64) -> Vec<f64> {
        let mut trendline = Trendline::default();
        let delta = Delta {
            sent: 10.0,
            received: 10.0 + variation,
        };
        let at = |step| Instant::ZERO + Duration::from_millis(10 * step);
        (0..steps)
            .map(|step| trendline.update(&delta, at(step)))
            .collect()
    }

    #[test]
    fn no_line_before_twenty_points_and_a_level_one_without_variation() {
        let slopes = run(30, 0.5);
        assert!(slopes[..19].iter().all(|&slope| slope == 0.0));
        assert!(slopes[19] > 0.0);
        assert!(run(30, 0.0).iter().all(|&slope| slope == 0.0));
    }

    #[test]
    fn the_slope_is_the_delay_gained_per_time() {
        // 0.5 ms more delay every 10 ms: 0.05. The smoothed delay lags behind by a constant in the
        // end, which does not change the slope.
        let last = run(300, 0.5)[299];
        assert!((last - 0.05).abs() < 1e-6, "{last}");
        let last = run(300, -0.5)[299];
        assert!((last + 0.05).abs() < 1e-6, "{last}");
    }

    #[test]
    fn three_points_by_hand() {
        // Means 1 and 2; (−1·−1 + 0·−1 + 1·2)/(1 + 0 + 1) = 1.5.
        let points = VecDeque::from([(0.0, 1.0), (1.0, 1.0), (2.0, 4.0)]);
        assert_eq!(slope(&points), Some(1.5));
        assert_eq!(slope(&VecDeque::from([(1.0, 1.0), (1.0, 2.0)])), None);
    }
}
