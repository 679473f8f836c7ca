//! Whether files can be written.

use crate::refused::Refused;
use std::fmt::Display;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The error for a file that cannot be written.
pub fn unwritable(path: &Path, error: &dyn Display) -> Refused {
    let message = format!("{} cannot be written: {error}", path.display());
    Refused::new(&message, "name another place, or make room there")
}

/// Finds out whether files can be written into the folder, which is made if need be.
pub fn writable_folder(folder: &Path) -> Result<(), Refused> {
    no_home(folder)?;
    let probe = folder.join(format!(".analects-{}", std::process::id()));
    let tried = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, []))
        .and_then(|()| std::fs::remove_file(&probe));
    tried.map_err(|error| unwritable(folder, &error))
}

/// Refuses a path that begins with `~`: the folder of that name would be made here.
fn no_home(path: &Path) -> Result<(), Refused> {
    match scenario::files::tilde(path) {
        Some(why) => Err(unwritable(path, &why)),
        None => Ok(()),
    }
}

/// Refuses to write to the scenario that is read, or to one file twice.
pub fn distinct(read: Option<&Path>, written: &[PathBuf]) -> Result<(), Refused> {
    let place = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let scenario = read.map(place);
    let mut known: Vec<PathBuf> = scenario.iter().cloned().collect();
    for path in written {
        let found = place(path);
        if known.contains(&found) {
            let message = if scenario.as_ref() == Some(&found) {
                format!("{} is the scenario: it would be lost", path.display())
            } else {
                format!("{} is named twice", path.display())
            };
            return Err(Refused::new(&message, "name another file"));
        }
        // A device or a pipe takes any data.
        if std::fs::metadata(path).map_or(true, |found| found.is_file()) {
            known.push(found);
        }
    }
    Ok(())
}

/// Finds out whether the file can be written. A pipe is not tried: its reader would take that for
/// the whole output.
pub fn writable(path: &Path) -> Result<(), Refused> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    no_home(path)?;
    let mut open = std::fs::OpenOptions::new();
    let opened = open.create(true).append(true).open(path);
    opened.map(|_| ()).map_err(|error| unwritable(path, &error))
}

/// Finds out whether [`replace`] can write the file: its folder has to be writable.
pub fn replaceable(path: &Path) -> Result<(), Refused> {
    no_home(path)?;
    let made = tempfile::NamedTempFile::new_in(folder(path));
    if path.is_dir() {
        return Err(unwritable(path, &"it is a folder"));
    }
    made.map(|_| ()).map_err(|error| unwritable(path, &error))
}

/// Writes a file so that readers have the former text or this one, whole.
pub fn replace(path: &Path, text: &str) -> Result<(), Refused> {
    let all_may_read = Permissions::from_mode(0o644);
    let made = tempfile::Builder::new()
        .permissions(all_may_read)
        .tempfile_in(folder(path));
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(std::io::Error::from)
    });
    written
        .map(|_| ())
        .map_err(|error| unwritable(path, &error))
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
