//! How long frames have to wait so that nearly all of them are there when their turn comes: libwebrtc's
//! `JitterEstimator`, with the settings of its code (no field trial).
//!
//! A frame is expected later than the one before by what it is larger ([`Kalman`]). What remains is
//! noise, whose mean and variance are followed. The estimate is the time that the largest frame takes
//! longer than a usual one, plus the noise at 2.33 deviations, less 30 ms.

use super::kalman::Kalman;
use libm::pow;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Frames before the estimate is held to its largest of late (`kFrameProcessingStartupCount`).
const STARTUP: u32 = 30;
/// Frames whose mean size begins the filter of sizes (`kFramesUntilSizeFiltering`).
const FIRST_SIZES: u32 = 5;
/// Sizes before there is a frame, in bytes (`kInitialAvgAndMaxFrameSizeBytes`).
const FIRST_SIZE: f64 = 500.0;
/// What the filters of the usual and of the largest size keep (`kPhi`, `kPsi`).
const USUAL: f64 = 0.97;
const LARGEST: f64 = 0.9999;
/// In deviations: a delay counts as no more than this; a delay beyond is an outlier; a size beyond is
/// one (`kNumStdDevDelayClamp`, `kNumStdDevDelayOutlier`, `kNumStdDevSizeOutlier`).
const DELAY_MOST: f64 = 3.5;
const DELAY_OUTLIER: f64 = 15.0;
const SIZE_OUTLIER: f64 = 3.0;
/// A frame so much smaller than the one before, as a part of the largest, came together with that
/// (`kCongestionRejectionFactor`).
const CONGESTED: f64 = -0.25;
/// The noise is a mean over at most so many frames (`kAlphaCountMax`).
const NOISE_FRAMES: f64 = 400.0;
/// `kNoiseStdDevs`, and `kNoiseStdDevOffset` in ms.
const NOISE_DEVIATIONS: f64 = 2.33;
const NOISE_LESS: f64 = 30.0;
/// The bounds of an estimate, in ms (`kMinJitterEstimate`, `kMaxJitterEstimate`).
const LEAST: f64 = 1.0;
const MOST: f64 = 10_000.0;
/// What the receiver's computer adds, in ms (`OPERATING_SYSTEM_JITTER`).
const SYSTEM: f64 = 10.0;
/// After so many repaired frames a part of the round trip is added, no more than so many ms, until
/// none was repaired for a minute (`kNackLimit`, `kRttMult`, `kRttMultAddCap`, `kNackCountTimeout`).
const REPAIRED: u32 = 3;
const ROUND_TRIP_PART: f64 = 0.9;
const ROUND_TRIP_MOST: f64 = 200.0;
const REPAIRED_FORGOTTEN: Duration = Duration::from_secs(60);
/// The frame rate is a mean of so many frames, 200 a second at most (`kMaxFramerateEstimate`).
const RATE_FRAMES: usize = 30;
const RATE_MOST: f64 = 200.0;
/// Below the first rate nothing waits for jitter, from the second on all do.
const RATE_NONE: f64 = 5.0;
const RATE_ALL: f64 = 10.0;

/// The estimator.
#[derive(Debug, Clone)]
pub struct Estimator {
    kalman: Kalman,
    /// Bytes.
    usual: f64,
    largest: f64,
    /// Bytes².
    sizes_variance: f64,
    /// Of the first frames.
    sizes: u32,
    sizes_sum: f64,
    /// Size of the frame before.
    before: Option<f64>,
    /// ms, and ms².
    noise: f64,
    noise_variance: f64,
    noise_frames: f64,
    /// Frames, up to [`STARTUP`].
    frames: u32,
    /// ms: the last estimate, and the one that was held.
    last: f64,
    held: f64,
    repaired: u32,
    repaired_at: Instant,
    rate: FrameRate,
}

impl Default for Estimator {
    fn default() -> Self {
        Estimator {
            kalman: Kalman::default(),
            usual: FIRST_SIZE,
            largest: FIRST_SIZE,
            sizes_variance: 100.0,
            sizes: 0,
            sizes_sum: 0.0,
            before: None,
            noise: 0.0,
            noise_variance: 4.0,
            noise_frames: 1.0,
            frames: 0,
            last: LEAST,
            held: 0.0,
            repaired: 0,
            repaired_at: Instant::ZERO,
            rate: FrameRate::default(),
        }
    }
}

impl Estimator {
    /// A frame of `bytes` leaves the buffer `now`; it came `later` ms later after the one before than it
    /// was made after that.
    pub fn frame(&mut self, now: Instant, later: f64, bytes: u32) {
        let bytes = f64::from(bytes);
        if bytes == 0.0 {
            return;
        }
        self.size(bytes);
        let Some(before) = self.before.replace(bytes) else {
            return;
        };
        let larger = bytes - before;
        let deviation = self.noise_variance.sqrt();
        let most = DELAY_MOST * deviation + 0.5;
        let later = later.clamp(-most, most).round();
        let unexplained = later - self.kalman.expected(larger);
        let large = bytes > self.usual + SIZE_OUTLIER * self.sizes_variance.sqrt();
        if unexplained.abs() < DELAY_OUTLIER * deviation || large {
            self.noise(now, unexplained);
            if larger > CONGESTED * self.largest {
                self.kalman
                    .update(later, larger, self.largest, self.noise_variance);
            }
        } else {
            let outlier = DELAY_OUTLIER * deviation;
            self.noise(now, outlier.copysign(unexplained));
        }
        if self.frames >= STARTUP {
            self.held = self.estimate();
        } else {
            self.frames += 1;
        }
    }

