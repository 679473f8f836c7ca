//! Putting back what other programs take away from a set-up.

use crate::observe::Snapshot;
use crate::show::differences;
use crate::{Change, Device, Error, Journal, Runner, Settings, Store, apply, prepare};

/// How a set-up was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// As it was applied.
    Whole,
    /// Otherwise; the differences. It is whole again.
    Restored(Vec<String>),
    /// Its device is not there.
    Gone,
    /// It was cleared, or never applied to its end.
    Nothing,
}

/// Looks after the set-up of a device.
#[derive(Debug)]
pub struct Upkeep {
    device: Device,
    /// What could not be put back, and how often it will have been once it is: its journal may be gone by
    /// then, since a trial that fails leaves nothing behind.
    owed: Option<(Settings, u64)>,
}

impl Upkeep {
    /// Looks after that of `device`.
    pub fn of(device: &Device) -> Self {
        Upkeep {
            device: device.clone(),
            owed: None,
        }
    }

    /// Puts back what other programs took away, and counts that in the journal; `open` opens the journals
    /// for changes. After an error, the next call tries again.
    ///
    /// # Errors
    /// If the device or the journal cannot be read, a change fails, or another program put something there
    /// that could not be restored.
    pub fn look(
        &mut self,
        runner: &mut dyn Runner,
        looked: &Store,
        open: &dyn Fn(&dyn Runner) -> Result<Store, Error>,
    ) -> Result<Found, Error> {
        if self.owed.is_none() {
            match found(runner, looked, &self.device)? {
                Found::Restored(_) => (),
                other => return Ok(other),
            }
        }
        // Once more: another of ours may have been changing it.
        let store = open(runner)?;
        let mut found = found(runner, &store, &self.device)?;
        if let (Found::Restored(_), Some(journal)) = (&found, store.load(&self.device)?) {
            self.owed = Some((journal.settings, journal.restored + 1));
        }
        let Some((settings, restored)) = self.owed.clone() else {
            return Ok(found);
        };
        let prepared = prepare(runner, &store, &self.device, &settings, false, false)?;
        apply(runner, &store, &prepared.restoring(restored))?;
        self.owed = None;
        if found == Found::Nothing {
            found = Found::Restored(vec!["all of it was gone".to_owned()]);
        }
        Ok(found)
    }
}

fn found(runner: &mut dyn Runner, store: &Store, device: &Device) -> Result<Found, Error> {
    let whole = |journal: &Journal| journal.complete;
    let Some(journal) = store.load(device)?.filter(whole) else {
        return Ok(Found::Nothing);
    };
    let levels = journal.changes.iter().any(Change::is_of_netfilter);
    let now = Snapshot::around(runner, device, levels)?;
    if now.of(device).is_none() {
        return Ok(Found::Gone);
    }
    let differences = differences(&journal, &now);
    Ok(if differences.is_empty() {
        Found::Whole
    } else {
        Found::Restored(differences)
    })
}
