//! The E-model: from delay and loss to the opinion of listeners (ITU-T G.107 of 06/2015).
//!
//! Simplified: all of its inputs but delay, codec and loss have G.107's defaults, for which
//! R = 93.2 − Idd − Ie,eff. There is no echo, and losses count as random (BurstR = 1).

use libm::{log, log2, pow};

/// The basic signal-to-noise ratio under the defaults of G.107 (7.1 to 7.3).
const BASE: f64 = 93.2;
/// Loss robustness of Opus without forward error correction, in percent (rtcscore).
const ROBUSTNESS: f64 = 10.0;

/// Impairment by a one-way delay of `ms` from mouth to ear (7.4, Idd; sT = 1, mT = 100 ms).
fn delay_impairment(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = log2(ms / 100.0);
    let root = |x: f64| pow(1.0 + pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Impairment by the codec itself at `rate` bit/s: rtcscore's Ie for Opus, which it takes from 100,
/// taken from [`BASE`] here.
fn codec_impairment(rate: f64) -> f64 {
    let of_hundred = (55.0 - 4.6 * log(rate)).clamp(0.0, 30.0);
    (of_hundred - (100.0 - BASE)).max(0.0)
}

/// Impairment by codec and `lost` percent of loss (7.5, Ie,eff).
fn loss_impairment(rate: f64, lost: f64) -> f64 {
    let codec = codec_impairment(rate);
    codec + (95.0 - codec) * lost / (lost + ROBUSTNESS)
}

/// The mean opinion score, 1 to 4.5 (annex B), of Opus at `rate` bit/s with a delay of `ms` from mouth
/// to ear, `lost` percent of it concealed.
pub fn mos(ms: f64, rate: f64, lost: f64) -> f64 {
    let r = BASE - delay_impairment(ms) - loss_impairment(rate, lost);
    let r = r.clamp(0.0, 100.0);
    // Below an R of 6.5 the polynomial falls below the scale.
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.005, "{found}, not {expected}");
    }

    #[test]
    fn delay() {
        near(delay_impairment(100.0), 0.0);
        // x = 1: 25 (2^(1/6) − 3 (1 + 1/729)^(1/6) + 2) = 25 (1.12246 − 3.00069 + 2).
        near(delay_impairment(200.0), 3.04);
        // x = 2: 25 (65^(1/6) − 3 (1 + 64/729)^(1/6) + 2) = 25 (2.00518 − 3.04237 + 2).
        near(delay_impairment(400.0), 24.07);
    }

    #[test]
    fn codec_and_loss() {
        // 55 − 4.6 ln 32000 = 7.281; 6.8 of that are the difference between the scales.
        near(codec_impairment(32_000.0), 0.481);
        near(codec_impairment(510_000.0), 0.0);
        // 55 − 4.6 ln 6000 = 14.982.
        near(codec_impairment(6_000.0), 8.182);
        // As much loss as robustness takes half of the rest: 0.481 + 94.519 / 2.
        near(loss_impairment(32_000.0, 10.0), 47.74);
    }

    #[test]
    fn scores() {
        // R = 92.719: 1 + 3.2452 + 92.719 × 32.719 × 7.281 × 7e-6 = 4.2452 + 0.1546.
        near(mos(80.0, 32_000.0, 0.0), 4.400);
        // R = 92.719 − 3.044 − 94.519/6 = 73.922: 1 + 2.5873 + 73.922 × 13.922 × 26.078 × 7e-6.
        near(mos(200.0, 32_000.0, 2.0), 3.775);
        assert_eq!(mos(60_000.0, 6_000.0, 100.0), 1.0);
    }
}
