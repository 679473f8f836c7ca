//! `red`: random early detection, dropping by chance as the average queue grows.
//!
//! Principles: average the queue's length over many packets, so that bursts pass; below a minimum
//! do nothing, above a maximum mark or drop every arrival, in between by chance, the more the
//! longer the average is, and spread evenly rather than in runs (S. Floyd and V. Jacobson, "Random
//! Early Detection Gateways for Congestion Avoidance", 1993). Not for: links whose rate varies. The
//! thresholds are bytes, and the resulting delay depends on the link.
//!
//! Follows Linux's `net/sched/sch_red.c` and `include/net/red.h` decision by decision, with
//! parameters as `tc` names them. `tc` requires the user to choose the thresholds; the defaults
//! here are ns-3's (`red-queue-disc.cc`: 5 and 15 packets, weight 0.002, maximal probability 1/50),
//! which comparisons with RED "by default" mean. `burst` makes `tc` compute a weight of 2^-9. ns-3
//! differs from Linux beyond the maximum: it is `gentle` there, which is a parameter here and off
//! as in Linux.
//!
//! Differences to Linux: a change of parameters keeps the packets that have room (Linux replaces
//! the queue), and the idle time is read in the intended unit, see `control`.

mod control;

use crate::periodic::Periodic;
use crate::{Backlog, Discipline, DropReason, Ecn, Env, Observer, Packet, Qdisc};
use control::{Action, Red, RedConfig};
use std::collections::VecDeque;
use units::param::Settings;
use units::random::Stream;
use units::{Bytes, Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of `red`.
    pub struct RedParams {
        /// Limit of the backlog, in bytes.
        limit: Bytes = "1500kB", range "1B".."4GB", source "1000 packets of 1500 B, as bfifo";
        /// Average queue below which every packet passes.
        min: Bytes = "7500B", range "0B".."1GB", source "ns-3 RedQueueDisc: 5 packets";
        /// Average queue above which every packet is marked or dropped.
        max: Bytes = "22500B", range "1B".."1GB", source "ns-3 RedQueueDisc: 15 packets";
        /// Share of packets that are marked or dropped as the average nears the maximum.
        probability: f64 = "0.02", range "0.0001".."1", source "tc-red(8); ns-3 RedQueueDisc: LInterm 50";
        /// Size of an ordinary packet.
        avpkt: Bytes = "1500B", range "1B".."64KiB", source "a full packet";
        /// Packets that an empty queue takes at once before the average reaches the minimum.
        burst: u32 = "55", range "1".."1000000", source "makes the weight 2^-9, as ns-3's 0.002";
        /// The link's rate, by which the average decays while nothing waits.
        bandwidth: Rate = "10mbit", range "8kbit".."1000gbit", source "the link's rate if known; tc-red(8)";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "no", source "tc-red(8)";
        /// Drop above the maximum, even if `ecn` is on.
        harddrop: bool = "no", source "tc-red(8)";
        /// With `ecn`, let packets that cannot be marked pass.
        nodrop: bool = "no", source "tc-red(8)";
        /// Every 500 ms, adapt the probability to keep the average in the middle.
        adaptive: bool = "no", source "tc-red(8)";
        /// From the maximum to twice the maximum, raise the probability to 1 instead of dropping all.
        gentle: bool = "no", source "not in Linux; ns-3's default is yes";
    }
}

/// `red` for the registry.
pub fn red<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "red",
        summary: "one queue that drops by chance as its average length grows",
        about: "Packets leave in the order in which they came. An arrival is dropped or marked by \
            chance once the average queue is above a minimum, more often the longer it is, and \
            always once it is above a maximum.\n\nNot for links whose rate varies or is unknown: \
            the thresholds are in bytes.",
        source: "Floyd and Jacobson 1993; Linux net/sched/sch_red.c",
        params: RedParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(RedQdisc::new(parts.settings, parts.env)?)),
    }
}

