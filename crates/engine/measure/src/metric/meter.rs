//! Metrics that follow a run's events themselves.

use super::observed::Observed;
use crate::event::Sink;
use crate::result::MeasuredValue;
use scenario::Scenario;

/// A tap of a metric's own, for a figure that the results do not hold.
pub trait Meter: Sink {
    /// Its result, once the run is over: a value, or a curve of them.
    fn finish(&mut self) -> Vec<MeasuredValue>;
}

/// Makes the meter for a run of a scenario.
pub type MakeMeter = fn(&Scenario) -> Box<dyn Meter>;

/// The result of the meter of the metric `name` in a run, of all or of the entry called `of`.
pub fn found(observed: &Observed<'_>, name: &str, of: &str) -> Vec<f64> {
    let values = observed.run.measured.get(name).into_iter().flatten();
    let values = values.filter(|value| of.is_empty() || value.of == of);
    values.map(|value| value.value).collect()
}
