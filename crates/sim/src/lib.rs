//! The simulator: the engine that needs no kernel, in virtual time.
//!
//! One thread, one agenda of what is due, integer nanoseconds: a run depends on the scenario, the
//! discipline and the seed, and on nothing else.

#![deny(missing_docs)]

mod agenda;
mod apps;
mod build;
mod ends;
mod flights;
mod network;
mod world;

use apps::Spawner;
use cca::Feedback;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use network::Network;
use scenario::{Choice, Kind, Scenario};
use units::random::Stream;
use units::{Instant, Refusal};
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
    /// Judges a discipline, its settings, and what it contains; an error says what there is instead.
    ///
    /// # Errors
    /// If a name is not known, or a setting is refused.
    pub fn judge_discipline(&self, choice: &Choice) -> Result<(), Refusal> {
        let built = self.disciplines.build(choice, &qdisc::Env::default());
        built.map(|_| ())
    }

    /// Judges a control, its settings, and what it contains; an error says what there is instead.
    ///
    /// # Errors
    /// If a name is not known, or a setting is refused.
    pub fn judge_control(&self, choice: &Choice) -> Result<(), Refusal> {
        let built = self.controls.build(choice, &cca::Setup::default());
        built.map(|_| ())
    }
}

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        let mut unsupported = Vec::new();
        let mut refuse = |entry: String, refusal: Refusal| {
            unsupported.push(Unsupported { entry, refusal });
        };
        for choice in &scenario.disciplines {
            if let Err(refusal) = self.judge_discipline(choice) {
                refuse("disciplines".to_owned(), refusal);
            }
        }
        for traffic in &scenario.traffic {
            let entry = format!("traffic.{}.control", traffic.name);
            let control = self
                .controls
                .build(&traffic.control, &cca::Setup::default());
            let wants = match control {
                Ok(control) => control.feedback(),
                Err(refusal) => {
                    refuse(entry, refusal);
                    continue;
                }
            };
            if let Kind::Call(params, _) = &traffic.kind
                && let Err(refusal) = Encoder::new(params, Instant::ZERO, Stream::new(0, "check"))
            {
                refuse(format!("traffic.{}.min_rate", traffic.name), refusal);
            }
            if wants == Feedback::Arrivals && !matches!(traffic.kind, Kind::Call(..)) {
                let name = &traffic.control.name;
                let message =
                    format!("{name} needs arrival times, which TCP and QUIC do not report");
                let refusal = Refusal::new(message).with_help("only a call can use it");
                refuse(entry, refusal);
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
