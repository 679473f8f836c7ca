//! `fq_fifo`: flows take turns, each with a first-in-first-out queue of its own.
//!
//! Principles: fair queuing and nothing else. This is the Confucius paper's "FQ" and "FQ+FIFO",
//! fair queuing without the AQM; the paper has no further details, so it is
//! [`fq_codel`](crate::fq_codel) minus CoDel: the same buckets, turns for new and old flows, and
//! drops from the fattest flow when full. The difference between the two is then the effect of
//! CoDel. Not for: flows that fill buffers and mind the delay. A flow's queue is as long as it
//! makes it.

use crate::flow_table::{FlowTable, Limits};
use crate::{Backlog, Discipline, Env, Observer, Packet, Qdisc};
use units::param::Settings;
use units::{Bytes, Instant, Refusal};

units::params! {
    /// Parameters of `fq_fifo`.
    pub struct FqFifoParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10240", range "1".."1000000", source "as fq_codel";
        /// Number of buckets that flows are hashed into. Fixed once there is a queue.
        flows: u32 = "1024", range "1".."65536", source "as fq_codel";
        /// Bytes that a flow may send before the next flow's turn.
        quantum: Bytes = "1514B", range "256B".."1MiB", source "as fq_codel";
        /// Limit of the packets' memory, with 576 bytes of the kernel's added to each packet.
        memory_limit: Bytes = "32MiB", range "1B".."2GiB", source "as fq_codel";
        /// Largest number of packets dropped at once from the longest flow.
        drop_batch: u32 = "64", range "1".."1000000", source "as fq_codel";
    }
}

/// `fq_fifo` for the registry.
pub fn fq_fifo<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "fq_fifo",
        summary: "flows take turns, each with a first-in-first-out queue",
        about: "Every flow gets the same share of the link, and those that just became active go \
            first. When the buffer is full, packets of the longest flow are dropped.\n\nNot for \
            flows that fill buffers and need a low delay: nothing keeps a flow's own queue short.",
        source: "Confucius paper, section 7.1 (\"FQ+FIFO\"); Linux net/sched/sch_fq_codel.c without CoDel",
        params: FqFifoParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(FqFifo::new(parts.settings, parts.env)?)),
    }
}

/// Fair queuing over FIFOs.
#[derive(Debug)]
pub struct FqFifo<P> {
    params: FqFifoParams,
    table: FlowTable<P>,
}

impl FqFifoParams {
    fn limits(&self) -> Limits {
        Limits {
            packets: self.limit,
            memory: self.memory_limit.get(),
            drop_batch: self.drop_batch,
        }
    }
}

impl<P> FqFifo<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = FqFifoParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(FqFifo {
            table: FlowTable::new(params.flows, params.quantum, params.limits()),
            params,
        })
    }
}

