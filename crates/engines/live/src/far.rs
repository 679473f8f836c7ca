//! A command at the far side of a link.

mod ready;

use crate::clock::Clock;
use crate::devices::Addresses;
use crate::signals::{Signals, unblocked};
use crate::{Error, FarFailed};
use ready::{Listens, listens};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::Serialize;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

/// The variable with the far side's IPv4 address, for the commands at both ends.
pub const FAR: &str = "ANALECTS_FAR";

/// How often it is seen whether it has ended.
const OFTEN: Duration = Duration::from_millis(20);
/// How often before it is killed.
const TIMES: u32 = 50;
/// So long after its line has ended well a server may begin that goes on by itself, in seconds.
const DAEMON: f64 = 5.0;
/// So long a server may take until it listens, in seconds.
const READY: f64 = 30.0;

/// The value of [`FAR`].
pub fn far_address(pair: u8) -> String {
    let inside = false;
    let [address, _] = Addresses { pair, inside }.both();
    address
}

/// How the command ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ended {
    /// When, since it began, seconds.
    pub seconds: f64,
    /// As a shell has it: its status, or 128 and the signal that ended it.
    pub status: u8,
}

/// The command, ended when this is dropped.
pub struct Far {
    child: Child,
    began: Clock,
    ended: Option<Ended>,
    /// Readable once it has ended; none from then on.
    pidfd: Option<OwnedFd>,
}

impl Far {
    /// Runs a line of `sh` at the far side of a pair, in a process group of its own.
    ///
    /// # Errors
    /// If `sh` cannot be run.
    pub fn run(line: &OsStr, pair: u8) -> Result<Far, Error> {
        let mut command = Command::new("sh");
        let command = command.arg("-c").arg(line).env(FAR, far_address(pair));
        let child = unblocked(|| command.process_group(0).spawn());
        let child = child
            .map_err(|error| Error::new(format!("sh cannot be run: {error}"), "install a shell"))?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        Ok(Far {
            child,
            began: Clock::start(),
            ended: None,
            pidfd,
        })
    }

    /// Waits until a server listens at this port of the far side's address `far`, in this network.
    ///
    /// # Errors
    /// If the command ends before, a signal comes, or nothing listens there for long.
    pub fn wait_until_ready(
        &mut self,
        port: u16,
        far: &str,
        signals: &Signals,
    ) -> Result<(), Error> {
        let help = "see what the line of --far does by itself, or name the port that it listens at";
        let failed = |why: String, status, help: &str| Error {
            far: Some(FarFailed {
                why: why.clone(),
                help: help.to_owned(),
                status,
            }),
            ..Error::new(format!("--far-ready {port}: {why}"), help)
        };
        loop {
            let found = listens(port, far);
            if found == Listens::There {
                return Ok(());
            }
            if let Some(Ended { seconds, status }) = self.ended()
                && (status != 0 || self.seconds() > seconds + DAEMON)
            {
                let why = format!(
                    "the far side's command ended after {seconds:.1} s, with status {status}, and nothing listens there"
                );
                return Err(failed(why, Some(status), help));
            }
            if let Some(signal) = signals.come().first() {
                let message =
                    format!("--far-ready {port}: {signal} came before anything listened there");
                return Err(Error::new(message, ""));
            }
            if self.seconds() >= READY {
                return Err(match found {
                    Listens::Elsewhere => failed(
                        format!(
                            "it was never ready: after {READY} s the server listens at another address than {far}"
                        ),
                        None,
                        "let it listen at all addresses, 0.0.0.0, or at $ANALECTS_FAR",
                    ),
                    _ => failed(
                        format!("it was never ready: after {READY} s nothing listens there"),
                        None,
                        help,
                    ),
                });
            }
            sleep(OFTEN);
        }
    }

    /// Since it began.
    fn seconds(&self) -> f64 {
        let now = self.began.now();
        now.as_secs_f64()
    }

    /// Becomes readable when the command has ended, until that was seen.
    pub fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref()
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<Ended> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            let (seconds, status) = (self.seconds(), code(status));
            self.ended = Some(Ended { seconds, status });
            self.pidfd = None;
        }
        self.ended
    }

    /// The process group that it runs in.
    pub fn group(&self) -> u32 {
        self.child.id()
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

/// As a shell has it.
pub fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
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
