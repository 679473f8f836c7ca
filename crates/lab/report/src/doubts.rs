//! What makes runs not to be believed, for each row of a table.

use measure::{RunResult, WITHOUT};
use std::collections::BTreeMap;

/// Stands behind the name of a row of which a run is not to be believed.
pub const MARK: &str = " (!)";

/// A discipline, and the traffic that its runs leave out.
pub type Row<'a> = (&'a str, Option<&'a str>);

pub(crate) fn row(run: &RunResult) -> Row<'_> {
    let without = run.variant.get(WITHOUT).map(String::as_str);
    (&run.discipline, without)
}

/// Whether a run of this row is not to be believed.
pub fn is_doubted(results: &[RunResult], of: Row<'_>) -> bool {
    let runs = results.iter().filter(|run| row(run) == of);
    runs.flat_map(|run| &run.invalid).next().is_some()
}

/// What a run differs in from others of its row, such as a trace.
pub(crate) fn at(run: &RunResult) -> String {
    let others = run.variant.iter().filter(|(name, _)| *name != WITHOUT);
    others
        .map(|(name, value)| format!(", {name} {value}"))
        .collect()
}

/// A line for each reason, to stand above figures: empty if there is none.
pub fn told(results: &[RunResult]) -> String {
    let mut reasons: BTreeMap<(Row<'_>, String, &str), Vec<u64>> = BTreeMap::new();
    for run in results {
        for reason in &run.invalid {
            let seeds = reasons.entry((row(run), at(run), reason)).or_default();
            seeds.push(run.seed);
        }
    }
    type Reason<'a> = ((Row<'a>, String, &'a str), Vec<u64>);
    let line = |(((discipline, without), at, reason), mut seeds): Reason<'_>| {
        seeds.dedup();
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let of = if seeds.len() == 1 { "seed" } else { "seeds" };
        let without = without.map_or(String::new(), |name| format!(" without {name}"));
        format!(
            "not to be believed: {discipline}{without}{at}, {of} {}: {reason}\n",
            seeds.join(", ")
        )
    };
    reasons.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(discipline: &str, seed: u64, invalid: &[&str]) -> RunResult {
        RunResult {
            discipline: discipline.to_owned(),
            seed,
            invalid: invalid.iter().map(|reason| (*reason).to_owned()).collect(),
            ..RunResult::default()
        }
    }

    #[test]
    fn reasons_are_told_by_row() {
        let good = [run("pfifo", 1, &[]), run("cake", 1, &[])];
        assert_eq!(told(&good), "");
        let late = "this host was too slow";
        let results = [
            run("pfifo", 1, &[late]),
            run("pfifo", 2, &[late]),
            run("pfifo", 3, &[]),
            run("cake", 1, &[]),
        ];
        assert_eq!(
            told(&results),
            "not to be believed: pfifo, seeds 1, 2: this host was too slow\n"
        );
        let doubted = |discipline, without| is_doubted(&results, (discipline, without));
        assert!(doubted("pfifo", None) && !doubted("cake", None));
        assert!(!doubted("pfifo", Some("page")));
        let mut control = run("pfifo", 1, &[late]);
        control
            .variant
            .insert(WITHOUT.to_owned(), "page".to_owned());
        assert_eq!(
            told(&[control]),
            "not to be believed: pfifo without page, seed 1: this host was too slow\n"
        );
        let mut other = run("pfifo", 1, &[late]);
        other.variant.insert("rate".to_owned(), "9mbit".to_owned());
        assert_eq!(
            told(&[other]),
            "not to be believed: pfifo, rate 9mbit, seed 1: this host was too slow\n"
        );
    }
}
