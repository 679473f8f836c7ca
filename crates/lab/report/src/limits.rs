//! Transfers whose rate something other than the network decided, for each row of a table.

use crate::doubts::{at, row};
use measure::{LimitResult, RunResult};
use std::collections::{BTreeMap, BTreeSet};

/// A line for each traffic entry and what transfers of it waited for, to stand above figures: empty if there is none.
pub fn told(results: &[RunResult]) -> String {
    let mut found: BTreeMap<_, Vec<(u64, &LimitResult)>> = BTreeMap::new();
    for run in results {
        for limit in &run.limits {
            let key = (row(run), at(run), &limit.entry, &limit.by);
            found.entry(key).or_default().push((run.seed, limit));
        }
    }
    let mut text = String::new();
    for (((discipline, without), at, entry, by), all) in found {
        let without = without.map_or(String::new(), |name| format!(" without {name}"));
        let seeds: BTreeSet<u64> = all.iter().map(|(seed, _)| *seed).collect();
        let of = match seeds.first() {
            Some(seed) if seeds.len() == 1 => format!("seed {seed}"),
            _ => format!("{} runs", seeds.len()),
        };
        let names: BTreeSet<&str> = all.iter().map(|(_, limit)| limit.name.as_str()).collect();
        let (who, whose) = match names.first() {
            Some(name) if names.len() == 1 => ((*name).to_owned(), "its"),
            _ => (format!("{} flows of {entry}", names.len()), "their"),
        };
        let least = all.iter().map(|(_, limit)| limit.share).fold(1.0, f64::min);
        let more = if all.len() > 1 { " or more" } else { "" };
        let (waited, help) = words(by);
        text += &format!(
            "not the network's limit: {discipline}{without}{at}, {of}: {who} waited for {waited} in {:.0} % of {whose} \
             time{more}; {help}\n",
            (least * 100.0).floor()
        );
    }
    text
}

/// What a transfer waited for, and what to do about it.
fn words(by: &str) -> (&'static str, &'static str) {
    match by {
        "receiver" => (
            "room in the receiver's window",
            "set receive_window above rate × round trip",
        ),
        _ => (
            "data from the application",
            "the goodput is what the application gave",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, limits: &[(&str, &str, f64)]) -> RunResult {
        let limit = |&(name, by, share): &(&str, &str, f64)| LimitResult {
            name: name.to_owned(),
            entry: name.split('-').next().unwrap().to_owned(),
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
        let receiver = "pfifo, 2 runs: a waited for room in the receiver's window in 95 % of its time or more; set";
        assert!(lines[0].contains(receiver), "{said}");
        let application =
            "pfifo, seed 2: b waited for data from the application in 60 % of its time; the";
        assert!(lines[1].contains(application), "{said}");
    }

    #[test]
    fn flows_of_an_entry_have_a_line_together() {
        let many = [
            ("a-1", "receiver", 0.9),
            ("a-2", "receiver", 0.8),
            ("a-4", "receiver", 0.7),
        ];
        let said = told(&[run(1, &many)]);
        let all = "pfifo, seed 1: 3 flows of a waited for room in the receiver's window in 70 % of their time or more;";
        assert!(said.contains(all), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }

    #[test]
    fn what_runs_differ_in_is_told_apart() {
        let mut runs = [
            run(1, &[("a", "receiver", 0.9)]),
            run(1, &[("a", "receiver", 0.8)]),
        ];
        for (run, rtt) in runs.iter_mut().zip(["10ms", "90ms"]) {
            run.variant.insert("rtt".to_owned(), rtt.to_owned());
        }
        let said = told(&runs);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        for (line, is) in lines
            .iter()
            .zip(["rtt 10ms, seed 1: a waited", "rtt 90ms, seed 1: a waited"])
        {
            assert!(line.contains(is), "{line}");
        }
    }
}
