//! The cases and axes of an experiment: all names that its claims and figures may use.

use campaign::{Case, Settings};
use measure::metric::Registry;
use serde::Deserialize;
use units::Refusal;

/// The names that may be used.
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    /// The cases compared.
    pub cases: &'a [Case],
    /// The axes that vary.
    pub axes: &'a [Axis],
    /// The metrics that can be measured.
    pub metrics: &'a Registry,
    /// Seconds that no run is longer than; infinite if the scenario does not say.
    pub longest: f64,
}

impl<'a> Design<'a> {
    /// The place of the case called `name`.
    ///
    /// # Errors
    /// A sentence with the existing names.
    pub fn case(&self, name: &str) -> Result<usize, Refusal> {
        let cases = self.cases;
        cases
            .iter()
            .position(|case| case.name == name)
            .ok_or_else(|| {
                let names = cases.iter().map(|case| case.name.as_str());
                Refusal::unknown("case", name, names)
            })
    }

    /// The axis called `name`.
    ///
    /// # Errors
    /// A sentence with the existing names.
    pub fn axis(&self, name: &str) -> Result<&'a Axis, Refusal> {
        let axes = self.axes;
        axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
            let names = axes.iter().map(|axis| axis.name.as_str());
            Refusal::unknown("axis", name, names)
        })
    }

    /// Checks that `selected` names axes and values of theirs.
    ///
    /// # Errors
    /// A sentence with the name that does not exist.
    pub fn check_selection(&self, selected: &Settings) -> Result<(), Refusal> {
        for (name, label) in selected {
            let axis = self.axis(name)?;
            if !axis.values.iter().any(|value| value.label() == label) {
                let labels = axis.values.iter().map(AxisValue::label);
                return Err(Refusal::unknown("value", label, labels).within(name));
            }
        }
        Ok(())
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
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a text such as \"20ms\", or { is = \"NAME\", set = { KEY = \"VALUE\" }, traffic = [ENTRY] }"
)]
pub enum AxisValue {
    /// The value to which the axis' path is set.
    Plain(String),
    /// Several keys at once, under one name.
    Several {
        /// The name.
        is: String,
        /// The keys.
        #[serde(default)]
        set: Settings,
        /// Entries of traffic that come with it.
        #[serde(default)]
        traffic: Vec<toml::Table>,
    },
}

impl AxisValue {
    /// Its name in tables.
    pub fn label(&self) -> &str {
        match self {
            AxisValue::Plain(label) | AxisValue::Several { is: label, .. } => label,
        }
    }

    /// Entries of traffic that come with it.
    pub fn traffic(&self) -> &[toml::Table] {
        match self {
            AxisValue::Several { traffic, .. } => traffic,
            AxisValue::Plain(_) => &[],
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

    /// The settings for `value`.
    pub fn settings(&self, value: &AxisValue) -> Settings {
        match (value, &self.path) {
            (AxisValue::Several { set, .. }, _) => set.clone(),
            (AxisValue::Plain(text), Some(path)) => Settings::from([(path.clone(), text.clone())]),
            (AxisValue::Plain(_), None) => Settings::new(),
        }
    }
}
