//! A command at the far side of a link.

use crate::Error;
use crate::devices::Addresses;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

/// The variable with the far side's IPv4 address, for the commands at both ends.
pub const FAR: &str = "ANALECTS_FAR";

/// How often it is seen whether it has ended.
const OFTEN: Duration = Duration::from_millis(20);
/// How often before it is killed.
const TIMES: u32 = 50;

/// The value of [`FAR`].
pub fn far_address(pair: u8) -> String {
    let inside = false;
    let [address, _] = Addresses { pair, inside }.both();
    address
}

/// The command, ended when this is dropped.
pub struct Far {
    child: Child,
}

impl Far {
    /// Runs a line of `sh` at the far side of a pair, in a process group of its own.
    ///
    /// # Errors
    /// If `sh` cannot be run.
    pub fn run(line: &OsStr, pair: u8) -> Result<Far, Error> {
        let child = Command::new("sh")
            .arg("-c")
            .arg(line)
            .env(FAR, far_address(pair))
            .process_group(0)
            .spawn();
        let child = child
            .map_err(|error| Error::new(format!("sh cannot be run: {error}"), "install a shell"))?;
        Ok(Far { child })
    }

    /// The process group that it runs in.
    pub fn group(&self) -> u32 {
        self.child.id()
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.child);
        // It may have ended by itself, and left others of its group.
        _ = kill_process_group(group, Signal::TERM);
        for _ in 0..TIMES {
            if self.has_ended() {
                break;
            }
            sleep(OFTEN);
        }
        _ = kill_process_group(group, Signal::KILL);
        _ = self.child.wait();
    }
}
