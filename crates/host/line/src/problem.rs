//! Why a line could not be measured.

use std::io;

/// What went wrong, in the user's words.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// What was asked for cannot be: what was found, and what is expected.
    #[error("{0}")]
    Refused(String),
    /// The server is not one of this kind, or does not keep to what it says.
    #[error("{0}")]
    Server(String),
    /// No connection, or none any more.
    #[error("{0}")]
    Unreachable(String),
    /// It was to end before anything was known.
    #[error("it was interrupted before anything was known")]
    Interrupted,
    /// The system denied something.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        error: io::Error,
    },
}

impl Problem {
    pub(crate) fn system(what: &str, error: io::Error) -> Self {
        Problem::System {
            what: what.to_owned(),
            error,
        }
    }
}
