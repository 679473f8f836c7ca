//! A run from the plan to its records.

use crate::command;
use crate::error::{Failure, Tried};
use crate::place::Namespaces;
use crate::plan::Plan;
use crate::rates::RateChanges;
use crate::setup::{Delays, GuestSetup};
use crate::tap::Tap;
use crate::world::{World, clock};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration as Wait;

/// The report of a run, without its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// When traffic started, nanoseconds on the kernel's monotonic clock, as records have them.
    pub origin: u64,
    /// Clock ticks of the processor while traffic ran, and how many of them it was idle.
    pub ticks: (u64, u64),
    /// Connections and sessions.
    pub flows: u32,
}

/// A pause after the network is built, for it to settle. In virtual time it takes none.
const REST: Wait = Wait::from_secs(1);

/// Reads a plan from its file, and runs it.
///
/// # Errors
/// If the file is not a plan, and those of [`run`].
pub fn run_file(plan: &Path, out: &Path) -> Result<Report, Failure> {
    let at = plan.display().to_string();
    let text = std::fs::read_to_string(plan).tried(&at)?;
    run(&serde_json::from_str(&text).tried(&at)?, out)
}

/// Runs `plan` and leaves `events`, `packets`, `report` and the output of its last commands in the
/// folder `out`.
///
/// # Errors
/// If the network cannot be built, or a socket behaves as it should not.
pub fn run(plan: &Plan, out: &Path) -> Result<Report, Failure> {
    command::build(plan)?;
    let mut namespaces = Namespaces::open(&plan.places)?;
    let rates = RateChanges::new(&plan.rates, &mut namespaces)?;
    let delays = Delays::Classes(plan.delays.clone());
    let setup = GuestSetup::new(&plan.traffic, plan.seed, plan.ecn, delays)?;
    let mut world = World::new(setup, namespaces, rates)?;
    std::thread::sleep(REST);
    let tap = plan.tap.as_ref().map(Tap::start).transpose()?;
    let before = ticks()?;
    let origin = clock()?;
    world.run(origin, plan.duration)?;
    let after = ticks()?;
    if let Some(tap) = tap {
        tap.stop(&out.join("packets"))?;
    }
    for (file, words) in &plan.finish {
        let path = out.join(file);
        std::fs::write(&path, command::execute(words)?).tried(&path.display().to_string())?;
    }
    let path = out.join("events");
    let text = world.sockets.log.text().tried("the events")?;
    std::fs::write(&path, text).tried(&path.display().to_string())?;
    let report = Report {
        origin,
        ticks: (after.0 - before.0, after.1 - before.1),
        flows: world.flows(),
    };
    let text = serde_json::to_string(&report).tried("the report")?;
    let path = out.join("report");
    std::fs::write(&path, text).tried(&path.display().to_string())?;
    Ok(report)
}

/// The processor's time so far, and its idle time (proc_stat(5)).
fn ticks() -> Result<(u64, u64), Failure> {
    let text = std::fs::read_to_string("/proc/stat").tried("/proc/stat")?;
    let line = text.lines().next().unwrap_or_default();
    let numbers: Vec<u64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let idle = numbers.iter().skip(3).take(2).sum();
    Ok((numbers.iter().take(8).sum(), idle))
}
