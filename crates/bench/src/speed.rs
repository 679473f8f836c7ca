//! How many packets the simulator forwards in a second of CPU time.
//!
//! The two scenarios of `bench/README.md`, "speed". Only the run itself counts, as for ns-3: no
//! reading of scenarios, no output. A run takes a fraction of a second, so it is repeated.

use clap::ValueEnum;
use scenario::{Choice, Document, Names, Scenario};
use serde_json::{Value, json};
use sim::Simulator;

/// A scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// 20 Mbit/s, four Cubic flows, 60 s.
    Dumbbell,
    /// 375 Mbit/s, a hundred Cubic flows, 10 s.
    Large,
}

impl Workload {
    /// Both.
    pub const ALL: [Workload; 2] = [Workload::Dumbbell, Workload::Large];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Workload::Dumbbell => "dumbbell",
            Workload::Large => "large",
        }
    }

    /// Rate in Mbit/s, flows, and seconds.
    pub const fn size(self) -> (u32, u32, u32) {
        match self {
            Workload::Dumbbell => (20, 4, 60),
            Workload::Large => (375, 100, 10),
        }
    }

    fn scenario(self, simulator: &Simulator) -> Result<Scenario, String> {
        let (rate, flows, seconds) = self.size();
        let text = format!(
            r#"
            duration = "{seconds}s"
            disciplines = ["fq_codel"]
            [link]
            rate = "{rate}mbit"
            rtt = "40ms"
            overhead = "2B"
            device = 1
            [[traffic]]
            name = "bulk"
            kind = "bulk"
            control = "cubic"
            count = {flows}
            stagger = "10ms"
            access = "1gbit"
            "#
        );
        let names: &dyn Names = simulator;
        let scenario = Document::parse("speed", &text).and_then(|text| text.resolve(names));
        scenario.map_err(|error| error.to_string())
    }
}

/// Runs `workload` again and again for `seconds` of CPU time and returns its speed.
///
/// # Errors
/// If a run fails, or the system does not report CPU time.
pub fn measure(workload: Workload, seconds: f64) -> Result<Value, String> {
    let simulator = Simulator::default();
    let scenario = workload.scenario(&simulator)?;
    let discipline = Choice::plain("fq_codel");
    let start = cpu_seconds()?;
    let (mut packets, mut runs, mut cpu) = (0, 0, 0.0);
    while cpu < seconds || runs == 0 {
        let result = measure::run(&simulator, &scenario, &discipline, 1, false);
        packets += result.map_err(|error| error.to_string())?.links[0].packets;
        runs += 1;
        cpu = cpu_seconds()? - start;
    }
    Ok(json!({
        "scenario": workload.name(),
        "simulator": "analects",
        "runs": runs,
        "forwarded": packets,
        "cpu_s": cpu,
        "packets_per_cpu_s": (packets as f64 / cpu).round(),
        "peak_memory_mb": peak_memory_mb()?,
    }))
}

/// CPU time of this thread so far, by Linux's scheduler.
pub fn cpu_seconds() -> Result<f64, String> {
    let text = read("/proc/thread-self/schedstat")?;
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok());
    let nanos: u64 = nanos.ok_or_else(|| format!("schedstat says {text:?}"))?;
    Ok(nanos as f64 / 1e9)
}

/// The most memory that this process had in use.
pub fn peak_memory_mb() -> Result<f64, String> {
    let text = read("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    let kib: f64 = kib.ok_or("/proc/self/status has no VmHWM")?;
    Ok((kib / 1024.0 * 10.0).round() / 10.0)
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scenarios_are_the_ones_that_ns3_runs() {
        let simulator = Simulator::default();
        for workload in Workload::ALL {
            let scenario = workload.scenario(&simulator).unwrap();
            let (rate, flows, seconds) = workload.size();
            assert_eq!(scenario.duration.as_secs_f64(), f64::from(seconds));
            assert_eq!(scenario.traffic[0].count, flows);
            let capacity = scenario.links[0].capacity.nominal();
            assert_eq!(capacity.as_mbit_f64(), f64::from(rate));
        }
    }

    #[test]
    fn a_measurement_counts_what_was_forwarded() {
        let speed = measure(Workload::Dumbbell, 0.0).unwrap();
        // 60 s of 20 Mbit/s are 99 867 packets of 1502 B; the link is full except at the start.
        let packets = speed["forwarded"].as_u64().unwrap();
        assert!((95_000..=100_000).contains(&packets), "{speed}");
        assert!(speed["cpu_s"].as_f64().unwrap() > 0.0, "{speed}");
        assert!(speed["peak_memory_mb"].as_f64().unwrap() > 1.0, "{speed}");
    }
}
