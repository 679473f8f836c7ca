//! The description of a scenario, from the declarations of its keys: an example that has all of them, and the guide's
//! tables.

use crate::describe::markdown::{cell, values};
use crate::describe::wrapped;
use scenario::keys::{self, Declared, OfEntry, OfWay, ROOT, Root};
use std::fmt::Write as _;

/// What the example says in place of defaults.
const SAID: [(&str, &[(&str, &str)]); 4] = [
    (
        "",
        &[
            ("name", "example"),
            ("summary", "what a scenario can say"),
            ("duration", "20s"),
            ("disciplines", "[\"fq_codel\", \"confucius\"]"),
        ],
    ),
    (
        "link",
        &[
            ("name", "link"),
            ("rate", "20mbit"),
            ("rtt", "40ms"),
            ("buffer", "1.5bdp"),
        ],
    ),
    ("link.up", &[("rate", "5mbit"), ("discipline", "pfifo")]),
    (
        "traffic",
        &[
            ("name", "call"),
            ("kind", "call"),
            ("host", "laptop"),
            ("preset", "webrtc"),
            ("control", "gcc"),
            ("stall_threshold", "190ms"),
            ("session", "{ nack = true }"),
        ],
    ),
];

/// More entries, of other kinds.
const TRAFFIC: &str = include_str!("traffic.toml");

/// Room before a remark, and the longest line.
const REMARKS: usize = 28;
const WIDTH: usize = 98;

/// A scenario with every key; a test runs it.
pub fn example() -> String {
    let mut text = "# A scenario with everything that it can say. Only [link], disciplines and [[traffic]] are needed;\n\
                    # what stands here are the defaults where there are any.\n\n"
        .to_owned();
    let tables = ["link", "up", "traffic"];
    let keys = |text: &mut String, table: &str, keys: &[Declared]| {
        let keys = keys.iter().filter(|key| !tables.contains(&key.spec.name));
        keys.for_each(|key| line(text, table, key));
    };
    keys(&mut text, "", Root::ALL);
    head(&mut text, "[link]", ROOT.link.help());
    keys(&mut text, "link", &keys::link());
    let of_way = format!(
        "{} It has {}, as above.",
        keys::LINK.up.help(),
        names(OfWay::ALL, "")
    );
    head(&mut text, "[link.up]", &of_way);
    let said = OfWay::ALL
        .iter()
        .filter(|key| said("link.up", key).is_some());
    said.for_each(|key| line(&mut text, "link.up", key));
    head(&mut text, "[[traffic]]", ROOT.traffic.help());
    keys(&mut text, "traffic", OfEntry::ALL);
    text + "\n" + TRAFFIC
}

/// The tables of all keys, as Markdown.
pub fn tables() -> String {
    let mut text = String::new();
    for (caption, keys) in [
        ("Top level", Root::ALL.to_vec()),
        ("`[link]`", keys::link()),
        ("Each `[[traffic]]` entry", OfEntry::ALL.to_vec()),
    ] {
        _ = writeln!(
            text,
            "{caption}:\n\n| key | type | default | meaning |\n| --- | --- | --- | --- |"
        );
        for Declared { spec, unsaid, .. } in &keys {
            let default = match (unsaid, spec.default) {
                (Some(unsaid), _) => (*unsaid).to_owned(),
                (None, "") => "none".to_owned(),
                (None, default) => format!("`{default}`"),
            };
            let (name, values, meaning) = (spec.name, cell(&values(spec)), cell(spec.help));
            _ = writeln!(text, "| `{name}` | {values} | {default} | {meaning} |");
        }
        text += "\n";
    }
    let of_way = names(OfWay::ALL, "`");
    text + &format!("`[link.up]` has {of_way}, with the meanings above.\n")
}

/// The heading of a table.
fn head(text: &mut String, heading: &str, meaning: &str) {
    _ = writeln!(text, "\n{}\n{heading}", wrapped(meaning, "# ", WIDTH));
}

/// A key with its value, and what it means; as a remark, where it has none of its own.
fn line(text: &mut String, table: &str, key: &Declared) {
    let spec = key.spec;
    let stands = key.beside.is_none() && key.unsaid.is_none();
    let (mark, value) = match said(table, key) {
        Some(value) => ("", value),
        None if stands => ("", spec.default),
        None => ("# ", spec.default),
    };
    let line = format!("{mark}{} = {}", spec.name, toml(value));
    let meaning = spec.help.split(". ").next().unwrap_or_default();
    let meaning = meaning.trim_end_matches('.');
    let whole = format!("{line:REMARKS$}  # {meaning}");
    _ = if whole.chars().count() <= WIDTH {
        writeln!(text, "{whole}")
    } else {
        writeln!(text, "{}\n{line}", wrapped(meaning, "# ", WIDTH))
    };
}

/// What the example says of a key.
fn said(table: &str, key: &Declared) -> Option<&'static str> {
    let (_, keys) = SAID.iter().find(|(name, _)| *name == table)?;
    let found = keys.iter().find(|(name, _)| *name == key.spec.name);
    found.map(|(_, value)| *value)
}

/// A value as TOML has it.
fn toml(value: &str) -> String {
    match value {
        "yes" => "true".to_owned(),
        "no" => "false".to_owned(),
        number if number.parse::<f64>().is_ok() => number.to_owned(),
        inner if inner.starts_with(['[', '{']) => inner.to_owned(),
        text => format!("{text:?}"),
    }
}

/// The names of keys, between `quotes`.
fn names(keys: &[Declared], quotes: &str) -> String {
    let names = keys
        .iter()
        .map(|key| format!("{quotes}{}{quotes}", key.spec.name));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_says_what_is_declared() {
        let tables = [
            Root::ALL.to_vec(),
            keys::link(),
            OfWay::ALL.to_vec(),
            OfEntry::ALL.to_vec(),
        ];
        for ((table, said), keys) in SAID.iter().zip(tables) {
            for (name, _) in *said {
                assert!(
                    keys.iter().any(|key| key.spec.name == *name),
                    "{table}.{name}"
                );
            }
        }
    }
}
