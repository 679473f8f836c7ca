//! The shaper: the time a packet takes on the link behind it, and when the next one is due.
//!
//! There is no bucket and no burst: each packet moves the time of the next one by its own, and the
//! time stands still only while packets wait for it (`cake_advance_shaper`).

use std::fmt;
use units::param::Value;
use units::{Duration, Instant, ParseError, Rate};

/// The shaper's rate, or unlimited.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Bandwidth(pub Option<Rate>);

/// The range of rates: below it the thresholds of tins are zero, above it a rate is a mistake.
const BANDWIDTHS: (Rate, Rate) = (Rate::from_bits(8_000), Rate::from_bits(1_000_000_000_000));

impl Value for Bandwidth {
    const KIND: &'static str = "rate or unlimited";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "unlimited" {
            return Ok(Bandwidth(None));
        }
        let rate = text.parse().ok();
        rate.filter(|rate| (BANDWIDTHS.0..=BANDWIDTHS.1).contains(rate))
            .map(|rate| Bandwidth(Some(rate)))
            .ok_or_else(|| ParseError::new(text, "unlimited, or a rate from 8kbit to 1000gbit"))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("unlimited"),
        }
    }
}

impl Bandwidth {
    /// Bytes per second; 0 for unlimited, as in Linux.
    pub(crate) fn bytes(self) -> u64 {
        self.0.map_or(0, |rate| rate.as_bits() / 8)
    }
}

/// Bytes for each packet, or off it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Overhead(pub i32);

impl Value for Overhead {
    const KIND: &'static str = "signed count";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let bytes = text.trim().parse();
        bytes
            .map(Overhead)
            .map_err(|_| ParseError::new(text, "a whole number such as 18 or -4"))
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a DSL link cuts packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Atm {
    /// Not at all.
    NoAtm,
    /// Into cells of 48 bytes, with 5 of header.
    Atm,
    /// 64 bytes in 65.
    Ptm,
}

impl Value for Atm {
    const KIND: &'static str = "framing";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "noatm" => Ok(Atm::NoAtm),
            "atm" => Ok(Atm::Atm),
            "ptm" => Ok(Atm::Ptm),
            _ => Err(ParseError::new(text, "noatm, atm or ptm")),
        }
    }
}

impl fmt::Display for Atm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Atm::NoAtm => "noatm",
            Atm::Atm => "atm",
            Atm::Ptm => "ptm",
        })
    }
}

/// How long a byte takes, as `ns >> shift`; zero if there is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    ns: u64,
    shift: u32,
}

/// A full packet, bytes.
const FULL: u32 = 1514;
/// The slowest rate, so that a packet always leaves some day: bytes per second (`cake_set_rate`).
const SLOWEST: u64 = 64;

impl Pace {
    /// The pace of a rate in bytes per second, as cake has it; 0 is unlimited.
    pub(crate) fn new(rate: u64) -> Self {
        Pace::with_bits(rate, 34)
    }

    /// The same in so many bits: with 32, the product of a pace and a length has no more than 64.
    pub(crate) fn with_bits(rate: u64, bits: u32) -> Self {
        if rate == 0 {
            return Pace::default();
        }
        let (mut ns, mut shift) = ((1_000_000_000 << 34) / rate.max(SLOWEST), 34);
        while ns >> bits != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Pace { ns, shift }
    }

    /// How long `bytes` take.
    pub(crate) fn time(self, bytes: u32) -> Duration {
        let ns = (u128::from(bytes) * u128::from(self.ns)) >> self.shift;
        // 32 and 34 bits, less a shift of 10 at least (that of the slowest rate).
        Duration::from_nanos(ns as u64)
    }

    /// There is no limit.
    pub(crate) const fn is_unlimited(self) -> bool {
        self.ns == 0
    }
}

/// The link-layer framing of a packet on the link behind the shaper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Framing {
    overhead: i32,
    mpu: u32,
    atm: Atm,
}

impl Framing {
    /// A link that adds `overhead` to a packet, or takes `mpu` for it, and cuts it into cells as
    /// `atm` sets.
    pub(crate) const fn new(overhead: Overhead, mpu: u32, atm: Atm) -> Self {
        Framing {
            overhead: overhead.0,
            mpu,
            atm,
        }
    }

    /// Bytes that a packet of `len` takes (`cake_calc_overhead`).
    pub(crate) fn length(&self, len: u32) -> u32 {
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
pub(crate) struct Shaper {
    pub(crate) pace: Pace,
    next: Instant,
    /// The same at two thirds of the rate, without drops: in `ingress` mode drops may not keep
    /// everything else waiting for longer.
    failsafe: Instant,
}

impl Shaper {
    /// A packet arrives while none wait: unused time is lost.
    pub(crate) fn wake_up(&mut self, now: Instant) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// The time until which no packet may leave, if it may not `now`.
    pub(crate) fn holds(&self, now: Instant) -> Option<Instant> {
        let due = self.next.min(self.failsafe);
        (due > now).then_some(due)
    }

    /// Of the time that was not used while packets waited, because the device behind did not ask,
    /// only so much is made up for.
    pub(crate) fn make_up(&mut self, now: Instant, most: Duration) {
        let from = now - most;
        self.next = self.next.max(from);
        self.failsafe = self.failsafe.max(from);
    }

    /// Sets another rate. Bytes sent at the former one do not delay a full packet for longer than
    /// one that is sent now, and unused time from before is not made up for.
    pub(crate) fn change(&mut self, now: Instant, pace: Pace) {
        let due = now + pace.time(FULL);
        self.pace = pace;
        self.next = self.next.clamp(now, due);
        self.failsafe = self.failsafe.clamp(now, due);
    }

    /// `bytes` left, or were `dropped` and count as if they had.
    pub(crate) fn charge(&mut self, bytes: u32, dropped: bool) {
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
    fn a_pause_is_made_up_for_in_part_and_a_slower_past_is_forgotten() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut shaper = Shaper::default();
        shaper.change(at(0), Pace::new(1000));
        shaper.charge(1000, false);
        assert_eq!(shaper.holds(at(0)), Some(at(1000)));
        // 1514 bytes at 1 MB/s take 1.514 ms.
        shaper.change(at(1), Pace::new(1_000_000));
        let due = at(1) + Duration::from_micros(1514);
        assert_eq!(shaper.holds(at(1)), Some(due));
        shaper.make_up(at(100), Duration::from_millis(10));
        shaper.charge(10_000, false);
        assert_eq!(shaper.holds(at(99)), Some(at(100)));
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
