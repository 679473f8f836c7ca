//! From the scenario's links to queues with their disciplines, for the engines whose queues are ours.

use crate::{BuiltLink, EngineError};
use link::{Capacity, Chance, Line, Link};
use qdisc::{Env, Home, Limit, Qdisc, Registry};
use scenario::{Buffer, Choice, Scenario};
use units::Duration;

/// A network's links, for packets that carry a `P`.
pub struct Built<P> {
    /// Links towards the home in order, then uplinks in the order in which packets pass them.
    pub links: Vec<Link<P>>,
    /// The same, described.
    pub described: Vec<BuiltLink>,
}

/// One direction of a declared link, from which its queue and its wire are built.
pub struct Direction<'a> {
    name: String,
    of: &'a scenario::Link,
    capacity: &'a Capacity,
    buffer: Option<Buffer>,
    choice: &'a Choice,
    home: Home,
}

impl<'a> Direction<'a> {
    /// The direction towards the home, with `discipline` where the link names none.
    pub fn down(link: &'a scenario::Link, discipline: &'a Choice) -> Self {
        Direction {
            name: link.name.clone(),
            of: link,
            capacity: &link.capacity,
            buffer: link.buffer,
            choice: link.discipline.as_ref().unwrap_or(discipline),
            home: Home::Receivers,
        }
    }

    /// The direction away from the home, if it has a queue.
    pub fn up(link: &'a scenario::Link, discipline: &'a Choice) -> Option<Self> {
        let up = link.up.as_ref()?;
        Some(Direction {
            name: format!("{}-up", link.name),
            of: link,
            capacity: &up.capacity,
            buffer: up.buffer,
            choice: up.discipline.as_ref().unwrap_or(discipline),
            home: Home::Senders,
        })
    }

    /// Its discipline.
    pub fn choice(&self) -> &'a Choice {
        self.choice
    }

    /// The room of its queue on a path of `rtt`, if its owner gave it one.
    fn limit(&self, rtt: Duration) -> Option<Limit> {
        let rate = self.capacity.nominal();
        self.buffer.map(|buffer| buffer.limit(rate, rtt))
    }

    /// It, for packets that carry a `P`, on a path of `rtt`, in the run of `seed`.
    ///
    /// # Errors
    /// If `registry` refuses the discipline.
    pub fn build<P: Send + 'static>(
        &self,
        registry: &Registry<P>,
        rtt: Duration,
        seed: u64,
    ) -> Result<Link<P>, EngineError> {
        let env = Env {
            rate: match self.capacity {
                // Of a port whose rate is followed that is not the line's.
                Capacity::Constant(rate) => Some(*rate).filter(|_| self.of.follow.is_none()),
                Capacity::Unlimited | Capacity::Trace(_) => None,
            },
            limit: self.limit(rtt),
            seed,
            home: Some(self.home),
        };
        let queue = registry.build(self.choice, &env);
        let queue = queue.map_err(|refusal| EngineError {
            entry: format!("link.{}.discipline", self.name),
            refusal,
        })?;
        let wire = &self.of.wire;
        let loss = wire.loss.0;
        let line = Line {
            overhead: wire.overhead(),
            device: wire.device,
            delay: wire.delay,
            chance: (loss > 0.0 || wire.jitter.max(wire.grants) > Duration::ZERO).then(|| {
                Chance::new(loss, wire.loss_burst, wire.jitter, seed, &self.name).granted(
                    wire.grants,
                    seed,
                    &self.name,
                )
            }),
            ..Line::new(self.capacity.clone())
        };
        Ok(Link::new(queue, line))
    }
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
    let links = scenario.links.iter();
    let down = links.clone().map(|link| Direction::down(link, discipline));
    // Away from the home, the last link comes first.
    let up = links
        .rev()
        .filter_map(|link| Direction::up(link, discipline));
    let mut built = Built {
        links: Vec::new(),
        described: Vec::new(),
    };
    for direction in down.chain(up) {
        let link = direction.build(registry, scenario.rtt, seed)?;
        built
            .described
            .push(described(&direction, link.queue(), scenario));
        built.links.push(link);
    }
    Ok(built)
}

fn described<P>(direction: &Direction<'_>, queue: &dyn Qdisc<P>, scenario: &Scenario) -> BuiltLink {
    BuiltLink {
        name: direction.name.clone(),
        discipline: direction.choice.to_string(),
        classes: queue.classes(),
        buffer: direction.limit(scenario.rtt),
        capacity_bytes: direction
            .capacity
            .bytes_between(scenario.warmup, scenario.duration),
        children: Vec::new(),
        remarks: Vec::new(),
        doubt: None,
    }
}
