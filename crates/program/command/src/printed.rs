//! What goes to standard output.

use crate::refused::Refused;
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
