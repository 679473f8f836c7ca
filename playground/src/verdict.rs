//! Two disciplines compared, in a sentence and in a table.

use crate::answer::{self, Failure};
use measure::RunResult;
use measure::estimate::{Against, Estimate, LEVEL, Statistic, compare};
use measure::metric::calls::{CALL_RATE, FRAME_P95, STALL};
use measure::metric::pages::PLT;
use measure::metric::transfers::{BULK_RATE, FCT};
use measure::metric::{Better, Metric, Registry};
use report::{Summary, columns, summarize};
use serde::Serialize;

/// Metrics that can decide, the first that both sides have: what a person in the house notices first.
const DECISIVE: [Decisive; 4] = [
    Decisive {
        metric: &STALL,
        does: "the call stalls for",
        unit: "s",
        factor: 1.0,
    },
    Decisive {
        metric: &PLT,
        does: "a page takes",
        unit: "s",
        factor: 1e-3,
    },
    Decisive {
        metric: &FCT,
        does: "a transfer takes",
        unit: "s",
        factor: 1e-3,
    },
    Decisive {
        metric: &BULK_RATE,
        does: "transfers get",
        unit: "Mbit/s",
        factor: 1.0,
    },
];

/// What is decided, and the figures.
#[derive(Debug, PartialEq, Serialize)]
struct Verdict {
    sentence: String,
    /// Runs of each side.
    runs: usize,
    /// A row for each metric.
    rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Row {
    heading: &'static str,
    unit: &'static str,
    summary: &'static str,
    /// For each side, the figure and its interval.
    cells: Vec<Option<(String, Option<String>)>>,
}

/// Compares the results in `text`, one a line.
pub fn verdict(text: &str) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line {
        verdict: Verdict,
    }
    let results: Result<Vec<RunResult>, _> = text.lines().map(serde_json::from_str).collect();
    let results = results.map_err(|error| {
        Failure::new(
            &format!("a result cannot be read: {error}"),
            "give results of this version",
        )
    })?;
    let verdict = decided(&results);
    answer::print(&Line { verdict })
}

fn decided(results: &[RunResult]) -> Verdict {
    let metrics = Registry::builtin();
    let sides = summarize(results, &metrics);
    let rows = columns(&sides, &metrics)
        .into_iter()
        .map(|(metric, column)| Row {
            heading: column.heading,
            unit: metric.unit,
            summary: metric.summary,
            cells: sides
                .iter()
                .map(|side| {
                    side.cell(metric, column)
                        .map(|cell| (cell.value, cell.interval))
                })
                .collect(),
        });
    let runs = sides.iter().map(|side| side.runs).min().unwrap_or(0);
    Verdict {
        sentence: sentence(&sides, runs),
        runs,
        rows: rows.collect(),
    }
}

fn sentence(sides: &[Summary], runs: usize) -> String {
    let [a, b] = sides else {
        return "There is nothing to compare: both sides have the same discipline.".to_owned();
    };
    let questions: Vec<Question<'_>> = DECISIVE.iter().filter_map(|of| of.asked(a, b)).collect();
    let Some(first) = questions.first() else {
        return "Neither has a call, a page or a transfer to judge by.".to_owned();
    };
    let (name_a, name_b) = (&a.discipline, &b.discipline);
    let [of_a, of_b] = &first.figures;
    let does = first.of.does;
    if runs < 2 {
        return format!(
            "In this one run {does} {of_a} under {name_a} and {of_b} under {name_b}. One run is an \
             anecdote: repeat it."
        );
    }
    let told = questions
        .iter()
        .find_map(|question| Some((question, question.told()?)));
    let Some((question, (first_is_better, ends))) = told else {
        return format!(
            "{runs} runs do not tell the two apart: {does} {of_a} under {name_a} and {of_b} under {name_b}."
        );
    };
    let metric = question.of.metric;
    let alike = if metric.name == first.of.metric.name {
        String::new()
    } else {
        format!(" They do not tell under which {does} longer ({of_a} and {of_b}).")
    };
    let ([better, worse], [of_better, of_worse]) = if first_is_better {
        ([a, b], [&question.figures[0], &question.figures[1]])
    } else {
        ([b, a], [&question.figures[1], &question.figures[0]])
    };
    format!(
        "{} does better: over {runs} runs {} {of_better} against {of_worse} under {}; the difference \
         is {} to {} {} with 95 % confidence.{alike}{}",
        better.discipline,
        question.of.does,
        worse.discipline,
        ends[0],
        ends[1],
        question.of.unit,
        price(better, worse, metric)
    )
}

/// A metric that can decide.
struct Decisive {
    metric: &'static Metric,
    does: &'static str,
    unit: &'static str,
    /// Of the metric's unit in `unit`.
    factor: f64,
}

