//! An experiment as it is written: a scenario, its variations, claims, and figures.
//!
//! An experiment is a TOML file, not code. All of it is checked when it is read: an unknown key,
//! metric, case or axis is an error with the file and the existing names.

use crate::claim::Claim;
use crate::curves::Curves;
use crate::departures::Difference;
use crate::design::Design;
use crate::figure::Figure;
use crate::score::Score;
use campaign::{Case, Settings};
use measure::interval;
use measure::metric::Registry;
use scenario::{Choice, Document, ScenarioError};
use serde::Deserialize;
use std::collections::BTreeMap;
use units::{Duration, Refusal};

pub use crate::design::{Axis, AxisValue};

/// An experiment.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name: `confucius/fig10`.
    pub id: String,
    /// The contents of the file.
    pub written: Written,
    /// The scenario that it starts from.
    pub scenario: Document,
    /// The metrics that it may name.
    pub metrics: Registry,
    /// The preset of its calls, if another than the file's was asked for.
    pub calls: Option<String>,
    /// Twelve digits of the BLAKE3 hash of the file; none if it was not read from one.
    pub text: Option<String>,
    /// The names of the claims and cases that it is only a part of; none if it is whole.
    pub only: Vec<String>,
    /// How many of the file's claims are left out.
    pub claims_left_out: usize,
    /// The file that says how often it is run, if another than its own.
    pub runs_file: Option<String>,
}

/// The documentation of an experiment's keys.
const HELP: &str = "docs/guide-researcher.md, section Experiments, says what an experiment has";

/// Longest text that a sample is drawn by: a hash of SHA-256 in hexadecimal digits.
const MAX_DRAW: usize = 64;

/// The preset of calls that stand for the paper's in an experiment.
pub(crate) const STANDS_FOR: &str = "unlimited";

/// The file, except for the scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// A line.
    pub title: String,
    /// Its place in the paper.
    pub paper: String,
    /// The measurement, and its differences from the paper.
    pub about: String,
    /// Settings that are not the paper's: what it says is then not tested.
    #[serde(default)]
    pub differs: Vec<Difference>,
    /// Settings that the paper does not state: that it does not hold can then not be said.
    #[serde(default)]
    pub unstated: Vec<String>,
    /// The engine that runs it.
    #[serde(default)]
    pub engine: Wants,
    /// The cases compared.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// The axes; every combination is run, ...
    #[serde(default)]
    pub vary: Vec<Axis>,
    /// ... or so many that fill the space evenly.
    #[serde(default)]
    pub sample: Option<usize>,
    /// These are drawn by this text, such as the hash of a commit; the same ones each time without it.
    #[serde(default)]
    pub draw: Option<String>,
    /// Runs of each combination, with seeds one after another.
    #[serde(default = "one")]
    pub seeds: u64,
    /// The first of these seeds: 1 in a file.
    #[serde(skip, default = "one")]
    pub first_seed: u64,
    /// Every run is made a second time without this traffic.
    #[serde(default)]
    pub without: Option<String>,
    /// The set of traces that the first link follows, each in turn: `c1`, `c2`, `c3`, `w1`, `w2`; of
    /// all recordings `work` or `aside`, those set aside by a hash of their names.
    #[serde(default)]
    pub traces: Option<String>,
    /// Values that each trace has one of, by a hash of its name.
    #[serde(default)]
    pub by_trace: BTreeMap<String, Vec<String>>,
    /// The page entry that loads the recorded pages, if there are any.
    #[serde(default)]
    pub pages: Option<String>,
    /// Values of axes of the runs that are drawn over time; the first ones if not said.
    #[serde(default)]
    pub mechanism: Settings,
    /// The changes in a quick run.
    #[serde(default)]
    pub quick: Quick,
    /// The paper's claims.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// How one case does against the others in every cell.
    #[serde(default)]
    pub score: Vec<Score>,
    /// How it is drawn.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// Figures of facts, which need no run.
    #[serde(default)]
    pub curves: Vec<Curves>,
    /// Read as a [`Document`]; here only so that it is known.
    #[serde(default, rename = "scenario")]
    _scenario: serde::de::IgnoredAny,
}

impl Written {
    /// Runs alone, without claims and figures: of `disciplines`, over `vary`, with so many seeds from
    /// the first one on, with control runs without the traffic named.
    pub(super) fn of_runs(
        disciplines: &[String],
        vary: Vec<Axis>,
        (first_seed, seeds): (u64, u64),
        without: Option<String>,
    ) -> Self {
        Written {
            title: String::new(),
            paper: String::new(),
            about: String::new(),
            differs: Vec::new(),
            unstated: Vec::new(),
            engine: Wants::Sim,
            cases: disciplines.iter().map(|name| Case::plain(name)).collect(),
            vary,
            sample: None,
            draw: None,
            seeds,
            first_seed,
            without,
            mechanism: Settings::new(),
            traces: None,
            by_trace: BTreeMap::new(),
            pages: None,
            quick: Quick::default(),
            claim: Vec::new(),
            score: Vec::new(),
            figure: Vec::new(),
            curves: Vec::new(),
            _scenario: serde::de::IgnoredAny,
        }
    }
}

