//! `fct_by_size`: how long transfers take, by how much they carry.

use super::declared::{Better, Metric, Range};
use super::finished::UnderWay;
use super::meter::Meter;
use super::observed::Observed;
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use std::collections::BTreeMap;
use units::{Bytes, Instant};

/// `fct_by_size` for the registry.
pub const FCT_BY_SIZE: Metric = Metric {
    name: NAME,
    unit: "ms",
    range: Range::Positive,
    summary: "mean completion time of transfers, by size",
    about: "Transfers that began in the measured time and were complete, in ten classes of size for \
            each decade, from the preferred numbers R10: 1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3 and 8. \
            The value is the class's mean; the place on the axis is its lower bound in bytes. \
            `fct_by_size:800kB` is that of transfers of 800 kB to 1 MB. A scenario has to ask for it: \
            metrics = [\"fct_by_size\"].",
    source: "the thesis on age-based scheduling with AQM, figures 5 and 6; ISO 3",
    better: Better::Less,
    column: None,
    meter: Some(|scenario| Box::new(FctBySize::new(Instant::ZERO + scenario.warmup))),
    take,
};

const NAME: &str = "fct_by_size";
/// Hundredths of the power of ten at which the classes of a decade begin.
const STEPS: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];

fn take(observed: &Observed<'_>, of: &str) -> Vec<f64> {
    let wanted: Option<Bytes> = of.parse().ok();
    let all = observed.run.measured.get(NAME).into_iter().flatten();
    let here = all.filter(|value| {
        let bound = wanted.map(|bytes| bytes.get() as f64);
        of.is_empty() || bound.is_some() && bound == value.at
    });
    here.map(|value| value.value).collect()
}

/// The lower bound of the class that a transfer of so many bytes belongs to.
fn class(bytes: u64) -> u64 {
    let unit = 10u64.pow(bytes.max(1).ilog10());
    // Below 100 bytes bounds are no whole numbers, and are rounded down.
    let bounds = STEPS.map(|step| u128::from(step) * u128::from(unit) / 100);
    let below = bounds.partition_point(|bound| *bound <= u128::from(bytes));
    below.checked_sub(1).map_or(0, |place| bounds[place] as u64)
}

struct FctBySize {
    under_way: UnderWay,
    /// Transfers and their summed time in ms, by the lower bound of their class.
    classes: BTreeMap<u64, (u64, f64)>,
}

impl FctBySize {
    fn new(from: Instant) -> Self {
        FctBySize {
            under_way: UnderWay::new(from),
            classes: BTreeMap::new(),
        }
    }
}

impl Sink for FctBySize {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Some(done) = self.under_way.event(now, event) {
            let class = self.classes.entry(class(done.bytes)).or_default();
            class.0 += 1;
            class.1 += done.took.as_millis_f64();
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for FctBySize {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let classes = self.classes.iter();
        let value = |(bound, (count, sum)): (&u64, &(u64, f64))| MeasuredValue {
            of: String::new(),
            at: Some(*bound as f64),
            value: sum / *count as f64,
        };
        classes.map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::RunResult;

    #[test]
    fn a_transfer_belongs_to_the_class_that_begins_below_it() {
        let of = |bytes| class(bytes);
        assert_eq!((of(307_200), of(799_999)), (250_000, 630_000));
        assert_eq!((of(800_000), of(6_331_208)), (800_000, 6_300_000));
        assert_eq!((of(1_000_000), of(999_999)), (1_000_000, 800_000));
        assert_eq!(
            (of(0), of(1), of(9), of(u64::MAX)),
            (0, 1, 8, 16 * 10u64.pow(18))
        );
    }

    #[test]
    fn a_class_is_selected_by_its_lower_bound() {
        let value = |at, value| MeasuredValue {
            of: String::new(),
            at: Some(at),
            value,
        };
        let mut run = RunResult::default();
        let classes = vec![value(630_000.0, 20.0), value(800_000.0, 30.0)];
        run.measured.insert(NAME.to_owned(), classes);
        let run = Observed {
            run: &run,
            control: None,
        };
        assert_eq!(take(&run, ""), [20.0, 30.0]);
        assert_eq!(take(&run, "800kB"), [30.0]);
        assert_eq!(take(&run, "1MB"), [] as [f64; 0]);
        assert_eq!(take(&run, "small"), [] as [f64; 0]);
    }
}
