//! Results kept on disk, one file for each job, by its key.
//!
//! ```text
//! results/ab/abcd….json    a job's content, and its result
//! jobs/ab/abcd….json       the data needed to run it, if jobs were listed
//! claims/abcd…             a process is running it: an empty file, locked; with an ending behind
//!                          the key, a result that is being written
//! ```
//!
//! A file appears whole, under a temporary name at first. Its name is the hash of the content in
//! it, so that stores are merged by copying. Several processes may use one at the same time: a
//! process that runs a job holds a lock on its claim (`flock`), which the system releases when the
//! process ends for any reason. Over NFS the same holds between hosts if locks are passed to the
//! server: Linux does that, unless mounted with `nolock` or `local_lock`. Without it two hosts may
//! run the same job twice; the result is whole all the same, whichever is written last.

use crate::Error;
use crate::job;
use measure::RunResult;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const RESULTS: &str = "results";
const JOBS: &str = "jobs";
const CLAIMS: &str = "claims";

/// A folder of results.
#[derive(Debug, Clone)]
pub struct Store(PathBuf);

/// The store's state of a job.
#[derive(Debug)]
pub enum StoredJob {
    /// Its result.
    Result(Box<RunResult>),
    /// No state.
    Missing,
    /// A file that does not hold its result.
    Wrong(String),
}

/// A result's file.
#[derive(Serialize, Deserialize)]
struct WrittenResult<R> {
    job: Value,
    result: R,
}

impl Store {
    /// The store in `folder`, which is made if need be.
    ///
    /// # Errors
    /// If it cannot be made or written to.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        for name in [RESULTS, JOBS, CLAIMS] {
            let path = folder.join(name);
            fs::create_dir_all(&path).map_err(|error| Error::file(&path, error))?;
        }
        Ok(Store(folder.to_owned()))
    }

    /// The stored state of the job with this key.
    ///
    /// # Errors
    /// If there is a file that cannot be read at all.
    pub fn read(&self, key: &str) -> Result<StoredJob, Error> {
        let path = self.place(RESULTS, key);
        let Some(bytes) = found(&path)? else {
            return Ok(StoredJob::Missing);
        };
        let wrong = |reason: &str| Ok(StoredJob::Wrong(format!("{}: {reason}", path.display())));
        match serde_json::from_slice::<WrittenResult<RunResult>>(&bytes) {
            Ok(written) if job::key(written.job.clone()) == key => {
                Ok(StoredJob::Result(Box::new(written.result)))
            }
            Ok(_) => wrong("it holds the result of another job than its name says"),
            Err(error) if error.is_eof() => wrong("it ends too early"),
            Err(error) => wrong(&format!("it is no result: {error}")),
        }
    }

    /// Keeps the result of the job with this key and content.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, key: &str, content: Value, result: &RunResult) -> Result<(), Error> {
        let written = WrittenResult {
            job: content,
            result,
        };
        // The prefix is the claim's name, so that files left by a killed process are recognized.
        let prefix = format!("{key}.");
        write(
            (&self.0.join(CLAIMS), &prefix),
            &self.place(RESULTS, key),
            &written,
        )
    }

    /// Leaves a description of the job with this key.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn describe(&self, key: &str, description: &impl Serialize) -> Result<(), Error> {
        let path = self.place(JOBS, key);
        let folder = path.parent().unwrap_or(&self.0);
        write((folder, "."), &path, description)
    }

    /// The description that was left of the job with this key, and its file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn description(&self, key: &str) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
        let path = self.place(JOBS, key);
        Ok(found(&path)?.map(|bytes| (path, bytes)))
    }

    /// Claims the job with this key, so that no other process runs it: none if another has it. With
    /// `wait`, waits until the others are done, or have ended.
    ///
    /// # Errors
    /// If claims cannot be written.
    pub fn claim(&self, key: &str, wait: bool) -> Result<Option<JobClaim>, Error> {
        let path = self.0.join(CLAIMS).join(key);
        let refused = |error: io::Error| Error::file(&path, error);
        let how = if wait {
            FlockOperation::LockExclusive
        } else {
            FlockOperation::NonBlockingLockExclusive
        };
        loop {
            let mut open = OpenOptions::new();
            let opened = open.write(true).create(true).truncate(false).open(&path);
            let file = opened.map_err(refused)?;
            match flock(&file, how) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(refused(error.into())),
            }
            // A former holder may have removed the file: then this lock has no effect.
            let held = file.metadata().map_err(refused)?;
            let same = fs::metadata(&path)
                .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()));
            if same {
                return Ok(Some(JobClaim { path, _file: file }));
            }
        }
    }

    fn place(&self, kind: &str, key: &str) -> PathBuf {
        let shard: String = key.chars().take(2).collect();
        self.0.join(kind).join(shard).join(format!("{key}.json"))
    }

    /// Removes the remains of killed processes: claims that no process holds, and results that no
    /// process writes any more.
    ///
    /// # Errors
    /// If claims cannot be read.
    pub fn tidy(&self) -> Result<(), Error> {
        let folder = self.0.join(CLAIMS);
        let unreadable = |error| Error::file(&folder, error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let key = name.split('.').next().unwrap_or_default();
            if job::is_key(key)
                && let Some(claim) = self.claim(key, false)?
                && path != claim.path
            {
                // Another process may have been quicker.
                _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

/// Writes a file that appears as a whole or not at all; until then it has a name of its own that
/// begins with this prefix, in this folder.
fn write((folder, prefix): (&Path, &str), path: &Path, what: &impl Serialize) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        // Files made by tempfile belong to their owner alone; a store may be a group's.
        let mut file = tempfile::Builder::new()
            .prefix(prefix)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        let mut bytes = serde_json::to_vec(what)?;
        bytes.push(b'\n');
        file.write_all(&bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| Error::file(path, error))
}

/// The bytes of a file, if there is one.
fn found(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file(path, error)),
    }
}

