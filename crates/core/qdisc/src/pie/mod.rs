//! `pie`: drop arrivals by a probability that a controller adapts to the delay.
//!
//! Principles: a proportional integral controller moves one probability, up while the delay is
//! above its target or rising, down while below or falling; arrivals are dropped or marked with it,
//! evenly spread; a burst after a quiet time passes (RFC 8033). Its cost is a random number at
//! enqueue, and an update every 15 ms. Not for: keeping flows apart. All of them share one queue
//! and its drops.
//!
//! Linux's `net/sched/sch_pie.c`; the control itself is in [`control`], for every discipline that
//! contains it. Linux's timer starts 500 ms after the queue was made (`pie_init`), long before its first
//! packet on a router; so here it runs from the first packet or question on.

pub mod control;

pub use control::{Pie, PieConfig, PieVerdict};

use crate::periodic::Periodic;
use crate::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use std::collections::VecDeque;
use units::param::Settings;
use units::random::Stream;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `pie`.
    pub struct PieParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux include/net/pie.h";
        /// Acceptable standing queue delay.
        target: Duration = "15ms", range "1us".."10s", source "RFC 8033, 5.2";
        /// How often the probability is updated.
        tupdate: Duration = "15ms", range "1ms".."10s", source "RFC 8033, 5.2";
        /// Weight of the delay's distance from the target, in sixteenths of 1 Hz.
        alpha: u32 = "2", range "0".."32", source "RFC 8033, 5.2: 0.125 Hz";
        /// Weight of the delay's change, in sixteenths of 1 Hz.
        beta: u32 = "20", range "0".."32", source "RFC 8033, 5.2: 1.25 Hz";
        /// Up to a probability of 10 %, mark instead of dropping if the packet allows it.
        ecn: bool = "no", source "RFC 8033, 5.1; Linux include/net/pie.h";
        /// Drop small packets less often, in proportion to their size.
        bytemode: bool = "no", source "Linux include/net/pie.h";
        /// Take the delay from the backlog and a measured rate, not from how long packets waited.
        dq_rate_estimator: bool = "no", source "Linux include/net/pie.h";
    }
}

/// `pie` for the registry.
pub fn pie<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "pie",
        summary: "one queue that drops arrivals by a probability that follows the delay",
        about: "Packets leave in the order in which they came. A controller adapts the probability \
            of dropping an arrival so that the delay approaches its target. Bursts after a quiet \
            time pass.\n\nNot for links that a call shares with downloads: all flows share the \
            queue and its drops.",
        source: "RFC 8033; Linux net/sched/sch_pie.c",
        params: PieParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(PieQdisc::new(parts.settings, parts.env)?)),
    }
}

/// Up to which probability packets are marked, percent (RFC 8033, 5.1).
const MARK_UP_TO: u32 = 10;

/// One queue under PIE.
#[derive(Debug)]
pub struct PieQdisc<P> {
    params: PieParams,
    config: PieConfig,
    state: Pie,
    random: Stream,
    timer: Periodic,
    packets: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl PieParams {
    fn config(&self) -> PieConfig {
        PieConfig {
            target: self.target,
            alpha: self.alpha,
            beta: self.beta,
            bytemode: self.bytemode,
            dq_rate_estimator: self.dq_rate_estimator,
            mark_up_to: self.ecn.then_some(MARK_UP_TO),
        }
    }
}

impl<P> PieQdisc<P> {
    /// A queue with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = PieParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(PieQdisc {
            config: params.config(),
            timer: Periodic::new(params.tupdate, params.tupdate),
            params,
            state: Pie::default(),
            random: Stream::new(env.seed, "pie"),
            packets: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }

    fn catch_up(&mut self, now: Instant) {
        let fired = self.timer.fired(now);
        self.state.catch_up(&self.config, fired, self.backlog.bytes);
    }
}

