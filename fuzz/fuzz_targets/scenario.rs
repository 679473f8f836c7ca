//! Any text is a scenario, which can be written and read again, or is refused in a few lines.
//!
//! The first line is taken as a `--set`, if it looks like one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Document, Names, ScenarioError};
use sim::Simulator;

fuzz_target!(|text: &str| {
    let (set, rest) = text.split_once('\n').unwrap_or(("", text));
    let checked = match set.split_once('=') {
        Some((path, value)) => check(rest, Some((path, value))),
        None => check(text, None),
    };
    if let Err(error) = checked {
        let message = error.to_string();
        assert!(message.chars().count() < 1500, "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
});

fn check(text: &str, set: Option<(&str, &str)>) -> Result<(), ScenarioError> {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let mut document = Document::parse("fuzz.toml", text)?;
    if let Some((path, value)) = set {
        document.set(path, value)?;
    }
    let resolved = document.resolve(names)?;
    let again = Document::parse("again.toml", &document.to_toml())?;
    assert_eq!(again.resolve(names)?, resolved);
    Ok(())
}
