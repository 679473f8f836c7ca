//! Why a campaign was not run.

use measure::EngineError;
use scenario::ScenarioError;
use std::io;
use std::path::{Path, PathBuf};
use units::Refusal;

/// Why a campaign was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong.
    #[error("{}: {}; {}", .0.place(), .0.message, .0.help)]
    Scenario(#[from] ScenarioError),
    /// The engine could not run it.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// A file or folder cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something that it names does not exist.
    #[error("{0}")]
    Wrong(Refusal),
}

impl Error {
    /// The error about the file or folder at `path`.
    pub(crate) fn file(path: &Path, error: io::Error) -> Error {
        let path = path.to_owned();
        Error::File { path, error }
    }
}