impl<P: Send> Qdisc<P> for PieQdisc<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.catch_up(now);
        if self.backlog.packets >= self.params.limit {
            self.state.refused();
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        let waiting = self.backlog.bytes;
        match self
            .state
            .arrival(&self.config, &packet, waiting, &mut self.random)
        {
            PieVerdict::Drop => return observer.dropped(now, packet, DropReason::Congestion),
            PieVerdict::Mark if packet.mark() => observer.marked(now, &packet),
            PieVerdict::Mark | PieVerdict::Pass => {}
        }
        packet.arrived = now;
        self.backlog.add(packet.len);
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.catch_up(now);
        let packet = self.packets.pop_front()?;
        self.backlog.remove(packet.len);
        self.state
            .departure(now, &self.config, &packet, self.backlog.bytes);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// A smaller limit drops at the head, as Linux does.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.catch_up(now);
        self.timer.change(now, params.tupdate);
        self.state.restart_count();
        self.config = params.config();
        self.params = params;
        while self.backlog.packets > self.params.limit {
            let Some(packet) = self.packets.pop_front() else {
                break;
            };
            self.backlog.remove(packet.len);
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
    use crate::testing::{Log, numbers, packet, settings, us};
    use crate::{Ecn, Ignore};

    fn pie(set: &[(&str, &str)]) -> PieQdisc<u32> {
        PieQdisc::new(&settings(set), &Env::default()).unwrap()
    }

    /// Senders that do not listen, at 12 packets for 10 that the link sends, one each millisecond.
    /// Returns the delays of the last of `seconds`, in milliseconds.
    fn overload(queue: &mut PieQdisc<u32>, ecn: Ecn, seconds: u64, log: &mut Log<u32>) -> Vec<u64> {
        let mut delays = Vec::new();
        for ms in 0..seconds * 1000 {
            let arrivals = if ms % 5 == 0 { 2 } else { 1 };
            for _ in 0..arrivals {
                queue.enqueue(us(ms * 1000), packet(ms as u32, 1500, ecn), log);
            }
            let sent = queue.dequeue(us(ms * 1000 + 500), log);
            if let (Some(sent), true) = (sent, ms >= (seconds - 1) * 1000) {
                delays.push((us(ms * 1000 + 500)).since(sent.arrived).as_millis());
            }
        }
        delays
    }

    /// A sixth has to be dropped. The delay comes to its target, and nothing is dropped before the
    /// burst allowance is used up, at 150 ms.
    #[test]
    fn the_probability_finds_what_has_to_go() {
        for estimator in ["no", "yes"] {
            let mut log = numbers();
            let mut queue = pie(&[("dq_rate_estimator", estimator)]);
            let delays = overload(&mut queue, Ecn::Ect0, 60, &mut log);
            let first = log.dropped[0].0;
            assert!((150..1000).contains(&first), "{first}");
            let late = log.dropped.iter().filter(|drop| drop.0 >= 50_000).count();
            assert!((1900..2100).contains(&late), "{late} of 12000, for 2000");
            let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
            assert!((5.0..30.0).contains(&mean), "{mean} ms");
            assert!(log.marked.is_empty());
        }
    }

    /// As above, with senders that would be marked: up to 10 %, and a sixth is more.
    #[test]
    fn marks_do_not_help_against_overload() {
        let mut log = numbers();
        let mut queue = pie(&[("ecn", "yes")]);
        overload(&mut queue, Ecn::Ect0, 20, &mut log);
        assert!(log.marked[0] < log.dropped[0].0, "marks come first");
        assert!(queue.state.probability() > 0.1);
        log.marked.clear();
        queue.enqueue(us(20_000_000), packet(0, 1500, Ecn::Ect0), &mut log);
        assert_eq!(log.marked, []);
    }

    /// Polling all the time, or once after an hour, makes no difference to an empty queue, nor to
    /// one that stands still for a second.
    #[test]
    fn missed_updates_are_made_up_for() {
        for drain in [true, false] {
            let after = |seconds: u64, every: u64| {
                let mut queue = pie(&[]);
                overload(&mut queue, Ecn::Ect0, 10, &mut numbers());
                let end = 10_000_000;
                while drain && queue.dequeue(us(end), &mut Ignore).is_some() {}
                for ms in (0..=seconds * 1000).step_by(every as usize) {
                    queue.catch_up(us(end + ms * 1000));
                }
                queue.state
            };
            assert_ne!(after(1, 1000), after(0, 1000));
            assert_eq!(after(1, 1000), after(1, 1));
            assert_eq!(after(3600, 3_600_000), after(3600, 100));
        }
    }

    #[test]
    fn a_smaller_limit_drops_the_oldest() {
        let (mut queue, mut log) = (pie(&[("limit", "3")]), numbers());
        for number in 1..=4 {
            queue.enqueue(us(0), packet(number, 1500, Ecn::NotCapable), &mut log);
        }
        let limit = settings(&[("limit", "1")]);
        queue.change(us(0), &limit, &mut log).unwrap();
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
