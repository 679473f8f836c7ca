//! Errors, and the help against them.

use serde::Serialize;

/// An error, and the help against it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The finding.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// What a program that runs a command ends with for it, as `env` and `timeout` do: 125, or 126 or 127 where the
    /// command itself cannot be run or is not there.
    pub status: u8,
    /// How the far side's command failed; none if something else did.
    pub far: Option<FarFailed>,
}

/// How the far side's command failed before anything listened there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FarFailed {
    /// In words.
    pub why: String,
    /// The remedy.
    pub help: String,
    /// What it ended with, as a shell has it; none if it went on.
    pub status: Option<u8>,
}

/// The status of everything but a command that cannot be run.
const FAILED: u8 = 125;

impl Error {
    /// An error.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error {
            message: message.into(),
            help: help.into(),
            status: FAILED,
            far: None,
        }
    }

    /// The same of a command that could not be started.
    pub(crate) fn of_command(self, error: &std::io::Error) -> Self {
        let status = match error.kind() {
            std::io::ErrorKind::NotFound => 127,
            _ => 126,
        };
        Error { status, ..self }
    }
}
