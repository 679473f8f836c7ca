//! Files that are no HAR any more: each is read or refused, with an error of a few lines that names
//! the place.

use crate::samples::{ALL, CHROME};
use proptest::prelude::*;
use serde_json::Value;
use workload::har::{self, Har, LeftOut, MAX_FILE, Options};

/// The contents of `text`. In any case, each entry is a request or left out, and messages are
/// short, printable and begin with the file and a place.
pub fn read(text: &[u8]) -> Result<Har, String> {
    let har = har::read("some.har", text, &Options::default()).map_err(|error| {
        let text = error.to_string();
        assert!(text.lines().count() < 25 && text.len() < 1_000, "{text}");
        assert!(text.starts_with("some.har: "), "{text}");
        let places = ["line ", "entries", "log", "top level", "size"];
        assert!(
            places.iter().any(|place| error.place.starts_with(place)),
            "{text}"
        );
        assert!(!error.problem.is_empty());
        text
    })?;
    let left_out = &har.left_out;
    let requests: usize = har.pages.iter().map(|page| page.requests().len()).sum();
    assert!(requests > 0);
    assert_eq!(requests + left_out.count(), left_out.of);
    assert_eq!(left_out.entries.len(), left_out.count().min(LeftOut::NAMED));
    assert_eq!(
        left_out.page_names.len(),
        left_out.pages.min(LeftOut::NAMED)
    );
    let faults = left_out.faults().unwrap_or_default();
    for shown in [left_out.to_string(), faults] {
        assert!(shown.len() < 1_000, "{shown}");
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
    Ok(har)
}

pub fn refused_text(text: &str) -> String {
    match read(text.as_bytes()) {
        Ok(_) => panic!("{text:.200} was read"),
        Err(error) => error,
    }
}

pub fn read_text(text: &str) -> Har {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// `CHROME` with the first `old` replaced.
pub fn edited(old: &str, new: &str) -> String {
    assert!(CHROME.contains(old), "{old}");
    CHROME.replacen(old, new, 1)
}

#[test]
fn what_is_no_har_is_refused() {
    for (old, new, error) in [
        (
            "\"log\": {",
            "\"log\": 5, \"leg\": {",
            "log: found 5, expected an object",
        ),
        (
            "\"log\": {",
            "\"leg\": {",
            "log: found nothing, expected an object",
        ),
        (
            "\"entries\": [",
            "\"entries\": true, \"others\": [",
            "entries: found true, expected a list",
        ),
        (
            "\"entries\": [",
            "\"others\": [",
            "entries: found nothing, expected a list",
        ),
        (
            "\"entries\": [",
            "\"entries\": [], \"others\": [",
            "entries: found none, expected at least one",
        ),
    ] {
        let found = refused_text(&edited(old, new));
        assert_eq!(found, format!("some.har: {error}"));
    }
    let found = refused_text("[]");
    assert_eq!(
        found,
        "some.har: top level: found a list, expected an object"
    );
    let found = read(b"\xff\xfe{\0}\0").unwrap_err();
    assert_eq!(
        found,
        "some.har: line 1 column 1: found UTF-16, expected UTF-8"
    );
}

#[test]
fn characters_that_are_broken_cost_no_page() {
    let text = edited("\"mimeType\": \"text/html\"", "\"text\": \"caf~\"");
    let broken: Vec<u8> = text
        .bytes()
        .map(|b| if b == b'~' { 0xe9 } else { b })
        .collect();
    assert_eq!(read(&broken).unwrap(), read_text(CHROME));
}

#[test]
fn what_follows_the_json_is_refused() {
    // Two recordings in one file: to read the first alone would hide the second.
    let error = refused_text(&format!("{}{CHROME}", CHROME.trim_end()));
    assert!(error.starts_with("some.har: line 40 column "), "{error}");
    assert!(error.contains("trailing characters"), "{error}");
}

#[test]
fn truncated_json_names_line_and_column() {
    // Cut within the ninth line.
    let cut = CHROME.match_indices('\n').nth(8).unwrap().0 - 10;
    let error = refused_text(&CHROME[..cut]);
    assert!(error.starts_with("some.har: line 9 column "), "{error}");
    assert!(error.contains("EOF"), "{error}");
    assert!(refused_text("").starts_with("some.har: line 1 column 0: EOF"));
}

#[test]
fn deep_nesting_is_harmless() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let (deep, up) = (open.repeat(500_000), close.repeat(500_000));
        let nested = format!("{deep}1{up}");
        refused_text(&nested);
        // In unread places, and in places where another value is expected.
        let unknown = edited("\"pages\":", &format!("\"deep\": {nested}, \"pages\":"));
        let known = edited("\"time\": 70", &format!("\"time\": {nested}"));
        assert_eq!(read_text(&unknown), read_text(CHROME));
        assert_eq!(
            read_text(&known),
            read_text(&edited("\"time\": 70", "\"time\": -1"))
        );
    }
}

