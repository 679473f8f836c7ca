//! The cost of a discipline per packet, in time and in instructions.

use crate::callgrind;
use crate::load::{DisciplineLoad, Fullness};
use qdisc::Registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// Numbers of flows.
const FLOWS: [u32; 3] = [1, 100, 10_000];

/// Which load to measure.
pub struct Case<'a> {
    discipline: &'a str,
    flows: u32,
    state: Fullness,
}

/// The costs of disciplines in one state: by discipline, and by number of flows.
pub type Costs = BTreeMap<&'static str, BTreeMap<u32, f64>>;

/// Measures all disciplines in `state`, or `only` one.
///
/// # Errors
/// If there is no such discipline, or a measurement fails.
pub fn costs(
    state: Fullness,
    only: Option<&str>,
    measure: impl Fn(&Case) -> Result<f64, String>,
) -> Result<Costs, String> {
    let mut costs = Costs::new();
    for entry in Registry::<()>::builtin().iter() {
        let discipline = entry.name;
        if only.is_some_and(|only| only != discipline) {
            continue;
        }
        for flows in FLOWS {
            let case = Case {
                discipline,
                flows,
                state,
            };
            let figure = measure(&case)
                .map_err(|error| format!("{discipline} {} {flows}: {error}", state.name()))?;
            let rounded = (figure * 10.0).round() / 10.0;
            costs.entry(discipline).or_default().insert(flows, rounded);
        }
    }
    match only {
        Some(name) if costs.is_empty() => Err(format!("no discipline {name:?}")),
        _ => Ok(costs),
    }
}

/// All states: `{discipline: {state: {flows: figure}}}`.
///
/// # Errors
/// As [`costs`].
pub fn by_state(
    only: Option<&str>,
    measure: impl Fn(&Case) -> Result<f64, String>,
) -> Result<Value, String> {
    let mut document = json!({});
    for state in [Fullness::NearEmpty, Fullness::Backlogged, Fullness::Full] {
        for (discipline, figures) in costs(state, only, &measure)? {
            document[discipline][state.name()] = json!(figures);
        }
    }
    Ok(document)
}

/// Nanoseconds per packet: the fastest of five runs, after one to warm up.
///
/// # Errors
/// If the load fails.
pub fn nanoseconds(case: &Case, packets: u64) -> Result<f64, String> {
    let mut load = DisciplineLoad::new(case.discipline, case.flows, case.state)?;
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
///
/// # Errors
/// If valgrind is missing, or the load fails.
pub fn instructions(case: &Case, packets: u64) -> Result<f64, String> {
    let once = counted(case, packets)?;
    let twice = counted(case, 2 * packets)?;
    Ok(twice.saturating_sub(once) as f64 / packets as f64)
}

/// Instructions that this program takes for a load.
fn counted(case: &Case, packets: u64) -> Result<u64, String> {
    let (flows, packets) = (case.flows.to_string(), packets.to_string());
    let load = ["qdisc", "--discipline", case.discipline, "--flows", &flows];
    let (count, _) = callgrind::count(
        &[
            &load[..],
            &["--state", case.state.name(), "--packets", &packets],
        ]
        .concat(),
    )?;
    Ok(count)
}
