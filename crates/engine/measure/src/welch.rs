//! Welch's t-test: whether two populations have the same mean, from values that are not paired.
//!
//! Papers compare runs in this way. Ours have the same seeds on both sides, and are compared in pairs
//! ([`estimate`](crate::estimate)); this is for showing what a paper's own test says of them.

use crate::interval::moments;
use statrs::function::beta::checked_beta_reg;

/// The outcome of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Difference of the means, in standard errors.
    pub t: f64,
    /// Degrees of freedom (B. L. Welch, Biometrika 34, 1947).
    pub freedom: f64,
    /// Probability of a difference at least as large in either direction, given equal means: 0 to 1.
    pub p: f64,
}

/// The test of `ours` against `theirs`. None if a side has fewer than two values, if neither varies,
/// or if a value is not finite.
pub fn welch(ours: &[f64], theirs: &[f64]) -> Option<Welch> {
    let [a, b] = [moments(ours)?, moments(theirs)?];
    // The variances of the means.
    let [v, w] = [a.1 / ours.len() as f64, b.1 / theirs.len() as f64];
    let t = (a.0 - b.0) / (v + w).sqrt();
    let parts = v * v / (ours.len() - 1) as f64 + w * w / (theirs.len() - 1) as f64;
    let freedom = (v + w) * (v + w) / parts;
    if !(t.is_finite() && freedom.is_finite()) {
        return None;
    }
    // Both tails of Student's t at once: as one less its distribution, small ones would be rounded away.
    let p = checked_beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t)).ok()?;
    Some(Welch { t, freedom, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        let error = (found - expected).abs() / expected.abs();
        assert!(error < 1e-4, "{found} for {expected}");
    }

    /// R's `t.test(extra ~ group, data = sleep)`: t = -1.8608, df = 17.776, p-value = 0.07939.
    #[test]
    fn r_on_the_sleep_of_students() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = welch(&one, &two).unwrap();
        near(found.t, -1.860_8);
        near(found.freedom, 17.776_5);
        near(found.p, 0.079_394);
        let other = welch(&two, &one).unwrap();
        assert_eq!((other.t, other.p), (-found.t, found.p));
    }

    /// R's `t.test(mpg ~ am, data = mtcars)`: t = -3.7671, df = 18.332, p-value = 0.001374.
    #[test]
    fn r_on_the_fuel_of_cars() {
        let automatic = [
            21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7,
            21.5, 15.5, 15.2, 13.3, 19.2,
        ];
        let manual = [
            21.0, 21.0, 22.8, 32.4, 30.4, 33.9, 27.3, 26.0, 30.4, 15.8, 19.7, 15.0, 21.4,
        ];
        let found = welch(&automatic, &manual).unwrap();
        near(found.t, -3.767_12);
        near(found.freedom, 18.332_3);
        near(found.p, 0.001_373_64);
    }

    /// Computed with forty digits (mpmath's `betainc`): a side that does not vary, and a tail that one
    /// less a distribution would round away.
    #[test]
    fn small_probabilities_are_kept() {
        let [varies, does_not] = [[33.1, 33.4, 33.6, 33.2], [10.5; 4]];
        let found = welch(&varies, &does_not).unwrap();
        near(found.t, 205.875_85);
        near(found.freedom, 3.0);
        near(found.p, 2.527_072_3e-7);
        let [ours, theirs] = [
            &[80.0, 81.0, 79.0, 82.0, 80.5][..],
            &[10.0, 10.5, 9.0, 11.0, 10.0, 12.0],
        ];
        let found = welch(ours, theirs).unwrap();
        near(found.freedom, 8.287_305);
        near(found.p, 2.472_852e-14);
    }

    #[test]
    fn what_cannot_be_tested_has_none() {
        let same = [3.0; 5];
        for (ours, theirs) in [
            (&[1.0][..], &[1.0, 2.0][..]),
            (&[1.0, 2.0], &[]),
            (&same, &same),
            (&same, &[4.0; 5]),
            (&[1.0, f64::INFINITY], &[1.0, 2.0]),
        ] {
            assert_eq!(welch(ours, theirs), None, "{ours:?} {theirs:?}");
        }
    }
}
