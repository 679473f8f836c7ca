//! A figure in the paper's form: as a table, and as a plot.

use crate::design::Design;
use crate::records::Records;
use campaign::Settings;
use measure::estimate::{self, Against, Estimate, LEVEL, Statistic};
use measure::interval;
use measure::metric::Selection;
use report::draw::values::rounded;
use serde::Deserialize;
use units::Refusal;

/// A figure as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// A line.
    pub title: String,
    /// The kind of figure.
    pub kind: Form,
    /// An axis of the experiment (lines), or a metric (scatter).
    #[serde(default)]
    pub x: Option<String>,
    /// The subject of the metric in each column, for lines over that instead of an axis:
    /// `loss_by_index:N`.
    #[serde(default)]
    pub of: Vec<String>,
    /// The metric.
    pub y: String,
    /// The statistic of the metrics' values; the mean by default.
    #[serde(default)]
    pub statistic: Option<String>,
    /// One panel for each value of this axis.
    #[serde(default)]
    pub panel: Option<String>,
    /// Values of axes that the figure is restricted to.
    #[serde(default, rename = "where")]
    pub place: Settings,
    /// The seed of the runs that it shows, as for a curve over the time of one run; all of them if
    /// none is named.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The cases that it shows; all of them if none is named.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The reference case: everything is shown as the difference from it, in percent of it.
    #[serde(default)]
    pub relative_to: Option<String>,
    /// A value of y to draw a line at.
    #[serde(default)]
    pub limit: Option<f64>,
}

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A line for each case, over an axis of the experiment.
    Lines,
    /// A point for each case, one metric against another.
    Scatter,
    /// A value for each case.
    Bars,
    /// The distribution of a metric's values, a line for each case.
    Distribution,
}

/// A figure with its values.
#[derive(Debug, Clone)]
pub struct ShownFigure {
    /// A line.
    pub title: String,
    /// The kind of figure.
    pub kind: Form,
    /// The labels of the axes.
    pub axes: [String; 2],
    /// A value of y to draw a line at.
    pub limit: Option<f64>,
    /// Whether its values come from runs, and could be others: values without an interval are then
    /// not sure.
    pub sampled: bool,
    /// Its panels.
    pub panels: Vec<Panel>,
}

/// A panel of a figure.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Its value of the axis; empty if there is only one.
    pub title: String,
    /// Names of the values of x: labels of an axis, or none.
    pub columns: Vec<String>,
    /// The values of each case.
    pub series: Vec<Series>,
}

/// A panel's series of a case.
#[derive(Debug, Clone)]
pub struct Series {
    /// The case.
    pub case: String,
    /// The owner of its colour: the case, or the discipline.
    pub look: String,
    /// For each column a value; for a scatter plot x and y.
    pub values: Vec<Option<Estimate>>,
    /// All values, for a distribution.
    pub all: Vec<f64>,
}

impl Figure {
    /// Checks that all names in the figure exist.
    pub(super) fn check(&self, design: Design<'_>) -> Result<(), Refusal> {
        design.metrics.select(&self.y)?;
        self.statistic()?;
        match (self.kind, &self.x, self.of.is_empty()) {
            (Form::Lines, Some(axis), true) => _ = design.axis(axis)?,
            (Form::Scatter, Some(metric), true) => _ = design.metrics.select(metric)?,
            (Form::Lines, Some(_), false) | (Form::Bars | Form::Distribution, None, true) => {}
            _ => {
                let message =
                    "x is for lines (an axis, or what of counts) and for scatter (a metric)";
                return Err(Refusal::new(message));
            }
        }
        for name in self.cases.iter().chain(&self.relative_to) {
            design.case(name)?;
        }
        if let Some(axis) = &self.panel {
            design.axis(axis)?;
        }
        design.check_selection(&self.place)
    }

    fn statistic(&self) -> Result<Statistic, Refusal> {
        self.statistic.as_deref().unwrap_or("mean").parse()
    }

