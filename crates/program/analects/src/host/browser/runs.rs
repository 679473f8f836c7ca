//! One trial behind one link.

use super::{Result, failed, pacer};
use crate::cli::BrowserArgs;
use crate::host::place::OutputFolder;
use browser::{Outcome, Trial};
use command::Refused;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A control run whose caller encodes fewer frames in a second is not the link's doing.
const FRAMES: f64 = 20.0;

/// A trial behind a link.
pub struct TrialPlan {
    /// The link's.
    pub discipline: String,
    /// The rate of the receiver's pacer, if it has one.
    pub pace: Option<String>,
    /// It only shows whether this host is fast enough.
    pub control: bool,
    /// What is done.
    pub trial: Trial,
}

impl TrialPlan {
    /// The name of its folder, but for the repeat.
    fn folder(&self) -> String {
        match (self.control, &self.pace) {
            (true, _) => "control".to_owned(),
            (false, None) => self.discipline.clone(),
            (false, Some(rate)) => format!("{}-paced-{rate}", self.discipline),
        }
    }
}

/// A trial's outcome.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Counted from 0.
    pub repeat: u32,
    /// The link's.
    pub discipline: String,
    /// The rate of the receiver's pacer, if it had one.
    pub pace: Option<String>,
    /// It only shows whether this host is fast enough.
    pub control: bool,
    /// How many pages were to be opened.
    pub pages: usize,
    /// What the browsers told.
    pub outcome: Outcome,
    /// The summary of `analects link`.
    pub link: Value,
    /// The summary of `analects pace`, if there was one.
    pub pacer: Option<Value>,
}

/// A figure of a run; none if there is nothing to tell it from.
type Figure = fn(&Run) -> Option<f64>;

/// The columns.
pub const FIGURES: [(&str, Figure); 8] = [
    ("frozen, s/min", |run| {
        Some(run.by_minute(run.outcome.call.frozen))
    }),
    ("freezes/min", |run| {
        Some(run.by_minute(run.outcome.call.freezes))
    }),
    ("frames/s", |run| Some(run.outcome.call.fps)),
    ("low-FPS s/min", |run| {
        Some(run.by_minute(run.outcome.call.low_fps))
    }),
    ("call, Mbit/s", |run| Some(run.outcome.call.kbit / 1e3)),
    ("buffered, ms", |run| Some(run.outcome.call.buffer_ms)),
    ("page, s", Run::page),
    ("pacer, % of a CPU", Run::pacing),
];

impl Run {
    /// Whether its link is to be believed; of a control run, also whether the call did not freeze.
    pub fn is_valid(&self) -> bool {
        let believed = self.link["believed"].as_bool().unwrap_or(false);
        let call = &self.outcome.call;
        let calm = call.freezes == 0.0 && call.encoded_fps >= FRAMES;
        believed && (calm || !self.control)
    }

    fn by_minute(&self, value: f64) -> f64 {
        60.0 * value / self.outcome.call.seconds
    }

    /// The mean time of its pages, s.
    fn page(&self) -> Option<f64> {
        let visits = &self.outcome.visits;
        let sum: f64 = visits.iter().map(|visit| visit.ms / 1e3).sum();
        (!visits.is_empty()).then(|| sum / visits.len() as f64)
    }

    /// What the pacer took of a processor, %.
    fn pacing(&self) -> Option<f64> {
        let told = self.pacer.as_ref()?;
        Some(100.0 * told["processor_seconds"].as_f64()? / told["seconds"].as_f64()?)
    }

    /// Its discipline, and the pacer beside it.
    pub fn label(&self) -> String {
        label(&self.discipline, self.pace.as_deref())
    }

    /// A line for the terminal.
    pub fn described(&self) -> String {
        let call = &self.outcome.call;
        let beside = match self.page() {
            Some(page) => format!("{} pages of {page:.1} s", self.outcome.visits.len()),
            None => "no pages".to_owned(),
        };
        let valid = if self.is_valid() { "" } else { "; NOT VALID" };
        format!(
            "{:>3} {:12} {:.0} freezes, {:.2} s of {:.0}; {:.1} frames/s, {:.2} Mbit/s; {beside}{valid}",
            self.repeat + 1,
            self.label(),
            call.freezes,
            call.frozen,
            call.seconds,
            call.fps,
            call.kbit / 1e3,
        )
    }
}

/// The name of a row.
pub fn label(discipline: &str, pace: Option<&str>) -> String {
    match pace {
        None => discipline.to_owned(),
        Some(rate) => format!("{discipline}, paced: {rate}"),
    }
}

/// A word of `sh`.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Runs a trial behind a link that this program makes.
pub fn run(args: &BrowserArgs, place: &OutputFolder, repeat: u32, plan: &TrialPlan) -> Result<Run> {
    let again = |what: &str| Refused::failed(what, "begin again");
    let program = std::env::current_exe()
        .map_err(|error| again(&format!("this program cannot be found: {error}")))?;
    let kind = plan.folder();
    let folder = place.inner(&format!("{}-{kind}", repeat + 1))?;
    plan.trial.write(&folder).map_err(failed)?;
    let summary = folder.join("link.json");
    let mut link = Command::new(&program);
    link.args([
        "link", "--down", &args.rate, "--up", &args.rate, "--rtt", &args.rtt,
    ]);
    link.args(["--discipline", &plan.discipline]);
    link.args(args.buffer.iter().flat_map(|buffer| ["--buffer", buffer]));
    link.arg("--json").arg(&summary);
    if args.keep.is_some() {
        link.arg("--log").arg(folder.join("packets.csv"));
    }
    link.arg("--far")
        .arg(format!("{} {FAR} {}", quoted(&program), quoted(&folder)));
    link.arg("--").arg(&program).arg(INSIDE).arg(&folder);
    link.args(plan.pace.iter().flat_map(|rate| ["--pace", rate]));
    let cannot = |error| again(&format!("a link cannot be made: {error}"));
    link.stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = link.spawn().map_err(cannot)?;
    // The trial ends when this is closed, which it also is if this process is killed.
    let wanted = child.stdin.take();
    let output = child.wait_with_output().map_err(cannot)?;
    drop(wanted);
    browser::remove_profiles(&folder);
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(again(&format!("{kind}: {}", told.trim())));
    }
    if args.keep.is_some() {
        browser::write_dump(&folder).map_err(failed)?;
    }
    let link = std::fs::read(&summary)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    Ok(Run {
        repeat,
        discipline: plan.discipline.clone(),
        pace: plan.pace.clone(),
        control: plan.control,
        pages: plan.trial.pages.len(),
        outcome: Outcome::read(&folder).map_err(failed)?,
        link: link.ok_or_else(|| again("the link left no summary"))?,
        pacer: pacer::told(&folder),
    })
}

/// The commands by which this program runs itself at the link's two sides.
pub const FAR: &str = "browser-far";
/// See above.
pub const INSIDE: &str = "browser-inside";
