//! The folder of a test's journals.

use super::Model;
use core::time::Duration;
use netcfg::Store;
use std::path::PathBuf;

/// A state folder of a test's own.
pub struct Folder(pub PathBuf);

impl Folder {
    /// In memory if available: each journal is synced to disk, and here are thousands.
    pub fn new(name: &str) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() {
            memory
        } else {
            env!("CARGO_TARGET_TMPDIR").into()
        };
        let folder = parent.join(format!("analects-{}-{name}", std::process::id()));
        _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// Opened for changes.
    pub fn open(&self) -> Store {
        Store::open(&self.0, Duration::ZERO, &Model::default()).unwrap()
    }

    /// Whether there is no journal.
    pub fn is_empty(&self) -> bool {
        Store::look(&self.0).devices().unwrap().is_empty()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
