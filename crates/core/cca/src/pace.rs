//! The pace of packets that leave one by one at a rate.

use units::{Duration, Instant};

/// When the next packet may leave.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    next: Instant,
}

impl Pace {
    /// When the next packet may leave.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// A packet left that takes `gap` at the rate. A packet that left late lends half of its gap at most to
    /// the next one, as in Linux (`tcp_update_skb_after_send`): delays of timers do not add up, idle
    /// time does not save up a burst.
    pub fn sent(&mut self, now: Instant, gap: Duration) {
        let late = now.since(self.next).min(gap / 2);
        self.next = self.next.max(now) + gap.saturating_sub(late);
    }
}
