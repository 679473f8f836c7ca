//! Descriptions as Markdown: `docs/disciplines.md`, `docs/controls.md`, `docs/traffic.md` and
//! `docs/metrics.md` are its output; a test compares.

use crate::describe::described::{DescribedEntry, said};
use std::fmt::Write as _;
use units::choice;
use units::param::Spec;

/// A page about all of `entries`, which `command` prints.
pub fn page(title: &str, command: &str, entries: &[DescribedEntry]) -> String {
    let mut text = format!(
        "# {title}\n\n`{command}` prints this page; to change it, change the declarations in the \
         code.\n\n| name | what it is |\n| --- | --- |\n"
    );
    // Writing to a string does not fail.
    for entry in entries {
        let (name, summary) = (entry.name, cell(entry.summary));
        _ = writeln!(text, "| [`{name}`](#{name}) | {summary} |");
    }
    for entry in entries {
        text += &section(entry);
    }
    text
}

/// A section about one thing.
pub fn section(entry: &DescribedEntry) -> String {
    let mut text = format!("\n## {}\n{}.\n\n", entry.name, capital(entry.summary));
    for paragraph in entry.about.split("\n\n") {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        _ = writeln!(text, "{}\n", words.join(" "));
    }
    _ = writeln!(text, "Source: {}.", entry.source);
    if !entry.children.is_empty() {
        let usage = choice::usage(entry.name, entry.children);
        _ = writeln!(
            text,
            "\nContains others, `{usage}`:\n\n| name | default | meaning |\n| --- | --- | --- |"
        );
        for slot in entry.children {
            let (name, default, help) = (slot.name, slot.default, cell(slot.help));
            _ = writeln!(text, "| `{name}` | `{default}` | {help} |");
        }
    }
    for (heading, specs) in &entry.params {
        if specs.is_empty() {
            _ = writeln!(text, "\n{heading}: none.");
            continue;
        }
        _ = writeln!(
            text,
            "\n{heading}:\n\n| name | default | values | meaning | source of the default |\n\
             | --- | --- | --- | --- | --- |"
        );
        specs.iter().for_each(|spec| row(&mut text, spec));
    }
    if !entry.presets.is_empty() {
        text += "\nPresets; the first is the default:\n\n\
                 | `preset` | what it is | sets | source |\n| --- | --- | --- | --- |\n";
        for preset in entry.presets {
            let (name, summary) = (preset.name, cell(preset.summary));
            let (sets, source) = (said(preset), cell(preset.source));
            _ = writeln!(text, "| `{name}` | {summary} | `{sets}` | {source} |");
        }
    }
    text
}

fn row(text: &mut String, spec: &Spec) {
    let (name, default) = (spec.name, spec.default);
    let (help, source) = (cell(&spec.explained()), cell(spec.source));
    _ = writeln!(
        text,
        "| `{name}` | `{default}` | {} | {help} | {source} |",
        cell(&values(spec))
    );
}

/// The values that a parameter can have.
pub fn values(spec: &Spec) -> String {
    match spec.range {
        Some((min, max)) => format!("{}, {min} to {max}", spec.kind),
        None => spec.kind.to_owned(),
    }
}

/// A text escaped for a cell of a table.
pub fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// A sentence's beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_a_line() {
        assert_eq!(cell(" a |\n  b"), "a \\| b");
        assert_eq!(capital("one queue"), "One queue");
    }
}
