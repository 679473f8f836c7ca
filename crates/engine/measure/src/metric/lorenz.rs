//! `lorenz` and its gap: how evenly transfers share the network.

use super::declared::{Better, Metric, Range};
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
    range: Range::PERCENT,
    summary: "Lorenz curve of transfers' mean throughput",
    about: "The slowest transfers' share of the sum of all throughputs, over their share of all \
        transfers; the curve is the diagonal if all transfers are equally fast. A transfer's \
        throughput is the bytes that it carried over its completion time, to three digits. \
        `lorenz:50` is what the slower half has. A scenario has to ask for it: metrics = \
        [\"lorenz\"].",
    source: "M. O. Lorenz 1905; the thesis on age-based scheduling with AQM, figure 7",
    better: Better::Neither,
    column: None,
    meter: Some(|scenario| Box::new(Lorenz::new(Instant::ZERO + scenario.warmup))),
    take: |observed, of| match of.parse() {
        Ok(share) => at(observed, share).into_iter().collect(),
        Err(_) => found(observed, NAME, of),
    },
};

/// The gap, for the registry.
pub const LORENZ_GAP: Metric = Metric {
    name: "lorenz_gap",
    unit: "",
    range: Range::Within(0.0, 1.0),
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

/// The curve at so many percent of the transfers, on the line between the two points beside it.
fn at(observed: &Observed<'_>, share: f64) -> Option<f64> {
    let curve = observed.run.measured.get(NAME)?.iter();
    let points = curve.filter_map(|point| Some((point.at?, point.value)));
    let mut before = (0.0, 0.0);
    for after in points {
        if share <= after.0 {
            let part = (share - before.0) / (after.0 - before.0);
            return (share >= 0.0).then_some(before.1 + part * (after.1 - before.1));
        }
        before = after;
    }
    None
}

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
    fn event(&mut self, now: Instant, event: &Event) {
        if let Some(done) = self.under_way.event(now, event) {
            self.record(done);
        }
    }

    fn wants_packets(&self) -> bool {
        false
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

    /// A run in which transfers of 1 MB take so many milliseconds.
    fn run(times: &[u64]) -> RunResult {
        let mut lorenz = Lorenz::new(Instant::ZERO);
        for ms in times {
            let took = Duration::from_millis(*ms);
            lorenz.record(Finished {
                bytes: 1_000_000,
                took,
            });
        }
        let mut run = RunResult::default();
        run.measured.insert(NAME.to_owned(), lorenz.finish());
        run
    }

    fn observed(run: &RunResult) -> Observed<'_> {
        Observed { run, control: None }
    }

    /// Their curve and its gap.
    fn curve(times: &[u64]) -> (Vec<(f64, f64)>, f64) {
        let run = run(times);
        let place = |point: &MeasuredValue| (point.at.unwrap(), point.value);
        let curve = run.measured[NAME].iter().map(place).collect();
        (curve, gap(&observed(&run)).unwrap())
    }

    /// A quarter at 75 %: a twelfth at 25, and five eighths halfway between the last two points.
    #[test]
    fn the_curve_between_its_points() {
        let run = run(&[1000, 1000, 1000, 111]);
        let of = |of: &str| (LORENZ.take)(&observed(&run), of);
        for (share, value) in [
            ("0", 0.0),
            ("25", 8.33),
            ("75", 25.0),
            ("87.5", 62.5),
            ("100", 100.0),
        ] {
            let found = of(share);
            assert!(
                (found[0] - value).abs() < 0.1 && found.len() == 1,
                "{share}: {found:?}"
            );
        }
        for share in ["-1", "101"] {
            assert!(of(share).is_empty(), "{share}");
        }
        assert_eq!(of("").len(), 2);
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