/// How often the adaptive algorithm runs (`red_adaptative_timer`).
const ADAPT_EVERY: Duration = Duration::from_millis(500);
/// Updates after which the probability cannot move further one way: 84 from 1/10000 up, 44 down.
const ENOUGH: u64 = 128;

/// One queue under RED.
#[derive(Debug)]
pub struct RedQdisc<P> {
    params: RedParams,
    config: RedConfig,
    state: Red,
    random: Stream,
    timer: Periodic,
    /// Updates of the adaptive algorithm so far.
    adapted: u64,
    packets: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl RedParams {
    fn config(&self) -> Result<RedConfig, Refusal> {
        if self.nodrop && !self.ecn {
            // The kernel's `red_validate_flags`.
            return Err(Refusal::new(
                "parameter nodrop needs ecn: nothing would be marked, and nothing dropped",
            ));
        }
        RedConfig::new(self)
    }
}

impl<P> RedQdisc<P> {
    /// A queue with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused, or settings do not go together.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = RedParams::default();
        if let Some(limit) = env.limit {
            params.limit = Bytes::new(limit.bytes());
        }
        if let Some(rate) = env.rate {
            params.bandwidth =
                rate.clamp(Rate::from_bits(8_000), Rate::from_bits(1_000_000_000_000));
        }
        params.apply(settings)?;
        let config = params.config()?;
        Ok(RedQdisc {
            params,
            state: Red::new(&config),
            config,
            random: Stream::new(env.seed, "red"),
            timer: Periodic::new(ADAPT_EVERY, ADAPT_EVERY),
            adapted: 0,
            packets: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }

    /// Makes up for the adaptive algorithm's updates that are due. Meanwhile no packets arrived, so
    /// that the average at most fell: the probability rose, stayed, and then fell. After a long
    /// time, the first and the last updates come to the same as all of them.
    fn adapt(&mut self, now: Instant) {
        if !self.params.adaptive {
            return;
        }
        let fired = self.timer.fired(now);
        let first = self.adapted..fired.min(self.adapted.saturating_add(ENOUGH));
        let last = fired.saturating_sub(ENOUGH).max(first.end)..fired;
        for index in first.chain(last) {
            self.state.adapt(self.timer.at(index), &self.config);
        }
        self.adapted = fired;
    }

    /// The fate of a packet under `action`: whether it is to be marked, or none if it is to be
    /// dropped.
    fn fate(&self, action: Action, packet: &Packet<P>) -> Option<bool> {
        let params = &self.params;
        let drop = match action {
            Action::Pass => return Some(false),
            Action::Early => !params.ecn,
            Action::Forced => !params.ecn || params.harddrop,
        };
        match packet.ecn {
            _ if drop => None,
            Ecn::NotCapable => params.nodrop.then_some(false),
            _ => Some(true),
        }
    }
}

impl<P: Send> Qdisc<P> for RedQdisc<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.adapt(now);
        let waiting = self.backlog.bytes;
        let action = self
            .state
            .arrival(now, &self.config, waiting, &mut self.random);
        let Some(mark) = self.fate(action, &packet) else {
            observer.dropped(now, packet, DropReason::Congestion);
            return;
        };
        if waiting + u64::from(packet.len) > self.params.limit.get() {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        if mark && packet.mark() {
            observer.marked(now, &packet);
        }
        packet.arrived = now;
        self.backlog.add(packet.len);
        self.packets.push_back(packet);
    }

