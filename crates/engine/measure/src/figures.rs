//! Observations of workloads: the figures that they declare.

use crate::result::FigureResult;
use crate::samples::Samples;
use scenario::{Scenario, Traffic};
use workload::{Figure, Kept, TrafficId};

/// The values of each figure of each traffic entry.
#[derive(Debug)]
pub struct Figures(Vec<Vec<Value>>);

#[derive(Debug)]
enum Value {
    Samples(Box<Samples>),
    Sum(f64, u64),
    Derived,
}

impl Figures {
    /// No observations.
    pub fn new(scenario: &Scenario) -> Self {
        let value = |figure: &Figure| match figure.kept {
            Kept::Samples => Value::Samples(Box::default()),
            Kept::Sum => Value::Sum(0.0, 0),
            Kept::Missing(..) => Value::Derived,
        };
        let entry = |entry: &Traffic| entry.kind.entry.figures.iter().map(value).collect();
        Figures(scenario.traffic.iter().map(entry).collect())
    }

    /// A value of a figure; one that is not declared is passed over.
    pub fn observed(&mut self, traffic: TrafficId, figure: u8, value: f64) {
        let of = self.0.get_mut(usize::from(traffic.0));
        match of.and_then(|figures| figures.get_mut(usize::from(figure))) {
            Some(Value::Samples(samples)) => samples.record(value),
            Some(Value::Sum(sum, count)) => {
                *sum += value;
                *count += 1;
            }
            Some(Value::Derived) | None => {}
        }
    }

    /// A row for each figure of each entry.
    pub fn results(&self, scenario: &Scenario) -> Vec<FigureResult> {
        let entries = scenario.traffic.iter().zip(&self.0);
        let rows = entries.flat_map(|(entry, values)| {
            let declared = entry.kind.entry.figures.iter().zip(values);
            declared.map(|(figure, value)| row(entry, figure, value, values))
        });
        rows.collect()
    }
}

fn row(entry: &Traffic, figure: &Figure, value: &Value, all: &[Value]) -> FigureResult {
    let mut row = FigureResult {
        name: entry.name.clone(),
        figure: format!("{}_{}", entry.kind.name(), figure.name),
        unit: figure.unit.to_owned(),
        ..FigureResult::default()
    };
    match value {
        Value::Samples(samples) => {
            row.count = samples.count();
            row.value = samples.mean();
            row.error = samples.error();
            row.p50 = samples.quantile(0.50);
            row.p95 = samples.quantile(0.95);
            row.p99 = samples.quantile(0.99);
            row.max = samples.max();
        }
        Value::Sum(sum, count) => (row.count, row.value) = (*count, Some(*sum)),
        Value::Derived => {
            let Kept::Missing(whole, part) = figure.kept else {
                return row;
            };
            let sum = |place: u8| match all.get(usize::from(place)) {
                Some(Value::Sum(sum, _)) => *sum,
                _ => 0.0,
            };
            let (whole, part) = (sum(whole), sum(part));
            row.count = whole as u64;
            row.value = (whole > 0.0).then(|| 100.0 * (whole - part) / whole);
        }
    }
    row
}
