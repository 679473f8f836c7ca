//! A document with every default written out.

use crate::document::{Document, Item, Node, Origin, Table, name_of};
use crate::model::{Scenario, Stack, Traffic};
use workload::Rows;

impl Document {
    /// This document with the defaults that `scenario` was resolved with, so that a version with
    /// other defaults runs the same. Values that depend on the discipline under test, such as a
    /// buffer that was not given, stay open.
    pub fn completed(&self, scenario: &Scenario) -> Document {
        let mut document = self.clone();
        let root = &mut document.root;
        fill(root, "name", &scenario.name);
        fill(root, "summary", &scenario.summary);
        fill(root, "duration", &scenario.duration.to_string());
        fill(root, "warmup", &scenario.warmup.to_string());
        fill(
            root,
            "stall_threshold",
            &scenario.stall_threshold.to_string(),
        );
        fill(root, "stack", Stack::name(scenario.stack));
        fill(root, "ecn", &scenario.ecn.to_string());
        fill(root, "pacing", &scenario.pacing.to_string());
        let small_queues = scenario.small_queues.to_string();
        fill(root, "small_queues", &small_queues);
        fill(root, "ack_every", &scenario.ack_every.to_string());
        fill(root, "noise", &scenario.noise.to_string());
        for (table, link) in tables(root, "link").into_iter().zip(&scenario.links) {
            fill(table, "name", &link.name);
            played(table);
            tables(table, "up").into_iter().for_each(played);
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
    fill(table, "start", &entry.start.to_string());
    fill(table, "count", &entry.count.to_string());
    fill(table, "stagger", &entry.stagger.to_string());
    fill(table, "jitter", &entry.jitter.to_string());
    // With computers of their own the first instance's is not that of the entry; the entry's default is
    // its name, in any version.
    if !table.iter().any(|(key, _)| key == "own_hosts") {
        fill(table, "host", &entry.host);
        fill(table, "own_hosts", "false");
    }
    fill(table, "dscp", &entry.dscp.to_string());
    if let Some(preset) = entry.preset {
        fill(table, "preset", preset);
    }
    if let Some(control) = &entry.control {
        fill(table, "control", &control.to_string());
    }
    fill(table, "direction", if entry.up { "up" } else { "down" });
    if entry.kind.entry.rows == Rows::Call {
        let threshold = entry.stall_threshold.to_string();
        fill(table, "stall_threshold", &threshold);
    }
    if entry.kind.has_session() {
        inside(table, "session", &entry.session.values());
    }
    for (key, value) in entry.kind.workload.values() {
        fill(table, key, &value);
    }
}

/// How a trace is played, if there is one.
fn played(table: &mut Table) {
    if table.iter().any(|(key, _)| key == "trace") {
        fill(table, "trace_by", "time");
        fill(table, "trace_scale", "1");
        fill(table, "trace_late", "0s");
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
