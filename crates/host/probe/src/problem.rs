//! Problems of a probe.

use std::fmt;
use std::io;
use std::path::Path;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The request is not permitted: what was found, and what is permitted.
    Refused(String),
    /// The peer violated the protocol, or has the wrong identity.
    Peer(String),
    /// No packets, or no further ones, came back.
    Unreachable(String),
    /// The system denied a resource.
    System(String),
}

impl Problem {
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Problem::System(format!("{}: {error}", path.display()))
    }

    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        Problem::System(format!("{what}: {error}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Refused(text)
            | Problem::Peer(text)
            | Problem::Unreachable(text)
            | Problem::System(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Problem {}
