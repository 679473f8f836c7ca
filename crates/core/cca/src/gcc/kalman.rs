//! The draft's arrival-time filter: a scalar Kalman filter over the delay variation.
//!
//! draft-ietf-rmcat-gcc-02, section 5.3.

use super::groups::Delta;

/// State noise variance, q (section 5.3).
const STATE_NOISE: f64 = 1e-3;
/// The first error variance, e(0) (section 5.5).
const FIRST_ERROR: f64 = 0.1;
/// χ, by which the noise estimate forgets thirty times a second (section 5.3: 0.001 to 0.1).
const CHI: f64 = 0.01;

/// The filter's state. Times in milliseconds.
#[derive(Debug, Clone)]
pub(super) struct Kalman {
    /// m_hat: by how much the delay grows from group to group.
    offset: f64,
    /// e: variance of the estimate's error.
    error: f64,
    /// var_v_hat: variance of the measurement noise, at least one.
    noise: f64,
}

impl Default for Kalman {
    fn default() -> Self {
        Kalman {
            offset: 0.0,
            error: FIRST_ERROR,
            noise: 1.0,
        }
    }
}

impl Kalman {
    /// Takes the difference of two groups; returns the estimate m_hat.
    pub fn update(&mut self, delta: &Delta) -> f64 {
        let innovation = delta.variation() - self.offset;
        // An outlier counts as three standard deviations.
        let limit = 3.0 * self.noise.sqrt();
        let clipped = innovation.clamp(-limit, limit);
        let alpha = libm::pow(1.0 - CHI, 30.0 * delta.sent.max(0.0) / 1000.0);
        self.noise = (alpha * self.noise + (1.0 - alpha) * clipped * clipped).max(1.0);
        let predicted = self.error + STATE_NOISE;
        let gain = predicted / (self.noise + predicted);
        self.offset += gain * innovation;
        self.error = (1.0 - gain) * predicted;
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_by_hand() {
        let mut kalman = Kalman::default();
        // z = 2 ms. The noise: α = 0.99^(30·0.01) = 0.996989; α·1 + 0.003011·4 = 1.009032.
        // Gain: 0.101/(1.009032 + 0.101) = 0.090988; m = 0.181976; e = 0.909012·0.101 = 0.09181.
        let offset = kalman.update(&Delta {
            sent: 10.0,
            received: 12.0,
        });
        assert!((offset - 0.181_976).abs() < 1e-5, "{offset}");
        assert!((kalman.noise - 1.009_032).abs() < 1e-5);
        assert!((kalman.error - 0.091_810).abs() < 1e-5);
    }

    #[test]
    fn it_settles_at_a_constant_variation() {
        let mut kalman = Kalman::default();
        let delta = Delta {
            sent: 10.0,
            received: 10.5,
        };
        let last = (0..500).map(|_| kalman.update(&delta)).last();
        assert!((last.unwrap() - 0.5).abs() < 1e-3);
    }
}
