//! Values of runs that are kept, for later ones to be compared with.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Refusal;

/// The form of the file.
const FORMAT: u32 = 1;

/// The values of each run, by condition and by what a limit is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    format: u32,
    /// The check's name.
    check: String,
    conditions: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

impl Baseline {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(text: &str) -> Result<Baseline, Refusal> {
        let help = "write it by `analects check FILE --save BASELINE.json`";
        let read: Result<Baseline, _> = serde_json::from_str(text);
        let read = read
            .map_err(|error| Refusal::new(format!("it is no baseline: {error}")).with_help(help))?;
        match read.format {
            FORMAT => Ok(read),
            other => Err(
                Refusal::new(format!("its format is {other}, expected {FORMAT}")).with_help(help),
            ),
        }
    }

    /// Refuses those of another check.
    ///
    /// # Errors
    /// If it is not of a check of that name.
    pub fn is_of(self, check: &str) -> Result<Baseline, Refusal> {
        if self.check == check {
            return Ok(self);
        }
        let message = format!("it is of the check {:?}, expected {check:?}", self.check);
        Err(Refusal::new(message).with_help("name that of this check, or write one by --save"))
    }

    /// None yet, of a check of that name.
    pub fn new(check: &str) -> Baseline {
        Baseline {
            format: FORMAT,
            check: check.to_owned(),
            conditions: BTreeMap::new(),
        }
    }

    /// Adds the values of a condition and a limit's name.
    pub fn add(&mut self, condition: &str, name: &str, values: &[f64]) {
        let limits = self.conditions.entry(condition.to_owned()).or_default();
        limits.insert(name.to_owned(), values.to_vec());
    }

    /// As a file has it.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Values of a condition and a limit's name; empty if it has none.
    pub fn values(&self, condition: &str, name: &str) -> &[f64] {
        let values = self
            .conditions
            .get(condition)
            .and_then(|limits| limits.get(name));
        values.map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut baseline = Baseline::new("calls");
        baseline.add("lte", "fps_p5", &[29.0, 28.5]);
        let read = Baseline::read(&baseline.text()).unwrap();
        assert_eq!(read, baseline);
        assert_eq!(read.values("lte", "fps_p5"), [29.0, 28.5]);
        assert_eq!(read.values("dsl", "fps_p5"), [0.0; 0]);
    }

    #[test]
    fn what_is_none_is_refused() {
        for (text, words) in [
            ("", "line 1"),
            ("{}", "missing field"),
            (
                r#"{"format": 2, "check": "a", "conditions": {}}"#,
                "expected 1",
            ),
            (
                r#"{"format": 1, "check": "a", "conditions": {}, "more": 1}"#,
                "more",
            ),
        ] {
            let refusal = Baseline::read(text).unwrap_err();
            assert!(
                refusal.message.contains(words) && refusal.help.is_some(),
                "{text}: {refusal}"
            );
        }
    }
}
