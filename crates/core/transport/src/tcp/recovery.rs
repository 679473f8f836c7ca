//! Rationing while the window shrinks: Proportional Rate Reduction (RFC 6937, RFC 9937; Linux
//! `tcp_cwnd_reduction`).

/// Why the window was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionCause {
    /// Losses, which are being repaired.
    Loss,
    /// A mark; no repair is needed.
    Mark,
    /// The timer: no rationing, the window grows in slow start.
    Timeout,
}

/// State of one episode. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// It ends when all data sent before this is acknowledged.
    pub until: u64,
    /// Why it began.
    pub cause: ReductionCause,
    /// The window before the reduction (Linux's `prior_cwnd`, near RFC 6937's RecoverFS).
    prior: u64,
    delivered: u64,
    sent: u64,
    /// Bytes that may be sent now.
    allowance: u64,
}

impl Recovery {
    /// The window shrinks from `prior`. After a loss, one retransmission leaves at once.
    pub fn new(cause: ReductionCause, until: u64, prior: u64, mss: u64) -> Self {
        Recovery {
            until,
            cause,
            prior: prior.max(1),
            delivered: 0,
            sent: 0,
            allowance: if cause == ReductionCause::Loss {
                mss
            } else {
                0
            },
        }
    }

    /// Sending is rationed.
    pub fn rations(&self) -> bool {
        self.cause != ReductionCause::Timeout
    }

    /// `bytes` were newly delivered; `target` is the window to arrive at. With `progress` (the
    /// cumulative acknowledgement moved, and no more data is lost) it makes progress, and one `mss`
    /// more may be sent than was delivered: the slow start reduction bound, otherwise the
    /// conservative.
    pub fn on_delivered(
        &mut self,
        bytes: u64,
        in_flight: u64,
        target: u64,
        progress: bool,
        mss: u64,
    ) {
        self.delivered += bytes;
        let allowed = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.prior));
            u64::try_from(share)
                .unwrap_or(u64::MAX)
                .saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(bytes);
            let extra = if progress { mss } else { 0 };
            (owed + extra).min(target - in_flight)
        };
        // One packet always leaves.
        let first = if self.sent == 0 { mss } else { 0 };
        self.allowance = allowed.max(first);
    }

    /// `bytes` were sent.
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
        self.allowance = self.allowance.saturating_sub(bytes);
    }

    /// Bytes that may be sent now.
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
        let mut recovery = Recovery::new(ReductionCause::Loss, 100, 20, 1);
        recovery.on_sent(1);
        let mut in_flight = 18; // one lost, one sent again
        let mut sent = 0;
        for _ in 0..8 {
            in_flight -= 1;
            recovery.on_delivered(1, in_flight, 10, true, 1);
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
        let mut recovery = Recovery::new(ReductionCause::Loss, 100, 20, 1);
        recovery.on_sent(1);
        recovery.on_delivered(4, 3, 10, true, 1);
        assert_eq!(recovery.allowance(), 5, "delivered, and one more");
        recovery.on_delivered(2, 3, 10, false, 1);
        assert_eq!(
            recovery.allowance(),
            5,
            "what was delivered and not sent, and no more"
        );
    }
}
