//! `mencius`: hosts share the link, flows share their host's part, and a flow that has kept its
//! queue short does not have to wait because others came.
//!
//! Principles: hosts take turns, and within a host its flows do, those that just became active
//! first (RFC 8290); a flow whose packets wait for too long is signalled by marks or drops
//! (`aqm.rs`). A flow that has kept its own queue short for a second is *settled* (`settling.rs`).
//! Within their host's share settled flows may always have half, and when others come they give
//! way as slowly as their congestion control can follow (`hold.rs`). Nothing is asked of end hosts:
//! no labels, and no look into packets beyond addresses and ports. Not for: core routers, where
//! flows are too many to be told apart; a sender that fills its own queue, which is served as any
//! other.
//!
//! Work for a packet is bounded: so many idle flows are forgotten, so many packets of flows that are
//! no longer settled are skipped, so many packets give way or are dropped, and turns are
//! not searched (`turns.rs`). Decision 0015 has the rules' reasons and figures.

mod allowance;
mod aqm;
mod by_size;
mod classify;
mod hold;
mod pace;
pub mod params;
mod room;
mod serve;
mod settled_hosts;
mod settling;
mod signals;
mod sparse;
mod store;
#[cfg(test)]
mod tests;
mod translation;
mod turns;

use crate::exact_flows::ExactFlows;
use crate::list::Nodes;
use crate::pool::Fifo;
use crate::shaper::{Framing, Pace as Rate, Shaper};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use allowance::Allowance;
use by_size::BySize;
use hold::{Hold, HoldRules};
use pace::FullPacketTime;
use params::MenciusParams;
use settled_hosts::SettledHosts;
use settling::Settling;
use signals::MarkSchedule;
use sparse::{ArrivedPacket, Sparse, SparseFlow};
use store::{FlowStore, Listed};
use translation::Translation;
use turns::{Members, Turns};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

/// There is room for one host for so many flows.
const FLOWS_OF_HOST: u32 = 8;
/// Number of full packets that are a short queue on a slow link.
const SHORT: u64 = 8;
/// The turn of a flow goes to a settled one of its host if its packet has waited for a part of
/// `min_wait`: one in so many.
const STANDING: u64 = 4;
/// Final number of bytes of a host's other flows per 256 of its settled ones.
const EDGE: i64 = 160;
/// Final share of other hosts: so many of 256 parts of their fair share.
const BETWEEN: i64 = 192;

/// Largest part of a pause of the device that is made up for, if there is a bandwidth.
const MADE_UP: Duration = Duration::from_millis(10);
/// So many packets may wait in any flow before its sender is signalled: fewer are no queue to a
/// slow link.
const STANDS: u64 = 4;

/// `mencius` for the registry.
pub fn mencius<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "mencius",
        summary: "hosts and flows share alike; a flow with a short queue does not wait behind others",
        about: "Every host gets the same share of the link, and every flow the same share of its \
            host's. When the delay of a flow stays above the target for an interval, its packets \
            are marked or dropped. A flow that has kept its queue short for a second, as a call \
            does, may take half of its host's share regardless of the host's other flows. When \
            other flows begin, its share falls no faster than its congestion control can follow. \
            No packet needs a label.\n\nNot for core routers, and no help for a sender that fills \
            the buffer itself.",
        source: "decision 0015",
        params: MenciusParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Mencius::new(parts.settings, parts.env)?)),
    }
}

/// The class of a flow in the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchedulerClass {
    /// It has no packets queued.
    Idle,
    /// It waits, and is not settled.
    Other,
    /// It waits, and is.
    Settled,
}

#[derive(Debug, Clone)]
struct MenciusFlow {
    queue: Fifo,
    signals: MarkSchedule,
    settling: Settling,
    sparse: SparseFlow,
    host: usize,
    /// The term of that place in which it was its host.
    term: u32,
    translation: Translation,
    standing: SchedulerClass,
}

#[derive(Debug)]
struct MenciusHost {
    turns: Turns,
    hold: Hold,
    allowance: Allowance,
    /// Number of hosts that had its place before.
    term: u32,
    /// Flows of it that are known.
    known: u32,
    /// Packets of its settled flows.
    listed: Listed,
    /// Settled flows that wait, and others.
    settled: u32,
    others: u32,
    backlog: Backlog,
    by_size: BySize,
}

