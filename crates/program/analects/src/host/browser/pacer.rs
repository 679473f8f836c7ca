//! `analects pace` beside the browsers behind the link.

use super::Result;
use command::Refused;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// What `sh` runs: the pacer, until standard input is closed, however its other end ended.
const LINE: &str = r#""$@" & cat >/dev/null; kill -TERM $!; wait $!"#;
const OFTEN: Duration = Duration::from_millis(50);
/// Looks for its word before it is taken to have failed: five seconds.
const LOOKS: u32 = 100;

/// A pacer that runs; dropped, it ends, and takes its rules away.
pub struct RunningPacer {
    child: Child,
}

/// The file with its summary in a trial's folder.
const SUMMARY: &str = "pace.json";

impl RunningPacer {
    /// Begins one at `rate`, whose files are in `folder`, and waits until packets pass through it.
    pub fn begin(folder: &Path, rate: &str) -> Result<RunningPacer> {
        let failed =
            |what: &str| Refused::failed(&format!("analects pace: {what}"), "try it by itself");
        let said = folder.join("pace.log");
        let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
        let log = File::create(&said).map_err(|error| failed(&error.to_string()))?;
        // Names of files without the folder's: a socket's must be shorter than a folder's may be.
        let child = Command::new("sh")
            .args(["-c", LINE, "sh"])
            .arg(program)
            .args(["pace", "--rate", rate, "--state", "pace", "--json", SUMMARY])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let pacer = RunningPacer { child };
        let told = || std::fs::read_to_string(&said).unwrap_or_default();
        for _ in 0..LOOKS {
            if told().contains(router::SERVES) {
                return Ok(pacer);
            }
            sleep(OFTEN);
        }
        Err(failed(told().trim()))
    }
}

impl Drop for RunningPacer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

/// What the pacer in `folder` told at its end; nothing if there was none.
pub fn told(folder: &Path) -> Option<Value> {
    let text = std::fs::read(folder.join(SUMMARY)).ok()?;
    serde_json::from_slice(&text).ok()
}
