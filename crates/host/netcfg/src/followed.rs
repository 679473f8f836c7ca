//! Rates that change while a set-up stands: by one process for each device, never a queue, and back at the end.

use crate::journal::Lock;
use crate::show::differences;
use crate::{
    Change, Device, Direction, Error, Follow, Host, Journal, RateChange, Rates, RootQdisc, Runner,
    ShapedRate, ShaperRate, Snapshot, Store, plan,
};
use core::time::Duration;
use std::path::{Path, PathBuf};

/// How long another process that is making changes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The right of one process to change the rates of a device's set-up, for as long as it lives.
#[derive(Debug)]
pub struct FollowedDevice {
    folder: PathBuf,
    journal: Journal,
    ethernet: bool,
    _claim: Option<Claim>,
}

/// The right of one process to follow a device's line, for as long as it lives.
#[derive(Debug)]
pub struct Claim {
    _lock: Lock,
}

impl Claim {
    /// Takes it. No set-up need be there yet.
    ///
    /// # Errors
    /// If another process has it, which is named, or the folder cannot be written.
    pub fn of(folder: &Path, device: &Device) -> Result<Self, Error> {
        match Store::look(folder).lock(&format!("autorate-{device}"))? {
            Ok(lock) => Ok(Claim { _lock: lock }),
            Err(holder) => Err(Error::refused(
                format!("another analects follows {device} already: {holder}"),
                "end that one first",
            )),
        }
    }
}

impl FollowedDevice {
    /// Takes it, for the set-up of `device` that a journal in `folder` tells of; without a claim only to look.
    ///
    /// # Errors
    /// If no journal tells of a shaper there, or the device has not what the journal tells of.
    pub fn of(
        runner: &mut dyn Runner,
        folder: &Path,
        device: &Device,
        claim: Option<Claim>,
    ) -> Result<Self, Error> {
        let changes = claim.is_some();
        let followed = FollowedDevice {
            folder: folder.to_owned(),
            journal: shaped(&Store::look(folder), device)?,
            ethernet: true,
            _claim: claim,
        };
        if changes {
            followed.settle(runner)?;
        }
        let now = followed.look(runner)?;
        let ethernet = now.of(device).is_none_or(|observed| observed.ethernet);
        Ok(FollowedDevice {
            ethernet,
            ..followed
        })
    }

    /// One that was killed may have left another rate than the one that it was about to set.
    fn settle(&self, runner: &mut dyn Runner) -> Result<(), Error> {
        let Some(rates) = self.journal.followed else {
            return Ok(());
        };
        let now = Snapshot::around(runner, self.device(), false)?;
        for direction in Direction::BOTH {
            if let Some(rate) = rates.of(direction).filter(|_| self.stands(direction, &now)) {
                self.run(runner, direction, rate)?;
            }
        }
        Ok(())
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.journal.device
    }

    /// The device through which it receives, if that shapes.
    pub fn ifb(&self) -> Option<Device> {
        let shaped = self.journal.settings.ingress.is_some();
        shaped.then(|| self.device().shaped_ingress())
    }

    /// Which rates are to follow the line, if that was asked for when it was applied.
    pub fn follow(&self) -> Option<&Follow> {
        self.journal.settings.follow.as_ref()
    }

    /// The rates of the settings.
    pub fn set(&self) -> Rates {
        self.journal.settings.rates()
    }

    /// The rates that stand.
    pub fn rates(&self) -> Rates {
        self.journal.followed.unwrap_or(self.set())
    }

    /// What gives `direction` that rate; none if it is not shaped.
    pub fn rate_change(&self, direction: Direction, rate: ShapedRate) -> Option<RateChange> {
        let device = direction.shaper(self.device());
        let mut changes = self.journal.changes.iter();
        changes.find_map(|change| match change {
            Change::Root {
                device: of, root, ..
            } if *of == device => root.change_rate(of, rate),
            Change::Class { device: of, .. } if *of == device => Some(RateChange {
                device: of.clone(),
                shaper: ShaperRate::Class(self.class(rate)),
            }),
            _ => None,
        })
    }

    fn class(&self, rate: ShapedRate) -> crate::Class {
        plan::class(rate, self.journal.settings.overhead, self.ethernet)
    }

    /// Gives `direction` that rate, once the journal says so; nothing if it is not shaped.
    ///
    /// # Errors
    /// If it cannot be done, or another program changed the set-up.
    pub fn change(
        &mut self,
        runner: &mut dyn Runner,
        direction: Direction,
        rate: ShapedRate,
    ) -> Result<(), Error> {
        if self.set().of(direction).is_none() {
            return Ok(());
        }
        let store = self.open()?;
        self.is_of(&store)?;
        self.note(direction, rate);
        store.save(&self.journal)?;
        let Err(error) = self.run(runner, direction, rate) else {
            return Ok(());
        };
        let now = Snapshot::around(runner, self.device(), false)?;
        if !self.stands(direction, &now) {
            self.look(runner)?;
        }
        Err(error)
    }

