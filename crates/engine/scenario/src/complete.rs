//! A document with every default written out.

use crate::document::{Document, Item, Node, Origin, Table, name_of};
use crate::keys::{Declared, OfEntry, OfWay, Root};
use crate::model::{Scenario, Traffic};
use workload::Rows;

impl Document {
    /// This document with the defaults that `scenario` was resolved with, so that a version with
    /// other defaults runs the same. Values that depend on the discipline under test, such as a
    /// buffer that was not given, stay open.
    pub fn completed(&self, scenario: &Scenario) -> Document {
        let mut document = self.clone();
        let root = &mut document.root;
        let reckoned = [
            ("ack_every", scenario.ack_every.to_string()),
            ("receive_window", scenario.receive_window.to_string()),
            ("noise", scenario.noise.to_string()),
        ];
        said(root, Root::ALL, &reckoned);
        for (table, link) in tables(root, "link").into_iter().zip(&scenario.links) {
            fill(table, "name", &link.name);
            way(table);
            tables(table, "up").into_iter().for_each(way);
            for (key, value) in link.wire.values() {
                fill(table, key, &value);
            }
            if let Some(follow) = &link.follow {
                inside(table, "reflectors", &follow.reflectors.values());
            }
        }
        for table in tables(root, "traffic") {
            let name = name_of(table).unwrap_or_default().to_owned();
            // Several of a kind are told apart by numbers; their common keys stand in the first.
            let called = |name: &str| scenario.traffic.iter().find(|entry| entry.name == name);
            if let Some(entry) = called(&name).or_else(|| called(&format!("{name}-1"))) {
                traffic(table, entry);
            }
        }
        document
    }
}

fn traffic(table: &mut Table, entry: &Traffic) {
    let mut reckoned = Vec::new();
    // With computers of their own the first instance's is not that of the entry; the entry's default is
    // its name, in any version.
    if !table.iter().any(|(key, _)| key == "own_hosts") {
        reckoned.push(("host", entry.host.clone()));
    }
    reckoned.extend(entry.preset.map(|preset| ("preset", preset.to_owned())));
    let control = entry.control.as_ref();
    reckoned.extend(control.map(|control| ("control", control.to_string())));
    if entry.kind.entry.rows == Rows::Call {
        reckoned.push(("stall_threshold", entry.stall_threshold.to_string()));
    }
    said(table, OfEntry::ALL, &reckoned);
    if entry.kind.has_session() {
        inside(table, "session", &entry.session.values());
    }
    for (key, value) in entry.kind.workload.values() {
        fill(table, key, &value);
    }
}

/// What a direction has if it says nothing else.
fn way(table: &mut Table) {
    for key in OfWay::ALL.iter().filter(|key| key.unsaid.is_none()) {
        let has = |other: &str| table.iter().any(|(name, _)| name == other);
        if key.beside.is_none_or(has) {
            fill(table, key.spec.name, key.spec.default);
        }
    }
}

/// Writes those of `keys` that the table lacks: what was `reckoned`, or else the default.
fn said(table: &mut Table, keys: &[Declared], reckoned: &[(&str, String)]) {
    for key in keys {
        let name = key.spec.name;
        let found = reckoned.iter().find(|(key, _)| *key == name);
        let value = found.map(|(_, value)| value.clone());
        if let Some(value) = value.or_else(|| key.default()) {
            fill(table, name, &value);
        }
    }
}

/// Writes those of `values` that the table at `key` lacks.
fn inside(table: &mut Table, key: &str, values: &[(&str, String)]) {
    if !table.iter().any(|(name, _)| name == key) {
        table.push((key.to_owned(), item(Node::Table(Table::new()))));
    }
    for inner in tables(table, key) {
        for (name, value) in values {
            fill(inner, name, value);
        }
    }
}

/// Writes `value` if there is none.
fn fill(table: &mut Table, key: &str, value: &str) {
    if !table.iter().any(|(name, _)| name == key) {
        table.push((key.to_owned(), item(Node::Leaf(value.to_owned()))));
    }
}

fn item(node: Node) -> Item {
    let origin = Origin::Set("the defaults".to_owned());
    Item { node, origin }
}

/// The table or tables at `key`.
fn tables<'a>(table: &'a mut Table, key: &str) -> Vec<&'a mut Table> {
    let found = table.iter_mut().find(|(name, _)| name == key);
    let items = match found.map(|(_, item)| &mut item.node) {
        Some(Node::Table(inner)) => return vec![inner],
        Some(Node::List(items)) => items,
        Some(Node::Leaf(_)) | None => return Vec::new(),
    };
    let inner = |item: &'a mut Item| match &mut item.node {
        Node::Table(table) => Some(table),
        _ => None,
    };
    items.iter_mut().filter_map(inner).collect()
}
