//! Making changes one at a time, and undoing them.

use crate::error::ErrorKind;
use crate::observe::{Observed, Snapshot};
use crate::plan::{self, Places};
use crate::{
    Change, Command, Device, Error, Journal, Plan, Runner, Settings, Store, recognized, update,
};

/// Changes that are about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    device: Device,
    settings: Settings,
    /// The changes that are undone first.
    undo: Vec<Change>,
    /// The former changes that stay.
    keep: Vec<Change>,
    /// The former settings as far as those have been made of them.
    sent: Option<Settings>,
    plan: Plan,
    now: Snapshot,
    /// How often it will have been put back.
    restored: u64,
}

impl Prepared {
    /// The commands, in their order.
    pub fn commands(&self) -> Vec<Command> {
        let undo = self.undo.iter().rev();
        let undo = undo.filter_map(|change| change.undo(&self.now));
        undo.chain(self.plan.changes.iter().map(Change::command))
            .collect()
    }

    /// The same, after which it will have been put back so often.
    pub(crate) fn restoring(self, restored: u64) -> Self {
        Prepared { restored, ..self }
    }

    /// Notes for the user.
    pub fn notes(&self) -> &[String] {
        &self.plan.notes
    }
}

/// Plans to give `device` the `settings`; reads the state, and changes nothing.
///
/// The changes of a former application are changed in place where possible, and undone first
/// otherwise. If `assume`, a host that cannot be asked, or a missing device, is taken for an
/// Ethernet device with the kernel's default queue.
///
/// # Errors
/// If there is no such device, or it has a queue that could not be restored exactly and
/// `replace` does not allow its removal.
pub fn prepare(
    runner: &mut dyn Runner,
    store: &Store,
    device: &Device,
    settings: &Settings,
    replace: bool,
    assume: bool,
) -> Result<Prepared, Error> {
    let former = store.load(device)?;
    let mut changes = former.iter().flat_map(|former| &former.changes);
    let levels = settings.threshold.is_some() || changes.any(Change::is_of_netfilter);
    let mut looked = Snapshot::around(runner, device, levels);
    if assume && former.is_none() && !matches!(&looked, Ok(now) if now.of(device).is_some()) {
        let mut supposed = Snapshot::default();
        supposed.suppose(device, Observed::assumed());
        let mut prepared = prepare_fresh(store, device, settings, replace, supposed)?;
        let why = match &mut looked {
            Ok(_) => format!("there is no device {device} here"),
            Err(error) => std::mem::take(&mut error.message),
        };
        let note = format!("{why}: an Ethernet device with the default queue is assumed");
        prepared.plan.notes.insert(0, note);
        return Ok(prepared);
    }
    let mut now = looked?;
    if now.of(device).is_none() {
        let message = format!("there is no device {device}");
        return Err(Error::refused(message, "`ip link` lists what there is"));
    }
    if let Some(former) = former {
        return prepare_again(store, device, settings, replace, now, former);
    }
    if now.netfilter.is_none() {
        now = recognized::looked(runner, device)?;
    }
    let ours = recognized::recognized(device, &now);
    if ours.is_empty() {
        return prepare_fresh(store, device, settings, replace, now);
    }
    let mut prepared = prepare_over(store, device, settings, replace, now, ours)?;
    let note = format!("no journal tells of what {device} has: it is known by its handles");
    prepared.plan.notes.insert(0, note);
    Ok(prepared)
}

/// Whether the bytes of connections counted before any device had two levels.
///
/// # Errors
/// If a journal cannot be read.
fn accounting(store: &Store, device: &Device, now: &Snapshot) -> Result<Option<bool>, Error> {
    let Some(netfilter) = &now.netfilter else {
        return Ok(None);
    };
    if netfilter.others(device) {
        for other in store.devices()?.iter().filter(|other| *other != device) {
            let journal = store.load(other)?;
            let mut changes = journal.iter().flat_map(|journal| &journal.changes);
            let found = changes.find_map(|change| match change {
                // It is loaded by now.
                Change::Accounting { before, .. } => Some(before.or(Some(false))),
                _ => None,
            });
            if let Some(before) = found {
                return Ok(before);
            }
        }
    }
    Ok(netfilter.accounting)
}

