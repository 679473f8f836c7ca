//! All measurements of `make bench`, in one document.

use crate::cost;
use crate::load::Fullness;
use crate::speed::Workload;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// How long it is measured.
pub struct Effort {
    /// Measurements of speed; the median counts.
    runs: usize,
    /// CPU seconds of each measurement of the simulator.
    seconds: &'static str,
    /// Packets in and out whose time is measured.
    timed: u64,
    /// Packets in and out whose instructions are counted.
    counted: u64,
}

/// For figures that are compared.
pub const FULL: Effort = Effort {
    runs: 3,
    seconds: "1",
    timed: 500_000,
    counted: 100_000,
};

/// For a check that all measurements work.
pub const SHORT: Effort = Effort {
    runs: 1,
    seconds: "0.2",
    timed: 50_000,
    counted: 1_000,
};

/// Runs all measurements. The simulator and `ns3`, the program compiled from
/// `bench/ns3/dumbbell.cc`, take turns.
///
/// # Errors
/// If a measurement fails. Without ns-3 or valgrind their figures are null, and a note says why.
pub fn measure(ns3: Option<&Path>, effort: &Effort) -> Result<Value, String> {
    let mut document = json!({});
    let mut peak: f64 = 0.0;
    for workload in Workload::DUMBBELLS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..effort.runs {
            let speed = own(workload, effort.seconds)?;
            ours.push(field(&speed, "packets_per_cpu_s")?);
            peak = peak.max(field(&speed, "peak_memory_mb")?);
            if let Some(program) = ns3 {
                let speed = output(Command::new(program).args(ns3_options(workload)))?;
                theirs.push(field(&speed, "forwarded")? / field(&speed, "user_cpu_s")?);
            }
        }
        document["sim_packets_per_cpu_s"][workload.name()] = json!(median(ours).map(f64::round));
        document["ns3_packets_per_cpu_s"][workload.name()] = json!(median(theirs).map(f64::round));
    }
    if ns3.is_none() {
        let note = "ns-3 is not installed (Debian: apt install libns3-dev)";
        document["ns3_packets_per_cpu_s"]["note"] = json!(note);
    }
    document["peak_rss_mb"] = json!(peak);
    for (state, suffix) in [
        (Fullness::Backlogged, ""),
        (Fullness::NearEmpty, "_near_empty"),
    ] {
        let time = cost::costs(state, None, |case| cost::nanoseconds(case, effort.timed))?;
        document[format!("ns_per_packet{suffix}")] = json!(time);
        let key = format!("instructions_per_packet{suffix}");
        let counts = cost::costs(state, None, |case| cost::instructions(case, effort.counted));
        document[&key] = match counts {
            Ok(costs) => json!(costs),
            Err(error) if error.contains("valgrind: ") => {
                document["instructions_note"] = json!(error);
                Value::Null
            }
            Err(error) => return Err(error),
        };
    }
    Ok(document)
}

/// A measurement of the simulator, in a process of its own.
fn own(workload: Workload, seconds: &str) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    output(Command::new(program).args(["speed", workload.name(), "--seconds", seconds]))
}

fn ns3_options(workload: Workload) -> Vec<String> {
    let (rate, flows, seconds) = workload.size().unwrap_or_default();
    vec![
        format!("--rate={rate}Mbps"),
        format!("--flows={flows}"),
        format!("--duration={seconds}"),
        "--warmup=5".to_owned(),
        "--discipline=fq_codel".to_owned(),
        "--control=TcpCubic".to_owned(),
    ]
}

/// The JSON that a program prints.
fn output(command: &mut Command) -> Result<Value, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name}: {text}"));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}"))
}

fn field(value: &Value, name: &str) -> Result<f64, String> {
    let number = value[name].as_f64();
    number.ok_or_else(|| format!("no {name} in {value}"))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// The conclusions from the figures, a line each: how much faster than ns-3, how much memory, and
/// how a discipline's cost grows with the number of flows.
pub fn verdicts(document: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for workload in Workload::DUMBBELLS {
        let of = |key: &str| document[key][workload.name()].as_f64();
        let ours = of("sim_packets_per_cpu_s").unwrap_or_default();
        lines.push(match of("ns3_packets_per_cpu_s") {
            Some(theirs) => format!(
                "{:9} {ours:.0} packets per CPU second, ns-3 {theirs:.0}: {:.0} times (50 wanted): {}",
                workload.name(),
                ours / theirs,
                verdict(ours >= 50.0 * theirs),
            ),
            None => format!("{:9} {ours:.0} packets per CPU second", workload.name()),
        });
    }
    let peak = document["peak_rss_mb"].as_f64().unwrap_or(f64::INFINITY);
    let verdict = verdict(peak < 50.0);
    lines.push(format!(
        "memory    {peak} MB (less than 50 wanted): {verdict}"
    ));
    for state in ["", "_near_empty"] {
        lines.extend(growth(document, "ns_per_packet", state, 3.0));
        lines.extend(growth(document, "instructions_per_packet", state, 1.2));
    }
    lines
}

/// From 1 to 10,000 flows, for each discipline.
fn growth(document: &Value, what: &str, state: &str, limit: f64) -> Vec<String> {
    let disciplines = document[format!("{what}{state}")].as_object();
    disciplines
        .into_iter()
        .flatten()
        .filter_map(|(discipline, figures)| {
            let (few, many) = (figures["1"].as_f64()?, figures["10000"].as_f64()?);
            let ratio = many / few;
            Some(format!(
                "{discipline:12} {what}{state}: {few} with one flow, {many} with 10000, {ratio:.2} \
                 times (less than {limit} wanted): {}",
                verdict(ratio < limit)
            ))
        })
        .collect()
}

const fn verdict(holds: bool) -> &'static str {
    if holds { "ok" } else { "MISS" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn verdicts_compare_with_what_is_wanted() {
        let lines = verdicts(&json!({
            "sim_packets_per_cpu_s": {"dumbbell": 5000.0, "large": 4000.0},
            "ns3_packets_per_cpu_s": {"dumbbell": 100.0, "large": 100.0},
            "peak_rss_mb": 12.5,
            "ns_per_packet": {"pfifo": {"1": 10.0, "10000": 29.0}},
            "instructions_per_packet": {"pfifo": {"1": 100.0, "10000": 121.0}},
        }));
        let ends: Vec<bool> = lines.iter().map(|line| line.ends_with("ok")).collect();
        assert_eq!(ends, [true, false, true, true, false], "{lines:#?}");
    }
}
