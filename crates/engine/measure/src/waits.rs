//! Times that packets waited.

use crate::result::{PacketDelay, Sojourn};
use hdrhistogram::Histogram;
use units::Duration;

/// Longest wait that is distinguished from longer ones, microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;

/// Waits of any number of packets in bounded memory: the quantiles have three digits, mean and
/// maximum are exact.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    packets: u64,
    total: Duration,
    max: Duration,
    counts: DigitCounts,
}

/// How many waits had the same first three digits, in microseconds. The classes are those of an
/// [`Histogram`], which takes four times as long to count one; it is filled at the end. They grow
/// with the longest wait, to some 90 kB.
#[derive(Debug, Clone, Default)]
struct DigitCounts(Vec<u32>);

/// Binary digits that are kept of a number of microseconds: three decimal ones.
const DIGITS: u32 = 11;

impl DigitCounts {
    fn record(&mut self, micros: u64) {
        let dropped = (u64::BITS - micros.leading_zeros()).saturating_sub(DIGITS);
        let class = (dropped << (DIGITS - 1)) as usize + (micros >> dropped) as usize;
        match self.0.get_mut(class) {
            Some(count) => *count += 1,
            None => self.first_of(class),
        }
    }

    #[cold]
    fn first_of(&mut self, class: usize) {
        self.0.resize(class + 1, 0);
        self.0[class] = 1;
    }

    /// The least number of microseconds in a class.
    fn least_in(class: usize) -> u64 {
        let half = 1 << (DIGITS - 1);
        let dropped = (class / half).saturating_sub(1);
        ((class - dropped * half) as u64) << dropped
    }

    fn histogram(&self) -> Histogram<u32> {
        let mut histogram = Histogram::new(3).expect("three significant digits");
        for (class, &count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram
                .record_n(Self::least_in(class), count)
                .expect("the histogram grows up to an hour");
        }
        histogram
    }
}

impl Waits {
    /// A packet waited for so long.
    pub fn record(&mut self, wait: Duration) {
        self.packets += 1;
        self.total += wait;
        self.max = self.max.max(wait);
        self.counts.record(wait.as_micros().min(LONGEST));
    }

    /// How many packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    fn some<T>(&self, value: T) -> Option<T> {
        (self.packets > 0).then_some(value)
    }

    fn quantile(&self, histogram: &Histogram<u32>, q: f64) -> Option<f64> {
        // The histogram rounds up.
        let micros = Duration::from_micros(histogram.value_at_quantile(q));
        self.some(micros.min(self.max).as_millis_f64())
    }

    /// Mean, 95th percentile and maximum, ms.
    pub fn sojourn(&self) -> Sojourn {
        Sojourn {
            mean: self.some(self.total.as_millis_f64() / self.packets as f64),
            p95: self.quantile(&self.counts.histogram(), 0.95),
            max: self.some(self.max.as_millis_f64()),
        }
    }

    /// Quantiles and maximum, ms.
    pub fn delay(&self) -> PacketDelay {
        let histogram = self.counts.histogram();
        PacketDelay {
            p50: self.quantile(&histogram, 0.50),
            p95: self.quantile(&histogram, 0.95),
            p99: self.quantile(&histogram, 0.99),
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

    /// The classes are those of the library's histogram: it cannot tell one that was filled from
    /// them from one that counted the values themselves.
    #[test]
    fn counts_have_the_classes_of_a_histogram() {
        let mut counts = DigitCounts::default();
        let mut direct = Histogram::<u32>::new(3).unwrap();
        let around = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + 1];
        for micros in (0..5000).chain((11..32).flat_map(around)).chain([LONGEST]) {
            counts.record(micros);
            direct.record(micros).unwrap();
        }
        let filled = counts.histogram();
        for percent in 0..=1000 {
            let q = f64::from(percent) / 1000.0;
            assert_eq!(
                filled.value_at_quantile(q),
                direct.value_at_quantile(q),
                "{q}"
            );
        }
    }
}
