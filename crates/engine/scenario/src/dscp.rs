//! Differentiated Services code points by name.

use core::fmt;
use units::ParseError;
use units::param::Value;

/// A Differentiated Services code point (RFC 2474), 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dscp(u8);

/// The registered code points (IANA, "Differentiated Services Field Codepoints").
const NAMES: &[(&str, u8)] = &[
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
    ("va", 44),
    ("le", 1),
];

impl Dscp {
    /// The six bits.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl Value for Dscp {
    const KIND: &'static str = "code point";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let lower = text.trim().to_ascii_lowercase();
        let named = NAMES.iter().find(|(name, _)| *name == lower);
        let number = || lower.parse().ok().filter(|bits| *bits < 64);
        named
            .map(|(_, bits)| *bits)
            .or_else(number)
            .map(Dscp)
            .ok_or_else(|| {
                ParseError::new(text, "cs0 to cs7, af11 to af43, ef, va, le, or 0 to 63")
            })
    }
}

/// The registered name, or the number of a code point without one.
impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, bits)| *bits == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_nonsense() {
        // RFC 4594, figure 3: EF is 101110, AF41 100010, CS1 001000; RFC 8622: LE is 000001.
        for (text, bits, shown) in [
            ("ef", 0b10_1110, "ef"),
            ("AF41", 0b10_0010, "af41"),
            (" cs1 ", 0b00_1000, "cs1"),
            ("le", 1, "le"),
            ("46", 46, "ef"),
            ("63", 63, "63"),
        ] {
            let dscp = Dscp::parse(text).unwrap();
            assert_eq!((dscp.bits(), dscp.to_string().as_str()), (bits, shown));
        }
        for text in ["", "64", "-1", "ef1", "af44", "af", "cs8"] {
            assert!(Dscp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_code_point_is_shown_as_it_is_written() {
        for bits in 0..64 {
            assert_eq!(Dscp::parse(&Dscp(bits).to_string()), Ok(Dscp(bits)));
        }
    }
}
