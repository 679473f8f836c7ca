//! The journal of changes, written to disk before each change is made.

use crate::error::not_permitted;
use crate::observe::Snapshot;
use crate::{Change, Device, Error, Rates, Runner, Settings};
use core::time::Duration;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where journals are kept: like the changes they record, it does not survive a reboot.
pub const STATE: &str = "/run/analects";

/// The form of the files.
const VERSION: u32 = 1;
/// Most bytes of a journal; a real one has about 2,000.
const LARGEST: u64 = 64 * 1024;
/// Most changes in a journal; two applications have about twenty.
const MOST_CHANGES: usize = 100;
/// Most letters of a process's command line that others are told.
const MOST_OF_NAME: usize = 200;
/// Time between two trials of a lock. A lock is held for the time of some twenty commands.
const BETWEEN_TRIALS: Duration = Duration::from_millis(50);

/// The changes of a device, and their purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// The form of this file.
    version: u32,
    /// The device.
    pub device: Device,
    /// The kernel's number of it: a device that went away and came back has another one.
    #[serde(default)]
    index: Option<u32>,
    /// The user's settings.
    pub settings: Settings,
    /// How often it was put back after other programs had taken something away.
    #[serde(default)]
    pub restored: u64,
    /// The rates that stand in place of those of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<Rates>,
    /// Whether all changes were made; otherwise the last one may not have been.
    pub complete: bool,
    /// The changes, in order.
    pub changes: Vec<Change>,
}

impl Journal {
    /// A journal without changes.
    pub(crate) fn new(device: &Device, settings: &Settings, now: &Snapshot) -> Self {
        Journal {
            version: VERSION,
            device: device.clone(),
            index: now.of(device).and_then(|observed| observed.index),
            settings: settings.clone(),
            restored: 0,
            followed: None,
            complete: false,
            changes: Vec::new(),
        }
    }

    /// Whether `now` has another device of the name: what was changed at the former one went with it.
    pub(crate) fn is_of_another(&self, now: &Snapshot) -> bool {
        let index = now.of(&self.device).and_then(|observed| observed.index);
        matches!((self.index, index), (Some(then), Some(now)) if then != now)
    }

    /// The changes that may still be in place: all, or those outside of the device if it is another one.
    pub(crate) fn standing(&self, now: &Snapshot) -> Vec<Change> {
        let another = self.is_of_another(now);
        let outside =
            |change: &Change| change.is_of_netfilter() || !change.devices().contains(&&self.device);
        let changes = self
            .changes
            .iter()
            .filter(|change| !another || outside(change));
        changes.cloned().collect()
    }

    /// The devices that it can name: its own, and the one through which that one receives.
    pub(crate) fn devices(&self) -> Vec<Device> {
        vec![self.device.clone(), self.device.shaped_ingress()]
    }

    /// Reads a journal; any invalid contents result in an error.
    fn read(device: &Device, text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let version: Versioned = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version.version != VERSION {
            let found = version.version;
            return Err(format!(
                "version {found}, where version {VERSION} was expected"
            ));
        }
        let journal: Journal = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if journal.device != *device {
            return Err(format!(
                "it is about {}, not about {device}",
                journal.device
            ));
        }
        if journal.changes.len() > MOST_CHANGES {
            let count = journal.changes.len();
            return Err(format!(
                "{count} changes, where at most {MOST_CHANGES} were expected"
            ));
        }
        let devices = journal.devices();
        let named = journal.changes.iter().flat_map(Change::devices);
        for other in named.chain(journal.changes.iter().filter_map(made)) {
            if !devices.contains(other) {
                return Err(format!(
                    "it changes {other}, which has nothing to do with {device}"
                ));
            }
        }
        let alien = journal.changes.iter().filter_map(made);
        if alien.into_iter().any(|name| name == device) {
            return Err(format!(
                "it says that {device} itself is an ifb device of ours"
            ));
        }
        Ok(journal)
    }
}

/// The device that a change makes, and that is deleted when it is undone.
fn made(change: &Change) -> Option<&Device> {
    match change {
        Change::AddIfb { name } | Change::SetUp { name } => Some(name),
        _ => None,
    }
}

/// The folder of the journals, which is ours alone while this lives.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Devices of other network namespaces can have the same names.
    namespace: u64,
    _lock: Option<Lock>,
}

