//! What is to be done, in a file that both sides of the link read.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::path::Path;
use workload::page::Page;

/// One call, and the pages beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The most that the call sends, kbit/s.
    pub call_kbit: u32,
    /// How long the call goes on before it is measured, s.
    pub warmup: u32,
    /// How long it is measured, s.
    pub seconds: u32,
    /// Pages, each begun this long after the one before, the first at once, s.
    pub every: u32,
    /// The pages; none in a control run.
    pub pages: Vec<Page>,
    /// Whether pages are served from the web's ports, where a pacer looks for them, and from no others.
    pub web: bool,
    /// Whether it is kept: only then browsers tell all that they know, which takes time and room.
    pub kept: bool,
}

impl Trial {
    /// The file in a trial's folder.
    const FILE: &str = "trial.json";

    /// Writes it into `folder`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let file = folder.join(Self::FILE);
        let text = serde_json::to_vec(self).unwrap_or_default();
        std::fs::write(&file, text).map_err(|error| Error::unwritable(&file, &error))
    }

    pub(crate) fn read(folder: &Path) -> Result<Trial, Error> {
        let file = folder.join(Self::FILE);
        let failed = |error: &dyn core::fmt::Display| {
            let message = format!("{}: {error}", file.display());
            Error::new(message, "this command is for `analects browser` itself")
        };
        let text = std::fs::read(&file).map_err(|error| failed(&error))?;
        serde_json::from_slice(&text).map_err(|error| failed(&error))
    }
}
