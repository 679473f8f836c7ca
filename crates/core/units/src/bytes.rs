//! Sizes in bytes.

use crate::text::{ParseError, in_units, scaled};
use core::fmt;
use serde::{Deserialize, Serialize};

/// A number of bytes. `kB`, `MB`, `GB` are powers of ten; `KiB`, `MiB`, `GiB` powers of two.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(u64);

const PRINTED: &[(&str, u64)] = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];
const PARSED: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Bytes(n)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl core::str::FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        scaled(text, PARSED, "a size such as 1514B, 15kB or 4MiB").map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_units(self.0, PRINTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for (text, n, printed) in [
            ("1514", 1514, "1.514kB"),
            ("15kB", 15_000, "15kB"),
            ("4MiB", 4 << 20, "4194.304kB"),
            ("0B", 0, "0B"),
        ] {
            let parsed: Bytes = text.parse().unwrap();
            assert_eq!(parsed.get(), n);
            assert_eq!(parsed.to_string(), printed);
        }
        assert!("100000000000000000000".parse::<Bytes>().is_err());
    }
}
