//! From the words of a call in Python to jobs.

use crate::refused::Refused;
use campaign::{Case, Cell, Grid, Job, Settings, Trace};
use measure::Engine;
use scenario::Document;
use serde::Deserialize;
use sim::Simulator;
use std::collections::BTreeMap;
use units::Refusal;

/// More runs than this are a mistake.
const MAX_RUNS: u64 = 1_000_000;

/// What is run, as `analects.run` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name in errors.
    file: String,
    scenario: Written,
    /// Paths and values, in order.
    set: Vec<(String, String)>,
    /// Paths and each one's values: every combination is run.
    vary: Vec<(String, Vec<String>)>,
    /// Those of the scenario if there are none.
    disciplines: Vec<String>,
    /// The first seed, and how many there are.
    seeds: (u64, u64),
    without: Option<String>,
}

/// A scenario in Python.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    /// TOML.
    Text(String),
    /// A dict.
    Table(serde_json::Map<String, serde_json::Value>),
}

impl Request {
    /// The jobs.
    ///
    /// # Errors
    /// If anything of it is wrong.
    pub fn jobs(&self, simulator: &Simulator) -> Result<Vec<Job>, Refused> {
        let refused = match self.scenario {
            Written::Text(_) => Refused::from,
            Written::Table(_) => Refused::in_table,
        };
        let grid = self.grid(simulator)?;
        if grid.jobs() > MAX_RUNS {
            let message = format!("{} runs are more than {MAX_RUNS}", grid.jobs());
            return Err(Refused::new(message, "give fewer values, traces or seeds"));
        }
        grid.plan(simulator as &dyn Engine, simulator)
            .map_err(refused)
    }

    fn grid(&self, simulator: &Simulator) -> Result<Grid, Refused> {
        let (base, refused): (Document, fn(_) -> Refused) = match &self.scenario {
            Written::Text(text) => (Document::parse(&self.file, text)?, Refused::from),
            Written::Table(table) => {
                let text = toml::to_string(table).map_err(|error| {
                    Refused::new(
                        format!("{}: {error}", self.file),
                        "write it as a scenario's TOML",
                    )
                })?;
                let document = Document::parse(&self.file, &text).map_err(Refused::in_table)?;
                (document, Refused::in_table)
            }
        };
        let mut base = base;
        for (path, value) in &self.set {
            base.set(path, value)?;
        }
        if !self.disciplines.is_empty() {
            base.set_disciplines(&self.disciplines);
        }
        let traces = Trace::all(&mut base)?;
        let mut first = base.clone();
        if let Some(Some(trace)) = traces.first() {
            trace.set_in(&mut first)?;
        }
        for (path, values) in &self.vary {
            if !path.starts_with(campaign::SETTING)
                && let Some(value) = values.first()
            {
                first.set(path, value)?;
            }
        }
        let scenario = first.resolve(simulator).map_err(refused)?;
        let names = || scenario.traffic.iter().map(|entry| entry.name.as_str());
        if let Some(name) = &self.without
            && !names().any(|known| known == name)
        {
            return Err(Refusal::unknown("traffic", name, names())
                .within("without")
                .into());
        }
        let cases = scenario.disciplines.iter();
        Ok(Grid {
            base,
            cases: cases
                .map(|choice| Case::plain(&choice.to_string()))
                .collect(),
            cells: cells(&self.vary),
            traces,
            seeds: self.seeds,
            without: self.without.clone(),
            common: BTreeMap::new(),
        })
    }
}

/// The combinations of values, the last path's changing fastest.
fn cells(vary: &[(String, Vec<String>)]) -> Vec<Cell> {
    let mut all = vec![Settings::new()];
    for (path, values) in vary {
        let with = |cell: Settings| {
            values.iter().map(move |value| {
                let mut cell = cell.clone();
                cell.insert(path.clone(), value.clone());
                cell
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    let cell = |settings: Settings| Cell {
        labels: settings.clone(),
        settings,
        traffic: Vec::new(),
    };
    all.into_iter().map(cell).collect()
}
