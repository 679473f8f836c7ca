//! One odd value costs no page: it counts as unknown, or its entry is left out and named.

use crate::damaged::{edited, read_text, refused_text};
use crate::samples::CHROME;
use workload::har::Reason;

/// Replacements in `CHROME`: the old text, the new one, and an alternative.
const UNKNOWN: [(&str, &str, &str); 13] = [
    (
        "\"_transferSize\": 21000",
        "\"_transferSize\": -7",
        "\"_transferSize\": -1",
    ),
    (
        "\"_transferSize\": 21000",
        "\"_transferSize\": [21000]",
        "\"_transferSize\": -1",
    ),
    (
        "\"_transferSize\": 21000",
        "\"_transferSize\": \"21000\"",
        "\"_transferSize\": 21000",
    ),
    (
        "\"headersSize\": 400",
        "\"headersSize\": -400",
        "\"headersSize\": -1",
    ),
    (
        "\"compression\": 22300",
        "\"compression\": {}",
        "\"compression\": 0",
    ),
    ("\"wait\": 25", "\"wait\": -25", "\"wait\": -1"),
    ("\"wait\": 25", "\"wait\": 1e20", "\"wait\": -1"),
    ("\"wait\": 25", "\"wait\": \"25\"", "\"wait\": 25"),
    ("\"time\": 70", "\"time\": [70]", "\"time\": null"),
    (
        "\"timings\": {",
        "\"timings\": \"none\", \"times\": {",
        "\"times\": {",
    ),
    (
        "\"content\": {",
        "\"content\": 5, \"contents\": {",
        "\"contents\": {",
    ),
    ("\"status\": 200", "\"status\": \"OK\"", "\"status\": 200"),
    (
        "\"httpVersion\": \"h3\"",
        "\"httpVersion\": 3",
        "\"httpVersion\": \"unknown\"",
    ),
];

#[test]
fn values_that_cannot_be_count_as_unknown() {
    for (old, odd, plain) in UNKNOWN {
        let (odd, plain) = (edited(old, odd), edited(old, plain));
        assert_eq!(read_text(&odd), read_text(&plain), "{old}");
    }
}

/// Replacements in `CHROME`: the old text, the new one, the entry left out then, and why.
const WRONG: [(&str, &str, &str); 14] = [
    // Negative sizes stand for unknown ones; so large ones are mistakes, and a page with another size in
    // their place would be another page.
    (
        "\"_transferSize\": 8000",
        "\"_transferSize\": 1e12",
        "entries[0] https://shop.example/ has a size that no answer can have",
    ),
    (
        "\"_transferSize\": 8000",
        "\"_transferSize\": 1e20",
        "entries[0] https://shop.example/ has a size that no answer can have",
    ),
    (
        "\"url\": \"https://cdn.example/app.js\", \"httpVersion\"",
        "\"httpVersion\"",
        "entries[1] has no absolute URL",
    ),
    (
        "\"url\": \"https://shop.example/\", \"httpVersion\"",
        "\"url\": \"/\", \"httpVersion\"",
        "entries[0] / has no absolute URL",
    ),
    (
        "https://cdn.example/app.js\", \"httpVersion\"",
        "https://cdn.example:x/\\u001b[31m\", \"httpVersion\"",
        "entries[1] https://cdn.example:x/\\u{1b}[31m has no absolute URL",
    ),
    (
        "2024-05-01T10:00:00.150Z",
        "yesterday",
        "entries[1] https://cdn.example/app.js has no startedDateTime that can be read",
    ),
    (
        "\"startedDateTime\": \"2024-05-01T10:00:00.150Z\", ",
        "",
        "entries[1] https://cdn.example/app.js has no startedDateTime that can be read",
    ),
    (
        "2024-05-01T10:00:00.150Z",
        "2024-06-01T10:00:00.150Z",
        "entries[1] https://cdn.example/app.js starts more than a day before or after its page",
    ),
    (
        "\"2024-05-01T10:00:00.000Z\", \"time\": 160.5",
        "\"1970-01-01T00:00:00Z\", \"time\": 160.5",
        "entries[0] https://shop.example/ starts more than a day before or after its page",
    ),
    (
        "\"request\": {",
        "\"question\": {",
        "entries[0] has no request",
    ),
    (
        "\"response\": {",
        "\"response\": null, \"answer\": {",
        "entries[0] https://shop.example/ has no response",
    ),
    (
        "\"entries\": [",
        "\"entries\": [ null,",
        "entries[0] is no JSON object",
    ),
    (
        "\"entries\": [",
        "\"entries\": [ {\"time\": 1, \"time\": 2},",
        "entries[0] cannot be read",
    ),
    (
        "\"wait\": 25",
        "\"wait\": 1e999",
        "entries[3] cannot be read",
    ),
];

