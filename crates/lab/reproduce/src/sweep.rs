//! A sweep: a scenario on the grid of all combinations of values, with a figure for each.
//!
//! It is an experiment without claims that is written on the command line instead of in a file.

use crate::departures::Departures;
use crate::experiment::{Axis, AxisValue, Experiment, Written};
use crate::figure::{self, Form, Panel, Series, ShownFigure};
use crate::{Data, Outcome, Wanted};
use campaign::{Error, Keeping, Progress, SETTING, run};
use measure::estimate::{Estimate, Statistic, estimate};
use measure::metric::{Observed, Registry, Selection};
use measure::{Engine, LimitResult, RunResult, Units, WITHOUT};
use report::draw::Drawing;
use scenario::{Document, Names};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use units::Refusal;

/// The axes, and the metrics asked for.
#[derive(Debug, Clone)]
pub struct Sweep {
    experiment: Experiment,
    /// The metrics drawn, at least one.
    pub metrics: Vec<Selection>,
    /// The axis of the plot, if not the first one.
    pub against: Option<Selection>,
    /// The statistic of the metrics' values, as it was written and as it was parsed.
    pub statistic: (String, Statistic),
}

/// A combination of values, and its result.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The discipline, with settings.
    pub discipline: String,
    /// The value of each axis, in the order of the axes.
    pub at: Vec<String>,
    /// The first metric; none if no run has a value.
    #[serde(serialize_with = "written")]
    pub value: Option<Estimate>,
    /// The other metrics, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "all_written")]
    pub others: Vec<Option<Estimate>>,
    /// The metric that it is drawn against.
    #[serde(serialize_with = "written")]
    pub against: Option<Estimate>,
    /// Why a run of it is not to be believed, if one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Transfers of its runs whose rate something other than the network decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<PointLimit>,
    /// The same, a line for each traffic entry.
    #[serde(skip)]
    pub limited: String,
}

/// What decided the rate of a transfer, and in which run.
#[derive(Debug, Clone, Serialize)]
pub struct PointLimit {
    /// The run's seed.
    pub seed: u64,
    /// The traffic that the run leaves out, if it is a control run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// The transfer, and what it waited for.
    #[serde(flatten)]
    pub limit: LimitResult,
}

fn limits(run: &RunResult) -> impl Iterator<Item = PointLimit> {
    run.limits.iter().map(|limit| PointLimit {
        seed: run.seed,
        without: run.variant.get(WITHOUT).cloned(),
        limit: limit.clone(),
    })
}

impl Point {
    /// The metric at this place among those of the sweep.
    pub fn metric(&self, place: usize) -> Option<Estimate> {
        match place.checked_sub(1) {
            None => self.value,
            Some(place) => self.others.get(place).copied().flatten(),
        }
    }
}

#[derive(Serialize)]
struct Interval {
    value: f64,
    ci95: Option<(f64, f64)>,
}

impl From<Estimate> for Interval {
    fn from(e: Estimate) -> Self {
        Interval {
            value: e.value,
            ci95: e.ci95,
        }
    }
}

// `serialize_with` hands over a reference to the field.
#[allow(clippy::ref_option)]
fn written<S: Serializer>(estimate: &Option<Estimate>, to: S) -> Result<S::Ok, S::Error> {
    estimate.map(Interval::from).serialize(to)
}

fn all_written<S: Serializer>(all: &[Option<Estimate>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|one| one.map(Interval::from)))
}

/// How often each combination is run.
#[derive(Debug, Clone)]
pub struct Runs {
    /// The first seed.
    pub seed: u64,
    /// Seeds one after another.
    pub repeat: u64,
    /// Every run is made a second time without this traffic.
    pub without: Option<String>,
}

impl Sweep {
    /// A sweep of `scenario` over `axes`, each a path and its values, for each of `disciplines`.
    /// Paths are those of `--set`, or `disciplines.NAME.KEY` for a setting of the disciplines of
    /// that name.
    ///
    /// # Errors
    /// If a discipline cannot be read.
    pub fn new(
        scenario: Document,
        axes: &[(String, Vec<String>)],
        disciplines: &[String],
        runs: Runs,
        (metrics, against): (Vec<Selection>, Option<Selection>),
        statistic: (String, Statistic),
    ) -> Result<Self, Refusal> {
        let axis = |(path, values): &(String, Vec<String>)| Axis {
            name: path.clone(),
            path: Some(path.clone()),
            values: values.iter().cloned().map(AxisValue::Plain).collect(),
            quick: Vec::new(),
        };
        let written = Written::of_runs(
            disciplines,
            axes.iter().map(axis).collect(),
            (runs.seed, runs.repeat),
            runs.without,
        );
        Ok(Sweep {
            experiment: Experiment::new("sweep", written, scenario, Registry::builtin())?,
            metrics,
            against,
            statistic,
        })
    }

