//! Whether the window, not the application, limits sending (Linux `tcp_cwnd_validate`,
//! `tcp_is_cwnd_limited`).

/// How much of the window the current round trip used. Bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    limited: bool,
    most_out: u64,
    /// The round trip is over when this byte (or packet) is acknowledged.
    round_end: u64,
}

impl Usage {
    /// Sending paused: with `limited` because the window was full, with `out` sent and not
    /// acknowledged; `acked` is acknowledged up to, `next` sent up to.
    pub(crate) fn on_pause(&mut self, limited: bool, out: u64, acked: u64, next: u64) {
        if acked >= self.round_end || limited || (!self.limited && out > self.most_out) {
            self.limited = limited;
            self.most_out = out;
            self.round_end = next;
        }
    }

    /// The window limited sending in the last round trip. In slow start, half of it in use is
    /// enough: it may double.
    pub(crate) fn is_limited(&self, window: u64, slow_start: bool) -> bool {
        self.limited || (slow_start && window < self.most_out.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_counts_for_its_round_trip() {
        let mut usage = Usage::default();
        usage.on_pause(true, 10, 0, 10);
        usage.on_pause(false, 4, 6, 10);
        assert!(usage.is_limited(10, false), "still the same round trip");
        usage.on_pause(false, 4, 10, 14);
        assert!(!usage.is_limited(10, false));
        assert!(
            !usage.is_limited(8, true),
            "exactly half is not more than half"
        );
        assert!(usage.is_limited(7, true));
    }
}