fn prepare_fresh(
    store: &Store,
    device: &Device,
    settings: &Settings,
    replace: bool,
    now: Snapshot,
) -> Result<Prepared, Error> {
    let assumed = Observed::assumed();
    let mut places = Places::of(device, now.of(device).unwrap_or(&assumed), replace)?;
    places.accounting = accounting(store, device, &now)?;
    let plan = plan::fresh(device, settings, &places, &now, replace)?;
    Ok(Prepared {
        device: device.clone(),
        settings: settings.clone(),
        undo: Vec::new(),
        keep: Vec::new(),
        sent: None,
        plan,
        now,
        restored: 0,
    })
}

/// A journal with an earlier application.
fn prepare_again(
    store: &Store,
    device: &Device,
    settings: &Settings,
    replace: bool,
    now: Snapshot,
    former: Journal,
) -> Result<Prepared, Error> {
    let undo = former.standing(&now);
    let mut prepared = prepare_over(store, device, settings, replace, now, undo)?;
    prepared.restored = former.restored;
    let whole = former.complete && crate::show::differences(&former, &prepared.now).is_empty();
    let update = update::update(device, &former.changes, &prepared.plan.changes);
    if let Some(update) = update.filter(|_| whole) {
        prepared.plan.changes = update.make;
        (prepared.keep, prepared.undo) = (update.keep, update.undo);
        prepared.sent = Some(Settings {
            ingress: None,
            ..former.settings
        });
    }
    Ok(prepared)
}

/// Changes in place of those in `undo`, which are undone first.
fn prepare_over(
    store: &Store,
    device: &Device,
    settings: &Settings,
    replace: bool,
    now: Snapshot,
    undo: Vec<Change>,
) -> Result<Prepared, Error> {
    // The state that undoing it will leave: the journal's record where our change is still in
    // place, and the present state where another program changed it.
    let mut after = now.clone();
    let root = undo.iter().find_map(|change| match change {
        Change::Root {
            device: of, before, ..
        } if of == device && change.undo(&now).is_some() => Some(before.clone()),
        _ => None,
    });
    for change in &undo {
        change.suppose_undone(&now, &mut after);
    }
    let observed = after.of(device).cloned().unwrap_or_default();
    let mut places = Places::of(device, &observed, replace)?;
    if let Some(before) = root {
        places.root = before;
    }
    places.accounting = accounting(store, device, &after)?;
    let plan = plan::fresh(device, settings, &places, &after, replace)?;
    Ok(Prepared {
        device: device.clone(),
        settings: settings.clone(),
        undo,
        keep: Vec::new(),
        sent: None,
        plan,
        now,
        restored: 0,
    })
}

/// Applies the prepared changes: journals each change, and makes it. At the first that fails, or
/// when the user asks to stop, those that were made are undone.
///
/// # Errors
/// The failure, and whether the former state is restored.
pub fn apply(runner: &mut dyn Runner, store: &Store, prepared: &Prepared) -> Result<(), Error> {
    if !prepared.undo.is_empty() {
        undo(runner, &prepared.device, &prepared.undo)?;
    }
    if prepared.keep.is_empty() {
        // Of a device that went away nothing may be left to undo but the journal.
        store.remove(&prepared.device)?;
    }
    let mut journal = Journal::new(&prepared.device, &prepared.settings, &prepared.now);
    let kept = prepared.keep.len();
    journal.restored = prepared.restored;
    journal.changes = prepared.keep.clone();
    if let Some(settings) = prepared.sent.as_ref().filter(|_| !prepared.undo.is_empty()) {
        let mut sent = Journal::new(&prepared.device, settings, &prepared.now);
        sent.changes.clone_from(&prepared.keep);
        sent.complete = true;
        store.save(&sent)?;
    }
    let former = store.load(&prepared.device)?;
    for change in &prepared.plan.changes {
        journal.changes.push(change.clone());
        let made = store.save(&journal).and_then(|()| make(runner, change));
        if let Err(error) = made {
            let undone = undo(runner, &prepared.device, &journal.changes[kept..]);
            let undone = undone.and_then(|()| match &former {
                Some(former) => store.save(former),
                None => store.remove(&prepared.device),
            });
            return Err(failed(error, undone, prepared));
        }
    }
    journal.changes = update::merged(&prepared.keep, &prepared.plan.changes);
    journal.complete = true;
    store.save(&journal)
}

