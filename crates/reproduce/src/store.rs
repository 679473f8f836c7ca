//! Results kept on disk, so that an experiment resumes where it stopped.
//!
//! One line of JSON for each run: a key, and the result. A key says which program, scenario,
//! discipline and seed a result is of; a result of another build or of changed files has another key
//! and is not found. A line that was not written to its end is passed over.

use measure::RunResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;

/// Results by key.
#[derive(Debug, Default)]
pub struct Store {
    known: BTreeMap<String, RunResult>,
    file: Option<Mutex<File>>,
}

#[derive(Serialize, Deserialize)]
struct Line<R> {
    key: String,
    result: R,
}

impl Store {
    /// What `file` holds, to which more will be added. It and its folder are made if need be.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn open(file: &Path) -> io::Result<Self> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        let mut opened = options.create(true).append(true).read(true).open(file)?;
        let mut known = BTreeMap::new();
        let mut ended = true;
        for line in BufReader::new(&opened).split(b'\n') {
            let line = line?;
            let read = serde_json::from_slice::<Line<RunResult>>(&line);
            ended = read.is_ok();
            known.extend(read.map(|line| (line.key, line.result)));
        }
        if !ended {
            opened.write_all(b"\n")?;
        }
        Ok(Store {
            known,
            file: Some(Mutex::new(opened)),
        })
    }

    /// The result of this key.
    pub fn get(&self, key: &str) -> Option<&RunResult> {
        self.known.get(key)
    }

    /// Adds a result to the file; it is not found before the file is opened again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, key: String, result: &RunResult) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(&Line { key, result })?;
        line.push(b'\n');
        let mut file = file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(&line)
    }
}
