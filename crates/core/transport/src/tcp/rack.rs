//! RACK's memory: the newest delivered packet and the reordering window (RFC 8985, section 6).

use crate::delivery::Stamp;
use units::{Duration, Instant};

/// Segments that must have arrived out of order before time alone decides (RFC 8985, 6.2).
const DUP_THRESH: u32 = 3;
/// Recoveries for which a wider reordering window is kept (RFC 8985, 6.2, step 4).
const KEEP_RECOVERIES: u32 = 16;

/// The most recently sent segment that an acknowledgement delivered.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
    /// Number of its transmission.
    pub transmission: u64,
    /// When it left, and the connection's delivery then.
    pub stamp: Stamp,
    /// Sent more than once.
    pub retransmitted: bool,
}

/// RACK's per-connection state.
#[derive(Debug, Clone)]
pub struct Rack {
    /// Number of the newest transmission that was delivered.
    newest: u64,
    rtt: Duration,
    reordering_seen: bool,
    /// Quarters of the smallest round trip that the window is wide.
    quarters: u64,
    /// Recoveries until `quarters` falls back to one.
    keep: u32,
    /// Duplicates are counted once a round trip; this byte ends it.
    duplicate_round: Option<u64>,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            newest: 0,
            rtt: Duration::ZERO,
            reordering_seen: false,
            quarters: 1,
            keep: 0,
            duplicate_round: None,
        }
    }
}

impl Rack {
    /// Transmissions with smaller numbers left before the newest delivered packet did.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// The newest delivered packet's round trip.
    pub fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Steps 2 and 3: a packet was delivered. A retransmission answered sooner than any round trip
    /// was the original's answer and is ignored.
    pub fn on_delivered(
        &mut self,
        now: Instant,
        newest: &Newest,
        min_rtt: Duration,
        reordered: bool,
    ) {
        self.reordering_seen |= reordered;
        let rtt = now.since(newest.stamp.sent);
        if newest.retransmitted && rtt < min_rtt {
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(newest.transmission);
    }

    /// Step 4: a segment arrived twice, so a retransmission was unnecessary: the window grows by a
    /// quarter, once a round trip. `acked` is acknowledged up to, `next` sent up to.
    pub fn on_duplicate(&mut self, acked: u64, next: u64) {
        if self.duplicate_round.is_some_and(|end| acked < end) {
            return;
        }
        self.duplicate_round = Some(next);
        self.quarters += 1;
        self.keep = KEEP_RECOVERIES;
    }

    /// A recovery is over.
    pub fn on_recovered(&mut self) {
        self.keep = self.keep.saturating_sub(1);
        if self.keep == 0 {
            self.quarters = 1;
        }
    }

    /// The reordering window. Before any reordering was seen it is zero in recovery and once three
    /// segments arrived out of order.
    pub fn reordering_window(
        &self,
        sacked: u32,
        in_recovery: bool,
        min_rtt: Duration,
        srtt: Duration,
    ) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        (min_rtt / 4 * self.quarters).min(srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Delivery;

    #[test]
    fn an_answer_sooner_than_any_round_trip_was_for_the_original() {
        let mut rack = Rack::default();
        let stamp = Delivery::default().stamp(Instant::ZERO + Duration::from_millis(100), true);
        let newest = Newest {
            transmission: 7,
            stamp,
            retransmitted: true,
        };
        let min = Duration::from_millis(40);
        let mut deliver = |ms| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            rack.on_delivered(now, &newest, min, false);
            (rack.newest(), rack.rtt())
        };
        assert_eq!(deliver(139), (0, Duration::ZERO));
        assert_eq!(deliver(140), (7, min));
    }

    #[test]
    fn the_window_opens_with_reordering_and_widens_with_duplicates() {
        let mut rack = Rack::default();
        let (min, srtt) = (Duration::from_millis(40), Duration::from_millis(50));
        let quarter = Duration::from_millis(10);
        assert_eq!(rack.reordering_window(2, false, min, srtt), quarter);
        assert_eq!(rack.reordering_window(3, false, min, srtt), Duration::ZERO);
        assert_eq!(rack.reordering_window(1, true, min, srtt), Duration::ZERO);
        rack.reordering_seen = true;
        assert_eq!(rack.reordering_window(3, true, min, srtt), quarter);
        rack.on_duplicate(100, 200);
        rack.on_duplicate(150, 300);
        assert_eq!(
            rack.reordering_window(3, true, min, srtt),
            quarter * 2,
            "once a round"
        );
        for end in 0..5 {
            rack.on_duplicate(1000 * (end + 1), 1000 * (end + 1) + 1);
        }
        assert_eq!(
            rack.reordering_window(3, true, min, srtt),
            srtt,
            "never above SRTT"
        );
        for _ in 0..KEEP_RECOVERIES {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(3, true, min, srtt), quarter);
    }
}
