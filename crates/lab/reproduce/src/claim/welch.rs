//! A paper's own test of a difference, next to our verdict.

use super::{Claim, How, Names};
use crate::figure::number;
use crate::records::Records;
use campaign::Settings;
use measure::welch::{Welch, welch};
use serde::Deserialize;
use units::Refusal;

/// A test of whether two cases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// Welch's t-test of the values of all runs, as if those of the two cases had nothing in common.
    Welch,
}

impl Claim {
    /// Checks that a test has two sides.
    pub(super) fn check_test(&self) -> Result<(), Refusal> {
        let two = self.of.0.len() == 1 && self.to.0.len() == 1 && self.how != How::Spread;
        match self.test {
            Some(Test::Welch) if !two || self.metrics.0.is_empty() => Err(Refusal::new(
                "a test compares a metric of one case with that of another",
            )),
            _ => Ok(()),
        }
    }

    /// The outcome of the test in words, if one is asked for.
    pub(super) fn tested(&self, records: &Records<'_>, place: &Settings) -> Option<String> {
        let Test::Welch = self.test?;
        let metric = self.metrics.0.first()?;
        let metric = records.design().metrics.select(metric).ok()?;
        let values = |side: &Names| Some(records.values(&metric, side.0.first()?, place).concat());
        Some(match welch(&values(&self.of)?, &values(&self.to)?) {
            Some(found) => in_words(&found),
            None => "Welch's test needs two runs of each that differ".to_owned(),
        })
    }
}

fn in_words(found: &Welch) -> String {
    let p = match found.p {
        p if p < 1e-300 => "< 1e-300".to_owned(),
        p if p < 0.001 => format!("= {p:.0e}"),
        p => format!("= {p:.3}"),
    };
    let [t, freedom] = [found.t, found.freedom].map(number);
    format!(
        "Welch's test of runs that are not paired: t = {t}, {freedom} degrees of freedom, p {p}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::testing::{first_cell, run};

    fn experiment(claim: &str) -> Result<Experiment, String> {
        let text = format!(
            r#"
            title = "t"
            paper = "p"
            about = "a"
            cases = ["pfifo", "fq"]
            seeds = 4
            [scenario]
            name = "s"
            [[claim]]
            id = "c"
            question = "q"
            test = "welch"
            expect = "at most 0"
            {claim}"#
        );
        Experiment::parse("test", "test.toml", &text).map_err(|error| error.message)
    }

    /// The note of a claim about four runs of each case.
    fn note(ours: [f64; 4], theirs: [f64; 4]) -> (Option<bool>, String) {
        let experiment =
            experiment("metric = \"credited\"\nof = \"fq\"\nto = \"pfifo\"\nas = \"difference\"");
        let experiment = experiment.unwrap();
        let both = [("fq", ours), ("pfifo", theirs)];
        let runs = both.into_iter().flat_map(|(case, values)| {
            let seeds = (1..).zip(values);
            seeds.map(move |(seed, value)| run(case, seed, "credited", value))
        });
        let checked = first_cell(&experiment, &runs.collect::<Vec<_>>());
        (checked.inside, checked.note)
    }

    /// The runs of each seed differ by about one, the seeds by twenty: pairs decide what unpaired runs
    /// do not.
    #[test]
    fn what_it_says_stands_beside_the_verdict() {
        let theirs = [10.0, 30.0, 50.0, 70.0];
        let (inside, note) = note([8.9, 29.1, 48.9, 69.1], theirs);
        assert_eq!(inside, Some(true));
        // By hand: -1 / sqrt(2 · 668.2 / 4).
        assert!(
            note.contains("t = -0.05, 6.00 degrees of freedom, p = 0.958"),
            "{note}"
        );
    }

    #[test]
    fn what_cannot_be_tested_says_so() {
        let (_, note) = note([3.0; 4], [3.0; 4]);
        assert!(
            note.contains("needs two runs of each that differ"),
            "{note}"
        );
        for claim in [
            "metric = \"credited\"\nof = \"fq\"",
            "metric = \"credited\"\nof = [\"fq\", \"pfifo\"]\nto = \"pfifo\"",
            "metric = \"credited\"\nof = \"fq\"\nto = \"pfifo\"\nas = \"spread\"",
            "fact = \"theory cbq of completion integral\"",
        ] {
            let error = experiment(claim).unwrap_err();
            assert!(error.contains("a test compares"), "{claim}: {error}");
        }
        let error =
            experiment("metric = \"credited\"\nof = \"fq\"\nto = \"pfifo\"\ntest = \"student\"");
        assert!(error.is_err());
    }

    #[test]
    fn small_probabilities_are_written_as_powers() {
        let of = |p| {
            in_words(&Welch {
                t: 2.0,
                freedom: 8.0,
                p,
            })
        };
        assert!(of(2.47e-14).ends_with("p = 2e-14"));
        assert!(of(0.0794).ends_with("p = 0.079"));
        assert!(of(0.0).ends_with("p < 1e-300"));
    }
}
