//! Rates in bits per second.

use crate::Duration;
use crate::ratio::mul_div;
use crate::text::{ParseError, in_units, scaled};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Bits per second.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Rate(u64);

const PRINTED: &[(&str, u64)] = &[
    ("gbit", 1_000_000_000),
    ("mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
];
const PARSED: &[(&str, u64)] = &[
    ("bit", 1),
    ("kbit", 1_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("mbit/s", 1_000_000),
    ("gbit/s", 1_000_000_000),
];

/// Not `mbps`: it is megabits to most people, and megabytes to tc(8).
const UNCLEAR: &str = "a rate in mbit, kbit or gbit, such as 20mbit (tc reads mbps as megabytes)";
const EXPECTED: &str = "a rate in bits such as 20mbit, 750kbit or 1gbit, below 18 billion gbit";

/// Bits per byte times nanoseconds per second.
const BIT_NANOS: u64 = 8_000_000_000;

impl Rate {
    /// `bits` per second.
    pub const fn from_bits(bits: u64) -> Self {
        Rate(bits)
    }

    /// `bytes` over `span`; the greatest rate if the span is zero.
    pub const fn from_bytes_over(bytes: u64, span: Duration) -> Self {
        if span.as_nanos() == 0 {
            return Rate(u64::MAX);
        }
        Rate(mul_div(bytes, BIT_NANOS, span.as_nanos()))
    }

    /// `mbit` Mbit/s, rounded to the bit; negative and undefined values become zero.
    pub fn from_mbit_f64(mbit: f64) -> Self {
        Rate((mbit * 1e6 + 0.5) as u64)
    }

    /// Bits per second.
    pub const fn as_bits(self) -> u64 {
        self.0
    }

    /// Mbit/s with a fraction.
    pub fn as_mbit_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How long `bytes` take at this rate, rounded up; [`Duration::MAX`] at a rate of zero.
    pub const fn time_for(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Packets take the short way: a 128-bit division costs more than the rest of an event.
        if bytes < u64::MAX / BIT_NANOS {
            return Duration::from_nanos((bytes * BIT_NANOS).div_ceil(self.0));
        }
        let ns = (bytes as u128 * BIT_NANOS as u128).div_ceil(self.0 as u128);
        Duration::from_nanos(if ns > u64::MAX as u128 {
            u64::MAX
        } else {
            ns as u64
        })
    }

    /// How many whole bytes pass in `span`.
    pub const fn bytes_in(self, span: Duration) -> u64 {
        mul_div(self.0, span.as_nanos(), BIT_NANOS)
    }

    /// `self × numerator / denominator` without overflow in between.
    #[must_use]
    pub const fn scale(self, numerator: u64, denominator: u64) -> Rate {
        Rate(mul_div(self.0, numerator, denominator))
    }
}

impl core::str::FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let unit = text
            .trim()
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let expected = match unit.trim().to_ascii_lowercase().as_str() {
            "bps" | "kbps" | "mbps" | "gbps" => UNCLEAR,
            _ => EXPECTED,
        };
        scaled(text, PARSED, expected).map(Rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_units(self.0, PRINTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_at_20_mbit() {
        let rate: Rate = "20mbit".parse().unwrap();
        assert_eq!(rate.time_for(1500), Duration::from_micros(600));
        assert_eq!(rate.bytes_in(Duration::from_micros(600)), 1500);
        assert_eq!(
            Rate::from_bytes_over(1500, Duration::from_micros(600)),
            rate
        );
        assert_eq!(rate.to_string(), "20mbit");
    }

    #[test]
    fn what_means_bytes_to_tc_is_refused() {
        for unclear in ["20mbps", "20Mbps", "750kbps", "1gbps", "1bps"] {
            assert!(unclear.parse::<Rate>().is_err(), "{unclear}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(Rate::from_bits(0).time_for(1), Duration::MAX);
        assert_eq!(Rate::from_bits(1).time_for(u64::MAX), Duration::MAX);
        assert_eq!(Rate::from_bits(u64::MAX).bytes_in(Duration::MAX), u64::MAX);
    }
}
