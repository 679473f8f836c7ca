//! How a command ends: its exit status, and what is said on standard error.

use crate::refused::Refused;
use scenario::printable;
use std::process::ExitCode;

/// Exit status for input that was refused.
const REFUSED: u8 = 2;
/// Exit status for an operation that failed.
const FAILED: u8 = 1;

/// The exit status of a command that ended so: 2 for refused input, 1 for an operation that failed. A refusal is
/// printed.
pub fn ended(result: Result<ExitCode, Refused>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(refused) => {
            let status = if refused.tried() { FAILED } else { REFUSED };
            eprintln!("{}", refused.rendered());
            ExitCode::from(status)
        }
    }
}

/// Prints help, the version, or the error in the arguments, which may hold anything.
pub fn usage(error: &clap::Error) -> ExitCode {
    const HALF: usize = 90;
    const LINES: usize = 20;
    let text = error.render().to_string();
    // The expected text often stands behind the text found.
    let cut = |line: &str| {
        let whole = printable(line, usize::MAX);
        let length = whole.chars().count();
        if length <= 2 * HALF {
            return whole;
        }
        let tail: String = whole.chars().skip(length - HALF).collect();
        printable(&whole, HALF) + &tail
    };
    let lines: Vec<String> = text.lines().take(LINES).map(cut).collect();
    if error.use_stderr() && !lines.iter().map(String::as_str).eq(text.lines()) {
        eprintln!("{}", lines.join("\n"));
        return ExitCode::from(REFUSED);
    }
    // A reader that has gone away is no error.
    _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}
