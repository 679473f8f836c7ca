//! What a scenario says: its text as a tree, and what the page needs to know before a run.

use crate::answer::{self, Failure};
use crate::picture;
use link::Capacity;
use measure::Engine;
use scenario::{Document, Scenario, Traffic};
use serde::Serialize;
use sim::Simulator;
use workload::Rows;

/// A scenario that can be run.
#[derive(Serialize)]
struct Checked {
    /// The document as a tree.
    document: serde_json::Value,
    duration_s: f64,
    warmup_s: f64,
    /// Length of the picture's bins.
    bin_s: f64,
    disciplines: Vec<String>,
    queues: Vec<Queue>,
    entries: Vec<Entry>,
    /// What of recorded pages is not replayed.
    left_out: Vec<String>,
}

/// A queue, in the order of the picture's.
#[derive(Serialize)]
struct Queue {
    name: String,
    up: bool,
    /// The rate in Mbit/s, in each bin unless it is constant.
    mbps: Vec<f64>,
}

/// A traffic entry, in the order of the picture's.
#[derive(Serialize)]
struct Entry {
    name: String,
    kind: &'static str,
    host: String,
    up: bool,
    /// It is a call: it has frames.
    call: bool,
    count: u32,
    start_s: f64,
    /// A frame later than this is late.
    stall_ms: f64,
}

/// The name of a scenario that comes without a file.
const FILE: &str = "scenario.toml";

/// Reads the scenario of `text`, and prints what it says.
pub fn check(text: &str, simulator: &Simulator) -> Result<Scenario, Failure> {
    #[derive(Serialize)]
    struct Line {
        checked: Checked,
    }
    let document = Document::parse(FILE, text)?;
    let scenario = document.resolve(simulator)?;
    if let Some(unsupported) = simulator.check(&scenario).into_iter().next() {
        return Err(measure::EngineError::from(unsupported).into());
    }
    let left_out = scenario.incomplete.iter();
    let left_out = left_out.map(|of| format!("{}: {}", of.file, of.missing));
    let disciplines = scenario.disciplines.iter().map(ToString::to_string);
    let checked = Checked {
        document: document.to_json(),
        duration_s: scenario.duration.as_secs_f64(),
        warmup_s: scenario.warmup.as_secs_f64(),
        bin_s: picture::bin(&scenario).as_secs_f64(),
        disciplines: disciplines.collect(),
        queues: queues(&scenario),
        entries: scenario.traffic.iter().map(entry).collect(),
        left_out: left_out.collect(),
    };
    answer::print(&Line { checked })?;
    Ok(scenario)
}

fn entry(of: &Traffic) -> Entry {
    Entry {
        name: of.name.clone(),
        kind: of.kind.entry.name,
        host: of.host.clone(),
        up: of.up,
        call: of.kind.entry.rows == Rows::Call,
        count: of.count,
        start_s: of.start.as_secs_f64(),
        stall_ms: of.stall_threshold.as_millis_f64(),
    }
}

fn queues(scenario: &Scenario) -> Vec<Queue> {
    let down = scenario.links.iter().map(|link| Queue {
        name: link.name.clone(),
        up: false,
        mbps: rates(&link.capacity, scenario),
    });
    let up = scenario.links.iter().rev().filter_map(|link| {
        let up = link.up.as_ref()?;
        Some(Queue {
            name: format!("{}-up", link.name),
            up: true,
            mbps: rates(&up.capacity, scenario),
        })
    });
    down.chain(up).collect()
}

fn rates(capacity: &Capacity, scenario: &Scenario) -> Vec<f64> {
    if let Capacity::Constant(rate) = capacity {
        return vec![rate.as_mbit_f64()];
    }
    let width = picture::bin(scenario);
    let bins = scenario.duration.as_nanos().div_ceil(width.as_nanos());
    let rate = |bin: u64| {
        let (from, until) = (width * bin, width * (bin + 1));
        let bits = capacity.bytes_between(from, until) * 8.0;
        let mbps = bits / 1e6 / until.saturating_sub(from).as_secs_f64();
        // Two digits behind the point are finer than a pixel.
        libm::round(mbps * 100.0) / 100.0
    };
    (0..bins).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::AnyNames;

    #[test]
    fn steps_are_drawn_bin_by_bin() {
        let text = "duration = \"1s\"\ndisciplines = [\"pfifo\"]\n[link]\nsteps = \"0s 8mbit; 500ms 2mbit\"\n\
            rtt = \"1ms\"\n[link.up]\nrate = \"3mbit\"\n[[traffic]]\nname = \"a\"\nkind = \"bulk\"\n";
        let document = Document::parse("a.toml", text).unwrap();
        let scenario = document.resolve(&AnyNames::default()).unwrap();
        let queues = queues(&scenario);
        let rates: Vec<f64> = [8.0; 10].into_iter().chain([2.0; 10]).collect();
        assert_eq!((queues[0].up, &queues[0].mbps), (false, &rates));
        assert_eq!(
            (queues[1].name.as_str(), &queues[1].mbps),
            ("link-up", &vec![3.0])
        );
    }
}
