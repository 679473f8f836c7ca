//! `analects check`: a test of somebody's own application.

mod call;
mod host;
mod judged;
mod shell;
mod table;

use crate::cli::CheckArgs;
use crate::host::place::OutputFolder;
use crate::own;
use ::check::{
    Baseline, Check, Example, FIGURES, Outcome, Run, Unit, Verdict, decide, junit, needs_runs, page,
};
use command::Refused;
use command::files::{distinct, replace, replaceable};
use command::print;
use rustix::time::{ClockId, clock_gettime};
use scenario::files;
use std::path::{Path, PathBuf};
use units::Duration;

type Result<T> = core::result::Result<T, Refused>;

/// The statuses: what a check says.
const FAILED: u8 = 1;
/// It says nothing: a bad file, a late host, or too little time.
const UNDECIDED: u8 = 2;

/// An example of all keys.
const KEYS: &str = include_str!("check.toml");
/// What stands above the figures.
const HEAD: &str = "# What `near` prints are objects such as {\"framesPerSecond\": 30, \"freezeCount\": 0}, each on a line, with the names
# of WebRTC's getStats (https://www.w3.org/TR/webrtc-stats): times in s, `packetsLost` and others as counts since the
# call began. `t`, in s, or `timestamp`, in ms, is the moment; without it, it is when the line is read. Lines that do
# not begin with { are left out.
#
# Limits, with the statistics that they need. Of those with _p5, a call has a value at each moment: _p5 is what 5 % of
# them do not exceed; _min, _max, _mean and every other percentile are there, too, and without any it is the mean.
#
";

/// What a call takes beside its duration: namespaces, the far end's start, and packets that are still under way.
const AROUND: Duration = Duration::from_secs(2);

/// Checks, prints what came of it, and returns the status.
pub fn run(args: &CheckArgs) -> u8 {
    match checked(args) {
        Ok(Verdict::Passed) => 0,
        Ok(Verdict::Failed) => FAILED,
        Ok(Verdict::Undecided) => UNDECIDED,
        Err(refused) => {
            eprintln!("{}", refused.rendered());
            UNDECIDED
        }
    }
}

fn checked(args: &CheckArgs) -> Result<Verdict> {
    let check = read(args)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|file| self::baseline(file, &check.name));
    let baseline = baseline.transpose()?;
    prepare(args)?;
    enough_time(args, &check)?;
    let place = OutputFolder::new(args.keep.as_deref(), "analects-check-")?;
    let calls = made(args, &check, &place, baseline.as_ref())?;
    let stopped = calls.stopped.as_ref().map(Refused::to_string);
    let outcome = Outcome::of(&check, &calls.runs, baseline.as_ref(), stopped.as_deref());
    print(&table::of(&outcome))?;
    written(args, &check, &outcome, &calls.examples)?;
    if let Some(refused) = calls.stopped {
        eprintln!("{}", refused.rendered());
    }
    Ok(outcome.verdict)
}

/// All keys of a file, and all figures that limits are about.
pub fn described() -> String {
    let figures = FIGURES.iter().map(|figure| {
        let which = if figure.has_moments() { "_p5" } else { "" };
        let sign = if figure.more { ">=" } else { "<=" };
        let bound = match figure.unit {
            Unit::Count => "20",
            Unit::Time => "250ms",
            Unit::Share => "2%",
            Unit::Rate => "500kbit",
        };
        let limit = format!("{}{which} {sign} {bound}", figure.name);
        format!(
            "# {limit:<20} {}: {}\n",
            figure.keys().join(", "),
            figure.about
        )
    });
    format!("{KEYS}\n{HEAD}{}", figures.collect::<String>())
}

/// Opens a page with a profile in `folder`, and prints what its calls are like: by which this program runs itself at
/// both ends of a link.
pub fn page_statistics(folder: &Path, name: &str, url: &str) -> Result<()> {
    let told = ::browser::page_statistics(folder, name, url, std::io::stdout());
    told.map_err(|error| Refused::failed(&error.message, &error.help))
}

