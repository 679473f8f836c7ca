//! One run, measured.

use crate::collect::Collector;
use crate::engine::{Engine, EngineError};
use crate::event::{Event, Sink};
use crate::metric::Meter;
use crate::result::RunResult;
use crate::why::Explainer;
use scenario::{Choice, Scenario};
use units::Instant;

/// The data of a run to keep in addition to its result.
pub struct Taps<'a> {
    /// Whether the data for plots of the run is kept, and the reasons why its calls stall.
    pub series: bool,
    /// Another receiver of all events.
    pub tap: Option<&'a mut dyn Sink>,
}

/// Runs `scenario` on `engine` and measures it. With `series`, the data for plots is kept, and
/// the reasons why its calls stall.
///
/// # Errors
/// The errors of [`Engine::run`].
pub fn run(
    engine: &dyn Engine,
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
    series: bool,
) -> Result<RunResult, EngineError> {
    let taps = Taps { series, tap: None };
    tapped(engine, scenario, discipline, seed, taps)
}

/// The same, with a tap of one's own.
///
/// # Errors
/// The errors of [`Engine::run`].
pub fn tapped(
    engine: &dyn Engine,
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
    taps: Taps<'_>,
) -> Result<RunResult, EngineError> {
    let metrics = engine.metrics();
    let asked = scenario.metrics.iter();
    let asked = asked.filter_map(|name| metrics.get(name));
    let meters = asked.filter_map(|metric| {
        let meter = metric.meter?(scenario);
        Some(Metered {
            name: metric.name,
            wants_packets: meter.wants_packets(),
            meter,
        })
    });
    let mut meters = Meters(meters.collect());
    let mut collector = Collector::new(scenario, taps.series);
    let mut explainer = taps.series.then(|| Explainer::new(scenario)).flatten();
    // Most runs have one listener, which is then called without a detour.
    let links = match (meters.0.is_empty() && explainer.is_none(), taps.tap) {
        (true, None) => engine.run(scenario, discipline, seed, &mut collector)?,
        (_, tap) => {
            let mut all = (&mut collector, (&mut meters, (&mut explainer, tap)));
            engine.run(scenario, discipline, seed, &mut all)?
        }
    };
    let mut result = collector.finish(discipline, seed, &links);
    if let Some(explainer) = explainer {
        explainer.explain(&mut result, &links);
    }
    for mut metered in meters.0 {
        let values = metered.meter.finish();
        result.measured.insert(metered.name.to_owned(), values);
    }
    Ok(result)
}

/// A meter, with the name of its metric.
struct Metered {
    name: &'static str,
    wants_packets: bool,
    meter: Box<dyn Meter>,
}

struct Meters(Vec<Metered>);

impl Sink for Meters {
    fn event(&mut self, now: Instant, event: &Event) {
        let of_packet = event.is_of_packet();
        for metered in &mut self.0 {
            if metered.wants_packets || !of_packet {
                metered.meter.event(now, event);
            }
        }
    }

    fn wants_ends(&self) -> bool {
        self.0.iter().any(|metered| metered.meter.wants_ends())
    }
}
