//! An experiment as it is written: a scenario, what varies, what is claimed, and how it is drawn.
//!
//! An experiment is a TOML file, not code. Everything in it is checked when it is read: an unknown
//! key, metric, case or axis is an error that names the file and what there is.

use crate::claim::Claim;
use crate::curves::Curves;
use crate::figure::Figure;
use scenario::{Choice, Document};
use serde::Deserialize;
use std::collections::BTreeMap;
use units::Refusal;

/// Values by path, as `--set` has them.
pub type Settings = BTreeMap<String, String>;

/// An experiment.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name: `confucius/fig10`.
    pub id: String,
    /// What is written in the file.
    pub written: Written,
    /// The scenario that it starts from.
    pub scenario: Document,
}

/// The file, but for the scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// A line.
    pub title: String,
    /// Where the paper has it.
    pub paper: String,
    /// What is measured, and what differs from the paper.
    pub about: String,
    /// What runs it.
    #[serde(default)]
    pub engine: Wants,
    /// What is compared.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// What varies; every combination is run.
    #[serde(default)]
    pub vary: Vec<Axis>,
    /// Runs of each combination, with seeds one after another.
    #[serde(default = "one")]
    pub seeds: u64,
    /// The first of these seeds: 1 in a file.
    #[serde(skip, default = "one")]
    pub first_seed: u64,
    /// Every run is made a second time without this traffic.
    #[serde(default)]
    pub without: Option<String>,
    /// The set of traces that the first link follows, each in turn: `c1`, `c2`, `c3`, `w1`, `w2`.
    #[serde(default)]
    pub traces: Option<String>,
    /// The page entry that loads the recorded pages, where there are any.
    #[serde(default)]
    pub pages: Option<String>,
    /// Values of axes of the runs that are drawn over time; the first ones if not said.
    #[serde(default)]
    pub mechanism: Settings,
    /// What a quick run does otherwise.
    #[serde(default)]
    pub quick: Quick,
    /// What the paper says of it.
    #[serde(default)]
    pub claim: Vec<Claim>,
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
            engine: Wants::Sim,
            cases: disciplines.iter().map(|name| Case::plain(name)).collect(),
            vary,
            seeds,
            first_seed,
            without,
            mechanism: Settings::new(),
            traces: None,
            pages: None,
            quick: Quick::default(),
            claim: Vec::new(),
            figure: Vec::new(),
            curves: Vec::new(),
            _scenario: serde::de::IgnoredAny,
        }
    }
}

fn one() -> u64 {
    1
}

/// Which engine an experiment wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wants {
    /// The simulator.
    #[default]
    Sim,
    /// Linux in virtual time.
    Kernel,
}

/// What a quick run does otherwise.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// So many seeds.
    #[serde(default)]
    pub seeds: Option<u64>,
    /// So many of the traces, evenly spread over the set.
    #[serde(default)]
    pub traces: Option<usize>,
    /// These keys of the scenario.
    #[serde(default)]
    pub set: Settings,
}

/// A discipline, or a discipline with something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "CaseWritten")]
pub struct Case {
    /// The name in tables.
    pub name: String,
    /// The discipline, with settings.
    pub discipline: String,
    /// What else is set.
    pub set: Settings,
    /// It relies on what end hosts say about their packets.
    pub labelled: bool,
}

impl Case {
    /// A discipline under its own name.
    pub fn plain(discipline: &str) -> Self {
        Case::from(CaseWritten::Plain(discipline.to_owned()))
    }
}

/// Disciplines that read labels, or what amounts to them.
const LABELLED: [&str; 3] = ["prio", "cbq", "dualpi2"];

