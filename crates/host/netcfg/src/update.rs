//! From one plan to the next without taking anything down.

use crate::{Before, Change, Device, RootQdisc};

/// How to come from one set of changes to another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Update {
    /// Changes that stay.
    pub keep: Vec<Change>,
    /// Changes that are undone.
    pub undo: Vec<Change>,
    /// Changes that are made then.
    pub make: Vec<Change>,
}

/// From the state made by `old` to the one that `new` makes of `device` without touching what it sends, but for
/// the numbers in it. None if that has another tree.
pub(crate) fn update(device: &Device, old: &[Change], new: &[Change]) -> Option<Update> {
    let [old_sent, old_received] = by_direction(device, old);
    let [new_sent, new_received] = by_direction(device, new);
    let mut update = Update {
        make: in_place(&old_sent, &new_sent)?,
        keep: old_sent,
        undo: Vec::new(),
    };
    match in_place(&old_received, &new_received) {
        Some(changes) => {
            update.keep.extend(old_received);
            update.make.extend(changes);
        }
        None => {
            update.undo = old_received;
            update.make.extend(new_received);
        }
    }
    Some(update)
}

/// What `changes` make of the packets that `device` sends, and of those that it receives.
fn by_direction(device: &Device, changes: &[Change]) -> [Vec<Change>; 2] {
    let ifb = device.shaped_ingress();
    let hook =
        |change: &Change| matches!(change, Change::Ingress { .. } | Change::DropIngress { .. });
    let received = |change: &&Change| hook(change) || change.devices().contains(&&ifb);
    let (received, sent) = changes.iter().partition::<Vec<&Change>, _>(received);
    [sent, received].map(|changes| changes.into_iter().cloned().collect())
}

/// The changes from the state made by `old` to the one in `new` without taking anything down: the
/// same tree with other numbers in it. None if the trees differ.
fn in_place(old: &[Change], new: &[Change]) -> Option<Vec<Change>> {
    if old.len() != new.len() {
        return None;
    }
    let pairs = old.iter().zip(new);
    let mut changes = Vec::new();
    for (old, new) in pairs {
        match difference(old, new) {
            Difference::None => {}
            Difference::Numbers(change) => changes.push(change),
            Difference::Kind => return None,
        }
    }
    // The meaning of priorities depends on the root's handle.
    let levels = new.iter().any(Change::is_of_netfilter);
    let root = |change: &Change| matches!(change, Change::Root { .. });
    if levels && changes.iter().any(root) {
        return None;
    }
    Some(changes)
}

/// How a change differs from the one in its place in an earlier plan.
enum Difference {
    /// Not at all, or in what needs no change.
    None,
    /// In numbers, which this change sets.
    Numbers(Change),
    /// In its kind, its device or its place in the tree.
    Kind,
}

/// How `new` differs from `old`.
fn difference(old: &Change, new: &Change) -> Difference {
    use Change::{Accounting, Ages, Class, Leaf, Root};
    if old == new {
        return Difference::None;
    }
    Difference::Numbers(match (old, new) {
        (
            Root { device, root, .. },
            Root {
                device: same,
                root: new,
                ..
            },
        ) if device == same => {
            let new = match with_slot(root, new) {
                None => return Difference::Kind,
                Some(new) if new == *root => return Difference::None,
                Some(new) => new,
            };
            Root {
                device: device.clone(),
                root: new,
                before: Before::Ours(root.clone()),
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
                return Difference::None;
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
        ) if device == same && leaf.place == new.place => {
            if new.discipline == leaf.discipline {
                return Difference::None;
            }
            Leaf {
                device: device.clone(),
                leaf: in_its_place(leaf, new),
                before: Some(leaf.clone()),
            }
        }
        // The state before the first of our changes is the one that is restored.
        (Accounting { device, .. }, Accounting { device: same, .. }) if device == same => {
            return Difference::None;
        }
        (
            Ages { device, table, .. },
            Ages {
                device: same,
                table: new,
                ..
            },
        ) if device == same && table.split == new.split => {
            if table == new {
                return Difference::None;
            }
            Ages {
                device: device.clone(),
                table: *new,
                before: Some(*table),
            }
        }
        _ => return Difference::Kind,
    })
}

/// `new` in the place of `old`: with its handle if the kernel can change the one into the other.
fn in_its_place(old: &crate::Leaf, new: &crate::Leaf) -> crate::Leaf {
    let stays = new.discipline.changes_in_place(&old.discipline);
    crate::Leaf {
        place: old.place,
        slot: if stays { old.slot } else { old.slot.other() },
        discipline: new.discipline.clone(),
    }
}

/// The same of a root: with its handle if the kernel can change the one into the other.
fn with_slot(old: &RootQdisc, new: &RootQdisc) -> Option<RootQdisc> {
    let mut new = new.clone();
    match (old, &mut new) {
        (RootQdisc::Htb {}, RootQdisc::Htb {})
        | (RootQdisc::Prio {}, RootQdisc::Prio {})
        | (RootQdisc::PfifoFast {}, RootQdisc::PfifoFast {}) => (),
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

/// `changes` as if the changes in place by `updates` had been there from the start, and the others behind
/// them.
pub(crate) fn merged(changes: &[Change], updates: &[Change]) -> Vec<Change> {
    let mut merged = changes.to_vec();
    for update in updates {
        let mut found = false;
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
                ) if device == same && leaf.place == new.place => {
                    *leaf = new.clone();
                }
                (
                    Change::Ages { device, table, .. },
                    Change::Ages {
                        device: same,
                        table: new,
                        ..
                    },
                ) if device == same => *table = *new,
                _ => continue,
            }
            found = true;
        }
        if !found {
            merged.push(update.clone());
        }
    }
    merged
}
