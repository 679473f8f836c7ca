//! Files of figures.

use std::path::Path;

/// Writes `text` to `path`, whose folder is made if it is missing.
///
/// # Errors
/// If the file cannot be written, with its name.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
