//! Running the program on files of a test's own.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

/// A folder of a test's own, which is gone when the test is over.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A folder for the test called `name`.
    pub fn new(name: &str) -> Self {
        static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let new = TAKEN.lock().unwrap().insert(name.to_owned());
        assert!(new, "two tests want the folder {name}");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs the program in this folder, without a terminal; runs and sweeps once, if `args` do not
    /// have a number.
    pub fn analects(&self, args: &[&str]) -> Output {
        let runs = matches!(args.first(), Some(&"run" | &"sweep"));
        let once: &[&str] = if runs && !args.iter().any(|arg| arg.starts_with("--repeat")) {
            &["--repeat", "1"]
        } else {
            &[]
        };
        self.analects_as_it_is(&[args, once].concat())
    }

    /// Runs the program with only these arguments.
    pub fn analects_as_it_is(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_analects"));
        command.current_dir(&self.0).args(args);
        command.env("NO_COLOR", "1").env("LC_ALL", "C");
        command.output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output of a program.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
