//! One call over one condition's link, which this program makes by its command `link`.

use super::host::Host;
use super::shell::CallEnds;
use super::{Result, seconds};
use ::check::{Check, Condition, OutputLine};
use command::Refused;
use command::files::unwritable;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::spawn;
use std::time::Duration;

/// What timeout(1) ends with when time is over, and the two with which a command was not run.
const OVER: i32 = 124;
const KILLED: i32 = 137;
const NOT_RUN: [i32; 2] = [126, 127];
/// `link`, if it fails itself.
const LINK: i32 = 125;
/// Lines of the programs' complaints that are told.
const LAST: usize = 5;
/// Bytes that an application may print in a call.
const MOST: u64 = 64 << 20;
/// So long may what it printed take to be read once its link has ended, in s.
const AFTER: f64 = 1.0;

/// What a call left.
pub struct Left {
    /// What the near end printed.
    pub lines: Vec<OutputLine>,
    /// How the application ended badly.
    pub ended: Option<String>,
    /// The last of what it complained.
    pub complaints: String,
    /// Why it is not to be believed.
    pub doubt: Option<String>,
    /// The link's log.
    pub log: PathBuf,
}

/// Files of a call.
const LOG: &str = "packets.csv";
const SUMMARY: &str = "link.json";
const TOLD: &str = "near.jsonl";
const COMPLAINTS: &str = "complaints";

/// Makes the call of that number, from 1, over a condition's link, in `folder`.
pub fn made(
    check: &Check,
    condition: &Condition,
    (folder, number): (&Path, usize),
) -> Result<Left> {
    let host = Host::watch();
    let mut child = link(check, condition, folder, number)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (told, complained) = (read(|tell| lines(out, tell)), read(|tell| all(err, tell)));
    let status = child.wait().map_err(|error| failed(&error.to_string()))?;
    let (lines, seconds) = since_first(rest(&told), seconds());
    ::browser::remove_profiles(folder);
    let complaints = last(&std::fs::read(folder.join(COMPLAINTS)).unwrap_or_default());
    let summary = std::fs::read(folder.join(SUMMARY)).unwrap_or_default();
    let summary: Value = serde_json::from_slice(&summary).unwrap_or_default();
    let ended = match (status.code().unwrap_or(LINK), &summary["far_failed"]) {
        (LINK, far) => match far["why"].as_str() {
            Some(_) if NOT_RUN.map(Value::from).contains(&far["status"]) => {
                return Err(not_run("far", &complaints));
            }
            Some(why) => {
                let help = far["help"].as_str().unwrap_or_default();
                Some(format!("{why}; {help}"))
            }
            None => return Err(link_failed(condition, &last(&rest(&complained).concat()))),
        },
        (status, _) if NOT_RUN.contains(&status) => return Err(not_run("near", &complaints)),
        (status, _) => ended(
            (status, seconds),
            &summary["far_ended"],
            condition.duration.as_secs_f64(),
        ),
    };
    let text: String = lines
        .iter()
        .map(|line| format!("{}\n", line.text))
        .collect();
    let file = folder.join(TOLD);
    std::fs::write(&file, text).map_err(|error| unwritable(&file, &error))?;
    Ok(Left {
        ended,
        doubt: summary["doubt"]
            .as_str()
            .map(str::to_owned)
            .or(host.doubt()),
        lines,
        complaints,
        log: folder.join(LOG),
    })
}

fn not_run(end: &str, complaints: &str) -> Refused {
    let message = format!("application.{end} cannot be run: {complaints}");
    Refused::new(&message, "write a command that sh knows here")
}

fn link_failed(condition: &Condition, complaints: &str) -> Refused {
    failed(&format!(
        "condition {}: the link failed: {complaints}",
        condition.name
    ))
}

