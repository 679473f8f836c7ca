//! Who runs commands.

use crate::{Command, Output, RateChange};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs commands: the host, or a test's model of one.
pub trait Runner {
    /// Runs a command to its end.
    ///
    /// # Errors
    /// If it cannot be started. A command that fails is an [`Output`].
    fn run(&mut self, command: &Command) -> io::Result<Output>;

    /// Gives a shaper that stands another rate.
    ///
    /// # Errors
    /// As for its command, which it need not run.
    fn change_rate(&mut self, change: &RateChange) -> io::Result<Output> {
        self.run(&change.command())
    }

    /// Whether the user asked to stop: no further change is begun, and those that were made are
    /// undone.
    fn interrupted(&self) -> bool {
        false
    }
}

/// This host. Signals interrupt its clones, too.
#[derive(Debug, Clone, Default)]
pub struct Host {
    interrupted: Arc<AtomicBool>,
}

/// Folders of programs that a user's `PATH` may lack.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

impl Host {
    /// This host; from here on SIGINT, SIGTERM and SIGHUP no longer end this process, but are
    /// reported by [`Runner::interrupted`].
    ///
    /// # Errors
    /// If signals cannot be caught.
    pub fn catching_signals() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let host = Host::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&host.interrupted))?;
        }
        Ok(host)
    }

    /// As a signal does: this host and its clones say that they are interrupted.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }
}

impl Runner for Host {
    fn run(&mut self, command: &Command) -> io::Result<Output> {
        let name = command.program.name();
        let mut found = start(name, &command.args);
        for folder in SYSTEM_FOLDERS {
            if !matches!(&found, Err(error) if error.kind() == io::ErrorKind::NotFound) {
                break;
            }
            found = start(&format!("{folder}/{name}"), &command.args);
        }
        let output = found.map_err(|error| {
            io::Error::new(error.kind(), format!("{name} cannot be run: {error}"))
        })?;
        Ok(Output {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    fn change_rate(&mut self, change: &RateChange) -> io::Result<Output> {
        change.ask_kernel()?;
        Ok(Output {
            success: true,
            ..Output::default()
        })
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// In a process group of its own: Ctrl-C in a terminal would otherwise reach it too, in the middle of
/// a change.
fn start(program: &str, args: &[String]) -> io::Result<std::process::Output> {
    std::process::Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .process_group(0)
        .output()
}
