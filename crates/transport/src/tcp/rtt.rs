//! Round trips and the retransmission timeout (RFC 6298).

use crate::Config;
use units::Duration;

/// Longest timeout (Linux `TCP_RTO_MAX`).
pub(crate) const MAX_RTO: Duration = Duration::from_secs(120);

/// The estimator.
#[derive(Debug, Clone)]
pub struct RttEstimator {
    /// Smoothed round trip; zero before the first sample.
    pub srtt: Duration,
    /// Smallest round trip so far; zero before the first sample.
    pub min: Duration,
    variance: Duration,
    min_rto: Duration,
    initial_rto: Duration,
    floor_variance: bool,
    backoff: u32,
}

impl RttEstimator {
    /// No sample yet.
    pub fn new(config: &Config) -> Self {
        RttEstimator {
            srtt: Duration::ZERO,
            min: Duration::ZERO,
            variance: Duration::ZERO,
            min_rto: config.min_rto,
            initial_rto: config.initial_rto,
            floor_variance: config.rto_over_srtt,
            backoff: 0,
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, rtt: Duration) {
        self.backoff = 0;
        if self.srtt == Duration::ZERO {
            self.srtt = rtt;
            self.variance = rtt / 2;
            self.min = rtt;
            return;
        }
        self.min = self.min.min(rtt);
        let error = rtt
            .saturating_sub(self.srtt)
            .max(self.srtt.saturating_sub(rtt));
        self.variance = (self.variance * 3 + error) / 4;
        self.srtt = (self.srtt * 7 + rtt) / 8;
    }

    /// Mean deviation (RFC 6298, RTTVAR).
    pub const fn variance(&self) -> Duration {
        self.variance
    }

    /// The timeout, doubled for each time that it ran out since the last sample.
    pub fn rto(&self) -> Duration {
        let base = if self.srtt == Duration::ZERO {
            self.initial_rto
        } else if self.floor_variance {
            // Linux keeps the variance term, not the sum, above the minimum.
            self.srtt + (self.variance * 4).max(self.min_rto)
        } else {
            (self.srtt + self.variance * 4).max(self.min_rto)
        };
        (base * (1 << self.backoff.min(20))).min(MAX_RTO)
    }

    /// The timeout ran out.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_rfc_6298() {
        let mut rtt = RttEstimator::new(&Config::ns3());
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        let ms = Duration::from_millis;
        rtt.sample(ms(400)); // srtt 400, variance 200
        assert_eq!(rtt.rto(), ms(1200));
        rtt.sample(ms(480)); // variance (600 + 80) / 4 = 170, srtt (2800 + 480) / 8 = 410
        assert_eq!((rtt.srtt, rtt.rto()), (ms(410), ms(410 + 680)));
        rtt.back_off();
        assert_eq!(rtt.rto(), ms(2 * 1090));
        rtt.sample(ms(410));
        assert!(rtt.rto() < ms(1090));
    }

    #[test]
    fn linux_keeps_200_ms_above_the_round_trip() {
        let mut rtt = RttEstimator::new(&Config::linux());
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(40));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(240));
    }
}
