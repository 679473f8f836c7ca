//! How long the simulator takes for hours of a fast link, and whether its memory stays flat.
//!
//! The scenario of `thesis/1gbit`: 80 actors on a link that carries 864 Mbit/s. A twelfth of the
//! time is run first, so that the memory added by the rest is seen.

use crate::speed::{cpu_seconds, peak_memory_mb};
use scenario::{Choice, Document, Names};
use serde_json::{Value, json};
use sim::Simulator;

/// Simulates `hours` under `discipline`.
///
/// # Errors
/// If there is no such discipline, or the system does not report CPU time or memory.
pub fn measure(discipline: &str, hours: f64) -> Result<Value, String> {
    let (_, _, first) = simulate(discipline, hours / 12.0)?;
    let (packets, cpu, all) = simulate(discipline, hours)?;
    Ok(json!({
        "discipline": discipline,
        "simulated_hours": hours,
        "forwarded": packets,
        "cpu_min": (cpu / 6.0).round() / 10.0,
        "packets_per_cpu_s": (packets as f64 / cpu).round(),
        "peak_memory_mb_of_a_twelfth": first,
        "peak_memory_mb": all,
    }))
}

/// Packets, seconds of CPU, and the most memory so far.
fn simulate(discipline: &str, hours: f64) -> Result<(u64, f64, f64), String> {
    let text = format!(
        r#"
        duration = "{}s"
        disciplines = ["{discipline}"]
        link = {{ rate = "895mbit", rtt = "0.71ms" }}
        traffic = [{{ name = "actors", kind = "actors", count = 80, control = "cubic" }}]
        "#,
        hours * 3600.0
    );
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("long", &text).and_then(|text| text.resolve(names));
    let scenario = scenario.map_err(|error| error.to_string())?;
    let discipline: Choice = discipline.parse().map_err(|error| format!("{error}"))?;
    let start = cpu_seconds()?;
    let result = measure::run(&simulator, &scenario, &discipline, 1, false);
    let packets = result.map_err(|error| error.to_string())?.links[0].packets;
    Ok((packets, cpu_seconds()? - start, peak_memory_mb()?))
}
