//! NetEq's histogram of delays, which forgets (libwebrtc `Histogram`).

use units::Duration;

/// `kBucketSizeMs` and `kDelayBuckets`.
pub const BUCKET: Duration = Duration::from_millis(20);
const BUCKETS: usize = 100;
/// `start_forget_weight`.
const START_WEIGHT: f64 = 2.0;

/// The bucket of a delay, unless it is too long for all.
pub fn bucket(delay: Duration) -> Option<usize> {
    let place = (delay.as_nanos() / BUCKET.as_nanos()) as usize;
    (place < BUCKETS).then_some(place)
}

/// The share of the samples in each bucket; newer ones weigh more.
#[derive(Debug)]
pub struct Histogram {
    forget: f64,
    shares: Vec<f64>,
    samples: u32,
}

impl Histogram {
    /// No sample; each new one makes the others weigh `forget` times as much.
    pub fn new(forget: f64) -> Self {
        Histogram {
            forget,
            shares: vec![0.0; BUCKETS],
            samples: 0,
        }
    }

    /// One that had so many samples, all in the first bucket.
    pub fn of_first(forget: f64, samples: u32) -> Self {
        let mut histogram = Histogram::new(forget);
        histogram.shares[0] = f64::from(samples.min(1));
        histogram.samples = samples;
        histogram
    }

    /// A sample in a bucket.
    pub fn add(&mut self, place: usize) {
        let start = 1.0 - START_WEIGHT / f64::from(self.samples + 1);
        let forget = start.clamp(0.0, self.forget);
        for share in &mut self.shares {
            *share *= forget;
        }
        self.shares[place] += 1.0 - forget;
        self.samples += 1;
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// By bucket.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// How many samples there were.
    #[cfg(test)]
    pub fn samples(&self) -> u32 {
        self.samples
    }
}
