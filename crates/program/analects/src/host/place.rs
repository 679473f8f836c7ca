//! Folders for what a command makes and may be asked to keep.

use command::Refused;
use std::path::{Path, PathBuf};

/// A folder: kept, or removed at the end.
pub struct OutputFolder {
    /// The folder.
    pub folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl OutputFolder {
    /// A new folder, with the name of `--keep` if it is to be kept, and else one that begins with `prefix`.
    ///
    /// # Errors
    /// If it is there already, or cannot be made.
    pub fn new(keep: Option<&Path>, prefix: &str) -> Result<OutputFolder, Refused> {
        let refused = |what: String| Refused::new(&what, "name another folder");
        if let Some(folder) = keep {
            std::fs::create_dir(folder)
                .map_err(|error| refused(format!("--keep: {}: {error}", folder.display())))?;
            let folder = folder
                .canonicalize()
                .map_err(|error| refused(error.to_string()))?;
            return Ok(OutputFolder {
                folder,
                _temporary: None,
            });
        }
        let made = tempfile::Builder::new().prefix(prefix).tempdir();
        let made = made.map_err(|error| refused(format!("a folder cannot be made: {error}")))?;
        Ok(OutputFolder {
            folder: made.path().to_owned(),
            _temporary: Some(made),
        })
    }

    /// A new folder in it.
    ///
    /// # Errors
    /// If it is there already, or cannot be made.
    pub fn inner(&self, name: &str) -> Result<PathBuf, Refused> {
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder).map_err(|error| {
            Refused::failed(&format!("{}: {error}", folder.display()), "begin again")
        })?;
        Ok(folder)
    }
}
