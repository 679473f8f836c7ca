//! `floq`: one queue that spares the first packets of a flow, and drops flows that do not respond.
//!
//! Principles: a flow is responsive until its rate does not fall after drops. Each type has a part of
//! the buffer for itself, and the last fifth of the buffer admits by chance: responsive flows more
//! than others, and the first packets of a responsive flow most. A flow that loses one of these waits
//! for a timeout, which costs a page more than any drop later on.
//! Not for: keeping flows or their delays apart. All share one queue, and it is let fill to four
//! fifths.
//!
//! M. Yanev and P. Harvey, "Herding the FLOQ: Flow Optimised Queueing", IFIP Networking 2022. The
//! paper leaves much open; the choices made here, by its sections:
//!
//! - IV.B: `rq`, `uq` and `ap` are the backlogs when a packet arrives, itself not counted. A full
//!   buffer drops it. Otherwise it is admitted if its type's quota is not filled or `ap <= AT`. So
//!   of 20 slots the last three admit by chance, while VI.A has four.
//! - IV.B: `F_t` is "the drop probability", so the rest are dropped by it: `(2 + F_d) %` of
//!   responsive traffic, `5 (1 + F_d) %` of unresponsive. Equation (1) admits with it instead,
//!   which would favour the unresponsive, and so does algorithm 1, which also adds `F_r` for
//!   initial packets. Both are available as a `variant`, without the protection of flows that lost
//!   a packet, which is only in the text.
//! - IV.B: `F_d = g (ap - AT) / (B - AT)`, since it "scales with the total buffer occupancy". It is
//!   doubled if the packet would overflow into the other type's quota.
//! - IV.B: the initial packets of a responsive flow are spared `F_r`; once one of them was dropped,
//!   for whatever reason, the others are not dropped by chance. Packets that were dropped count as
//!   exchanged, so that a flow does not stay new by being dropped. To make room by dropping "from
//!   other connections" is what those rules do at arrival; queued packets are never pushed out.
//! - IV.A: the test for responsive flows is in `behaviour.rs`, with a way back, which the paper
//!   does not have. A packet keeps the type with which it was counted.
//! - IV.A: the table of flows is bounded, and forgets flows that send nothing for 10 s: a page a
//!   user thinks about, and a video's next segment, come 6 s later (V.B). Flows for which it has no
//!   room are taken for responsive and established: their behaviour is not known.

mod admission;
mod behaviour;
mod chance;
pub mod params;
#[cfg(test)]
mod tests;

use crate::exact_flows::{ExactFlows, Found};
use crate::{Backlog, Class, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use admission::{AdmissionRules, FlowType, Phase, WaitingByType};
use behaviour::{Behaviour, Trials};
use chance::Chance;
use params::FloqParams;
use std::collections::VecDeque;
use units::param::Settings;
use units::{Instant, Refusal};

/// At most so many idle flows are forgotten for a packet.
const BATCH: u32 = 8;

/// `floq` for the registry.
pub fn floq<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "floq",
        summary: "one queue that spares a flow's first packets, and flows that respond to drops",
        about: "Packets leave in the order in which they came. While the last fifth of the buffer \
            is in use, arrivals are dropped by chance: most often those of flows whose rate does \
            not fall after drops, and least often a flow's first ten packets.\n\nNot for links \
            that a call shares with downloads: all flows share the queue, which fills to at least \
            four fifths.",
        source: "Yanev and Harvey 2022",
        params: FloqParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Floq::new(parts.settings, parts.env)?)),
    }
}

/// The state of a flow (IV.A).
#[derive(Debug, Clone)]
struct FloqFlow {
    /// Packets that arrived, and those of them that were dropped.
    seen: u32,
    dropped: u32,
    behaviour: Behaviour,
}

impl FloqFlow {
    fn new(now: Instant) -> Self {
        FloqFlow {
            seen: 0,
            dropped: 0,
            behaviour: Behaviour::new(now),
        }
    }

    /// The phase of its next packet, if it is established with `initial`.
    const fn phase(&self, initial: u32) -> Phase {
        if self.seen < initial {
            Phase::Establishment {
                lost: self.dropped > 0,
            }
        } else {
            Phase::Later
        }
    }
}

/// One queue under FLOQ.
#[derive(Debug)]
pub struct Floq<P> {
    params: FloqParams,
    rules: AdmissionRules,
    trials: Trials,
    chance: Chance,
    table: ExactFlows,
    flows: Vec<FloqFlow>,
    /// With the type with which each was counted.
    packets: VecDeque<(FlowType, Packet<P>)>,
    waiting: WaitingByType,
    backlog: Backlog,
}

