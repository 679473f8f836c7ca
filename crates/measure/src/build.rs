//! From the scenario's links to queues with their disciplines, for the engines whose queues are ours.

use crate::{BuiltLink, EngineError};
use link::{Capacity, Chance, Line, Link};
use qdisc::{Env, Home, Registry};
use scenario::{Buffer, Choice, Scenario};
use units::Duration;

/// A network's links, for packets that carry a `P`.
pub struct Built<P> {
    /// Links towards the home in order, then uplinks in the order in which packets pass them.
    pub links: Vec<Link<P>>,
    /// The same, described.
    pub described: Vec<BuiltLink>,
}

/// The plan from which one queue is built.
struct Plan<'a> {
    name: String,
    of: &'a scenario::Link,
    capacity: &'a Capacity,
    buffer: Option<Buffer>,
    choice: &'a Choice,
    home: Home,
}

/// Builds all links of `scenario` with `discipline` where no other is set.
///
/// # Errors
/// If `registry` refuses a discipline.
pub fn links<P: Send + 'static>(
    registry: &Registry<P>,
    scenario: &Scenario,
    discipline: &Choice,
    seed: u64,
) -> Result<Built<P>, EngineError> {
    let down = scenario.links.iter().map(|link| Plan {
        name: link.name.clone(),
        of: link,
        capacity: &link.capacity,
        buffer: link.buffer,
        choice: link.discipline.as_ref().unwrap_or(discipline),
        home: Home::Receivers,
    });
    // Away from the home, the last link comes first.
    let up = scenario.links.iter().rev().filter_map(|link| {
        let up = link.up.as_ref()?;
        Some(Plan {
            name: format!("{}-up", link.name),
            of: link,
            capacity: &up.capacity,
            buffer: up.buffer,
            choice: up.discipline.as_ref().unwrap_or(discipline),
            home: Home::Senders,
        })
    });
    let mut built = Built {
        links: Vec::new(),
        described: Vec::new(),
    };
    for plan in down.chain(up) {
        let (link, described) = build(registry, scenario, &plan, seed)?;
        built.links.push(link);
        built.described.push(described);
    }
    Ok(built)
}

fn build<P: Send + 'static>(
    registry: &Registry<P>,
    scenario: &Scenario,
    plan: &Plan<'_>,
    seed: u64,
) -> Result<(Link<P>, BuiltLink), EngineError> {
    let rate = plan.capacity.nominal();
    let buffer = plan.buffer.map(|buffer| buffer.limit(rate, scenario.rtt));
    let env = Env {
        rate: match plan.capacity {
            // Of a port whose rate is followed that is not the line's.
            Capacity::Constant(rate) => plan.of.follow.is_none().then_some(*rate),
            Capacity::Trace(_) => None,
        },
        limit: buffer,
        seed,
        home: Some(plan.home),
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
        children: Vec::new(),
        remarks: Vec::new(),
        doubt: None,
    };
    let wire = &plan.of.wire;
    let loss = wire.loss.0;
    let line = Line {
        overhead: wire.overhead(),
        device: wire.device,
        delay: wire.delay,
        chance: (loss > 0.0 || wire.jitter.max(wire.grants) > Duration::ZERO).then(|| {
            Chance::new(loss, wire.loss_burst, wire.jitter, seed, &plan.name).granted(
                wire.grants,
                seed,
                &plan.name,
            )
        }),
        ..Line::new(plan.capacity.clone())
    };
    Ok((Link::new(queue, line), described))
}
