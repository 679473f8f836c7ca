//! The simulator: the engine that needs no kernel, in virtual time.
//!
//! One thread, one agenda, integer nanoseconds: a run depends on the scenario, the discipline and
//! the seed, and on nothing else.
//!
//! Not for: measuring the results of a run (`measure`); Linux's own code (`linux`).

#![deny(missing_docs)]

mod agenda;
mod below;
mod ends;
mod flights;
mod follow;
mod network;
mod pairs;
mod ring;
mod sockets;
mod world;

use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use network::Network;
use scenario::{Choice, Names, Scenario};
use sockets::Ends;
use units::{Instant, Refusal};
use world::World;

/// The simulator, with its disciplines and controls.
#[derive(Clone)]
pub struct Simulator {
    /// Known disciplines.
    pub disciplines: qdisc::Registry<u32>,
    /// Known controls.
    pub controls: cca::Registry,
    /// Known controllers of links' rates.
    pub autorates: autorate::Registry,
    /// Known workloads.
    pub workloads: workload::Registry,
    /// Known metrics.
    pub metrics: measure::metric::Registry,
}

impl Default for Simulator {
    fn default() -> Self {
        Simulator {
            disciplines: qdisc::Registry::builtin(),
            controls: cca::Registry::builtin(),
            autorates: autorate::Registry::builtin(),
            workloads: workload::Registry::builtin(),
            metrics: measure::metric::Registry::builtin(),
        }
    }
}

impl Simulator {
    /// Checks a discipline, its settings, and its children; an error has the names that exist.
    ///
    /// # Errors
    /// If a name is not known, or a setting is refused.
    pub fn judge_discipline(&self, choice: &Choice) -> Result<(), Refusal> {
        let built = self.disciplines.build(choice, &qdisc::Env::default());
        built.map(|_| ())
    }

    /// Checks a control, its settings, and its children; an error has the names that exist.
    ///
    /// # Errors
    /// If a name is not known, or a setting is refused.
    pub fn judge_control(&self, choice: &Choice) -> Result<(), Refusal> {
        let built = self.controls.build(choice, &cca::Setup::default());
        built.map(|_| ())
    }
}

/// The names that scenarios may use.
impl Names for Simulator {
    fn discipline(&self, choice: &Choice) -> Result<(), Refusal> {
        self.judge_discipline(choice)
    }

    fn control(&self, choice: &Choice) -> Result<(), Refusal> {
        self.judge_control(choice)
    }

    fn autorate(&self, choice: &Choice) -> Result<(), Refusal> {
        self.autorates.build(choice).map(drop)
    }

    fn metric(&self, name: &str) -> Result<(), Refusal> {
        match self.metrics.get(name) {
            Some(_) => Ok(()),
            None => {
                let names = self.metrics.iter().map(|metric| metric.name);
                Err(Refusal::unknown("metric", name, names))
            }
        }
    }

    fn workloads(&self) -> &workload::Registry {
        &self.workloads
    }
}

impl Engine for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn metrics(&self) -> measure::metric::Registry {
        self.metrics.clone()
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        let mut unsupported = Vec::new();
        let mut refuse = |entry: String, refusal: Refusal| {
            unsupported.push(Unsupported { entry, refusal });
        };
        if let Some(refusal) = scenario.stack.needs_webrtc() {
            refuse("stack".to_owned(), refusal);
        }
        for choice in &scenario.disciplines {
            if let Err(refusal) = self.judge_discipline(choice) {
                refuse("disciplines".to_owned(), refusal);
            }
        }
        for link in &scenario.links {
            let follow = link.follow.as_ref();
            if let Some(Err(refusal)) = follow.map(|follow| self.autorate(&follow.controller)) {
                refuse(format!("link.{}.autorate", link.name), refusal);
            }
        }
        for traffic in &scenario.traffic {
            let Some(choice) = &traffic.control else {
                continue;
            };
            let entry = format!("traffic.{}.control", traffic.name);
            let control = self.controls.build(choice, &cca::Setup::default());
            let suits = control.and_then(|control| endpoints::suits(traffic, &*control));
            if let Err(refusal) = suits {
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
        let followed = follow::followers(&self.autorates, scenario, seed);
        let followed = followed.map_err(|refusal| EngineError {
            entry: "link.autorate".to_owned(),
            refusal,
        })?;
        match followed {
            None => self.play(scenario, discipline, seed, None, sink),
            Some((scenario, followers)) => {
                let mut watch = follow::Watch::new(followers.clone(), sink);
                self.play(&scenario, discipline, seed, Some(followers), &mut watch)
            }
        }
    }
}

impl Simulator {
    /// Runs a scenario that was checked.
    fn play(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        followers: Option<follow::Shared>,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let built = measure::build::links(&self.disciplines, scenario, discipline, seed)?;
        let network = Network::new(built.links, scenario.small_queues, sink);
        let ends = Ends::new(network, scenario, &self.controls, seed);
        let end = Instant::ZERO + scenario.duration;
        let mut world = World::new(ends, scenario, followers, seed);
        world.run(scenario, seed, end);
        let mut described = built.described;
        for (link, described) in world.links().iter().zip(&mut described) {
            described.children = link.queue().children();
        }
        Ok(described)
    }
}
