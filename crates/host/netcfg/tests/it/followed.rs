//! Rates that change while a set-up stands.

use crate::keep::{OTHERS, applied};
use crate::model::folder::Folder;
use crate::model::{FAULTS, Fault, Link, Model};
use crate::undo::{all_settings, eth0};
use netcfg::{
    Claim, Direction, Error, FollowedDevice, Rates, Settings, ShapedRate, Store, apply, clear,
    prepare, status,
};
use std::collections::BTreeMap;

fn rate(mbit: u64) -> ShapedRate {
    (mbit * 1_000_000).try_into().unwrap()
}

fn followed(model: &mut Model, folder: &Folder) -> Result<FollowedDevice, Error> {
    let claim = Claim::of(&folder.0, &eth0())?;
    FollowedDevice::of(model, &folder.0, &eth0(), Some(claim))
}

fn shaped() -> impl Iterator<Item = Settings> {
    let shapes = |settings: &Settings| settings.rate.is_some();
    all_settings().into_iter().filter(shapes)
}

/// Kinds and handles of all queues.
fn queues(links: &BTreeMap<String, Link>) -> Vec<(String, String)> {
    let of = |link: &Link| {
        link.root
            .iter()
            .chain(link.leaves.values())
            .cloned()
            .collect::<Vec<_>>()
    };
    let all = links.values().flat_map(of);
    all.map(|queue| (queue.kind, queue.handle)).collect()
}

#[test]
fn rates_change_in_place_and_are_put_back_exactly() {
    let folder = Folder::new("followed");
    for settings in shaped() {
        let mut model = applied(&folder, &settings);
        let before = model.links.clone();
        let mut followed = followed(&mut model, &folder).unwrap();
        let set = Rates {
            down: settings.ingress,
            up: settings.rate,
        };
        assert_eq!((followed.set(), followed.rates()), (set, set));
        for (direction, mbit) in [
            (Direction::Up, 3),
            (Direction::Down, 21),
            (Direction::Up, 4),
        ] {
            let links = model.links.clone();
            followed.change(&mut model, direction, rate(mbit)).unwrap();
            let now = set.of(direction).map(|_| rate(mbit));
            assert_eq!(followed.rates().of(direction), now);
            assert_eq!(model.links == links, now.is_none(), "{settings:?}");
            followed.look(&mut model).unwrap();
        }
        assert_eq!(queues(&model.links), queues(&before));
        let shown = status(&mut model, &Store::look(&folder.0), &eth0())
            .unwrap()
            .unwrap();
        assert_eq!(
            (shown.followed, shown.differences),
            (Some(followed.rates()), Vec::new())
        );
        assert!(followed.restore(&mut model).unwrap());
        assert_eq!(model.links, before, "{settings:?}");
        let shown = status(&mut model, &Store::look(&folder.0), &eth0())
            .unwrap()
            .unwrap();
        assert_eq!((shown.followed, shown.settings), (None, Some(settings)));
    }
}

#[test]
fn the_commands() {
    let folder = Folder::new("followed-commands");
    let of = |number: usize| {
        let mut model = applied(&folder, &all_settings()[number]);
        let followed = FollowedDevice::of(&mut model, &folder.0, &eth0(), None).unwrap();
        Direction::BOTH.map(|direction| {
            followed
                .rate_change(direction, rate(3))
                .unwrap()
                .command()
                .to_string()
        })
    };
    let class = "parent a1: classid a1:1 htb rate 3mbit ceil 3mbit burst 3028 cburst 3028 quantum 1514 overhead 4 mpu 64";
    let htb = ["ifb-eth0", "eth0"].map(|device| format!("tc class change dev {device} {class}"));
    assert_eq!(of(0), htb);
    let cake = ["ifb-eth0", "eth0"]
        .map(|device| format!("tc qdisc change dev {device} root handle a1: cake bandwidth 3mbit"));
    assert_eq!(of(6), cake);
}

/// tc prints it in bytes a second.
#[test]
fn another_bandwidth_of_cake_is_a_difference() {
    let folder = Folder::new("followed-bandwidth");
    let mut model = applied(&folder, &all_settings()[5]);
    let mut differences = |bytes: &str| {
        let root = model.links.get_mut("eth0").unwrap().root.as_mut().unwrap();
        root.options
            .insert("bandwidth".to_owned(), bytes.to_owned());
        let status = status(&mut model, &Store::look(&folder.0), &eth0());
        status.unwrap().unwrap().differences
    };
    assert_eq!(differences("1125000"), [""; 0]);
    assert_eq!(
        differences("875000"),
        ["the rate of eth0 is 7mbit, not 9mbit"]
    );
    let unlimited = differences("unlimited");
    assert_eq!(unlimited, ["eth0 is not shaped any more, to 9mbit"]);
}

#[test]
fn what_is_refused() {
    let folder = Folder::new("followed-refused");
    let mut model = Model::with("eth0", Link::default());
    let refused = followed(&mut model, &folder).unwrap_err();
    assert!(refused.message.contains("no journal"), "{refused}");
    assert!(
        refused.help.contains("analects tc apply --dev eth0 --up"),
        "{}",
        refused.help
    );
    let unshaped = all_settings()
        .into_iter()
        .find(|settings| settings.rate.is_none());
    let mut model = applied(&folder, &unshaped.unwrap());
    let refused = followed(&mut model, &folder).unwrap_err();
    assert!(refused.message.contains("not shaped"), "{refused}");

    let mut model = applied(&folder, &all_settings()[0]);
    let first = followed(&mut model, &folder).unwrap();
    let refused = followed(&mut model, &folder).unwrap_err();
    let named = format!(
        "another analects follows eth0 already: process {}, `",
        std::process::id()
    );
    assert!(refused.message.starts_with(&named), "{refused}");
    FollowedDevice::of(&mut model, &folder.0, &eth0(), None).unwrap();
    assert!(!first.restore(&mut model).unwrap(), "nothing was changed");
    followed(&mut model, &folder).unwrap();
}

