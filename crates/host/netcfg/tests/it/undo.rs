//! After any failure, and wherever a process dies, the former state remains, or `clear` restores
//! it.

use crate::model::folder::Folder;
use crate::model::{FAULTS, Fault, Link, Model, Queue};
use core::time::Duration;
use netcfg::{Command, Device, Discipline, Error, Runner, Settings, Store, apply, clear, prepare};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub fn eth0() -> Device {
    "eth0".parse().unwrap()
}

fn settings(rate: u64, ingress: Option<u64>, overhead: Option<&str>, choice: &str) -> Settings {
    Settings {
        rate: Some((rate * 1_000_000).try_into().unwrap()),
        ingress: ingress.map(|rate| (rate * 1_000_000).try_into().unwrap()),
        overhead: overhead.map(|text| text.parse().unwrap()),
        discipline: Discipline::new(&choice.parse().unwrap()).unwrap(),
        received: None,
        threshold: None,
        follow: None,
    }
}

fn levels(rate: Option<u64>, base: &str, threshold: u64) -> Settings {
    Settings {
        rate: rate.map(|rate| (rate * 1_000_000).try_into().unwrap()),
        ingress: None,
        overhead: None,
        discipline: Discipline::of_levels(&base.parse().unwrap()).unwrap(),
        received: None,
        threshold: Some(threshold.try_into().unwrap()),
        follow: None,
    }
}

/// Settings, any of which may follow any other.
pub fn all_settings() -> Vec<Settings> {
    vec![
        settings(9, Some(45), Some("docsis"), "confucius"),
        settings(8, Some(45), None, "confucius,limit=500"),
        settings(9, Some(45), None, "confucius,limit=600"),
        settings(9, None, None, "fq_codel,flows=64"),
        settings(9, Some(45), None, "fq_codel,flows=128"),
        settings(9, Some(45), Some("pppoe-ptm"), "cake"),
        settings(7, Some(40), Some("docsis"), "cake,rtt=30ms"),
        settings(7, Some(40), None, "cake,rtt=50ms"),
        levels(None, "fq_codel,limit=50", 6_331_208),
        levels(None, "fq_codel,limit=60", 1_000_000),
        levels(Some(9), "fq_codel,limit=60", 1_000_000),
        levels(Some(8), "codel", 1_000_000),
        levels(Some(8), "cake,rtt=30ms", 1),
        levels(None, "cake,rtt=30ms", 2),
        levels(None, "cake", 2),
        levels(None, "pfifo_fast", 1_000_000),
        levels(Some(8), "pfifo_fast", 1_000_000),
        settings(9, Some(45), None, "fq_codel,limit=500"),
        settings(9, Some(45), None, "fq_codel,limit=600"),
        Settings {
            received: Some(Discipline::new(&"cake,ack-filter=yes".parse().unwrap()).unwrap()),
            ..settings(9, Some(45), None, "pfifo")
        },
    ]
}

fn queue(kind: &str, handle: &str, options: &[(&str, &str)]) -> Queue {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Queue {
        kind: kind.to_owned(),
        handle: handle.to_owned(),
        options: options.iter().map(owned).collect(),
    }
}

/// Former states of a device.
fn initials() -> Vec<Link> {
    let up = Link {
        up: true,
        ..Link::default()
    };
    vec![
        up.clone(),
        Link {
            root: Some(queue("pfifo", "8001:", &[("limit", "77")])),
            ..up.clone()
        },
        Link {
            hook: Some("clsact".to_owned()),
            ..up.clone()
        },
        Link {
            hook: Some("ingress".to_owned()),
            ..up
        },
    ]
}

fn applied(model: &mut Model, folder: &Folder, settings: &Settings) -> Result<(), Error> {
    let store = folder.open();
    let prepared = prepare(model, &store, &eth0(), settings, false, false)?;
    let announced: Vec<_> = prepared.commands();
    assert!(announced.len() < 30, "{announced:?}");
    apply(model, &store, &prepared)
}

fn cleared(model: &mut Model, folder: &Folder) -> Result<bool, Error> {
    clear(model, &folder.open(), &eth0())
}

/// After any fault, `clear` in a new process restores the initial state.
fn recovers(model: &mut Model, folder: &Folder, initial: &BTreeMap<String, Link>, why: &str) {
    model.revive();
    cleared(model, folder).unwrap_or_else(|error| panic!("{why}: {error}"));
    assert_eq!(&model.links, initial, "{why}");
    nothing_of_levels(model, why);
    assert!(folder.is_empty(), "{why}");
    assert!(!cleared(model, folder).unwrap(), "{why}");
}

