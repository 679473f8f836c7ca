//! `fq_codel`: flows take turns, and CoDel keeps each flow's queue short.
//!
//! Principles: as in RFC 8290. Flows are hashed into buckets; buckets take turns by deficit round
//! robin, those that just became active first; the head of each is under CoDel, by default marking
//! where a sender understands ECN. When full, half of the fattest flow is dropped, 64 packets at
//! most. Not for: a call that has to keep its rate when many flows arrive at once. Its share
//! becomes one among many within a round trip.
//!
//! Linux's `net/sched/sch_fq_codel.c`, decision by decision, with two differences: after an arrival
//! it drops batches until the memory limit holds (Linux drops one batch only), and a smaller limit
//! is met by dropping from the fattest flow (Linux drops the packets it would have sent next).

use crate::codel::{Codel, CodelConfig, CodelQueue, Threshold};
use crate::flow_table::{FlowTable, Limits};
use crate::{Backlog, Discipline, Env, Observer, Packet, Qdisc};
use units::param::Settings;
use units::{Bytes, Duration, Instant, Refusal};

units::params! {
    /// Parameters of `fq_codel`.
    pub struct FqCodelParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10240", range "1".."1000000", source "RFC 8290, 5.2.3";
        /// Number of buckets that flows are hashed into. Fixed once there is a queue.
        flows: u32 = "1024", range "1".."65536", source "RFC 8290, 5.2.5";
        /// Bytes that a flow may send before the next flow's turn.
        quantum: Bytes = "1514B", range "256B".."1MiB", source "RFC 8290, 5.2.4";
        /// Acceptable standing queue delay of a flow.
        target: Duration = "5ms", range "1us".."10s", source "RFC 8290, 5.2.2";
        /// Time for which the delay may stay above the target.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8290, 5.2.1";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "yes", source "RFC 8290, 5.2.6";
        /// Mark every packet that waited longer than this, regardless of CoDel.
        ce_threshold: Threshold = "off", source "RFC 8290, 5.2.7";
        /// Limit of the packets' memory, with 576 bytes of the kernel's added to each packet.
        memory_limit: Bytes = "32MiB", range "1B".."2GiB", source "Linux sch_fq_codel.c";
        /// Largest number of packets dropped at once from the longest flow.
        drop_batch: u32 = "64", range "1".."1000000", source "RFC 8290, 4.1; Linux sch_fq_codel.c";
    }
}

/// `fq_codel` for the registry.
pub fn fq_codel<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "fq_codel",
        summary: "flows take turns, and CoDel keeps each flow's queue short",
        about: "Every flow gets the same share of the link, and those that just became active go \
            first. CoDel marks or drops packets of a flow whose delay stays above the target for \
            an interval. When the buffer is full, packets of the longest flow are dropped.\n\nNot \
            for a call that has to keep its rate when many flows arrive at once: its share becomes \
            one among many within a round trip.",
        source: "RFC 8290; Linux net/sched/sch_fq_codel.c",
        params: FqCodelParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(FqCodel::new(parts.settings, parts.env)?)),
    }
}

/// Fair queuing with a CoDel for each flow.
#[derive(Debug)]
pub struct FqCodel<P> {
    params: FqCodelParams,
    config: CodelConfig,
    table: FlowTable<P>,
    states: Vec<Codel>,
}

/// A bucket as CoDel sees it.
struct FlowBucket<'a, P> {
    table: &'a mut FlowTable<P>,
    index: u32,
}

impl<P> CodelQueue<P> for FlowBucket<'_, P> {
    fn pop(&mut self) -> Option<Packet<P>> {
        self.table.pop(self.index)
    }

    fn backlog_bytes(&self) -> u64 {
        self.table.backlog().bytes
    }
}

impl FqCodelParams {
    fn limits(&self) -> Limits {
        Limits {
            packets: self.limit,
            memory: self.memory_limit.get(),
            drop_batch: self.drop_batch,
        }
    }

    fn config(&self) -> CodelConfig {
        CodelConfig::new(self.target, self.interval, self.ecn, self.ce_threshold)
    }
}

impl<P> FqCodel<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = FqCodelParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(FqCodel {
            config: params.config(),
            table: FlowTable::new(params.flows, params.quantum, params.limits()),
            states: vec![Codel::default(); params.flows as usize],
            params,
        })
    }
}