    /// Writes into the journal that `direction` has this rate.
    fn note(&mut self, direction: Direction, new: ShapedRate) {
        let (device, new_class) = (direction.shaper(self.device()), self.class(new));
        self.journal.followed = Some(self.rates().with(direction, new));
        for change in &mut self.journal.changes {
            match change {
                Change::Root {
                    device: of,
                    root: RootQdisc::Cake { rate, .. },
                    ..
                } if *of == device => *rate = Some(new),
                Change::Class {
                    device: of, class, ..
                } if *of == device => *class = new_class,
                _ => (),
            }
        }
    }

    /// Looks whether all is as the journal says.
    ///
    /// # Errors
    /// If another program changed it.
    pub fn look(&self, runner: &mut dyn Runner) -> Result<Snapshot, Error> {
        self.is_of(&Store::look(&self.folder))?;
        let levels = self.journal.changes.iter().any(Change::is_of_netfilter);
        let now = Snapshot::around(runner, self.device(), levels)?;
        let differences = differences(&self.journal, &now);
        if differences.is_empty() {
            return Ok(now);
        }
        let device = self.device();
        let what = differences.join("; ");
        Err(Error::failed(
            format!("{device}: the set-up is no longer as it was applied: {what}"),
            format!(
                "end what changed it, and apply it again; `analects tc keep --dev {device}` does that by itself"
            ),
        ))
    }

    /// Gives the shapers that still stand the rates of the settings again; whether any had another one.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn restore(mut self, runner: &mut dyn Runner) -> Result<bool, Error> {
        let store = self.open()?;
        if self.is_of(&store).is_err() || self.journal.followed.is_none() {
            return Ok(false);
        }
        let now = Snapshot::around(runner, self.device(), false)?;
        let (set, rates) = (self.set(), self.rates());
        for direction in Direction::BOTH {
            let Some(rate) = set.of(direction) else {
                continue;
            };
            if rates.of(direction) != Some(rate) && self.stands(direction, &now) {
                self.run(runner, direction, rate)?;
            }
            self.note(direction, rate);
        }
        self.journal.followed = None;
        store.save(&self.journal)?;
        Ok(true)
    }

    fn run(
        &self,
        runner: &mut dyn Runner,
        direction: Direction,
        rate: ShapedRate,
    ) -> Result<(), Error> {
        let Some(change) = self.rate_change(direction, rate) else {
            return Ok(());
        };
        let complaint = match runner.change_rate(&change) {
            Ok(output) if output.success => return Ok(()),
            Ok(output) => output.stderr,
            Err(error) => error.to_string(),
        };
        Err(Error::rate_change(&change, &complaint))
    }

    /// Whether the shaper of `direction` is still ours, whatever its rate.
    fn stands(&self, direction: Direction, now: &Snapshot) -> bool {
        let device = direction.shaper(self.device());
        let Some(observed) = now.of(&device) else {
            return false;
        };
        self.journal.changes.iter().all(|change| match change {
            Change::Root {
                device: of, root, ..
            } if *of == device => observed.root().is_some_and(|it| {
                (it.kind.as_str(), it.handle.as_str()) == (root.kind(), root.handle())
            }),
            Change::Class { device: of, .. } if *of == device => observed.class_rate.is_some(),
            _ => true,
        })
    }

    /// A signal that came does not keep the rates from being put back.
    fn open(&self) -> Result<Store, Error> {
        Store::open(&self.folder, PATIENCE, &Host::default())
    }

    /// # Errors
    /// If the journal is another one by now.
    fn is_of(&self, store: &Store) -> Result<(), Error> {
        let device = self.device();
        match store.load(device)? {
            Some(journal) if journal == self.journal => Ok(()),
            Some(_) => Err(Error::failed(
                format!("{device}: another analects changed the set-up"),
                "start it again, and it follows that one",
            )),
            None => Err(Error::failed(
                format!("{device}: another analects cleared the set-up"),
                "",
            )),
        }
    }
}

/// The journal of a set-up of `device` that shapes.
fn shaped(store: &Store, device: &Device) -> Result<Journal, Error> {
    let first = format!(
        "set one up first, by rates that you know the line to carry: analects tc apply --dev {device} --up 9mbit --down 45mbit"
    );
    let Some(journal) = store.load(device)? else {
        let message = format!("no journal of analects tells of a shaper on {device}");
        return Err(Error::refused(message, first));
    };
    if !journal.complete {
        let message = format!("{device}: an `analects tc apply` was interrupted, or is at work");
        return Err(Error::refused(message, first));
    }
    if journal.settings.rate.is_none() {
        let message = format!("{device} is not shaped: its set-up has no rate");
        return Err(Error::refused(message, first));
    }
    Ok(journal)
}
