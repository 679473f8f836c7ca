//! `codel`: drop when packets have waited too long for too long.
//!
//! Principles: measure how long packets waited, not how many wait; a queue that empties within an
//! interval is good, one that stands above the target for a whole interval is bad; then drop or mark
//! at the head, at times that come closer with the square root of their number, until the standing
//! queue is gone (RFC 8289).
//! Not for: keeping flows apart. All of them share one queue and its drops.
//!
//! The control itself is in [`control`], for every discipline that contains it.

pub mod control;

pub use control::{Codel, CodelConfig, CodelQueue, Threshold};

use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `codel`.
    pub struct CodelParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux sch_codel.c";
        /// Acceptable standing queue delay.
        target: Duration = "5ms", range "1us".."10s", source "RFC 8289, 4.3";
        /// Time for which the delay may stay above the target: a round trip in the worst ordinary
        /// case.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8289, 4.2";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "no", source "Linux codel_impl.h";
        /// Mark every packet that waited longer than this, regardless of CoDel.
        ce_threshold: Threshold = "off", source "Linux codel_impl.h";
    }
}

/// `codel` for the registry.
pub fn codel<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "codel",
        summary: "one queue that drops its head when the delay stays above a target for an \
            interval",
        about: "Packets leave in the order in which they came. Once every packet of a whole \
            interval has waited longer than the target, the head is dropped, and again after ever \
            shorter times, until the standing queue is gone.\n\nNot for links that a call shares \
            with downloads: all flows share the queue and its drops.",
        source: "RFC 8289; Linux net/sched/sch_codel.c",
        params: CodelParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(CodelQdisc::new(parts.settings, parts.env)?)),
    }
}

/// One queue under CoDel.
#[derive(Debug)]
pub struct CodelQdisc<P> {
    params: CodelParams,
    config: CodelConfig,
    state: Codel,
    queue: CodelFifo<P>,
}

#[derive(Debug)]
struct CodelFifo<P> {
    packets: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl<P> CodelQueue<P> for CodelFifo<P> {
    fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.packets.pop_front()?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog_bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

impl CodelParams {
    fn config(&self) -> CodelConfig {
        CodelConfig::new(self.target, self.interval, self.ecn, self.ce_threshold)
    }
}

impl<P> CodelQdisc<P> {
    /// A queue with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = CodelParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(CodelQdisc {
            config: params.config(),
            params,
            state: Codel::default(),
            queue: CodelFifo {
                packets: VecDeque::new(),
                backlog: Backlog::default(),
            },
        })
    }
}

