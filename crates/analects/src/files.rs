//! Whether files can be written.

use crate::refused::Refused;
use std::fmt::Display;
use std::path::Path;

/// The error for something that cannot be written.
pub fn unwritable(path: &Path, error: &dyn Display) -> Refused {
    let message = format!("{} cannot be written: {error}", path.display());
    Refused::new(&message, "name another place, or make room there")
}

/// Finds out whether the file can be written. A pipe is not tried: whoever reads it would take that
/// for all there is.
pub fn writable(path: &Path) -> Result<(), Refused> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    let mut open = std::fs::OpenOptions::new();
    let opened = open.create(true).append(true).open(path);
    opened.map(|_| ()).map_err(|error| unwritable(path, &error))
}
