//! Named, seeded random streams.
//!
//! A run has one seed. Each consumer of random numbers takes a [`Stream`] of its own by name, so
//! that adding one never changes the numbers of another.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A deterministic stream of random numbers (PCG, M. E. O'Neill 2014).
#[derive(Debug, Clone)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream called `name` of the run seeded with `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Stream(Pcg64Mcg::seed_from_u64(seed ^ fnv(name)))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n` (0 if `n` is 0), by multiplication: the bias is below `n / 2^64`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box–Muller, the cosine half).
    pub fn normal(&mut self) -> f64 {
        // Exact by IEEE 754, so that it needs no libm.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Log-normal with the given median and the standard deviation `sigma` of its logarithm.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * libm::exp(sigma * self.normal())
    }
}

/// FNV-1a, 64 bits: a name's own number.
fn fnv(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_name_same_numbers_other_name_others() {
        let draw = |seed, name| {
            let mut stream = Stream::new(seed, name);
            [stream.bits(), stream.bits()]
        };
        assert_eq!(draw(1, "page"), draw(1, "page"));
        assert_ne!(draw(1, "page"), draw(1, "call"));
        assert_ne!(draw(1, "page"), draw(2, "page"));
    }

    #[test]
    fn draws_stay_in_range_and_centre() {
        let mut stream = Stream::new(7, "test");
        let n = 20_000;
        let mean = (0..n).map(|_| stream.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let normal = (0..n).map(|_| stream.normal()).sum::<f64>() / f64::from(n);
        assert!(normal.abs() < 0.05, "{normal}");
        assert!((0..n).all(|_| stream.below(10) < 10));
    }
}