fn nothing_of_levels(model: &Model, why: &str) {
    assert!(model.tables.is_empty(), "{why}");
    assert_ne!(model.accounting, Some(true), "{why}");
}

#[test]
fn applied_and_cleared() {
    let folder = Folder::new("applied");
    for initial in initials() {
        for settings in all_settings() {
            let mut model = Model::with("eth0", initial.clone());
            let before = model.links.clone();
            applied(&mut model, &folder, &settings).unwrap();
            assert_ne!(model.links, before);
            let filters = &model.links["eth0"].filters;
            assert_eq!(filters.len(), usize::from(settings.ingress.is_some()));
            recovers(&mut model, &folder, &before, "");
        }
    }
}

/// A fault at every command of a first application.
#[test]
fn every_fault_of_a_first_application() {
    let folder = Folder::new("first");
    let all = all_settings();
    for initial in initials() {
        for settings in [0, 6, 8, 10, 12].map(|number| &all[number]) {
            for fault in FAULTS {
                for at in 0.. {
                    let mut model = Model::with("eth0", initial.clone());
                    let before = model.links.clone();
                    model.faults = vec![(at, fault)];
                    let result = applied(&mut model, &folder, settings);
                    let why = format!("{fault:?} at {at}: {result:?}");
                    let reached = model.calls > at;
                    let died = matches!(fault, Fault::DiesBefore | Fault::DiesAfter);
                    if result.is_err() && !died {
                        assert_eq!(model.links, before, "{why}");
                        nothing_of_levels(&model, &why);
                        assert!(folder.is_empty(), "{why}");
                    }
                    // An interruption at the very last command comes too late.
                    assert!(
                        result.is_err() || !reached || fault == Fault::Interrupted,
                        "{why}"
                    );
                    recovers(&mut model, &folder, &before, &why);
                    if !reached {
                        break;
                    }
                }
            }
        }
    }
}

/// A fault at every command of a second application: the result of the first one is restored, or
/// the state before both.
#[test]
fn every_fault_of_a_second_application() {
    let folder = Folder::new("second");
    let all = all_settings();
    for (position, first) in all.iter().enumerate() {
        for step in [0, 1, 3, 9] {
            let second = &all[(position + step) % all.len()];
            for fault in FAULTS {
                for at in 0.. {
                    let mut model = Model::with("eth0", initials()[1].clone());
                    let before = model.links.clone();
                    applied(&mut model, &folder, first).unwrap();
                    model.revive();
                    model.faults = vec![(at, fault)];
                    let result = applied(&mut model, &folder, second);
                    let why = format!("{first:?} {second:?} {fault:?} at {at}: {result:?}");
                    let reached = model.calls > at;
                    // Without a journal none of our changes is there.
                    assert!(!folder.is_empty() || model.links == before, "{why}");
                    recovers(&mut model, &folder, &before, &why);
                    if !reached {
                        break;
                    }
                }
            }
        }
    }
}

/// The second application has the same result as it would have had alone.
#[test]
fn a_second_application_is_as_good_as_a_first() {
    let folder = Folder::new("as-good");
    let alone = |settings: &Settings| {
        let mut model = Model::with("eth0", initials()[0].clone());
        applied(&mut model, &folder, settings).unwrap();
        let left = (without_handles(&model.links), model.tables.clone());
        cleared(&mut model, &folder).unwrap();
        left
    };
    for first in all_settings() {
        for second in all_settings() {
            let mut model = Model::with("eth0", initials()[0].clone());
            applied(&mut model, &folder, &first).unwrap();
            applied(&mut model, &folder, &second).unwrap();
            let left = (without_handles(&model.links), model.tables.clone());
            assert_eq!(model.accounting == Some(true), !model.tables.is_empty());
            cleared(&mut model, &folder).unwrap();
            assert_eq!(left, alone(&second));
        }
    }
}

/// The second of two handles is as good as the first.
fn without_handles(links: &BTreeMap<String, Link>) -> BTreeMap<String, Link> {
    let mut links = links.clone();
    for link in links.values_mut() {
        for queue in link.root.iter_mut().chain(link.leaves.values_mut()) {
            queue.handle.clear();
        }
    }
    links
}

