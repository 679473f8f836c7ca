//! From what the user wants, and what a device has, to a list of changes.

use crate::observe::{Observed, Snapshot};
use crate::{
    Before, Change, Class, Device, Discipline, Error, Leaf, Overhead, RootQdisc, ShapedRate, Slot,
};
use serde::{Deserialize, Serialize};

/// What the user wants of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The rate at which it sends.
    pub rate: ShapedRate,
    /// The rate at which it receives, if that is shaped.
    pub ingress: Option<ShapedRate>,
    /// What the line adds to each packet; without, what the kernel counts.
    pub overhead: Option<Overhead>,
    /// The discipline of both directions.
    pub discipline: Discipline,
}

/// Changes in their order, and what has to be said about them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The changes.
    pub changes: Vec<Change>,
    /// What the user ought to know.
    pub notes: Vec<String>,
}

/// What stands in the places that are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// At the root of the device.
    pub root: Before,
    /// Where it receives.
    pub hook: Hook,
}

/// What there is for what a device receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    None,
    /// One without filters, which is used and left there.
    Empty,
    /// One with filters, which have to go.
    Filtered {
        clsact: bool,
    },
}

const LOSING: &str = "put it back yourself afterwards, with the commands that made it; \
                      --replace does without it, and leaves the kernel's default behind";

impl Places {
    /// What `observed` has.
    ///
    /// # Errors
    /// If it could not be put back exactly, and `replace` does not say that it may go.
    pub fn of(device: &Device, observed: &Observed, replace: bool) -> Result<Self, Error> {
        let root = match Before::of(observed) {
            Ok(before) => before,
            Err(_) if replace => Before::Lost {},
            Err(why) => {
                let message = format!("{device}: {why}, which could not be put back exactly");
                return Err(Error::refused(message, LOSING));
            }
        };
        let hook = match observed.ingress() {
            None => Hook::None,
            Some(_) if observed.ingress_filters.entries == 0 => Hook::Empty,
            Some(qdisc) => Hook::Filtered {
                clsact: qdisc.kind == "clsact",
            },
        };
        Ok(Places { root, hook })
    }
}

/// The changes that give `device` what `settings` say, where nothing of ours is yet.
///
/// First what no packet passes yet, so that what is missing is found before anything is touched.
///
/// # Errors
/// If there is something in the way.
pub(crate) fn fresh(
    device: &Device,
    settings: &Settings,
    places: &Places,
    now: &Snapshot,
    replace: bool,
) -> Result<Plan, Error> {
    let ethernet = now.of(device).is_none_or(|observed| observed.ethernet);
    let mut plan = Plan::default();
    if places.root == (Before::Lost {}) {
        let note = format!("what {device} had at its root is lost: clear leaves the default there");
        plan.notes.push(note);
    }
    let ifb = match settings.ingress {
        None => None,
        Some(rate) => {
            let ifb = free_ifb(device, now)?;
            plan.changes.push(Change::AddIfb { name: ifb.clone() });
            plan.changes.push(Change::SetUp { name: ifb.clone() });
            shape(
                &mut plan,
                &ifb,
                rate,
                settings,
                true,
                ethernet,
                Before::Gone {},
            );
            Some(ifb)
        }
    };
    let before = places.root.clone();
    shape(
        &mut plan,
        device,
        settings.rate,
        settings,
        false,
        ethernet,
        before,
    );
    if let Some(through) = ifb {
        hook(&mut plan, device, places.hook, replace)?;
        let device = device.clone();
        plan.changes.push(Change::Redirect { device, through });
    }
    note_excess(&mut plan, settings, ethernet);
    Ok(plan)
}

/// The name of the ifb device, of which there must be none.
fn free_ifb(device: &Device, now: &Snapshot) -> Result<Device, Error> {
    let ifb = device.shaped_ingress().map_err(|_| {
        let message =
            format!("{device}: the name is too long for an ifb device that is called after it");
        Error::refused(
            message,
            "leave --ingress out, or give the device a shorter name",
        )
    })?;
    if now.of(&ifb).is_some() {
        let message =
            format!("there is a device {ifb} already, and no journal says that it is ours");
        return Err(Error::refused(
            message,
            format!("if nothing needs it: ip link del dev {ifb}"),
        ));
    }
    Ok(ifb)
}

fn hook(plan: &mut Plan, device: &Device, hook: Hook, replace: bool) -> Result<(), Error> {
    let device = device.clone();
    match hook {
        Hook::Empty => return Ok(()),
        Hook::None => (),
        Hook::Filtered { clsact } if replace => {
            let note =
                format!("the filters of what {device} receives are lost: nothing brings them back");
            plan.notes.push(note);
            let device = device.clone();
            plan.changes.push(Change::DropIngress { device, clsact });
        }
        Hook::Filtered { .. } => {
            let message = format!(
                "{device}: there are filters on what it receives, which could not be put back exactly"
            );
            return Err(Error::refused(message, LOSING));
        }
    }
    plan.changes.push(Change::Ingress { device });
    Ok(())
}

/// What one direction is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shaper {
    root: RootQdisc,
    inner: Option<(Class, Leaf)>,
}

