//! What a discipline costs per packet, and how the simulator compares with ns-3.
//!
//! Not part of any result: this is the only crate that reads a clock.
//!
//! - `bench qdisc` runs one load, for a profiler.
//! - `bench qdisc-time` prints nanoseconds per packet of every discipline as JSON.
//! - `bench qdisc-instructions` prints instructions per packet, counted by callgrind, which has to be
//!   installed: the difference of two runs of different length, so that starting and filling do not
//!   count.

#![allow(
    clippy::disallowed_methods,
    reason = "measuring time is what this is for"
)]

mod load;
mod reference;

use clap::{Parser, Subcommand};
use load::{Load, State};
use qdisc::Registry;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const FLOWS: [u32; 3] = [1, 100, 10_000];
const STATES: [State; 3] = [State::NearEmpty, State::Backlogged, State::Full];

#[derive(Parser)]
#[command(about = "What a discipline costs per packet, and how the simulator compares with ns-3")]
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
        /// How full it is.
        #[arg(long, value_enum, default_value = "near-empty")]
        state: State,
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
        } => Load::new(&discipline, flows, state).and_then(|mut load| load.run(packets)),
        Task::QdiscTime {
            discipline,
            packets,
        } => print_each("ns_per_packet", discipline.as_deref(), |load| {
            nanoseconds(load, packets)
        }),
        Task::QdiscInstructions {
            discipline,
            packets,
        } => print_each("instructions_per_packet", discipline.as_deref(), |load| {
            instructions(load, packets)
        }),
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

/// Writes the comparison with ns-3; an error if something is off that is not explained there.
fn compare(folder: &Path, out: &Path) -> Result<(), String> {
    let reference = reference::Reference::run(folder)?;
    if let Some(parent) = out.parent() {
        std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    }
    std::fs::write(out, reference::document(&reference))
        .map_err(|error| format!("{}: {error}", out.display()))?;
    let misses = reference.rows.iter().flat_map(reference::Row::misses);
    let unexplained = misses.filter(|(_, section)| section.is_none()).count();
    match (unexplained, reference.burst.holds()) {
        (0, true) => Ok(()),
        _ => Err(format!("figures are off; see {}", out.display())),
    }
}

/// Which load to measure.
struct Case<'a> {
    discipline: &'a str,
    flows: u32,
    state: State,
}

/// Measures every case, or those of one discipline, and prints the figures.
fn print_each(
    what: &str,
    only: Option<&str>,
    measure: impl Fn(&Case) -> Result<f64, String>,
) -> Result<(), String> {
    let mut figures = json!({});
    let registry = Registry::<()>::builtin();
    let chosen = registry
        .iter()
        .map(|entry| entry.name)
        .filter(|name| only.is_none_or(|only| only == *name));
    for discipline in chosen {
        for state in STATES {
            for flows in FLOWS {
                let case = Case {
                    discipline,
                    flows,
                    state,
                };
                let figure = measure(&case)
                    .map_err(|error| format!("{discipline} {} {flows}: {error}", state.name()))?;
                figures[discipline][state.name()][flows.to_string()] =
                    json!((figure * 10.0).round() / 10.0);
            }
        }
    }
    if figures == json!({}) {
        return Err(format!("no discipline {:?}", only.unwrap_or_default()));
    }
    let document: Value = json!({ what: figures });
    println!("{document:#}");
    Ok(())
}

/// Nanoseconds per packet: the fastest of five runs, after one to warm up.
fn nanoseconds(case: &Case, packets: u64) -> Result<f64, String> {
    let mut load = Load::new(case.discipline, case.flows, case.state)?;
    load.run(packets)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        load.run(packets)?;
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / packets as f64);
    }
    Ok(fastest)
}

/// Instructions per packet, warm: the difference between one and two times as many packets.
fn instructions(case: &Case, packets: u64) -> Result<f64, String> {
    let once = callgrind(case, packets)?;
    let twice = callgrind(case, 2 * packets)?;
    Ok(twice.saturating_sub(once) as f64 / packets as f64)
}

/// Instructions that this program takes for a load.
fn callgrind(case: &Case, packets: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["qdisc", "--discipline", case.discipline])
        .args(["--flows", &case.flows.to_string()])
        .args(["--state", case.state.name()])
        .args(["--packets", &packets.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind: {text}"));
    }
    text.lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("valgrind printed no count: {text}"))
}