    /// How many runs it takes, control runs included; saturates.
    pub fn runs(&self) -> u64 {
        let written = &self.experiment.written;
        let axes = written.vary.iter().map(|axis| axis.values.len() as u64);
        let others = [written.cases.len() as u64, self.each() as u64];
        axes.chain(others).fold(1, u64::saturating_mul)
    }

    /// Runs of each combination, control runs included.
    fn each(&self) -> usize {
        let written = &self.experiment.written;
        let sides = if written.without.is_some() { 2 } else { 1 };
        usize::try_from(written.seeds.saturating_mul(sides)).unwrap_or(usize::MAX)
    }

    /// Makes all runs, or takes the stored results. The last axis changes fastest, and for each
    /// combination disciplines come in their order.
    ///
    /// # Errors
    /// If a combination is not a valid scenario, before any run; or if the engine fails.
    pub fn run(
        &self,
        engine: &dyn Engine,
        names: &dyn Names,
        keeping: Option<Keeping<'_>>,
        progress: &dyn Progress,
    ) -> Result<Vec<Point>, Error> {
        let wanted = Wanted {
            quick: false,
            data: &Data::default(),
        };
        let jobs = self.experiment.grid(wanted)?.plan(engine, names)?;
        let results = run(engine, &jobs, keeping, progress)?;
        // The plan has all runs of a combination one after another.
        let longest = self.experiment.design().longest;
        let points = results
            .chunks(self.each())
            .map(|runs| self.point(runs, longest));
        Ok(points.collect())
    }