/// The discipline.
#[derive(Debug)]
pub struct Mencius<P> {
    params: MenciusParams,
    /// Within hosts, and between them.
    within: HoldRules,
    between: HoldRules,
    /// The longest waits of a packet: of other flows, and of settled flows.
    plain: Duration,
    patient: Duration,
    store: FlowStore<P>,
    flow_table: ExactFlows,
    host_table: ExactFlows,
    /// Those in the table with the guests of each set, and then the guests of each host.
    flows: Vec<MenciusFlow>,
    hosts: Vec<MenciusHost>,
    flow_turns: Members,
    host_turns: Members,
    sparse: Sparse,
    /// Of hosts.
    turns: Turns,
    flow_sizes: Nodes,
    host_sizes: Nodes,
    by_size: BySize,
    hold: Hold,
    settled_hosts: SettledHosts,
    /// Bytes that went before other hosts, less those that went by turns since.
    before_turns: u32,
    /// Hosts with settled flows that wait, and hosts with others.
    settled: u32,
    others: u32,
    pace: FullPacketTime,
    shaper: Shaper,
}

impl<P> Mencius<P> {
    /// A discipline with `settings` in the place that `env` describes.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = MenciusParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        if let Some(home) = env.home {
            params.hosts = home.into();
        }
        params.apply(settings)?;
        let flow_table = ExactFlows::new(params.flows as usize);
        let host_table = ExactFlows::new((params.flows / FLOWS_OF_HOST) as usize);
        let hosts = host_table.len();
        let flows = flow_table.len() + hosts;
        let begun = Instant::ZERO;
        let flow = MenciusFlow {
            queue: Fifo::default(),
            signals: MarkSchedule::new(),
            settling: Settling::new(begun),
            sparse: SparseFlow::default(),
            host: 0,
            term: 0,
            translation: Translation::default(),
            standing: SchedulerClass::Idle,
        };
        let [within, between] = params.rules(Duration::ZERO);
        let [plain, patient] = params.targets(Duration::ZERO);
        Ok(Mencius {
            within,
            between,
            plain,
            patient,
            store: FlowStore::new(),
            flows: vec![flow; flows],
            hosts: (0..hosts).map(|_| MenciusHost::new(begun, 0)).collect(),
            flow_turns: Members::new(flows),
            host_turns: Members::new(hosts),
            sparse: Sparse::new(flows),
            turns: Turns::new(),
            flow_sizes: Nodes::with_len(flows),
            host_sizes: Nodes::with_len(hosts),
            by_size: BySize::default(),
            hold: Hold::new(begun),
            settled_hosts: SettledHosts::new(hosts),
            before_turns: 0,
            settled: 0,
            others: 0,
            pace: FullPacketTime::new(),
            shaper: params.shaper(),
            flow_table,
            host_table,
            params,
        })
    }

    /// Adapts to the link's rate, as far as it shows.
    fn tune(&mut self) {
        let full = self.pace.full();
        [self.within, self.between] = self.params.rules(full);
        [self.plain, self.patient] = self.params.targets(full);
    }

    /// The time until which the bandwidth allows no packet, if it does not allow one `now`.
    fn shaped(&self, now: Instant) -> Option<Instant> {
        let until = self.shaper.holds(now)?;
        (!self.shaper.pace.is_unlimited()).then_some(until)
    }

    /// Updates the sizes after a change of `flow`, whose backlog was `before`.
    #[inline]
    fn resize(&mut self, flow: usize, before: Backlog) {
        let state = &mut self.flows[flow];
        let (after, at) = (state.queue.backlog(), state.host);
        let left = before.packets.saturating_sub(after.packets);
        self.sparse.left((flow, &mut state.sparse), left);
        let host = &mut self.hosts[at];
        let host_before = host.backlog;
        host.backlog.packets = host_before.packets + after.packets - before.packets;
        host.backlog.bytes = host_before.bytes + after.bytes - before.bytes;
        let (size, host_size) = (room::size(before), room::size(host_before));
        let nodes = &mut self.flow_sizes;
        host.by_size.update(nodes, flow, size, room::size(after));
        let nodes = &mut self.host_sizes;
        let host_after = room::size(host.backlog);
        self.by_size.update(nodes, at, host_size, host_after);
    }
}

