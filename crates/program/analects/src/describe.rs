//! `analects list` and `analects describe`.

mod described;
mod keys;
mod markdown;

use crate::cli::{Listed, Style};
use crate::own;
use crate::runs::engines::ENGINES;
use command::Refused;
use command::print;
use described::{DescribedEntry, said};
use measure::metric::{Better, Metric, Range};
use reproduce::registry;
use scenario::presets::{self, LinkPreset};
use scenario::{Document, Reflectors};
use std::fmt::Write as _;
use transport::media::MediaParams;
use units::param::Spec;
use units::{Refusal, choice};
use workload::Carrier;

fn disciplines() -> Vec<DescribedEntry> {
    let registry = &own::simulator().disciplines;
    let entry = |d: &qdisc::Discipline<u32>| DescribedEntry {
        kind: "discipline",
        name: d.name,
        summary: d.summary,
        about: d.about.to_owned(),
        source: d.source,
        children: d.children,
        presets: &[],
        params: vec![("Parameters", d.params)],
    };
    registry.iter().map(entry).collect()
}

fn controls() -> Vec<DescribedEntry> {
    let registry = &own::simulator().controls;
    let entry = |c: &cca::ControlEntry| DescribedEntry {
        kind: "control",
        name: c.name,
        summary: c.summary,
        about: c.about.to_owned(),
        source: c.source,
        children: c.children,
        presets: &[],
        params: vec![("Parameters", c.params)],
    };
    registry.iter().map(entry).collect()
}

fn autorates() -> Vec<DescribedEntry> {
    let registry = &own::simulator().autorates;
    let entry = |controller: &autorate::Entry| DescribedEntry {
        kind: "autorate",
        name: controller.name,
        summary: controller.summary,
        about: controller.about.to_owned(),
        source: controller.source,
        children: &[],
        presets: &[],
        params: vec![
            ("Parameters", controller.params),
            ("Keys of the link's table `reflectors`", Reflectors::SPECS),
        ],
    };
    registry.iter().map(entry).collect()
}

fn traffic() -> Vec<DescribedEntry> {
    let registry = &own::simulator().workloads;
    let entry = |w: &workload::Entry| {
        let mut params = vec![("Keys of the entry", w.params)];
        if w.carriers.contains(&Carrier::Media) {
            params.push(("Keys of its table `session`", MediaParams::SPECS));
        }
        DescribedEntry {
            kind: "traffic",
            name: w.name,
            summary: w.summary,
            about: w.about.to_owned(),
            source: w.source,
            children: &[],
            presets: w.presets,
            params,
        }
    };
    registry.iter().map(entry).collect()
}

fn metrics() -> Vec<DescribedEntry> {
    let entry = |metric: &Metric| DescribedEntry {
        kind: "metric",
        name: metric.name,
        summary: metric.summary,
        about: format!("{}\n\n{}", metric.about, compared(metric)),
        source: metric.source,
        children: &[],
        presets: &[],
        params: Vec::new(),
    };
    own::simulator().metrics.iter().map(entry).collect()
}

/// A metric's unit, which direction is better, and its place in tables.
fn compared(metric: &Metric) -> String {
    let unit = match metric.unit {
        "" => "none",
        unit => unit,
    };
    let range = match metric.range {
        Range::Any => ", of any sign".to_owned(),
        Range::Positive => String::new(),
        Range::Within(least, most) => format!(", from {least} to {most}"),
        Range::Time => ", at most as long as was measured".to_owned(),
    };
    let better = match metric.better {
        Better::Less => "less is better",
        Better::More => "more is better",
        Better::Neither => "neither more nor less is better",
    };
    let column = metric.column.map_or_else(String::new, |column| {
        let (heading, statistic) = (column.heading, column.statistic);
        let asked = if column.by_default {
            ""
        } else {
            " that ask for it"
        };
        format!(" In tables{asked}: `{heading}`, the {statistic} of all values.")
    });
    format!("Unit: {unit}{range}; {better}.{column}")
}

