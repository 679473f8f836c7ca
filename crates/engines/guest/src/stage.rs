//! Traffic over a network that exists already, and is observed by another program.

use crate::error::Failure;
use crate::log::Log;
use crate::place::Namespaces;
use crate::plan::PlanEntry;
use crate::rates::RateChanges;
use crate::setup::{Delays, GuestSetup, Sessions};
use crate::world::World;
use scenario::Scenario;
use std::fs::File;
use units::{Duration, FlowId};

/// Where traffic takes place.
pub struct Stage {
    /// The network namespace of the servers, which have all of 10.1.0.0/16.
    pub net: File,
    /// That of the home, which has all of 10.2.0.0/16.
    pub home: File,
    /// When it begins, nanoseconds on the kernel's monotonic clock.
    pub origin: u64,
    /// Receives each flow's number and round trip, before the flow has sent a packet.
    pub opened: Box<dyn Fn(FlowId, Duration) + Send>,
}

/// Runs the traffic of `scenario` on a stage; returns the applications' events. `sessions` makes the ends of
/// calls, if they are not this project's own. The calling thread changes its network namespace, and stays in one
/// of the stage's.
///
/// # Errors
/// If a socket behaves as it should not.
pub fn play(
    scenario: &Scenario,
    seed: u64,
    stage: Stage,
    sessions: Option<Sessions>,
) -> Result<Log, Failure> {
    let entries = scenario.traffic.iter();
    let entries: Vec<PlanEntry> = entries
        .map(|entry| PlanEntry::of(entry, scenario))
        .collect();
    let mut setup = GuestSetup::new(&entries, seed, scenario.ecn, Delays::Told(stage.opened))?;
    setup.sessions = sessions;
    let mut namespaces = Namespaces::of(stage.net, stage.home)?;
    let rates = RateChanges::new(&[], &mut namespaces)?;
    let mut world = World::new(setup, namespaces, rates)?;
    world.run(stage.origin, scenario.duration)?;
    Ok(world.sockets.log)
}