impl MenciusHost {
    fn new(now: Instant, term: u32) -> Self {
        MenciusHost {
            turns: Turns::new(),
            hold: Hold::new(now),
            allowance: Allowance::new(now),
            term,
            known: 0,
            listed: Listed::default(),
            settled: 0,
            others: 0,
            backlog: Backlog::default(),
            by_size: BySize::default(),
        }
    }
}

impl MenciusParams {
    /// The rules within hosts and between them, if sending a full packet takes `full` on the link.
    fn rules(&self, full: Duration) -> [HoldRules; 2] {
        let min_wait = self.min_wait.max(full * SHORT);
        let within = HoldRules {
            min_wait,
            stands: min_wait / STANDING,
            max_wait: self.max_wait.max(self.min_wait) + min_wait.saturating_sub(self.min_wait),
            rise: self.rise,
            settled_share: i64::from(self.settled_share),
            doubling: self.doubling,
            of_fair: 256,
            edge: EDGE,
        };
        let between = HoldRules {
            stands: min_wait,
            settled_share: 0,
            of_fair: BETWEEN,
            edge: i64::MAX,
            ..within
        };
        [within, between]
    }

    fn framing(&self) -> Framing {
        Framing::new(self.overhead, self.mpu, self.framing)
    }

    fn rate(&self) -> Rate {
        Rate::with_bits(self.bandwidth.bytes(), 32)
    }

    /// One that has not sent yet.
    fn shaper(&self) -> Shaper {
        let mut shaper = Shaper::default();
        shaper.change(Instant::ZERO, self.rate());
        shaper
    }

    /// The waits above which other flows and settled flows are signalled. Behind the bottleneck `min_wait` is no
    /// reason to wait longer: downloads are settled there, too, since nothing of them waits.
    fn targets(&self, full: Duration) -> [Duration; 2] {
        let plain = self.target.max(full * STANDS);
        let least = if self.ingress {
            Duration::ZERO
        } else {
            self.min_wait
        };
        [plain, plain.max(least).max(full * SHORT)]
    }
}

impl<P: Send> Qdisc<P> for Mencius<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        if self.store.backlog().is_empty() {
            self.shaper.wake_up(now);
        }
        self.forget_idle(now);
        let flow = self.flow_of(now, &packet);
        if !self.make_room(now, packet.len, observer) {
            return observer.dropped(now, packet, DropReason::Tail);
        }
        let at = self.flows[flow].host;
        let may = self.may_owe(at);
        let state = &mut self.flows[flow];
        let host = &mut self.hosts[at];
        let pause = state.settling.arrived(now);
        let settled = !self.flow_table.are_guests(flow) && state.settling.is_settled(now);
        let before = state.queue.backlog();
        let came = ArrivedPacket {
            pause,
            len: packet.len,
            before: before.packets,
            may,
        };
        self.sparse.came((flow, &mut state.sparse), came);
        let list = settled.then_some(&mut host.listed);
        if settled {
            self.settled_hosts.join(at);
        }
        let queue = (flow, &mut state.queue);
        self.store.push(now, queue, list, packet);
        self.resize(flow, before);
        self.judge(now, flow);
        let quantum = self.params.quantum;
        let turns = &mut self.hosts[at].turns;
        turns.join(&mut self.flow_turns, flow, quantum);
        self.turns.join(&mut self.host_turns, at, quantum);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        if self.store.backlog().is_empty() || self.shaped(now).is_some() {
            return None;
        }
        self.shaper.make_up(now, MADE_UP);
        let (flow, packet) = self.next(now, observer)?;
        let bytes = self.params.framing().length(packet.len);
        self.shaper.charge(bytes, false);
        self.leave_if_empty(flow);
        let wait = !self.store.backlog().is_empty();
        if self.pace.sent(now, packet.len, wait) {
            self.tune();
        }
        Some(packet)
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        self.shaped(now)
            .filter(|_| !self.store.backlog().is_empty())
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

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
        if params.bandwidth != self.params.bandwidth {
            self.shaper.change(now, params.rate());
        }
        self.params = params;
        self.tune();
        while !self.fits(0) && self.drop_largest(now, DropReason::Change, observer) {}
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}
