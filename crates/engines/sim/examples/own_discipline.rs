//! A discipline of one's own: `stale`, a FIFO that drops packets at its head that have waited too
//! long.
//!
//! The parts of a discipline stand here in the order of the built-in ones: principles, parameters,
//! entry for the registry, code, tests. `main` compares it with two built-in ones.
//!
//! Principles: a packet that is late is worth nothing, so it makes room for one that is not; the
//! drop is at the head, where the sender learns of it soonest.
//! Not for: links that carry downloads only, which would rather have the packet.

use qdisc::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use scenario::{Document, Names};
use sim::Simulator;
use std::collections::VecDeque;
use std::error::Error;
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `stale`.
    pub struct StaleParams {
        /// Packets that may wait.
        limit: u32 = "1000", range "1".."1000000", source "as pfifo";
        /// A packet that has waited longer is dropped when its turn comes.
        patience: Duration = "50ms", range "1ms".."10s", source "this example";
    }
}

impl StaleParams {
    /// The defaults at a place: a buffer that the link's owner gave is the default of `limit`.
    fn from_env(env: &Env) -> Self {
        let mut params = StaleParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params
    }
}

/// `stale` for the registry.
pub fn stale<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "stale",
        summary: "first in, first out, without what has waited too long",
        about: "A packet that has waited longer than `patience` is dropped when its turn comes.\
            \n\nNot for links that carry downloads only.",
        source: "an example",
        params: StaleParams::SPECS,
        children: &[],
        build: |parts| {
            let mut params = StaleParams::from_env(parts.env);
            params.apply(parts.settings)?;
            Ok(Box::new(Stale {
                params,
                queue: VecDeque::new(),
                backlog: Backlog::default(),
            }))
        },
    }
}

/// The discipline. It is generic over the payload, which it never looks into.
#[derive(Debug)]
pub struct Stale<P> {
    params: StaleParams,
    queue: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl<P: Send> Qdisc<P> for Stale<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        if self.backlog.packets >= self.params.limit {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        packet.arrived = now;
        self.backlog.add(packet.len);
        self.queue.push_back(packet);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        while let Some(packet) = self.queue.pop_front() {
            self.backlog.remove(packet.len);
            if now.since(packet.arrived) <= self.params.patience {
                return Some(packet);
            }
            observer.dropped(now, packet, DropReason::Congestion);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        // All settings or none; only then may packets be dropped.
        self.params.apply(settings)?;
        while self.backlog.packets > self.params.limit {
            let Some(packet) = self.queue.pop_back() else {
                break;
            };
            self.backlog.remove(packet.len);
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

/// A call, and a download from 10 s on.
const SCENARIO: &str = r#"
name = "own discipline"
duration = "40s"
warmup = "10s"
disciplines = ["pfifo", "fq_codel", "stale", "stale,patience=20ms"]
[link]
rate = "20mbit"
rtt = "40ms"
[[traffic]]
name = "call"
kind = "call"
max_rate = "4mbit"
[[traffic]]
name = "download"
kind = "bulk"
start = "10s"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulator = Simulator::default();
    simulator.disciplines.add(stale());
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("own_discipline", SCENARIO)?.resolve(names)?;
    println!(
        "{:20}  {:>7}  {:>13}  {:>5}",
        "discipline", "stall s", "download Mb/s", "drops"
    );
    for choice in &scenario.disciplines {
        let result = measure::run(&simulator, &scenario, choice, 1, false)?;
        println!(
            "{:20}  {:7.2}  {:13.2}  {:5}",
            result.discipline,
            result.calls[0].stall_s,
            result.flows[0].goodput_mbps,
            result.links[0].drops
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdisc::{FlowId, Ignore, Label, Registry};
    use units::Ecn;

    fn packet(payload: u32) -> Packet<u32> {
        Packet {
            len: 1500,
            flow: FlowId(0),
            hash: 0,
            ecn: Ecn::NotCapable,
            label: Label::None,
            arrived: Instant::ZERO,
            payload,
            ..Packet::default()
        }
    }

    #[test]
    fn what_has_waited_too_long_is_dropped_from_the_head() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut registry = Registry::<u32>::builtin();
        registry.add(stale());
        let choice = "stale,patience=50ms".parse().unwrap();
        let mut queue = registry.build(&choice, &Env::default()).unwrap();
        queue.enqueue(at(0), packet(1), &mut Ignore);
        queue.enqueue(at(10), packet(2), &mut Ignore);
        // At 60 ms the first has waited 60 ms, the second 50 ms, which is not longer than 50 ms.
        let next = queue.dequeue(at(60), &mut Ignore).unwrap();
        assert_eq!(next.payload, 2);
        assert!(queue.backlog().is_empty());
    }
}