    /// The figure from `records`.
    ///
    /// # Errors
    /// If a name in it does not exist.
    pub fn shown(&self, records: &Records<'_>) -> Result<ShownFigure, Refusal> {
        let of_seed = self.seed.map(|seed| records.of_seed(seed));
        let records = of_seed.as_ref().unwrap_or(records);
        let select = |text: &str| records.design().metrics.select(text);
        let metric = select(&self.y)?;
        let labels = self.panel.as_ref().map(|axis| (axis, records.labels(axis)));
        let mut panels = Vec::new();
        match labels {
            None => panels.push(self.panel(records, "", &self.place)?),
            Some((axis, labels)) => {
                for label in labels {
                    let mut place = self.place.clone();
                    place.insert(axis.clone(), label.clone());
                    panels.push(self.panel(records, &label, &place)?);
                }
            }
        }
        let x = match (&self.x, self.kind) {
            (Some(x), Form::Scatter) => named(&select(x)?, None),
            (Some(x), _) => x.clone(),
            (None, Form::Distribution) => named(&metric, None),
            (None, _) => String::new(),
        };
        let statistic = self
            .statistic
            .as_deref()
            .filter(|_| self.kind != Form::Distribution);
        let y = match &self.relative_to {
            Some(case) => format!("{metric}, % against {case}"),
            None => named(&metric, statistic),
        };
        Ok(ShownFigure {
            title: self.title.clone(),
            kind: self.kind,
            axes: [x, y],
            limit: self.limit,
            sampled: true,
            panels,
        })
    }

    fn panel(
        &self,
        records: &Records<'_>,
        title: &str,
        place: &Settings,
    ) -> Result<Panel, Refusal> {
        let design = records.design();
        let metric = design.metrics.select(&self.y)?;
        let columns = match (&self.x, self.kind) {
            (Some(axis), Form::Lines) if self.of.is_empty() => records.labels(axis),
            (_, Form::Lines) => self.of.clone(),
            _ => Vec::new(),
        };
        let mut series = Vec::new();
        for case in design.cases {
            let name = &case.name;
            let listed = self.cases.is_empty() || self.cases.contains(name);
            if !listed || self.relative_to.as_ref() == Some(name) {
                continue;
            }
            let value =
                |metric: &Selection, place: &Settings| self.value(records, metric, name, place);
            let values = match (&self.x, self.kind) {
                (_, Form::Lines) if !self.of.is_empty() => {
                    let of = |entry: &String| {
                        let entry = entry.clone();
                        let metric = metric.metric.clone();
                        value(&Selection { metric, entry }, place)
                    };
                    columns.iter().map(of).collect::<Result<_, _>>()?
                }
                (Some(axis), Form::Lines) => {
                    let at = |label: &String| {
                        let mut place = place.clone();
                        place.insert(axis.clone(), label.clone());
                        value(&metric, &place)
                    };
                    columns.iter().map(at).collect::<Result<_, _>>()?
                }
                (Some(x), Form::Scatter) => {
                    let x = design.metrics.select(x)?;
                    vec![value(&x, place)?, value(&metric, place)?]
                }
                (_, Form::Bars) => vec![value(&metric, place)?],
                _ => Vec::new(),
            };
            let all = match self.kind {
                Form::Distribution => records.values(&metric, name, place).concat(),
                _ => Vec::new(),
            };
            series.push(Series {
                case: name.clone(),
                look: name.clone(),
                values,
                all,
            });
        }
        Ok(Panel {
            title: title.to_owned(),
            columns,
            series,
        })
    }

    fn value(
        &self,
        records: &Records<'_>,
        metric: &Selection,
        case: &str,
        place: &Settings,
    ) -> Result<Option<Estimate>, Refusal> {
        let statistic = self.statistic()?;
        let ours = records.values(metric, case, place);
        let Some(other) = &self.relative_to else {
            return Ok(estimate::estimate(statistic, &ours, records.bounds(metric)));
        };
        let theirs = records.values(metric, other, place);
        let sides = [&ours[..], &theirs[..]];
        let bounds = records.bounds(metric);
        Ok(estimate::compare(
            statistic,
            sides,
            bounds,
            Against::Percent,
            LEVEL,
        ))
    }
}

/// A metric's name with its unit.
pub(super) fn named(metric: &Selection, statistic: Option<&str>) -> String {
    let of = statistic.map_or_else(String::new, |statistic| format!("{statistic} "));
    let percent = statistic.is_some_and(|statistic| statistic.starts_with("above"));
    match metric.metric.unit {
        _ if percent => format!("{metric} {of}%"),
        "" => format!("{of}{metric}"),
        unit => format!("{of}{metric}, {unit}"),
    }
}

