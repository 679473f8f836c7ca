//! From the scenario's links to queues with their disciplines.

use crate::network::Link;
use link::Capacity;
use measure::{BuiltLink, EngineError};
use qdisc::{Env, Registry};
use scenario::{Buffer, Choice, Scenario};

/// The network's links.
pub struct Built {
    /// Links towards the home in order, then uplinks in the order in which packets pass them.
    pub links: Vec<Link>,
    /// The same, described.
    pub described: Vec<BuiltLink>,
    /// Place of the first uplink in `links`, and how many there are.
    pub uplinks: (u16, u8),
}

/// What one queue is built from.
struct Plan<'a> {
    name: String,
    capacity: &'a Capacity,
    buffer: Option<Buffer>,
    overhead: u32,
    device: u32,
    choice: &'a Choice,
}

/// Builds all links of `scenario` with `discipline` where no other is named.
pub fn links(
    registry: &Registry<u32>,
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
) -> Result<Built, EngineError> {
    let down = scenario.links.iter().map(|link| Plan {
        name: link.name.clone(),
        capacity: &link.capacity,
        buffer: link.buffer,
        overhead: link.overhead,
        device: link.device,
        choice: link.discipline.as_ref().unwrap_or(discipline),
    });
    // Away from the home, the last link comes first.
    let up = scenario.links.iter().rev().filter_map(|link| {
        let up = link.up.as_ref()?;
        Some(Plan {
            name: format!("{}-up", link.name),
            capacity: &up.capacity,
            buffer: up.buffer,
            overhead: link.overhead,
            device: link.device,
            choice: up.discipline.as_ref().unwrap_or(discipline),
        })
    });
    let plans: Vec<Plan<'_>> = down.chain(up).collect();
    let first_up = scenario.links.len();
    let mut built = Built {
        uplinks: (first_up as u16, (plans.len() - first_up) as u8),
        links: Vec::new(),
        described: Vec::new(),
    };
    for plan in plans {
        let (link, described) = build(registry, scenario, &plan, seed)?;
        built.links.push(link);
        built.described.push(described);
    }
    Ok(built)
}

fn build(
    registry: &Registry<u32>,
    scenario: &Scenario,
    plan: &Plan<'_>,
    seed: u64,
) -> Result<(Link, BuiltLink), EngineError> {
    let rate = plan.capacity.nominal();
    let buffer = plan.buffer.map(|buffer| buffer.limit(rate, scenario.rtt));
    let env = Env {
        rate: match plan.capacity {
            Capacity::Constant(rate) => Some(*rate),
            Capacity::Trace(_) => None,
        },
        limit: buffer,
        seed,
    };
    let queue = registry.build(plan.choice, &env);
    let queue = queue.map_err(|refusal| EngineError {
        entry: format!("link.{}.discipline", plan.name),
        refusal,
    })?;
    let described = BuiltLink {
        name: plan.name.clone(),
        discipline: plan.choice.to_string(),
        classes: queue.classes(),
        buffer,
        capacity_bytes: plan
            .capacity
            .bytes_between(scenario.warmup, scenario.duration),
        remarks: Vec::new(),
    };
    Ok((
        Link::new(queue, plan.capacity.clone(), plan.overhead, plan.device),
        described,
    ))
}
