//! `fct_by_size`: how long transfers take, by how much they carry.

use super::declared::{Better, Metric};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::flows::Flows;
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::Instant;
use workload::Event as Application;

/// `fct_by_size` for the registry.
pub const FCT_BY_SIZE: Metric = Metric {
    name: "fct_by_size",
    unit: "ms",
    summary: "mean completion time of transfers, by size",
    about: "Transfers that began in the measured time and were complete, in classes of size whose \
        bounds are powers of two. The value is the class's mean; the place on the axis is its \
        lower bound in bytes. A scenario has to ask for it: metrics = [\"fct_by_size\"].",
    source: "the thesis on age-based scheduling with AQM, figures 5 and 6",
    better: Better::Less,
    column: None,
    meter: Some(|scenario| Box::new(FctBySize::new(scenario))),
    take: |observed, of| found(observed, "fct_by_size", of),
};

struct FctBySize {
    from: Instant,
    /// Start and bytes of the flows that are open.
    open: Flows<(Instant, u64)>,
    /// Transfers and their summed time in ms, by the power of two.
    classes: BTreeMap<u32, (u64, f64)>,
}

impl FctBySize {
    fn new(scenario: &Scenario) -> Self {
        FctBySize {
            from: Instant::ZERO + scenario.warmup,
            open: Flows::default(),
            classes: BTreeMap::new(),
        }
    }
}

impl Sink for FctBySize {
    fn event(&mut self, now: Instant, event: Event) {
        let Event::Traffic(event) = event else {
            return;
        };
        match event {
            Application::FlowStarted { flow, .. } => self.open.insert(flow, (now, 0)),
            Application::Delivered { flow, bytes } => {
                if let Some((_, sum)) = self.open.get_mut(flow) {
                    *sum += bytes;
                }
            }
            Application::FlowDone { flow } => {
                let done = self.open.remove(flow);
                if let Some((began, bytes)) = done.filter(|(began, _)| *began >= self.from) {
                    let class = self.classes.entry(bytes.max(1).ilog2()).or_default();
                    class.0 += 1;
                    class.1 += now.since(began).as_millis_f64();
                }
            }
            Application::FlowEnded { flow } => {
                self.open.remove(flow);
            }
            _ => {}
        }
    }
}

impl Meter for FctBySize {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let classes = self.classes.iter();
        let value = |(power, (count, sum)): (&u32, &(u64, f64))| MeasuredValue {
            of: String::new(),
            at: Some((1u64 << power) as f64),
            value: sum / *count as f64,
        };
        classes.map(value).collect()
    }
}
