//! A set-up whose journal is lost, known by its handles: a cleaner of `/run`, a container made anew in the
//! host's network, or another `--state` leave one behind.

use crate::observe::{Observed, Snapshot, objects};
use crate::shaper::INNER;
use crate::{
    AgeTable, Before, Change, Device, Discipline, Error, Netfilter, ParentHandle, RootQdisc,
    Runner, Slot, Split, Store, Threshold,
};
use units::Choice;

/// The changes of ours that `device` shows in `now`, if no journal tells of any. They are only good for being
/// undone: how it was before them is not known.
pub(crate) fn recognized(device: &Device, now: &Snapshot) -> Vec<Change> {
    let Some(observed) = now.of(device) else {
        return Vec::new();
    };
    let (ifb, device) = (device.shaped_ingress(), device.clone());
    let redirects = &observed.ingress_filters.redirects;
    let redirected = redirects.iter().any(|to| to == ifb.as_str());
    let root_of = |of: &Device| root(now.of(of)?, *of == ifb);
    let mut changes = Vec::new();
    if let Some(table) = table(&device, now) {
        let device = device.clone();
        changes.push(Change::Ages {
            device,
            table,
            before: None,
        });
    }
    if now.of(&ifb).is_some() && (redirected || root_of(&ifb).is_some()) {
        changes.push(Change::AddIfb { name: ifb.clone() });
    }
    if let Some(root) = root_of(&device) {
        let (device, before) = (device.clone(), Before::Lost {});
        changes.push(Change::Root {
            device,
            root,
            before,
        });
    }
    if redirected {
        let hook = device.clone();
        changes.push(Change::Ingress { device: hook });
        changes.push(Change::Redirect {
            device,
            through: ifb,
        });
    }
    changes
}

/// The table of ages of `device`, if there is one.
fn table(device: &Device, now: &Snapshot) -> Option<AgeTable> {
    let found = now.netfilter.as_ref()?.of(device)?;
    let threshold = Threshold::try_from(found.unwrap_or(1)).ok()?;
    Some(AgeTable {
        threshold,
        split: Split::Root,
    })
}

/// The root of `observed`, if its handle and what is below it are ours.
fn root(observed: &Observed, ingress: bool) -> Option<RootQdisc> {
    let root = observed.root()?;
    let child = observed.child(ParentHandle::First.parent());
    let below = child.is_some_and(|child| matches!(child.handle.as_str(), INNER | "b2:"));
    match (root.kind.as_str(), root.handle.as_str()) {
        ("htb", "a1:") if below && observed.class_rate.is_some() => Some(RootQdisc::Htb {}),
        ("prio", "a1:") if below => Some(RootQdisc::Prio {}),
        ("pfifo_fast", "a1:") => Some(RootQdisc::PfifoFast {}),
        ("cake", handle @ ("a1:" | "a2:")) => Some(RootQdisc::Cake {
            slot: match handle {
                "a1:" => Slot::First,
                _ => Slot::Second,
            },
            rate: None,
            overhead: None,
            discipline: Discipline::new(&Choice::plain("cake")).ok()?,
            ingress,
        }),
        _ => None,
    }
}

/// The state of `device` as far as [`recognized`] needs it.
///
/// # Errors
/// If the device cannot be looked at.
pub(crate) fn looked(runner: &mut dyn Runner, device: &Device) -> Result<Snapshot, Error> {
    let mut now = Snapshot::around(runner, device, false)?;
    let ours = now.of(device).is_some_and(|it| root(it, false).is_some());
    if ours {
        // Where nothing can be asked for tables, there are none of ours.
        now.netfilter = Netfilter::take(runner).ok();
    }
    Ok(now)
}

/// The devices that have a set-up of ours of which no journal tells. A host that cannot be asked has none
/// that could be known.
///
/// # Errors
/// If the folder of the journals cannot be read.
pub fn lost(runner: &mut dyn Runner, store: &Store) -> Result<Vec<Device>, Error> {
    const WORDS: &str = "-j qdisc show";
    let journals = store.devices()?;
    let listed = runner.run(&crate::Command::tc(WORDS));
    let listed = listed.ok().filter(|output| output.success);
    let queues = listed.and_then(|output| objects(WORDS, &output.stdout).ok());
    let names = queues.unwrap_or_default().into_iter();
    let names = names.filter_map(|fields| fields.get("dev")?.as_str()?.parse().ok());
    let mut devices: Vec<Device> = names.collect();
    devices.sort();
    devices.dedup();
    let ifbs: Vec<Device> = devices.iter().map(Device::shaped_ingress).collect();
    devices.retain(|device| !journals.contains(device) && !ifbs.contains(device));
    let mut lost = Vec::new();
    for device in devices {
        if !recognized(&device, &looked(runner, &device)?).is_empty() {
            lost.push(device);
        }
    }
    Ok(lost)
}
