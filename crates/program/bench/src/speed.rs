//! How many packets the simulator forwards in a second of CPU time.
//!
//! The two dumbbells of `bench/README.md`, "speed", and four scenarios like those that people run. Only
//! the run itself counts, as for ns-3: no reading of scenarios, no output. A run takes a fraction of a
//! second, so it is repeated.

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
    /// `scenarios/my-link.toml`.
    MyLink,
    /// A call beside pages, downloads and uploads, as in the matrix.
    Household,
    /// Short pages, a video and bursts on a shared link, as for FLOQ.
    Floq,
    /// Many transfers at 895 Mbit/s, as for the ages of flows.
    Ages,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 6] = [
        Workload::Dumbbell,
        Workload::Large,
        Workload::MyLink,
        Workload::Household,
        Workload::Floq,
        Workload::Ages,
    ];

    /// Those that ns-3 runs too.
    pub const DUMBBELLS: [Workload; 2] = [Workload::Dumbbell, Workload::Large];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Workload::Dumbbell => "dumbbell",
            Workload::Large => "large",
            Workload::MyLink => "my-link",
            Workload::Household => "household",
            Workload::Floq => "floq",
            Workload::Ages => "ages",
        }
    }

    /// Of a dumbbell: rate in Mbit/s, flows, and seconds.
    pub const fn size(self) -> Option<(u32, u32, u32)> {
        match self {
            Workload::Dumbbell => Some((20, 4, 60)),
            Workload::Large => Some((375, 100, 10)),
            _ => None,
        }
    }

    fn text(self) -> String {
        let text = match self {
            Workload::Dumbbell | Workload::Large => return self.dumbbell(),
            Workload::MyLink => include_str!("../../../../scenarios/my-link.toml"),
            Workload::Household => include_str!("../scenarios/household.toml"),
            Workload::Floq => include_str!("../scenarios/floq.toml"),
            Workload::Ages => include_str!("../scenarios/ages.toml"),
        };
        text.to_owned()
    }

    fn dumbbell(self) -> String {
        let (rate, flows, seconds) = self.size().unwrap_or_default();
        format!(
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
        )
    }

    /// The scenario, and the discipline to run it with: the last that it names.
    fn scenario(self, simulator: &Simulator) -> Result<(Scenario, Choice), String> {
        let names: &dyn Names = simulator;
        let document = Document::parse(self.name(), &self.text());
        let scenario = document.and_then(|document| document.resolve(names));
        let scenario = scenario.map_err(|error| error.to_string())?;
        let discipline = scenario.disciplines.last().cloned();
        let discipline = discipline.ok_or_else(|| format!("{} has no discipline", self.name()))?;
        Ok((scenario, discipline))
    }
}

/// Runs `workload` again and again, `least` times and for `seconds` of CPU time, and returns its speed.
///
/// # Errors
/// If a run fails, or the system does not report CPU time.
pub fn measure(workload: Workload, seconds: f64, least: u32) -> Result<Value, String> {
    let simulator = Simulator::default();
    let (scenario, discipline) = workload.scenario(&simulator)?;
    let start = cpu_seconds()?;
    let (mut packets, mut runs, mut cpu) = (0, 0, 0.0);
    while cpu < seconds || runs < least {
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
    fn dumbbells_are_the_ones_that_ns3_runs_and_the_others_can_be_read() {
        let simulator = Simulator::default();
        for workload in Workload::ALL {
            let (scenario, _) = workload.scenario(&simulator).unwrap();
            let size = workload.size();
            assert_eq!(size.is_some(), Workload::DUMBBELLS.contains(&workload));
            let Some((rate, flows, seconds)) = size else {
                continue;
            };
            assert_eq!(scenario.duration.as_secs_f64(), f64::from(seconds));
            assert_eq!(scenario.traffic[0].count, flows);
            let capacity = scenario.links[0].capacity.nominal();
            assert_eq!(capacity.as_mbit_f64(), f64::from(rate));
        }
    }

    #[test]
    fn a_measurement_counts_what_was_forwarded() {
        let speed = measure(Workload::Dumbbell, 0.0, 1).unwrap();
        // 60 s of 20 Mbit/s are 99 867 packets of 1502 B; the link is full except at the start.
        let packets = speed["forwarded"].as_u64().unwrap();
        assert!((95_000..=100_000).contains(&packets), "{speed}");
        assert!(speed["cpu_s"].as_f64().unwrap() > 0.0, "{speed}");
        assert!(speed["peak_memory_mb"].as_f64().unwrap() > 1.0, "{speed}");
    }
}
