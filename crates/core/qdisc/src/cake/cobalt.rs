//! Cobalt: CoDel and BLUE in parallel, one of each for every queue.
//!
//! CoDel is for flows that answer: it marks, or drops, ever more often while packets wait longer
//! than the target. Unlike the reference CoDel it has one schedule for everything: `next` is when
//! the next signal is due, and, while there is no reason to signal, when the memory of earlier
//! signals fades by one. BLUE is for flows that do not answer: each overflow of the buffer raises a
//! probability with which packets are dropped, marked or not, and each time that the queue is found
//! empty lowers it.
//!
//! The decisions are those of `cobalt_should_drop` and its neighbours in Linux's `sch_cake.c`, to
//! the packet. So is this one: a queue that has never signalled has no inverse square root yet (0,
//! not 1), and therefore signals on the second packet that is late, not an interval after the
//! first. An interval above 4.29 s, which the kernel's multiplication cuts to 32 bits, keeps its
//! full value here.

use super::params::MTU;
use crate::inv_sqrt;
use crate::shaper::Pace;
use units::{Duration, Instant};

/// Parameters of a tin's queues.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aim {
    /// How long packets may wait in the long run, and how often BLUE adjusts its probability.
    pub(super) target: Duration,
    /// How long they may wait for longer than that before the first signal.
    pub(super) interval: Duration,
    /// How long a full-sized packet takes.
    pub(super) mtu: Duration,
}

/// 1/256 of 2^32: the increase of BLUE's probability after an overflow.
const RAISE: u32 = 1 << 24;
/// 1/4096 of 2^32: the decrease for an empty queue.
const LOWER: u32 = 1 << 20;

impl Aim {
    /// The aim at a rate at which a packet may take longer than the target (`cake_set_rate`).
    pub(super) fn new(target: Duration, rtt: Duration, pace: Pace) -> Self {
        let mtu = pace.time(MTU as u32);
        let raised = target.max(mtu * 3 / 2);
        let interval = rtt + raised.saturating_sub(target);
        Aim {
            target: raised,
            interval: interval.max(raised * 2),
            mtu,
        }
    }
}

/// The decision about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CobaltVerdict {
    /// Drop it, if it is not the last.
    pub(super) drop: bool,
    /// Mark it, if it is not dropped.
    pub(super) mark: bool,
}

/// A packet under judgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketCase {
    /// How long it has waited.
    pub(super) sojourn: Duration,
    /// Its sender understands marks.
    pub(super) ecn: bool,
    /// Number of bulk flows waiting next to this one if the shaper stands behind the bottleneck;
    /// else 0.
    pub(super) bulk_flows: u32,
}

/// The state of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cobalt {
    /// How often it signals: so many times in the square root of that many intervals.
    count: u32,
    /// `1/sqrt(count)` as a fraction of 2^32.
    inv_sqrt: u32,
    /// When the next signal is due, or the memory of one fades.
    next: Instant,
    /// When BLUE last changed its mind.
    blue_changed: Option<Instant>,
    /// BLUE's probability as a fraction of 2^32.
    probability: u32,
    /// Packets wait for too long.
    signalling: bool,
}

impl Cobalt {
    /// A packet was taken out of the queue to be sent. `chance` is uniform in 32 bits.
    pub(super) fn judge(
        &mut self,
        now: Instant,
        aim: &Aim,
        case: PacketCase,
        chance: impl FnOnce() -> u32,
    ) -> CobaltVerdict {
        let late = case.sojourn > aim.target
            && case.sojourn > aim.mtu * (2 * u64::from(case.bulk_flows))
            && case.sojourn > aim.mtu * 4;
        let due = self.count > 0 && now >= self.next;
        // Whether the time of the next event is past, before it is moved for this packet's sake.
        let mut past = now > self.next;
        if late && !self.signalling {
            self.next = self.after(now, aim);
        }
        if late && self.count == 0 {
            self.count = 1;
        }
        self.signalling = late;
        let signal = due && late;
        if signal {
            self.set_count(self.count.saturating_add(1));
            self.next = self.after(self.next, aim);
            past = now > self.next;
        } else if due {
            past = self.fade(now, aim);
        }
        let mark = signal && case.ecn;
        let refused = signal && !case.ecn;
        let drop = refused || self.probability > 0 && chance() < self.probability;
        if self.count == 0 {
            // Clears the memory of signals: from here on, the queue counts as idle.
            self.next = now + aim.interval;
        } else if past && !drop {
            self.next = now;
        }
        CobaltVerdict { drop, mark }
    }