fn read(args: &CheckArgs) -> Result<Check> {
    let file = args.file.display().to_string();
    let text = files::read(&args.file, files::MAX_SCENARIO);
    let help = "name a file with [application] and [[condition]]: `analects describe check`";
    let text = text.map_err(|reason| Refused::new(&format!("{file}: {reason}"), help))?;
    let mut check = Check::read(&file, &text, own::simulator())?;
    if let Some(name) = args
        .only
        .iter()
        .find(|name| check.conditions.iter().all(|of| of.name != **name))
    {
        let names = check
            .conditions
            .iter()
            .map(|condition| condition.name.as_str());
        let refusal = units::Refusal::unknown("condition", name, names).within("--only");
        return Err(Refused::because(refusal, ""));
    }
    check
        .conditions
        .retain(|condition| args.only.is_empty() || args.only.contains(&condition.name));
    Ok(check)
}

fn baseline(file: &Path, check: &str) -> Result<Baseline> {
    let text = files::read(file, files::MAX_SCENARIO);
    let text = text.map_err(|reason| {
        Refused::new(
            &format!("{}: {reason}", file.display()),
            "write it by `analects check FILE --save BASELINE.json`",
        )
    })?;
    Baseline::read(&text)
        .and_then(|baseline| baseline.is_of(check))
        .map_err(|refusal| Refused::because(refusal.within(&file.display().to_string()), ""))
}

/// Before minutes are spent.
fn prepare(args: &CheckArgs) -> Result<()> {
    let asked = [&args.save, &args.json, &args.junit, &args.report];
    let asked: Vec<PathBuf> = asked.into_iter().flatten().cloned().collect();
    distinct(Some(&args.file), &asked)?;
    asked.iter().try_for_each(|file| replaceable(file))
}

/// Refuses a time in which nothing can pass.
fn enough_time(args: &CheckArgs, check: &Check) -> Result<()> {
    let fewest = decide::fewest() as u64;
    if u64::from(args.runs) < fewest {
        let message = format!(
            "--runs {}: a condition passes after {fewest} calls or more",
            args.runs
        );
        return Err(Refused::new(
            &message,
            &format!("write --runs {fewest} or more"),
        ));
    }
    let each = check
        .conditions
        .iter()
        .map(|condition| condition.duration + AROUND);
    let needed = each.fold(Duration::ZERO, |sum, each| sum + each) * fewest;
    if needed <= args.time {
        return Ok(());
    }
    let minutes = needed.as_secs_f64() / 60.0;
    let message = format!(
        "{} conditions pass after {fewest} calls each or more, {minutes:.1} minutes, and --time is {}",
        check.conditions.len(),
        args.time
    );
    let help = format!(
        "write --time {:.0}min, shorten `duration`, or choose conditions by --only",
        minutes.ceil()
    );
    Err(Refused::new(&message, &help))
}

/// The calls of all conditions.
struct Calls {
    runs: Vec<Vec<Run>>,
    examples: Vec<Example>,
    /// Why no more were made, though some were to be.
    stopped: Option<Refused>,
}

/// Makes calls until all is decided, or time is over: in turn, so that what fails is known early.
fn made(
    args: &CheckArgs,
    check: &Check,
    place: &OutputFolder,
    baseline: Option<&Baseline>,
) -> Result<Calls> {
    let mut calls = Calls {
        runs: vec![Vec::new(); check.conditions.len()],
        examples: Vec::new(),
        stopped: None,
    };
    let began = seconds();
    while let Some(number) = next(args, check, &calls.runs, baseline) {
        let condition = &check.conditions[number];
        let takes = (condition.duration + AROUND).as_secs_f64();
        if seconds() - began + takes > args.time.as_secs_f64() {
            break;
        }
        match call(args, check, place, (number, &calls)) {
            Ok((run, example)) => {
                if calls.examples.iter().all(|other| other.condition != number) {
                    calls.examples.extend(example);
                }
                calls.runs[number].push(run);
            }
            Err(refused) if calls.runs.iter().all(Vec::is_empty) => return Err(refused),
            // What was found until then is told all the same.
            Err(refused) => {
                calls.stopped = Some(refused);
                break;
            }
        }
    }
    Ok(calls)
}

