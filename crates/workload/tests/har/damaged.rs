//! Files that are no HAR any more: each is read or refused, with an error of a few lines that names
//! the place.

use crate::samples::{ALL, CHROME};
use proptest::prelude::*;
use workload::har::{self, MAX_FILE, Options};

/// The error for `text`, if any; it is short and begins with the file and a place.
fn refused(text: &[u8]) -> Option<String> {
    let error = har::read("some.har", text, &Options::default()).err()?;
    let text = error.to_string();
    assert!(text.lines().count() < 25 && text.len() < 1_000, "{text}");
    assert!(text.starts_with("some.har: "), "{text}");
    let places = [
        "line ",
        "entries",
        "pages[",
        "log",
        "pages:",
        "top level",
        "size",
    ];
    assert!(
        places
            .iter()
            .any(|place| error.place.starts_with(place) || error.place == "pages"),
        "{text}"
    );
    assert!(!error.problem.is_empty());
    Some(text)
}

fn refused_text(text: &str) -> String {
    refused(text.as_bytes()).unwrap_or_else(|| panic!("{text:.200} was read"))
}

/// `CHROME` with the first `old` replaced.
fn edited(old: &str, new: &str) -> String {
    assert!(CHROME.contains(old));
    CHROME.replacen(old, new, 1)
}

/// What is replaced in `CHROME`, by what, and what the error says then.
const WRONG: [(&str, &str, &str); 15] = [
    (
        "\"_transferSize\": 8000",
        "\"_transferSize\": 1e20",
        "some.har: entries[0].response._transferSize: found 1e20, expected a size of 0 to 10 GB \
             in bytes, or -1 for unknown",
    ),
    (
        "\"_transferSize\": 21000",
        "\"_transferSize\": -7",
        "entries[1].response._transferSize: found -7,",
    ),
    (
        "\"bodySize\": 7700",
        "\"bodySize\": \"7700\"",
        "entries[0].response.bodySize: found \"7700\", expected a size",
    ),
    (
        "\"wait\": 25",
        "\"wait\": -25",
        "entries[3].timings.wait: found -25, expected a time of 0 to a day in milliseconds",
    ),
    (
        "\"time\": 70",
        "\"time\": [70]",
        "entries[1].time: found a list,",
    ),
    (
        "\"url\": \"https://cdn.example/app.js\", \"httpVersion\"",
        "\"httpVersion\"",
        "entries[1].request.url: found nothing, expected an absolute URL",
    ),
    (
        "\"url\": \"https://shop.example/\", \"httpVersion\"",
        "\"url\": \"/\", \"httpVersion\"",
        "entries[0].request.url: found \"/\", expected an absolute URL",
    ),
    (
        "2024-05-01T10:00:00.150Z",
        "yesterday",
        "entries[1].startedDateTime: found \"yesterday\", expected a moment such as",
    ),
    (
        "2024-05-01T10:00:00.150Z",
        "2024-06-01T10:00:00.150Z",
        "entries[1].startedDateTime: found a moment more than a day after",
    ),
    (
        "\"status\": 200",
        "\"status\": \"OK\"",
        "entries[0].response.status: found \"OK\", expected a status of 0 to 999",
    ),
    (
        "\"id\": \"page_1\"",
        "\"id\": 1",
        "pages[0].id: found 1, expected a text",
    ),
    (
        "\"log\": {",
        "\"log\": 5, \"leg\": {",
        "log: found 5, expected an object",
    ),
    (
        "\"entries\": [",
        "\"entries\": true, \"others\": [",
        "entries: found true, expected a list",
    ),
    (
        "\"entries\": [",
        "\"entries\": [], \"others\": [",
        "entries: found none, expected at least one",
    ),
    (
        "\"entries\": [",
        "\"entries\": [ null,",
        "entries[0]: found null, expected an object",
    ),
];

#[test]
fn errors_name_the_place_what_was_found_and_what_was_expected() {
    for (old, new, error) in WRONG {
        let found = refused_text(&edited(old, new));
        assert!(found.contains(error), "{found}");
    }
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
fn nothing_over_the_network_is_no_page() {
    let local = r#"{"log":{"entries":[{"startedDateTime":"2024-05-01T10:00:00Z",
        "request":{"url":"data:,x"},"response":{"status":200}}]}}"#;
    assert!(refused_text(local).contains("none that went over the network"));
}

#[test]
fn deep_nesting_is_harmless() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let (deep, up) = (open.repeat(500_000), close.repeat(500_000));
        let nested = format!("{deep}1{up}");
        refused_text(&nested);
        // Where nobody looks, and where something else is expected.
        let unknown = edited("\"pages\":", &format!("\"deep\": {nested}, \"pages\":"));
        let known = edited("\"time\": 70", &format!("\"time\": {nested}"));
        refused(unknown.as_bytes());
        refused_text(&known);
    }
}

#[test]
fn long_texts_are_cut_in_errors() {
    let long = "x".repeat(1_000_000);
    refused_text(&edited("2024-05-01T10:00:00.150Z", &long));
    refused_text(&edited(
        "https://cdn.example/app.js\", \"httpV",
        &format!("{long}\", \"httpV"),
    ));
    refused_text(&edited(
        "\"status\": 200",
        &format!("\"status\": \"{long}\""),
    ));
}

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    let error = refused(&vec![b' '; MAX_FILE + 1]).unwrap();
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

#[test]
fn every_number_may_be_anything() {
    for text in ALL {
        let numbers = numbers(text);
        assert!(numbers.len() > 20);
        for (begin, end) in numbers {
            for value in VALUES {
                let changed = [&text[..begin], value, &text[end..]].concat();
                refused(changed.as_bytes());
            }
            // A size or a time of 10^20 is refused wherever it matters; sizes always do.
            let size = text[..begin].trim_end().ends_with("Size\":");
            let changed = [&text[..begin], "1e20", &text[end..]].concat();
            assert!(!size || refused(changed.as_bytes()).is_some(), "{begin}");
        }
    }
}

#[test]
fn every_cut_is_refused() {
    for text in ALL {
        for cut in 0..text.trim_end().len() {
            let error = refused(&text.as_bytes()[..cut]).expect("a cut file");
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
        refused(&text);
    }

    #[test]
    fn spliced_pieces_never_panic(
        which in (0..ALL.len(), 0..ALL.len()),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (head, tail) = (ALL[which.0].as_bytes(), ALL[which.1].as_bytes());
        let text = [&head[..cuts.0.index(head.len())], &tail[cuts.1.index(tail.len())..]].concat();
        refused(&text);
    }
}
