//! Congestion is told to a control once a round trip.

use cca::Signal;

/// The newest episode of congestion: it is under way until a packet sent after it began is
/// acknowledged.
#[derive(Debug, Default)]
pub struct Recovery {
    /// First sequence number that was sent after the episode began.
    until: u64,
    active: bool,
    /// Something was lost in it.
    lossy: bool,
    /// It began with a timeout: what follows is slow start.
    timeout: bool,
}

impl Recovery {
    /// Everything before `acked` may have been acknowledged; true if that ends an episode with
    /// losses.
    pub fn acknowledged(&mut self, acked: u64) -> bool {
        if !self.active || acked <= self.until {
            return false;
        }
        self.active = false;
        core::mem::take(&mut self.lossy)
    }

    /// Packet `sequence` met congestion, when `next` was the next sequence number. False if it
    /// belongs to an episode that the control knows of (RFC 9002, 7.3.1).
    pub fn enter(&mut self, signal: Signal, sequence: u64, next: u64) -> bool {
        if self.active || sequence < self.until {
            self.lossy |= self.active && signal == Signal::Loss;
            return false;
        }
        self.until = next;
        self.active = true;
        self.lossy = signal == Signal::Loss;
        self.timeout = false;
        true
    }

    /// Everything before `next` is presumed lost.
    pub fn timed_out(&mut self, next: u64) {
        (self.until, self.active, self.lossy) = (next, true, true);
        self.timeout = true;
    }

    /// Losses are being repaired, but not after a timeout ([`cca::Ack::in_recovery`]).
    pub fn repairing(&self) -> bool {
        self.active && self.lossy && !self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_a_round_trip() {
        let mut recovery = Recovery::default();
        assert!(recovery.enter(Signal::Mark, 3, 10));
        assert!(!recovery.repairing());
        assert!(!recovery.enter(Signal::Loss, 5, 12), "known by its mark");
        assert!(recovery.repairing());
        assert!(!recovery.acknowledged(10), "9 was sent before");
        assert!(recovery.acknowledged(11));
        assert!(!recovery.enter(Signal::Loss, 9, 14), "still the old one");
        assert!(recovery.enter(Signal::Loss, 10, 14));
        assert!(recovery.repairing());
        recovery.timed_out(20);
        assert!(!recovery.repairing(), "slow start");
        assert!(!recovery.acknowledged(20));
        assert!(recovery.acknowledged(21));
    }
}
