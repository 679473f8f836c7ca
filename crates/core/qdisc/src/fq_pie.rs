//! `fq_pie`: flows take turns, and PIE keeps each flow's queue short.
//!
//! Principles: as `fq_codel`, but each bucket is under [PIE](crate::pie): it acts on arrivals, by a
//! probability that follows the delay of the bucket, and marks only up to a probability.
//! Not for: a call that has to keep its rate when many flows arrive at once. Its share becomes one
//! among many within a round trip.
//!
//! Linux's `net/sched/sch_fq_pie.c`, decision by decision. Linux updates the probabilities of all
//! buckets every `tupdate`; here a bucket makes up for its updates when one of its packets comes or
//! leaves, with the same result. Two differences: the memory limit refuses arrivals (Linux only
//! counts them), and a smaller limit is met by dropping from the fattest flow (Linux drops the
//! packets it would have sent next).

use crate::flow_table::{FlowTable, Limits};
use crate::periodic::Periodic;
use crate::pie::{Pie, PieConfig, PieVerdict};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use units::param::Settings;
use units::random::Stream;
use units::{Bytes, Duration, Instant, Refusal};

units::params! {
    /// Parameters of `fq_pie`.
    pub struct FqPieParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10240", range "1".."1000000", source "Linux sch_fq_pie.c";
        /// Number of buckets that flows are hashed into. Fixed once there is a queue.
        flows: u32 = "1024", range "1".."65536", source "Linux sch_fq_pie.c";
        /// Acceptable standing queue delay of a flow.
        target: Duration = "15ms", range "1us".."10s", source "RFC 8033, 5.2";
        /// How often the probabilities are updated.
        tupdate: Duration = "15ms", range "1ms".."10s", source "RFC 8033, 5.2";
        /// Weight of the delay's distance from the target, in sixteenths of 1 Hz.
        alpha: u32 = "2", range "0".."32", source "RFC 8033, 5.2: 0.125 Hz";
        /// Weight of the delay's change, in sixteenths of 1 Hz.
        beta: u32 = "20", range "0".."32", source "RFC 8033, 5.2: 1.25 Hz";
        /// Bytes that a flow may send before the next flow's turn.
        quantum: Bytes = "1514B", range "256B".."1MiB", source "Linux sch_fq_pie.c: the MTU";
        /// Limit of the packets' memory, with 576 bytes of the kernel's added to each packet.
        memory_limit: Bytes = "32MiB", range "1B".."2GiB", source "Linux sch_fq_pie.c";
        /// With `ecn`, highest probability at which packets are marked instead of dropped, in
        /// percent.
        ecn_prob: u32 = "10", range "0".."100", source "RFC 8033, 5.1; Linux sch_fq_pie.c";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "no", source "Linux sch_fq_pie.c";
        /// Drop small packets less often, in proportion to their size.
        bytemode: bool = "no", source "Linux include/net/pie.h";
        /// Take the delay from the backlog and a measured rate, not from how long packets waited.
        dq_rate_estimator: bool = "no", source "Linux include/net/pie.h";
    }
}

/// `fq_pie` for the registry.
pub fn fq_pie<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "fq_pie",
        summary: "flows take turns, and PIE keeps each flow's queue short",
        about: "Every flow gets the same share of the link, those that just became active go first, \
            and arrivals of a flow are dropped by a probability that follows its delay. When the \
            buffer is full, arrivals are dropped.\n\nNot for a call that has to keep its rate when \
            many flows arrive at once: its share becomes one among many within a round trip.",
        source: "RFC 8033; Linux net/sched/sch_fq_pie.c",
        params: FqPieParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(FqPie::new(parts.settings, parts.env)?)),
    }
}

/// Fair queuing with a PIE for each flow.
#[derive(Debug)]
pub struct FqPie<P> {
    params: FqPieParams,
    config: PieConfig,
    timer: Periodic,
    random: Stream,
    table: FlowTable<P>,
    states: Vec<Pie>,
}

impl FqPieParams {
    fn limits(&self) -> Limits {
        Limits {
            packets: self.limit,
            memory: self.memory_limit.get(),
            drop_batch: 1,
        }
    }

    fn config(&self) -> PieConfig {
        PieConfig {
            target: self.target,
            alpha: self.alpha,
            beta: self.beta,
            bytemode: self.bytemode,
            dq_rate_estimator: self.dq_rate_estimator,
            mark_up_to: self.ecn.then_some(self.ecn_prob),
        }
    }
}

impl<P> FqPie<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = FqPieParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(FqPie {
            config: params.config(),
            timer: Periodic::new(params.tupdate, params.tupdate),
            random: Stream::new(env.seed, "fq_pie"),
            table: FlowTable::new(params.flows, params.quantum, params.limits()),
            states: vec![Pie::default(); params.flows as usize],
            params,
        })
    }

    /// Makes up for the updates of all buckets.
    fn catch_up(&mut self, now: Instant) {
        let fired = self.timer.fired(now);
        for (bucket, state) in (0..).zip(&mut self.states) {
            state.catch_up(&self.config, fired, self.table.waits_in(bucket).bytes);
        }
    }
}