/// Begins `analects link` with the condition's link.
fn link(check: &Check, condition: &Condition, folder: &Path, number: usize) -> Result<Child> {
    let program = std::env::current_exe()
        .map_err(|error| failed(&format!("this program cannot be found: {error}")))?;
    let scenario = folder.join("link.toml");
    std::fs::write(&scenario, condition.link.to_toml())
        .map_err(|error| unwritable(&scenario, &error))?;
    let application = &check.application;
    let ends = CallEnds {
        application,
        condition,
        program: &program,
        folder,
        complaints: &folder.join(COMPLAINTS),
    };
    let mut link = Command::new(&program);
    link.arg("link").arg(&scenario);
    // Or each call would lose the same packets.
    link.args(["--seed", &number.to_string()]);
    link.arg("--json")
        .arg(folder.join(SUMMARY))
        .arg("--log")
        .arg(folder.join(LOG));
    if let Some(far) = ends.far() {
        link.args(["--far", &far]);
    }
    if let Some(port) = application.far_ready {
        link.args(["--far-ready", &port.to_string()]);
    }
    link.arg("--").args(ends.near());
    link.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    link.spawn()
        .map_err(|error| failed(&format!("a link cannot be made: {error}")))
}

/// What a thread reads of a pipe, piece by piece.
fn read<T: Send + 'static>(by: impl FnOnce(Sender<T>) + Send + 'static) -> Receiver<T> {
    let (tell, told) = channel();
    spawn(move || by(tell));
    told
}

/// All that was read when the link has ended. Who left the link's process group may hold its pipe for ever.
fn rest<T>(told: &Receiver<T>) -> Vec<T> {
    let until = seconds() + AFTER;
    let left = || Duration::from_secs_f64((until - seconds()).max(0.0));
    std::iter::from_fn(|| told.recv_timeout(left()).ok()).collect()
}

/// Lines of standard output, each with when it was read; the end has no text.
fn lines(out: Option<ChildStdout>, tell: Sender<(f64, Option<String>)>) {
    let mut out = out.map(|out| BufReader::new(out.take(MOST)));
    let mut line = Vec::new();
    // What has no end was cut when the call was over.
    while let Some(out) = &mut out
        && out.read_until(b'\n', &mut line).is_ok()
        && line.pop() == Some(b'\n')
    {
        let text = String::from_utf8_lossy(&line).into_owned();
        _ = tell.send((seconds(), Some(text)));
        line.clear();
    }
    _ = tell.send((seconds(), None));
}

/// Lines since the first one, which only says that the application begins, and how long that went on: to its end, or, where
/// another holds the pipe, until the link was `over`.
fn since_first(told: Vec<(f64, Option<String>)>, over: f64) -> (Vec<OutputLine>, f64) {
    let Some(began) = told.first().map(|(began, _)| *began) else {
        return (Vec::new(), 0.0);
    };
    let end = told.last().filter(|(_, text)| text.is_none());
    let lasted = end.map_or(over, |(end, _)| *end) - began;
    let lines = told.into_iter().skip(1);
    let lines = lines.filter_map(|(read, text)| {
        Some(OutputLine {
            read: read - began,
            text: text?,
        })
    });
    (lines.collect(), lasted)
}

fn all(err: Option<ChildStderr>, tell: Sender<Vec<u8>>) {
    let mut text = Vec::new();
    if let Some(err) = err {
        _ = err.take(MOST).read_to_end(&mut text);
    }
    _ = tell.send(text);
}

/// The last lines of what programs complained.
fn last(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    lines[lines.len().saturating_sub(LAST)..].join(" / ")
}

/// How an application ended that did so badly before its time was over: its near end, or its far end before that; none
/// if it did not.
fn ended((status, seconds): (i32, f64), far: &Value, duration: f64) -> Option<String> {
    // timeout(1) kills what does not end when it is told to.
    let is_over = status == OVER || (status == KILLED && seconds >= duration);
    if status != 0 && !is_over {
        return Some(format!(
            "it ended with status {status} after {seconds:.1} s"
        ));
    }
    let (status, seconds) = (far["status"].as_i64()?, far["seconds"].as_f64()?);
    (status != 0 && seconds < duration)
        .then(|| format!("its far end ended with status {status} after {seconds:.1} s"))
}

fn failed(message: &str) -> Refused {
    Refused::failed(message, "begin again")
}
