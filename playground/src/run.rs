//! One run: its picture while it goes on, and its result.

use crate::answer::{self, Failure};
use crate::check::check;
use crate::picture::Picture;
use measure::{RunResult, Sink, Taps, tapped};
use scenario::{Choice, Scenario};
use serde::Serialize;
use sim::Simulator;
use units::Instant;

/// Runs the scenario of `text`: prints what it says, the picture, and the result.
pub fn drawn(text: &str, discipline: &str, seed: &str) -> Result<(), Failure> {
    let simulator = Simulator::default();
    let scenario = check(text, &simulator)?;
    let mut picture = Picture::new(&scenario);
    let result = run(&simulator, &scenario, discipline, seed, Some(&mut picture))?;
    picture.finish(Instant::ZERO + scenario.duration);
    print(&result)
}

/// The same without the picture.
pub fn plain(text: &str, discipline: &str, seed: &str) -> Result<(), Failure> {
    let simulator = Simulator::default();
    let scenario = check(text, &simulator)?;
    print(&run(&simulator, &scenario, discipline, seed, None)?)
}

fn run<'a>(
    simulator: &'a Simulator,
    scenario: &Scenario,
    discipline: &str,
    seed: &str,
    tap: Option<&'a mut dyn Sink>,
) -> Result<RunResult, Failure> {
    let choice: Choice = discipline.parse().map_err(|refusal: units::Refusal| {
        Failure::new(&refusal.message, &refusal.help.unwrap_or_default())
    })?;
    let seed = seed.parse().map_err(|_| {
        Failure::new(
            &format!("{seed:?} is no seed"),
            "write a whole number from 0",
        )
    })?;
    let taps = Taps { series: false, tap };
    Ok(tapped(simulator, scenario, &choice, seed, taps)?)
}

fn print(result: &RunResult) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line<'a> {
        result: &'a RunResult,
    }
    answer::print(&Line { result })
}
