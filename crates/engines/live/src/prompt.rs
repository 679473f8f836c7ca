//! A thread that is to run as soon as it has something to do.

use core::fmt;
use core::num::NonZeroU64;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{gettid, set_current_timer_slack};
use std::process::Command;

/// The most that setpriority(2) grants.
const FIRST: i32 = -20;
/// The least of the real-time priorities: before every ordinary thread, after the kernel's own.
const PRIORITY: &str = "1";

/// By which class the kernel lets a thread run: sched(7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerPolicy {
    /// SCHED_RR: before all ordinary threads.
    RealTime,
    /// SCHED_OTHER, at this nice value, and why it is no better.
    Ordinary(i32, String),
}

impl SchedulerPolicy {
    /// Its name in sched(7).
    pub const fn name(&self) -> &'static str {
        match self {
            SchedulerPolicy::RealTime => "SCHED_RR",
            SchedulerPolicy::Ordinary(..) => "SCHED_OTHER",
        }
    }
}

impl fmt::Display for SchedulerPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedulerPolicy::RealTime => f.write_str("a real-time thread (SCHED_RR)"),
            SchedulerPolicy::Ordinary(nice, why) => {
                write!(f, "an ordinary thread (nice {nice}), since {why}")
            }
        }
    }
}

/// Lets the calling thread wake up when it asked for: the kernel takes up to 50 us more otherwise (prctl(2),
/// PR_SET_TIMERSLACK).
pub fn wake_in_time() {
    _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Lets it run then, too, as far as this process may; what it starts from now on inherits that. Beside ordinary
/// threads another one's turn goes on for some milliseconds on a loaded host.
pub fn run_first() -> SchedulerPolicy {
    wake_in_time();
    match in_real_time() {
        Ok(()) => SchedulerPolicy::RealTime,
        Err(why) => {
            _ = setpriority_process(None, FIRST);
            SchedulerPolicy::Ordinary(getpriority_process(None).unwrap_or(0), why)
        }
    }
}

/// By chrt(1), of util-linux and of busybox: the crates that we have know no sched_setscheduler(2), which needs
/// CAP_SYS_NICE or RLIMIT_RTPRIO.
fn in_real_time() -> Result<(), String> {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut chrt = Command::new("chrt");
    let output = chrt.args(["-r", "-p", PRIORITY, &thread]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err(
            "this host permits no real-time class: run it with sudo, or raise rtprio (ulimit -r)"
                .to_owned(),
        ),
        Err(error) => Err(format!("chrt cannot be run ({error}): install util-linux")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::read_to_string;
    use std::thread::spawn;

    /// What is told is what the kernel has: policy(41) of proc_pid_stat(5), from 1.
    #[test]
    fn the_class_is_told_as_the_kernel_has_it() {
        let (class, policy, slack) = spawn(|| {
            let class = run_first();
            let stat = read_to_string("/proc/thread-self/stat").unwrap();
            let fields = stat.rsplit_once(')').unwrap().1;
            let policy = fields.split_whitespace().nth(38).unwrap().to_owned();
            (
                class,
                policy,
                rustix::thread::current_timer_slack().unwrap(),
            )
        })
        .join()
        .unwrap();
        match &class {
            SchedulerPolicy::RealTime => {
                assert_eq!((policy.as_str(), class.name()), ("2", "SCHED_RR"))
            }
            SchedulerPolicy::Ordinary(_, why) => {
                assert_eq!((policy.as_str(), class.name()), ("0", "SCHED_OTHER"));
                assert!(
                    why.contains("ulimit -r") || why.contains("util-linux"),
                    "{class}"
                );
                // The kernel ignores the slack of real-time threads, and gives it as 0 since 6.14.
                assert_eq!(slack, 1);
            }
        }
    }
}
