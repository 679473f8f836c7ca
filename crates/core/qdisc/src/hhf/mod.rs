//! `hhf`: flows that send much wait apart from those that do not.
//!
//! Principles: a flow is a heavy hitter once it sent more than `admit_bytes` within a round of
//! `reset_timeout`, found with a multi-stage filter whose size does not depend on how many flows
//! there are. Heavy hitters share one bucket and all others another one, which has twice the weight
//! and goes first when it was empty; when full, heavy hitters' packets are dropped. Not for: links
//! below 26 Mbit/s with the defaults, 128 KiB in 40 ms, unless traffic comes in bursts: no flow is
//! found to be heavy, and all flows share one queue.
//!
//! Linux's `net/sched/sch_hhf.c`, decision by decision, except for order. Linux puts a flow's
//! packets into the heavy bucket as soon as it is found, and these may leave before earlier ones
//! that wait in the other bucket; and after a pause of `evict_timeout` the other way round. A
//! congestion control takes that for losses, so it is prevented, and nothing else is changed:
//!
//! - while the head of the heavy bucket would overtake, that bucket counts as empty. The filter's
//!   counters also keep the number of their last packet, which has to leave first;
//! - a heavy hitter with packets queued does not expire.
//!
//! A smaller limit drops the same packets as a full queue does (Linux drops the packets it would
//! have sent next).

mod filter;
mod table;
#[cfg(test)]
mod tests;

use crate::drr::Drr;
use crate::pool::{Fifo, Pool};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use filter::Filter;
use table::{Expiry, Table};
use units::param::Settings;
use units::{Bytes, Duration, Instant, Refusal};

/// The heavy hitters' bucket.
const HEAVY: u32 = 0;
/// All others'.
const OTHERS: u32 = 1;

units::params! {
    /// Parameters of `hhf`.
    pub struct HhfParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux sch_hhf.c";
        /// Bytes that the heavy hitters may send in a round.
        quantum: Bytes = "1514B", range "256B".."1MiB", source "Linux sch_hhf.c: a full-sized packet on Ethernet";
        /// Multiple of `quantum` that all other flows may send in a round.
        non_hh_weight: u32 = "2", range "1".."2047", source "Linux sch_hhf.c";
        /// Largest number of heavy hitters that are told apart.
        hh_limit: u32 = "2048", range "0".."2048", source "Linux sch_hhf.c";
        /// A flow that sent more than this since the last reset is a heavy hitter.
        admit_bytes: Bytes = "131072B", range "0B".."4GB", source "Linux sch_hhf.c: 128 KiB";
        /// Time between two resets of the bytes counted for flows.
        reset_timeout: Duration = "40ms", range "0s".."1h", source "Linux sch_hhf.c";
        /// A heavy hitter from which nothing arrives for longer than this is no longer one.
        evict_timeout: Duration = "1s", range "0s".."1h", source "Linux sch_hhf.c";
    }
}

/// `hhf` for the registry.
pub fn hhf<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "hhf",
        summary: "flows that send much share one queue, all others another (heavy-hitter filter)",
        about: "A flow that sent more than 128 KiB within 40 ms is a heavy hitter, until it has \
            sent nothing for a second. Heavy hitters share one bucket and all others another one, \
            which has twice the weight. When the buffer is full, packets of heavy hitters are \
            dropped.\n\nNot for links below 26 Mbit/s with the defaults, unless traffic comes in \
            bursts: no flow is then found to be heavy, and all flows share one queue.",
        source: "Linux net/sched/sch_hhf.c; C. Estan and G. Varghese, SIGCOMM 2002",
        params: HhfParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Hhf::new(parts.settings, parts.env)?)),
    }
}

/// Two buckets, for heavy hitters and others.
#[derive(Debug)]
pub struct Hhf<P> {
    params: HhfParams,
    pool: Pool<P>,
    buckets: [HhfQueue; 2],
    turns: Drr,
    filter: Filter,
    table: Table,
    backlog: Backlog,
}

/// A queue whose packets are numbered as they come, from 1 on. Those up to `left` have left.
#[derive(Debug, Default)]
struct HhfQueue {
    queue: Fifo,
    came: u64,
    left: u64,
}

