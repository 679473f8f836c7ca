//! Increasing sizes at which a flow sinks by a level.

use core::fmt;
use units::param::Value;
use units::{Bytes, ParseError};

/// Most thresholds: one less than the priorities of a switch (PIAS, section 4.2).
pub const MAX_THRESHOLDS: usize = 7;

/// No transfer of today has more: a terabyte.
const MOST: u64 = 1_000_000_000_000;
const EXPECTED: &str = "one to seven increasing sizes from 1B to 1000GB, such as 100kB/1MB";

/// The bytes after which a flow sinks, increasing; written `100kB/1MB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thresholds {
    bytes: [u64; MAX_THRESHOLDS],
    len: usize,
}

impl Thresholds {
    /// The thresholds in bytes, one to seven of them.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes[..self.len]
    }

    /// How many levels there are: one more than thresholds.
    pub fn levels(&self) -> usize {
        self.len + 1
    }

    /// The level of a flow that has sent `bytes`, 0 being the first.
    pub fn level(&self, bytes: u64) -> u8 {
        self.bytes().partition_point(|&after| after < bytes) as u8
    }
}

impl Value for Thresholds {
    const KIND: &'static str = "thresholds";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new(text, EXPECTED);
        let mut thresholds = Thresholds {
            bytes: [0; MAX_THRESHOLDS],
            len: 0,
        };
        for part in text.trim().split('/') {
            let bytes: Bytes = part.parse().map_err(|_| error())?;
            let last = thresholds.bytes().last();
            let rises = last.is_none_or(|&last| last < bytes.get());
            let full = thresholds.len == MAX_THRESHOLDS;
            if full || !rises || !(1..=MOST).contains(&bytes.get()) {
                return Err(error());
            }
            thresholds.bytes[thresholds.len] = bytes.get();
            thresholds.len += 1;
        }
        Ok(thresholds)
    }
}

impl fmt::Display for Thresholds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, &bytes) in self.bytes().iter().enumerate() {
            let slash = if position == 0 { "" } else { "/" };
            write!(f, "{slash}{}", Bytes::new(bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_ends_with_the_byte_of_its_threshold() {
        let thresholds = Thresholds::parse("1kB/3kB/4kB").unwrap();
        let levels = [0, 1000, 1001, 3000, 3001, 4000, 4001];
        let levels = levels.map(|bytes| thresholds.level(bytes));
        assert_eq!((levels, thresholds.levels()), ([0, 0, 1, 1, 2, 2, 3], 4));
        assert_eq!(thresholds.to_string(), "1kB/3kB/4kB");
    }

    #[test]
    fn what_does_not_rise_is_refused() {
        let full = "1B/2B/3B/4B/5B/6B/7B";
        assert_eq!(Thresholds::parse(full).unwrap().levels(), 8);
        let eight = format!("{full}/8B");
        for text in [
            "", "0B", "1kB/1kB", "2kB/1kB", &eight, "1kB/", "x", "1001GB",
        ] {
            assert!(Thresholds::parse(text).is_err(), "{text}");
        }
    }
}