impl<P: Send> Qdisc<P> for FqFifo<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let bucket = self.table.push(now, packet);
        while self.table.drop_batch(now, bucket, observer).is_some() {}
    }

    fn dequeue(&mut self, _now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.table.dequeue(FlowTable::pop)
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
    use crate::testing::{self, letters, of_letter as packet, settings};
    use crate::{DropReason, Ignore};

    fn fq_fifo(set: &[(&str, &str)]) -> FqFifo<u32> {
        FqFifo::new(&settings(set), &Env::default()).unwrap()
    }

    const NOW: Instant = Instant::from_nanos(0);

    fn put(queue: &mut FqFifo<u32>, flows: &str, len: u32, observer: &mut dyn Observer<u32>) {
        testing::put(queue, NOW, flows, len, observer);
    }

    /// The flows of the next `n` packets.
    fn take(queue: &mut FqFifo<u32>, n: usize) -> String {
        testing::take(queue, NOW, n)
    }

    /// A has 6 packets of 1500, B 8 of 750; a flow may send while its deficit is above zero.
    ///
    /// - A: 1514, 14, -1486 (two packets). B: 1514, 764, 14, -736 (three).
    /// - A: -1486 + 1514 = 28, -1472 (one). B: -736 + 1514 = 778, 28, -722 (two).
    /// - A: -1472 + 1514 = 42 (one). B: -722 + 1514 = 792, 42, -708 (two).
    /// - A: 56 (one). B: 806, 56 (its last one). A: 70 (its last one).
    #[test]
    fn turns_are_counted_in_bytes() {
        let mut queue = fq_fifo(&[]);
        put(&mut queue, "AAAAAA", 1500, &mut Ignore);
        put(&mut queue, "BBBBBBBB", 750, &mut Ignore);
        assert_eq!(take(&mut queue, 20), "AABBBABBABBABA");
        assert!(queue.backlog().is_empty());
    }

    /// A has sent its quantum (1514, 14, -1486) when S comes: S goes first, then waits for a round as
    /// an old flow, so that its next packet takes turns with A.
    #[test]
    fn a_sparse_flow_goes_first() {
        let mut queue = fq_fifo(&[]);
        put(&mut queue, "AAAAAAAAAA", 1500, &mut Ignore);
        assert_eq!(take(&mut queue, 2), "AA");
        put(&mut queue, "S", 100, &mut Ignore);
        assert_eq!(take(&mut queue, 2), "SA");
        put(&mut queue, "S", 100, &mut Ignore);
        assert_eq!(take(&mut queue, 3), "SAA");
        put(&mut queue, "S", 100, &mut Ignore);
        assert_eq!(take(&mut queue, 2), "SA", "idle for a round: new again");
    }

    /// A flow that always has its next packet ready just after the last one left does not starve
    /// the other: of 1514 bytes each.
    #[test]
    fn a_flow_cannot_stay_new() {
        let mut queue = fq_fifo(&[]);
        put(&mut queue, "AAAAAAAA", 1514, &mut Ignore);
        let mut sent = String::new();
        for _ in 0..8 {
            put(&mut queue, "S", 1514, &mut Ignore);
            sent += &take(&mut queue, 1);
        }
        assert_eq!(sent.matches('A').count(), 4, "{sent}");
    }

    /// Eight packets of A are 12000 bytes, the fattest flow: half are 6000, four packets.
    #[test]
    fn the_fattest_flow_loses_half() {
        let (mut queue, mut drops) = (fq_fifo(&[("limit", "10")]), letters());
        put(&mut queue, "BB", 100, &mut drops);
        put(&mut queue, "AAAAAAAA", 1500, &mut drops);
        assert_eq!(drops.who(), "");
        put(&mut queue, "B", 100, &mut drops);
        assert_eq!(drops.who(), "AAAA");
        assert!(
            drops
                .dropped
                .iter()
                .all(|drop| drop.1 == DropReason::Overlimit)
        );
        assert_eq!(queue.backlog().packets, 7);
        assert_eq!(queue.backlog().bytes, 4 * 1500 + 3 * 100);
    }

    #[test]
    fn or_a_batch() {
        let set = [("limit", "10"), ("drop_batch", "3")];
        let (mut queue, mut drops) = (fq_fifo(&set), letters());
        put(&mut queue, "BBAAAAAAAAA", 1500, &mut drops);
        assert_eq!(drops.who(), "AAA");
    }

    #[test]
    fn an_arrival_that_is_itself_the_fattest_flow_is_refused() {
        let (mut queue, mut drops) = (fq_fifo(&[("limit", "1")]), letters());
        put(&mut queue, "A", 100, &mut drops);
        put(&mut queue, "B", 1500, &mut drops);
        assert_eq!(drops.who(), "B");
        assert!(drops.dropped.iter().all(|drop| drop.1 == DropReason::Tail));
        assert_eq!(take(&mut queue, 2), "A");
    }

    /// A packet of 64 KiB counts 65536 + 576 = 66112: three are 198336, four are over 200000. Half
    /// of four packets' bytes are two packets.
    #[test]
    fn memory_is_limited_too() {
        let set = [("memory_limit", "200000")];
        let (mut queue, mut drops) = (fq_fifo(&set), letters());
        put(&mut queue, "AAA", 65_536, &mut drops);
        assert_eq!(drops.who(), "");
        put(&mut queue, "A", 65_536, &mut drops);
        assert_eq!(drops.who(), "AA");
    }

    /// A batch is one packet here. Two packets of A and one of B are 2 * 5576 + 5476 = 16628: one of
    /// A has to go, 11052 fit. Another one of B makes 20628: B is the fattest flow, but 15152 without
    /// its first packet is still too much, and its second one, the arrival, goes as well.
    #[test]
    fn drops_go_on_until_the_memory_limit_holds() {
        let set = [("memory_limit", "12000"), ("drop_batch", "1")];
        let (mut queue, mut drops) = (fq_fifo(&set), letters());
        put(&mut queue, "AA", 5000, &mut drops);
        put(&mut queue, "B", 4900, &mut drops);
        assert_eq!(drops.who(), "A");
        put(&mut queue, "B", 9000, &mut drops);
        assert_eq!(drops.who(), "ABB");
        assert_eq!(drops.dropped[2].1, DropReason::Tail);
        assert_eq!(queue.backlog().bytes, 5000);
    }

    /// 1024 buckets: hashes that differ in their lower 22 bits only share one, and A's is 0.
    #[test]
    fn colliding_flows_share_a_queue() {
        let mut queue = fq_fifo(&[]);
        put(&mut queue, "AAA", 1514, &mut Ignore);
        let mut colliding = packet('C', 1514);
        colliding.hash = packet('A', 0).hash + (1 << 22) - 1;
        queue.enqueue(NOW, colliding, &mut Ignore);
        put(&mut queue, "BB", 1514, &mut Ignore);
        assert_eq!(take(&mut queue, 6), "ABABAC");
    }

    #[test]
    fn a_smaller_limit_takes_from_the_fattest_and_no_more_than_needed() {
        let (mut queue, mut drops) = (fq_fifo(&[]), letters());
        put(&mut queue, "AAAAAABBB", 1500, &mut drops);
        let limit = settings(&[("limit", "4")]);
        queue.change(NOW, &limit, &mut drops).unwrap();
        // A goes from 6 packets to below half, 2; then B from 3 to 2.
        assert_eq!(drops.who(), "AAAAB");
        assert!(
            drops
                .dropped
                .iter()
                .all(|drop| drop.1 == DropReason::Change)
        );
    }

    #[test]
    fn the_number_of_buckets_is_fixed() {
        let mut queue = fq_fifo(&[]);
        let set = |flows| settings(&[("quantum", "3000"), ("flows", flows)]);
        assert!(queue.change(NOW, &set("1024"), &mut Ignore).is_ok());
        let before = queue.params();
        let error = queue.change(NOW, &set("512"), &mut Ignore).unwrap_err();
        assert_eq!(
            error.to_string(),
            "parameter flows cannot change once there is a queue"
        );
        assert_eq!(queue.params(), before);
    }
}