/// One more call over the link of the condition of that number.
fn call(
    args: &CheckArgs,
    check: &Check,
    place: &OutputFolder,
    (number, calls): (usize, &Calls),
) -> Result<(Run, Option<Example>)> {
    let condition = &check.conditions[number];
    let call = calls.runs[number].len() + 1;
    let folder = place.inner(&format!("{}-{call}", condition.name))?;
    let mut before = calls.runs.iter().flatten();
    let known = before.any(|run| !run.values.is_empty());
    let left = call::made(check, condition, (&folder, call))?;
    let (run, example) = judged::of(check, number, left, known)?;
    eprintln!(
        "{}, call {call}: {}",
        condition.name,
        table::told(condition, &run)
    );
    if args.keep.is_none() {
        // A log of packets has some MB; what is left is gone with its place.
        _ = std::fs::remove_dir_all(&folder);
    }
    Ok((run, example))
}

/// The undecided condition with the fewest calls.
fn next(
    args: &CheckArgs,
    check: &Check,
    runs: &[Vec<Run>],
    baseline: Option<&Baseline>,
) -> Option<usize> {
    let open = (0..runs.len()).filter(|&number| {
        let runs = &runs[number];
        runs.len() < args.runs as usize
            && needs_runs(check, &check.conditions[number], runs, baseline)
    });
    open.min_by_key(|&number| runs[number].len())
}

fn written(args: &CheckArgs, check: &Check, outcome: &Outcome, examples: &[Example]) -> Result<()> {
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(outcome).unwrap_or_default();
        replace(file, &(text + "\n"))?;
    }
    if let Some(file) = &args.junit {
        replace(file, &junit(outcome))?;
    }
    if let Some(file) = &args.report {
        replace(file, &page(check, outcome, examples))?;
    }
    match (&args.save, outcome.verdict) {
        (None, _) => Ok(()),
        (Some(file), Verdict::Passed) => replace(file, &outcome.baseline().text()),
        (Some(file), _) => {
            eprintln!(
                "{} is not written: a baseline is of a check that passed",
                file.display()
            );
            Ok(())
        }
    }
}

/// Of the monotonic clock.
fn seconds() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn what_is_described_is_a_check() {
        let text = described();
        let scenario = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../scenarios/my-link.toml"
        );
        let text = text.replace("scenarios/my-link.toml", scenario);
        let check = Check::read("check.toml", &text, own::simulator()).unwrap();
        assert_eq!(check.conditions.len(), 3);
        for figure in FIGURES {
            assert!(text.contains(figure.about), "{}", figure.name);
        }
    }
    /// The blocks of a workflow's `run: |`, without their indent.
    fn blocks(workflow: &str) -> Vec<String> {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut found = Vec::new();
        let mut lines = workflow.lines().peekable();
        while let Some(line) = lines.next() {
            if line.trim_start().starts_with("run: |") {
                let mut block = String::new();
                while let Some(inner) =
                    lines.next_if(|next| next.is_empty() || indent(next) > indent(line))
                {
                    block += inner.trim_start();
                    block.push('\n');
                }
                found.push(block);
            }
        }
        found
    }

    #[test]
    fn the_example_of_a_workflow_runs_what_there_is() {
        let workflow = include_str!("../../../../../packaging/github/calls.yml");
        assert!(!workflow.contains('\t'), "YAML has no tabs");
        let blocks = blocks(workflow);
        assert_eq!(blocks.len(), 2);
        for block in &blocks {
            let status = std::process::Command::new("sh")
                .args(["-n", "-c", block])
                .status();
            assert!(status.unwrap().success(), "{block}");
        }
        let line = blocks[1].replace("\\\n", " ");
        let line = line
            .lines()
            .find_map(|line| line.strip_prefix("sudo ~/.cargo/bin/"));
        let words = Cli::try_parse_from(line.unwrap().split_whitespace()).unwrap();
        let Command::Check(args) = words.command else {
            panic!("{line:?}");
        };
        assert!(
            args.junit.is_some() && args.baseline.is_some() && args.time > Duration::from_secs(300)
        );
    }

    /// The documents' example is the file, and the file is a check.
    #[test]
    fn the_examples_are_checks() {
        let example = include_str!("../../../../lab/check/examples/calls.toml");
        let check = Check::read("calls.toml", example, own::simulator()).unwrap();
        assert_eq!(check.conditions.len(), 4);
        let guide = include_str!("../../../../../docs/guide-application-engineer.md");
        let (_, text) = example.split_once('\n').unwrap();
        assert!(guide.contains(&format!("```toml\n{text}```\n")));
    }
}
