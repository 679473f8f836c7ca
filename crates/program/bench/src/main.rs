//! The cost of a discipline per packet, the speed of the simulator, and a comparison with ns-3.
//!
//! Not part of any result: this is the only crate that reads a clock.
//!
//! - `bench all` does all measurements that `make bench` records.
//! - `bench speed` runs one of the scenarios for speed, also for a profiler.
//! - `bench count` counts the simulator's instructions per packet, and compares them with those recorded in
//!   `bench/instructions.json`.
//! - `bench long` simulates hours of a fast link, and reports the time taken.
//! - `bench qdisc` runs one load on a discipline, for a profiler.
//! - `bench qdisc-time` prints nanoseconds per packet of every discipline as JSON.
//! - `bench qdisc-instructions` prints instructions per packet, counted by callgrind, which has to be
//!   installed: the difference of two runs of different length, so that starting and filling do not
//!   count.
//! - `bench kernel` counts instructions per packet in a real kernel; see `scripts/bench-kernel.sh`.
//! - `bench kernel-said` makes the same table of what was measured in other machines; see `scripts/bench-routers.sh`.
//! - `bench reference` compares the simulator's results with ns-3's.
//!
//! Not for: the effect of a discipline on traffic (`analects run`); whether a result is right
//! (`analects agree`).

#![allow(
    clippy::disallowed_methods,
    reason = "measuring time is what this is for"
)]

mod all;
mod callgrind;
mod cost;
mod document;
mod kernel;
mod load;
mod long;
mod recorded;
mod reference;
mod speed;

