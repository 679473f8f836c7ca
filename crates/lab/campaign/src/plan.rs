//! From axes to jobs: the one planner of all campaigns.

use crate::job::{Description, Job};
use crate::{Case, Error, Settings, Trace};
use measure::{Engine, WITHOUT};
use scenario::{Choice, Document, Names, Scenario, ScenarioError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use units::Refusal;

/// Which discipline settings an axis may change: `disciplines.NAME.KEY`.
pub const SETTING: &str = "disciplines.";

/// The runs: every case in every cell over every trace, with each seed.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The scenario that all start from.
    pub base: Document,
    /// The cases compared.
    pub cases: Vec<Case>,
    /// The combinations of the axes' values.
    pub cells: Vec<Cell>,
    /// The traces that a link follows, each in turn; none if it stays as it is.
    pub traces: Vec<Option<Trace>>,
    /// The first seed, and how many there are.
    pub seeds: (u64, u64),
    /// Every run is made a second time without this traffic.
    pub without: Option<String>,
    /// The common part of every result's variant.
    pub common: BTreeMap<String, String>,
}

/// A combination of values.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// Each axis' name, and its value's.
    pub labels: BTreeMap<String, String>,
    /// Their settings.
    pub settings: Settings,
    /// Entries of traffic that come with them.
    pub traffic: Vec<toml::Table>,
}

impl Description {
    /// The grid that has this job, called `name` in errors; the job is its first.
    ///
    /// # Errors
    /// If the scenario is none.
    pub fn grid(&self, name: &str) -> Result<Grid, Error> {
        let text = toml::to_string(&self.scenario).map_err(|error| {
            Error::Wrong(Refusal::new(format!(
                "{name}: its scenario is not valid: {error}"
            )))
        })?;
        Ok(Grid {
            base: Document::parse(name, &text)?,
            cases: vec![Case::plain(&self.discipline)],
            cells: vec![Cell::default()],
            traces: vec![None],
            seeds: (self.seed, 1),
            without: self.without.clone(),
            common: BTreeMap::new(),
        })
    }
}

impl Grid {
    /// How many jobs there are, control runs included; saturates.
    pub fn jobs(&self) -> u64 {
        let sides = if self.without.is_some() { 2 } else { 1 };
        let counts = [self.cells.len(), self.traces.len(), self.cases.len(), sides];
        let counts = counts.into_iter().map(|count| count as u64);
        counts.fold(self.seeds.1, u64::saturating_mul)
    }

    /// All jobs, each just behind its control run if there is one. The order is that of cells, traces,
    /// cases, seeds, the last changing fastest.
    ///
    /// Seeds are the same for all cases and cells, so that random draws are as well. Traces have
    /// seeds of their own, so that they do not all see the same pages.
    ///
    /// # Errors
    /// The error in the scenario, or the part that `engine` cannot run.
    pub fn plan(&self, engine: &dyn Engine, names: &dyn Names) -> Result<Vec<Job>, ScenarioError> {
        let mut jobs = Vec::new();
        for cell in &self.cells {
            for (place, trace) in self.traces.iter().enumerate() {
                let seeds = self.seeds.1;
                let seed = self.seeds.0.wrapping_add(place as u64 * seeds);
                let variant = self.variant(cell, trace.as_ref());
                let chosen = self.chosen(cell, trace.as_ref(), engine, names)?;
                for (case, (choice, resolved)) in self.cases.iter().zip(&chosen) {
                    for repeat in 0..seeds {
                        let job = Job {
                            case: case.name.clone(),
                            scenario: resolved.whole.clone(),
                            discipline: choice.clone(),
                            seed: seed.wrapping_add(repeat),
                            variant: variant.clone(),
                            series: false,
                            listener: None,
                            written: resolved.written.clone(),
                        };
                        jobs.extend(self.control(&job, resolved));
                        jobs.push(job);
                    }
                }
            }
        }
        Ok(jobs)
    }

    /// The settings that distinguish the results of a cell and a trace.
    fn variant(&self, cell: &Cell, trace: Option<&Trace>) -> BTreeMap<String, String> {
        let mut variant = self.common.clone();
        variant.extend(cell.labels.clone());
        variant.extend(trace.map(|trace| ("trace".to_owned(), trace.shown.clone())));
        variant
    }

    /// The control run of `job`, without the traffic that it leaves out.
    fn control(&self, job: &Job, resolved: &Resolved) -> Option<Job> {
        let name = self.without.clone()?;
        let mut control = Job {
            scenario: resolved.control.clone()?,
            series: false,
            ..job.clone()
        };
        control.variant.insert(WITHOUT.to_owned(), name);
        Some(control)
    }