/// What a device sends stays shaped all the while: no packet passes the line's queue.
#[test]
fn the_other_direction_comes_and_goes_alone() {
    let folder = Folder::new("alone");
    for (choice, again) in [
        ("fq_codel", "fq_codel"),
        ("cake", "cake,rtt=30ms"),
        ("mencius", "mencius"),
    ] {
        let both = settings(9, Some(45), None, choice);
        let sent = settings(9, None, None, again);
        for (first, second) in [(&both, &sent), (&sent, &both)] {
            let mut model = Model::with("eth0", initials()[0].clone());
            applied(&mut model, &folder, first).unwrap();
            let store = folder.open();
            let prepared = prepare(&mut model, &store, &eth0(), second, false, false).unwrap();
            let commands: Vec<String> = (prepared.commands().iter())
                .map(ToString::to_string)
                .collect();
            let takes_down = |line: &String| line.contains("del dev eth0 root");
            assert!(!commands.iter().any(takes_down), "{commands:?}");
            let ours =
                |line: &&String| line.contains("dev eth0 root") || line.contains("dev eth0 parent");
            assert_eq!(
                commands.iter().filter(ours).count(),
                usize::from(choice != again),
                "{commands:?}"
            );
            apply(&mut model, &store, &prepared).unwrap();
            assert_eq!(
                model.links.contains_key("ifb-eth0"),
                second.ingress.is_some()
            );
            drop(store);
            recovers(
                &mut model,
                &folder,
                &Model::with("eth0", initials()[0].clone()).links,
                choice,
            );
        }
    }
}

#[test]
fn a_failed_change_in_place_leaves_the_former_one() {
    let folder = Folder::new("in-place");
    let all = all_settings();
    for (first, second) in [(1, 2), (2, 1), (0, 1), (8, 9), (17, 18)] {
        let (first, second) = (&all[first], &all[second]);
        for at in 0.. {
            let mut model = Model::with("eth0", initials()[0].clone());
            applied(&mut model, &folder, first).unwrap();
            let between = (model.links.clone(), model.tables.clone());
            model.revive();
            model.faults = vec![(at, Fault::Fails)];
            let result = applied(&mut model, &folder, second);
            let reached = model.calls > at;
            if reached {
                let now = (model.links.clone(), model.tables.clone());
                assert_eq!(now, between, "at {at}: {result:?}");
            }
            model.revive();
            cleared(&mut model, &folder).unwrap();
            if !reached {
                break;
            }
        }
    }
}

/// A process that dies while it undoes.
#[test]
fn every_fault_of_clearing() {
    let folder = Folder::new("clearing");
    for (fault, settings) in FAULTS
        .iter()
        .flat_map(|fault| [0, 10].map(|it| (*fault, it)))
    {
        for at in 0.. {
            let mut model = Model::with("eth0", initials()[1].clone());
            let before = model.links.clone();
            applied(&mut model, &folder, &all_settings()[settings]).unwrap();
            model.revive();
            model.faults = vec![(at, fault)];
            _ = cleared(&mut model, &folder);
            let reached = model.calls > at;
            recovers(&mut model, &folder, &before, &format!("{fault:?} at {at}"));
            if !reached {
                break;
            }
        }
    }
}

#[test]
fn a_device_that_vanished_takes_nothing_with_it() {
    let folder = Folder::new("vanished");
    let mut model = Model::with("eth0", initials()[0].clone());
    applied(&mut model, &folder, &all_settings()[0]).unwrap();
    model.links.remove("eth0");
    assert!(cleared(&mut model, &folder).unwrap());
    assert_eq!(model.links, BTreeMap::new());
    assert!(folder.is_empty());
}

/// A device that went away and came back has the kernel's queue, or another program's: that one is
/// restored, and not that of the device that is gone.
#[test]
fn a_device_that_came_back_is_a_new_one() {
    let (folder, other) = (Folder::new("back"), Folder::new("back-fresh"));
    let all = all_settings();
    let pairs = |first| {
        initials()
            .into_iter()
            .map(move |second: Link| (Link::clone(first), second))
    };
    for (first, second) in initials().iter().flat_map(pairs) {
        for (former, again) in all.iter().zip(all.iter().cycle().skip(5)) {
            let why = format!(
                "{first:?} {second:?} {former} {again}",
                former = former.discipline,
                again = again.discipline
            );
            let mut model = Model::with("eth0", first.clone());
            applied(&mut model, &folder, former).unwrap();
            model.links.insert("eth0".to_owned(), second.clone());
            model.index += 1;
            let mut cleared = model.clone();
            let mut fresh = Model::with("eth0", second.clone());
            let before = fresh.links.clone();
            applied(&mut model, &folder, again).unwrap();
            applied(&mut fresh, &other, again).unwrap();
            assert_eq!(
                (&model.links, &model.tables),
                (&fresh.links, &fresh.tables),
                "{why}"
            );
            recovers(&mut model, &folder, &before, &why);
            recovers(&mut fresh, &other, &before, &why);

            applied(&mut Model::with("eth0", first.clone()), &folder, former).unwrap();
            recovers(&mut cleared, &folder, &before, &why);
        }
    }
}

