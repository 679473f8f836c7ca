//! A sentence of a paper as a check, and its outcome.

mod never;
mod range;
mod together;
mod welch;

pub use range::Range;
pub(super) use together::judged_together;
pub use welch::Test;

use crate::design::{AxisValue, Design};
use crate::discovery::least_p;
use crate::facts::{self, Fact, Facts};
use crate::figure::number;
use crate::records::Records;
use campaign::Settings;
use measure::estimate::{self, Against, Bounds, Estimate, LEVEL, Statistic};
use measure::metric::{Registry, Selection};
use serde::{Deserialize, Serialize};
use units::Refusal;

/// A claim as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name within the experiment.
    pub id: String,
    /// The place of the claim in the paper; by default that of the experiment.
    #[serde(default)]
    pub paper: Option<String>,
    /// The claim.
    pub statement: String,
    /// The published value, in words.
    pub published: String,
    /// The range in which our value has to lie: `at most -50`, `at least 0.5`, `40 to 60`.
    #[serde(default)]
    pub expect: Option<Range>,
    /// The metric of the runs.
    #[serde(default)]
    pub metric: Option<String>,
    /// The statistic of its values; the mean by default.
    #[serde(default)]
    pub statistic: Option<String>,
    /// The case that the claim is about; for a spread, the cases.
    #[serde(default)]
    pub of: Names,
    /// The case that it is compared with, or with `fact` the fact; of several, the one that is
    /// least favourable to the claim.
    #[serde(default)]
    pub to: Names,
    /// How it is compared.
    #[serde(default, rename = "as")]
    pub how: How,
    /// The values of all cases together, and each combination of the axes' values as one unit: for
    /// combinations that were drawn at random, and independently of each other.
    #[serde(default)]
    pub pooled: bool,
    /// Values of axes that the claim is restricted to.
    #[serde(default, rename = "where")]
    pub place: Settings,
    /// One claim for each value of this axis.
    #[serde(default)]
    pub each: Option<String>,
    /// A figure that needs no run instead of a metric: `theory …`, `pages …`, `traces …`.
    #[serde(default)]
    pub fact: Option<String>,
    /// A policy of the theory, whose delay the note gives next to the measured value:
    /// `confucius steps flows={flows}`, where `{flows}` is the value of an axis that the claim is
    /// restricted to.
    #[serde(default)]
    pub bound: Option<String>,
    /// A paper's own test of the difference, which the note gives next to our verdict.
    #[serde(default)]
    pub test: Option<Test>,
    /// Why it cannot be tested here.
    #[serde(default)]
    pub untestable: Option<String>,
    /// The explanation of our value.
    #[serde(default)]
    pub why: Option<String>,
}

/// One name or several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "NamesWritten")]
pub struct Names(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum NamesWritten {
    One(String),
    Several(Vec<String>),
}

impl From<NamesWritten> for Names {
    fn from(written: NamesWritten) -> Self {
        Names(match written {
            NamesWritten::One(name) => vec![name],
            NamesWritten::Several(names) => names,
        })
    }
}

/// How a case is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// By the difference in percent of the other; without another, not at all.
    #[default]
    Change,
    /// By the difference.
    Difference,
    /// The largest of several less the smallest, in percent of the largest.
    Spread,
}

/// The place of a claim.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The experiment that it belongs to.
    pub(super) experiment: &'a str,
    /// The preset of that one's calls, if one was asked for.
    pub(super) calls: Option<&'a str>,
    /// The place of its results in the paper, unless the claim has one.
    pub(super) paper: &'a str,
}

/// The outcome of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Our value is in the range, at the confidence required of claims (decision 0041).
    #[serde(rename = "holds")]
    Holds,
    /// It is outside.
    #[serde(rename = "does not hold")]
    Fails,
    /// There are too few runs to decide, or no data to test it with.
    #[serde(rename = "cannot be told")]
    Untold,
}

impl Verdict {
    /// As it is printed.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "does not hold",
            Verdict::Untold => "cannot be told",
        }
    }
}

/// A claim with its measured value.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Its name: experiment, claim, and the values it is restricted to.
    pub id: String,
    /// The preset of its calls, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// The place of the claim in the paper.
    pub paper: String,
    /// The claim.
    pub statement: String,
    /// The published value, in words.
    pub published: String,
    /// Our value, in `unit`; null if there is none.
    pub ours: Option<f64>,
    /// Its 95 % interval; null if it is unknown, and for values that do not come from runs.
    pub ci95: Option<(f64, f64)>,
    /// The complement of the least confidence with which it would be decided, between 0 and 1; null
    /// for values that do not come from runs.
    pub p: Option<f64>,
    /// Runs, or traces, that would probably decide it; null if their number is unknown too.
    pub needed: Option<u64>,
    /// The unit.
    pub unit: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Whether one of its runs is not to be believed, and so the value.
    pub invalid: bool,
    /// Why.
    pub note: String,
}

