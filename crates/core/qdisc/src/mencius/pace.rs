//! How long the link takes for a full packet, as far as it shows.
//!
//! A wait of 20 ms is thirteen packets at 8 Mbit/s and three at 2, where one picture of a call is
//! more. So on slow links a short wait is defined in packets. A discipline does not know the link's
//! rate, but while packets wait, it is the rate of dequeue calls.

use units::{Duration, Instant};

/// A full packet on Ethernet, bytes.
const FULL: u64 = 1514;
/// The amount that is averaged.
const BLOCK: u64 = 16 * FULL;
/// A pause that is longer is no part of a link's rate.
const PAUSE: Duration = Duration::from_millis(200);

/// The time of a full packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct FullPacketTime {
    /// When the last packet left after which others waited, and its length.
    last: Option<(Instant, u32)>,
    bytes: u64,
    time: Duration,
    full: Duration,
}

impl FullPacketTime {
    /// The rate is unknown: a fast link.
    pub(super) const fn new() -> Self {
        FullPacketTime {
            last: None,
            bytes: 0,
            time: Duration::ZERO,
            full: Duration::ZERO,
        }
    }

    /// How long a full packet takes.
    pub(super) const fn full(&self) -> Duration {
        self.full
    }

    /// How long `len` bytes take.
    pub(super) fn time_of(&self, len: u32) -> Duration {
        self.full * u64::from(len) / FULL
    }

    /// A packet of `len` bytes leaves `now`, and others wait or not. Whether the time is another now.
    pub(super) fn sent(&mut self, now: Instant, len: u32, wait: bool) -> bool {
        if let Some((at, len)) = self.last
            && now.since(at) <= PAUSE
        {
            self.bytes += u64::from(len);
            self.time += now.since(at);
        }
        self.last = wait.then_some((now, len));
        if self.bytes < BLOCK {
            return false;
        }
        let full = self.time * FULL / self.bytes;
        // The mean of the old and the new value, so that a burst of the device does not count for
        // much.
        self.full = (self.full + full) / 2;
        (self.bytes, self.time) = (0, Duration::ZERO);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    /// 1514 bytes at 2 Mbit/s are 6.056 ms; after ten blocks, a thousandth is missing.
    #[test]
    fn the_time_of_a_full_packet_shows_while_others_wait() {
        let mut pace = FullPacketTime::new();
        for packet in 0..=160 {
            pace.sent(us(packet * 6056), 1514, true);
        }
        assert!(pace.full().as_nanos().abs_diff(6_056_000) < 10_000);
        // Small packets in a tenth of the time each give the same result.
        for packet in 0..1600 {
            pace.sent(us(1_000_000 + packet * 606), 151, true);
        }
        assert!(pace.full().as_nanos().abs_diff(6_056_000) < 100_000);
        // Occasional packets have no effect, nor does a pause.
        pace.sent(us(1_969_600), 151, false);
        let before = pace.full();
        for packet in 0..1000 {
            pace.sent(us(2_000_000 + packet * 50_000), 1514, false);
        }
        for packet in 0..1000 {
            pace.sent(us(60_000_000 + packet * 300_000), 1514, true);
        }
        assert_eq!(pace.full(), before);
    }
}