impl<P: Send> Qdisc<P> for FqPie<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let bucket = self.table.bucket(packet.hash);
        let waiting = self.table.waits_in(bucket).bytes;
        let state = &mut self.states[bucket as usize];
        state.catch_up(&self.config, self.timer.fired(now), waiting);
        if !self.table.has_room(packet.len) {
            state.refused();
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        match state.arrival(&self.config, &packet, waiting, &mut self.random) {
            PieVerdict::Drop => return observer.dropped(now, packet, DropReason::Congestion),
            PieVerdict::Mark if packet.mark() => observer.marked(now, &packet),
            PieVerdict::Mark | PieVerdict::Pass => {}
        }
        self.table.push(now, packet);
    }

    fn dequeue(&mut self, now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let fired = self.timer.fired(now);
        let FqPie { config, states, .. } = self;
        self.table.dequeue(|table, bucket| {
            let state = &mut states[bucket as usize];
            state.catch_up(config, fired, table.waits_in(bucket).bytes);
            let packet = table.pop(bucket)?;
            state.departure(now, config, &packet, table.waits_in(bucket).bytes);
            Some(packet)
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
        if params == self.params {
            return Ok(());
        }
        self.catch_up(now);
        self.timer.change(now, params.tupdate);
        self.states.iter_mut().for_each(Pie::restart_count);
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
    use crate::{Ecn, FlowId};

    const BULK: u32 = 0;
    const SPARSE: u32 = 1;

    fn fq_pie(set: &[(&str, &str)]) -> FqPie<u32> {
        FqPie::new(&settings(set), &Env::default()).unwrap()
    }

    /// For so many milliseconds, one packet leaves in each; a bulk flow sends one and a tenth, the
    /// sparse one every 10 ms, to be sent at once.
    fn bulk_beside_sparse(queue: &mut FqPie<u32>, ecn: Ecn, span: u64, log: &mut Log<(u32, u64)>) {
        for ms in 0..span {
            for _ in 0..if ms % 10 == 5 { 2 } else { 1 } {
                queue.enqueue(at(ms), packet(BULK, 1500, ecn), log);
            }
            let sparse = ms % 10 == 0 && ms > 0;
            if sparse {
                queue.enqueue(at(ms), packet(SPARSE, 100, ecn), log);
            }
            let sent = queue.dequeue(at(ms), log).unwrap();
            let expected = if sparse { SPARSE } else { BULK };
            assert_eq!(sent.flow, FlowId(expected), "{ms} ms");
        }
    }

    /// 11 packets for 9 that leave: two of 11 have to be dropped, of the bulk flow alone. That is
    /// more than 10 %, so that marks do not last.
    #[test]
    fn only_the_standing_flow_is_dropped_from() {
        for (ecn, set) in [
            (Ecn::Ect0, "yes"),
            (Ecn::NotCapable, "yes"),
            (Ecn::Ect0, "no"),
        ] {
            let (mut queue, mut log) = (fq_pie(&[("ecn", set)]), flows());
            bulk_beside_sparse(&mut queue, ecn, 30_000, &mut log);
            let congestion = |&((flow, ms), reason): &((u32, u64), DropReason)| {
                flow == BULK && ms >= 150 && reason == DropReason::Congestion
            };
            assert!(log.dropped.iter().all(congestion));
            let late = log.dropped.iter().filter(|drop| drop.0.1 >= 20_000).count();
            assert!((1900..2100).contains(&late), "{late} of 11000, for 2000");
            let marks = set == "yes" && ecn == Ecn::Ect0;
            assert_eq!(log.marked.is_empty(), !marks);
            assert!(log.marked.iter().all(|&(flow, _)| flow == BULK));
        }
    }

    /// Senders that do not listen to marks: the probability grows through every threshold.
    #[test]
    fn marks_end_where_they_are_told_to() {
        let first_drop = |percent| {
            let set = [("ecn", "yes"), ("ecn_prob", percent)];
            let (mut queue, mut log) = (fq_pie(&set), flows());
            bulk_beside_sparse(&mut queue, Ecn::Ect0, 20_000, &mut log);
            assert_eq!(log.marked.is_empty(), percent == "0");
            log.dropped[0].0.1
        };
        let [zero, five, fifty] = ["0", "5", "50"].map(first_drop);
        assert!(zero < five && five < fifty, "{zero} {five} {fifty}");
    }

    /// Linux updates every bucket at every `tupdate`. Twenty flows that come and go, in turns of 100
    /// packets with up to a minute in between: the same drops, and the same state in the end.
    #[test]
    fn a_bucket_makes_up_for_its_updates() {
        let run = |eager: bool| {
            let (mut queue, mut log) = (fq_pie(&[("flows", "16")]), flows());
            let mut random = Stream::new(1, "test");
            let mut ms = 0;
            for turn in 0..400 {
                let hash = random.bits() as u32;
                for _ in 0..100 {
                    let mut packet = packet(turn, 1500, Ecn::NotCapable);
                    packet.hash = hash;
                    queue.enqueue(at(ms), packet, &mut log);
                    if random.below(3) > 0 {
                        queue.dequeue(at(ms), &mut log);
                    }
                    ms += random.below(4);
                }
                let gap = [20, 1000, 60_000][random.below(3) as usize];
                for _ in 0..gap / 5 {
                    ms += 5;
                    if eager {
                        queue.catch_up(at(ms));
                    }
                }
            }
            queue.catch_up(at(ms));
            (log.dropped, log.marked, queue.states)
        };
        let lazy = run(false);
        assert!(lazy.0.len() > 1000);
        assert_eq!(lazy, run(true));
    }

    #[test]
    fn arrivals_without_room_are_refused() {
        for (set, fit) in [(("limit", "3"), 3), (("memory_limit", "6500B"), 3)] {
            // A full packet is 2076 bytes of memory: three of them are 6228.
            let (mut queue, mut log) = (fq_pie(&[set]), flows());
            for flow in 0..5 {
                queue.enqueue(at(0), packet(flow, 1500, Ecn::Ect0), &mut log);
            }
            assert_eq!(
                log.dropped,
                [3, 4].map(|flow| ((flow, 0), DropReason::Tail))
            );
            assert_eq!(queue.backlog().packets, fit);
        }
    }
}