impl<P> Hhf<P> {
    /// Empty buckets with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = HhfParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(Hhf {
            params,
            pool: Pool::new(),
            buckets: Default::default(),
            turns: Drr::new(2),
            filter: Filter::default(),
            table: Table::default(),
            backlog: Backlog::default(),
        })
    }

    /// Bytes that a bucket may send in a round.
    fn quantum(&self, bucket: u32) -> u32 {
        let quantum = self.params.quantum.get() as u32;
        match bucket {
            HEAVY => quantum,
            _ => quantum * self.params.non_hh_weight,
        }
    }

    /// The bucket for an arrival (`hhf_classify`).
    fn classify(&mut self, now: Instant, packet: &Packet<P>) -> u32 {
        self.filter.refresh(now, self.params.reset_timeout);
        let hash = packet.hash;
        let heavies = &self.buckets[HEAVY as usize];
        let number = heavies.came + 1;
        let expiry = Expiry {
            now,
            timeout: self.params.evict_timeout,
            left: heavies.left,
        };
        if let Some(heavy) = self.table.seek(hash, expiry) {
            heavy.hit(now, number);
            return HEAVY;
        }
        let bytes = self.filter.estimate(hash, packet.len);
        if u64::from(bytes) <= self.params.admit_bytes.get() {
            self.filter.raise(hash, bytes);
            return OTHERS;
        }
        // The bytes of a heavy hitter are not counted: others that share its counters are shielded.
        let after = self.filter.last(hash);
        let limit = self.params.hh_limit;
        let Some(heavy) = self.table.insert(hash, after, limit, expiry) else {
            return OTHERS;
        };
        heavy.hit(now, number);
        HEAVY
    }

    fn push(&mut self, now: Instant, packet: Packet<P>, index: u32) {
        let bucket = &mut self.buckets[index as usize];
        bucket.came += 1;
        if index == OTHERS {
            self.filter.note(packet.hash, bucket.came);
        }
        self.backlog.add(packet.len);
        self.pool.push(&mut bucket.queue, now, packet);
    }

    fn pop(&mut self, index: u32) -> Option<Packet<P>> {
        let bucket = &mut self.buckets[index as usize];
        let packet = self.pool.pop(&mut bucket.queue)?;
        bucket.left += 1;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    /// Whether there is a heavy hitter's packet that overtakes none of its flow.
    fn heavy_may_send(&self) -> bool {
        let head = self.pool.peek(&self.buckets[HEAVY as usize].queue);
        let left = self.buckets[OTHERS as usize].left;
        head.and_then(|head| self.table.get(head.hash))
            .is_some_and(|heavy| heavy.after <= left)
    }

    /// Drops a packet, a heavy hitter's if there is one (`hhf_drop`).
    fn drop_one(
        &mut self,
        now: Instant,
        reason: impl Fn(&Self, u32) -> DropReason,
        observer: &mut dyn Observer<P>,
    ) {
        for index in [HEAVY, OTHERS] {
            if let Some(packet) = self.pop(index) {
                observer.dropped(now, packet, reason(self, index));
                return;
            }
        }
    }
}

impl<P: Send> Qdisc<P> for Hhf<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let bucket = self.classify(now, &packet);
        self.push(now, packet, bucket);
        if bucket == OTHERS {
            self.turns.join_new(OTHERS, self.quantum(OTHERS));
        }
        if self.backlog.packets > self.params.limit {
            // The arrival is the last of its bucket.
            let reason = |this: &Self, index: u32| {
                let empty = this.buckets[index as usize].queue.is_empty();
                if index == bucket && empty {
                    DropReason::Tail
                } else {
                    DropReason::Overlimit
                }
            };
            self.drop_one(now, reason, observer);
        }
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        if self.heavy_may_send() {
            self.turns.join(HEAVY, self.quantum(HEAVY));
        }
        let quanta = [HEAVY, OTHERS].map(|bucket| self.quantum(bucket));
        while let Some(bucket) = self.turns.next(|bucket| quanta[bucket as usize]) {
            let may_send = bucket == OTHERS || self.heavy_may_send();
            if may_send && let Some(packet) = self.pop(bucket) {
                self.turns.charge(bucket, packet.len);
                return Some(packet);
            }
            self.turns.leave();
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
        self.params.apply(settings)?;
        while self.backlog.packets > self.params.limit {
            self.drop_one(now, |_, _| DropReason::Change, observer);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}
