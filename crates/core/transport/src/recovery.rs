//! Recovery periods: a control is told of congestion once a round trip (RFC 9002, 7.3.2). QUIC's
//! and a media session's; TCP's recovery also rations transmissions (`tcp::recovery`).

use cca::Signal;

/// The newest period: it lasts until a packet that was sent in it is acknowledged.
#[derive(Debug, Default)]
pub(crate) struct RecoveryPeriod {
    /// Number of the first packet that was sent in it.
    until: u64,
    active: bool,
    /// Packets were lost in it.
    lossy: bool,
    /// It began with a timeout: slow start follows.
    timeout: bool,
}

impl RecoveryPeriod {
    /// All packets before `acked` may have been acknowledged; true if that ends a period with
    /// losses.
    pub(crate) fn acknowledged(&mut self, acked: u64) -> bool {
        if !self.active || acked <= self.until {
            return false;
        }
        self.active = false;
        core::mem::take(&mut self.lossy)
    }

    /// Packet `number` met congestion, when `next` was the next number. False if it belongs to a
    /// period that the control knows of.
    pub(crate) fn enter(&mut self, signal: Signal, number: u64, next: u64) -> bool {
        if self.active || number < self.until {
            self.lossy |= self.active && signal == Signal::Loss;
            return false;
        }
        *self = RecoveryPeriod {
            until: next,
            active: true,
            lossy: signal == Signal::Loss,
            timeout: false,
        };
        true
    }

    /// All packets before `next` are presumed lost.
    pub(crate) fn timed_out(&mut self, next: u64) {
        *self = RecoveryPeriod {
            until: next,
            active: true,
            lossy: true,
            timeout: true,
        };
    }

    /// A period is under way, but not after a timeout ([`cca::Ack::in_recovery`]).
    pub(crate) fn is_active(&self) -> bool {
        self.active && !self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_a_round_trip() {
        let mut recovery = RecoveryPeriod::default();
        assert!(recovery.enter(Signal::Mark, 3, 10));
        assert!(recovery.is_active(), "a mark counts");
        assert!(!recovery.enter(Signal::Loss, 5, 12), "known by its mark");
        assert!(!recovery.acknowledged(10), "9 was sent before");
        assert!(recovery.acknowledged(11));
        assert!(!recovery.enter(Signal::Loss, 9, 14), "still the old one");
        assert!(recovery.enter(Signal::Loss, 10, 14));
        assert!(recovery.is_active());
        recovery.timed_out(20);
        assert!(!recovery.is_active(), "slow start");
        assert!(!recovery.acknowledged(20));
        assert!(recovery.acknowledged(21));
    }

    #[test]
    fn nothing_has_to_be_repaired_after_a_mark() {
        let mut recovery = RecoveryPeriod::default();
        assert!(recovery.enter(Signal::Mark, 3, 10));
        assert!(!recovery.acknowledged(11), "it ends without a word");
        assert!(!recovery.is_active());
    }
}
