//! Rationing during recovery: Proportional Rate Reduction (RFC 6937, slow start reduction bound).

/// State of one recovery. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// Recovery ends when everything sent before it is acknowledged.
    pub until: u64,
    /// Entered after a timeout: no rationing, the window grows in slow start.
    pub after_timeout: bool,
    /// In flight when it began (RecoverFS).
    flight: u64,
    delivered: u64,
    sent: u64,
    /// What may be sent now.
    allowance: u64,
}

impl Recovery {
    /// Fast recovery begins with `flight` bytes outstanding; one retransmission leaves at once.
    pub fn fast(until: u64, flight: u64, mss: u64) -> Self {
        Recovery {
            until,
            after_timeout: false,
            flight: flight.max(1),
            delivered: 0,
            sent: 0,
            allowance: mss,
        }
    }

    /// Everything in flight was lost.
    pub fn timeout(until: u64) -> Self {
        Recovery {
            after_timeout: true,
            ..Recovery::fast(until, 1, 0)
        }
    }

    /// `bytes` were newly delivered; `target` is the window to arrive at.
    pub fn on_delivered(&mut self, bytes: u64, in_flight: u64, target: u64, mss: u64) {
        self.delivered += bytes;
        let allowed = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.flight)) as u64;
            share.saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(bytes) + mss;
            limit.min(target - in_flight)
        };
        // One retransmission always leaves (Linux `tcp_cwnd_reduction`).
        let first = if self.sent == 0 { mss } else { 0 };
        self.allowance = allowed.max(first);
    }

    /// `bytes` were sent.
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
        self.allowance = self.allowance.saturating_sub(bytes);
    }

    /// What may be sent now.
    pub const fn allowance(&self) -> u64 {
        self.allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_window_means_one_segment_for_two() {
        // Flight of 20 segments, target 10: for each two delivered, one may leave.
        let mut recovery = Recovery::fast(100, 20, 1);
        recovery.on_sent(1);
        let mut in_flight = 18; // one lost, one sent again
        let mut sent = 0;
        for _ in 0..8 {
            in_flight -= 1;
            recovery.on_delivered(1, in_flight, 10, 1);
            if recovery.allowance() > 0 {
                recovery.on_sent(1);
                in_flight += 1;
                sent += 1;
            }
        }
        // ceil(8 · 10 / 20) = 4, one of which was the first retransmission.
        assert_eq!(sent, 3);
    }

    #[test]
    fn below_the_target_it_catches_up_as_slow_start_does() {
        let mut recovery = Recovery::fast(100, 20, 1);
        recovery.on_sent(1);
        recovery.on_delivered(4, 3, 10, 1);
        assert_eq!(recovery.allowance(), 5, "delivered, and one more");
    }
}
