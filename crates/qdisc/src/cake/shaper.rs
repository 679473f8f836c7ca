//! The shaper: what a packet takes of the link behind it, and when the next one is due.
//!
//! There is no bucket and no burst: each packet moves the time of the next one by its own, and the
//! time stands still only while packets wait for it (`cake_advance_shaper`).

use super::params::{Atm, CakeParams};
use units::{Duration, Instant};

/// How long a byte takes, as `ns >> shift`; nothing at all where there is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

/// The slowest rate, so that a packet always leaves some day: bytes per second (`cake_set_rate`).
const SLOWEST: u64 = 64;

impl Pace {
    /// The pace of a rate in bytes per second; 0 is unlimited.
    pub(super) fn new(rate: u64) -> Self {
        if rate == 0 {
            return Pace::default();
        }
        let (mut ns, mut shift) = ((1_000_000_000 << 34) / rate.max(SLOWEST), 34);
        while ns >> 34 != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Pace { ns, shift }
    }

    /// How long `bytes` take.
    pub(super) fn time(self, bytes: u32) -> Duration {
        let ns = (u128::from(bytes) * u128::from(self.ns)) >> self.shift;
        // 32 and 34 bits, less a shift of 10 at least (that of the slowest rate).
        Duration::from_nanos(ns as u64)
    }

    /// There is no limit.
    pub(super) const fn is_unlimited(self) -> bool {
        self.ns == 0
    }
}

/// What the link behind the shaper makes of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framing {
    overhead: i32,
    mpu: u32,
    atm: Atm,
}

impl Framing {
    /// The framing that `params` tells of.
    pub(super) fn new(params: &CakeParams) -> Self {
        Framing {
            overhead: params.overhead.0,
            mpu: params.mpu,
            atm: params.atm,
        }
    }

    /// Bytes that a packet of `len` takes (`cake_calc_overhead`).
    pub(super) fn length(&self, len: u32) -> u32 {
        let len = (i64::from(len) + i64::from(self.overhead)).max(i64::from(self.mpu)) as u64;
        let len = match self.atm {
            Atm::NoAtm => len,
            Atm::Atm => len.div_ceil(48) * 53,
            // A byte for every 64 or part of them: a little more than the exact value.
            Atm::Ptm => len + len.div_ceil(64),
        };
        len.min(u64::from(u32::MAX)) as u32
    }
}

/// When the next packet may leave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shaper {
    pub(super) pace: Pace,
    next: Instant,
    /// The same at two thirds of the rate, without drops: in `ingress` mode drops may not keep
    /// everything else waiting for longer.
    failsafe: Instant,
}

impl Shaper {
    /// A packet comes while none wait: time that was not used is gone.
    pub(super) fn wake_up(&mut self, now: Instant) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Until when nothing may leave, if it may not `now`.
    pub(super) fn holds(&self, now: Instant) -> Option<Instant> {
        let due = self.next.min(self.failsafe);
        (due > now).then_some(due)
    }

    /// `bytes` left, or were `dropped` and count as if they had.
    pub(super) fn charge(&mut self, bytes: u32, dropped: bool) {
        let time = self.pace.time(bytes);
        self.next += time;
        if !dropped {
            self.failsafe += time + time / 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_at_one_megabit_takes_eight_microseconds() {
        let pace = Pace::new(125_000);
        // 10^9 / 125 000 is 8000 exactly.
        assert_eq!(pace.time(1), Duration::from_micros(8));
        assert_eq!(pace.time(1500), Duration::from_millis(12));
        assert!(Pace::new(0).is_unlimited());
        assert_eq!(Pace::new(0).time(u32::MAX), Duration::ZERO);
        // 64 B/s at the least: 1500 B take 23.4375 s.
        assert_eq!(Pace::new(1).time(1500), Duration::from_micros(23_437_500));
        // At 125 GB/s a byte takes 8 ps, and 4 GB 34.36 ms.
        let fast = Pace::new(125_000_000_000).time(u32::MAX).as_nanos();
        assert!((34_359_700..34_359_800).contains(&fast), "{fast}");
    }

    #[test]
    fn framing() {
        let framing = |overhead, mpu, atm| Framing { overhead, mpu, atm };
        assert_eq!(framing(0, 0, Atm::NoAtm).length(1500), 1500);
        assert_eq!(framing(38, 84, Atm::NoAtm).length(1500), 1538);
        assert_eq!(framing(38, 84, Atm::NoAtm).length(40), 84);
        assert_eq!(framing(-64, 0, Atm::NoAtm).length(40), 0);
        // 1500 + 40 = 1540 B are 33 cells (32 carry 1536): 33 · 53 = 1749 B.
        assert_eq!(framing(40, 0, Atm::Atm).length(1500), 1749);
        // 1536 + 4 = 1540 B begin a 25th piece of 64: 1565 B.
        assert_eq!(framing(4, 0, Atm::Ptm).length(1536), 1565);
        assert_eq!(framing(256, 0, Atm::Atm).length(u32::MAX), u32::MAX);
    }

    #[test]
    fn the_failsafe_opens_where_drops_would_hold_everything() {
        let mut shaper = Shaper {
            pace: Pace::new(125_000),
            ..Shaper::default()
        };
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        // One packet sent and nine dropped: 120 ms for the shaper, 18 ms for the failsafe.
        shaper.charge(1500, false);
        (0..9).for_each(|_| shaper.charge(1500, true));
        assert_eq!(shaper.holds(at(0)), Some(at(18)));
        assert_eq!(shaper.holds(at(18)), None);
    }
}
