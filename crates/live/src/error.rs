//! What went wrong, and what to do about it.

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What was found.
    pub message: String,
    /// What to do about it.
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
