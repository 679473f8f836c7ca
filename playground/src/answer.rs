//! What the program prints: one JSON object a line.

use measure::EngineError;
use scenario::ScenarioError;
use serde::Serialize;
use std::io::{ErrorKind, Write};

/// Why a request was not answered; printed as `{"error": ...}`.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The place of the error: a file with line and column, or an entry of the scenario.
    pub place: String,
    /// The error.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Failure {
    /// A failure at no place in particular.
    pub fn new(message: &str, help: &str) -> Self {
        Failure {
            place: String::new(),
            message: message.to_owned(),
            help: help.to_owned(),
        }
    }

    /// Prints it.
    pub fn print(&self) {
        #[derive(Serialize)]
        struct Line<'a> {
            error: &'a Failure,
        }
        // If nothing can be printed, there is nobody to tell.
        _ = print(&Line { error: self });
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Failure {
            place: error.place(),
            message: error.message,
            help: error.help,
        }
    }
}

impl From<EngineError> for Failure {
    fn from(EngineError { entry, refusal }: EngineError) -> Self {
        Failure {
            place: entry,
            message: refusal.message,
            help: refusal.help.unwrap_or_default(),
        }
    }
}

/// Prints a line.
pub fn print(line: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(line).map_err(|error| unprintable(&error.to_string()))?;
    let printed = std::io::stdout().write_all((text + "\n").as_bytes());
    match printed {
        // A reader that has gone away needs no answer.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(unprintable(&error.to_string())),
        _ => Ok(()),
    }
}

fn unprintable(reason: &str) -> Failure {
    Failure::new(
        &format!("nothing can be printed: {reason}"),
        "look at where the output goes",
    )
}