fn one() -> u64 {
    1
}

/// The engine that an experiment requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wants {
    /// The simulator.
    #[default]
    Sim,
    /// Linux in virtual time.
    Kernel,
}

/// The changes in a quick run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// The number of seeds.
    #[serde(default)]
    pub seeds: Option<u64>,
    /// The number of traces, evenly spread over the set.
    #[serde(default)]
    pub traces: Option<usize>,
    /// The number of combinations.
    #[serde(default)]
    pub sample: Option<usize>,
    /// These keys of the scenario.
    #[serde(default)]
    pub set: Settings,
}

impl Experiment {
    /// How many runs of each combination there are.
    pub fn seeds(&self, quick: bool) -> u64 {
        let fewer = self.written.quick.seeds.filter(|_| quick);
        fewer.unwrap_or(self.written.seeds)
    }

    /// The number of combinations that are run; none if all are.
    pub fn sample(&self, quick: bool) -> Option<usize> {
        let fewer = self.written.quick.sample.filter(|_| quick);
        fewer.or(self.written.sample)
    }

    /// The experiment with its sample drawn by `text`, if it draws one.
    ///
    /// # Errors
    /// If it cannot be printed as it is.
    pub fn with_draw(mut self, text: &str) -> Result<Self, Refusal> {
        if self.written.draw.is_some() {
            self.written.draw = Some(text.to_owned());
            self.check_draw()?;
        }
        Ok(self)
    }

    fn check_draw(&self) -> Result<(), Refusal> {
        let Some(text) = &self.written.draw else {
            return Ok(());
        };
        if self.written.sample.is_none() {
            let help = "write sample = 40, or leave draw out";
            return Err(Refusal::new("draw without a sample").with_help(help));
        }
        let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if (1..=MAX_DRAW).contains(&text.len()) && text.chars().all(letter) {
            Ok(())
        } else {
            Err(Refusal::new("that is no text to draw by").with_help(format!(
                "write 1 to {MAX_DRAW} letters, digits, -, _ and ., such as the hash of a commit"
            )))
        }
    }

    /// What it is a sample of, in a sentence, if that was drawn.
    pub fn drawn_by(&self) -> Option<String> {
        let text = self.written.draw.as_ref()?;
        let lengths = self
            .written
            .vary
            .iter()
            .map(|axis| axis.values.len() as u64);
        let all = lengths.fold(1, u64::saturating_mul);
        Some(format!("Drawn by {text} from {all} combinations."))
    }

    /// Reads the experiment `id` from `text`, found in `file`.
    ///
    /// # Errors
    /// The place in the text, the finding and the alternatives.
    pub fn parse(id: &str, file: &str, text: &str) -> Result<Self, ScenarioError> {
        Experiment::parse_with(id, file, text, Registry::builtin())
    }

    /// The same, where it may name these `metrics`.
    ///
    /// # Errors
    /// See [`parse`](Experiment::parse).
    pub fn parse_with(
        id: &str,
        file: &str,
        text: &str,
        metrics: Registry,
    ) -> Result<Self, ScenarioError> {
        let document = Document::parse(file, text)?;
        let written: Written = toml::from_str(text)
            .map_err(|error| ScenarioError::of_toml(file, text, &error, HELP))?;
        // An experiment without runs (a theorem, page statistics) needs no scenario.
        let scenario = document.part("scenario").unwrap_or(document);
        let made = Experiment::new(id, written, scenario, metrics).map_err(|refusal| {
            let help = refusal.help.as_deref().unwrap_or(HELP);
            ScenarioError::about(file, &refusal.message, help)
        })?;
        let hash = blake3::hash(text.as_bytes()).to_hex();
        Ok(Experiment {
            text: Some(hash[..12].to_owned()),
            ..made
        })
    }

    /// The experiment `id` made of `written`, from `scenario`.
    ///
    /// # Errors
    /// The finding and the alternatives.
    pub(super) fn new(
        id: &str,
        written: Written,
        scenario: Document,
        metrics: Registry,
    ) -> Result<Self, Refusal> {
        let experiment = Experiment {
            id: id.to_owned(),
            written,
            scenario,
            metrics,
            calls: None,
            text: None,
            only: Vec::new(),
            claims_left_out: 0,
            runs_file: None,
        };
        experiment.check()?;
        Ok(experiment)
    }

    /// The preset of the calls that stand for the paper's.
    pub fn calls(&self) -> &str {
        self.calls.as_deref().unwrap_or(STANDS_FOR)
    }

    /// Whether there is at least one run.
    pub fn has_runs(&self) -> bool {
        !self.written.cases.is_empty()
    }