/// A job that this process may run, until this is dropped.
#[derive(Debug)]
pub struct JobClaim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for JobClaim {
    /// The file is removed before the lock, so that a waiting process sees its removal.
    fn drop(&mut self) {
        // If it cannot be removed, it is left without a lock: any process can take it over.
        _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key.
    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        (folder, store)
    }

    fn claims(store: &Store) -> usize {
        fs::read_dir(store.0.join(CLAIMS)).unwrap().count()
    }

    #[test]
    fn a_claim_is_one_processs_and_goes_with_it() {
        let (_folder, store) = store();
        let claim = store.claim(KEY, false).unwrap().unwrap();
        assert!(store.claim(KEY, false).unwrap().is_none());
        assert_eq!(claims(&store), 1);
        drop(claim);
        assert_eq!(claims(&store), 0);
        assert!(store.claim(KEY, true).unwrap().is_some());
    }

    /// A waiting process has the file open that the holder removes: a lock on it would have no
    /// effect.
    #[test]
    fn many_who_wait_have_it_one_after_another() {
        let (_folder, store) = store();
        let holders = std::sync::atomic::AtomicUsize::new(0);
        let first = store.claim(KEY, false).unwrap().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    use std::sync::atomic::Ordering::SeqCst;
                    let claim = store.claim(KEY, true).unwrap().unwrap();
                    assert_eq!(holders.fetch_add(1, SeqCst), 0);
                    std::thread::yield_now();
                    holders.fetch_sub(1, SeqCst);
                    drop(claim);
                });
            }
            drop(first);
        });
        assert_eq!(claims(&store), 0);
    }

    #[test]
    fn what_killed_processes_left_is_taken_away() {
        let (_folder, store) = store();
        let held = store.claim(&KEY.replace('0', "1"), false).unwrap();
        for name in [KEY.to_owned(), format!("{KEY}.aB3"), "else".to_owned()] {
            fs::write(store.0.join(CLAIMS).join(name), "").unwrap();
        }
        let beside = format!("{}.x", KEY.replace('0', "1"));
        fs::write(store.0.join(CLAIMS).join(&beside), "").unwrap();
        store.tidy().unwrap();
        // Claims that are held stay, and so do files of others.
        assert_eq!(claims(&store), 3);
        drop(held);
        store.tidy().unwrap();
        assert_eq!(claims(&store), 1);
    }
}
