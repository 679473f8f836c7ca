//! Whether the named cause of a call's stall is the true one, over scenarios of one cause. The truth is how a
//! scenario was made; each named cause is tried once more, on seeds that the program has not seen.

mod drawn;
mod written;

use campaign::tried::{LeftOut, Trials};
use campaign::{Case, Cell, Grid, Job, Progress};
use drawn::drawn;
use measure::interval;
use measure::why::{CauseShare, Why};
use scenario::{Document, Scenario};
use sim::Simulator;
use written::written;

/// Drawn scenarios in every commit, one of each kind, and before a release.
const FEW: u64 = 13;
const MANY: u64 = 52;
/// Of so many the true cause has to have the largest share: 38 of 40.
const RIGHT: f64 = 0.95;
/// A cause of more than this share has to take away at least this part of it.
const NAMED: f64 = 0.2;
const KEPT: f64 = 0.5;
/// Seeds for the program, and for the test.
const FIRST: u64 = 2;
const OTHERS: std::ops::Range<u64> = 1001..1013;

/// A scenario in which a call stalls for one cause.
struct OneCause {
    /// A name.
    name: String,
    /// The scenario; the call is named `call`.
    text: String,
    /// What has to be left out for the stall to go, in the words of a trial.
    truth: String,
    /// Something else disturbs the call.
    second: bool,
}

struct Quiet;

impl Progress for Quiet {
    fn done(&self) {}
}

/// The run of a scenario.
fn job(text: &str) -> Job {
    let simulator = Simulator::default();
    let grid = Grid {
        base: Document::parse("one cause", text).unwrap(),
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

/// Why the call of a run stalls, with each cause tried.
fn why(job: &Job) -> Why {
    let simulator = Simulator::default();
    let jobs = std::slice::from_ref(job);
    let mut result = campaign::run(&simulator, jobs, None, &Quiet).unwrap();
    let call = result[0].calls.remove(0);
    assert_eq!(call.name, "call");
    let mut why = call.why.unwrap();
    let mut trials = Trials::new(&simulator, &Quiet, job, FIRST);
    trials.judge(&mut why, &call.name, &call.control).unwrap();
    why
}

/// The mean stall of the call over the test's seeds.
fn stall(job: &Job, scenario: &Scenario) -> f64 {
    let simulator = Simulator::default();
    let stalls = OTHERS.map(|seed| {
        let result = measure::run(&simulator, scenario, &job.discipline, seed, false).unwrap();
        result.calls[0].stall_s
    });
    interval::mean(&stalls.collect::<Vec<f64>>())
}

/// What is left out for a named cause; a pair has both names.
fn left_out(job: &Job, of: &CauseShare) -> Option<LeftOut> {
    let all = LeftOut::all(&job.scenario, "call").into_iter();
    let mut tries = LeftOut::of(&of.cause, &job.scenario);
    tries.extend(all.map(|(left_out, _)| left_out));
    let find = |name: &str| tries.iter().find(|of| of.to_string() == name).cloned();
    let parts = of.tried.as_ref()?.left_out.split(" together with ");
    let mut parts: Vec<LeftOut> = parts.map(find).collect::<Option<_>>()?;
    match parts.len() {
        1 => parts.pop(),
        _ => Some(LeftOut::Together(parts)),
    }
}

/// What was found of one scenario.
struct Found {
    named: String,
    right: bool,
    /// Named causes that do not change the stall as they should.
    empty: Vec<String>,
    row: String,
}

fn found(of: &OneCause) -> Option<Found> {
    let job = job(&of.text);
    let why = why(&job);
    if why.count == 0 {
        return None;
    }
    let first = why.causes.first();
    let named = first.and_then(|first| first.tried.as_ref());
    let named = match named {
        Some(tried) => tried.left_out.as_str(),
        None if why.rare => "perhaps, since too rare",
        None => "nothing",
    };
    let with = stall(&job, &job.scenario);
    let mut empty = Vec::new();
    let mut again = String::new();
    // What is called rare has no share that was tried.
    let named_causes = why.causes.iter().filter(|_| !why.rare);
    for cause in named_causes.filter(|of| of.named_share() > NAMED) {
        let scenario = left_out(&job, cause).and_then(|of| of.apply(&job.scenario, "call"));
        let gone = scenario.map_or(0.0, |scenario| 1.0 - stall(&job, &scenario) / with);
        again += &format!(" {:>4.0}", gone * 100.0);
        // Not a number, if the call never stalls on these seeds, is not enough.
        let kept = gone >= cause.named_share() * KEPT;
        if !kept {
            empty.push(cause.cause.text(""));
        }
    }
    let right = named == of.truth;
    let ci95 = first.and_then(|first| first.tried.as_ref()?.ci95);
    let [low, high] = ci95.unwrap_or_default().map(|end| end * 100.0);
    let row = format!(
        "{:<18} {:<6} {:<38} {:<38} {:>5.0} {:>5.0} {:>4.0} to {:>3.0}  {again}",
        of.name,
        if of.second { "yes" } else { "no" },
        of.truth,
        if right { "the same" } else { named },
        first.map_or(0.0, |first| first.share * 100.0),
        first.map_or(0.0, |first| first.named_share() * 100.0),
        low,
        high,
    );
    Some(Found {
        named: format!("{}: {}: {}\n{}", of.name, of.truth, why.text, of.text),
        right,
        empty,
        row,
    })
}

/// Tries all; prints a table. At least `least` of them have to stall.
fn all_right(of: &[OneCause], least: usize) {
    println!(
        "{:<18} {:<6} {:<38} {:<38} {:>5} {:>5} {:>11}   gone again, each named",
        "scenario", "second", "made with", "named first", "seen%", "gone%", "95 %"
    );
    let (mut stalling, mut wrong, mut empty) = (0, Vec::new(), Vec::new());
    for of in of {
        let Some(found) = found(of) else {
            println!("{:<18} does not stall", of.name);
            continue;
        };
        println!("{}", found.row);
        stalling += 1;
        if !found.right {
            wrong.push(found.named.clone());
        }
        empty.extend(
            found
                .empty
                .iter()
                .map(|of| format!("{of}: {}", found.named)),
        );
    }
    println!(
        "{stalling} stall; the true cause is first in {}; named in vain: {}",
        stalling - wrong.len(),
        empty.len()
    );
    assert!(stalling >= least, "{stalling} stall");
    let right = 1.0 - wrong.len() as f64 / stalling as f64;
    assert!(right >= RIGHT, "{}", wrong.join("\n"));
    assert!(empty.is_empty(), "{}", empty.join("\n"));
}

#[test]
fn the_true_cause_is_named() {
    let few: Vec<OneCause> = (0..FEW).map(drawn).collect();
    all_right(&few, 10);
}

#[test]
#[ignore = "a minute: `make test OF=causes`"]
fn the_true_cause_is_named_of_many() {
    all_right(&written(), 20);
    all_right(&(0..MANY).map(drawn).collect::<Vec<_>>(), 40);
}
