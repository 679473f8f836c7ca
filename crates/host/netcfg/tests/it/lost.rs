//! A set-up whose journal is lost is known by its handles.

use crate::model::folder::Folder;
use crate::model::{Link, Model, Queue};
use crate::undo::{all_settings, eth0};
use netcfg::{Store, apply, clear, lost, prepare, status, undoing};
use std::collections::BTreeMap;

/// A model in which each of the settings was applied, and whose journals are lost.
fn forgotten(folder: &Folder) -> Vec<(String, Model)> {
    let all = all_settings().into_iter();
    all.map(|settings| {
        let mut model = Model::with("eth0", up());
        let store = folder.open();
        let prepared = prepare(&mut model, &store, &eth0(), &settings, false, false).unwrap();
        apply(&mut model, &store, &prepared).unwrap();
        std::fs::remove_dir_all(&folder.0).unwrap();
        (format!("{settings:?}"), model)
    })
    .collect()
}

fn up() -> Link {
    Link {
        up: true,
        ..Link::default()
    }
}

#[test]
fn it_is_shown_and_taken_away() {
    let folder = Folder::new("lost-cleared");
    for (why, mut model) in forgotten(&folder) {
        let store = Store::look(&folder.0);
        assert_eq!(lost(&mut model, &store).unwrap(), [eth0()], "{why}");
        let found = status(&mut model, &store, &eth0()).unwrap();
        assert_eq!(found.unwrap().settings, None, "{why}");
        assert!(undoing(&mut model, &store, &eth0()).unwrap().is_some());
        assert!(clear(&mut model, &folder.open(), &eth0()).unwrap());
        let links = BTreeMap::from([("eth0".to_owned(), up())]);
        assert_eq!((&model.links, model.tables.len()), (&links, 0), "{why}");
        assert!(!clear(&mut model, &folder.open(), &eth0()).unwrap());
    }
}

#[test]
fn another_takes_its_place() {
    let folder = Folder::new("lost-applied");
    let all = all_settings();
    for (number, (why, mut model)) in forgotten(&folder).into_iter().enumerate() {
        let settings = &all[(number + 5) % all.len()];
        let store = folder.open();
        let prepared = prepare(&mut model, &store, &eth0(), settings, false, false).unwrap();
        assert!(prepared.notes()[0].contains("by its handles"), "{why}");
        apply(&mut model, &store, &prepared).unwrap();
        let now = status(&mut model, &store, &eth0()).unwrap().unwrap();
        assert_eq!(now.differences, Vec::<String>::new(), "{why}");
        assert!(clear(&mut model, &store, &eth0()).unwrap());
        assert_eq!(model.links["eth0"], up(), "{why}");
        drop(store);
        _ = std::fs::remove_dir_all(&folder.0);
    }
}

/// An htb of another program with our handle has other things in it; an ifb has another name.
#[test]
fn what_others_made_is_not_ours() {
    let folder = Folder::new("lost-others");
    let queue = |kind: &str, handle: &str| Queue {
        kind: kind.to_owned(),
        handle: handle.to_owned(),
        options: BTreeMap::new(),
    };
    let class = Some(vec!["rate".to_owned(), "9mbit".to_owned()]);
    let theirs = |root: Queue, leaf: Option<Queue>| Link {
        root: Some(root),
        class: class.clone(),
        leaves: leaf
            .map(|leaf| ("a1:1".to_owned(), leaf))
            .into_iter()
            .collect(),
        ..up()
    };
    for link in [
        theirs(queue("htb", "1:"), None),
        theirs(queue("htb", "a1:"), None),
        theirs(queue("htb", "a1:"), Some(queue("fq_codel", "10:"))),
        theirs(queue("cake", "8001:"), None),
        theirs(queue("prio", "a1:"), Some(queue("pfifo", "c1:"))),
    ] {
        let mut model = Model::with("eth0", link);
        model.links.insert("ifb0".to_owned(), up());
        let before = model.links.clone();
        let store = Store::look(&folder.0);
        assert_eq!(lost(&mut model, &store).unwrap(), []);
        assert!(status(&mut model, &store, &eth0()).unwrap().is_none());
        assert!(!clear(&mut model, &folder.open(), &eth0()).unwrap());
        assert_eq!(model.links, before);
    }
}

/// Its name is ours alone.
#[test]
fn a_table_alone_is_replaced_by_one_with_a_threshold() {
    let folder = Folder::new("lost-table");
    let mut model = Model::with("eth0", up());
    let name = "analects-2lps-eth0".to_owned();
    model.tables.insert(name.clone(), String::new());
    let (store, levels) = (folder.open(), &all_settings()[8]);
    let prepared = prepare(&mut model, &store, &eth0(), levels, false, false).unwrap();
    apply(&mut model, &store, &prepared).unwrap();
    assert!(model.tables[&name].starts_with("{ 0-6331208 : "));
}
