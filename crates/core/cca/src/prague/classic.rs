//! Whether the AQM that marks is a classic one.
//!
//! A classic AQM lets a queue of several milliseconds grow and shrink; an L4S one keeps a short
//! queue that hardly varies. So in each round the logarithms of the round trip's mean deviation and
//! of the queue, each over a reference, are added to a score (Linux `prague_classic_ecn_detection`;
//! Briscoe and Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM", arXiv:1911.00710).
//! Linux has the paper's third term, for senders that limit themselves, commented out; it is not
//! here either.

use units::Duration;

/// Weight of the deviation's and of the queue's logarithm (Linux V and D).
const WEIGHT: f64 = 0.5;
/// Reference for the deviation (Linux `V0_LG`), seconds.
const DEVIATION: f64 = 750e-6;
/// Reference for the queue (Linux `D0_LG`), seconds.
const QUEUE: f64 = 2e-3;
/// Up to this score the AQM is L4S's, and from one more on classic (Linux `L_STICKY`).
const STICKY: f64 = 8.0;
/// Largest score (Linux `C_STICKY`).
const MOST: f64 = 2.0 * STICKY + 1.0;
/// The smallest reduction of the window by a classic AQM's marks, doubled (Linux: c / 2 + c / 8).
const SHARE: f64 = 0.625;
/// Smallest weight of a round trip sample, as a power of two (Linux `PRAGUE_MAX_SRTT_BITS`).
const MAX_SHIFT: i32 = 18;
/// The deviation starts here, and counts at least this much, seconds.
const LEAST: f64 = 1e-6;

/// The score, and its inputs.
#[derive(Debug, Clone)]
pub struct Classic {
    score: f64,
    /// Mean and mean deviation of round trips, seconds.
    srtt: f64,
    deviation: f64,
    gain: f64,
}

impl Default for Classic {
    fn default() -> Self {
        Classic {
            score: 0.0,
            srtt: 0.0,
            deviation: LEAST,
            gain: gain(f64::INFINITY),
        }
    }
}

/// 1 over the threshold to the power of 1.5, and half of that: so many packets are a sawtooth of
/// a classic control, beyond which the average has to see.
fn gain(threshold: f64) -> f64 {
    let segments = threshold.clamp(1.0, f64::from(1 << MAX_SHIFT));
    let lg = libm::floor(libm::log2(segments)) as i32;
    libm::ldexp(1.0, -(lg + lg / 2 + 1).min(MAX_SHIFT))
}

impl Classic {
    /// A round trip.
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        if self.srtt == 0.0 {
            self.srtt = rtt;
            return;
        }
        let error = rtt - self.srtt;
        self.srtt += error * self.gain;
        self.deviation += (error.abs() - self.deviation) * self.gain / 2.0;
    }

    /// The window is reduced; `threshold` is the slow start threshold, segments.
    pub fn set_gain(&mut self, threshold: f64) {
        self.gain = gain(threshold);
    }

    /// A round has passed.
    pub fn judge(&mut self, min_rtt: Duration) {
        let deviation = self.deviation.max(LEAST) / DEVIATION;
        // A queue is evidence of a classic AQM; the lack of one is no evidence.
        let queue = ((self.srtt - min_rtt.as_secs_f64()) / QUEUE).max(1.0);
        self.score += WEIGHT * (libm::log2(deviation) + libm::log2(queue));
        self.score = self.score.clamp(0.0, MOST);
    }

    /// The least share of marks to assume: 0 if the AQM is L4S's, enough for a share of the link
    /// next to Reno if it is classic.
    pub fn least_share(&self) -> f64 {
        (self.score - STICKY).clamp(0.0, 1.0) * SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 segments: lg is 6, 6 + 3 + 1 = 10. 2 segments: 1 + 0 + 1.
    #[test]
    fn slow_averages_for_large_windows() {
        assert_eq!(gain(100.0), 1.0 / 1024.0);
        assert_eq!(gain(2.0), 0.25);
        assert_eq!(gain(f64::INFINITY), 1.0 / 262_144.0);
    }

    /// Deviation 3 ms, queue 16 ms: (2 + 3) / 2 a round, so 8 is passed in the fourth, and 17 is
    /// the most. Then 187.5 us without a queue: −1 a round, and 8 is reached after nine.
    #[test]
    fn the_score_by_hand() {
        let mut classic = Classic {
            srtt: 0.056,
            deviation: 0.003,
            ..Classic::default()
        };
        let min = Duration::from_millis(40);
        let mut shares = Vec::new();
        for _ in 0..4 {
            classic.judge(min);
            shares.push((classic.least_share() * 1e3).round());
        }
        assert_eq!(shares, [0.0, 0.0, 0.0, 625.0]);
        for _ in 0..10 {
            classic.judge(min);
        }
        assert!((classic.score - 17.0).abs() < 1e-9);
        classic.srtt = 0.0405;
        classic.deviation = 187.5e-6;
        for _ in 0..9 {
            assert!(classic.least_share() > 0.0);
            classic.judge(min);
        }
        assert!(classic.least_share() < 1e-9, "{}", classic.score);
    }
}
