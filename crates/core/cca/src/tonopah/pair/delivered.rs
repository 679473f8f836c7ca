//! The bytes that both subflows delivered together, and samples of their rate
//! (draft-cheng-iccrg-delivery-rate-estimation-02, over two transports that each see a part).

use crate::RateSample;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Departures closer than this to one that is known share its state.
const SPACING: Duration = Duration::from_micros(100);
/// The states that are kept: 0.8 s of departures at any rate.
const KEPT: usize = 8192;

/// The state of delivery at a departure.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
}

/// What both have delivered.
#[derive(Debug, Clone, Default)]
pub(super) struct Delivered {
    bytes: u64,
    at: Instant,
    first_sent: Instant,
    /// Packets that left before so much was delivered were limited by the application.
    app_limited: u64,
    stamps: VecDeque<Stamp>,
}

impl Delivered {
    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A subflow was limited by the application, with `in_flight` in both. The other one is not told: its
    /// window is full while it is not its turn.
    pub(super) fn limited_by_app(&mut self, in_flight: u64) {
        self.app_limited = self.bytes + in_flight;
    }

    /// A packet leaves; `idle` if neither subflow has others in flight.
    pub(super) fn sent(&mut self, now: Instant, idle: bool) {
        if idle {
            self.first_sent = now;
            self.at = now;
        }
        let known = self.stamps.back().map(|stamp| stamp.sent);
        if !idle && known.is_some_and(|sent| now < sent + SPACING) {
            return;
        }
        if self.stamps.len() == KEPT {
            self.stamps.pop_front();
        }
        self.stamps.push_back(Stamp {
            sent: now,
            delivered: self.bytes,
            delivered_at: self.at,
            first_sent: self.first_sent,
        });
    }

    /// `bytes` are acknowledged, the newest of which left at `newest_sent`. A sample, unless its interval is
    /// shorter than any round trip, as after a repair, or too long ago.
    pub(super) fn acked(
        &mut self,
        now: Instant,
        bytes: u64,
        newest_sent: Instant,
        min_rtt: Duration,
    ) -> Option<RateSample> {
        self.bytes += bytes;
        self.at = now;
        self.first_sent = self.first_sent.max(newest_sent);
        let later = self.stamps.partition_point(|s| s.sent <= newest_sent);
        let stamp = self.stamps.get(later.checked_sub(1)?)?;
        let sending = newest_sent.since(stamp.first_sent);
        let interval = sending.max(now.since(stamp.delivered_at));
        (interval >= min_rtt && interval > Duration::ZERO).then(|| RateSample {
            delivered: self.bytes - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            app_limited: stamp.delivered < self.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_sample_is_of_both_subflows() {
        let mut delivered = Delivered::default();
        let rtt = Duration::from_millis(10);
        // A packet each millisecond, whichever subflow it is of; its acknowledgement 10 ms later.
        for ms in 0..30 {
            delivered.sent(at(ms), ms == 0);
            let acked = ms.checked_sub(10);
            let sample = acked.map(|sent| delivered.acked(at(ms), 1000, at(sent), rtt));
            if ms == 25 {
                let sample = sample.flatten().unwrap();
                // Sent at 15, after the acknowledgement at 14 of that which left at 4.
                assert_eq!((sample.prior_delivered, sample.delivered), (5_000, 11_000));
                assert_eq!(sample.interval, Duration::from_millis(11));
            }
        }
        assert_eq!(delivered.bytes(), 20_000);
    }

    #[test]
    fn an_application_that_limits_one_limits_both_for_a_round_trip() {
        let mut delivered = Delivered::default();
        let mut limited = Vec::new();
        for ms in 0..40 {
            delivered.sent(at(ms), ms == 0);
            if let Some(sent) = ms.checked_sub(10) {
                let sample = delivered.acked(at(ms), 1000, at(sent), Duration::ZERO);
                limited.push(sample.unwrap().app_limited);
            }
            if ms == 15 {
                delivered.limited_by_app(10_000);
            }
        }
        // Packets from before 26 ms, when 16,000 bytes had been delivered, and told of from 16 ms on.
        let first = limited.iter().position(|&limited| limited).unwrap();
        let last = limited.iter().rposition(|&limited| limited).unwrap();
        assert_eq!((first, last), (6, 25));
    }

    #[test]
    fn one_subflow_may_be_long_behind_the_other() {
        let mut delivered = Delivered::default();
        delivered.sent(at(0), true);
        delivered.sent(at(1), false);
        let rtt = Duration::from_millis(10);
        delivered.acked(at(11), 1000, at(1), rtt);
        let sample = delivered.acked(at(40), 1000, at(0), rtt).unwrap();
        assert_eq!((sample.prior_delivered, sample.delivered), (0, 2000));
        assert_eq!(sample.interval, Duration::from_millis(40));
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_gives_no_sample() {
        let mut delivered = Delivered::default();
        for us in 0..1_000_000 {
            delivered.sent(Instant::from_nanos(us * 1000), us == 0);
        }
        assert_eq!(delivered.stamps.len(), KEPT);
        let first = Instant::from_nanos(0);
        let sample = delivered.acked(at(1000), 1, first, Duration::ZERO);
        assert!(sample.is_none(), "{sample:?}");
    }
}
