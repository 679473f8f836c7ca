//! Signals that are for the command: what another process sends to the link alone is passed on.

use crate::Error;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use signal_hook::flag::register;
use std::fs::read_to_string;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Those that `env` and `timeout` would leave to the command.
const PASSED: [Signal; 7] = [
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
];

/// Those that a terminal sends to the command as well.
const OF_TERMINALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGWINCH];

/// The signals that have come. Threads have them blocked, except where [`unblocked`] starts a program, which would
/// have them blocked for ever.
pub struct Signals {
    blocked: SignalFd,
    caught: Vec<(Signal, Arc<AtomicBool>)>,
}

impl Signals {
    /// From now on, in this thread and those that it starts.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn catch() -> Result<Self, Error> {
        let failed = |error: &dyn core::fmt::Display| {
            Error::new(format!("signals cannot be caught: {error}"), "begin again")
        };
        let mut caught = Vec::new();
        for signal in PASSED {
            // By nohup(1): so it is for the command, too.
            if signal == Signal::SIGHUP && is_ignored(signal) {
                continue;
            }
            let flag = Arc::new(AtomicBool::new(false));
            register(signal as i32, Arc::clone(&flag)).map_err(|error| failed(&error))?;
            caught.push((signal, flag));
        }
        let set: SigSet = caught.iter().map(|(signal, _)| *signal).collect();
        set.thread_block().map_err(|error| failed(&error))?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let blocked = SignalFd::with_flags(&set, flags).map_err(|error| failed(&error))?;
        Ok(Signals { blocked, caught })
    }

    /// Those that are to be passed on.
    pub fn come(&self) -> Vec<Signal> {
        let mut come = Vec::new();
        while let Ok(Some(info)) = self.blocked.read_signal() {
            let Ok(signal) = Signal::try_from(info.ssi_signo as i32) else {
                continue;
            };
            // sigaction(2): positive codes are the kernel's, which sends a terminal's to the whole group.
            let everyone = info.ssi_code > 0 && OF_TERMINALS.contains(&signal);
            come.extend((!everyone).then_some(signal));
        }
        for (signal, flag) in &self.caught {
            come.extend(flag.swap(false, Ordering::Relaxed).then_some(*signal));
        }
        come
    }

    /// Passes them on.
    pub fn pass(&self, child: &Child) {
        // A process's number fits.
        let child = Pid::from_raw(child.id() as i32);
        for signal in self.come() {
            // It may have ended by now.
            _ = kill(child, signal);
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.blocked.as_fd()
    }
}

/// Starts a program that is to have no signal blocked. One that comes meanwhile is caught all the same.
pub fn unblocked<T>(start: impl FnOnce() -> T) -> T {
    let set: SigSet = PASSED.into_iter().collect();
    let before = SigSet::thread_get_mask().ok();
    // Only a wrong address or word makes it fail: sigprocmask(2).
    _ = set.thread_unblock();
    let started = start();
    if let Some(before) = before {
        _ = before.thread_set_mask();
    }
    started
}

/// Whether this process ignores a signal: proc_pid_status(5).
fn is_ignored(signal: Signal) -> bool {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}
