//! Whether the named cause of a call's stall is the true one, over scenarios of one cause.

#[path = "causes/drawn.rs"]
mod drawn;

use campaign::tried::Trials;
use campaign::{Case, Cell, Grid, Job, Progress};
use drawn::drawn;
use measure::why::Why;
use scenario::Document;
use sim::Simulator;

/// Scenarios in every commit, and in the release gate.
const FEW: u64 = 13;
const ALL: u64 = 52;
/// Of so many the true cause has to have the largest share.
const ENOUGH: f64 = 0.95;

struct Quiet;

impl Progress for Quiet {
    fn done(&self) {}
}

/// The job of a scenario.
fn job(text: &str) -> Job {
    let simulator = Simulator::default();
    let grid = Grid {
        base: Document::parse("drawn", text).unwrap(),
        cases: vec![Case::plain("pfifo")],
        cells: vec![Cell::default()],
        traces: vec![None],
        seeds: (1, 1),
        without: None,
        common: [].into(),
    };
    let jobs = grid.plan(&simulator, &simulator);
    jobs.unwrap_or_else(|error| panic!("{error}\n{text}"))
        .remove(0)
        .drawn()
}

/// Why the call of a scenario stalls, with each cause tried.
fn why(text: &str) -> Why {
    let job = job(text);
    let simulator = Simulator::default();
    let jobs = std::slice::from_ref(&job);
    let result = campaign::run(&simulator, jobs, None, &Quiet).unwrap();
    let call = result[0].calls[0].clone();
    let mut why = call.why.unwrap();
    let mut trials = Trials::new(&simulator, &Quiet, &job, 2);
    trials.judge(&mut why, &call.name, &call.control).unwrap();
    why
}

/// The scenarios of which the first cause is not the true one, of those in which the call stalls.
fn wrong(numbers: std::ops::Range<u64>) -> (usize, Vec<String>) {
    let mut stalling = 0;
    let mut wrong = Vec::new();
    for number in numbers {
        let drawn = drawn(number);
        let why = why(&drawn.text);
        if why.count == 0 {
            eprintln!("{number}: no stall, {}", drawn.truth);
            continue;
        }
        stalling += 1;
        let named = why.causes.first().and_then(|first| first.tried.as_ref());
        if named.is_none_or(|tried| tried.left_out != drawn.truth) {
            wrong.push(format!(
                "{number}: {}: {}\n{}",
                drawn.truth, why.text, drawn.text
            ));
        }
        for cause in &why.causes {
            let tried = cause.tried.as_ref();
            let changes = tried.is_none_or(|tried| tried.gone >= cause.share / 2.0);
            assert!(changes || cause.share < 0.2, "{number}: {}", why.text);
        }
    }
    (stalling, wrong)
}

#[test]
fn the_true_cause_is_named() {
    let (stalling, wrong) = wrong(0..FEW);
    assert!(stalling >= 10, "{stalling} stall");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "more of the same: the release gate"]
fn the_true_cause_is_named_of_fifty() {
    let (stalling, wrong) = wrong(0..ALL);
    assert!(stalling >= 40, "{stalling} stall");
    let right = 1.0 - wrong.len() as f64 / stalling as f64;
    assert!(
        right >= ENOUGH,
        "{} of {stalling}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
