//! What goes to standard output, and notices.

use crate::refused::Refused;
use scenario::printable;
use std::collections::BTreeSet;
use std::io::Write;

/// Prints; a reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) -> Result<(), Refused> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let message = format!("nothing can be printed: {error}");
            Err(Refused::new(&message, "look at where the output goes"))
        }
        _ => Ok(()),
    }
}

/// Says on standard error which settings were called by a former name, each once.
pub fn renamed(told: impl IntoIterator<Item = String>) {
    let told: BTreeSet<String> = told.into_iter().collect();
    for line in told {
        eprintln!("{}", printable(&line, 200));
    }
}
