//! Any number of values in bounded memory.

use hdrhistogram::Histogram;

/// Largest value whose thousandth is distinguished from others: an hour in milliseconds.
const MOST: u64 = 3_600_000_000;

/// Values that are not negative: quantiles have three digits, number, mean and maximum are exact.
#[derive(Debug, Clone)]
pub struct Samples {
    count: u64,
    total: f64,
    /// Mean so far, and the sum of squared distances from it.
    spread: (f64, f64),
    max: f64,
    /// In thousandths of the values' unit. It grows with the largest value, to some 90 kB.
    histogram: Histogram<u32>,
}

impl Default for Samples {
    fn default() -> Self {
        Samples {
            count: 0,
            total: 0.0,
            spread: (0.0, 0.0),
            max: 0.0,
            histogram: Histogram::new(3).expect("a histogram may have three significant digits"),
        }
    }
}

impl Samples {
    /// Takes in a value; one that is below zero, or no number, counts as zero.
    pub fn record(&mut self, value: f64) {
        let value = value.max(0.0);
        self.count += 1;
        self.total += value;
        self.spread(value);
        self.max = self.max.max(value);
        // A conversion from a float keeps within bounds.
        let thousandths = ((value * 1000.0) as u64).min(MOST);
        self.histogram
            .record(thousandths)
            .expect("the histogram grows up to its largest value");
    }

    /// B. P. Welford, Technometrics 4, 1962: without the difference of two large sums.
    fn spread(&mut self, value: f64) {
        let (mean, squares) = &mut self.spread;
        let off = value - *mean;
        *mean += off / self.count as f64;
        *squares += off * (value - *mean);
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn some<T>(&self, value: T) -> Option<T> {
        (self.count > 0).then_some(value)
    }

    /// Their mean; none of none.
    pub fn mean(&self) -> Option<f64> {
        self.some(self.total / self.count as f64)
    }

    /// The standard error of the mean, as if values were independent; none of fewer than two.
    pub fn error(&self) -> Option<f64> {
        let n = self.count as f64;
        let (_, squares) = self.spread;
        (self.count > 1).then(|| (squares / (n - 1.0) / n).sqrt())
    }

    /// The largest.
    pub fn max(&self) -> Option<f64> {
        self.some(self.max)
    }

    /// The value that the share `q` of them does not exceed, to three digits.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        // The histogram rounds up.
        let thousandths = self.histogram.value_at_quantile(q);
        self.some((thousandths as f64 / 1000.0).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_largest_are_exact_and_quantiles_have_three_digits() {
        let mut samples = Samples::default();
        assert_eq!((samples.mean(), samples.quantile(0.5)), (None, None));
        for value in 1..=1000 {
            samples.record(f64::from(value) / 8.0);
        }
        samples.record(f64::NAN);
        samples.record(-1.0);
        assert_eq!((samples.count(), samples.max()), (1002, Some(125.0)));
        assert_eq!(samples.mean(), Some(500_500.0 / 8.0 / 1002.0));
        let p95 = samples.quantile(0.95).unwrap();
        assert!((118.7..119.0).contains(&p95), "{p95}");
    }

    #[test]
    fn the_standard_error_is_that_of_the_formula() {
        let mut samples = Samples::default();
        samples.record(2.0);
        assert_eq!(samples.error(), None);
        for value in [4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            samples.record(value);
        }
        // Mean 5; squares of the distances add up to 32, over 7 and 8.
        let error = samples.error().unwrap();
        assert!((error - (32.0_f64 / 56.0).sqrt()).abs() < 1e-12, "{error}");
    }
}
