//! What other programs take away from a set-up is put back.

use crate::model::folder::Folder;
use crate::model::{FAULTS, Fault, Link, Model, Queue};
use crate::undo::{all_settings, eth0};
use netcfg::{Error, Found, Runner, Settings, Store, Upkeep, apply, clear, prepare, status};

/// What another program takes away; whether there was anything of the kind.
pub type Other = fn(&mut Model) -> bool;

fn eth(model: &mut Model) -> &mut Link {
    model.links.get_mut("eth0").unwrap()
}

pub const OTHERS: [(&str, Other); 8] = [
    ("tc qdisc del root", |model| {
        let link = eth(model);
        (link.root, link.class) = (None, None);
        link.leaves.clear();
        true
    }),
    ("tc qdisc replace root fq_codel", |model| {
        let link = eth(model);
        let theirs = [
            ("limit", 10240),
            ("flows", 1024),
            ("quantum", 1514),
            ("target", 4999),
        ];
        let others = [
            ("interval", 99999),
            ("memory_limit", 1 << 25),
            ("drop_batch", 64),
        ];
        let options = theirs.iter().chain(&others);
        link.root = Some(Queue {
            kind: "fq_codel".to_owned(),
            handle: "8001:".to_owned(),
            options: options
                .map(|(key, value)| ((*key).to_owned(), value.to_string()))
                .collect(),
        });
        link.class = None;
        link.leaves.clear();
        true
    }),
    ("tc qdisc replace of a leaf", |model| {
        let mut leaves = eth(model).leaves.values_mut();
        let last = leaves
            .next_back()
            .map(|leaf| leaf.handle = "8002:".to_owned());
        last.is_some()
    }),
    ("tc class change", |model| {
        let class = eth(model).class.as_mut();
        class.map(|words| words[1] = "1mbit".to_owned()).is_some()
    }),
    ("tc filter del", |model| {
        !std::mem::take(&mut eth(model).filters).is_empty()
    }),
    ("tc qdisc del ingress", |model| {
        let link = eth(model);
        link.filters.clear();
        link.hook.take().is_some()
    }),
    ("ip link del of the ifb", |model| {
        // The kernel leaves the filter, without a device.
        eth(model).filters.fill("*".to_owned());
        model.links.remove("ifb-eth0").is_some()
    }),
    ("nft flush ruleset", |model| {
        !std::mem::take(&mut model.tables).is_empty()
    }),
];

pub fn applied(folder: &Folder, settings: &Settings) -> Model {
    let up = Link {
        up: true,
        ..Link::default()
    };
    let mut model = Model::with("eth0", up);
    let store = folder.open();
    let prepared = prepare(&mut model, &store, &eth0(), settings, false, false).unwrap();
    apply(&mut model, &store, &prepared).unwrap();
    model
}

fn kept(model: &mut Model, folder: &Folder) -> Result<Found, Error> {
    looked(&mut Upkeep::of(&eth0()), model, folder)
}

fn looked(upkeep: &mut Upkeep, model: &mut Model, folder: &Folder) -> Result<Found, Error> {
    let open = |_: &dyn Runner| Ok(folder.open());
    upkeep.look(model, &Store::look(&folder.0), &open)
}

#[test]
fn whatever_is_taken_away_is_noticed_named_and_put_back() {
    let folder = Folder::new("keep");
    for settings in all_settings() {
        for (what, other) in OTHERS {
            let why = format!("{what} {settings:?}");
            let mut model = applied(&folder, &settings);
            assert_eq!(kept(&mut model, &folder).unwrap(), Found::Whole, "{why}");
            for times in 1..3 {
                if !other(&mut model) {
                    break;
                }
                let found = kept(&mut model, &folder).unwrap();
                assert!(
                    matches!(&found, Found::Restored(what) if !what.is_empty()),
                    "{why}"
                );
                assert_eq!(kept(&mut model, &folder).unwrap(), Found::Whole, "{why}");
                let store = Store::look(&folder.0);
                let now = status(&mut model, &store, &eth0()).unwrap().unwrap();
                let settings = Some(settings.clone());
                assert_eq!((now.restored, now.settings), (times, settings), "{why}");
            }
            assert!(clear(&mut model, &folder.open(), &eth0()).unwrap());
            assert!(!model.links.contains_key("ifb-eth0"), "{why}");
            assert_eq!(kept(&mut model, &folder).unwrap(), Found::Nothing);
        }
    }
}

#[test]
fn a_device_that_goes_and_comes_back_gets_it_again() {
    let folder = Folder::new("keep-device");
    let mut model = applied(&folder, &all_settings()[0]);
    let link = model.links.remove("eth0").unwrap();
    assert_eq!(kept(&mut model, &folder).unwrap(), Found::Gone);
    model.index += 1;
    let new = Link {
        up: link.up,
        ..Link::default()
    };
    model.links.insert("eth0".to_owned(), new);
    assert!(matches!(
        kept(&mut model, &folder).unwrap(),
        Found::Restored(_)
    ));
    assert_eq!(kept(&mut model, &folder).unwrap(), Found::Whole);
}

/// Another program's classes could not be restored: they stay, and it is an error.
#[test]
fn what_cannot_be_put_back_is_an_error() {
    let folder = Folder::new("keep-refused");
    let mut model = applied(&folder, &all_settings()[0]);
    let theirs = Queue {
        kind: "htb".to_owned(),
        handle: "1:".to_owned(),
        options: Default::default(),
    };
    eth(&mut model).root = Some(theirs.clone());
    eth(&mut model).class = None;
    eth(&mut model).leaves.clear();
    for _ in 0..2 {
        let error = kept(&mut model, &folder).unwrap_err();
        assert!(error.message.contains("its root is htb 1:"), "{error}");
        assert_eq!(eth(&mut model).root, Some(theirs.clone()));
    }
}

/// A fault at every command: the next look puts all back, or of a process that died, clear restores the state
/// before.
#[test]
fn every_fault_of_putting_back() {
    let folder = Folder::new("keep-faults");
    for settings in [0, 5, 10].map(|number| all_settings()[number].clone()) {
        for fault in FAULTS {
            for at in 0.. {
                let mut model = applied(&folder, &settings);
                OTHERS[0].1(&mut model);
                model.revive();
                model.faults = vec![(at, fault)];
                let mut upkeep = Upkeep::of(&eth0());
                _ = looked(&mut upkeep, &mut model, &folder);
                let reached = model.calls > at;
                model.revive();
                if !matches!(fault, Fault::DiesBefore | Fault::DiesAfter) {
                    let why = format!("{fault:?} at {at}");
                    let next = looked(&mut upkeep, &mut model, &folder);
                    assert!(next.is_ok(), "{why}: {next:?}");
                    let now = kept(&mut model, &folder).unwrap();
                    assert_eq!(now, Found::Whole, "{why}");
                }
                clear(&mut model, &folder.open(), &eth0()).unwrap();
                assert_eq!(model.links.len(), 1, "{fault:?} at {at}");
                assert_eq!(eth(&mut model).root, None);
                if !reached {
                    break;
                }
            }
        }
    }
}
