//! The figures compared: those of each flow, and of the link.

use measure::metric::{Observed, Registry};
use measure::{RunResult, flow_name};
use scenario::{Scenario, Traffic};
use units::Duration;
use workload::Rows;

/// Tolerance of a figure: a share of the witness's, or a distance if that is larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub share: f64,
    pub distance: f64,
}

const fn within(share: f64) -> Near {
    Near {
        share,
        distance: 0.0,
    }
}

/// Stall comes in steps of a frame's time, so a tenth of a second is no difference.
const STALL: Near = Near {
    share: 0.15,
    distance: 0.1,
};

const OF_LINK: &[(&str, Near)] = &[("utilization", within(0.03)), ("sojourn", within(0.15))];
const OF_CALL: &[(&str, Near)] = &[
    ("call_rate", within(0.1)),
    ("call_delay", within(0.15)),
    ("stall", STALL),
];
const OF_TRANSFER: &[(&str, Near)] = &[("flow_rate", within(0.1)), ("flow_delay", within(0.15))];
const OF_LOAD: &[(&str, Near)] = &[("plt", within(0.15))];

/// Which flow a figure is of.
#[derive(Debug, Clone, PartialEq)]
enum FigureFlow {
    Link,
    /// The one of this name.
    Flow(String),
    /// Of these, the one with the so many smallest value, from 0.
    Rank(Vec<String>, usize),
    /// The load of the page of this name and number, in a run as long as this.
    Load(String, u32, Duration),
}

/// A figure of one flow, or of the link.
#[derive(Debug, Clone)]
pub(super) struct AgreementFigure {
    /// Of which flow, in words.
    pub of: String,
    /// The kind of its traffic; none of the link.
    pub kind: Option<&'static str>,
    pub metric: &'static str,
    pub unit: &'static str,
    pub near: Near,
    place: FigureFlow,
}

/// A figure in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeenFigure {
    pub value: f64,
    /// The end of the run cut it off: it would have been more.
    pub cut: bool,
}

/// The figures of `scenario`, whose pages load at most `loads` times.
pub(super) fn figures(scenario: &Scenario, loads: u32, metrics: &Registry) -> Vec<AgreementFigure> {
    let mut all = Vec::new();
    let mut add = |of: &str, kind, place: &FigureFlow, compared: &[(&'static str, Near)]| {
        all.extend(compared.iter().map(|(metric, near)| AgreementFigure {
            of: of.to_owned(),
            kind,
            metric,
            unit: metrics.get(metric).map_or("", |metric| metric.unit),
            near: *near,
            place: place.clone(),
        }));
    };
    add("link", None, &FigureFlow::Link, OF_LINK);
    for entry in &scenario.traffic {
        let kind = Some(entry.kind.name());
        let compared = match entry.kind.entry.rows {
            Rows::Call => OF_CALL,
            Rows::Flows => OF_TRANSFER,
            Rows::Loads => {
                for load in 0..loads {
                    let place = FigureFlow::Load(entry.name.clone(), load, scenario.duration);
                    let of = format!("{}, load {}", entry.name, load + 1);
                    add(&of, kind, &place, OF_LOAD);
                }
                continue;
            }
            Rows::Figures => continue,
        };
        for (of, place) in places(entry) {
            add(&of, kind, &place, compared);
        }
    }
    all
}

/// The flows of an entry. Several that differ only by chance are told apart by rank: which of them
/// has the most in a run is chance; the amount is not.
fn places(entry: &Traffic) -> Vec<(String, FigureFlow)> {
    let names: Vec<String> = (1..=entry.count).map(|n| flow_name(entry, n)).collect();
    let exchangeable = names.len() > 1 && entry.stagger == Duration::ZERO;
    if !exchangeable {
        let named = names
            .into_iter()
            .map(|name| (name.clone(), FigureFlow::Flow(name)));
        return named.collect();
    }
    let ranked = (0..names.len()).map(|rank| {
        let of = format!("{}, {} of {}", entry.name, rank + 1, names.len());
        (of, FigureFlow::Rank(names.clone(), rank))
    });
    ranked.collect()
}

impl AgreementFigure {
    /// The figure in `run`; none if it is missing.
    pub fn of(&self, run: &RunResult, metrics: &Registry) -> Option<SeenFigure> {
        let observed = Observed { run, control: None };
        let metric = metrics.get(self.metric)?;
        let first = |name: &str| (metric.take)(&observed, name).first().copied();
        let whole = |value| SeenFigure { value, cut: false };
        match &self.place {
            FigureFlow::Link => first("").map(whole),
            FigureFlow::Flow(name) => first(name).map(whole),
            FigureFlow::Rank(names, rank) => {
                let values: Option<Vec<f64>> = names.iter().map(|name| first(name)).collect();
                let mut values = values?;
                values.sort_by(f64::total_cmp);
                values.get(*rank).copied().map(whole)
            }
            FigureFlow::Load(name, load, duration) => {
                let mut pages = run.pages.iter();
                let page = pages.find(|page| page.name == *name && page.load == *load)?;
                let left = || 1e3 * (duration.as_secs_f64() - page.start_s);
                Some(SeenFigure {
                    value: page.plt_ms.unwrap_or_else(left),
                    cut: page.plt_ms.is_none(),
                })
            }
        }
    }
}
