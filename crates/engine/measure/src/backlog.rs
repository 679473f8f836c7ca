//! The backlog of one queue, weighted by time.

use crate::result::LinkBacklog;
use qdisc::Limit;
use units::Instant;

/// Follows a queue's backlog, from its arrivals and departures.
///
/// A packet that a queue refuses, or that leaves for an idle wire on arrival, is in it for no time,
/// and does not count in the mean or the maximum.
#[derive(Debug)]
pub struct BacklogMeter {
    /// The start of the measured time.
    from: Instant,
    /// The current backlog, and since when.
    waiting: qdisc::Backlog,
    since: Instant,
    /// Packets times nanoseconds.
    packets: u128,
    /// Bytes times nanoseconds.
    bytes: u128,
    max: u32,
}

impl BacklogMeter {
    /// An empty queue, measured from `from` on.
    pub fn new(from: Instant) -> Self {
        BacklogMeter {
            from,
            waiting: qdisc::Backlog::default(),
            since: from,
            packets: 0,
            bytes: 0,
            max: 0,
        }
    }

    /// A packet was handed in.
    pub fn add(&mut self, now: Instant, bytes: u32) {
        self.lasted_until(now);
        self.waiting.add(bytes);
    }

    /// A packet left, or was dropped.
    pub fn remove(&mut self, now: Instant, bytes: u32) {
        self.lasted_until(now);
        self.waiting.remove(bytes);
    }

    fn lasted_until(&mut self, now: Instant) {
        if now <= self.since {
            return;
        }
        let span = u128::from(now.since(self.since).as_nanos());
        self.since = now;
        self.packets += span * u128::from(self.waiting.packets);
        self.bytes += span * u128::from(self.waiting.bytes);
        self.max = self.max.max(self.waiting.packets);
    }

    /// Mean and maximum over the measured time, which ends at `end`.
    pub fn result(&mut self, end: Instant) -> LinkBacklog {
        self.lasted_until(end);
        let span = end.since(self.from).as_nanos().max(1) as f64;
        LinkBacklog {
            mean_packets: self.packets as f64 / span,
            max_packets: self.max,
            mean_bytes: self.bytes as f64 / span,
        }
    }
}

impl LinkBacklog {
    /// The mean as a share of `buffer`, in the buffer's own unit.
    pub fn occupancy(&self, buffer: Limit) -> f64 {
        match buffer {
            Limit::Packets(packets) => self.mean_packets / f64::from(packets),
            Limit::Bytes(bytes) => self.mean_bytes / bytes as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn mean_and_maximum_over_time() {
        let mut meter = BacklogMeter::new(at(10));
        meter.add(at(0), 1000);
        meter.add(at(4), 500);
        // Measured from here on, with two packets of 1500 B together.
        meter.remove(at(20), 1000);
        meter.add(at(25), 100);
        // In and out at once, and dropped on arrival: neither counts.
        meter.add(at(25), 700);
        meter.remove(at(25), 700);
        meter.remove(at(40), 500);
        // 10 ms with 2 packets, 5 ms with 1, 15 ms with 2, 10 ms with 1: 65 packet ms over 40 ms.
        // 10·1500 + 5·500 + 15·600 + 10·100 = 27 500 byte ms.
        let result = meter.result(at(50));
        assert_eq!(result.mean_packets, 65.0 / 40.0);
        assert_eq!(result.mean_bytes, 27_500.0 / 40.0);
        assert_eq!(result.max_packets, 2);
        assert_eq!(result.occupancy(Limit::Packets(5)), 0.325);
        assert_eq!(result.occupancy(Limit::Bytes(2750)), 0.25);
    }

    #[test]
    fn the_warm_up_leaves_no_maximum_behind() {
        let mut meter = BacklogMeter::new(at(10));
        for packet in 0..3 {
            meter.add(at(packet), 100);
        }
        meter.remove(at(10), 100);
        meter.remove(at(10), 100);
        let result = meter.result(at(20));
        assert_eq!((result.max_packets, result.mean_packets), (1, 1.0));
    }
}
