//! Round trips, and how long to wait for an answer (RFC 6298; RFC 9002, sections 5 and 6.2.1).
//!
//! TCP, QUIC and media sessions smooth their samples alike. They differ in how short a timeout may
//! be ([`Floor`]), in its value before the first sample, and in the event that resets its doubling:
//! a sample with TCP (RFC 6298, section 5, as Linux reads it), any news with the others.

use units::Duration;

/// Longest timeout (Linux `TCP_RTO_MAX`).
const MAX_TIMEOUT: Duration = Duration::from_secs(120);
/// No timer is expected to be finer (RFC 9002, `kGranularity`).
pub(crate) const GRANULARITY: Duration = Duration::from_millis(1);

/// The lower bound of a timeout.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Floor {
    /// Round trip and variance together are at least so much (RFC 6298, 2.4).
    Sum(Duration),
    /// The variance alone is (Linux's TCP; RFC 9002, 6.2.1).
    Variance(Duration),
}

/// The estimate from the round trips so far.
#[derive(Debug, Clone)]
pub(crate) struct Rtt {
    /// Smoothed round trip; zero before the first sample.
    pub(crate) srtt: Duration,
    /// Smallest round trip so far; zero before the first sample.
    pub(crate) min: Duration,
    /// The newest sample as measured, including the time for which its answer was held back.
    latest: Duration,
    /// Mean deviation (RTTVAR).
    variance: Duration,
    /// For how long the peer may hold back an answer, if the floor does not allow for it.
    pub(crate) ack_delay: Duration,
    initial: Duration,
    floor: Floor,
    backoff: u32,
}

impl Rtt {
    /// No sample yet: until then the timeout is `initial`.
    pub(crate) const fn new(initial: Duration, floor: Floor) -> Self {
        Rtt {
            srtt: Duration::ZERO,
            min: Duration::ZERO,
            latest: Duration::ZERO,
            variance: Duration::ZERO,
            ack_delay: Duration::ZERO,
            initial,
            floor,
            backoff: 0,
        }
    }

    /// Takes a sample: `latest`, including the time `held` for which the peer held its answer back.
    /// `held` is subtracted, but not from the first sample and never below the smallest (RFC 9002,
    /// 5.3). Returns the resulting round trip.
    pub(crate) fn sample(&mut self, latest: Duration, held: Duration) -> Duration {
        self.latest = latest;
        if self.srtt == Duration::ZERO {
            (self.srtt, self.min, self.variance) = (latest, latest, latest / 2);
            return latest;
        }
        self.min = self.min.min(latest);
        let rtt = if latest >= self.min + held {
            latest.saturating_sub(held)
        } else {
            latest
        };
        let error = rtt
            .saturating_sub(self.srtt)
            .max(self.srtt.saturating_sub(rtt));
        self.variance = (self.variance * 3 + error) / 4;
        self.srtt = (self.srtt * 7 + rtt) / 8;
        rtt
    }

    /// A bound that a round trip hardly ever exceeds.
    pub(crate) fn bound(&self) -> Duration {
        let margin = self.variance * 4;
        match self.floor {
            Floor::Sum(least) => (self.srtt + margin).max(least),
            Floor::Variance(least) => self.srtt + margin.max(least),
        }
    }

    /// How long to wait for an answer (RTO, PTO): twice as long for each time that it was in vain.
    pub(crate) fn timeout(&self) -> Duration {
        let base = if self.srtt == Duration::ZERO {
            self.initial
        } else {
            self.bound() + self.ack_delay
        };
        (base * (1 << self.backoff.min(20))).min(MAX_TIMEOUT)
    }

    /// The timeout ran out.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// An answer arrived: the timeout is single again.
    pub(crate) fn restart(&mut self) {
        self.backoff = 0;
    }

    /// How long after it was sent a packet is lost, if a later one arrived: 9/8 of the round trip
    /// (RFC 9002, 6.1.2).
    pub(crate) fn loss_delay(&self) -> Duration {
        self.srtt.max(self.latest).scale(9, 8).max(GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_steps_of_rfc_6298() {
        let mut rtt = Rtt::new(ms(1000), Floor::Sum(ms(1000)));
        assert_eq!(rtt.timeout(), ms(1000));
        rtt.sample(ms(400), ms(0)); // srtt 400, variance 200
        assert_eq!(rtt.timeout(), ms(1200));
        rtt.sample(ms(480), ms(0)); // variance (600 + 80) / 4 = 170, srtt (2800 + 480) / 8 = 410
        assert_eq!((rtt.srtt, rtt.timeout()), (ms(410), ms(410 + 680)));
        rtt.sample(ms(410), ms(0)); // variance 510 / 4 = 127.5
        assert_eq!(rtt.timeout(), ms(1000), "410 + 510 is below the floor");
    }

    #[test]
    fn the_floor_is_below_the_sum_or_above_the_round_trip() {
        let timeout = |floor| {
            let mut rtt = Rtt::new(ms(1000), floor);
            for _ in 0..100 {
                rtt.sample(ms(40), ms(0));
            }
            rtt.timeout()
        };
        assert_eq!(timeout(Floor::Sum(ms(200))), ms(200));
        assert_eq!(timeout(Floor::Variance(ms(200))), ms(240));
    }

    #[test]
    fn the_timeout_doubles_up_to_two_minutes() {
        let mut rtt = Rtt::new(ms(999), Floor::Variance(GRANULARITY));
        rtt.ack_delay = ms(25);
        rtt.back_off();
        assert_eq!(rtt.timeout(), ms(2 * 999), "nothing is known of the peer");
        rtt.sample(ms(80), ms(0));
        assert_eq!(rtt.timeout(), ms(2 * (80 + 4 * 40 + 25)));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), MAX_TIMEOUT);
        rtt.restart();
        assert_eq!(rtt.timeout(), ms(265));
    }

    #[test]
    fn what_was_held_back_counts_only_above_the_smallest_round_trip() {
        let mut rtt = Rtt::new(ms(1000), Floor::Sum(ms(200)));
        assert_eq!(rtt.sample(ms(40), ms(10)), ms(40), "the first as it is");
        assert_eq!(rtt.sample(ms(50), ms(10)), ms(40));
        assert_eq!(rtt.sample(ms(48), ms(10)), ms(48), "38 would be too small");
        assert_eq!((rtt.srtt, rtt.min), (ms(41), ms(40)));
        // 9/8 of 48, which is more than the smoothed 41.
        assert_eq!(rtt.loss_delay(), ms(54));
        assert_eq!(rtt.sample(ms(40), ms(30)), ms(40));
        assert_eq!(rtt.loss_delay(), rtt.srtt.scale(9, 8));
    }
}