impl<P> Floq<P> {
    /// A queue with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused, or settings do not go together.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = FloqParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        let table = ExactFlows::new(params.flows as usize);
        Ok(Floq {
            rules: AdmissionRules::of(&params)?,
            trials: Trials::of(&params),
            chance: Chance::new(env.seed),
            flows: vec![FloqFlow::new(Instant::ZERO); table.len()],
            table,
            packets: VecDeque::new(),
            waiting: WaitingByType::default(),
            backlog: Backlog::default(),
            params,
        })
    }

    /// Forgets flows that have fallen idle. Their packets may still wait: they are counted by type.
    fn forget_idle(&mut self, now: Instant) {
        for _ in 0..BATCH {
            let Some(flow) = self.table.idle(now, self.params.idle) else {
                break;
            };
            self.table.forget(flow);
        }
    }

    /// The flow of `packet`; none if the table has no room for it.
    fn flow_of(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        observer: &mut dyn Observer<P>,
    ) -> Option<usize> {
        // One queue keeps flows in order wherever the table has them.
        match self.table.find(now, packet.hash, packet.flow, |_| false) {
            Found::Known(flow) => Some(flow),
            Found::Fresh(flow) => {
                self.flows[flow] = FloqFlow::new(now);
                observer.moved(now, packet.flow, None, class(FlowType::Responsive));
                Some(flow)
            }
            Found::Shared(_) | Found::FirstShared(_) => None,
        }
    }

    /// Counts an arrival of `len` bytes of `flow`, and returns its type and phase.
    fn count(
        &mut self,
        now: Instant,
        flow: usize,
        len: u32,
        observer: &mut dyn Observer<P>,
    ) -> (FlowType, Phase) {
        let state = &mut self.flows[flow];
        let before = state.behaviour.kind();
        if let Some(kind) = state.behaviour.arrived(now, len, &self.trials) {
            let from = Some(class(before));
            observer.moved(now, self.table.id(flow), from, class(kind));
        }
        let phase = state.phase(self.params.initial);
        state.seen = state.seen.saturating_add(1);
        (state.behaviour.kind(), phase)
    }

    /// A packet of `flow` is dropped.
    fn lose(&mut self, now: Instant, flow: Option<usize>) {
        if let Some(flow) = flow {
            let state = &mut self.flows[flow];
            state.dropped = state.dropped.saturating_add(1);
            state.behaviour.told(now, &self.trials);
        }
    }
}

/// The class of a type as reported to observers.
const fn class(kind: FlowType) -> Class {
    Class(kind as u8)
}

impl<P: Send> Qdisc<P> for Floq<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.forget_idle(now);
        let flow = self.flow_of(now, &packet, observer);
        let (kind, phase) = match flow {
            Some(flow) => self.count(now, flow, packet.len, observer),
            None => (FlowType::Responsive, Phase::Later),
        };
        if self.backlog.packets >= self.params.limit {
            self.lose(now, flow);
            return observer.dropped(now, packet, DropReason::Tail);
        }
        let probability = self.rules.drop_probability(self.waiting, kind, phase);
        if self.chance.happens(probability) {
            if !(self.params.ecn && packet.mark()) {
                self.lose(now, flow);
                return observer.dropped(now, packet, DropReason::Congestion);
            }
            // To be marked asks for the same as to be dropped, but nothing is lost.
            if let Some(flow) = flow {
                self.flows[flow].behaviour.told(now, &self.trials);
            }
            observer.marked(now, &packet);
        }
        packet.arrived = now;
        self.waiting.add(kind);
        self.backlog.add(packet.len);
        self.packets.push_back((kind, packet));
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let (kind, packet) = self.packets.pop_front()?;
        self.waiting.remove(kind);
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// A smaller limit drops the newest. Trials that are under way go on with the new windows.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        if params.flows != self.params.flows {
            let message = format!("there are {} flows already", self.params.flows);
            return Err(Refusal::new(message).with_help("create the queue again to change that"));
        }
        self.rules = AdmissionRules::of(&params)?;
        self.trials = Trials::of(&params);
        self.params = params;
        while self.backlog.packets > self.params.limit {
            let Some((kind, packet)) = self.packets.pop_back() else {
                break;
            };
            self.waiting.remove(kind);
            self.backlog.remove(packet.len);
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn classes(&self) -> Vec<String> {
        ["responsive", "unresponsive"].map(str::to_owned).to_vec()
    }
}
