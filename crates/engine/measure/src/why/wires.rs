//! What a scenario says of the wires behind the queues of a way.

use crate::event::LinkId;
use scenario::{Scenario, Traffic};
use std::collections::BTreeMap;
use units::Duration;

/// The wires behind the queues of a way, by queue.
#[derive(Debug, Default)]
pub struct Wires(BTreeMap<LinkId, JudgedWire>);

#[derive(Debug, Clone, Copy)]
struct JudgedWire {
    delay: Duration,
    jitter: Duration,
}

impl Wires {
    /// Those that packets of an entry pass, away from the home or towards it.
    pub fn of(scenario: &Scenario, entry: &Traffic, up: bool) -> Self {
        let mut wires = BTreeMap::new();
        for path in scenario.paths(entry) {
            let queues = scenario.queues(&path.links, up);
            let mut links = path.links.clone();
            if up {
                links.reverse();
                links.retain(|link| scenario.links[usize::from(*link)].up.is_some());
            }
            for (place, (queue, link)) in queues.iter().zip(&links).enumerate() {
                let wire = &scenario.links[usize::from(*link)].wire;
                // The way behind the last link takes what the others leave of half a round trip.
                let rest = (path.rtt / 2).saturating_sub(path.delay);
                let last = place + 1 == queues.len();
                let delay = wire.delay + if last { rest } else { Duration::ZERO };
                let of = wires.entry(LinkId(*queue)).or_insert(JudgedWire {
                    delay,
                    jitter: wire.jitter.max(wire.grants),
                });
                of.delay = of.delay.min(delay);
            }
        }
        Wires(wires)
    }

    /// How long the wire behind a queue takes.
    pub fn delay(&self, link: LinkId) -> Duration {
        self.0.get(&link).map_or(Duration::ZERO, |wire| wire.delay)
    }

    /// How much longer it takes for some packets.
    pub fn jitter(&self, link: LinkId) -> Duration {
        self.0.get(&link).map_or(Duration::ZERO, |wire| wire.jitter)
    }
}
