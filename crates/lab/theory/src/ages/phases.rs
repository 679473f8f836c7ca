//! A mixture of exponential distributions, and how it is fitted.
//!
//! The thesis (section 3.3) fits a phase-type distribution and turns it into "a generalized
//! hyperbolic one", which means hyperexponential. It is found by expectation maximization
//! (Dempster, Laird, Rubin, 1977), which keeps the mean of the fitted distribution.

use super::sizes::Sizes;
use libm::{exp, fabs, log};

/// Phases of a fit. With more, the optimum of the thesis' sizes moves by less than a thousandth.
const PHASES: usize = 8;
/// Number of rounds, if the fit continues to improve for so long.
const ROUNDS: usize = 2000;
/// A gain in likelihood, per transfer, that is not worth another round.
const GAIN: f64 = 1e-9;

/// One of the exponential distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// How many transfers are of it: the shares add up to 1.
    pub share: f64,
    /// Their mean, bytes.
    pub mean: f64,
}

/// A hyperexponential distribution of sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases(pub Vec<Phase>);

impl Phases {
    /// The likeliest for `sizes` of eight phases.
    pub fn fit(sizes: &Sizes) -> Self {
        let (least, most) = sizes.bounds();
        let step = log(most / least) / (PHASES - 1) as f64;
        let phase = |at: usize| Phase {
            share: 1.0 / PHASES as f64,
            mean: least * exp(step * at as f64),
        };
        let mut phases = Phases((0..PHASES).map(phase).collect());
        let mut before = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            let likelihood = phases.better(sizes);
            if likelihood - before < GAIN {
                break;
            }
            before = likelihood;
        }
        phases.0.retain(|phase| phase.share > 1e-15);
        phases
    }

    /// One round; the logarithm of how likely a transfer was before it.
    fn better(&mut self, sizes: &Sizes) -> f64 {
        let mut sums = vec![(0.0, 0.0); self.0.len()];
        let mut likelihood = 0.0;
        for &(size, share) in sizes.classes() {
            let density = |phase: &Phase| phase.share / phase.mean * exp(-size / phase.mean);
            let all: f64 = self
                .0
                .iter()
                .map(density)
                .sum::<f64>()
                .max(f64::MIN_POSITIVE);
            likelihood += share * log(all);
            for (phase, sum) in self.0.iter().zip(&mut sums) {
                let part = share * density(phase) / all;
                *sum = (sum.0 + part, sum.1 + part * size);
            }
        }
        for (phase, (share, bytes)) in self.0.iter_mut().zip(sums) {
            if share > 0.0 {
                *phase = Phase {
                    share,
                    mean: bytes / share,
                };
            } else {
                phase.share = 0.0;
            }
        }
        likelihood
    }

    /// The mean size, bytes.
    pub fn mean(&self) -> f64 {
        self.0.iter().map(|phase| phase.share * phase.mean).sum()
    }

    /// The share of transfers larger than `size` bytes.
    pub fn beyond(&self, size: f64) -> f64 {
        let beyond = |phase: &Phase| phase.share * exp(-size / phase.mean);
        self.0.iter().map(beyond).sum()
    }

    /// The greatest difference between the shares of transfers beyond a size, here and in `sizes`: 0 to 1.
    pub fn distance(&self, sizes: &Sizes) -> f64 {
        let (mut beyond, mut greatest) = (1.0, 0.0f64);
        for (size, share) in sizes.classes() {
            // In the middle of the class.
            greatest = greatest.max(fabs(self.beyond(*size) - (beyond - share / 2.0)));
            beyond -= share;
        }
        greatest
    }
}