fn make(runner: &mut dyn Runner, change: &Change) -> Result<(), Error> {
    if runner.interrupted() {
        return Err(Error {
            kind: ErrorKind::Interrupted,
            ..Error::failed("interrupted", "")
        });
    }
    let command = change.command();
    match runner.run(&command) {
        Ok(output) if output.success => Ok(()),
        Ok(output) => Err(Error::command(&command, &output.stderr)),
        Err(error) => Err(Error::command(&command, &error.to_string())),
    }
}

/// `error`, with the fate of the changes made before.
fn failed(error: Error, undone: Result<(), Error>, prepared: &Prepared) -> Error {
    let device = &prepared.device;
    let state = match undone {
        Ok(()) if !prepared.keep.is_empty() && !prepared.undo.is_empty() => format!(
            "; what {device} receives is as it was before anything was applied, and what it sends as it was"
        ),
        Ok(()) if !prepared.keep.is_empty() => {
            "; what was applied before stands again as it was".to_owned()
        }
        Ok(()) if !prepared.undo.is_empty() => {
            format!("; {device} is as it was before anything was applied to it")
        }
        Ok(()) => "; everything is as it was".to_owned(),
        Err(second) => format!(
            "; undoing what had been done failed too: {second}; `analects tc clear --dev {device}` tries again"
        ),
    };
    Error {
        message: error.message + &state,
        ..error
    }
}

/// Undoes `changes`, the last one first. Changes that are no longer in place need no undoing.
///
/// Stops at the first that cannot be undone: the target of a redirection must not be removed before
/// the filter that redirects.
fn undo(runner: &mut dyn Runner, device: &Device, changes: &[Change]) -> Result<(), Error> {
    let levels = changes.iter().any(Change::is_of_netfilter);
    let mut now = Snapshot::around(runner, device, levels)?;
    for change in changes.iter().rev() {
        let Some(command) = change.undo(&now) else {
            continue;
        };
        let complaint = match runner.run(&command) {
            Ok(output) if output.success => continue,
            Ok(output) => output.stderr,
            Err(error) => error.to_string(),
        };
        // It may have gone between the look and the command.
        now = Snapshot::around(runner, device, levels)?;
        if change.undo(&now).is_some() {
            return Err(Error::command(&command, &complaint));
        }
    }
    Ok(())
}

/// The changes of ours that `device` may still have, by its journal or without one by its handles, and the
/// present state.
fn standing(
    runner: &mut dyn Runner,
    store: &Store,
    device: &Device,
) -> Result<Option<(Vec<Change>, Snapshot)>, Error> {
    let Some(journal) = store.load(device)? else {
        let now = recognized::looked(runner, device)?;
        let ours = recognized::recognized(device, &now);
        return Ok((!ours.is_empty()).then_some((ours, now)));
    };
    let levels = journal.changes.iter().any(Change::is_of_netfilter);
    let now = Snapshot::around(runner, device, levels)?;
    Ok(Some((journal.standing(&now), now)))
}

/// The commands that would undo the changes applied to `device`; None if there are none.
///
/// # Errors
/// If the journal or the device cannot be read.
pub fn undoing(
    runner: &mut dyn Runner,
    store: &Store,
    device: &Device,
) -> Result<Option<Vec<Command>>, Error> {
    let standing = standing(runner, store, device)?;
    Ok(standing.map(|(changes, now)| {
        let changes = changes.iter().rev();
        changes.filter_map(|change| change.undo(&now)).collect()
    }))
}

/// Undoes the changes applied to `device`, and forgets them. Returns whether there were any.
///
/// # Errors
/// If a change cannot be undone; the journal then stays.
pub fn clear(runner: &mut dyn Runner, store: &Store, device: &Device) -> Result<bool, Error> {
    let Some((standing, _)) = standing(runner, store, device)? else {
        return Ok(false);
    };
    undo(runner, device, &standing)?;
    store.remove(device)?;
    Ok(true)
}
