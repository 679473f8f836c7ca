//! A figure of facts: a line for each, over values that stand for `{x}` in it.

use crate::facts::{Fact, Facts, unit};
use crate::figure::{Form, Panel, Series, ShownFigure};
use measure::estimate::Estimate;
use serde::Deserialize;
use units::Refusal;

/// Lines as they are written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// A line.
    pub title: String,
    /// The variable.
    pub x: String,
    /// Its values.
    pub values: Vec<String>,
    /// The kind of facts.
    pub y: String,
    /// The lines.
    pub line: Vec<CurveLine>,
}

/// One of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveLine {
    /// Its name.
    pub name: String,
    /// A fact, with `{x}` in place of the value.
    pub fact: String,
}

impl CurveLine {
    fn at(&self, x: &str) -> String {
        self.fact.replace("{x}", x)
    }
}

impl Curves {
    /// Checks that each line is a fact for each value.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        for line in &self.line {
            for x in &self.values {
                Fact::parse(&line.at(x))?;
            }
        }
        Ok(())
    }

    /// The figure.
    ///
    /// # Errors
    /// If the subject of the facts cannot be read.
    pub fn shown(&self, facts: &Facts<'_>) -> Result<ShownFigure, Refusal> {
        let mut series = Vec::new();
        for line in &self.line {
            let value = |x: &String| {
                let value = facts.value(&line.at(x))?;
                Ok(value.map(Estimate::exact))
            };
            let values: Result<Vec<_>, Refusal> = self.values.iter().map(value).collect();
            series.push(Series {
                case: line.name.clone(),
                look: line.name.clone(),
                values: values?,
                all: Vec::new(),
            });
        }
        let unit = self.line.first().map_or("", |line| unit(&line.fact));
        let y = [self.y.as_str(), unit];
        let y: Vec<&str> = y.into_iter().filter(|part| !part.is_empty()).collect();
        Ok(ShownFigure {
            title: self.title.clone(),
            kind: Form::Lines,
            axes: [self.x.clone(), y.join(", ")],
            limit: None,
            sampled: false,
            panels: vec![Panel {
                title: String::new(),
                columns: self.values.clone(),
                series,
            }],
        })
    }
}
