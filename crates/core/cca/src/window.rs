//! A window with slow start up to a threshold, and the effect of timeouts on it: the state that Vegas,
//! YeAH and Illinois share in Linux (`tcp_cong.c`, `tcp_input.c`).

use crate::reno::slow_start;
use crate::undo::Taken;
use crate::{Ack, Setup};

/// Linux's floor for windows and thresholds: two segments.
pub(crate) const MIN_SEGMENTS: u64 = 2;

/// The window of one sender. Sizes in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// A segment.
    pub mss: u64,
    /// The window that a connection begins with.
    initial: u64,
    /// The window.
    pub bytes: u64,
    /// Slow start ends here.
    pub threshold: u64,
    /// Bytes acknowledged since the window last grew, outside slow start.
    pub credit: u64,
    taken: Taken,
    /// Data lost at a timeout is being repaired.
    pub after_timeout: bool,
}

impl Window {
    /// That of a sender that has not sent yet.
    pub fn new(setup: &Setup) -> Self {
        Window {
            mss: setup.mss,
            initial: setup.initial_window,
            bytes: setup.initial_window,
            threshold: u64::MAX,
            credit: 0,
            taken: Taken::default(),
            after_timeout: false,
        }
    }

    /// Whether it is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.bytes < self.threshold
    }

    /// Grows by `acked` bytes up to the threshold; returns the bytes that are left.
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        slow_start(&mut self.bytes, self.threshold, acked)
    }

    /// Grows by one segment a round trip outside slow start, if it was used.
    pub fn grow_as_reno(&mut self, ack: &Ack) {
        if !ack.window_limited {
            return;
        }
        let mut acked = ack.bytes;
        if self.in_slow_start() {
            acked = self.slow_start(acked);
        }
        self.credit += acked;
        if self.credit >= self.bytes {
            self.credit -= self.bytes;
            self.bytes += self.mss;
        }
    }

    /// Lowers the threshold to `bytes`, but not below the floor.
    pub fn cut(&mut self, bytes: u64) {
        self.threshold = bytes.max(MIN_SEGMENTS * self.mss);
        self.credit = 0;
    }

    /// Recovers from a loss at the threshold, to which it was cut.
    pub fn recover(&mut self) {
        self.bytes = self.threshold;
        self.after_timeout = false;
    }

    /// The repair of a loss has ended.
    pub fn recovered(&mut self) {
        self.taken.forget();
        self.after_timeout = false;
    }

    /// Notes a timeout; whether it is the first of its episode, for which the sender cuts.
    pub fn timed_out(&mut self) -> bool {
        self.taken.note(self.bytes, self.threshold);
        !core::mem::replace(&mut self.after_timeout, true)
    }

    /// Starts again with one segment.
    pub fn restart(&mut self) {
        self.bytes = self.mss;
    }

    /// The last timeout was spurious.
    pub fn give_back(&mut self) {
        self.taken.give_back(&mut self.bytes, &mut self.threshold);
    }

    /// The sender sends again after it was idle.
    pub fn after_idle(&mut self) {
        crate::restart_after_idle(&mut self.bytes, &mut self.threshold, self.initial);
    }
}