    /// Forgets signals until the next one is not due; whether it is past due even so.
    fn fade(&mut self, now: Instant, aim: &Aim) -> bool {
        while self.count > 0 && now >= self.next {
            self.set_count(self.count - 1);
            self.next = self.after(self.next, aim);
        }
        now > self.next
    }

    /// The buffer overflowed, and this queue had to give (`cobalt_queue_full`).
    pub(super) fn overflowed(&mut self, now: Instant, aim: &Aim) {
        if self.may_change(now, aim) {
            self.probability = self.probability.saturating_add(RAISE);
            self.blue_changed = Some(now);
        }
        self.signalling = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue had its turn and was empty (`cobalt_queue_empty`).
    pub(super) fn found_empty(&mut self, now: Instant, aim: &Aim) {
        if self.probability > 0 && self.may_change(now, aim) {
            self.probability = self.probability.saturating_sub(LOWER);
            self.blue_changed = Some(now);
        }
        self.signalling = false;
        if self.count > 0 && now >= self.next {
            self.set_count(self.count - 1);
            self.next = self.after(self.next, aim);
        }
    }

    /// Returns whether the memory of signals is empty.
    pub(super) fn is_at_rest(&self, now: Instant) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.next
    }

    fn may_change(&self, now: Instant, aim: &Aim) -> bool {
        (self.blue_changed).is_none_or(|changed| now.since(changed) > aim.target)
    }

