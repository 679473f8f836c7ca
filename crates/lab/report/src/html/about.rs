//! The limits of the report: notes, the runs, and the meaning of words.

use super::frame::section as wrap;
use super::report::Report;
use crate::draw::svg::short;
use crate::summary::columns;
use maud::{Markup, html};
use measure::Note;
use std::collections::{BTreeMap, BTreeSet};

/// Fields that are named for each note.
const MOST_FIELDS: usize = 6;
/// Values that are named for each key of the variants.
const MOST_VALUES: usize = 100;
/// Characters of the scenario that are printed.
const MOST_SCENARIO: usize = 100_000;

/// Notes, scenario, and glossary.
pub fn section(report: &Report<'_>) -> Markup {
    let about = html! { (notes(report)) (what_was_run(report)) (scenario(report)) };
    html! {
        (wrap("about", "What bounds this", &about))
        (wrap("words", "Words", &words(report)))
    }
}

/// Each remark of the notes, once, with its subjects.
fn notes(report: &Report<'_>) -> Markup {
    let mut said: BTreeMap<&str, Vec<(&str, &Note)>> = BTreeMap::new();
    for result in report.document.results {
        for note in &result.notes {
            said.entry(&note.text)
                .or_default()
                .push((&result.discipline, note));
        }
    }
    html! {
        @if !said.is_empty() {
            ul class="notes" {
                @for (text, of) in &said { li { (text) ": " (fields(of)) } }
            }
        }
    }
}

/// The subjects of a note: the first fields, and how many more.
fn fields(of: &[(&str, &Note)]) -> Markup {
    let mut fields: Vec<String> = Vec::new();
    let mut more = BTreeSet::new();
    for (discipline, note) in of {
        let field = format!("{} ({})", in_words(&note.about), short(discipline, 40));
        if !fields.contains(&field) && fields.len() < MOST_FIELDS {
            fields.push(field);
        } else if !fields.contains(&field) {
            more.insert((discipline, &note.about));
        }
    }
    html! {
        (fields.join(", "))
        @if !more.is_empty() { " and " (more.len()) " more" }
    }
}

/// Fields of results in words.
const FIELDS: [(&str, &str); 10] = [
    ("moves", "moves between classes"),
    ("occupancy", "share of the buffer in use"),
    ("utilization", "use"),
    ("sojourn_ms", "waiting time"),
    ("fct_ms", "completion time"),
    ("plt_ms", "load time"),
    ("frame_max_ms", "longest frame delay"),
    ("frame_delay_ms", "frame delay"),
    ("audio", "audio"),
    ("jfi", "fairness index"),
];

/// `links.NAME.moves` in words: `moves between classes of NAME`.
fn in_words(about: &str) -> String {
    let (place, field) = about.rsplit_once('.').unwrap_or(("", about));
    let known = FIELDS.iter().find(|(name, _)| *name == field);
    let field = known.map_or(field, |(_, words)| words);
    match place.split_once('.') {
        Some(("pages", page)) => match page.rsplit_once('.') {
            Some((page, load)) => format!("{field} of {}, load {load}", short(page, 80)),
            None => format!("{field} of {}", short(page, 80)),
        },
        Some((_, name)) => format!("{field} of {}", short(name, 80)),
        None => field.to_owned(),
    }
}

/// Program, engine, seeds and variants.
fn what_was_run(report: &Report<'_>) -> Markup {
    let document = report.document;
    let results = document.results;
    let seeds: BTreeSet<u64> = results.iter().map(|result| result.seed).collect();
    let mut rows = vec![
        ("program", format!("analects {}", document.version)),
        ("engine", document.engine.to_owned()),
        ("results", results.len().to_string()),
        ("seeds", ranges(&seeds)),
    ];
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in results.iter().flat_map(|result| &result.variant) {
        values.entry(key).or_default().insert(value);
    }
    for (key, values) in values {
        let named: Vec<String> = values
            .iter()
            .take(MOST_VALUES)
            .map(|v| short(v, 200))
            .collect();
        let more = match values.len().saturating_sub(MOST_VALUES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        rows.push((key, named.join(", ") + &more));
    }
    html! {
        dl class="facts" { @for (key, value) in &rows { dt { (key) } dd { (value) } } }
    }
}

/// Numbers as ranges: `1–4, 7`.
fn ranges(numbers: &BTreeSet<u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(number) => last.1 = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges
        .iter()
        .take(MOST_VALUES)
        .map(|(from, to)| match to - from {
            0 => from.to_string(),
            _ => format!("{from}–{to}"),
        });
    texts.collect::<Vec<_>>().join(", ")
}

/// The scenario, folded away. The playground finds it here by its id.
fn scenario(report: &Report<'_>) -> Markup {
    // A JSON value can always be printed.
    let text = serde_json::to_string_pretty(report.document.scenario).unwrap_or_default();
    let count = text.chars().count();
    let shown: String = text.chars().take(MOST_SCENARIO).collect();
    html! {
        details {
            summary {
                "The scenario, with everything that was set"
                @if count > MOST_SCENARIO { ", the first " (MOST_SCENARIO) " of " (count) " characters" }
            }
            p { "The playground opens this file: " code { "make playground" } "." }
            pre id="scenario" { (shown) }
        }
    }
}

/// Words that are no metric's heading.
const WORDS: [(&str, &str); 3] = [
    (
        "frame delay",
        "From the moment when the encoder hands over a frame until its last packet is at the \
         receiver. A frame that never completes is lost; until it is skipped, or the run ends, it \
         counts as delayed.",
    ),
    (
        "what a call’s control did",
        "Its rate in the second before a stall, all packets, and its lowest mean over 0.3 s from the \
         first late frame until a second after the last.",
    ),
    (
        "95 % interval",
        "Of the intervals that are given, at least 93 of 100 hold the mean of all runs that there \
         could be, also where most runs are zero. Runs (of several traces: traces) are what varies \
         independently; what one run holds many of, such as page loads, does not make an interval \
         narrower. Where too few runs differ from zero or from each other there is none.",
    ),
];

/// The meaning of the columns and some other words.
fn words(report: &Report<'_>) -> Markup {
    let thresholds = report.subject.thresholds.iter();
    let thresholds = thresholds.map(|(call, ms)| format!("{ms:.0} ms ({call})"));
    let thresholds = thresholds.collect::<Vec<_>>().join(", ");
    let columns = columns(&report.summaries, report.metrics);
    html! {
        @if !thresholds.is_empty() {
            p class="note" { "Late are frames with a delay above " (thresholds) "." }
        }
        dl class="words" {
            @for (metric, column) in columns {
                dt { (column.heading) }
                dd { (capital(metric.summary)) ". " (metric.about.replace('`', "")) }
            }
            @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } }
        }
    }
}

/// A sentence's beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let first = first.into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_in_words() {
        for (about, words) in [
            ("links.my.link.moves", "moves between classes of my.link"),
            ("pages.page.3.plt_ms", "load time of page, load 3"),
            ("jfi", "fairness index"),
            ("calls.call.new_ms", "new_ms of call"),
        ] {
            assert_eq!(in_words(about), words);
        }
    }

    #[test]
    fn seeds_are_named_as_ranges() {
        let seeds = |seeds: &[u64]| ranges(&seeds.iter().copied().collect());
        assert_eq!(seeds(&[1]), "1");
        assert_eq!(
            seeds(&[4, 1, 2, 3, 7, u64::MAX]),
            "1–4, 7, 18446744073709551615"
        );
    }
}
