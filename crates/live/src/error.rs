//! Errors, and the help against them.

/// An error, and the help against it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The finding.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Error {
    /// An error.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error {
            message: message.into(),
            help: help.into(),
        }
    }
}