    fn check(&self) -> Result<(), Refusal> {
        for case in &self.written.cases {
            let parsed = case.discipline.parse::<Choice>();
            parsed.map_err(|refusal| refusal.within(&format!("case {:?}", case.name)))?;
        }
        for axis in &self.written.vary {
            let within = |refusal: Refusal| refusal.within(&format!("vary {:?}", axis.name));
            let plain = |value: &AxisValue| matches!(value, AxisValue::Plain(_));
            if axis.values.iter().any(plain) && axis.path.is_none() {
                return Err(within(Refusal::new("a path is missing")));
            }
            if axis.values.is_empty() {
                return Err(within(Refusal::new("there are no values")));
            }
            for quick in &axis.quick {
                if !axis.values.iter().any(|value| value.label() == quick) {
                    let labels = axis.values.iter().map(|value| value.label());
                    return Err(within(Refusal::unknown("value", quick, labels)));
                }
            }
        }
        if let Some((path, _)) = self.written.by_trace.iter().find(|(_, of)| of.is_empty()) {
            return Err(Refusal::new(format!("by_trace {path:?} has no values")));
        }
        if self.written.traces.is_none() && !self.written.by_trace.is_empty() {
            let help = "name a set of traces, or leave by_trace out";
            return Err(Refusal::new("by_trace without traces").with_help(help));
        }
        for sample in [self.written.sample, self.written.quick.sample] {
            if sample == Some(0) {
                let help = "write how many combinations, or leave it out for all";
                return Err(Refusal::new("sample = 0: nothing would be run").with_help(help));
            }
        }
        self.check_draw()?;
        let design = self.design();
        design.check_selection(&self.written.mechanism)?;
        for claim in &self.written.claim {
            let refused = |refusal: Refusal| refusal.within(&format!("claim {:?}", claim.id));
            claim.check(design).map_err(refused)?;
            self.check_part(claim).map_err(refused)?;
            self.check_runs(claim).map_err(refused)?;
        }
        for score in &self.written.score {
            let refused = |refusal: Refusal| refusal.within(&format!("score {:?}", score.title));
            score.check(design, &self.written.score).map_err(refused)?;
        }
        for figure in &self.written.figure {
            let refused = |refusal: Refusal| refusal.within(&format!("figure {:?}", figure.title));
            figure.check(design).map_err(refused)?;
        }
        for curves in &self.written.curves {
            let refused = |refusal: Refusal| refusal.within(&format!("curves {:?}", curves.title));
            curves.check().map_err(refused)?;
        }
        Ok(())
    }

    /// Refuses a part of what has no sentence.
    fn check_part(&self, claim: &Claim) -> Result<(), Refusal> {
        let Some(whole) = &claim.part_of else {
            return Ok(());
        };
        let claims = self.written.claim.iter();
        let mut heads = claims.filter(|claim| claim.part_of.is_none());
        if heads.any(|head| head.id == *whole) {
            return Ok(());
        }
        let heads = self.written.claim.iter();
        let heads = heads.filter(|claim| claim.part_of.is_none());
        let known = heads.map(|head| head.id.as_str());
        Err(Refusal::unknown("claim with a sentence", whole, known))
    }

    /// Refuses a claim that no outcome could decide. Traces are units too, and their number is not
    /// known here; nor is that of pooled combinations.
    fn check_runs(&self, claim: &Claim) -> Result<(), Refusal> {
        let Written { seeds, traces, .. } = &self.written;
        let of_seeds = !claim.metrics.0.is_empty() && !claim.pooled && traces.is_none();
        if !of_seeds || *seeds >= interval::LEAST as u64 {
            return Ok(());
        }
        let least = interval::LEAST;
        let help = format!("write seeds = {least} or more");
        Err(Refusal::new(format!(
            "{seeds} seeds decide nothing: an interval needs {least}"
        ))
        .with_help(help))
    }

    /// The names that its claims and figures may use.
    pub fn design(&self) -> Design<'_> {
        Design {
            cases: &self.written.cases,
            axes: &self.written.vary,
            metrics: &self.metrics,
            longest: self.longest(),
        }
    }

    /// Seconds that no run is longer than; infinite where the scenario does not say.
    fn longest(&self) -> f64 {
        let written = &self.written;
        let axes = written.vary.iter().flat_map(|axis| {
            let values = axis.values.iter();
            values.map(|value| axis.settings(value))
        });
        let axes: Vec<Settings> = axes.collect();
        let cases = written.cases.iter().map(|case| &case.set);
        let sets = cases.chain(&axes).chain([&written.quick.set]);
        let of_scenario = self.scenario.get("duration");
        let set = sets.filter_map(|set| set.get("duration"));
        let set = set.map(|text| Some(text.as_str()));
        let seconds = |text: Option<&str>| {
            let duration = text.and_then(|text| text.parse::<Duration>().ok());
            duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64())
        };
        set.chain([of_scenario]).map(seconds).fold(0.0, f64::max)
    }
}
