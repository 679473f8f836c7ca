//! `lorenz` and its gap: how evenly transfers share the network.

use super::declared::{Better, Metric};
use super::finished::{Finished, UnderWay};
use super::meter::{Meter, found};
use super::observed::Observed;
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use hdrhistogram::Histogram;
use units::Instant;

/// The curve, for the registry.
pub const LORENZ: Metric = Metric {
    name: NAME,
    unit: "%",
    summary: "Lorenz curve of transfers' mean throughput",
    about: "The slowest transfers' share of the sum of all throughputs, over their share of all \
        transfers; the curve is the diagonal if all transfers are equally fast. A transfer's \
        throughput is the bytes that it carried over its completion time, to three digits. A \
        scenario has to ask for it: metrics = [\"lorenz\"].",
    source: "M. O. Lorenz 1905; the thesis on age-based scheduling with AQM, figure 7",
    better: Better::Neither,
    column: None,
    meter: Some(|scenario| Box::new(Lorenz::new(Instant::ZERO + scenario.warmup))),
    take: |observed, of| found(observed, NAME, of),
};

/// The gap, for the registry.
pub const LORENZ_GAP: Metric = Metric {
    name: "lorenz_gap",
    unit: "",
    summary: "greatest distance of the Lorenz curve of transfers' throughput from the diagonal",
    about: "0 where all transfers are equally fast, nearly 1 where a few have everything: the distance \
        over its greatest possible value. A scenario has to ask for `lorenz`.",
    source: "the thesis on age-based scheduling with AQM, section 6.3, figures 8 and 9",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, _| gap(observed).into_iter().collect(),
};

const NAME: &str = "lorenz";
/// Greatest throughput that is distinguished from others, in kbit/s: 1 Tbit/s.
const MOST: u64 = 1_000_000_000;

/// The distance from the diagonal is (p − L)/√2, and that of a corner of the square 1/√2.
fn gap(observed: &Observed<'_>) -> Option<f64> {
    let curve = observed.run.measured.get(NAME)?.iter();
    let distances = curve.filter_map(|point| Some((point.at? - point.value) / 100.0));
    distances.reduce(f64::max)
}

struct Lorenz {
    under_way: UnderWay,
    /// Throughputs in kbit/s.
    rates: Histogram<u64>,
}

impl Lorenz {
    fn new(from: Instant) -> Self {
        Lorenz {
            under_way: UnderWay::new(from),
            rates: Histogram::new(3).expect("a histogram may have three significant digits"),
        }
    }

    fn record(&mut self, done: Finished) {
        let seconds = done.took.as_secs_f64().max(f64::MIN_POSITIVE);
        // A conversion from a float keeps within bounds.
        let rate = (done.bytes as f64 * 8e-3 / seconds) as u64;
        self.rates
            .record(rate.min(MOST))
            .expect("the histogram grows up to its largest value");
    }
}

impl Sink for Lorenz {
    fn event(&mut self, now: Instant, event: Event) {
        if let Some(done) = self.under_way.event(now, event) {
            self.record(done);
        }
    }
}

impl Meter for Lorenz {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let steps = || {
            let recorded = self.rates.iter_recorded();
            recorded.map(|step| (step.count_at_value(), step.value_iterated_to() as f64))
        };
        let all = self.rates.len() as f64;
        let total: f64 = steps().map(|(count, rate)| count as f64 * rate).sum();
        let (mut count, mut sum) = (0.0, 0.0);
        let points = steps().map(|(more, rate)| {
            count += more as f64;
            sum += more as f64 * rate;
            MeasuredValue {
                of: String::new(),
                at: Some(100.0 * count / all),
                value: 100.0 * sum / total.max(f64::MIN_POSITIVE),
            }
        });
        points.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;
    use units::Duration;

    /// The curve and its gap for transfers of 1 MB that take so many milliseconds.
    fn curve(times: &[u64]) -> (Vec<(f64, f64)>, f64) {
        let mut lorenz = Lorenz::new(Instant::ZERO);
        for ms in times {
            let took = Duration::from_millis(*ms);
            lorenz.record(Finished {
                bytes: 1_000_000,
                took,
            });
        }
        let points = lorenz.finish();
        let place = |point: &MeasuredValue| (point.at.unwrap(), point.value);
        let curve = points.iter().map(place).collect();
        let mut run = RunResult::default();
        run.measured.insert(NAME.to_owned(), points);
        let observed = Observed {
            run: &run,
            control: None,
        };
        (curve, gap(&observed).unwrap())
    }

    #[test]
    fn one_of_four_is_nine_times_as_fast() {
        // 8 Mbit/s, and one of 72: the three slow ones have a quarter.
        let (curve, gap) = curve(&[1000, 1000, 1000, 111]);
        let (three, all) = (curve[0], curve[1]);
        assert_eq!((three.0, all), (75.0, (100.0, 100.0)));
        assert!((three.1 - 25.0).abs() < 0.1, "{}", three.1);
        assert!((gap - 0.5).abs() < 0.001, "{gap}");
    }

    #[test]
    fn equally_fast_ones_have_no_gap() {
        assert_eq!(curve(&[500, 500]), (vec![(100.0, 100.0)], 0.0));
    }
}
