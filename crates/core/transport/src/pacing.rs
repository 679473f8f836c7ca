//! Pacing: packets leave one by one at a rate.

use cca::Pace;
use units::{Duration, Instant};

/// Packets that leave unpaced at the start of a connection (Linux `tcp_update_skb_after_send`).
const INITIAL_BURST: u32 = 10;

/// When the next packet may leave.
#[derive(Debug, Clone)]
pub(crate) struct SendPacer {
    pace: Pace,
    burst: u32,
}

impl Default for SendPacer {
    fn default() -> Self {
        SendPacer {
            pace: Pace::default(),
            burst: INITIAL_BURST,
        }
    }
}

impl SendPacer {
    /// When the next packet may leave.
    pub(crate) fn next(&self) -> Instant {
        self.pace.next()
    }

    /// A packet left that takes `gap` at the rate.
    pub(crate) fn on_sent(&mut self, now: Instant, gap: Duration) {
        if self.burst > 0 {
            self.burst -= 1;
            return;
        }
        self.pace.sent(now, gap);
    }
}

/// How long `bytes` take at `percent` of a `window` per `srtt`.
pub(crate) fn gap(bytes: u64, window: u64, srtt: Duration, percent: u64) -> Duration {
    // A packet's bytes times a hundred round trips stay below 2^64 up to a round trip of 20 min.
    let time = (bytes * 100).saturating_mul(srtt.as_nanos());
    Duration::from_nanos(time / window.max(1).saturating_mul(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_at_once_then_one_by_one() {
        let mut pacer = SendPacer::default();
        let gap = Duration::from_millis(2);
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        for _ in 0..10 {
            assert!(pacer.next() <= at(5));
            pacer.on_sent(at(5), gap);
        }
        pacer.on_sent(at(5), gap);
        // Late by 5 ms against a clock that starts at 0: half a gap is lent.
        assert_eq!(pacer.next(), at(6));
        pacer.on_sent(at(6), gap);
        assert_eq!(pacer.next(), at(8));
        pacer.on_sent(at(100), gap);
        assert_eq!(pacer.next(), at(101), "idle time lends half a gap, no more");
    }

    #[test]
    fn twice_the_window_per_round_trip_in_slow_start() {
        let srtt = Duration::from_millis(40);
        // 10 packets per 40 ms are 4 ms each; at double rate 2 ms, at 1.2 times 3.333 ms.
        assert_eq!(gap(1000, 10_000, srtt, 200), Duration::from_millis(2));
        assert_eq!(
            gap(1000, 10_000, srtt, 120),
            Duration::from_nanos(3_333_333)
        );
    }
}
