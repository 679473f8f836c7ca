//! Refusals and failures of what looks at this host's network or changes it.

use crate::refused::Refused;
use netcfg::{Error, ErrorKind};
use probe::Problem;

/// A failed operation ends with another status than a refused one.
impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error.kind {
            ErrorKind::Refused => Refused::new(&error.message, &error.help),
            ErrorKind::Failed | ErrorKind::Interrupted => {
                Refused::failed(&error.message, &error.help)
            }
        }
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        let text = problem.to_string();
        match problem {
            Problem::Refused(_) => Refused::new(&text, ""),
            Problem::Peer(_) | Problem::System(_) => Refused::failed(&text, ""),
            Problem::Unreachable(_) => Refused::failed(
                &text,
                "the server's firewall must let its UDP port through; it runs `analects probe serve`",
            ),
        }
    }
}
