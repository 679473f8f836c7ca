//! A thread that is to run as soon as it has something to do.

use core::num::NonZeroU64;
use rustix::process::setpriority_process;
use rustix::thread::set_current_timer_slack;

/// The most that setpriority(2) grants.
const FIRST: i32 = -20;

/// Lets the calling thread wake up when it asked for: the kernel takes up to 50 us more otherwise (prctl(2),
/// PR_SET_TIMERSLACK).
pub fn wake_in_time() {
    _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Lets it run then, too, as far as this process may; what it starts from now on inherits that. Without the
/// privilege (CAP_SYS_NICE) another program's turn goes on for up to 3 ms.
pub fn run_first() {
    wake_in_time();
    _ = setpriority_process(None, FIRST);
}
