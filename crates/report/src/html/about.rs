//! What bounds the report: notes, what was run, and what the words mean.

use super::{Report, section as wrap};
use crate::draw::svg::{escape, short};
use measure::Note;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const GLOSSARY: &str = include_str!("glossary.html");
/// Fields that are named for each note.
const MOST_FIELDS: usize = 6;
/// Values that are named for each key of the variants.
const MOST_VALUES: usize = 100;
/// Characters of the scenario that are printed.
const MOST_SCENARIO: usize = 100_000;

/// Notes, scenario, and glossary.
pub fn section(report: &Report<'_>) -> String {
    let threshold = format!("{:.0}", report.subject.threshold_ms);
    let glossary = GLOSSARY.replace("{threshold}", &threshold);
    let about = notes(report) + &what_was_run(report) + &scenario(report);
    wrap("about", "What bounds this", &about) + &wrap("words", "Words", &glossary)
}

/// Each thing that notes say, once, with what it is about.
fn notes(report: &Report<'_>) -> String {
    let mut said: BTreeMap<&str, Vec<(&str, &Note)>> = BTreeMap::new();
    for result in report.document.results {
        for note in &result.notes {
            said.entry(&note.text)
                .or_default()
                .push((&result.discipline, note));
        }
    }
    if said.is_empty() {
        return String::new();
    }
    let mut list = String::from("<ul class=\"notes\">\n");
    for (text, of) in said {
        let mut fields: Vec<String> = Vec::new();
        let mut more = BTreeSet::new();
        for (discipline, note) in of {
            let field = format!("{}: {}", short(discipline, 40), short(&note.about, 80));
            if !fields.contains(&field) && fields.len() < MOST_FIELDS {
                fields.push(field);
            } else if !fields.contains(&field) {
                more.insert((discipline, &note.about));
            }
        }
        let fields: Vec<String> = fields
            .iter()
            .map(|field| format!("<code>{}</code>", escape(field)))
            .collect();
        let more = match more.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        _ = writeln!(
            list,
            "<li>{}: {}{more}</li>",
            escape(text),
            fields.join(", ")
        );
    }
    list + "</ul>\n"
}

/// Program, engine, seeds and variants.
fn what_was_run(report: &Report<'_>) -> String {
    let document = report.document;
    let results = document.results;
    let seeds: BTreeSet<u64> = results.iter().map(|result| result.seed).collect();
    let mut rows = vec![
        (
            "program".to_owned(),
            format!("analects {}", document.version),
        ),
        ("engine".to_owned(), document.engine.to_owned()),
        ("results".to_owned(), results.len().to_string()),
        ("seeds".to_owned(), ranges(&seeds)),
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
        rows.push((key.to_owned(), named.join(", ") + &more));
    }
    let rows: String = rows
        .iter()
        .map(|(key, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(key), escape(value)))
        .collect();
    format!("<dl class=\"facts\">\n{rows}</dl>\n")
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

/// The scenario, folded away.
fn scenario(report: &Report<'_>) -> String {
    // A JSON value can always be printed.
    let text = serde_json::to_string_pretty(report.document.scenario).unwrap_or_default();
    let note = match text.chars().count() {
        n if n > MOST_SCENARIO => format!(", the first {MOST_SCENARIO} of {n} characters"),
        _ => String::new(),
    };
    let text: String = text.chars().take(MOST_SCENARIO).collect();
    format!(
        "<details>\n<summary>The scenario, with everything that was set{note}</summary>\n\
         <pre>{}</pre>\n</details>\n",
        escape(&text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
