//! Which BBR, as users set it.

use core::fmt;
use units::ParseError;
use units::param::Value;

/// A version of BBR. There is no 2: Google replaced it by 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Version {
    /// As in Linux.
    One,
    /// As in draft-ietf-ccwg-bbr.
    Three,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::One => "1",
            Version::Three => "3",
        })
    }
}

impl Value for Version {
    const KIND: &'static str = "1 or 3";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "1" => Ok(Version::One),
            "3" => Ok(Version::Three),
            _ => Err(ParseError::new(text, "1 or 3")),
        }
    }
}
