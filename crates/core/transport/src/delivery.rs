//! Delivery rate samples and packet-timed rounds
//! (draft-cheng-iccrg-delivery-rate-estimation-02, Linux `tcp_rate.c`).

use cca::RateSample;
use units::{Duration, Instant};

/// The bytes that a connection has delivered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delivery {
    delivered: u64,
    delivered_at: Instant,
    /// When the first packet of the current flight was sent.
    first_sent: Instant,
    /// Samples are limited by the application until this much is delivered; 0 if they are not.
    app_limited: u64,
    /// A round is over when a packet is acknowledged that left after this much was delivered.
    round_end: u64,
}

/// The state of delivery at the moment that a packet left.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamp {
    /// When it left.
    pub(crate) sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    app_limited: bool,
}

impl Delivery {
    /// A packet leaves `now`; `idle` if there are no others in flight.
    pub(crate) fn stamp(&mut self, now: Instant, idle: bool) -> Stamp {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Stamp {
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited != 0,
        }
    }

    /// The application gave no data although the window had room.
    pub(crate) fn limited_by_app(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// `bytes` were delivered, the newest packet among them with `stamp`. Returns the sample, if
    /// one could be taken, and whether a round is over.
    pub(crate) fn on_delivered(
        &mut self,
        now: Instant,
        bytes: u64,
        stamp: &Stamp,
        min_rtt: Duration,
    ) -> (Option<RateSample>, bool) {
        self.delivered += bytes;
        self.delivered_at = now;
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let round_start = stamp.delivered >= self.round_end;
        if round_start {
            self.round_end = self.delivered;
        }
        self.first_sent = stamp.sent;
        let sending = stamp.sent.since(stamp.first_sent);
        let interval = sending.max(now.since(stamp.delivered_at));
        // A shorter interval than the path's round trip is an artefact of a retransmission whose
        // original was acknowledged.
        let sample = (interval >= min_rtt && interval > Duration::ZERO).then(|| RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            app_limited: stamp.app_limited,
        });
        (sample, round_start)
    }

    /// Counts `bytes` delivered for which no sample is taken.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn two_packets_a_millisecond_apart() {
        let mut delivery = Delivery::default();
        let rtt = Duration::from_millis(10);
        let first = delivery.stamp(at(0), true);
        let second = delivery.stamp(at(1), false);
        let (sample, round) = delivery.on_delivered(at(10), 1000, &first, rtt);
        // 1000 B over max(send interval 0, ack interval 10 − 0).
        let sample = sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (1000, rtt));
        assert!(round, "the first packet ends the first round");
        let (sample, round) = delivery.on_delivered(at(12), 1000, &second, rtt);
        // 2000 B over max(1 − 0, 12 − 0).
        let sample = sample.unwrap();
        assert_eq!(
            (sample.delivered, sample.interval),
            (2000, Duration::from_millis(12))
        );
        assert!(!round, "the second left before the first was delivered");
        let third = delivery.stamp(at(12), true);
        assert!(delivery.on_delivered(at(22), 1000, &third, rtt).1);
    }

    #[test]
    fn samples_are_limited_by_the_application_until_the_flight_is_delivered() {
        let mut delivery = Delivery::default();
        delivery.limited_by_app(0);
        let limited = delivery.stamp(at(0), true);
        let (sample, _) = delivery.on_delivered(at(10), 1000, &limited, Duration::ZERO);
        assert!(sample.unwrap().app_limited);
        let free = delivery.stamp(at(10), true);
        let (sample, _) = delivery.on_delivered(at(20), 1000, &free, Duration::ZERO);
        assert!(!sample.unwrap().app_limited);
        assert_eq!(delivery.delivered(), 2000);
    }

    #[test]
    fn no_sample_over_less_than_the_round_trip() {
        let mut delivery = Delivery::default();
        let stamp = delivery.stamp(at(0), true);
        let rtt = Duration::from_millis(10);
        assert!(delivery.on_delivered(at(9), 1000, &stamp, rtt).0.is_none());
    }
}