use clap::{Parser, Subcommand};
use load::{DisciplineLoad, Fullness};
use serde_json::{Value, json};
use speed::Workload;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Measure disciplines and the simulator, and compare the simulator with ns-3")]
struct Args {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run one load and print nothing.
    Qdisc {
        /// The discipline.
        #[arg(long)]
        discipline: String,
        /// Flows that send.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        flows: u32,
        /// How full the discipline is.
        #[arg(long, value_enum, default_value = "near-empty")]
        state: Fullness,
        /// Packets in and out.
        #[arg(long, default_value_t = 1_000_000)]
        packets: u64,
    },
    /// Nanoseconds per packet in and out: {discipline: {state: {flows: ns}}}.
    QdiscTime {
        /// Only this discipline.
        #[arg(long)]
        discipline: Option<String>,
        /// Packets in and out in each of five runs, of which the fastest counts.
        #[arg(long, default_value_t = 500_000)]
        packets: u64,
    },
    /// Instructions per packet in and out: {discipline: {state: {flows: instructions}}}.
    QdiscInstructions {
        /// Only this discipline.
        #[arg(long)]
        discipline: Option<String>,
        /// Packets in and out that are counted.
        #[arg(long, default_value_t = 100_000)]
        packets: u64,
    },
    /// Count instructions per packet of qdiscs in a real kernel.
    Kernel {
        /// The kernel.
        #[arg(long, default_value = machine::DEFAULT_KERNEL)]
        kernel: String,
        /// The module `sch_gate`, built for it.
        #[arg(long)]
        gate: PathBuf,
        /// Only check that everything can be measured: with few flows and with a thousand.
        #[arg(long)]
        short: bool,
        /// The file for the JSON.
        #[arg(long)]
        out: PathBuf,
    },
    /// Make the table of `kernel` from the output of `kernel/bench/run.sh` in other machines.
    KernelSaid {
        /// The machine's name.
        #[arg(long)]
        machine: String,
        /// The output, a file for each number of flows.
        #[arg(required = true)]
        said: Vec<PathBuf>,
        /// The file for the JSON.
        #[arg(long)]
        out: PathBuf,
    },
    /// Run a scenario for speed and print packets per CPU second.
    Speed {
        /// The scenario.
        workload: Workload,
        /// CPU seconds to measure for.
        #[arg(long, default_value_t = 1.0)]
        seconds: f64,
        /// Runs, at least.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        runs: u32,
    },
    /// Count the simulator's instructions per packet; an error if they are more than recorded.
    Count {
        /// Only the dumbbell, and only if it takes 5 % more: without it all, and 2 %.
        #[arg(long)]
        short: bool,
        /// Record the figures instead.
        #[arg(long)]
        record: bool,
        /// The file with the figures.
        #[arg(long, default_value = "bench/instructions.json")]
        file: PathBuf,
    },
    /// Simulate hours of a link that carries 864 Mbit/s, and print time and memory.
    Long {
        /// The discipline.
        #[arg(long, default_value = "pfifo")]
        discipline: String,
        /// Hours of virtual time.
        #[arg(long, default_value_t = 6.0, value_parser = hours)]
        hours: f64,
    },
    /// Measure everything, write it as JSON, and print the conclusions.
    All {
        /// The program compiled from `bench/ns3/dumbbell.cc`, if there is one.
        #[arg(long)]
        ns3: Option<PathBuf>,
        /// Only check that everything can be measured.
        #[arg(long)]
        short: bool,
        /// The document to write.
        #[arg(long, default_value = "target/bench.json")]
        out: PathBuf,
    },
    /// Run ns-3's rows in the simulator and write the comparison.
    Reference {
        /// The folder with ns-3's figures.
        folder: PathBuf,
        /// The document to write.
        #[arg(long, default_value = "docs/reference/ns3.md")]
        out: PathBuf,
    },
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Task::Qdisc {
            discipline,
            flows,
            state,
            packets,
        } => DisciplineLoad::new(&discipline, flows, state).and_then(|mut load| load.run(packets)),
        Task::QdiscTime {
            discipline,
            packets,
        } => cost::by_state(discipline.as_deref(), |case| {
            cost::nanoseconds(case, packets)
        })
        .map(|figures| show(&json!({ "ns_per_packet": figures }))),
        Task::QdiscInstructions {
            discipline,
            packets,
        } => cost::by_state(discipline.as_deref(), |case| {
            cost::instructions(case, packets)
        })
        .map(|figures| show(&json!({ "instructions_per_packet": figures }))),
        Task::Kernel {
            kernel,
            gate,
            short,
            out,
        } => {
            let flows: &[u32] = if short { &[1, 1000] } else { &kernel::FLOWS };
            kernel::measure(&kernel, &gate, flows, &out).map(|table| print!("{table}"))
        }
        Task::KernelSaid { machine, said, out } => {
            kernel::read(&machine, &said, &out).map(|table| print!("{table}"))
        }
        Task::Speed {
            workload,
            seconds,
            runs,
        } => speed::measure(workload, seconds, runs).map(|speed| show(&speed)),
        Task::Count {
            short,
            record,
            file,
        } => {
            let (workloads, percent): (&[Workload], _) = if short {
                (&[Workload::Dumbbell], 5.0)
            } else {
                (&Workload::ALL, 2.0)
            };
            recorded::check(workloads, percent, &file, record)
        }
        Task::Long { discipline, hours } => {
            long::measure(&discipline, hours).map(|took| show(&took))
        }
        Task::All { ns3, short, out } => everything(ns3.as_deref(), short, &out),
        Task::Reference { folder, out } => compare(&folder, &out),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn hours(text: &str) -> Result<f64, String> {
    let hours = text.parse().ok();
    let hours = hours.filter(|hours| (0.01..=24.0).contains(hours));
    hours.ok_or_else(|| "from 0.01 to 24".to_owned())
}

fn show(document: &Value) {
    println!("{document:#}");
}

/// Writes the measurements of `make bench`, and prints the conclusions.
fn everything(ns3: Option<&Path>, short: bool, out: &Path) -> Result<(), String> {
    let effort = if short { all::SHORT } else { all::FULL };
    let document = all::measure(ns3, &effort)?;
    document::write(out, &format!("{document:#}\n"))?;
    for line in all::verdicts(&document) {
        println!("{line}");
    }
    println!("The figures are in {}.", out.display());
    Ok(())
}

/// Writes the comparison with ns-3; an error if there is a deviation that is not explained there.
fn compare(folder: &Path, out: &Path) -> Result<(), String> {
    let reference = reference::Reference::run(folder)?;
    document::write(out, &reference::document(&reference))?;
    let unexplained = reference.unexplained();
    if unexplained.is_empty() {
        return Ok(());
    }
    Err(format!(
        "figures are off ({}); see {}",
        unexplained.join(", "),
        out.display()
    ))
}
