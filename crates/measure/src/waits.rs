//! Times that packets waited.

use crate::result::{PacketDelay, Sojourn};
use hdrhistogram::Histogram;
use units::Duration;

/// Longest wait that is distinguished from longer ones, microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;

/// Waits of any number of packets in bounded memory: the quantiles have three digits, mean and
/// maximum are exact.
#[derive(Debug, Clone)]
pub struct Waits {
    packets: u64,
    total: Duration,
    max: Duration,
    /// In microseconds. It grows with the longest wait, to some 90 kB.
    histogram: Histogram<u32>,
}

impl Default for Waits {
    fn default() -> Self {
        Waits {
            packets: 0,
            total: Duration::ZERO,
            max: Duration::ZERO,
            histogram: Histogram::new(3).expect("a histogram may have three significant digits"),
        }
    }
}

impl Waits {
    /// A packet waited for so long.
    pub fn record(&mut self, wait: Duration) {
        self.packets += 1;
        self.total += wait;
        self.max = self.max.max(wait);
        self.histogram
            .record(wait.as_micros().min(LONGEST))
            .expect("the histogram grows up to an hour");
    }

    /// How many packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    fn some<T>(&self, value: T) -> Option<T> {
        (self.packets > 0).then_some(value)
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        // The histogram rounds up.
        let micros = Duration::from_micros(self.histogram.value_at_quantile(q));
        self.some(micros.min(self.max).as_millis_f64())
    }

    /// Mean, 95th percentile and maximum, ms.
    pub fn sojourn(&self) -> Sojourn {
        Sojourn {
            mean: self.some(self.total.as_millis_f64() / self.packets as f64),
            p95: self.quantile(0.95),
            max: self.some(self.max.as_millis_f64()),
        }
    }

    /// Quantiles and maximum, ms.
    pub fn delay(&self) -> PacketDelay {
        PacketDelay {
            p50: self.quantile(0.50),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            max: self.some(self.max.as_millis_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_three_digits() {
        let mut waits = Waits::default();
        assert_eq!(waits.sojourn().mean, None);
        assert_eq!(waits.delay().p99, None);
        for ms in 1..=100 {
            waits.record(Duration::from_millis(ms));
        }
        let (sojourn, delay) = (waits.sojourn(), waits.delay());
        assert_eq!((sojourn.mean, sojourn.max), (Some(50.5), Some(100.0)));
        assert_eq!((delay.p95, delay.max), (sojourn.p95, sojourn.max));
        for (found, exact) in [(delay.p50, 50.0), (delay.p95, 95.0), (delay.p99, 99.0)] {
            let found = found.unwrap();
            assert!((exact..exact * 1.001).contains(&found), "{exact}: {found}");
        }
    }

    #[test]
    fn a_wait_beyond_all_reason_is_an_hour_in_quantiles() {
        let mut waits = Waits::default();
        waits.record(Duration::from_millis(1));
        waits.record(Duration::from_secs(7200));
        let delay = waits.delay();
        assert_eq!(delay.max, Some(7_200_000.0));
        let p99 = delay.p99.unwrap();
        assert!((3_600_000.0..3_604_000.0).contains(&p99), "{p99}");
    }
}