    fn point(&self, runs: &[RunResult], longest: f64) -> Point {
        let written = &self.experiment.written;
        let observed = |runs: &'_ [RunResult]| -> Vec<usize> {
            let step = if written.without.is_some() { 2 } else { 1 };
            (step - 1..runs.len()).step_by(step).collect()
        };
        let of = |metric: &Selection| {
            let places = observed(runs);
            let units = Units::of(places.iter().map(|place| &runs[*place]));
            let values = places.iter().map(|&place| {
                // A control run stands just before the run that it serves.
                let control = written.without.as_ref().map(|_| &runs[place - 1]);
                let run = &runs[place];
                (run, metric.of(&Observed { run, control }))
            });
            let bounds = metric.metric.range.bounds(longest);
            estimate(self.statistic.1, &units.gather(values), bounds)
        };
        let first = &runs[0];
        let label = |axis: &Axis| first.variant.get(&axis.name).cloned().unwrap_or_default();
        Point {
            discipline: first.discipline.clone(),
            at: written.vary.iter().map(label).collect(),
            value: self.metrics.first().and_then(of),
            others: self.metrics.iter().skip(1).map(of).collect(),
            against: self.against.as_ref().and_then(of),
            invalid: runs.iter().flat_map(|run| &run.invalid).next().cloned(),
            limits: runs.iter().flat_map(limits).collect(),
            limited: report::limits::told(runs),
        }
    }

    /// The axes' paths.
    pub fn axes(&self) -> Vec<&str> {
        let axes = self.experiment.written.vary.iter();
        axes.map(|axis| axis.name.as_str()).collect()
    }

    /// A figure of `points`, which [`run`](Self::run) made, for each metric: lines over the first axis, or
    /// points of one metric against the other; a panel for each combination of the further axes.
    pub fn shown(&self, points: &[Point]) -> Vec<ShownFigure> {
        let metrics = 0..self.metrics.len();
        metrics.map(|of| self.shown_of(points, of)).collect()
    }

    /// The figure of the metric at place `of`.
    fn shown_of(&self, points: &[Point], of: usize) -> ShownFigure {
        let written = &self.experiment.written;
        let cases = written.cases.len();
        let columns = written.vary.first().map_or(0, |axis| axis.values.len());
        let panels = points.len() / (cases * columns).max(1);
        let at = |column: usize, panel: usize, case: usize| {
            &points[(column * panels + panel) * cases + case]
        };
        let panel = |place: usize| {
            let labels = at(0, place, 0).at.iter().zip(self.axes()).skip(1);
            let title: Vec<String> = labels.map(|(at, axis)| format!("{axis} {at}")).collect();
            let line = |case: usize| Series {
                case: at(0, place, case).discipline.clone(),
                look: at(0, place, case).discipline.clone(),
                values: (0..columns)
                    .map(|x| at(x, place, case).metric(of))
                    .collect(),
                all: Vec::new(),
            };
            let dot = |case: usize, x: usize| {
                let point = at(x, place, case);
                Series {
                    case: format!("{} {}", point.discipline, point.at[0]),
                    look: point.discipline.clone(),
                    values: vec![point.against, point.metric(of)],
                    all: Vec::new(),
                }
            };
            let dots = |case: usize| (0..columns).map(move |x| dot(case, x));
            Panel {
                title: title.join(", "),
                columns: (0..columns)
                    .map(|x| at(x, place, 0).at[0].clone())
                    .collect(),
                series: match self.against {
                    Some(_) => (0..cases).flat_map(dots).collect(),
                    None => (0..cases).map(line).collect(),
                },
            }
        };
        let named = |metric| figure::named(metric, Some(&self.statistic.0));
        let first = self.axes().first().copied().unwrap_or_default().to_owned();
        let over = format!("over {}", self.axes().join(", "));
        ShownFigure {
            title: match of {
                0 => over,
                _ => format!("{} {over}", self.metrics[of]),
            },
            kind: match self.against {
                Some(_) => Form::Scatter,
                None => Form::Lines,
            },
            axes: [
                self.against.as_ref().map_or(first, named),
                named(&self.metrics[of]),
            ],
            limit: None,
            sampled: true,
            panels: (0..panels).map(panel).collect(),
        }
    }

    /// A page of HTML under a title, with a line about it.
    pub fn html(&self, points: &[Point], title: &str, about: &str) -> String {
        self.outcome(points, title, about, super::page::html)
    }

    /// Its plots, each with the name of its file.
    pub fn plots(&self, points: &[Point]) -> Vec<(String, Drawing)> {
        self.outcome(points, "", "", super::drawn::plots)
    }

    /// The result of `of` for the sweep as an experiment.
    fn outcome<T>(
        &self,
        points: &[Point],
        title: &str,
        about: &str,
        of: fn(&Outcome<'_>) -> T,
    ) -> T {
        let mut experiment = self.experiment.clone();
        experiment.written.title = title.to_owned();
        experiment.written.paper = format!("A sweep over {}", self.axes().join(", "));
        experiment.written.about = about.to_owned();
        of(&Outcome {
            experiment: &experiment,
            quick: false,
            data: "",
            runs: points.len() * self.each(),
            seeds: experiment.written.seeds,
            departures: Departures::default(),
            version: String::new(),
            claims: Vec::new(),
            scores: Vec::new(),
            figures: self.shown(points),
            invalid: self.invalid(points),
            limited: limited(points),
            mechanism: None,
        })
    }

    /// A line for each combination of which a run is not to be believed.
    pub fn invalid(&self, points: &[Point]) -> String {
        let line = |point: &Point| {
            let (discipline, reason) = (&point.discipline, point.invalid.as_ref()?);
            let at = self.at(point);
            Some(format!(
                "not to be believed: {discipline}, {at}: {reason}\n"
            ))
        };
        points.iter().filter_map(line).collect()
    }

    /// The values of a combination, with their axes.
    fn at(&self, point: &Point) -> String {
        let at = self.axes().into_iter().zip(&point.at);
        let at: Vec<String> = at.map(|(axis, value)| format!("{axis} {value}")).collect();
        at.join(", ")
    }
}

/// A line for each combination and traffic entry of which something other than the network decided the rate.
pub fn limited(points: &[Point]) -> String {
    points.iter().map(|point| point.limited.as_str()).collect()
}

/// The unit of a metric after a statistic: a share above a threshold is in percent.
pub fn unit(metric: &Selection, statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::ShareAbove(_) => "%",
        _ => metric.metric.unit,
    }
}

/// The settings of the first combination of `axes`, except for those of disciplines.
pub fn first(axes: &[(String, Vec<String>)]) -> BTreeMap<String, String> {
    let settings = axes.iter().filter(|(path, _)| !path.starts_with(SETTING));
    settings
        .filter_map(|(path, values)| Some((path.clone(), values.first()?.clone())))
        .collect()
}
