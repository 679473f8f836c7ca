//! The simulator: the engine that needs no kernel, in virtual time.
//!
//! One thread, one agenda of what is due, integer nanoseconds: a run depends on the scenario, the
//! discipline and the seed, and on nothing else.
//!
//! Not for: measuring what comes of a run (`measure`); Linux's own code (`linux`).

#![deny(missing_docs)]

mod agenda;
mod apps;
mod build;
mod ends;
mod flights;
mod network;
mod world;

use apps::Spawner;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use network::Network;
use scenario::{Choice, Kind, Scenario};
use units::Instant;
use units::random::Stream;
use workload::call::Encoder;
use world::World;

/// The simulator, with the disciplines and controls that it knows.
pub struct Simulator {
    /// Known disciplines.
    pub disciplines: qdisc::Registry<u32>,
    /// Known controls.
    pub controls: cca::Registry,
}

impl Default for Simulator {
    fn default() -> Self {
        Simulator {
            disciplines: qdisc::Registry::builtin(),
            controls: cca::Registry::builtin(),
        }
    }
}

impl Simulator {
    /// Judges a discipline and its settings; an error says what there is instead.
    ///
    /// # Errors
    /// If it is not known, or refuses a setting.
    pub fn judge_discipline(&self, choice: &Choice) -> Result<(), String> {
        let Some(entry) = self.disciplines.get(&choice.name) else {
            let names = self.disciplines.iter().map(|entry| entry.name);
            return Err(unknown("discipline", &choice.name, names));
        };
        match (entry.build)(&choice.settings, &qdisc::Env::default()) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", choice.name)),
        }
    }

    /// Judges a control and its settings; an error says what there is instead.
    ///
    /// # Errors
    /// If it is not known, or refuses a setting.
    pub fn judge_control(&self, choice: &Choice) -> Result<(), String> {
        let Some(entry) = self.controls.get(&choice.name) else {
            let names = self.controls.iter().map(|entry| entry.name);
            return Err(unknown("control", &choice.name, names));
        };
        match (entry.build)(&choice.settings, &cca::Setup::default()) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", choice.name)),
        }
    }
}

fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let name: String = name.chars().take(60).collect();
    format!(
        "no {what} {name:?}; there are: {}",
        names.collect::<Vec<_>>().join(", ")
    )
}

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        let mut unsupported = Vec::new();
        let mut refuse = |entry: String, reason: String| {
            unsupported.push(Unsupported { entry, reason });
        };
        for choice in &scenario.disciplines {
            if let Err(reason) = self.judge_discipline(choice) {
                refuse("disciplines".to_owned(), reason);
            }
        }
        for traffic in &scenario.traffic {
            let entry = format!("traffic.{}.control", traffic.name);
            if let Err(reason) = self.judge_control(&traffic.control) {
                refuse(entry, reason);
                continue;
            }
            if let Kind::Call(params, _) = &traffic.kind
                && let Err(error) = Encoder::new(params, Instant::ZERO, Stream::new(0, "check"))
            {
                refuse(
                    format!("traffic.{}.min_rate", traffic.name),
                    error.to_string(),
                );
            }
            let control = self.controls.get(&traffic.control.name);
            let media_only = control.is_some_and(|control| control.media_only);
            if media_only && !matches!(traffic.kind, Kind::Call(..)) {
                let name = &traffic.control.name;
                let reason = format!(
                    "{name} needs arrival times, which TCP and QUIC do not report; only a call \
                     can use it"
                );
                refuse(entry, reason);
            }
        }
        unsupported
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        if let Some(unsupported) = self.check(scenario).into_iter().next() {
            return Err(unsupported.into());
        }
        let built = build::links(&self.disciplines, scenario, discipline, seed)?;
        let uplinks = built.uplinks;
        let network = Network::new(built.links, sink);
        let spawner = Spawner {
            scenario,
            controls: &self.controls,
            seed,
            uplinks,
            flows: 0,
        };
        World::new(network, spawner).run(scenario, Instant::ZERO + scenario.duration);
        Ok(built.described)
    }
}
