//! Traces played in another way than they were recorded.

use super::Trace;
use units::{Duration, Rate};

/// The duration of a line whose time does not count (the RTC library of the Confucius paper,
/// `BandwidthTrace`).
const LINE: Duration = Duration::from_millis(200);

impl Trace {
    /// The same rates, each for 200 ms, whatever its time: as the RTC library of the Confucius
    /// paper plays recordings (decisions/0023). None if the lines are not rates: Mahimahi's format,
    /// and steps.
    pub fn by_line(&self) -> Option<Trace> {
        let starts = (0..self.rates.len() as u64).map(|line| line * LINE.as_nanos());
        let period = self.rates.len() as u64 * LINE.as_nanos();
        self.sampled
            .then(|| Trace::samples_at(starts.collect(), self.rates.clone(), period))
    }

    /// The same, so much later: it begins with its end. None if the lines are not rates.
    pub fn later(&self, late: Duration) -> Option<Trace> {
        let shift = late.as_nanos() % self.period;
        let moved = self
            .starts
            .iter()
            .map(|start| (start + shift) % self.period);
        let mut pieces: Vec<(u64, Rate)> = moved.zip(self.rates.iter().copied()).collect();
        pieces.sort_unstable_by_key(|(start, _)| *start);
        let (first, rate) = (pieces.first()?.0, pieces.last()?.1);
        if first > 0 {
            pieces.insert(0, (0, rate));
        }
        let (starts, rates) = pieces.into_iter().unzip();
        self.sampled
            .then(|| Trace::samples_at(starts, rates, self.period))
    }

    /// The rate below which it is for the share `below` of the time, from 0 to 1.
    pub fn quantile(&self, below: f64) -> Rate {
        let mut pieces: Vec<(Rate, Duration)> = self.pieces().collect();
        pieces.sort_unstable_by_key(|(rate, _)| *rate);
        let mut left = self.period as f64 * below;
        let found = pieces.iter().find(|(_, hold)| {
            left -= hold.as_nanos() as f64;
            left <= 0.0
        });
        let found = found.or(pieces.last());
        found.map(|(rate, _)| *rate).unwrap_or_default()
    }

    /// All rates `factor` times as high.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Trace {
        let scaled = |rate: &Rate| Rate::from_mbit_f64(rate.as_mbit_f64() * factor);
        let rates = self.rates.iter().map(scaled).collect();
        let scaled = Trace::new(self.starts.clone(), rates, self.period);
        Trace {
            sampled: self.sampled,
            ..scaled
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    #[test]
    fn by_line_a_dip_that_lasted_long_lasts_as_long_as_any_other() {
        let trace = Trace::parse("0 20\n0.1 1\n0.9 30\n1.1 10\n").unwrap();
        let lines = trace.by_line().unwrap();
        let rates = |trace: &Trace| -> Vec<(u64, u64)> {
            let pieces = trace.pieces();
            let whole = pieces.map(|(rate, hold)| (rate.as_bits() / 1_000_000, hold.as_millis()));
            whole.collect()
        };
        assert_eq!(rates(&trace), [(20, 100), (1, 800), (30, 200), (10, 200)]);
        assert_eq!(rates(&lines), [(20, 200), (1, 200), (30, 200), (10, 200)]);
        // 61 Mbit/s in four equal parts, where it was (2 + 0.8 + 6 + 2)/1.3.
        assert_eq!(lines.nominal().as_bits(), 15_250_000);
        assert_eq!(lines.period(), Duration::from_millis(800));
        let later = Instant::ZERO + Duration::from_millis(1_100);
        assert_eq!(lines.rate_at(later), lines.rate_at(Instant::ZERO + LINE));
        assert!(Trace::parse("1\n2\n").unwrap().by_line().is_none());
    }

    #[test]
    fn a_later_trace_begins_with_its_end() {
        let trace = Trace::parse("0 20\n0.1 1\n0.9 30\n1.1 10\n").unwrap();
        let late = trace.later(Duration::from_millis(250)).unwrap();
        for ms in 0..trace.period().as_millis() {
            let at = |ms| Instant::ZERO + Duration::from_millis(ms);
            let before = trace.period().as_millis() + ms - 250;
            assert_eq!(late.rate_at(at(ms)), trace.rate_at(at(before)), "{ms}");
        }
        assert_eq!(late.nominal(), trace.nominal());
        assert!(Trace::parse("1\n2\n").unwrap().later(LINE).is_none());
    }

    #[test]
    fn quantiles_are_of_time() {
        // 0.8 s of 1, 0.2 s of 10, 0.1 s of 20 and 0.2 s of 30 Mbit/s.
        let trace = Trace::parse("0 20\n0.1 1\n0.9 30\n1.1 10\n").unwrap();
        let at = |below| trace.quantile(below).as_bits() / 1_000_000;
        assert_eq!(
            (at(0.0), at(0.5), at(0.7), at(0.8), at(1.0)),
            (1, 1, 10, 20, 30)
        );
    }

    #[test]
    fn a_factor_is_on_every_rate() {
        let trace = Trace::parse("0 13\n1 26\n").unwrap().scaled(15.0 / 13.0);
        let rates: Vec<u64> = trace.pieces().map(|(rate, _)| rate.as_bits()).collect();
        assert_eq!(rates, [15_000_000, 30_000_000]);
        assert_eq!(trace.nominal().as_bits(), 22_500_000);
        assert!(trace.by_line().is_some(), "lines are still lines");
    }
}
