//! The carrier of an application's data.

use core::fmt;
use serde::{Deserialize, Serialize};
use units::ParseError;
use units::param::Value;

/// The carrier of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// QUIC.
    Quic,
    /// Plain UDP: lost datagrams stay lost.
    Udp,
    /// A media session over UDP.
    Media,
}

impl Carrier {
    /// The name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Carrier::Tcp => "tcp",
            Carrier::Quic => "quic",
            Carrier::Udp => "udp",
            Carrier::Media => "media",
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The carriers of a byte stream.
impl Value for Carrier {
    const KIND: &'static str = "transport";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "tcp" => Ok(Carrier::Tcp),
            "quic" => Ok(Carrier::Quic),
            _ => Err(ParseError::new(text, "tcp or quic")),
        }
    }
}
