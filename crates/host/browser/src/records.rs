//! What browsers told, a line of JSON for each.

use crate::{Error, now};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most bytes that are written.
const MOST: usize = 64 << 20;

/// What of a call has to be told.
pub(crate) const CALL: &str = "records.jsonl";
/// All that browsers know of the calls of a trial that is kept.
pub(crate) const STATISTICS: &str = "statistics.jsonl";

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When it came, s since the server began.
    pub(crate) at: f64,
    /// `caller`, `receiver`, `statistics`, `visit`, `begun`, `ended` or `error`.
    pub(crate) kind: String,
    /// What was told.
    pub(crate) what: Value,
}

/// The file that they are written to.
pub(crate) struct RecordsFile {
    file: Mutex<(File, usize)>,
    begun: Instant,
}

impl RecordsFile {
    /// Begins the file `name` in `folder`.
    pub(crate) fn create(folder: &Path, name: &str) -> Result<RecordsFile, Error> {
        let file = folder.join(name);
        let created = File::create(&file).map_err(|error| Error::unwritable(&file, &error))?;
        Ok(RecordsFile {
            file: Mutex::new((created, 0)),
            begun: now(),
        })
    }

    /// Adds one; false if it is no JSON, or there is no room.
    pub(crate) fn add(&self, kind: &str, body: &[u8]) -> bool {
        let Ok(what) = serde_json::from_slice(body) else {
            return false;
        };
        let record = Record {
            at: self.begun.elapsed().as_secs_f64(),
            kind: kind.to_owned(),
            what,
        };
        let Ok(mut line) = serde_json::to_vec(&record) else {
            return false;
        };
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.1 + line.len() > MOST {
            return false;
        }
        file.1 += line.len();
        file.0.write_all(&line).is_ok()
    }

    /// All of the file `name` in a trial's folder, in the order in which they came.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<Record>, Error> {
        let file = folder.join(name);
        let failed = |error: &dyn core::fmt::Display| {
            let message = format!("{}: {error}", file.display());
            Error::new(message, "the far side did not run: see its messages")
        };
        let text = std::fs::read_to_string(&file).map_err(|error| failed(&error))?;
        let records = text.lines().map(serde_json::from_str);
        records
            .collect::<Result<_, _>>()
            .map_err(|error| failed(&error))
    }
}