/// Another program's queue is named, and left alone; the other direction gets its rate again.
#[test]
fn what_another_program_changes_ends_it() {
    let folder = Folder::new("followed-others");
    for settings in shaped() {
        for (what, other) in OTHERS {
            let why = format!("{what} {settings:?}");
            let mut model = applied(&folder, &settings);
            let set = model.links.get("ifb-eth0").cloned();
            let mut followed = followed(&mut model, &folder).unwrap();
            for direction in Direction::BOTH {
                followed.change(&mut model, direction, rate(5)).unwrap();
            }
            if !other(&mut model) {
                continue;
            }
            let error = followed.look(&mut model).unwrap_err();
            assert!(
                error.message.contains("no longer as it was applied: "),
                "{why}"
            );
            let theirs = model.links["eth0"].root.clone();
            followed.restore(&mut model).unwrap();
            if what.contains("root") {
                assert_eq!(model.links["eth0"].root, theirs, "{why}");
                assert_eq!(model.links.get("ifb-eth0"), set.as_ref(), "{why}");
            }
        }
    }
}

/// A queue that another program took away is not made again.
#[test]
fn a_change_where_nothing_is_fails() {
    let folder = Folder::new("followed-gone");
    for settings in shaped() {
        let mut model = applied(&folder, &settings);
        let mut followed = followed(&mut model, &folder).unwrap();
        (OTHERS[0].1)(&mut model);
        let error = followed
            .change(&mut model, Direction::Up, rate(5))
            .unwrap_err();
        assert!(
            error.message.contains("no longer as it was applied"),
            "{error}"
        );
        assert_eq!(model.links["eth0"].root, None);
    }
}

#[test]
fn another_analects_has_precedence() {
    let folder = Folder::new("followed-apply");
    for settings in shaped() {
        let mut model = applied(&folder, &settings);
        let mut followed = followed(&mut model, &folder).unwrap();
        followed.change(&mut model, Direction::Up, rate(5)).unwrap();
        let store = folder.open();
        let other = Settings {
            rate: Some(rate(8)),
            ..settings.clone()
        };
        let prepared = prepare(&mut model, &store, &eth0(), &other, false, false).unwrap();
        apply(&mut model, &store, &prepared).unwrap();
        drop(store);
        let applied = model.links.clone();
        let error = followed
            .change(&mut model, Direction::Up, rate(6))
            .unwrap_err();
        assert!(
            error.message.contains("another analects changed"),
            "{error}"
        );
        assert!(!followed.restore(&mut model).unwrap());
        assert_eq!(model.links, applied, "{settings:?}");
    }
}

#[test]
fn of_one_that_was_killed_the_rates_are_known() {
    let folder = Folder::new("followed-killed");
    for settings in shaped() {
        let mut model = applied(&folder, &settings);
        let before = model.links.clone();
        let mut killed = followed(&mut model, &folder).unwrap();
        killed.change(&mut model, Direction::Up, rate(5)).unwrap();
        drop(killed);
        // In the middle of a change.
        let link = model.links.get_mut("eth0").unwrap();
        if let Some(class) = &mut link.class {
            class[1] = "7mbit".to_owned();
        }
        let mut next = followed(&mut model, &folder).unwrap();
        assert_eq!(
            (next.set().up, next.rates().up),
            (settings.rate, Some(rate(5)))
        );
        next.change(&mut model, Direction::Up, rate(6)).unwrap();
        drop(next);
        // Applied again, it has its rates again, in place.
        let store = folder.open();
        let prepared = prepare(&mut model, &store, &eth0(), &settings, false, false).unwrap();
        // But for the tins of two levels.
        let all = if settings.threshold.is_some() { 8 } else { 1 };
        assert!(prepared.commands().len() <= all, "{settings:?}");
        apply(&mut model, &store, &prepared).unwrap();
        assert_eq!(model.links, before, "{settings:?}");
        drop(store);
        let mut killed = followed(&mut model, &folder).unwrap();
        killed.change(&mut model, Direction::Up, rate(5)).unwrap();
        drop(killed);
        assert!(clear(&mut model, &folder.open(), &eth0()).unwrap());
        assert_eq!(
            (model.links["eth0"].root.clone(), model.links.len()),
            (None, 1)
        );
    }
}

/// A fault at every command of two changes and the end: the rates are put back, or of a process that died,
/// clear restores the state before.
#[test]
fn every_fault() {
    let folder = Folder::new("followed-faults");
    for settings in [0, 5, 10].map(|number| all_settings()[number].clone()) {
        for fault in FAULTS {
            for at in 0.. {
                let mut model = applied(&folder, &settings);
                let before = model.links.clone();
                let mut followed = followed(&mut model, &folder).unwrap();
                model.revive();
                model.faults = vec![(at, fault)];
                let changed = followed.change(&mut model, Direction::Up, rate(5));
                _ = changed.and_then(|()| followed.change(&mut model, Direction::Down, rate(5)));
                let restored = followed.restore(&mut model);
                let reached = model.calls > at;
                model.revive();
                let why = format!("{fault:?} at {at}: {restored:?}");
                if restored.is_ok() && !matches!(fault, Fault::DiesBefore | Fault::DiesAfter) {
                    assert_eq!(model.links, before, "{why}");
                }
                clear(&mut model, &folder.open(), &eth0()).unwrap();
                assert_eq!(
                    (model.links["eth0"].root.clone(), model.links.len()),
                    (None, 1),
                    "{why}"
                );
                if !reached {
                    break;
                }
            }
        }
    }
}