    /// The average decays from when the link asks in vain.
    fn dequeue(&mut self, now: Instant, _observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let Some(packet) = self.packets.pop_front() else {
            self.adapt(now);
            self.state.starts_idling(now);
            return None;
        };
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The average starts again from zero, as in Linux, on any change.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.config = params.config()?;
        self.params = params;
        while self.backlog.bytes > self.params.limit.get() {
            let Some(packet) = self.packets.pop_back() else {
                break;
            };
            self.backlog.remove(packet.len);
            observer.dropped(now, packet, DropReason::Change);
        }
        self.state = Red::new(&self.config);
        self.timer = Periodic::new(ADAPT_EVERY, ADAPT_EVERY);
        self.timer.fired(now);
        self.adapted = 0;
        if self.packets.is_empty() {
            self.state.starts_idling(now);
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
    use crate::testing::{numbers, packet, settings, us};

    fn red(set: &[(&str, &str)]) -> RedQdisc<u32> {
        RedQdisc::new(&settings(set), &Env::default()).unwrap()
    }

    /// A weight of 1/2: a burst of 1 packet with a minimum of 1 asks for `1 <= (1 - 1/2) / (1/2)`.
    const SMALL: [(&str, &str); 3] = [("min", "1500B"), ("max", "3000B"), ("burst", "1")];

    fn small(more: &[(&str, &str)]) -> RedQdisc<u32> {
        red(&[&SMALL[..], more].concat())
    }

    /// Packets 1 to 6 at once; the average in halves of a byte, before each:
    ///
    /// - 1: 0, the queue is empty.
    /// - 2: 0 + 1500 = 1500, 750 B. 3: 1500 - 750 + 3000 = 3750, 1875 B: above the minimum for the
    ///   first time, which passes.
    /// - 4: 3750 - 1875 + 4500 = 6375, 3187 B: above the maximum. 5: 6375 - 3187 + 4500 = 7688.
    ///   6: 8344.
    ///
    /// Then all three leave, and the link asks in vain at 0 us. A packet takes 1200 us at 10 Mbit/s;
    /// 1792 us are a shift of 1792 ln 2 / 1200 = 1.035, so that 7 finds 4172: 2086 B, above the
    /// minimum again for the first time; nothing waits, and 8 finds 4172 - 2086 + 1500 = 3586, 1793 B.
    #[test]
    fn the_average_decides_not_the_queue() {
        let (mut queue, mut log) = (small(&[]), numbers());
        for number in 1..=6 {
            queue.enqueue(us(0), packet(number, 1500, Ecn::Ect0), &mut log);
        }
        assert_eq!(log.dropped, [4, 5, 6].map(|n| (n, DropReason::Congestion)));
        assert_eq!(queue.state.average(), 8344);
        while queue.dequeue(us(0), &mut log).is_some() {}
        queue.enqueue(us(1792), packet(7, 1500, Ecn::Ect0), &mut log);
        assert_eq!(queue.state.average(), 4172);
        queue.enqueue(us(1792), packet(8, 1500, Ecn::Ect0), &mut log);
        assert_eq!(queue.state.average(), 3586);
        assert_eq!((log.dropped.len(), log.marked.len()), (3, 0));
    }

    /// The fate of packets 4 and 5 of the trace above, one after the other.
    #[test]
    fn above_the_maximum_ecn_harddrop_and_nodrop_decide() {
        for (set, ecn, dropped, marked) in [
            (&[][..], Ecn::Ect0, 2, 0),
            (&[("ecn", "yes")], Ecn::Ect0, 0, 2),
            (&[("ecn", "yes")], Ecn::NotCapable, 2, 0),
            (&[("ecn", "yes"), ("harddrop", "yes")], Ecn::Ect1, 2, 0),
            (&[("ecn", "yes"), ("nodrop", "yes")], Ecn::NotCapable, 0, 0),
        ] {
            let (mut queue, mut log) = (small(set), numbers());
            for number in 1..=5 {
                queue.enqueue(us(0), packet(number, 1500, ecn), &mut log);
            }
            let found = (log.dropped.len(), log.marked.len());
            assert_eq!(found, (dropped, marked), "{set:?} {ecn:?}");
        }
    }

    /// Ten packets wait, so that the average is halfway, and the probability half of 1/50. A mark is
    /// due when 7500 B, times the packets since the last one, reach a uniform number below
    /// 15000 * 50: after 1 to 100 packets (101 by rounding), 50.5 in the mean.
    #[test]
    fn marks_are_uniformly_spaced() {
        let (mut queue, mut log) = (red(&[]), numbers());
        for number in 0..10 {
            queue.enqueue(us(0), packet(number, 1500, Ecn::NotCapable), &mut log);
        }
        for number in 10..200_000 {
            let drops = log.dropped.len();
            queue.enqueue(us(0), packet(number, 1500, Ecn::NotCapable), &mut log);
            if log.dropped.len() == drops {
                queue.dequeue(us(0), &mut log);
            }
        }
        let numbers = log.dropped.iter().map(|drop| drop.0);
        let settled: Vec<_> = numbers.filter(|&number| number > 10_000).collect();
        let gaps = settled.windows(2).map(|pair| pair[1] - pair[0]);
        let longest = gaps.max().unwrap();
        let mean = f64::from(settled.last().unwrap() - settled[0]) / (settled.len() - 1) as f64;
        assert!((97..=101).contains(&longest), "{longest}");
        assert!((mean - 50.5).abs() < 1.5, "{mean}");
    }

    #[test]
    fn a_full_buffer_refuses_whatever_the_average_says() {
        let (mut queue, mut log) = (red(&[("limit", "3000B")]), numbers());
        for number in 1..=3 {
            queue.enqueue(us(0), packet(number, 1500, Ecn::Ect0), &mut log);
        }
        assert_eq!(log.dropped, [(3, DropReason::Tail)]);
        let smaller = settings(&[("limit", "1500B")]);
        queue.change(us(0), &smaller, &mut log).unwrap();
        assert_eq!(log.dropped[1..], [(2, DropReason::Change)]);
    }

    /// 20 packets leave an average far above the target; then nothing for up to an hour, on a link so
    /// slow that the average takes seconds to fall. To be asked all the time makes no difference.
    #[test]
    fn missed_updates_are_made_up_for() {
        let set = [("adaptive", "yes"), ("bandwidth", "8kbit"), ("ecn", "yes")];
        let after = |seconds: u64, every: u64| {
            let (mut queue, mut log) = (small(&set), numbers());
            for number in 1..=20 {
                queue.enqueue(us(0), packet(number, 1500, Ecn::Ect0), &mut log);
            }
            while queue.dequeue(us(0), &mut log).is_some() {}
            for ms in (0..=seconds * 1000).step_by(every as usize) {
                queue.dequeue(us(ms * 1000), &mut log);
            }
            queue.state.probability()
        };
        let start = small(&[]).state.probability();
        assert!(after(5, 100) > start, "above the target at first");
        assert!(after(600, 500) < start / 2 + 1, "below at last");
        for seconds in [1, 2, 10, 600, 3600] {
            assert_eq!(after(seconds, seconds * 1000), after(seconds, 250));
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for set in [
            [("min", "30kB"), ("max", "20kB")],
            [("min", "30kB"), ("burst", "15")],
            [("burst", "1000000"), ("max", "10MB")],
            [("nodrop", "yes"), ("ecn", "no")],
        ] {
            let refused = RedQdisc::<u32>::new(&settings(&set), &Env::default());
            let message = refused.expect_err("refused").message;
            assert!(!message.contains("is outside"), "{set:?}: {message}");
        }
    }

    #[test]
    fn the_link_sets_limit_and_bandwidth() {
        let env = Env {
            rate: Some(Rate::from_bits(20_000_000)),
            limit: Some(crate::Limit::Packets(100)),
            ..Env::default()
        };
        let queue = RedQdisc::<u32>::new(&[], &env).unwrap();
        assert_eq!(queue.params.limit.get(), 150_000);
        assert_eq!(queue.params.bandwidth, Rate::from_bits(20_000_000));
    }
}
