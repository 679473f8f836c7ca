//! Refusals as exceptions of Python, in the words that the program uses.

use campaign::Error;
use measure::EngineError;
use pyo3::prelude::*;
use scenario::ScenarioError;
use units::Refusal;

/// Where something is wrong, what, and what to write instead.
#[derive(Debug)]
pub struct Refused {
    place: Option<String>,
    message: String,
    help: Option<String>,
}

impl Refused {
    /// A refusal without a place.
    pub fn new(message: impl Into<String>, help: &str) -> Refused {
        Refused {
            place: None,
            message: message.into(),
            help: Some(help.to_owned()),
        }
    }

    /// A refusal of a scenario that was made of a dict: it has no lines that its author has seen, so
    /// that the line itself is the place.
    pub fn in_table(error: ScenarioError) -> Refused {
        let line = error
            .line()
            .and_then(|(line, _)| error.text.lines().nth(line - 1));
        let place = line.map(|line| format!("{}: {}", error.file, line.trim()));
        let refused = Refused::from(error);
        Refused {
            place: place.or(refused.place),
            ..refused
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused {
            place: None,
            message: refusal.message,
            help: refusal.help,
        }
    }
}

impl From<ScenarioError> for Refused {
    fn from(error: ScenarioError) -> Refused {
        Refused {
            place: Some(error.place()),
            message: error.message,
            help: Some(error.help),
        }
    }
}

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Refused {
        Refused {
            place: Some(error.entry),
            ..Refused::from(error.refusal)
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        match error {
            Error::Scenario(error) => Refused::from(error),
            Error::Engine(error) => Refused::from(error),
            Error::Wrong(refusal) => Refused::from(refusal),
            Error::File { .. } => {
                let help = "make it readable and writable, make room there, or name another place";
                Refused::new(error.to_string(), help)
            }
        }
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> PyErr {
        Python::attach(|py| {
            let made = py
                .import("analects.errors")
                .and_then(|module| module.getattr("Refused"))
                .and_then(|class| class.call1((refused.message, refused.help, refused.place)));
            made.map_or_else(|error| error, PyErr::from_value)
        })
    }
}
