//! Commands that only look.

use crate::{Command, Error, Output, Runner};

/// Runs a command that only looks.
///
/// # Errors
/// If it cannot be run; that it fails is for the caller to judge.
pub(crate) fn look(runner: &mut dyn Runner, command: &Command) -> Result<Output, Error> {
    runner
        .run(command)
        .map_err(|error| Error::command(command, &error.to_string()))
}