/// A locked file, until this goes.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Store {
    /// Opens the folder for changes; it is created if necessary. Waits for another process that is
    /// making changes, for at most `patience` or until the user asks to stop: several devices can come
    /// at the same time, each with a process of its own.
    ///
    /// # Errors
    /// If it cannot be written, or another process is still making changes.
    pub fn open(folder: &Path, patience: Duration, runner: &dyn Runner) -> Result<Self, Error> {
        let path = folder.join("lock");
        let mut waited = Duration::ZERO;
        let lock = loop {
            if let Some(lock) = locked(folder, &path)? {
                break lock;
            }
            if runner.interrupted() || waited >= patience {
                let message = format!("{}: another analects is changing something", path.display());
                return Err(Error::refused(
                    message,
                    "wait until it is done, and try again",
                ));
            }
            std::thread::sleep(BETWEEN_TRIALS);
            waited += BETWEEN_TRIALS;
        };
        Ok(Store {
            folder: folder.to_owned(),
            namespace: namespace(),
            _lock: Some(lock),
        })
    }

    /// Opens the folder only to look; it need not be there.
    pub fn look(folder: &Path) -> Self {
        Store {
            folder: folder.to_owned(),
            namespace: namespace(),
            _lock: None,
        }
    }

    fn prefix(&self) -> String {
        format!("tc-{}-", self.namespace)
    }

    fn path(&self, device: &Device) -> PathBuf {
        self.folder.join(format!("{}{device}.json", self.prefix()))
    }

    /// The journal of `device`, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn load(&self, device: &Device) -> Result<Option<Journal>, Error> {
        let path = self.path(device);
        let bad = |message: &str| {
            let message = format!("{}: not a journal of analects: {message}", path.display());
            let help = format!(
                "nothing was run. See what {device} has with `tc qdisc show dev {device}`, undo it by hand (`tc qdisc del dev {device} root`, `tc qdisc del dev {device} ingress`, `ip link del dev {}`, `nft delete table inet {}{device}`), and delete the file",
                device.shaped_ingress(),
                crate::levels::PREFIX
            );
            Error::refused(message, help)
        };
        let Some(text) = read(&path, &bad)? else {
            return Ok(None);
        };
        let journal = Journal::read(device, &text);
        journal.map(Some).map_err(|error| bad(&error))
    }

    /// The devices that have a journal, by name.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unusable(&self.folder, &error)),
        };
        let mut devices = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unusable(&self.folder, &error))?;
            let name = entry.file_name();
            let name = name
                .to_str()
                .and_then(|name| name.strip_prefix(&self.prefix()));
            let name = name.and_then(|name| name.strip_suffix(".json"));
            devices.extend(name.and_then(|name| name.parse().ok()));
        }
        devices.sort();
        Ok(devices)
    }

    /// Writes a journal so that it is on disk, whole, when this returns.
    ///
    /// # Errors
    /// If it cannot be written; then the former one stays.
    pub(crate) fn save(&self, journal: &Journal) -> Result<(), Error> {
        let path = self.path(&journal.device);
        self.replace(&path, journal)
            .map_err(|error| unusable(&path, &error))
    }

    fn replace(&self, path: &Path, journal: &impl Serialize) -> io::Result<()> {
        let new = path.with_extension("new");
        // The remains of an interrupted write are of no use.
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
        let mut open = OpenOptions::new();
        let mut file = open.create_new(true).write(true).mode(0o644).open(&new)?;
        file.write_all(&serde_json::to_vec_pretty(journal)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        self.sync_folder()
    }

    /// Removes the journal of `device`.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(&self, device: &Device) -> Result<(), Error> {
        self.remove_file(&self.path(device))
    }

    fn remove_file(&self, path: &Path) -> Result<(), Error> {
        let removed = match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        removed
            .and_then(|()| self.sync_folder())
            .map_err(|error| unusable(path, &error))
    }

    /// The file of a journal that is not of a device.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}-{}.json", self.namespace))
    }

    /// Its text, if there is one; `bad` makes an error of what is wrong with it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(
        &self,
        name: &str,
        bad: &dyn Fn(&str) -> Error,
    ) -> Result<Option<String>, Error> {
        read(&self.file(name), bad)
    }

    /// Writes it so that it is on disk, whole, when this returns.
    ///
    /// # Errors
    /// If it cannot be written; then the former one stays.
    pub(crate) fn write(&self, name: &str, journal: &impl Serialize) -> Result<(), Error> {
        let path = self.file(name);
        self.replace(&path, journal)
            .map_err(|error| unusable(&path, &error))
    }

    /// Removes it.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn forget(&self, name: &str) -> Result<(), Error> {
        self.remove_file(&self.file(name))
    }

    /// Takes the lock of this name in this network namespace; of another process that has it, the name.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn lock(&self, name: &str) -> Result<Result<Lock, String>, Error> {
        let path = self.file(name).with_extension("lock");
        let Some(mut lock) = locked(&self.folder, &path)? else {
            let holder = read(&path, &|_| Error::refused("", "")).ok().flatten();
            return Ok(Err(holder.unwrap_or_default()));
        };
        let named = lock.file.set_len(0);
        let named = named.and_then(|()| lock.file.write_all(own_name().as_bytes()));
        named.map_err(|error| unusable(&path, &error))?;
        Ok(Ok(lock))
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// The text of a journal, if there is one.
fn read(path: &Path, bad: &dyn Fn(&str) -> Error) -> Result<Option<String>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, &error)),
    };
    let mut text = String::new();
    match file.take(LARGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LARGEST => {
            Err(bad(&format!("it has more than {LARGEST} bytes")))
        }
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(bad("it is not text")),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// The lock at `path` in `folder`, which is created if necessary; none if another process has it.
fn locked(folder: &Path, path: &Path) -> Result<Option<Lock>, Error> {
    let mut builder = DirBuilder::new();
    let made = builder.recursive(true).mode(0o755).create(folder);
    made.map_err(|error| unusable(folder, &error))?;
    let open = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o644)
        .open(path);
    let file = open.map_err(|error| unusable(path, &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock { file })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(unusable(path, &error.into())),
    }
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => not_permitted(),
        _ => {
            "journals have to be on disk before anything is changed: name another folder with --state"
                .to_owned()
        }
    };
    Error::refused(format!("{}: {error}", path.display()), help)
}

/// This process, as others are told of it.
fn own_name() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let words = words.collect::<Vec<_>>().join(" ");
    let shown = words.chars().filter(|letter| !letter.is_control());
    let shown: String = shown.take(MOST_OF_NAME).collect();
    format!("process {}, `{shown}`", std::process::id())
}

/// The network namespace of this process, `net:[4026531840]`; 0 if it is not known.
fn namespace() -> u64 {
    let link = std::fs::read_link("/proc/self/ns/net").ok();
    let text = link.as_deref().and_then(Path::to_str).unwrap_or_default();
    let number = text
        .strip_prefix("net:[")
        .and_then(|text| text.strip_suffix(']'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