/// Lists names with a line about each.
pub fn list(what: Listed) -> Result<(), Refused> {
    let entries = match what {
        Listed::Disciplines => disciplines(),
        Listed::Controls => controls(),
        Listed::Autorate => autorates(),
        Listed::Traffic => traffic(),
        Listed::Engines => {
            let lines = ENGINES.iter();
            let lines = lines.map(|(name, about)| format!("{name:<6}  {about}\n"));
            return print(&lines.collect::<String>());
        }
        Listed::Experiments => return print(&experiments()?),
        Listed::Metrics => return print(&units()),
        Listed::Presets => return print(&links()),
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

/// Metrics, with their units.
fn units() -> String {
    let mut text = String::new();
    for metric in own::simulator().metrics.iter() {
        let head = format!("{:12} {:7} ", metric.name, metric.unit);
        let indent = " ".repeat(head.len());
        let about = wrapped(metric.summary, &indent, 96);
        _ = writeln!(text, "{head}{}", about.trim_start());
    }
    text
}

/// Presets of links, with their summaries.
fn links() -> String {
    let line = |preset: &LinkPreset| {
        let document = Document::parse(preset.name, preset.text);
        let summary = document
            .as_ref()
            .ok()
            .and_then(|document| document.get("summary"));
        format!("{:8}  {}\n", preset.name, summary.unwrap_or_default())
    };
    presets::LINKS.iter().map(line).collect()
}

/// The experiments, with their titles.
fn experiments() -> Result<String, Refused> {
    let mut text = String::new();
    for id in registry::names() {
        let found = registry::find(id);
        let found = found.map_err(|refusal| Refused::because(refusal, "report this"))?;
        for experiment in found {
            _ = writeln!(text, "{id:28}  {}", experiment.written.title);
        }
    }
    Ok(text)
}

/// Describes one thing, or all of a kind.
pub fn describe(name: &str, style: Style) -> Result<(), Refused> {
    if let Ok(preset) = presets::find(name) {
        return print(preset.text);
    }
    let (title, entries) = match name {
        "scenario" if style == Style::Text => return print(&keys::example()),
        "scenario" => return print(&keys::tables()),
        #[cfg(feature = "host")]
        "check" => return print(&crate::host::check::described()),
        "disciplines" => ("Disciplines", disciplines()),
        "controls" => ("Congestion controls", controls()),
        "autorate" => ("Rates that find themselves", autorates()),
        "traffic" => ("Traffic", traffic()),
        "metrics" => ("Metrics", metrics()),
        name => ("", called(name)?),
    };
    let command = format!("analects describe {name} --format markdown");
    let join = |text: fn(&DescribedEntry) -> String, between| {
        let texts: Vec<String> = entries.iter().map(text).collect();
        texts.join(between)
    };
    print(&match style {
        Style::Text => join(page, "\n"),
        Style::Markdown if title.is_empty() => join(markdown::section, ""),
        Style::Markdown => markdown::page(title, &command, &entries),
    })
}

fn entries() -> impl Iterator<Item = DescribedEntry> {
    let simulated = disciplines().into_iter().chain(controls());
    let simulated = simulated.chain(autorates());
    simulated.chain(traffic()).chain(metrics())
}

/// All entries that can be described.
pub fn names() -> impl Iterator<Item = &'static str> {
    let kinds = [
        #[cfg(feature = "host")]
        "check",
        "scenario",
        "disciplines",
        "controls",
        "autorate",
        "traffic",
        "metrics",
    ];
    let links = presets::LINKS.iter().map(|preset| preset.name);
    kinds
        .into_iter()
        .chain(links)
        .chain(entries().map(|entry| entry.name))
}

/// The entries called `name`.
fn called(name: &str) -> Result<Vec<DescribedEntry>, Refused> {
    let found: Vec<DescribedEntry> = entries().filter(|entry| entry.name == name).collect();
    if found.is_empty() {
        let refusal = Refusal::unknown("name", name, names());
        return Err(Refused::because(refusal, "see `analects list`"));
    }
    Ok(found)
}

fn page(entry: &DescribedEntry) -> String {
    let head = format!("{} ({}): {}", entry.name, entry.kind, entry.summary);
    let mut text = wrapped(&head, "", 88) + "\n\n";
    for paragraph in entry.about.split("\n\n") {
        _ = writeln!(text, "{}\n", wrapped(paragraph, "", 88));
    }
    let source = format!("Source: {}", entry.source);
    _ = writeln!(text, "{}", wrapped(&source, "", 88));
    if !entry.children.is_empty() {
        let usage = choice::usage(entry.name, entry.children);
        _ = writeln!(text, "\nContains others, {usage}:");
        for slot in entry.children {
            _ = writeln!(text, "  {} = {}", slot.name, slot.default);
            _ = writeln!(text, "{}", wrapped(slot.help, "      ", 88));
        }
    }
    for (heading, specs) in &entry.params {
        if specs.is_empty() {
            _ = writeln!(text, "\n{heading}: none");
        } else {
            _ = writeln!(text, "\n{heading}:");
            specs.iter().for_each(|spec| parameter(&mut text, spec));
        }
    }
    if !entry.presets.is_empty() {
        text.push_str("\nPresets; the first is the default:\n");
        for preset in entry.presets {
            let said = format!(
                "{} ({}). Source: {}.",
                preset.summary,
                said(preset),
                preset.source
            );
            _ = writeln!(
                text,
                "  preset = {}\n{}",
                preset.name,
                wrapped(&said, "      ", 88)
            );
        }
    }
    if entry.kind == "traffic" {
        text.push_str("\nKeys of every entry are in `analects describe scenario`.\n");
    }
    text
}

fn parameter(text: &mut String, spec: &Spec) {
    _ = write!(text, "  {} = {}  ({}", spec.name, spec.default, spec.kind);
    if let Some((min, max)) = spec.range {
        _ = write!(text, ", {min} to {max}");
    }
    let help = format!("{} Source: {}.", spec.explained(), spec.source);
    _ = writeln!(text, ")\n{}", wrapped(&help, "      ", 88));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_between_words() {
        assert_eq!(wrapped("one two three", "  ", 9), "  one two\n  three");
        assert_eq!(wrapped("  a\n b ", "", 9), "a b");
        assert_eq!(wrapped("longerthanaline x", "", 5), "longerthanaline\nx");
    }
}