impl ShownFigure {
    /// The figure as a table: a head, and a row for each case and panel.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut head = vec!["case".to_owned()];
        let paneled = self.panels.len() > 1;
        let first = self.panels.first();
        match self.kind {
            Form::Lines => {
                head.extend(paneled.then(String::new));
                let columns = first.map(|panel| panel.columns.iter());
                head.extend(
                    columns
                        .into_iter()
                        .flatten()
                        .map(|x| format!("{} {x}", self.axes[0])),
                );
            }
            Form::Scatter | Form::Bars => {
                let axes = if self.kind == Form::Bars {
                    &self.axes[1..]
                } else {
                    &self.axes[..]
                };
                for panel in &self.panels {
                    head.extend(
                        axes.iter()
                            .map(|axis| format!("{} {axis}", panel.title).trim().to_owned()),
                    );
                }
            }
            Form::Distribution => {
                head.extend(paneled.then(String::new));
                head.extend(["p50", "p90", "p95", "p99", "max"].map(str::to_owned));
            }
        }
        let rows = match self.kind {
            Form::Scatter | Form::Bars => first.map_or_else(Vec::new, |first| {
                let row = |at: usize| {
                    let values = self
                        .panels
                        .iter()
                        .flat_map(move |panel| &panel.series[at].values);
                    let cells = values.map(|value| value.as_ref().map_or("–".to_owned(), text));
                    [first.series[at].case.clone()]
                        .into_iter()
                        .chain(cells)
                        .collect()
                };
                (0..first.series.len()).map(row).collect()
            }),
            Form::Lines | Form::Distribution => {
                let rows = self.panels.iter().flat_map(|panel| {
                    panel.series.iter().map(move |series| {
                        let mut row = vec![series.case.clone()];
                        row.extend(paneled.then(|| panel.title.clone()));
                        row.extend(self.cells(series));
                        row
                    })
                });
                rows.collect()
            }
        };
        (head, rows)
    }

    fn cells(&self, series: &Series) -> Vec<String> {
        if self.kind != Form::Distribution {
            let values = series.values.iter();
            return values
                .map(|value| value.as_ref().map_or("–".to_owned(), text))
                .collect();
        }
        let at = |share: f64| {
            let value = Statistic::Quantile(share).of(&mut series.all.clone());
            value.map_or("–".to_owned(), number)
        };
        [0.5, 0.9, 0.95, 0.99, 1.0].map(at).to_vec()
    }
}

/// An estimate as it is printed: with its interval if there is one.
pub fn text(estimate: &Estimate) -> String {
    match estimate.ci95 {
        Some(ends) => {
            let ends = interval::written(estimate.value, ends, number);
            format!("{} ({ends})", number(estimate.value))
        }
        None => number(estimate.value),
    }
}

/// A number with three digits that count.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.0005 => 2,
        _ => 0,
    };
    rounded(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_count() {
        let texts = [0.0, -0.0001, 0.034, 1.0, 12.34, 123.4, -1234.5].map(number);
        assert_eq!(texts, ["0", "0", "0.03", "1.00", "12.3", "123", "-1234"]);
    }

    #[test]
    fn lines_over_what_a_metric_is_of() {
        use crate::data::Data;
        use crate::experiment::Experiment;
        use crate::facts::Facts;
        use crate::testing::NoEngine;
        use measure::MeasuredValue;
        use measure::RunResult;
        let written = |figure: &str| {
            let text = format!(
                r#"
                title = "t"
                paper = "p"
                about = "a"
                cases = ["pfifo"]
                [scenario]
                name = "s"
                [[figure]]
                title = "f"
                y = "loss_by_index"
                {figure}"#
            );
            Experiment::parse("test", "test.toml", &text)
        };
        let experiment =
            written("kind = \"lines\"\nx = \"packet\"\nof = [\"1\", \"7\", \"9\"]").unwrap();
        let point = |(at, value)| MeasuredValue {
            of: String::new(),
            at: Some(at),
            value,
        };
        let mut run = RunResult {
            discipline: "pfifo".to_owned(),
            ..RunResult::default()
        };
        let curve = [(1.0, 0.5), (2.0, 1.0), (7.0, 4.0)].map(point);
        run.measured
            .insert("loss_by_index".to_owned(), curve.to_vec());
        let (data, runs) = (Data::default(), [run]);
        let facts = Facts::new(&NoEngine, &data);
        let records = Records::new(experiment.design(), false, &facts, &runs);
        let shown = experiment.written.figure[0].shown(&records).unwrap();
        let (head, rows) = shown.table();
        assert_eq!(head, ["case", "packet 1", "packet 7", "packet 9"]);
        assert_eq!(rows, [["pfifo", "0.50", "4.00", "–"]]);
        let wrong = written("kind = \"bars\"\nof = [\"1\"]").unwrap_err();
        assert!(wrong.message.contains("what of counts"), "{wrong}");
    }
}