#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(1_000_000);
    read_text(&edited("2024-05-01T10:00:00.150Z", &long));
    let url = edited(
        "https://cdn.example/app.js\", \"httpV",
        &format!("{long}\", \"httpV"),
    );
    assert_eq!(read_text(&url).left_out.entries[0].url.len(), 63);
    let host = "https://".to_owned() + &"\u{e9}.".repeat(500_000) + "/\", \"httpV";
    read_text(&edited("https://cdn.example/app.js\", \"httpV", &host));
    let status = edited("\"status\": 200", &format!("\"status\": \"{long}\""));
    assert_eq!(read_text(&status), read_text(CHROME));
    refused_text(&edited(
        "\"entries\": [",
        &format!("\"entries\": \"{long}\", \"x\": ["),
    ));
}

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    let error = read(&vec![b' '; MAX_FILE + 1]).unwrap_err();
    assert!(error.contains("expected at most 268435456"), "{error}");
}

/// The numbers in a JSON text, as ranges of bytes.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut numbers = Vec::new();
    let mut start = None;
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        quoted ^= byte == b'"';
        let digit = !quoted && (byte.is_ascii_digit() || b"-.".contains(&byte));
        match (digit, start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                numbers.push((begin, at));
                start = None;
            }
            _ => {}
        }
    }
    numbers
}

const VALUES: [&str; 12] = [
    "1e20",
    "-1",
    "-2",
    "1e308",
    "1e999",
    "0.5",
    "\"12\"",
    "null",
    "[]",
    "{}",
    "true",
    "18446744073709551616",
];

/// That a file which differs from `whole` in one entry has at most that entry less.
fn at_most_one_less(text: &str, whole: &Har, place: &str) {
    let har = read(text.as_bytes()).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(har.left_out.of, whole.left_out.of, "{place}");
    let lost = har.left_out.count() as i64 - whole.left_out.count() as i64;
    assert!((-1..=1).contains(&lost), "{place}: {lost} lost");
}

#[test]
fn every_number_may_be_anything() {
    for text in ALL {
        let numbers = numbers(text);
        assert!(numbers.len() > 20);
        let whole = read_text(text);
        for (begin, end) in numbers {
            for value in VALUES {
                let changed = [&text[..begin], value, &text[end..]].concat();
                at_most_one_less(&changed, &whole, value);
            }
        }
    }
}

/// The pointers to all values within `value`, itself included (RFC 6901).
fn pointers(value: &Value, own: &str, all: &mut Vec<String>) {
    all.push(own.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                pointers(field, &format!("{own}/{key}"), all);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{own}/{index}"), all);
            }
        }
        _ => {}
    }
}

#[test]
fn everything_in_an_entry_may_be_anything() {
    let others = [Value::Null, true.into(), (-7).into(), "x".into(), "".into()];
    let others = others
        .into_iter()
        .chain([Value::Array(vec![]), Value::Object(Default::default())]);
    let others: Vec<Value> = others.collect();
    for text in ALL {
        let whole = read_text(text);
        let file: Value = serde_json::from_str(text).unwrap();
        let mut places = Vec::new();
        for index in 0..whole.left_out.of {
            let entry = format!("/log/entries/{index}");
            pointers(file.pointer(&entry).unwrap(), &entry, &mut places);
        }
        assert!(places.len() > 40);
        for place in places {
            for other in &others {
                let mut changed = file.clone();
                *changed.pointer_mut(&place).unwrap() = other.clone();
                at_most_one_less(&changed.to_string(), &whole, &place);
            }
        }
    }
}

#[test]
fn every_cut_is_refused() {
    for text in ALL {
        for cut in 0..text.trim_end().len() {
            let error = read(&text.as_bytes()[..cut]).expect_err("a cut file");
            assert!(error.starts_with("some.har: line "), "{error}");
        }
    }
}

proptest! {
    #[test]
    fn flipped_bytes_never_panic(
        which in 0..ALL.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6),
    ) {
        let mut text = ALL[which].as_bytes().to_vec();
        for (at, bits) in flips {
            let at = at.index(text.len());
            text[at] ^= bits;
        }
        _ = read(&text);
    }

    #[test]
    fn spliced_pieces_never_panic(
        which in (0..ALL.len(), 0..ALL.len()),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (head, tail) = (ALL[which.0].as_bytes(), ALL[which.1].as_bytes());
        let text = [&head[..cuts.0.index(head.len())], &tail[cuts.1.index(tail.len())..]].concat();
        _ = read(&text);
    }
}