/// A fault at every command of an application to a device that came back.
#[test]
fn every_fault_at_a_device_that_came_back() {
    let folder = Folder::new("back-faults");
    let all = all_settings();
    for settings in [0, 3, 8].map(|number| &all[number]) {
        for fault in FAULTS {
            for at in 0.. {
                let mut model = Model::with("eth0", initials()[1].clone());
                applied(&mut model, &folder, settings).unwrap();
                model.links.insert("eth0".to_owned(), initials()[3].clone());
                model.index += 1;
                let before = Model::with("eth0", initials()[3].clone()).links;
                model.revive();
                model.faults = vec![(at, fault)];
                let result = applied(&mut model, &folder, settings);
                let reached = model.calls > at;
                let why = format!("{fault:?} at {at}: {result:?}");
                // Either nothing was begun, or the former journal has served its purpose.
                if matches!(&result, Err(error) if error.message.contains("as it was")) {
                    assert_eq!(model.links, before, "{why}");
                    assert!(folder.is_empty(), "{why}");
                }
                recovers(&mut model, &folder, &before, &why);
                if !reached {
                    break;
                }
            }
        }
    }
}

#[test]
fn what_others_put_there_meanwhile_stays() {
    let folder = Folder::new("others");
    let mut model = Model::with("eth0", initials()[0].clone());
    applied(&mut model, &folder, &all_settings()[0]).unwrap();
    let link = model.links.get_mut("eth0").unwrap();
    let theirs = queue("pfifo", "1:", &[("limit", "5")]);
    link.root = Some(theirs.clone());
    link.class = None;
    link.leaves.clear();
    link.filters.push("elsewhere".to_owned());
    assert!(cleared(&mut model, &folder).unwrap());
    let link = &model.links["eth0"];
    assert_eq!(link.root, Some(theirs));
    assert_eq!(link.filters, ["elsewhere"]);
    assert!(!model.links.contains_key("ifb-eth0"));
}

#[test]
fn what_cannot_be_put_back_is_not_taken_away() {
    let folder = Folder::new("refused");
    let tbf = Link {
        root: Some(queue("tbf", "1:", &[("rate", "5")])),
        ..initials()[0].clone()
    };
    let filtered = Link {
        hook: Some("clsact".to_owned()),
        filters: vec!["elsewhere".to_owned()],
        ..initials()[0].clone()
    };
    for (link, says) in [
        (tbf, "its root is tbf 1:"),
        (filtered, "filters on what it receives"),
    ] {
        let mut model = Model::with("eth0", link);
        let before = model.links.clone();
        let error = applied(&mut model, &folder, &all_settings()[0]).unwrap_err();
        assert!(error.message.contains(says), "{error}");
        assert_eq!(model.links, before);
        let store = folder.open();
        let all = &all_settings()[0];
        let prepared = prepare(&mut model, &store, &eth0(), all, true, false).unwrap();
        assert_eq!(prepared.notes().len(), 1);
        apply(&mut model, &store, &prepared).unwrap();
        assert_eq!(model.links["eth0"].filters, ["ifb-eth0"]);
        drop(store);
        assert!(cleared(&mut model, &folder).unwrap());
        assert_eq!(model.links["eth0"], initials()[0]);
    }
}

#[test]
fn an_ifb_device_of_somebody_elses_is_in_the_way() {
    let folder = Folder::new("ifb");
    let mut model = Model::with("eth0", initials()[0].clone());
    model.links.insert("ifb-eth0".to_owned(), Link::default());
    let error = applied(&mut model, &folder, &all_settings()[0]).unwrap_err();
    assert!(error.message.contains("ifb-eth0 already"), "{error}");
}

