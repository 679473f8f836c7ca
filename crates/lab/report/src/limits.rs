//! Transfers whose rate something other than the network decided, for each row of a table.

use crate::doubts::row;
use measure::{LimitResult, RunResult};
use std::collections::BTreeMap;

/// A line for each transfer and what it waited for, to stand above figures: empty if there is none.
pub fn told(results: &[RunResult]) -> String {
    let mut found: BTreeMap<_, Vec<(u64, f64)>> = BTreeMap::new();
    for run in results {
        for LimitResult { name, by, share } in &run.limits {
            let of = found.entry((row(run), name.as_str(), by.as_str()));
            of.or_default().push((run.seed, *share));
        }
    }
    let mut text = String::new();
    for (((discipline, without), name, by), runs) in found {
        let without = without.map_or(String::new(), |name| format!(" without {name}"));
        let of = match runs.as_slice() {
            [(seed, _)] => format!("seed {seed}"),
            several => format!("{} runs", several.len()),
        };
        let least = runs.iter().map(|(_, share)| *share).fold(1.0, f64::min);
        let (waited, help) = words(by);
        text += &format!(
            "not the network's limit: {discipline}{without}, {of}: {name} waited for {waited} in {:.0} % of its time \
             or more; {help}\n",
            (least * 100.0).floor()
        );
    }
    text
}

/// What a transfer waited for, and what to do about it.
fn words(by: &str) -> (&'static str, &'static str) {
    match by {
        "receiver" => (
            "its receiver's window",
            "set receive_window above rate × round trip",
        ),
        _ => (
            "data from its application",
            "its goodput is what it was given",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, limits: &[(&str, &str, f64)]) -> RunResult {
        let limit = |&(name, by, share): &(&str, &str, f64)| LimitResult {
            name: name.to_owned(),
            by: by.to_owned(),
            share,
        };
        RunResult {
            discipline: "pfifo".to_owned(),
            seed,
            limits: limits.iter().map(limit).collect(),
            ..RunResult::default()
        }
    }

    #[test]
    fn limits_are_told_by_row_and_transfer() {
        assert_eq!(told(&[run(1, &[])]), "");
        let runs = [
            run(1, &[("a", "receiver", 0.98)]),
            run(2, &[("a", "receiver", 0.957), ("b", "application", 0.6)]),
        ];
        let said = told(&runs);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        let receiver =
            "pfifo, 2 runs: a waited for its receiver's window in 95 % of its time or more; set";
        assert!(lines[0].contains(receiver), "{said}");
        let application = "pfifo, seed 2: b waited for data from its application in 60 %";
        assert!(lines[1].contains(application), "{said}");
    }
}