/// A metric that both sides have.
struct Question<'a> {
    of: &'a Decisive,
    /// The figures of both sides, with their unit.
    figures: [String; 2],
    difference: Option<Estimate>,
}

impl Decisive {
    fn asked(&self, a: &Summary, b: &Summary) -> Option<Question<'_>> {
        let figure = |of: &Summary| {
            let value = of.get(self.metric)?.value * self.factor;
            Some(format!("{} {}", digits(value), self.unit))
        };
        Some(Question {
            of: self,
            figures: [figure(a)?, figure(b)?],
            difference: difference(a, b, self.metric),
        })
    }
}

impl Question<'_> {
    /// If the runs tell: whether the first side is better, and the ends of the difference.
    fn told(&self) -> Option<(bool, [String; 2])> {
        let (low, high) = self.difference?.ci95?;
        let first_has_more = low > 0.0;
        if !first_has_more && high >= 0.0 {
            return None;
        }
        let ends = [low, high].map(|end| (end * self.of.factor).abs());
        let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])].map(digits);
        Some((
            first_has_more == (self.of.metric.better == Better::More),
            ends,
        ))
    }
}

/// What the better side pays, as far as the runs tell.
fn price(better: &Summary, worse: &Summary, decided: &Metric) -> String {
    const COSTS: [(&Metric, &str, &str, f64); 4] = [
        (&PLT, "pages take", "s longer", 1e-3),
        (&BULK_RATE, "transfers get", "Mbit/s less", 1.0),
        (&FRAME_P95, "late frames are", "ms later", 1.0),
        (&CALL_RATE, "the call gets", "Mbit/s less", 1.0),
    ];
    let paid = COSTS.iter().filter_map(|(metric, words, unit, factor)| {
        let of = difference(better, worse, metric).filter(|_| metric.name != decided.name)?;
        let (low, high) = of.ci95?;
        let pays = match metric.better {
            Better::More => high < 0.0,
            _ => low > 0.0,
        };
        let size = digits((of.value * factor).abs());
        // What prints as nothing is none.
        (pays && size != "0.00").then(|| format!("{words} {size} {unit}"))
    });
    let paid: Vec<String> = paid.collect();
    if paid.is_empty() {
        String::new()
    } else {
        format!(" Its price: {}.", paid.join(", "))
    }
}

/// The mean difference of a metric, run by run with the same seed.
fn difference(a: &Summary, b: &Summary, metric: &Metric) -> Option<Estimate> {
    let sides = [a, b].map(|side| -> Vec<Vec<f64>> {
        side.each(metric)
            .into_iter()
            .map(|value| vec![value])
            .collect()
    });
    // A run without a value cannot be paired by its place.
    if sides[0].len() != sides[1].len() {
        return None;
    }
    compare(
        Statistic::Mean,
        [&sides[0], &sides[1]],
        metric.range.bounds(f64::INFINITY),
        Against::Difference,
        LEVEL,
    )
}

fn digits(value: f64) -> String {
    let value = if value == 0.0 { 0.0 } else { value };
    format!("{value:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::CallResult;

    fn run(discipline: &str, seed: u64, stall_s: f64) -> RunResult {
        let call = CallResult {
            name: "call".to_owned(),
            control: "gcc".to_owned(),
            stall_s,
            frames: 1,
            frames_late: 0,
            frames_lost: 0,
            frame_delay_ms: Default::default(),
            low_fps_events: 0,
            freezes: 0,
            playout: None,
            audio: None,
            goodput_mbps: 1.0,
            sojourn_ms: Default::default(),
            why: None,
        };
        RunResult {
            discipline: discipline.to_owned(),
            seed,
            calls: vec![call],
            ..RunResult::default()
        }
    }

    fn said(a: &[f64], b: &[f64]) -> String {
        let of = |name: &'static str, stalls: &[f64]| -> Vec<RunResult> {
            (1..)
                .zip(stalls)
                .map(|(seed, stall)| run(name, seed, *stall))
                .collect()
        };
        decided(&[of("pfifo", a), of("cake", b)].concat()).sentence
    }

    #[test]
    fn one_run_decides_nothing() {
        let expected = "In this one run the call stalls for 1.50 s under pfifo and 0.00 s under cake. \
            One run is an anecdote: repeat it.";
        assert_eq!(said(&[1.5], &[0.0]), expected);
    }

    #[test]
    fn the_better_side_comes_first_with_its_interval() {
        let said = said(&[1.0, 1.2, 1.1, 0.9, 1.0], &[0.1, 0.2, 0.1, 0.0, 0.1]);
        assert!(said.starts_with("cake does better: over 5 runs the call stalls for 0.10 s against 1.04 s under pfifo; the difference is "), "{said}");
    }

    #[test]
    fn what_the_runs_do_not_tell_is_not_said() {
        let said = said(&[1.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 0.9]);
        assert!(
            said.starts_with("4 runs do not tell the two apart"),
            "{said}"
        );
    }
}
