//! Losses found at once, and how long a time they span (RFC 9002, 7.6).

use units::{Duration, Instant};

/// What was found lost at once.
#[derive(Debug, Default)]
pub(super) struct Loss {
    /// Bytes of them.
    pub(super) bytes: u64,
    /// When the last of them left.
    pub(super) newest: Instant,
    /// When the first left of those without an acknowledged one in between.
    run: Option<Instant>,
    /// The longest time between two of such a run.
    pub(super) span: Duration,
}

impl Loss {
    /// A lost packet of `bytes` left `at`; there have been round trip samples since `first_rtt_at`.
    pub(super) fn count(&mut self, at: Instant, bytes: u32, first_rtt_at: Instant) {
        self.bytes += u64::from(bytes);
        self.newest = at;
        // Packets sent before there was a sample do not count (7.6.2).
        if at >= first_rtt_at {
            let since = *self.run.get_or_insert(at);
            self.span = self.span.max(at.since(since));
        }
    }

    /// A packet in between arrived.
    pub(super) fn interrupt(&mut self) {
        self.run = None;
    }
}
