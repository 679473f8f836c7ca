//! The load: packets in and out of a discipline, as fast as possible.

use qdisc::{
    Choice, Discipline, DropReason, Ecn, Env, FlowId, Home, Hosts, Label, Limit, Observer, Packet,
    Qdisc, Registry,
};
use units::{Duration, Instant};

/// Packets waiting in the backlogged state, for any number of flows: the same memory is in use with
/// one flow and with ten thousand, three packets each.
const BACKLOG: u32 = 30_000;
/// Room for the backlog.
const LIMIT: u32 = 1 << 16;
/// Time from one packet to the next. The backlog leaves within 3 ms, below the target of any AQM:
/// the measurement covers the path of a packet that is sent.
const GAP: Duration = Duration::from_nanos(100);
/// A full-sized packet, bytes.
const LEN: u32 = 1500;

/// How full the discipline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fullness {
    /// Each packet arrives at an empty discipline and leaves at once; the flows take turns.
    NearEmpty,
    /// Every flow has packets waiting. A flow that sent a packet gets the next one.
    Backlogged,
    /// The buffer is full, and two packets arrive for one that leaves: on average one is dropped.
    Full,
}

impl Fullness {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Fullness::NearEmpty => "near-empty",
            Fullness::Backlogged => "backlogged",
            Fullness::Full => "full",
        }
    }
}

/// Counts the packets that do not leave by way of the link.
#[derive(Default)]
struct Drops(u64);

impl Observer<()> for Drops {
    fn dropped(&mut self, _: Instant, _: Packet<()>, _: DropReason) {
        self.0 += 1;
    }
}

/// A discipline under load.
pub struct DisciplineLoad {
    qdisc: Box<dyn Qdisc<()>>,
    state: Fullness,
    flows: u32,
    now: Instant,
    arrivals: u32,
    drops: Drops,
}

impl DisciplineLoad {
    /// The discipline called `name`, filled for `state`.
    ///
    /// # Errors
    /// If there is no such discipline, or it drops packets of the load.
    pub fn new(name: &str, flows: u32, state: Fullness) -> Result<Self, String> {
        let registry = Registry::<()>::builtin();
        let entry = registry
            .get(name)
            .ok_or_else(|| format!("no discipline {name:?}"))?;
        let mut load = DisciplineLoad {
            qdisc: build(&registry, entry, state)?,
            state,
            flows,
            now: Instant::default(),
            arrivals: 0,
            drops: Drops::default(),
        };
        if state != Fullness::NearEmpty {
            (0..BACKLOG).for_each(|_| load.arrive());
            if load.drops.0 > 0 {
                return Err(format!("{name} dropped {} while filling", load.drops.0));
            }
        }
        Ok(load)
    }

    /// One packet in and one out, `packets` times.
    ///
    /// # Errors
    /// If packets were dropped although there was room, or none came out.
    pub fn run(&mut self, packets: u64) -> Result<(), String> {
        for _ in 0..packets {
            self.now += GAP;
            let sent = match self.state {
                Fullness::Backlogged => {
                    let sent = self.qdisc.dequeue(self.now, &mut self.drops);
                    if let Some(packet) = &sent {
                        self.qdisc
                            .enqueue(self.now, packet.clone(), &mut self.drops);
                    }
                    sent
                }
                Fullness::NearEmpty => {
                    self.arrive();
                    self.qdisc.dequeue(self.now, &mut self.drops)
                }
                Fullness::Full => {
                    self.arrive();
                    self.arrive();
                    self.qdisc.dequeue(self.now, &mut self.drops)
                }
            };
            if sent.is_none() {
                return Err("nothing came out".to_owned());
            }
        }
        if self.drops.0 > 0 && self.state != Fullness::Full {
            return Err(format!("{} packets were dropped", self.drops.0));
        }
        Ok(())
    }

