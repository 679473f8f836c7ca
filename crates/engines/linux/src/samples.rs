//! Scenarios for tests.

use scenario::{AnyNames, Document, Scenario};

/// One on 20 Mbit/s and 40 ms with one transfer, with the further settings `more`.
pub fn bulk(more: &str) -> Scenario {
    let text = format!(
        r#"
        disciplines = ["pfifo"]
        duration = "10s"
        link = {{ rate = "20mbit", rtt = "40ms", buffer = "100p" }}
        traffic = [{{ name = "bulk", kind = "bulk", {more} }}]
        "#
    );
    read(&text)
}

/// The scenario in `text`, with any names.
pub fn read(text: &str) -> Scenario {
    let names = AnyNames::default();
    let document = Document::parse("test", text).unwrap();
    document.resolve(&names).unwrap()
}