impl<P: Send> Qdisc<P> for CodelQdisc<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        if self.queue.backlog.packets >= self.params.limit {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        packet.arrived = now;
        self.queue.backlog.add(packet.len);
        self.queue.packets.push_back(packet);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.state
            .dequeue(now, &self.config, &mut self.queue, observer)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog
    }

    /// A smaller limit drops at the head, as Linux does.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.apply(settings)?;
        self.config = self.params.config();
        while self.queue.backlog.packets > self.params.limit {
            let Some(packet) = self.queue.pop() else {
                break;
            };
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Log, ms as at, numbers, packet, settings, times};
    use crate::{DropReason, Ecn};

    fn codel(set: &[(&str, &str)]) -> CodelQdisc<u32> {
        CodelQdisc::new(&settings(set), &Env::default()).unwrap()
    }

    fn dropped<const N: usize>(times: [u64; N]) -> [(u64, DropReason); N] {
        times.map(|ms| (ms, DropReason::Congestion))
    }

    fn fill(queue: &mut CodelQdisc<u32>, ms: u64, packets: u32, ecn: Ecn, log: &mut Log<u64>) {
        for _ in 0..packets {
            queue.enqueue(at(ms), packet(0, 1500, ecn), log);
        }
    }

    /// A link of 12 Mbit/s: a packet of 1500 bytes every millisecond of `span`.
    fn send(queue: &mut CodelQdisc<u32>, span: std::ops::Range<u64>, log: &mut Log<u64>) {
        for ms in span {
            queue.dequeue(at(ms), log);
        }
    }

    /// 800 packets arrive at 0 and leave one a millisecond. In ticks of 1.024 us, the target is 4882
    /// and the interval 97656.
    ///
    /// - 5 ms is tick 4882: at the target, so above. Dropping is due after 4882 + 97656 = 102538.
    /// - 105 ms is tick 102539: drop, count 1, x = 0.99998; next at 102539 + 97654 = 200193, which
    ///   is 204.998 ms.
    /// - 205 ms: count 2, x = 1 (3 - 2) / 2 = 0.5 (Newton's first step towards 0.707);
    ///   next 48828 ticks on, at 254.998 ms.
    /// - 255 ms: count 3, x = 0.5 (3 - 3/4) / 2 = 0.5625; 54931 ticks on, 311.25 ms.
    /// - 312 ms: count 4, x = 0.5625 (3 - 4 * 0.3164) / 2 = 0.4878; 47636 on, 360.03 ms.
    /// - 361 ms: count 5, x = 0.4878 (3 - 5 * 0.2380) / 2 = 0.4415; 43115 on, 404.18 ms.
    /// - 405 ms: count 6.
    const DROPS: [u64; 6] = [105, 205, 255, 312, 361, 405];

    #[test]
    fn drops_come_closer_with_the_square_root_of_their_number() {
        let (mut queue, mut log) = (codel(&[]), times());
        fill(&mut queue, 0, 800, Ecn::Ect0, &mut log);
        send(&mut queue, 0..410, &mut log);
        assert_eq!(log.dropped, dropped(DROPS));
        assert_eq!(log.marked, []);
        assert_eq!(queue.backlog().packets, 800 - 410 - 6);
    }

    #[test]
    fn marks_come_instead_of_drops_at_the_same_times() {
        let (mut queue, mut log) = (codel(&[("ecn", "yes")]), times());
        fill(&mut queue, 0, 800, Ecn::Ect1, &mut log);
        send(&mut queue, 0..410, &mut log);
        assert_eq!(log.marked, DROPS);
        assert_eq!(log.dropped, []);
        assert_eq!(queue.backlog().packets, 800 - 410);
    }

    #[test]
    fn who_does_not_understand_marks_gets_drops() {
        let (mut queue, mut log) = (codel(&[("ecn", "yes")]), times());
        fill(&mut queue, 0, 800, Ecn::NotCapable, &mut log);
        send(&mut queue, 0..410, &mut log);
        assert_eq!(log.dropped, dropped(DROPS));
        assert_eq!(log.marked, []);
    }

    /// After the drops above the queue is sent at once at 410 ms, which ends the dropping state with
    /// count 6, entered with 1. 400 packets arrive at 500 ms (tick 488281).
    ///
    /// - 505 ms is tick 493164: 4883 waited. Dropping is due after 493164 + 97656 = 590820, the tick
    ///   of 605 ms.
    /// - 606 ms (tick 591796): drop. Count goes on at 6 - 1 = 5; x was 0.4041 for 6 and becomes
    ///   0.4041 (3 - 5 * 0.1633) / 2 = 0.4412; next 43083 ticks on, at 650.12 ms.
    #[test]
    fn a_queue_that_soon_comes_back_is_dropped_from_at_the_old_rate() {
        let (mut queue, mut log) = (codel(&[]), times());
        fill(&mut queue, 0, 800, Ecn::NotCapable, &mut log);
        send(&mut queue, 0..410, &mut log);
        while queue.dequeue(at(410), &mut log).is_some() {}
        assert_eq!(log.dropped, dropped(DROPS), "no drop was due at 410 ms");
        log.dropped.clear();
        fill(&mut queue, 500, 400, Ecn::NotCapable, &mut log);
        send(&mut queue, 500..660, &mut log);
        assert_eq!(log.dropped, dropped([606, 651]));
    }

    /// As above, but the queue comes back after more than 16 intervals: a whole interval between the
    /// first drops again. 10005 ms is tick 9770507, 4882 after 10000 ms; 10105 ms is tick 9868164,
    /// one after 9770507 + 97656; 97654 ticks later is 10204.998 ms.
    #[test]
    fn a_queue_that_comes_back_much_later_starts_afresh() {
        let (mut queue, mut log) = (codel(&[]), times());
        fill(&mut queue, 0, 800, Ecn::NotCapable, &mut log);
        send(&mut queue, 0..410, &mut log);
        while queue.dequeue(at(410), &mut log).is_some() {}
        log.dropped.clear();
        fill(&mut queue, 10_000, 400, Ecn::NotCapable, &mut log);
        send(&mut queue, 10_000..10_210, &mut log);
        assert_eq!(log.dropped, dropped([10_105, 10_205]));
    }

    /// One packet waits for a second at a time, with 1514 bytes behind it: the link needs these.
    #[test]
    fn a_queue_of_one_packet_is_left_alone() {
        let (mut queue, mut log) = (codel(&[]), times());
        queue.enqueue(at(0), packet(0, 1514, Ecn::NotCapable), &mut log);
        for second in 1..100 {
            queue.enqueue(
                at((second - 1) * 1000),
                packet(0, 1514, Ecn::NotCapable),
                &mut log,
            );
            assert!(queue.dequeue(at(second * 1000), &mut log).is_some());
        }
        assert_eq!(log.dropped, []);
    }

    /// The same with 1515 bytes: at 1 s the delay is above the target for the first time, at 2 s it
    /// has been for an interval.
    #[test]
    fn a_queue_of_more_than_one_packet_is_not() {
        let (mut queue, mut log) = (codel(&[]), times());
        queue.enqueue(at(0), packet(0, 1515, Ecn::NotCapable), &mut log);
        for second in 1..4 {
            queue.enqueue(
                at((second - 1) * 1000),
                packet(0, 1515, Ecn::NotCapable),
                &mut log,
            );
            queue.dequeue(at(second * 1000), &mut log);
        }
        assert_eq!(log.dropped, dropped([2000]));
    }

    #[test]
    fn the_ce_threshold_marks_by_delay_alone() {
        let set = [("ce_threshold", "1ms"), ("ecn", "no")];
        let (mut queue, mut log) = (codel(&set), times());
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::NotCapable, Ecn::Ect0] {
            queue.enqueue(at(0), packet(0, 100, ecn), &mut log);
        }
        // 1 ms is 976 ticks, as the threshold is: not above it. 2 ms is.
        let out: Vec<_> = [1, 2, 3, 4]
            .map(|ms| queue.dequeue(at(ms), &mut log).unwrap().ecn)
            .into();
        assert_eq!(out, [Ecn::Ect0, Ecn::Ce, Ecn::NotCapable, Ecn::Ce]);
        assert_eq!(log.marked, [2, 4]);
    }

    #[test]
    fn a_smaller_limit_drops_the_oldest() {
        let (mut queue, mut log) = (codel(&[("limit", "3")]), numbers());
        for number in 1..=4 {
            queue.enqueue(at(0), packet(number, 1500, Ecn::NotCapable), &mut log);
        }
        let limit = settings(&[("limit", "1")]);
        queue.change(at(0), &limit, &mut log).unwrap();
        assert_eq!(
            log.dropped,
            [
                (4, DropReason::Tail),
                (1, DropReason::Change),
                (2, DropReason::Change)
            ]
        );
    }
}
