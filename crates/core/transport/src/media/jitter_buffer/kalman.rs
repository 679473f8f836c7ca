//! How much later a frame comes than the one before it because it is larger: libwebrtc's
//! `FrameDelayVariationKalmanFilter`.
//!
//! The model: a frame's delay differs from that of the frame before by `slope` for each byte that it
//! is larger, and by `offset`. The slope is one over the path's rate.

use libm::exp;

/// The least slope, which is 8 Gbit/s (`kMaxBandwidth`), in ms per byte.
const LEAST_SLOPE: f64 = 1e-6;
/// What the state is expected to change by from frame to frame: (ms per byte)² and ms²
/// (`process_noise_cov_diag_`).
const DRIFT: [f64; 2] = [2.5e-10, 1e-10];

/// The filter.
#[derive(Debug, Clone)]
pub struct Kalman {
    /// ms per byte.
    slope: f64,
    /// ms.
    offset: f64,
    covariance: [[f64; 2]; 2],
}

impl Default for Kalman {
    fn default() -> Self {
        Kalman {
            slope: 1.0 / 64_000.0,
            offset: 0.0,
            covariance: [[1e-4, 0.0], [0.0, 1e2]],
        }
    }
}

impl Kalman {
    /// How much later, in ms, a frame comes that is larger by `bytes`, by the path's rate alone.
    pub fn by_size(&self, bytes: f64) -> f64 {
        self.slope * bytes
    }

    /// How much later, in ms, a frame comes that is larger by `bytes`.
    pub fn expected(&self, bytes: f64) -> f64 {
        self.by_size(bytes) + self.offset
    }

    /// A frame came `later` ms later than the one before; it is larger by `bytes`. The largest frame
    /// has `largest` bytes, and what the model does not explain has a variance of `noise` ms².
    pub fn update(&mut self, later: f64, bytes: f64, largest: f64, noise: f64) {
        if largest < 1.0 || noise <= 0.0 {
            return;
        }
        let p = &mut self.covariance;
        p[0][0] += DRIFT[0];
        p[1][1] += DRIFT[1];
        let innovation = later - (self.slope * bytes + self.offset);
        let seen = [p[0][0] * bytes + p[0][1], p[1][0] * bytes + p[1][1]];
        // Frames of equal size say little of the slope. This is a deviation where a variance is due;
        // libwebrtc has it so.
        let doubt = (300.0 * exp(-bytes.abs() / largest) + 1.0) * noise.sqrt();
        let variance = bytes * seen[0] + seen[1] + doubt.max(1.0);
        if variance.abs() < 1e-9 {
            return;
        }
        let gain = seen.map(|seen| seen / variance);
        self.slope = (self.slope + gain[0] * innovation).max(LEAST_SLOPE);
        self.offset += gain[1] * innovation;
        let [first, second] = p[0];
        p[0][0] = (1.0 - gain[0] * bytes) * first - gain[0] * p[1][0];
        p[0][1] = (1.0 - gain[0] * bytes) * second - gain[0] * p[1][1];
        p[1][0] = (1.0 - gain[1]) * p[1][0] - gain[1] * bytes * first;
        p[1][1] = (1.0 - gain[1]) * p[1][1] - gain[1] * bytes * second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_becomes_that_of_the_path() {
        let mut kalman = Kalman::default();
        assert_eq!(kalman.by_size(64_000.0), 1.0);
        // Frames of 4000 and 8000 bytes in turn at 1 Mbit/s, 125 bytes a ms: 32 ms more and less.
        for turn in 0..1_000 {
            let sign = if turn % 2 == 0 { 1.0 } else { -1.0 };
            kalman.update(32.0 * sign, 4_000.0 * sign, 8_000.0, 4.0);
        }
        let found = kalman.expected(4_000.0);
        assert!((found - 32.0).abs() < 0.5, "{found}");
    }

    #[test]
    fn nonsense_changes_nothing() {
        let mut kalman = Kalman::default();
        kalman.update(1.0, 1.0, 0.0, 4.0);
        kalman.update(1.0, 1.0, 100.0, 0.0);
        assert_eq!(kalman.expected(64_000.0), 1.0);
    }
}
