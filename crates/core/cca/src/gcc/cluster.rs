//! The measurement of a probe.
//!
//! libwebrtc's `probe_bitrate_estimator.cc`: the lesser of the rates at which the packets of one
//! burst were sent and arrived.

use crate::Probe;
use units::{Duration, Instant};

/// Part of the burst that must have arrived, in packets and in bytes.
const ENOUGH: f64 = 0.8;
/// Arrivals this much faster than sending make no result.
const MOST_RATIO: f64 = 2.0;
/// Arrivals this much slower than sending found the link's capacity...
const SATURATED: f64 = 0.9;
/// ... of which a little less is used.
const UTILIZATION: f64 = 0.95;
/// A burst is no longer than this, at either end.
const LONGEST: Duration = Duration::from_secs(1);
/// Bursts remembered.
const KEPT: usize = 16;

/// Bursts under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Clusters {
    clusters: Vec<Cluster>,
}

#[derive(Debug, Clone)]
struct Cluster {
    id: u32,
    least_packets: f64,
    least_bytes: f64,
    packets: u32,
    bytes: u64,
    /// Time and bytes of the packets at either end of sending and arriving.
    first_sent: Instant,
    last_sent: (Instant, u32),
    first_received: (Instant, u32),
    last_received: Instant,
}

impl Clusters {
    /// A packet of `probe` arrived; the result so far in bit/s, if enough of them have.
    pub fn add(
        &mut self,
        probe: &Probe,
        sent: Instant,
        received: Instant,
        bytes: u32,
    ) -> Option<f64> {
        let known = self.clusters.iter().position(|known| known.id == probe.id);
        let index = known.unwrap_or_else(|| {
            if self.clusters.len() >= KEPT {
                self.clusters.remove(0);
            }
            self.clusters.push(Cluster::new(probe));
            self.clusters.len() - 1
        });
        let cluster = &mut self.clusters[index];
        cluster.add(sent, received, bytes);
        cluster.rate()
    }
}

impl Cluster {
    fn new(probe: &Probe) -> Self {
        Cluster {
            id: probe.id,
            least_packets: ENOUGH * f64::from(probe.packets),
            least_bytes: ENOUGH * probe.rate.bytes_in(probe.span) as f64,
            packets: 0,
            bytes: 0,
            first_sent: Instant::NEVER,
            last_sent: (Instant::ZERO, 0),
            first_received: (Instant::NEVER, 0),
            last_received: Instant::ZERO,
        }
    }

    fn add(&mut self, sent: Instant, received: Instant, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.first_sent = self.first_sent.min(sent);
        if sent > self.last_sent.0 || self.packets == 1 {
            self.last_sent = (sent, bytes);
        }
        if received < self.first_received.0 {
            self.first_received = (received, bytes);
        }
        self.last_received = self.last_received.max(received);
    }

    fn rate(&self) -> Option<f64> {
        if f64::from(self.packets) < self.least_packets || (self.bytes as f64) < self.least_bytes {
            return None;
        }
        // n packets span n − 1 gaps: sending lacks the last one's time, arriving the first one's.
        let sent = rate(
            self.bytes - u64::from(self.last_sent.1),
            self.last_sent.0.since(self.first_sent),
        )?;
        let received = rate(
            self.bytes - u64::from(self.first_received.1),
            self.last_received.since(self.first_received.0),
        )?;
        if received > MOST_RATIO * sent {
            return None;
        }
        if received < SATURATED * sent {
            return Some(UTILIZATION * received);
        }
        Some(sent.min(received))
    }
}

fn rate(bytes: u64, span: Duration) -> Option<f64> {
    (span > Duration::ZERO && span <= LONGEST).then(|| bytes as f64 * 8.0 / span.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    /// 8 Mbit/s for 15 ms: 15 000 B; 12 000 of them must arrive; a packet of 1000 B every ms.
    fn probe(id: u32) -> Probe {
        Probe {
            id,
            rate: Rate::from_bits(8_000_000),
            span: Duration::from_millis(15),
            packets: 5,
        }
    }

    fn last(gap: u64, packets: u64) -> Option<f64> {
        let mut clusters = Clusters::default();
        (0..packets)
            .map(|n| clusters.add(&probe(7), us(1000 * n), us(50_000 + gap * n), 1000))
            .last()
            .flatten()
    }

    #[test]
    fn the_lesser_of_both_rates() {
        assert_eq!(last(1000, 11), None, "too few bytes");
        // 11 packets in 11 ms each way.
        assert_eq!(last(1000, 12), Some(8e6));
        // Arriving faster: the rate of sending. Arriving twice as slowly: the capacity is 4 Mbit/s,
        // and 95 % of that is used.
        assert_eq!(last(600, 12), Some(8e6));
        assert!((last(2000, 12).unwrap() - 3.8e6).abs() < 1e-3);
        assert_eq!(last(400, 12), None, "more than twice as fast");
        assert_eq!(last(0, 12), None, "all at once");
    }

    #[test]
    fn bursts_are_told_apart_and_old_ones_forgotten() {
        let mut clusters = Clusters::default();
        for n in 0..11 {
            let at = 1000 * n;
            assert_eq!(clusters.add(&probe(7), us(at), us(50_000 + at), 1000), None);
        }
        for other in 8..8 + KEPT as u32 - 1 {
            clusters.add(&probe(other), us(0), us(1), 1000);
        }
        let twelfth = (us(11_000), us(61_000));
        assert_eq!(
            clusters.add(&probe(7), twelfth.0, twelfth.1, 1000),
            Some(8e6)
        );
        clusters.add(&probe(100), us(0), us(1), 1000);
        assert_eq!(
            clusters.add(&probe(7), us(12_000), us(62_000), 1000),
            None,
            "sixteen others came since its first packet: this is a first one again"
        );
    }
}
