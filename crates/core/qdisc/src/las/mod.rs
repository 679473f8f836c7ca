//! `las`: the flow that has been served least goes next, and CoDel keeps each flow's queue short.
//!
//! Principles: least attained service (I. Rai, E. Biersack, G. Urvoy-Keller, IEEE Network 19(1),
//! 2005; G. Moschini, thesis, Ca' Foscari, 2025, sections 3.2.2 and 7, which asks for it inside the
//! flow queues with an AQM for each). If the longer a flow has lasted the longer it will last, that
//! completes flows soonest among disciplines that do not know sizes. Flows with the same service
//! share the link. Not for: a call next to pages. It is the longest job of all, and soon goes last.
//!
//! Interpretations:
//!
//! - A flow's attained service is the bytes of its packets that left, in whole quanta: flows in the
//!   same quantum take turns, packet by packet. Packets dropped by CoDel do not count.
//! - Flows are known exactly, and none shares its service with another. A flow with no packets queued
//!   that has been silent for `idle` starts anew: that is conntrack's time after the end of a
//!   connection.
//! - When full, packets of the flow that has most waiting are dropped at its head, as in `fq_codel`.
//!
//! Work: O(log n) for n flows that wait, in a heap with one entry for each; when full, one pass
//! over all of them for up to 64 drops.

use crate::codel::{Codel, CodelConfig, CodelQueue, Threshold};
use crate::pool::{Fifo, Pool};
use crate::remembered::{Memory, Remembered};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use units::param::Settings;
use units::{Bytes, Duration, Instant, Refusal};

units::params! {
    /// Parameters of `las`.
    pub struct LasParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10240", range "1".."1000000", source "as fq_codel";
        /// Number of flows whose service is remembered, those with packets waiting apart.
        flows: u32 = "262144", range "1".."1048576", source "as 2lps";
        /// Difference in served bytes within which flows count as equally old and take turns.
        quantum: Bytes = "1514B", range "256B".."1GB", source "as fq_codel: a packet";
        /// A flow with no packet waiting and none arriving for this long starts again as a new one.
        idle: Duration = "120s", range "1ms".."120h", source "as 2lps: Linux nf_conntrack";
        /// Acceptable standing queue delay of a flow.
        target: Duration = "5ms", range "1us".."10s", source "RFC 8289, 4.3";
        /// Time for which the delay may stay above the target.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8289, 4.2";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "yes", source "as fq_codel";
    }
}

/// Most packets dropped at a time from the flow with the largest backlog: fq_codel's `drop_batch`.
const BATCH: u32 = 64;

/// `las` for the registry.
pub fn las<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "las",
        summary: "the flow that has been served least goes next, and CoDel keeps each flow's queue \
            short",
        about: "Least attained service: among the flows with packets waiting, the one that has \
            been served the fewest bytes goes next, so that short flows complete soonest, whatever \
            their size. CoDel keeps each flow's queue short.\n\nNot for calls that share a link \
            with pages: a call is the longest job of all, and soon goes last.",
        source: "I. Rai et al., IEEE Network 19(1), 2005; G. Moschini, thesis, Ca' Foscari, 2025, section 7; RFC 8289",
        params: LasParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Las::new(parts.settings, parts.env)?)),
    }
}

/// Flows by the service that they have had.
#[derive(Debug)]
pub struct Las<P> {
    params: LasParams,
    config: CodelConfig,
    pool: Pool<P>,
    flows: Remembered<LasFlow>,
    /// Those that wait, each once: the quanta that it has had, whose turn it is among equals, its
    /// place. One that was emptied by drops stays until its turn.
    waiting: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Turns that were given out.
    turns: u64,
    backlog: Backlog,
}

/// The state of a flow.
#[derive(Debug, Clone, Default)]
struct LasFlow {
    fifo: Fifo,
    codel: Codel,
    /// Bytes of its packets that left.
    served: u64,
}

/// A flow's queue as CoDel sees it.
struct Head<'a, P> {
    pool: &'a mut Pool<P>,
    fifo: &'a mut Fifo,
    backlog: &'a mut Backlog,
}