impl Claim {
    /// Checks that all names in the claim exist.
    pub(super) fn check(&self, design: Design<'_>) -> Result<(), Refusal> {
        let sources = [&self.metric, &self.fact, &self.untestable];
        if sources.into_iter().flatten().count() != 1 {
            return Err(Refusal::new("one of metric, fact and untestable is needed"));
        }
        if self.untestable.is_none() && self.expect.is_none() {
            return Err(Refusal::new("expect is missing"));
        }
        for fact in self.facts() {
            Fact::parse(fact)?;
        }
        if let Some(metric) = &self.metric {
            design.metrics.select(metric)?;
            if self.of.0.is_empty() {
                return Err(Refusal::new("of is missing"));
            }
        }
        if self.pooled
            && (self.metric.is_none() || !self.to.0.is_empty() || self.how != How::Change)
        {
            return Err(Refusal::new(
                "pooled is for a metric of one side: neither to nor as can be given",
            ));
        }
        self.statistic()?;
        self.check_test()?;
        let others = self.to.0.iter().filter(|_| self.fact.is_none());
        for name in self.of.0.iter().chain(others) {
            design.case(name)?;
        }
        let mut places = vec![self.place.clone()];
        if let Some(axis) = &self.each {
            let label = |value: &AxisValue| (axis.clone(), value.label().to_owned());
            let with = |value| self.place.clone().into_iter().chain([label(value)]);
            let values = design.axis(axis)?.values.iter();
            places = values.map(|value| with(value).collect()).collect();
        }
        for place in places {
            for fact in self.bounds(&place) {
                Fact::parse(&fact)?;
            }
        }
        design.check_selection(&self.place)
    }

    /// The facts of the claim: none, one, or one and the one it is compared with.
    fn facts(&self) -> impl Iterator<Item = &String> {
        let others = self.to.0.iter().filter(|_| self.fact.is_some());
        self.fact.iter().chain(others)
    }

    /// The bound's delay, integrated and as printed; none without a bound.
    fn bounds(&self, place: &Settings) -> Vec<String> {
        let Some(bound) = &self.bound else {
            return Vec::new();
        };
        let fill = |text: String, (axis, label): (&String, &String)| {
            text.replace(&format!("{{{axis}}}"), label)
        };
        let filled = place.iter().fold(bound.clone(), fill);
        let forms = ["integral", "printed"].iter();
        forms
            .map(|form| format!("theory {filled} of delay {form}"))
            .collect()
    }

    /// The theory's value, for comparison with the measured one.
    fn theory(&self, records: &Records<'_>, place: &Settings) -> Option<String> {
        let facts = self.bounds(place).into_iter();
        let values = facts.map(|fact| records.facts().value(&fact).ok().flatten());
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let [integral, printed] = values[..] else {
            return None;
        };
        let [integral, printed] = [integral, printed].map(number);
        Some(format!(
            "theory: a queue delay of {integral} ms in the fluid model, {printed} ms by table 1"
        ))
    }

    fn statistic(&self) -> Result<Statistic, Refusal> {
        self.statistic.as_deref().unwrap_or("mean").parse()
    }

    /// The check of the claim against `records`, once for each value of the axis that it is made
    /// for.
    pub(super) fn checked(&self, of: Place<'_>, records: &Records<'_>) -> Vec<Checked> {
        let blank = Checked {
            id: format!("{}/{}", of.experiment, self.id),
            calls: of.calls.map(str::to_owned),
            paper: self.paper.as_deref().unwrap_or(of.paper).to_owned(),
            statement: self.statement.clone(),
            published: self.published.clone(),
            ours: None,
            ci95: None,
            p: None,
            needed: None,
            unit: self.unit(records.design().metrics),
            verdict: Verdict::Untold,
            invalid: false,
            note: String::new(),
        };
        let Some(axis) = &self.each else {
            return vec![self.one(blank, records, None)];
        };
        let labels = records.labels(axis);
        let one = |label: &String| self.one(blank.clone(), records, Some((axis, label)));
        labels.iter().map(one).collect()
    }

