//! A sentence of a paper, or a question of our own, as a check.

mod cells;
mod judged;
mod never;
mod range;
mod together;
mod welch;
mod words;

pub use judged::{Check, Checked, ClaimVerdict, Judged, Speaker};
pub(super) use judged::{ClaimsPlace, judged};
pub use range::Range;
pub(super) use together::judged_together;
pub use welch::Test;

use crate::departures::Difference;
use crate::design::Design;
use crate::discovery::least_p;
use crate::facts::{Fact, Facts};
use crate::figure::number;
use crate::records::Records;
use campaign::Settings;
use measure::estimate::{self, Against, Bounds, Estimate, Statistic};
use measure::metric::Selection;
use serde::Deserialize;
use units::Refusal;

/// A claim as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name within the experiment.
    pub id: String,
    /// The sentence of the paper that is checked, as it stands there.
    #[serde(default)]
    pub quote: Option<String>,
    /// Its place in the paper; by default that of the experiment.
    #[serde(default)]
    pub paper: Option<String>,
    /// What is asked instead, if no paper says it.
    #[serde(default)]
    pub question: Option<String>,
    /// The claim whose sentence this is another check of: the sentence holds if all of its checks do.
    #[serde(default)]
    pub part_of: Option<String>,
    /// How the number of the check follows from the sentence, where that does not have it.
    #[serde(default)]
    pub reading: Option<String>,
    /// The number of the check with its direction: `at most -50`, `at least 0.5`, `40 to 60`, `85 ± 10`.
    #[serde(default)]
    pub expect: Option<Range>,
    /// The metric of the runs; several only if `each` or `best` is over `metric`.
    #[serde(default, rename = "metric")]
    pub metrics: Names,
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
    /// It has to be so in each cell: for each value of these axes, and each of the claim's own `of`,
    /// `to` or `metric`.
    #[serde(default)]
    pub each: Names,
    /// It has to be so in one cell of these, as for "up to".
    #[serde(default)]
    pub best: Names,
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
    /// Settings of this claim that are not the paper's.
    #[serde(default)]
    pub differs: Vec<Difference>,
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

impl Claim {
    /// The name of the claim whose sentence it checks.
    pub(crate) fn sentence(&self) -> &str {
        self.part_of.as_ref().unwrap_or(&self.id)
    }

    /// Checks that all names in the claim exist.
    pub(super) fn check(&self, design: Design<'_>) -> Result<(), Refusal> {
        let sentences = [&self.quote, &self.question, &self.part_of];
        if sentences.into_iter().flatten().count() != 1 {
            let help = "quote the paper, ask a question of your own, or name the claim that this is a part of";
            let refusal = Refusal::new("one of quote, question and part_of is needed");
            return Err(refusal.with_help(help));
        }
        let metric = self.metrics.0.first();
        let sources = [metric, self.fact.as_ref(), self.untestable.as_ref()];
        if sources.into_iter().flatten().count() != 1 {
            return Err(Refusal::new("one of metric, fact and untestable is needed"));
        }
        if self.untestable.is_none() && self.expect.is_none() {
            return Err(Refusal::new("expect is missing"));
        }
        for fact in self.facts() {
            Fact::parse(fact)?;
        }
        for metric in &self.metrics.0 {
            design.metrics.select(metric)?;
            if self.of.0.is_empty() {
                return Err(Refusal::new("of is missing"));
            }
        }
        self.check_cells(design)?;
        if self.pooled
            && (self.metrics.0.is_empty() || !self.to.0.is_empty() || self.how != How::Change)
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
        let labels = |axis: &str| {
            let values = design.axis(axis).map(|axis| axis.values.iter());
            let labels = values.into_iter().flatten();
            labels.map(|value| value.label().to_owned()).collect()
        };
        for cell in self.cells(labels) {
            for fact in self.bounds(&cell.place) {
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
        let (sides, bounds) = match self.metrics.0.first() {
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
        let alone = !self.metrics.0.is_empty() && self.to.0.is_empty() && self.how != How::Spread;
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
            return doubt;
        }
        match (estimate.ci95, self.needed(estimate)) {
            (None, _) => "One run, or one trace: it cannot be told how sure this is".to_owned(),
            (_, Some(needed)) => format!(
                "The interval covers both: of {} runs or traces, about {needed} would tell",
                estimate.units
            ),
            (_, None) => "The interval covers both".to_owned(),
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