impl<P> CodelQueue<P> for Head<'_, P> {
    fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.pool.pop(self.fifo)?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog_bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

impl LasParams {
    fn config(&self) -> CodelConfig {
        CodelConfig::new(self.target, self.interval, self.ecn, Threshold(None))
    }
}

impl<P> Las<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = LasParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(Las {
            config: params.config(),
            flows: Remembered::default(),
            waiting: BinaryHeap::new(),
            pool: Pool::new(),
            turns: 0,
            backlog: Backlog::default(),
            params,
        })
    }

    /// Puts a flow behind those that have had as much.
    fn queue_up(&mut self, flow: usize) {
        let quanta = self.flows[flow].served / self.params.quantum.get();
        self.waiting
            .push(Reverse((quanta, self.turns, flow as u32)));
        self.turns += 1;
    }

    /// Drops half of the bytes of the largest flow, at most [`BATCH`] packets, at its head. The
    /// last packet of the flow of an `arrival` is the arrival itself.
    fn drop_batch(
        &mut self,
        now: Instant,
        (arrival, reason): (Option<usize>, DropReason),
        observer: &mut dyn Observer<P>,
    ) {
        let backlog = |flow: usize| self.flows[flow].fifo.backlog();
        // Packets may be empty: of those with as many bytes, the one with most packets.
        let weight = |flow: &usize| (backlog(*flow).bytes, backlog(*flow).packets);
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|Reverse((.., flow))| *flow as usize);
        let Some(fattest) = waiting.max_by_key(|flow| (weight(flow), Reverse(*flow))) else {
            return;
        };
        let enough = backlog(fattest).bytes.div_ceil(2);
        let (mut dropped, mut packets) = (0, 0);
        while (packets == 0 || dropped < enough) && packets < BATCH && self.over(reason, packets) {
            let Some(packet) = self.pool.pop(&mut self.flows[fattest].fifo) else {
                break;
            };
            self.backlog.remove(packet.len);
            dropped += u64::from(packet.len);
            packets += 1;
            let last = arrival == Some(fattest) && self.flows[fattest].fifo.is_empty();
            let reason = if last { DropReason::Tail } else { reason };
            observer.dropped(now, packet, reason);
        }
        self.flows[fattest].codel.signal(packets);
    }

    /// Whether more has to be dropped: a batch for an arrival, no more than needed for a new limit.
    fn over(&self, reason: DropReason, packets: u32) -> bool {
        let batch = reason != DropReason::Change && packets > 0;
        batch || self.backlog.packets > self.params.limit
    }
}

impl<P: Send> Qdisc<P> for Las<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let LasParams { flows, idle, .. } = self.params;
        let flow = self.flows.arrival(now, packet.hash, Memory { flows, idle });
        self.backlog.add(packet.len);
        self.pool.push(&mut self.flows[flow].fifo, now, packet);
        if !self.flows.is_waiting(flow) {
            self.flows.waits(flow);
            self.queue_up(flow);
        }
        if self.backlog.packets > self.params.limit {
            self.drop_batch(now, (Some(flow), DropReason::Overlimit), observer);
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        while let Some(Reverse((.., place))) = self.waiting.pop() {
            let place = place as usize;
            let flow = &mut self.flows[place];
            let mut head = Head {
                pool: &mut self.pool,
                fifo: &mut flow.fifo,
                backlog: &mut self.backlog,
            };
            let packet = flow.codel.dequeue(now, &self.config, &mut head, observer);
            if let Some(packet) = &packet {
                flow.served += u64::from(packet.len);
            }
            if flow.fifo.is_empty() {
                self.flows.silent(now, place);
            } else {
                self.queue_up(place);
            }
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// A new quantum holds from each flow's next turn on.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.config = params.config();
        self.params = params;
        while self.backlog.packets > self.params.limit {
            self.drop_batch(now, (None, DropReason::Change), observer);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod long;
#[cfg(test)]
mod tests;
