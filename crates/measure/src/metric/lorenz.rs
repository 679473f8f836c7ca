//! `lorenz`: how evenly transfers share the waiting.

use super::declared::{Better, Metric};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::flows::Flows;
use crate::result::MeasuredValue;
use hdrhistogram::Histogram;
use scenario::Scenario;
use units::Instant;
use workload::Event as Application;

/// `lorenz` for the registry.
pub const LORENZ: Metric = Metric {
    name: "lorenz",
    unit: "%",
    summary: "Lorenz curve of transfers' completion times",
    about: "The share of all completion time that the quickest transfers take together, over the \
        share of transfers that they are; where all took equally long it is the diagonal. Completion \
        times have three digits. A scenario has to ask for it: metrics = [\"lorenz\"].",
    source: "M. O. Lorenz 1905; the thesis on age-based scheduling with AQM, figures 8 and 9",
    better: Better::Neither,
    column: None,
    meter: Some(|scenario| Box::new(Lorenz::new(scenario))),
    take: |observed, of| found(observed, "lorenz", of),
};

struct Lorenz {
    from: Instant,
    open: Flows<Instant>,
    /// Completion times in microseconds.
    times: Histogram<u64>,
}

impl Lorenz {
    fn new(scenario: &Scenario) -> Self {
        Lorenz {
            from: Instant::ZERO + scenario.warmup,
            open: Flows::default(),
            times: Histogram::new(3).expect("a histogram may have three significant digits"),
        }
    }
}

impl Sink for Lorenz {
    fn event(&mut self, now: Instant, event: Event) {
        match event {
            Event::Traffic(Application::FlowStarted { flow, .. }) => self.open.insert(flow, now),
            Event::Traffic(Application::FlowEnded { flow }) => {
                self.open.remove(flow);
            }
            Event::Traffic(Application::FlowDone { flow }) => {
                let began = self.open.remove(flow);
                if let Some(began) = began.filter(|began| *began >= self.from) {
                    // A transfer of days is more than a run can have.
                    self.times.saturating_record(now.since(began).as_micros());
                }
            }
            _ => {}
        }
    }
}

impl Meter for Lorenz {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let steps = || {
            let recorded = self.times.iter_recorded();
            recorded.map(|step| (step.count_at_value(), step.value_iterated_to() as f64))
        };
        let all = self.times.len() as f64;
        let total: f64 = steps().map(|(count, time)| count as f64 * time).sum();
        let (mut count, mut sum) = (0.0, 0.0);
        let points = steps().map(|(more, time)| {
            count += more as f64;
            sum += more as f64 * time;
            MeasuredValue {
                of: String::new(),
                at: Some(100.0 * count / all),
                value: 100.0 * sum / total.max(f64::MIN_POSITIVE),
            }
        });
        points.collect()
    }
}
