//! The loss that protection is for: the worst second of the last ten (libwebrtc
//! `VCMLossProtectionLogic`, `kMaxFilter`).

use units::{Duration, Instant};

/// `kLossPrShortFilterWinMs`, `kLossPrHistorySize`.
const WINDOW: Duration = Duration::from_secs(1);
const WINDOWS: usize = 10;
/// A share of fewer packets says nothing (`kLimitNumPackets`).
const LEAST_PACKETS: u64 = 20;

/// The losses of the last windows.
#[derive(Debug)]
pub struct LossFilter {
    /// When the window began; `None` before the first packet.
    began: Option<Instant>,
    /// Counts when the window began.
    packets: u64,
    lost: u64,
    shares: [f64; WINDOWS],
    /// Where the next share goes.
    next: usize,
}

impl LossFilter {
    /// Nothing was lost.
    pub fn new() -> Self {
        LossFilter {
            began: None,
            packets: 0,
            lost: 0,
            shares: [0.0; WINDOWS],
            next: 0,
        }
    }

    /// A packet leaves; the first window begins with the first.
    pub fn sent(&mut self, now: Instant) {
        self.began.get_or_insert(now);
    }

    /// So far `packets` have been sent and `lost` of them reported as missing.
    pub fn counted(&mut self, now: Instant, packets: u64, lost: u64) {
        let over = |began| now.since(began) >= WINDOW;
        let sent = packets - self.packets;
        if !self.began.is_some_and(over) || sent < LEAST_PACKETS {
            return;
        }
        let share = (lost - self.lost) as f64 / sent as f64;
        self.shares[self.next] = share.min(1.0);
        self.next = (self.next + 1) % WINDOWS;
        (self.began, self.packets, self.lost) = (Some(now), packets, lost);
    }

    /// The largest share of a window.
    pub fn share(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_worst_of_ten_seconds() {
        let mut filter = LossFilter::new();
        filter.sent(at(0));
        filter.counted(at(900), 100, 50);
        assert_eq!(filter.share(), 0.0, "the second is not over");
        filter.counted(at(1_000), 100, 10);
        filter.counted(at(2_000), 200, 15);
        assert_eq!(filter.share(), 0.1);
        for second in 3..=10 {
            filter.counted(at(1_000 * second), 100 * second, 15);
        }
        assert_eq!(filter.share(), 0.1);
        filter.counted(at(11_000), 1_100, 15);
        assert_eq!(filter.share(), 0.05);
        filter.counted(at(12_000), 1_119, 34);
        assert_eq!(filter.share(), 0.05, "of 19 packets nothing is known");
    }

    #[test]
    fn a_late_call_has_a_whole_first_second() {
        let mut filter = LossFilter::new();
        filter.sent(at(10_000));
        filter.sent(at(10_100));
        filter.counted(at(10_200), 20, 10);
        filter.counted(at(10_999), 90, 10);
        assert_eq!(filter.share(), 0.0, "the second is not over");
        filter.counted(at(11_000), 100, 10);
        assert_eq!(filter.share(), 0.1);
    }
}
