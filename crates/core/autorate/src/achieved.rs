//! The rate at which packets passed of late.

use units::{Duration, Instant, Rate};

/// Bytes by spans of time: a ring over the last `SPANS` of them.
#[derive(Debug, Clone)]
pub struct Achieved {
    /// How long a span is.
    span: Duration,
    bytes: [u64; SPANS],
    /// The number of the newest span, counted from the start.
    newest: u64,
}

/// A mean over half of them is never older than the whole.
const SPANS: usize = 16;

impl Achieved {
    /// Nothing passed so far. [`rate`](Self::rate) is a mean over `window` and at most a sixteenth
    /// more.
    pub fn new(window: Duration) -> Self {
        Achieved {
            span: window.scale(1, SPANS as u64),
            bytes: [0; SPANS],
            newest: 0,
        }
    }

    fn advance(&mut self, now: Instant) {
        let newest = now.as_nanos() / self.span.as_nanos();
        let passed = newest.saturating_sub(self.newest).min(SPANS as u64);
        for number in 0..passed {
            self.bytes[((newest - number) % SPANS as u64) as usize] = 0;
        }
        self.newest = self.newest.max(newest);
    }

    /// A packet passed.
    pub fn passed(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.bytes[(self.newest % SPANS as u64) as usize] += u64::from(bytes);
    }

    /// The rate over the window.
    pub fn rate(&mut self, now: Instant) -> Rate {
        self.advance(now);
        let begun = Duration::from_nanos(now.as_nanos() % self.span.as_nanos());
        let over = self.span * (SPANS as u64 - 1) + begun;
        Rate::from_bytes_over(self.bytes.iter().sum(), over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_found_and_silence_forgets_it() {
        let mut achieved = Achieved::new(Duration::from_millis(200));
        let mut now = Instant::ZERO;
        for _ in 0..1000 {
            now += Duration::from_millis(1);
            achieved.passed(now, 1250);
        }
        let rate = achieved.rate(now).as_mbit_f64();
        assert!((rate / 10.0 - 1.0).abs() < 0.02, "{rate}");
        assert_eq!(
            achieved.rate(now + Duration::from_millis(250)),
            Rate::from_bits(0)
        );
        assert_eq!(
            achieved.rate(now + Duration::from_secs(3600)),
            Rate::from_bits(0)
        );
    }
}
