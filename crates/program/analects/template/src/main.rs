//! The commands of `analects`, with entries of our own: `cargo run -- run scenario.toml`.

mod control;
mod discipline;
mod metric;
mod traffic;

use analects::Own;
use analects::sim::Simulator;
use std::process::ExitCode;

fn main() -> ExitCode {
    analects::main_with(Own {
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        simulator: simulator(),
    })
}

/// The built-in entries and ours. One of a built-in one's name replaces it.
fn simulator() -> Simulator {
    let mut simulator = Simulator::default();
    simulator.disciplines.add(discipline::newest());
    simulator.controls.add(control::ENTRY);
    simulator.workloads.add(traffic::ENTRY);
    simulator.metrics.add(metric::SPOILT);
    simulator
}

#[cfg(test)]
mod tests {
    use super::*;
    use analects::measure;
    use analects::scenario::Document;

    #[test]
    fn the_scenario_runs_and_the_newest_packet_does_not_wait() {
        let simulator = simulator();
        let text = include_str!("../scenario.toml");
        let document = Document::parse("scenario.toml", text).unwrap();
        let scenario = document.resolve(&simulator).unwrap();
        let delay = |discipline: &str| {
            let choice = discipline.parse().unwrap();
            let run = measure::run(&simulator, &scenario, &choice, 1, false).unwrap();
            let mut figures = run.figures.iter();
            let delay = figures.find(|row| row.figure == "sensor_delay").unwrap();
            (delay.value.unwrap(), run.flows.len())
        };
        let ((first, _), (newest, flows)) = (delay("pfifo"), delay("newest"));
        assert!(newest < first, "newest {newest} ms, pfifo {first} ms");
        assert_eq!(flows, 1, "the download's");
    }
}