    /// Fills in the measured value.
    fn one(
        &self,
        mut checked: Checked,
        records: &Records<'_>,
        only: Option<(&String, &String)>,
    ) -> Checked {
        let mut place = self.place.clone();
        if let Some((axis, label)) = only {
            place.insert(axis.clone(), label.clone());
            checked.id += &format!("/{label}");
            checked.statement += &format!(" ({axis} {label})");
        }
        let estimate = match self.measured(records, &place, LEVEL) {
            Ok(estimate) => estimate,
            Err(reason) => {
                checked.note = reason;
                return checked;
            }
        };
        let mut cases = self.of.0.iter().chain(&self.to.0);
        checked.invalid = cases.any(|case| records.are_doubted(case, &place));
        checked.ours = Some(estimate.value);
        checked.ci95 = estimate.ci95;
        let of_runs = self.metric.is_some();
        let held = self.expect.and_then(|range| {
            if of_runs {
                range.judge(&estimate)
            } else {
                Some(range.contains(estimate.value))
            }
        });
        checked.p = of_runs.then(|| self.p(records, &place));
        checked.needed = self.needed(&estimate);
        let never = self.never(&estimate);
        let held = held.or_else(|| {
            let (enough, p) = never?;
            checked.p = Some(p);
            checked.needed = Some(never::needed(LEVEL)).filter(|_| !enough);
            enough.then_some(true)
        });
        let (verdict, note) = match held {
            Some(true) if never.is_some() => (Verdict::Holds, self.lacking(&estimate)),
            Some(true) => (Verdict::Holds, String::new()),
            Some(false) => (Verdict::Fails, String::new()),
            None => (Verdict::Untold, self.lacking(&estimate)),
        };
        checked.verdict = verdict;
        let (theory, test) = (self.theory(records, &place), self.tested(records, &place));
        let why = self.why.iter().chain(&theory).chain(&test);
        let why = why.map(String::as_str);
        let why = why.collect::<Vec<_>>().join(". ");
        checked.note = format!("{note}{why}").trim().to_owned();
        checked
    }

    fn unit(&self, metrics: &Registry) -> String {
        let relative = !self.to.0.is_empty() && self.how == How::Change || self.how == How::Spread;
        let share = matches!(self.statistic(), Ok(Statistic::ShareAbove(_)));
        let metric = self.metric.as_deref().map(|text| metrics.select(text));
        match metric {
            Some(Ok(_)) if relative || share => "%".to_owned(),
            Some(Ok(metric)) => metric.metric.unit.to_owned(),
            _ if relative => "%".to_owned(),
            _ => self.fact.as_deref().map_or("", facts::unit).to_owned(),
        }
    }

    /// Our figure, with an interval of the confidence `level`.
    fn measured(
        &self,
        records: &Records<'_>,
        place: &Settings,
        level: f64,
    ) -> Result<Estimate, String> {
        if let Some(reason) = &self.untestable {
            return Err(reason.clone());
        }
        let statistic = self.statistic()?;
        let (sides, bounds) = match &self.metric {
            Some(metric) => {
                let metric = records.design().metrics.select(metric)?;
                let sides = self.of_runs(&metric, records, place)?;
                (sides, records.bounds(&metric))
            }
            None => (self.of_facts(records.facts())?, Bounds::NONE),
        };
        let compare = |[ours, theirs]: [usize; 2], against, level| {
            let sides = [&sides[ours][..], &sides[theirs][..]];
            estimate::compare(statistic, sides, bounds, against, level)
        };
        let others: Vec<[usize; 2]> = (1..sides.len()).map(|other| [0, other]).collect();
        // Of several figures the one that is least favourable to the claim counts.
        let least = self.expect.is_some_and(|range| range.high == f64::INFINITY);
        let found = match self.how {
            How::Spread => {
                let two = |one| (0..sides.len()).map(move |other| [one, other]);
                let pairs: Vec<[usize; 2]> = (0..sides.len())
                    .flat_map(two)
                    .filter(|[a, b]| a != b)
                    .collect();
                let level = together(level, pairs.len());
                let changes = pairs
                    .into_iter()
                    .map(|pair| compare(pair, Against::Percent, level));
                let changes: Option<Vec<Estimate>> = changes.collect();
                changes
                    .and_then(|changes| estimate::worst(&changes, true))
                    .map(negated)
            }
            _ if self.to.0.is_empty() => {
                let level = together(level, sides.len());
                let each = sides
                    .iter()
                    .map(|side| estimate::estimate_at(statistic, side, bounds, level));
                let each: Option<Vec<Estimate>> = each.collect();
                each.and_then(|each| estimate::worst(&each, least))
            }
            how => {
                let against = match how {
                    How::Difference => Against::Difference,
                    _ => Against::Percent,
                };
                let level = together(level, others.len());
                let each = others.into_iter().map(|pair| compare(pair, against, level));
                let each: Option<Vec<Estimate>> = each.collect();
                each.and_then(|each| estimate::worst(&each, least))
            }
        };
        found.ok_or_else(|| "the change is from nothing".to_owned())
    }

