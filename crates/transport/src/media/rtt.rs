//! Round trip times (RFC 6298).

use units::Duration;

/// Before the first sample (RFC 6298, 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);

/// What the samples so far say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rtt {
    /// Smoothed; zero before the first sample.
    pub srtt: Duration,
    /// Smallest; zero before the first sample.
    pub min: Duration,
    /// Newest.
    pub latest: Duration,
    variation: Duration,
}

impl Rtt {
    /// A new sample: after `latest`, of which the receiver held the answer back for `held`
    /// (RFC 9002, 5.3). Returns what counts as the round trip.
    pub fn sample(&mut self, latest: Duration, held: Duration) -> Duration {
        self.latest = latest;
        if self.srtt == Duration::ZERO {
            (self.srtt, self.variation, self.min) = (latest, latest / 2, latest);
            return latest;
        }
        self.min = self.min.min(latest);
        let rtt = if latest >= self.min + held {
            latest.saturating_sub(held)
        } else {
            latest
        };
        let error = rtt.saturating_sub(self.srtt) + self.srtt.saturating_sub(rtt);
        self.variation = (self.variation * 3 + error) / 4;
        self.srtt = (self.srtt * 7 + rtt) / 8;
        rtt
    }

    /// The retransmission timeout, not below `min`.
    pub fn rto(&self, min: Duration) -> Duration {
        if self.srtt == Duration::ZERO {
            return INITIAL_RTO;
        }
        (self.srtt + self.variation * 4).max(min)
    }

    /// How long after a later packet's arrival an earlier one still counts as under way: 9/8 of
    /// the round trip, a millisecond at least (RFC 9002, 6.1.2).
    pub fn reordering(&self) -> Duration {
        (self.srtt.max(self.latest) * 9 / 8).max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooths_as_rfc_6298_says() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::default();
        assert_eq!(rtt.rto(ms(200)), Duration::from_secs(1));
        rtt.sample(ms(80), ms(0));
        // srtt 80, variation 40: 80 + 4·40.
        assert_eq!(rtt.rto(ms(200)), ms(240));
        rtt.sample(ms(40), ms(0));
        // variation (3·40 + 40)/4 = 40; srtt (7·80 + 40)/8 = 75.
        assert_eq!(
            (rtt.srtt, rtt.min, rtt.rto(ms(0))),
            (ms(75), ms(40), ms(235))
        );
        assert_eq!(rtt.rto(ms(300)), ms(300));
    }

    #[test]
    fn what_the_receiver_held_back_counts_only_above_the_smallest_round_trip() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::default();
        assert_eq!(rtt.sample(ms(40), ms(10)), ms(40), "the first as it is");
        assert_eq!(rtt.sample(ms(50), ms(10)), ms(40));
        assert_eq!(rtt.sample(ms(49), ms(10)), ms(49), "39 would be too small");
        assert_eq!((rtt.min, rtt.latest), (ms(40), ms(49)));
    }
}