    /// A packet of the next flow.
    fn arrive(&mut self) {
        let flow = self.arrivals % self.flows;
        self.arrivals = self.arrivals.wrapping_add(1);
        let packet = Packet {
            len: LEN,
            flow: FlowId(flow),
            // An odd factor: distinct for every flow, and spread.
            hash: flow.wrapping_mul(0x9e37_79b1),
            // Sixteen computers at home, and for each flow another server.
            hosts: Hosts::new(flow.wrapping_mul(0x85eb_ca6b), flow % 16),
            ecn: Ecn::NotCapable,
            label: Label::None,
            arrived: self.now,
            payload: (),
            ..Packet::default()
        };
        self.qdisc.enqueue(self.now, packet, &mut self.drops);
    }
}

fn build(
    registry: &Registry<()>,
    entry: &Discipline<()>,
    state: Fullness,
) -> Result<Box<dyn Qdisc<()>>, String> {
    let limit = if state == Fullness::Full {
        BACKLOG
    } else {
        LIMIT
    };
    let env = Env {
        limit: Some(Limit::Packets(limit)),
        home: Some(Home::Receivers),
        ..Env::default()
    };
    // Limits on memory, or on a flow's packets, would come before the one on packets.
    let others = ["memory_limit", "flow_limit"];
    let mut settings: Vec<_> = entry
        .params
        .iter()
        .filter(|spec| others.contains(&spec.name))
        .filter_map(|spec| Some((spec.name.to_owned(), spec.range?.1.to_owned())))
        .collect();
    let above: &[(&str, &str)] = match entry.name {
        // Its thresholds are lengths, not delays: above the whole backlog.
        "red" => &[("min", "200MB"), ("max", "200MB"), ("burst", "133334")],
        // It answers to the delay's growth from zero as well, unless far below the target.
        "dualpi2" => &[("target", "1s")],
        // The last fifth of its buffer drops by chance, so that it would not be filled.
        "floq" => &[("threshold", "100")],
        // More flows than it tells apart wait as their host's guests, for longer than its target.
        "mencius" => &[("target", "10s")],
        // It lets the 120 Gbit/s of the load pass, and its queue is as long as the backlog.
        "pacer" => &[("rate", "200gbit"), ("queue", "1800us")],
        _ => &[],
    };
    settings.extend(
        above
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned())),
    );
    let choice = Choice {
        settings,
        ..Choice::plain(entry.name)
    };
    let built = registry.build(&choice, &env);
    built.map_err(|refusal| refusal.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [Fullness; 3] = [Fullness::NearEmpty, Fullness::Backlogged, Fullness::Full];

    #[test]
    fn every_discipline_bears_every_load() {
        for entry in Registry::<()>::builtin().iter() {
            for state in STATES {
                for flows in [1, 10_000] {
                    let run = DisciplineLoad::new(entry.name, flows, state)
                        .and_then(|mut l| l.run(5_000));
                    assert_eq!(run, Ok(()), "{} {}", entry.name, state.name());
                }
            }
        }
    }

    #[test]
    fn a_backlog_that_stands_for_long_loses_nothing() {
        // Longer than any controller waits before it answers to a delay.
        const LONG: u64 = 150_000_000 / GAP.as_nanos();
        for entry in Registry::<()>::builtin().iter() {
            for flows in [1, 10_000] {
                let load = DisciplineLoad::new(entry.name, flows, Fullness::Backlogged);
                let run = load.and_then(|mut load| load.run(LONG));
                assert_eq!(run, Ok(()), "{} {flows}", entry.name);
            }
        }
    }

    #[test]
    fn backlogged_means_every_flow_is() {
        for entry in Registry::<()>::builtin().iter() {
            let mut load = DisciplineLoad::new(entry.name, 10_000, Fullness::Backlogged).unwrap();
            load.run(50_000).unwrap();
            let mut waiting = vec![0; 10_000];
            while let Some(packet) = load.qdisc.dequeue(load.now, &mut load.drops) {
                waiting[packet.flow.0 as usize] += 1;
            }
            assert!(
                waiting.iter().all(|&packets| packets == 3),
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn full_means_that_packets_are_dropped() {
        for entry in Registry::<()>::builtin().iter() {
            let mut load = DisciplineLoad::new(entry.name, 100, Fullness::Full).unwrap();
            load.run(1_000).unwrap();
            assert!(load.drops.0 >= 1_000 - 64, "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_discipline_is_an_error() {
        assert!(DisciplineLoad::new("no such", 1, Fullness::NearEmpty).is_err());
    }
}
