//! `analects list` and `analects describe`.

use crate::cli::Listed;
use crate::refused::Refused;
use crate::run::print;
use sim::Simulator;
use std::fmt::Write as _;
use units::param::Spec;

/// What `describe` shows of anything.
struct Entry {
    kind: &'static str,
    name: &'static str,
    summary: &'static str,
    about: &'static str,
    source: &'static str,
    params: &'static [Spec],
}

fn disciplines() -> Vec<Entry> {
    let registry = Simulator::default().disciplines;
    let entry = |d: &qdisc::Discipline<u32>| Entry {
        kind: "discipline",
        name: d.name,
        summary: d.summary,
        about: d.about,
        source: d.source,
        params: d.params,
    };
    registry.iter().map(entry).collect()
}

fn controls() -> Vec<Entry> {
    let registry = Simulator::default().controls;
    let entry = |c: &cca::ControlEntry| Entry {
        kind: "control",
        name: c.name,
        summary: c.summary,
        about: c.about,
        source: c.source,
        params: c.params,
    };
    registry.iter().map(entry).collect()
}

fn traffic() -> Vec<Entry> {
    let entry = |name, summary, params| Entry {
        kind: "traffic",
        name,
        summary,
        about: summary,
        source: "the design's definitions",
        params,
    };
    vec![
        entry("call", "a video call", workload::call::CallParams::SPECS),
        entry(
            "page",
            "web pages, one load after another",
            workload::page::PageParams::SPECS,
        ),
        entry(
            "bulk",
            "a transfer over TCP",
            workload::bulk::BulkParams::SPECS,
        ),
    ]
}

/// Lists names with a line about each.
pub fn list(what: Listed) -> Result<(), Refused> {
    let entries = match what {
        Listed::Disciplines => disciplines(),
        Listed::Controls => controls(),
        Listed::Engines => {
            return print(
                "sim  the simulator: virtual time, no root, the same result every time\n",
            );
        }
        Listed::Experiments => {
            return print("There are none in this version: run a scenario of scenarios/.\n");
        }
    };
    let width = entries
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for entry in entries {
        _ = writeln!(text, "{:width$}  {}", entry.name, entry.summary);
    }
    print(&text)
}

/// Describes one thing.
pub fn describe(name: &str) -> Result<(), Refused> {
    let entries = || disciplines().into_iter().chain(controls()).chain(traffic());
    let found: Vec<Entry> = entries().filter(|entry| entry.name == name).collect();
    if found.is_empty() {
        let names: Vec<&str> = entries().map(|entry| entry.name).collect();
        let help = format!("there are: {}", names.join(", "));
        return Err(Refused::new(&format!("nothing is called {name:?}"), &help));
    }
    let texts: Vec<String> = found.iter().map(page).collect();
    print(&texts.join("\n"))
}

fn page(entry: &Entry) -> String {
    let mut text = format!("{} ({}): {}\n\n", entry.name, entry.kind, entry.summary);
    for paragraph in entry.about.split("\n\n") {
        _ = writeln!(text, "{}\n", wrapped(paragraph, "", 88));
    }
    _ = writeln!(text, "Source: {}", entry.source);
    if entry.params.is_empty() {
        text.push_str("\nNo parameters.\n");
        return text;
    }
    text.push_str("\nParameters:\n");
    for spec in entry.params {
        _ = write!(text, "  {} = {}  ({}", spec.name, spec.default, spec.kind);
        if let Some((min, max)) = spec.range {
            _ = write!(text, ", {min} to {max}");
        }
        let help = format!("{} Source: {}.", spec.help, spec.source);
        _ = writeln!(text, ")\n{}", wrapped(&help, "      ", 88));
    }
    text
}

/// Breaks a paragraph into lines of at most `width` characters, each indented.
fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.len() + word.len() + 1 > width && last.len() > indent.len() {
            lines.push(format!("{indent}{word}"));
        } else {
            if last.len() > indent.len() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n")
}