fn reads_labels(choice: &Choice) -> bool {
    LABELLED.contains(&choice.name.as_str()) || choice.children.iter().any(reads_labels)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CaseWritten {
    Plain(String),
    Full(CaseTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    name: String,
    discipline: String,
    #[serde(default)]
    set: Settings,
}

impl From<CaseWritten> for Case {
    fn from(written: CaseWritten) -> Self {
        let (name, discipline, set) = match written {
            CaseWritten::Plain(name) => (name.clone(), name, Settings::new()),
            CaseWritten::Full(table) => (table.name, table.discipline, table.set),
        };
        // What is not a choice is refused by `check`.
        let choice: Option<Choice> = discipline.parse().ok();
        Case {
            labelled: choice.is_some_and(|choice| reads_labels(&choice)),
            name,
            discipline,
            set,
        }
    }
}

/// Something that varies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in tables and claims.
    pub name: String,
    /// The key of the scenario that takes each value; `disciplines.NAME.KEY` is a setting of a
    /// discipline that is compared.
    #[serde(default)]
    pub path: Option<String>,
    /// The values.
    pub values: Vec<AxisValue>,
    /// Those that a quick run takes; all of them if none is named.
    #[serde(default)]
    pub quick: Vec<String>,
}

/// A value of an [`Axis`].
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum AxisValue {
    /// What the axis' path is set to.
    Plain(String),
    /// Several keys at once, under one name.
    Several {
        /// The name.
        is: String,
        /// The keys.
        set: Settings,
    },
}

impl AxisValue {
    /// Its name in tables.
    pub fn label(&self) -> &str {
        match self {
            AxisValue::Plain(label) | AxisValue::Several { is: label, .. } => label,
        }
    }
}

impl Axis {
    /// The values that are run.
    pub fn chosen(&self, quick: bool) -> Vec<&AxisValue> {
        let all = self.values.iter();
        let chosen = all.filter(|value| {
            !quick || self.quick.is_empty() || self.quick.iter().any(|q| q == value.label())
        });
        chosen.collect()
    }

    /// What has to be set for `value`.
    pub fn settings(&self, value: &AxisValue) -> Settings {
        match (value, &self.path) {
            (AxisValue::Several { set, .. }, _) => set.clone(),
            (AxisValue::Plain(text), Some(path)) => Settings::from([(path.clone(), text.clone())]),
            (AxisValue::Plain(_), None) => Settings::new(),
        }
    }
}

impl Experiment {
    /// How many runs of each combination there are.
    pub fn seeds(&self, quick: bool) -> u64 {
        let fewer = self.written.quick.seeds.filter(|_| quick);
        fewer.unwrap_or(self.written.seeds)
    }

    /// Reads the experiment `id` from `text`, found in `file`.
    ///
    /// # Errors
    /// A message that names the file, what was found and what there is.
    pub fn parse(id: &str, file: &str, text: &str) -> Result<Self, String> {
        let about = |error: &dyn std::fmt::Display| format!("{file}: {error}");
        let written: Written = toml::from_str(text).map_err(|error| about(&error))?;
        let document = Document::parse(file, text)
            .map_err(|error| format!("{}: {}", error.place(), error.message))?;
        // An experiment without runs (a theorem, page statistics) needs no scenario.
        let scenario = document.part("scenario").unwrap_or(document);
        Experiment::new(id, written, scenario).map_err(|error| about(&error))
    }

    /// The experiment `id` of what is `written`, from `scenario`.
    ///
    /// # Errors
    /// What was found and what there is.
    pub(super) fn new(id: &str, written: Written, scenario: Document) -> Result<Self, String> {
        let experiment = Experiment {
            id: id.to_owned(),
            written,
            scenario,
        };
        experiment.check()?;
        Ok(experiment)
    }

    /// Whether there is anything to run.
    pub fn has_runs(&self) -> bool {
        !self.written.cases.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        for case in &self.written.cases {
            let parsed = case.discipline.parse::<Choice>();
            parsed.map_err(|refusal| format!("case {:?}: {refusal}", case.name))?;
        }
        for axis in &self.written.vary {
            let plain = |value: &AxisValue| matches!(value, AxisValue::Plain(_));
            if axis.values.iter().any(plain) && axis.path.is_none() {
                return Err(format!("vary {:?}: a path is missing", axis.name));
            }
            if axis.values.is_empty() {
                return Err(format!("vary {:?}: there are no values", axis.name));
            }
            for quick in &axis.quick {
                if !axis.values.iter().any(|value| value.label() == quick) {
                    return Err(format!("vary {:?}: no value {quick:?}", axis.name));
                }
            }
        }
        self.check_selection(&self.written.mechanism)?;
        for claim in &self.written.claim {
            let refused = |error| format!("claim {:?}: {error}", claim.id);
            claim.check(self).map_err(refused)?;
        }
        for figure in &self.written.figure {
            let refused = |error| format!("figure {:?}: {error}", figure.title);
            figure.check(self).map_err(refused)?;
        }
        for curves in &self.written.curves {
            let refused = |error| format!("curves {:?}: {error}", curves.title);
            curves.check().map_err(refused)?;
        }
        Ok(())
    }

    /// The place of the case called `name`.
    ///
    /// # Errors
    /// A sentence that names what there is.
    pub fn case(&self, name: &str) -> Result<usize, String> {
        let cases = &self.written.cases;
        cases
            .iter()
            .position(|case| case.name == name)
            .ok_or_else(|| {
                let names = cases.iter().map(|case| case.name.as_str());
                Refusal::unknown("case", name, names).to_string()
            })
    }

    /// The axis called `name`.
    ///
    /// # Errors
    /// A sentence that names what there is.
    pub fn axis(&self, name: &str) -> Result<&Axis, String> {
        let axes = &self.written.vary;
        axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            format!(
                "nothing called {name:?} varies; there are: {}",
                names.join(", ")
            )
        })
    }

    /// Checks that `selected` names axes and values of theirs.
    ///
    /// # Errors
    /// A sentence that says which does not exist.
    pub fn check_selection(&self, selected: &Settings) -> Result<(), String> {
        for (name, label) in selected {
            let axis = self.axis(name)?;
            if !axis.values.iter().any(|value| value.label() == label) {
                return Err(format!("{name} has no value {label:?}"));
            }
        }
        Ok(())
    }
}
