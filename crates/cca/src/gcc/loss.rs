//! The loss-based controller: a limit that lives only while there is loss.
//!
//! draft-ietf-rmcat-gcc-02, section 6, with the reporting of libwebrtc's
//! `send_side_bandwidth_estimation.cc`: reports of a second and of 20 packets at least, no two
//! decreases within 300 ms and a round trip, growth by 8 % a second where the draft says 5 % for
//! every feedback, however often that comes. As there, the limit follows the delay-based estimate
//! downwards; when it has grown past that estimate, it is gone.

use units::{Duration, Instant};

/// A report covers this long at least.
const REPORT: Duration = Duration::from_secs(1);
/// And this many packets.
const PACKETS: u64 = 20;
/// Time between decreases, beside a round trip.
const BETWEEN_DECREASES: Duration = Duration::from_millis(300);
/// Below this fraction the limit grows, above the other it falls (section 6).
const LOW: f64 = 0.02;
const HIGH: f64 = 0.1;
/// Growth per report.
const GROWTH: f64 = 1.08;

/// The controller's state. Rates in bit/s.
#[derive(Debug, Clone, Default)]
pub(super) struct Loss {
    limit: Option<f64>,
    packets: u64,
    lost: u64,
    since: Option<Instant>,
    decreased: Option<Instant>,
    /// The last report was above what lets the limit grow.
    lossy: bool,
}

impl Loss {
    /// The limit, if loss sets one.
    pub fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// Whether the last report found too much loss to grow.
    pub fn lossy(&self) -> bool {
        self.lossy
    }

    /// Forgets the limit: a probe has shown that more passes.
    pub fn lift(&mut self) {
        self.limit = None;
    }

    /// Limits the rate for another reason: feedback that does not come.
    pub fn cap(&mut self, rate: f64) {
        self.limit = Some(self.limit.map_or(rate, |limit| limit.min(rate)));
    }

    /// Feedback about `packets`, of which `lost` did not arrive, with a delay-based estimate of
    /// `estimate`.
    pub fn update(&mut self, now: Instant, packets: u64, lost: u64, estimate: f64, rtt: Duration) {
        self.packets += packets;
        self.lost += lost;
        let since = *self.since.get_or_insert(now);
        if self.packets < PACKETS || now.since(since) < REPORT {
            return;
        }
        let fraction = self.lost as f64 / self.packets as f64;
        (self.packets, self.lost, self.since) = (0, 0, Some(now));
        self.report(now, fraction, estimate, rtt);
    }

    fn report(&mut self, now: Instant, fraction: f64, estimate: f64, rtt: Duration) {
        self.lossy = fraction > LOW;
        if !self.lossy {
            self.limit = self
                .limit
                .map(|limit| limit * GROWTH)
                .filter(|&limit| limit < estimate);
            return;
        }
        let current = self.limit.map_or(estimate, |limit| limit.min(estimate));
        let wait = BETWEEN_DECREASES + rtt;
        if fraction > HIGH && self.decreased.is_none_or(|at| now.since(at) >= wait) {
            self.decreased = Some(now);
            self.limit = Some(current * (1.0 - 0.5 * fraction));
        } else {
            self.limit = Some(current);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    const RTT: Duration = Duration::from_millis(40);

    #[test]
    fn falls_above_ten_percent_holds_above_two_and_grows_below() {
        let mut loss = Loss::default();
        loss.update(at(0), 10, 0, 1e6, RTT);
        loss.update(at(500), 90, 50, 1e6, RTT);
        assert_eq!(loss.limit(), None, "no report before a second");
        // 70 of 200 lost: 1 − 0.5·0.35 = 0.825.
        loss.update(at(1000), 100, 20, 1e6, RTT);
        assert!((loss.limit().unwrap() - 825_000.0).abs() < 1e-6);
        // 5 %: holds, at the lower one of the limit and the estimate.
        loss.update(at(2000), 100, 5, 8e5, RTT);
        assert_eq!(loss.limit(), Some(8e5));
        assert!(loss.lossy());
        // 1 %: × 1.08.
        loss.update(at(3000), 100, 1, 9e5, RTT);
        assert_eq!((loss.limit(), loss.lossy()), (Some(864_000.0), false));
        // Past the delay-based estimate: gone.
        loss.update(at(4000), 100, 0, 8.5e5, RTT);
        assert_eq!(loss.limit(), None);
    }

    #[test]
    fn few_packets_make_no_report() {
        let mut loss = Loss::default();
        for second in 0..6 {
            loss.update(at(1000 * second), 3, 3, 1e6, RTT);
            assert_eq!(loss.limit(), None);
        }
        // The seventh makes 21 packets: all lost, half of the rate.
        loss.update(at(6000), 3, 3, 1e6, RTT);
        assert_eq!(loss.limit(), Some(5e5));
    }
}
