//! The experiments asked for, and the engine that runs each.

use crate::cli::EngineArgs;
use crate::own;
use crate::runs::engines::{self, Chosen};
use command::Refused;
use reproduce::{Data, Experiment, Wants, registry};
use scenario::Document;
use std::path::Path;
use units::Refusal;

type Result<T> = std::result::Result<T, Refused>;

/// Where recorded traces and pages are.
const DATA: &str = "ANALECTS_DATA";

/// The data that experiments use: recorded, or generated.
pub fn data() -> Data {
    let folder = std::env::var_os(DATA);
    Data::new(folder.as_deref().map(Path::new))
}

/// The experiments that a name means, or the one in a file.
pub fn experiments(name: &str) -> Result<Vec<Experiment>> {
    let help = "`analects list experiments` has them all; a file of your own ends in .toml";
    let refused = |refusal: Refusal| Refused::because(refusal, help);
    if !is_file(name) {
        return registry::find(name).map_err(refused);
    }
    let text = scenario::files::read(Path::new(name), scenario::files::MAX_SCENARIO)
        .map_err(|reason| refused(Refusal::new(reason).within(name)))?;
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let id = format!("own/{}", stem.to_string_lossy());
    Ok(vec![Experiment::parse_with(
        &id,
        name,
        &text,
        own::simulator().metrics.clone(),
    )?])
}

/// The experiments matched by `names`, with each of these `calls` in turn; if there are none, as
/// they are.
pub fn with_calls(names: &[String], calls: &[String]) -> Result<Vec<Experiment>> {
    let mut written = Vec::new();
    for name in names {
        written.extend(experiments(name)?);
    }
    if calls.is_empty() {
        return Ok(written);
    }
    let presets = workload::call::ENTRY.presets.iter();
    let presets: Vec<&str> = presets.map(|preset| preset.name).collect();
    if let Some(unknown) = calls.iter().find(|name| !presets.contains(&name.as_str())) {
        let refusal = Refusal::unknown("preset of call", unknown, presets);
        return Err(Refused::because(
            refusal,
            "`analects describe call` has them",
        ));
    }
    let mut all = Vec::new();
    for experiment in written {
        for name in calls {
            all.push(experiment.clone().with_calls(name)?);
        }
    }
    Ok(all)
}

/// The scenarios that a name means on which engines are compared, or the experiment in a file.
pub fn for_engines(name: &str) -> Result<Vec<Experiment>> {
    if is_file(name) {
        return experiments(name);
    }
    let help = "name scenarios of that list, or a folder's with /all";
    registry::find_for_engines(name).map_err(|refusal| Refused::because(refusal, help))
}

/// Whether a plan's name is that of a file.
pub fn is_file(name: &str) -> bool {
    name.ends_with(".toml")
}

/// Whether a file has an experiment, not a scenario.
pub fn is_experiment(document: &Document) -> bool {
    document.get("title").is_some()
}

/// The engine that was asked for; for an experiment that needs Linux, `kernel` unless it was `host`.
pub fn wanted(asked: &EngineArgs, experiment: &Experiment) -> EngineArgs {
    let mut wanted = asked.clone();
    if experiment.written.engine == Wants::Kernel && asked.name != "host" {
        "kernel".clone_into(&mut wanted.name);
    }
    wanted
}

/// Engines that were asked for before: each is looked up, and its dependencies are read, once.
#[derive(Default)]
pub struct Engines(Vec<(EngineArgs, Chosen, String)>);

impl Engines {
    /// The engine, and the dependencies of its results.
    pub fn get(&mut self, args: &EngineArgs) -> Result<(&Chosen, &str)> {
        let known = self.0.iter().position(|(known, ..)| known == args);
        let place = match known {
            Some(place) => place,
            None => {
                let chosen = engines::chosen(args)?;
                let basis = chosen.basis()?;
                self.0.push((args.clone(), chosen, basis));
                self.0.len() - 1
            }
        };
        let (_, chosen, basis) = &self.0[place];
        Ok((chosen, basis))
    }

    /// The engine for one of several experiments: one that cannot be had here is passed over, loudly.
    pub fn for_one_of(
        &mut self,
        several: bool,
        experiment: &Experiment,
        args: &EngineArgs,
    ) -> Result<Option<(&Chosen, &str)>> {
        match self.get(args) {
            Err(refused) if several => {
                eprintln!("{} is left out:\n{}", experiment.id, refused.rendered());
                Ok(None)
            }
            engine => engine.map(Some),
        }
    }
}