impl<P: Send> Qdisc<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let bucket = self.table.push(now, packet);
        while let Some((fattest, drops)) = self.table.drop_batch(now, bucket, observer) {
            self.states[fattest as usize].signal(drops);
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let FqCodel { config, states, .. } = self;
        self.table.dequeue(|table, index| {
            let mut bucket = FlowBucket { table, index };
            states[index as usize].dequeue(now, config, &mut bucket, observer)
        })
    }

    fn backlog(&self) -> Backlog {
        self.table.backlog()
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.table.keep_flows(params.flows)?;
        self.config = params.config();
        self.table
            .change(now, params.quantum, params.limits(), observer);
        self.params = params;
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Log, flows, ms as at, of_flow as packet, settings};
    use crate::{DropReason, Ecn, FlowId};

    const BULK: u32 = 0;
    const SPARSE: u32 = 1;

    fn fq_codel(set: &[(&str, &str)]) -> FqCodel<u32> {
        FqCodel::new(&settings(set), &Env::default()).unwrap()
    }

    /// When CoDel acts on a queue that stands from 0 ms, one packet leaving every millisecond: see
    /// the tests of `codel` for the arithmetic. None of these is a turn of the sparse flow.
    const TIMES: [u64; 6] = [105, 205, 255, 312, 361, 405];

    /// 600 packets of a bulk flow at 0; a packet of the sparse flow every 10 ms, to be sent at once.
    fn bulk_beside_sparse(ecn: Ecn, log: &mut Log<(u32, u64)>) -> FqCodel<u32> {
        let mut queue = fq_codel(&[]);
        for _ in 0..600 {
            queue.enqueue(at(0), packet(BULK, 1500, ecn), log);
        }
        for ms in 0..410 {
            let sparse = ms % 10 == 0 && ms > 0;
            if sparse {
                queue.enqueue(at(ms), packet(SPARSE, 100, ecn), log);
            }
            let sent = queue.dequeue(at(ms), log).unwrap();
            if sparse {
                assert_eq!(sent.flow, FlowId(SPARSE), "{ms} ms");
            }
        }
        queue
    }

    #[test]
    fn only_the_standing_flow_is_dropped_from() {
        let mut log = flows();
        let queue = bulk_beside_sparse(Ecn::NotCapable, &mut log);
        assert_eq!(
            log.dropped,
            TIMES.map(|ms| ((BULK, ms), DropReason::Congestion))
        );
        // 410 milliseconds, 40 of them for the sparse flow.
        assert_eq!(queue.backlog().packets, 600 - 370 - 6);
    }

    #[test]
    fn marks_by_default() {
        let mut log = flows();
        let queue = bulk_beside_sparse(Ecn::Ect0, &mut log);
        assert_eq!(log.marked, TIMES.map(|ms| (BULK, ms)));
        assert_eq!(log.dropped, []);
        assert_eq!(queue.backlog().packets, 600 - 370);
    }

    /// Half of 200 packets' bytes would be 100 packets; a batch is 64.
    #[test]
    fn a_full_queue_drops_a_batch_from_the_fattest_flow() {
        let (mut queue, mut log) = (fq_codel(&[("limit", "210")]), flows());
        for _ in 0..200 {
            queue.enqueue(at(0), packet(BULK, 1500, Ecn::Ect0), &mut log);
        }
        for _ in 0..11 {
            queue.enqueue(at(0), packet(SPARSE, 1500, Ecn::Ect0), &mut log);
        }
        assert_eq!(log.dropped, [((BULK, 0), DropReason::Overlimit); 64]);
        assert_eq!(queue.backlog().packets, 211 - 64);
    }

    /// After the trace above (count 6, entered with 1, x = 0.4041), a queue stands from 500 ms and is
    /// dropped from at 606 ms, as in the tests of `codel`. If it did not overflow, count goes on at 5
    /// and the next drop is at 651 ms. If it did, 64 drops were signalled, and count goes on at 69:
    /// far from where Newton's method converges, so that 3 - 69 x² = -8.266 wraps: of 2^64, a quarter
    /// of that times x is 1 + (-8.266 / 4) 0.40407 = 0.1650, and twice that is x = 0.3300. The next
    /// drop is due 32232 ticks after 591796, at 639.004 ms.
    #[test]
    fn drops_when_full_make_codel_act_harder() {
        let acts_after = |overflow: u32| {
            let mut log = flows();
            let mut queue = bulk_beside_sparse(Ecn::NotCapable, &mut log);
            while queue.dequeue(at(410), &mut log).is_some() {}
            log.dropped.clear();
            let limit = settings(&[("limit", "300")]);
            queue.change(at(410), &limit, &mut log).unwrap();
            for _ in 0..300 + overflow {
                queue.enqueue(at(500), packet(BULK, 1500, Ecn::NotCapable), &mut log);
            }
            for ms in 500..655 {
                queue.dequeue(at(ms), &mut log);
            }
            let acts = log
                .dropped
                .into_iter()
                .filter(|(_, reason)| *reason == DropReason::Congestion);
            acts.map(|((_, ms), _)| ms).collect::<Vec<_>>()
        };
        assert_eq!(acts_after(0), [606, 651]);
        assert_eq!(acts_after(1)[..2], [606, 640]);
    }

    /// In Linux, and so here, CoDel leaves a flow alone while all flows together have no more than
    /// one packet waiting, not while its own queue is that short. Every packet is a quantum: turns
    /// alternate. At 1 s both flows are above the target, at 2 s they have been for an interval:
    /// the sparse flow's last packet is dropped, although its own queue is empty behind it, and the
    /// turn passes to the bulk flow, which is dropped from as well.
    #[test]
    fn the_backlog_that_codel_looks_at_is_everyones() {
        let (mut queue, mut log) = (fq_codel(&[]), flows());
        for flow in [SPARSE, SPARSE, BULK, BULK, BULK, BULK, BULK, BULK] {
            queue.enqueue(at(0), packet(flow, 1514, Ecn::NotCapable), &mut log);
        }
        let mut sent = Vec::new();
        for ms in [1000, 1000, 2000] {
            sent.push(queue.dequeue(at(ms), &mut log).unwrap().flow.0);
        }
        assert_eq!(sent, [SPARSE, BULK, BULK]);
        assert_eq!(
            log.dropped,
            [SPARSE, BULK].map(|flow| ((flow, 2000), DropReason::Congestion))
        );
    }
}