    /// `from` and `interval / sqrt(count)`.
    fn after(&self, from: Instant, aim: &Aim) -> Instant {
        from + aim.interval.scale(self.inv_sqrt.into(), 1 << 32)
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inv_sqrt = inv_sqrt::of(count, self.inv_sqrt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Aim = Aim {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu: Duration::ZERO,
    };

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn judge(cobalt: &mut Cobalt, now: Instant, sojourn_ms: u64, ecn: bool) -> CobaltVerdict {
        let case = PacketCase {
            sojourn: Duration::from_millis(sojourn_ms),
            ecn,
            bulk_flows: 0,
        };
        cobalt.judge(now, &AIM, case, || 0)
    }

    /// When packets of every millisecond, all 20 ms late, are dropped.
    fn drops(cobalt: &mut Cobalt, from: u64, to: u64) -> Vec<u64> {
        (from..to)
            .filter(|ms| judge(cobalt, at(ms * 1000), 20, false).drop)
            .collect()
    }

    #[test]
    fn signals_come_at_codels_times() {
        let mut cobalt = Cobalt::default();
        // A packet in time, and from 10 ms on late ones. The first episode of a queue begins at
        // once (see above): the second late packet is dropped, at 11 ms. The schedule goes on from
        // when that was due, 10 ms, by 100 ms/√n:
        //   n = 2: 10 + 70.7 = 80.7, then 57.7, 50, 44.7, 40.8, 37.8 ms: 138.4, 188.4, 233.2, 274.0,
        //   311.8; and the first packet at or after each is dropped.
        assert!(!judge(&mut cobalt, at(0), 0, false).drop);
        let expected = [11, 81, 139, 189, 234, 274, 312];
        assert_eq!(drops(&mut cobalt, 10, 320), expected);
    }

    #[test]
    fn a_later_episode_begins_an_interval_after_the_first_late_packet() {
        let mut cobalt = Cobalt::default();
        drops(&mut cobalt, 0, 100);
        // In time for long enough that everything is forgotten: every 10 ms, for 3 s.
        for ms in (100..3100).step_by(10) {
            assert!(!judge(&mut cobalt, at(ms * 1000), 0, false).drop);
        }
        // Late from 3100 ms on: the first signal 100 ms after that, the next 70.7 and 57.7 ms later.
        assert_eq!(drops(&mut cobalt, 3100, 3340), [3200, 3271, 3329]);
    }

    #[test]
    fn marks_instead_of_drops() {
        let mut cobalt = Cobalt::default();
        judge(&mut cobalt, at(0), 0, true);
        judge(&mut cobalt, at(1000), 20, true);
        let verdict = judge(&mut cobalt, at(2000), 20, true);
        assert_eq!((verdict.drop, verdict.mark), (false, true));
        // A packet in time is left alone.
        let verdict = judge(&mut cobalt, at(200_000), 5, true);
        assert_eq!((verdict.drop, verdict.mark), (false, false));
    }

    #[test]
    fn slow_links_and_many_flows_make_packets_less_late() {
        let pace = Pace::new(125_000);
        let aim = Aim::new(Duration::from_millis(5), Duration::from_millis(100), pace);
        // 1514 B take 12.112 ms at 1 Mbit/s: the target is 1.5 times that, 18.168 ms, and the
        // interval grows by as much as the target did.
        assert_eq!(aim.mtu, Duration::from_micros(12_112));
        assert_eq!(aim.target, Duration::from_micros(18_168));
        assert_eq!(aim.interval, Duration::from_micros(113_168));
        // At 100 kbit/s the target is 181.68 ms, and the interval twice that.
        let slow = Aim::new(
            Duration::from_millis(5),
            Duration::from_millis(100),
            Pace::new(12_500),
        );
        assert_eq!(slow.target, Duration::from_micros(181_680));
        assert_eq!(slow.interval, Duration::from_micros(363_360));
        // A packet is late above the target, four packets (48.4 ms), and twice a packet for each
        // bulk flow in ingress mode (ten: 242 ms).
        let late = |sojourn_ms, bulk_flows| {
            let mut cobalt = Cobalt::default();
            let case = PacketCase {
                sojourn: Duration::from_millis(sojourn_ms),
                ecn: false,
                bulk_flows,
            };
            cobalt.judge(at(0), &aim, case, || 0);
            cobalt.signalling
        };
        assert_eq!([late(48, 0), late(49, 0)], [false, true]);
        assert_eq!([late(242, 10), late(243, 10)], [false, true]);
    }

    #[test]
    fn blue_learns_from_overflows_and_forgets_while_idle() {
        let mut cobalt = Cobalt::default();
        // Overflows within a target of 5 ms count once: 0, 6 and 12 ms.
        for us in [0, 1000, 5000, 6000, 11_000, 12_000] {
            cobalt.overflowed(at(us), &AIM);
        }
        assert_eq!(cobalt.probability, 3 << 24, "3/256");
        // That takes 48 empty turns of 1/4096 to forget, each more than 5 ms after the one before.
        for turn in 1..=48 {
            assert_ne!(cobalt.probability, 0);
            cobalt.found_empty(at(12_000 + turn * 6000), &AIM);
        }
        assert_eq!(cobalt.probability, 0);
    }

    #[test]
    fn blue_drops_what_could_be_marked() {
        let mut cobalt = Cobalt::default();
        cobalt.overflowed(at(0), &AIM);
        let case = PacketCase {
            sojourn: Duration::ZERO,
            ecn: true,
            bulk_flows: 0,
        };
        let mut dropped = |chance| cobalt.judge(at(1), &AIM, case, || chance).drop;
        assert!(dropped((1 << 24) - 1));
        assert!(!dropped(1 << 24));
    }

    #[test]
    fn a_jump_ends_in_forgetting() {
        let mut cobalt = Cobalt::default();
        drops(&mut cobalt, 0, 100_000);
        assert!(cobalt.count > 500, "{}", cobalt.count);
        judge(&mut cobalt, at(1 << 50), 0, false);
        assert_eq!(cobalt.count, 0);
        assert!(cobalt.is_at_rest(at((1 << 50) + 100_000)));
    }
}
