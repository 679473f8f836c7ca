//! The time since a run began.

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// Counts from when it was made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
}

fn nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Monotonic time is never negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Clock {
    /// Begins now.
    pub fn start() -> Self {
        Clock { start: nanos() }
    }

    /// When it began, nanoseconds on the kernel's monotonic clock.
    pub fn origin(&self) -> u64 {
        self.start
    }

    /// Now.
    pub fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(nanos() - self.start)
    }
}

/// The processor's time that this process had so far, seconds.
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