#[test]
fn the_bytes_of_connections_count_until_the_last_device_is_cleared() {
    let folder = Folder::new("accounting");
    let wanted = &all_settings()[8];
    let on = |model: &mut Model, name: &str| {
        let (store, device) = (folder.open(), name.parse().unwrap());
        let prepared = prepare(model, &store, &device, wanted, false, false).unwrap();
        apply(model, &store, &prepared).unwrap();
    };
    let off = |model: &mut Model, name: &str| {
        assert!(clear(model, &folder.open(), &name.parse().unwrap()).unwrap());
    };
    let devices = || {
        let mut model = Model::with("eth0", initials()[0].clone());
        model.links.insert("eth1".to_owned(), initials()[0].clone());
        model
    };
    for (first, last) in [("eth0", "eth1"), ("eth1", "eth0")] {
        let mut model = devices();
        on(&mut model, "eth0");
        on(&mut model, "eth1");
        off(&mut model, first);
        assert_eq!(model.accounting, Some(true));
        // The state before both is known from the one that stays.
        on(&mut model, first);
        off(&mut model, last);
        off(&mut model, first);
        assert_eq!(model.accounting, Some(false));
    }
    let mut model = devices();
    model.accounting = Some(true);
    on(&mut model, "eth0");
    off(&mut model, "eth0");
    assert_eq!(model.accounting, Some(true), "somebody else's choice");
}

#[test]
fn another_threshold_is_one_transaction() {
    let folder = Folder::new("threshold");
    let mut model = Model::with("eth0", initials()[0].clone());
    applied(&mut model, &folder, &levels(None, "codel", 5)).unwrap();
    let links = model.links.clone();
    let store = folder.open();
    let other = levels(None, "codel", 7);
    let prepared = prepare(&mut model, &store, &eth0(), &other, false, false).unwrap();
    let commands: Vec<String> = prepared
        .commands()
        .iter()
        .map(ToString::to_string)
        .collect();
    let swap = "nft '\nflush map inet analects-2lps-eth0 ages\nadd element inet analects-2lps-eth0 ages \
        { 0-7 : a1:1, 8-18446744073709551615 : a1:2 }\n'";
    assert_eq!(commands, [swap]);
    apply(&mut model, &store, &prepared).unwrap();
    assert_eq!(model.links, links);
    assert!(model.tables["analects-2lps-eth0"].starts_with("{ 0-7 : a1:1"));
}

#[test]
fn what_two_levels_cannot_be_given_to() {
    let folder = Folder::new("no-levels");
    let mut model = Model::with("eth0", initials()[0].clone());
    let ingress = Settings {
        ingress: Some(5_000_000.try_into().unwrap()),
        ..all_settings()[8].clone()
    };
    let error = applied(&mut model, &folder, &ingress).unwrap_err();
    assert!(error.message.contains("cannot have two levels"), "{error}");
    assert_eq!(model.tables.len(), 0);
}

#[test]
fn only_one_at_a_time() {
    let folder = Folder::new("lock");
    let held = folder.open();
    let tried = |patience, model: &Model| Store::open(&folder.0, patience, model);
    let error = tried(Duration::ZERO, &Model::default()).unwrap_err();
    assert!(error.message.contains("another analects"), "{error}");

    // Ctrl-C ends the wait.
    let mut model = Model::with("eth0", initials()[0].clone());
    model.faults = vec![(0, Fault::Interrupted)];
    _ = model.run(&Command::ip("link show dev eth0"));
    assert!(tried(Duration::from_secs(3600), &model).is_err());

    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(held);
    });
    tried(Duration::from_secs(60), &Model::default()).unwrap();
    other.join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Applications and clearings in any order, most of them failing somewhere.
    #[test]
    fn any_history_can_be_undone(
        initial in 0..4usize,
        steps in prop::collection::vec((0..21usize, 0..40usize, 0..5usize), 1..6),
    ) {
        let folder = Folder::new("history");
        let mut model = Model::with("eth0", initials()[initial].clone());
        let before = model.links.clone();
        for (choice, at, fault) in &steps {
            model.revive();
            model.faults = vec![(*at, FAULTS[*fault])];
            _ = match all_settings().get(*choice) {
                Some(settings) => applied(&mut model, &folder, settings),
                None => cleared(&mut model, &folder).map(|_| ()),
            };
        }
        recovers(&mut model, &folder, &before, &format!("{steps:?}"));
    }
}
