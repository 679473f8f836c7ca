//! `fq`: flows take turns, and each may be paced.
//!
//! Principles: fair queuing for a host that paces its packets; here as it acts on a router, where
//! packets have no socket and no departure times, so that only `maxrate` paces. Flows are told
//! apart by hash; they take turns by deficit round robin, those that just became active first and
//! with a burst of ten packets; a flow that is ahead of its rate waits aside until it is due. No
//! AQM: a flow's queue is held to 100 packets. Not for: keeping delays short on a router.
//! `fq_codel` is for that.
//!
//! Linux's `net/sched/sch_fq.c` as of 2025, decision by decision, except:
//!
//! - one of its three bands, since no packet here has a priority; no departure times (`SO_TXTIME`)
//!   and so no `horizon`; no sockets, their rates and their hashes. Every packet is an orphan, and
//!   a flow is the part of the hash that `orphan_mask` keeps: 1024 at most, as on a router;
//! - the limit counts the packets of the fast path, never more than eight;
//! - Linux frees a flow that was idle for 3 s if its search tree is searched for another one, and
//!   then that flow gets a first quantum once more. Of 1024 flows in 1024 trees, few ever share one:
//!   none is freed here;
//! - timers are exact, and a smaller limit is met by halving the longest flows (Linux drops the
//!   packets it would have sent next).

use crate::codel::Threshold;
use crate::drr::Drr;
use crate::pool::{Fifo, Pool};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use core::cmp::Reverse;
use core::fmt;
use std::collections::BinaryHeap;
use units::param::{Settings, Value};
use units::{Bytes, Duration, Instant, ParseError, Rate, Refusal};

/// Packets that go straight through while there are no others (`fq_fastpath_check`).
const FAST_PATH: u32 = 8;
/// The longest that pacing keeps a flow waiting for one packet (`fq_dequeue`).
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The rate that no flow may exceed, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MaxRate(pub Option<Rate>);

impl Value for MaxRate {
    const KIND: &'static str = "rate or off";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "off" {
            return Ok(MaxRate(None));
        }
        text.parse()
            .map(|rate| MaxRate(Some(rate)))
            .map_err(|_| ParseError::new(text, "off, or a rate such as 20mbit"))
    }
}

impl fmt::Display for MaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("off"),
        }
    }
}

units::params! {
    /// Parameters of `fq`.
    pub struct FqParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10000", range "1".."1000000", source "Linux sch_fq.c";
        /// Limit of the backlog of one flow, in packets.
        flow_limit: u32 = "100", range "1".."1000000", source "Linux sch_fq.c";
        /// Bytes that a flow may send before the next flow's turn.
        quantum: Bytes = "3028B", range "1B".."1MiB", source "Linux sch_fq.c: two full-sized packets on Ethernet";
        /// Bytes that a flow may send when it is first seen.
        initial_quantum: Bytes = "15140B", range "0B".."1GB", source "Linux sch_fq.c: ten full-sized packets on Ethernet";
        /// A flow that was idle for longer gets a quantum when it comes back.
        refill_delay: Duration = "40ms", range "0s".."1h", source "Linux sch_fq.c";
        /// Pace flows that have a rate.
        pacing: bool = "yes", source "Linux sch_fq.c";
        /// Highest rate of each flow.
        maxrate: MaxRate = "off", source "Linux sch_fq.c";
        /// Up to this rate, flows are paced packet by packet, above it by quanta.
        low_rate_threshold: Rate = "550kbit", source "Linux sch_fq.c";
        /// Mark packets that leave more than this after the time at which they could have left.
        ce_threshold: Threshold = "off", source "Linux sch_fq.c: 4295 s, which is never";
        /// Bits of the hash that tell flows apart. Fixed once there is a queue.
        orphan_mask: u32 = "1023", range "0".."65535", source "Linux sch_fq.c";
    }
}