#[test]
fn entries_that_say_too_little_are_left_out_and_named() {
    let whole = read_text(CHROME).left_out;
    for (old, new, named) in WRONG {
        let left_out = read_text(&edited(old, new)).left_out;
        assert_eq!(left_out.faults().as_deref(), Some(named));
        assert_eq!(left_out.count(), whole.count() + 1, "{named}");
        assert_eq!(left_out.entries[0].to_string(), named);
    }
}

/// A file with entries of these URLs; those of the last have no response.
fn of_urls(urls: &[(&str, usize)]) -> String {
    let entry = |(url, number): &(&str, usize)| {
        let response = if url.starts_with("http") {
            "null"
        } else {
            "{}"
        };
        let entry = format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00Z","request":{{"url":"{url}"}},
            "response":{response}}}"#
        );
        vec![entry; *number].join(",")
    };
    let entries: Vec<String> = urls.iter().map(entry).collect();
    format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","))
}

#[test]
fn a_file_of_which_nothing_is_left_is_refused() {
    assert_eq!(
        refused_text(&of_urls(&[("data:,x", 9)])),
        "some.har: entries: found 9 entries, all left out: 9 are data: URLs; expected one that went \
         over the network"
    );
    let schemes = [
        "data:,x",
        "blob:https://a.example/1",
        "about:blank",
        "chrome-extension://a/b.js",
    ];
    let mut urls: Vec<(&str, usize)> = schemes.into_iter().zip([9, 1, 1, 1]).collect();
    urls.push(("https://a.example/", 3));
    assert_eq!(
        refused_text(&of_urls(&urls)),
        "some.har: entries: found 15 entries, all left out: 3 have no response, 9 are data: URLs, 1 \
         is a blob: URL, 2 lead to no server (entries[12] https://a.example/ has no response; \
         entries[13] https://a.example/ has no response; entries[14] https://a.example/ has no \
         response); expected one that went over the network"
    );
    let one = refused_text(r#"{"log":{"entries":[{}]}}"#);
    assert!(
        one.contains("found 1 entry, all left out: 1 has no request (entries[0]"),
        "{one}"
    );
}

#[test]
fn many_that_are_left_out_are_counted() {
    let broken = r#"{"request":{"url":"https://a.example/"#.to_owned() + &"x".repeat(100) + "\"}},";
    let text = edited(
        "\"entries\": [",
        &format!("\"entries\": [{}", broken.repeat(15_000)),
    );
    let left_out = read_text(&text).left_out;
    assert_eq!(left_out.reasons[&Reason::NoStart], 15_000);
    assert_eq!(left_out.entries.len(), 20);
    let indices = left_out.entries.iter().map(|entry| entry.index);
    assert!(indices.eq(0..20), "the first are named");
    assert!(left_out.entries.iter().all(|entry| entry.url.len() == 63));
    assert_eq!(
        left_out.to_string(),
        "15002 of 15005 entries are left out: 15000 have no startedDateTime that can be read, 1 was \
         answered by the browser, 1 is a data: URL"
    );
    let empty = r#"{"id":"empty \u001b"},"#.repeat(10_000);
    let text = edited("\"pages\": [", &format!("\"pages\": [{empty}"));
    let left_out = read_text(&text).left_out;
    assert_eq!((left_out.pages, left_out.page_names.len()), (10_000, 20));
    let shown = left_out.to_string();
    let end = "; nothing to load in empty \\u{1b}, empty \\u{1b}, empty \\u{1b} and 9997 more";
    assert!(shown.ends_with(end), "{shown}");
}
