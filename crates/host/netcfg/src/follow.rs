//! How far rates may follow a line.

use crate::{Direction, Rates, ShapedRate};
use core::fmt;
use serde::{Deserialize, Serialize};
use units::Rate;

/// Which rates of a set-up are to follow its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// By which controller, as a choice is written.
    pub controller: String,
    /// The least rates of those directions.
    pub least: Rates,
    /// The greatest.
    pub most: Rates,
}

impl Follow {
    /// How far the rate of `direction` follows, if that one is to.
    pub fn of(&self, direction: Direction) -> Option<Limits> {
        Some(Limits {
            least: self.least.of(direction)?,
            most: self.most.of(direction)?,
        })
    }
}

/// A least and a greatest rate. The default is all that can be shaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The least.
    pub least: ShapedRate,
    /// The greatest.
    pub most: ShapedRate,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            least: ShapedRate::SLOWEST,
            most: ShapedRate::FASTEST,
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} to {}", self.least, self.most)
    }
}

impl Limits {
    /// The nearest rate between them, cut to three digits.
    pub fn hold(self, rate: Rate) -> ShapedRate {
        let bits = rate.as_bits();
        let unit = 10_u64.pow(bits.checked_ilog10().unwrap_or(0).saturating_sub(2));
        let cut = Rate::from_bits(bits - bits % unit);
        // A greater one than can be shaped is none.
        let fastest = ShapedRate::FASTEST.get();
        let cut = ShapedRate::try_from(cut.min(fastest)).unwrap_or(ShapedRate::SLOWEST);
        cut.clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bits: u64) -> ShapedRate {
        bits.try_into().unwrap()
    }

    #[test]
    fn a_rate_is_cut_and_held() {
        let limits = Limits {
            least: rate(1_000_000),
            most: rate(50_000_000),
        };
        let hold = |bits| limits.hold(Rate::from_bits(bits));
        assert_eq!(hold(12_345_678), rate(12_300_000));
        assert_eq!(hold(999_999), rate(1_000_000));
        assert_eq!(hold(50_499_999), rate(50_000_000));
        assert_eq!(hold(0), rate(1_000_000));
        assert_eq!(hold(u64::MAX), rate(50_000_000));
        let free = Limits::default();
        assert_eq!(free.hold(Rate::from_bits(0)), ShapedRate::SLOWEST);
        assert_eq!(free.hold(Rate::from_bits(u64::MAX)), ShapedRate::FASTEST);
    }
}