    fn size(&mut self, bytes: f64) {
        if self.sizes < FIRST_SIZES {
            self.sizes_sum += bytes;
            self.sizes += 1;
        } else if self.sizes == FIRST_SIZES {
            self.usual = self.sizes_sum / f64::from(FIRST_SIZES);
            self.sizes += 1;
        }
        let usual = USUAL * self.usual + (1.0 - USUAL) * bytes;
        // Not a key frame.
        if bytes < self.usual + 2.0 * self.sizes_variance.sqrt() {
            self.usual = usual;
        }
        let off = bytes - usual;
        self.sizes_variance = (USUAL * self.sizes_variance + (1.0 - USUAL) * off * off).max(1.0);
        self.largest = (LARGEST * self.largest).max(bytes);
    }

    /// Follows what the model does not explain, in ms. The weights are those of 30 frames a second.
    fn noise(&mut self, now: Instant, unexplained: f64) {
        self.rate.frame(now);
        let kept = (self.noise_frames - 1.0) / self.noise_frames;
        self.noise_frames = NOISE_FRAMES.min(self.noise_frames + 1.0);
        let rate = self.rate.per_second();
        let kept = if rate > 0.0 {
            let (scale, startup) = (30.0 / rate, f64::from(STARTUP));
            let part = (self.noise_frames / startup).min(1.0);
            pow(kept, part * scale + (1.0 - part))
        } else {
            kept
        };
        let off = unexplained - self.noise;
        self.noise = kept * self.noise + (1.0 - kept) * unexplained;
        self.noise_variance = (kept * self.noise_variance + (1.0 - kept) * off * off).max(1.0);
    }

    /// In ms, by the filters as they are.
    fn estimate(&mut self) -> f64 {
        let noise = NOISE_DEVIATIONS * self.noise_variance.sqrt() - NOISE_LESS;
        let found = self.kalman.by_size(self.largest - self.usual) + noise.max(1.0);
        if found >= LEAST {
            self.last = found.min(MOST);
        }
        self.last
    }

    /// A frame leaves the buffer `now` that was repaired: its delay says nothing of jitter.
    pub fn repaired(&mut self, now: Instant) {
        self.repaired = REPAIRED.min(self.repaired + 1);
        self.repaired_at = now;
    }

    /// How long frames should wait, in ms, if the round trip is `rtt`.
    pub fn wait(&mut self, now: Instant, rtt: Duration) -> f64 {
        let mut wait = self.held.max(self.estimate() + SYSTEM);
        if now.since(self.repaired_at) > REPAIRED_FORGOTTEN {
            self.repaired = 0;
        }
        if self.repaired >= REPAIRED {
            wait += ROUND_TRIP_MOST.min(ROUND_TRIP_PART * rtt.as_millis_f64());
        }
        let rate = self.rate.per_second();
        let part = (rate - RATE_NONE) / (RATE_ALL - RATE_NONE);
        match rate {
            0.0 => wait,
            _ => wait * part.clamp(0.0, 1.0),
        }
    }
}

/// The rate at which frames leave the buffer.
#[derive(Debug, Clone, Default)]
struct FrameRate {
    last: Option<Instant>,
    gaps: VecDeque<Duration>,
    sum: Duration,
}

impl FrameRate {
    fn frame(&mut self, now: Instant) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        if self.gaps.len() == RATE_FRAMES {
            let oldest = self.gaps.pop_front().unwrap_or_default();
            self.sum = self.sum.saturating_sub(oldest);
        }
        self.gaps.push_back(now.since(last));
        self.sum += now.since(last);
    }

    /// 0 if it is not known yet.
    fn per_second(&self) -> f64 {
        match self.sum {
            Duration::ZERO => 0.0,
            sum => RATE_MOST.min(self.gaps.len() as f64 / sum.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(frame: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(33 * frame)
    }

    /// The wait after frames of 5000 bytes from `first` to before `end`, with this jitter.
    fn feed(estimator: &mut Estimator, first: u64, end: u64, jitter: fn(u64) -> f64) -> f64 {
        for frame in first..end {
            estimator.frame(at(frame), jitter(frame), 5_000);
        }
        estimator.wait(at(end), RTT)
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.5, "{found}, not {expected}");
    }

    #[test]
    fn an_even_stream_waits_for_the_system_alone() {
        let mut estimator = Estimator::default();
        // 1 ms of noise at least, and 10 ms.
        near(feed(&mut estimator, 0, 300, |_| 0.0), 11.0);
    }

    #[test]
    fn noise_counts_with_its_deviation() {
        let mut estimator = Estimator::default();
        let jitter = |frame| if frame % 2 == 0 { 40.0 } else { -40.0 };
        // A deviation of 40 ms: 2.33 × 40 − 30, and 10 ms.
        let found = feed(&mut estimator, 0, 3_000, jitter);
        assert!((60.0..80.0).contains(&found), "{found}");
    }

    #[test]
    fn repaired_frames_add_a_part_of_the_round_trip() {
        let mut estimator = Estimator::default();
        feed(&mut estimator, 0, 300, |_| 0.0);
        for frame in 300..303 {
            estimator.repaired(at(frame));
        }
        near(estimator.wait(at(303), RTT), 101.0);
        near(estimator.wait(at(303), RTT * 10), 211.0);
        near(feed(&mut estimator, 304, 2_200, |_| 0.0), 11.0);
    }

    #[test]
    fn few_frames_a_second_do_not_wait() {
        let mut estimator = Estimator::default();
        for frame in 0..100 {
            estimator.frame(at(8 * frame), 0.0, 5_000);
        }
        assert_eq!(estimator.wait(at(800), RTT), 0.0);
    }
}
