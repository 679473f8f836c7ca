//! What makes runs not to be believed: said above a table, in the row, and with `--strict` by the status.

use command::Refused;
use measure::RunResult;
use std::collections::BTreeMap;

/// Behind the name of a row.
pub const MARK: &str = " (!)";

/// The reasons for each discipline, and in how many of its runs: none if all runs can be believed.
type Reasons<'a> = BTreeMap<(&'a str, &'a str), Vec<u64>>;

fn reasons(results: &[RunResult]) -> Reasons<'_> {
    let mut reasons = Reasons::new();
    for run in results {
        for reason in &run.invalid {
            reasons
                .entry((&run.discipline, reason))
                .or_default()
                .push(run.seed);
        }
    }
    reasons
}

/// Whether a run of `discipline` is not to be believed.
pub fn is_doubted(results: &[RunResult], discipline: &str) -> bool {
    let runs = results.iter().filter(|run| run.discipline == discipline);
    runs.flat_map(|run| &run.invalid).next().is_some()
}

/// A line for each reason, to stand above figures: empty if there is none.
pub fn told(results: &[RunResult]) -> String {
    let line = |((discipline, reason), mut seeds): ((&str, &str), Vec<u64>)| {
        seeds.dedup();
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let of = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!(
            "not to be believed: {discipline}, {of} {}: {reason}\n",
            seeds.join(", ")
        )
    };
    reasons(results).into_iter().map(line).collect()
}

/// Refuses results that are not to be believed, if that is `strict`.
pub fn checked(results: &[RunResult], strict: bool) -> Result<(), Refused> {
    refused(&told(results), strict)
}

/// Refuses results of which this was told, if that is `strict`.
pub fn refused(told: &str, strict: bool) -> Result<(), Refused> {
    if told.is_empty() || !strict {
        return Ok(());
    }
    let help = "run it where the processor has nothing else to do, or on a slower link";
    Err(Refused::failed(&told.trim_end().replace('\n', "; "), help))
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
    fn reasons_are_told_by_discipline_and_refused_if_that_is_strict() {
        let good = [run("pfifo", 1, &[]), run("cake", 1, &[])];
        assert_eq!(told(&good), "");
        assert!(checked(&good, true).is_ok());
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
        assert!(is_doubted(&results, "pfifo") && !is_doubted(&results, "cake"));
        assert!(checked(&results, false).is_ok());
        assert!(checked(&results, true).unwrap_err().tried());
    }
}