    /// For each case its discipline and the scenario it is run in. Cases with the same settings
    /// share that, so that files are read once.
    fn chosen(
        &self,
        cell: &Cell,
        trace: Option<&Trace>,
        engine: &dyn Engine,
        names: &dyn Names,
    ) -> Result<Vec<(Choice, Rc<Resolved>)>, ScenarioError> {
        let mut groups: Vec<Group> = Vec::new();
        let mut chosen = Vec::new();
        for case in &self.cases {
            let (document, choice) = prepared(&self.base, case, cell, trace)?;
            let json = document.to_json();
            let known = groups.iter().position(|group| group.json == json);
            let place = known.unwrap_or_else(|| {
                groups.push(Group {
                    document,
                    json,
                    choices: Vec::new(),
                });
                groups.len() - 1
            });
            if !groups[place].choices.contains(&choice) {
                groups[place].choices.push(choice.clone());
            }
            chosen.push((choice, place));
        }
        let resolve = |group: Group| group.resolved(self.without.as_deref(), engine, names);
        let resolved: Result<Vec<Resolved>, ScenarioError> =
            groups.into_iter().map(resolve).collect();
        let resolved: Vec<Rc<Resolved>> = resolved?.into_iter().map(Rc::new).collect();
        let chosen = chosen.into_iter();
        Ok(chosen
            .map(|(choice, place)| (choice, resolved[place].clone()))
            .collect())
    }
}

/// Cases that differ only in the discipline.
struct Group {
    document: Document,
    json: Value,
    choices: Vec<Choice>,
}

/// The scenario of a run with its files.
struct Resolved {
    whole: Arc<Scenario>,
    /// The same without the traffic that control runs leave out.
    control: Option<Arc<Scenario>>,
    written: Arc<Value>,
}

impl Group {
    fn resolved(
        mut self,
        without: Option<&str>,
        engine: &dyn Engine,
        names: &dyn Names,
    ) -> Result<Resolved, ScenarioError> {
        let choices: Vec<String> = self.choices.iter().map(ToString::to_string).collect();
        // Those that stand there already keep their place in the text, for errors about them.
        if self.json.get("disciplines") != Some(&choices.clone().into()) {
            self.document.set_disciplines(&choices);
        }
        let scenario = self.document.resolve(names)?;
        if let Some(refused) = engine.check(&scenario).first() {
            let message = format!(
                "engine {} cannot run this: {}",
                engine.name(),
                refused.refusal.message
            );
            let help = refused.refusal.help.as_deref();
            let help = help.unwrap_or("choose another engine, or change the entry");
            return Err(self.document.error_at_path(&refused.entry, &message, help));
        }
        let control = without.map(|name| {
            let mut control = scenario.clone();
            control.traffic.retain(|entry| entry.name != name);
            Arc::new(control)
        });
        Ok(Resolved {
            written: Arc::new(self.document.completed(&scenario).to_json()),
            control,
            whole: Arc::new(scenario),
        })
    }
}

/// The scenario for `case` in `cell`, except for its disciplines, and the discipline under test.
fn prepared(
    base: &Document,
    case: &Case,
    cell: &Cell,
    trace: Option<&Trace>,
) -> Result<(Document, Choice), ScenarioError> {
    let mut document = base.clone();
    for entry in &cell.traffic {
        document.add("traffic", entry, "a value of vary")?;
    }
    // The settings of the case come last: they apply whatever varies.
    let mut settings = cell.settings.clone();
    settings.extend(case.set.clone());
    if let Some(trace) = trace.filter(|trace| base.get(&trace.at) != Some(&trace.path)) {
        settings.insert(trace.at.clone(), trace.path.clone());
    }
    let refused = |refusal: Refusal| {
        let help = refusal.help.as_deref().unwrap_or("name another");
        document.error_at_path("disciplines", &refusal.message, help)
    };
    let mut choice: Choice = case.discipline.parse().map_err(refused)?;
    settings.retain(|path, value| {
        let Some((name, key)) = path.strip_prefix(SETTING).and_then(|p| p.split_once('.')) else {
            return true;
        };
        if name == choice.name {
            choice.settings.retain(|(other, _)| other != key);
            choice.settings.push((key.to_owned(), value.clone()));
        }
        false
    });
    // What is set for one entry holds against what is set for all.
    let mut settings: Vec<_> = settings.iter().collect();
    settings.sort_by_key(|(path, _)| path.matches('.').count());
    for (path, value) in settings {
        document.set(path, value)?;
    }
    Ok((document, choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_one_entry_holds_against_what_is_set_for_all() {
        let text = r#"
            name = "two"
            [link]
            rate = "5mbit"
            rtt = "20ms"
            [[traffic]]
            name = "download"
            kind = "bulk"
            [[traffic]]
            name = "other"
            kind = "bulk"
        "#;
        let base = Document::parse("two", text).unwrap();
        let settings = [("traffic.download.host", "pc"), ("traffic.host", "laptop")];
        let cell = Cell {
            settings: settings
                .map(|(path, value)| (path.to_owned(), value.to_owned()))
                .into(),
            ..Cell::default()
        };
        let (document, _) = prepared(&base, &Case::plain("pfifo"), &cell, None).unwrap();
        let traffic = &document.to_json()["traffic"];
        assert_eq!(traffic[0]["host"], "pc");
        assert_eq!(traffic[1]["host"], "laptop");
    }
}