/// `fq` for the registry.
pub fn fq<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "fq",
        summary: "flows take turns, and each may be limited to a rate (as Linux's fq acts on a \
            router)",
        about: "Every flow gets the same share of the link, those that just became active go \
            first, and no flow has more than 100 packets waiting. With maxrate, a flow that is \
            ahead of that rate waits until it is due.\n\nNot for keeping delays short on a router: \
            nothing but the limit keeps a flow's queue short.",
        source: "Linux net/sched/sch_fq.c",
        params: FqParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Fq::new(parts.settings, parts.env)?)),
    }
}

/// Fair queuing with pacing.
#[derive(Debug)]
pub struct Fq<P> {
    params: FqParams,
    pool: Pool<P>,
    /// The fast path: sent before all other packets.
    internal: Fifo,
    flows: Vec<FqFlow>,
    turns: Drr,
    /// Flows that are ahead of their rate: the due time, the order of arrival, the flow.
    throttled: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    throttlings: u64,
    backlog: Backlog,
}

#[derive(Debug, Clone)]
struct FqFlow {
    queue: Fifo,
    state: FlowState,
    /// Bytes that it may send when it is in the round again.
    credit: u32,
    /// When its rate allows the next packet.
    time_next: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum FlowState {
    /// Has been empty since then.
    Detached(Instant),
    /// In the round.
    Listed,
    /// Ahead of its rate.
    Throttled,
}

impl<P> Fq<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = FqParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        let flow = FqFlow {
            queue: Fifo::default(),
            state: FlowState::Detached(Instant::ZERO),
            credit: params.initial_quantum.get() as u32,
            time_next: Instant::ZERO,
        };
        let flows = params.orphan_mask + 1;
        Ok(Fq {
            pool: Pool::new(),
            internal: Fifo::default(),
            flows: vec![flow; flows as usize],
            turns: Drr::new(flows),
            throttled: BinaryHeap::new(),
            throttlings: 0,
            backlog: Backlog::default(),
            params,
        })
    }

    fn quantum(&self) -> u32 {
        self.params.quantum.get() as u32
    }

    /// Whether a packet may take the fast path: all queued packets are on it, and are few.
    fn takes_fast_path(&self) -> bool {
        let waiting = self.internal.backlog().packets;
        self.params.maxrate.0.is_none() && self.backlog.packets == waiting && waiting < FAST_PATH
    }

    /// A flow gets packets, and joins the round if it is in none (`fq_enqueue`).
    fn attach(&mut self, now: Instant, index: u32) {
        let quantum = self.quantum();
        let flow = &mut self.flows[index as usize];
        let FlowState::Detached(since) = flow.state else {
            return;
        };
        if now.since(since) > self.params.refill_delay {
            flow.credit = flow.credit.max(quantum);
        }
        flow.state = FlowState::Listed;
        self.turns.join_new(index, flow.credit);
    }

    /// The flow whose turn it is has no packets.
    fn detach(&mut self, now: Instant, index: u32) {
        self.turns.leave_by_the_round();
        if self.turns.is_idle(index) {
            self.put_aside(index, FlowState::Detached(now));
        }
    }

    /// The flow whose turn it is may not send before `due` (`fq_flow_set_throttled`).
    fn throttle(&mut self, index: u32, due: Instant) {
        self.turns.withdraw();
        self.put_aside(index, FlowState::Throttled);
        self.flows[index as usize].time_next = due;
        self.throttlings += 1;
        self.throttled.push(Reverse((due, self.throttlings, index)));
    }

    fn put_aside(&mut self, index: u32, state: FlowState) {
        let flow = &mut self.flows[index as usize];
        flow.state = state;
        // It is above zero for a flow that has its turn.
        flow.credit = self.turns.deficit(index).max(0) as u32;
    }

    /// Flows that are due go to the end of the round (`fq_check_throttled`).
    fn release(&mut self, now: Instant) {
        while let Some(&Reverse((due, _, index))) = self.throttled.peek()
            && due <= now
        {
            self.throttled.pop();
            let flow = &mut self.flows[index as usize];
            flow.state = FlowState::Listed;
            self.turns.join(index, flow.credit);
        }
    }

    /// When the rate of a flow that sends `len` bytes allows the next packet.
    fn pace(&mut self, now: Instant, index: u32, len: u32) {
        let Some(rate) = self.params.maxrate.0.filter(|_| self.params.pacing) else {
            return;
        };
        let left = self.turns.deficit(index);
        let flow = &mut self.flows[index as usize];
        let bytes = if rate <= self.params.low_rate_threshold {
            self.turns.settle(index);
            len
        } else if left > 0 {
            return;
        } else {
            len.max(self.params.quantum.get() as u32)
        };
        let mut wait = rate.time_for(u64::from(bytes)).min(LONGEST_WAIT);
        if flow.time_next != Instant::ZERO {
            // The lateness, up to half of the wait, is subtracted from the wait.
            wait = wait.saturating_sub(now.since(flow.time_next).min(wait / 2));
        }
        flow.time_next = now + wait;
    }

    fn pop(&mut self, index: u32) -> Option<Packet<P>> {
        let packet = self.pool.pop(&mut self.flows[index as usize].queue)?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn pop_fast_path(&mut self) -> Option<Packet<P>> {
        let packet = self.pool.pop(&mut self.internal)?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// Halves the longest flows, from their heads, until the limit holds.
    fn shrink(&mut self, now: Instant, observer: &mut dyn Observer<P>) {
        let limit = self.params.limit;
        let packets = |flow: &FqFlow| flow.queue.backlog().packets;
        let mut longest = self.flows.iter().map(packets).max().unwrap_or(0);
        while self.backlog.packets > limit && longest > 0 {
            longest /= 2;
            for index in 0..self.flows.len() {
                while self.backlog.packets > limit
                    && packets(&self.flows[index]) > longest
                    && let Some(packet) = self.pop(index as u32)
                {
                    observer.dropped(now, packet, DropReason::Change);
                }
            }
        }
        while self.backlog.packets > limit
            && let Some(packet) = self.pop_fast_path()
        {
            observer.dropped(now, packet, DropReason::Change);
        }
    }
}

impl<P: Send> Qdisc<P> for Fq<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        if self.backlog.packets >= self.params.limit {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        if self.takes_fast_path() {
            self.backlog.add(packet.len);
            self.pool.push(&mut self.internal, now, packet);
            return;
        }
        let index = packet.hash & self.params.orphan_mask;
        let queue = &mut self.flows[index as usize].queue;
        if queue.backlog().packets >= self.params.flow_limit {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        self.backlog.add(packet.len);
        self.pool.push(queue, now, packet);
        self.attach(now, index);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        if let Some(packet) = self.pop_fast_path() {
            return Some(packet);
        }
        self.release(now);
        let quantum = self.quantum();
        while let Some(index) = self.turns.next(|_| quantum) {
            let flow = &self.flows[index as usize];
            let Some(head) = self.pool.peek(&flow.queue) else {
                self.detach(now, index);
                continue;
            };
            let due = head.arrived.max(flow.time_next);
            if now < due {
                self.throttle(index, due);
                continue;
            }
            let mut packet = self.pop(index)?;
            let late = |threshold| now.since(due) > threshold;
            if self.params.ce_threshold.0.is_some_and(late) && packet.mark() {
                observer.marked(now, &packet);
            }
            self.turns.charge(index, packet.len);
            self.pace(now, index, packet.len);
            return Some(packet);
        }
        None
    }

    fn next_wake(&self, _now: Instant) -> Option<Instant> {
        let &Reverse((due, _, _)) = self.throttled.peek()?;
        Some(due)
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
        let mut params = self.params.clone();
        params.apply(settings)?;
        if params.orphan_mask != self.params.orphan_mask {
            return Err(Refusal::new(
                "parameter orphan_mask cannot change once there is a queue",
            ));
        }
        self.params = params;
        self.shrink(now, observer);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests;