    /// The complement of the least confidence with which the claim is decided.
    fn p(&self, records: &Records<'_>, place: &Settings) -> f64 {
        let decided = |p: f64| {
            let estimate = self.measured(records, place, 1.0 - p).ok();
            let held = estimate.and_then(|estimate| self.expect?.judge(&estimate));
            held.is_some()
        };
        least_p(decided)
    }

    /// The bound on a value that was zero in every run; none for another, or for a comparison.
    fn never(&self, estimate: &Estimate) -> Option<(bool, f64)> {
        let alone = self.metric.is_some() && self.to.0.is_empty() && self.how != How::Spread;
        never::judge(self.expect.filter(|_| alone)?, estimate)
    }

    /// Units that would probably separate the value from the nearest end of the expected range.
    fn needed(&self, estimate: &Estimate) -> Option<u64> {
        let border = self.expect?.border(estimate.value);
        let finite = border.is_finite();
        finite.then(|| estimate.units_to_reach(border))?
    }

    /// The data missing for a verdict.
    fn lacking(&self, estimate: &Estimate) -> String {
        if let Some(doubt) = estimate.doubt() {
            return format!("{doubt}. ");
        }
        match (estimate.ci95, self.needed(estimate)) {
            (None, _) => "One run, or one trace: it cannot be told how sure this is. ".to_owned(),
            (_, Some(needed)) => format!(
                "The interval covers both: of {} runs or traces, about {needed} would tell. ",
                estimate.units
            ),
            (_, None) => "The interval covers both. ".to_owned(),
        }
    }

    /// The metric's values in each run, of each case.
    fn of_runs(
        &self,
        metric: &Selection,
        records: &Records<'_>,
        place: &Settings,
    ) -> Result<Vec<Vec<Vec<f64>>>, String> {
        if self.pooled {
            return Ok(vec![self.of_combinations(metric, records, place)?]);
        }
        let side = |name: &String| {
            let side = records.values(metric, name, place);
            if side.iter().all(Vec::is_empty) {
                return Err(format!("{name} has no value of {metric} here"));
            }
            Ok(side)
        };
        self.of.0.iter().chain(&self.to.0).map(side).collect()
    }

    /// The metric's values in each combination of the axes' values, of all cases.
    fn of_combinations(
        &self,
        metric: &Selection,
        records: &Records<'_>,
        place: &Settings,
    ) -> Result<Vec<Vec<f64>>, String> {
        let values = |(_, cell): (Settings, Records<'_>)| {
            let cases = self.of.0.iter();
            let values = cases.flat_map(|name| cell.values(metric, name, place).concat());
            values.collect::<Vec<f64>>()
        };
        let cells: Vec<Vec<f64>> = records.cells().into_iter().map(values).collect();
        if cells.iter().all(Vec::is_empty) {
            return Err(format!("no run has a value of {metric}"));
        }
        Ok(cells)
    }

    /// The value of each fact, as that of a single run.
    fn of_facts(&self, facts: &Facts<'_>) -> Result<Vec<Vec<Vec<f64>>>, String> {
        let side = |fact: &String| {
            let value = facts.value(fact)?;
            let value = value.ok_or_else(|| format!("there is no {fact} in these data"))?;
            Ok(vec![vec![value]])
        };
        self.facts().map(side).collect()
    }
}

/// The confidence of each of `count` intervals that hold together with the confidence `level` (C. E.
/// Bonferroni).
fn together(level: f64, count: usize) -> f64 {
    1.0 - (1.0 - level) / count.max(1) as f64
}

/// The estimate of the same with the other sign.
pub(crate) fn negated(estimate: Estimate) -> Estimate {
    Estimate {
        value: -estimate.value,
        ci95: estimate.ci95.map(|(low, high)| (-high, -low)),
        ..estimate
    }
}

#[cfg(test)]
mod tests;