impl Shaper {
    fn of(settings: &Settings, rate: ShapedRate, ingress: bool, ethernet: bool) -> Self {
        let discipline = settings.discipline.clone();
        if discipline.name() == "cake" {
            let root = RootQdisc::Cake {
                slot: Slot::First,
                rate,
                overhead: settings.overhead,
                discipline,
                ingress,
            };
            return Shaper { root, inner: None };
        }
        let told = settings
            .overhead
            .map(|overhead| overhead.for_class(rate.get(), ethernet));
        let class = Class {
            rate: told.map_or(rate.get(), |told| told.rate).as_bits(),
            overhead: told.map_or(0, |told| told.bytes),
            mpu: told.map_or(0, |told| told.mpu),
            atm: told.is_some_and(|told| told.atm),
        };
        let slot = Slot::First;
        let leaf = Leaf { slot, discipline };
        Shaper {
            root: RootQdisc::Htb {},
            inner: Some((class, leaf)),
        }
    }
}

fn shape(
    plan: &mut Plan,
    device: &Device,
    rate: ShapedRate,
    settings: &Settings,
    ingress: bool,
    ethernet: bool,
    before: Before,
) {
    let shaper = Shaper::of(settings, rate, ingress, ethernet);
    plan.changes.push(Change::Root {
        device: device.clone(),
        root: shaper.root,
        before,
    });
    if let Some((class, leaf)) = shaper.inner {
        plan.changes.push(Change::Class {
            device: device.clone(),
            class,
            before: None,
        });
        plan.changes.push(Change::Leaf {
            device: device.clone(),
            leaf,
            before: None,
        });
    }
}

/// htb cannot count a packet smaller than the kernel does.
fn note_excess(plan: &mut Plan, settings: &Settings, ethernet: bool) {
    let Some(overhead) = settings.overhead else {
        return;
    };
    let told = overhead.for_class(settings.rate.get(), ethernet);
    if settings.discipline.name() != "cake" && told.excess > 0 {
        plan.notes.push(format!(
            "htb counts {} bytes too many for each packet, since it cannot subtract: raise the rates a little, or use cake",
            told.excess
        ));
    }
}

/// The changes from what `old` made to what `new` wants without taking anything down: the same tree
/// with other numbers in it. None if the trees differ.
pub(crate) fn in_place(old: &[Change], new: &Plan) -> Option<Vec<Change>> {
    if old.len() != new.changes.len() {
        return None;
    }
    let pairs = old.iter().zip(&new.changes);
    let mut changes = Vec::new();
    for (old, new) in pairs {
        changes.extend(difference(old, new)?);
    }
    Some(changes)
}

/// The change from `old` to `new`, if there is one to be made; None if it is not of the same kind.
fn difference(old: &Change, new: &Change) -> Option<Option<Change>> {
    use Change::{Class, Leaf, Root};
    if old == new {
        return Some(None);
    }
    Some(Some(match (old, new) {
        (
            Root { device, root, .. },
            Root {
                device: same,
                root: new,
                ..
            },
        ) if device == same => {
            let (new, before) = (with_slot(root, new)?, Before::Ours(root.clone()));
            if new == *root {
                return Some(None);
            }
            Root {
                device: device.clone(),
                root: new,
                before,
            }
        }
        (
            Class { device, class, .. },
            Class {
                device: same,
                class: new,
                ..
            },
        ) if device == same => {
            if new == class {
                return Some(None);
            }
            Class {
                device: device.clone(),
                class: *new,
                before: Some(*class),
            }
        }
        (
            Leaf { device, leaf, .. },
            Leaf {
                device: same,
                leaf: new,
                ..
            },
        ) if device == same => {
            if new.discipline == leaf.discipline {
                return Some(None);
            }
            let stays = new.discipline.changes_in_place(&leaf.discipline);
            Leaf {
                device: device.clone(),
                leaf: crate::Leaf {
                    slot: if stays { leaf.slot } else { leaf.slot.other() },
                    discipline: new.discipline.clone(),
                },
                before: Some(leaf.clone()),
            }
        }
        _ => return None,
    }))
}

/// `new` in the place of `old`: with its handle if the kernel can change the one into the other.
fn with_slot(old: &RootQdisc, new: &RootQdisc) -> Option<RootQdisc> {
    let mut new = new.clone();
    match (old, &mut new) {
        (RootQdisc::Htb {}, RootQdisc::Htb {}) => (),
        (
            RootQdisc::Cake {
                slot,
                discipline,
                overhead,
                ..
            },
            RootQdisc::Cake {
                slot: new_slot,
                discipline: new_discipline,
                overhead: new_overhead,
                ..
            },
        ) => {
            // cake's `raw` takes back an overhead, but not a least size (tc, q_cake.c).
            let stays = new_discipline.changes_in_place(discipline)
                && overhead.is_some() == new_overhead.is_some();
            *new_slot = if stays { *slot } else { slot.other() };
        }
        _ => return None,
    }
    Some(new)
}

/// `changes` as if what `updates` changed in place had been so from the start.
pub(crate) fn merged(changes: &[Change], updates: &[Change]) -> Vec<Change> {
    let mut merged = changes.to_vec();
    for update in updates {
        for change in &mut merged {
            match (&mut *change, update) {
                (
                    Change::Root { device, root, .. },
                    Change::Root {
                        device: same,
                        root: new,
                        ..
                    },
                ) if device == same => {
                    *root = new.clone();
                }
                (
                    Change::Class { device, class, .. },
                    Change::Class {
                        device: same,
                        class: new,
                        ..
                    },
                ) if device == same => *class = *new,
                (
                    Change::Leaf { device, leaf, .. },
                    Change::Leaf {
                        device: same,
                        leaf: new,
                        ..
                    },
                ) if device == same => {
                    *leaf = new.clone();
                }
                _ => (),
            }
        }
    }
    merged
}
