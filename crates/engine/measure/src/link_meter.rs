//! Measurements of one queue.

use crate::backlog::BacklogMeter;
use crate::classes::ClassMeter;
use crate::engine::BuiltLink;
use crate::result::{ChildResult, LinkResult};
use crate::series::{Merge, bin, halve};
use crate::waits::Waits;
use units::{Duration, FlowId, Instant};

/// Counters of one queue over the measured time, and bins over all of it.
#[derive(Debug)]
pub struct LinkMeter {
    bytes: u64,
    drops: u64,
    marks: u64,
    lost: u64,
    backlog: BacklogMeter,
    /// Its flows' classes.
    pub classes: ClassMeter,
    waits: Waits,
    /// Departures, for each bin of the run's series.
    bins: Option<Vec<Bin>>,
}

/// Packets that left in a span of time, their summed sojourn and the largest.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    packets: u64,
    sum: Duration,
    max: Duration,
}

impl Merge for Bin {
    fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

impl LinkMeter {
    /// Nothing measured yet; events from `from` on are measured. With `bins`, the data for a plot
    /// over time is kept.
    pub fn new(from: Instant, bins: bool) -> Self {
        LinkMeter {
            bytes: 0,
            drops: 0,
            marks: 0,
            lost: 0,
            backlog: BacklogMeter::new(from),
            classes: ClassMeter::new(from),
            waits: Waits::default(),
            bins: bins.then(Vec::new),
        }
    }

    /// A packet arrived.
    pub fn enqueued(&mut self, now: Instant, bytes: u32) {
        self.backlog.add(now, bytes);
    }

    /// A packet left, in the bin `place` if that is drawn.
    pub fn dequeued(
        &mut self,
        now: Instant,
        measured: bool,
        bytes: u32,
        sojourn: Duration,
        place: Option<usize>,
    ) {
        self.backlog.remove(now, bytes);
        if measured {
            self.bytes += u64::from(bytes);
            self.waits.record(sojourn);
        }
        if let (Some(bins), Some(place)) = (&mut self.bins, place) {
            bin(bins, place).merge(&Bin {
                packets: 1,
                sum: sojourn,
                max: sojourn,
            });
        }
    }

    /// Every two bins become one.
    pub fn halve(&mut self) {
        self.bins.iter_mut().for_each(halve);
    }

    /// A packet was lost on the wire.
    pub fn lost(&mut self) {
        self.lost += 1;
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, now: Instant, measured: bool, bytes: u32) {
        self.backlog.remove(now, bytes);
        self.drops += u64::from(measured);
    }

    /// A packet was marked.
    pub fn marked(&mut self) {
        self.marks += 1;
    }

    /// The results of the queue that was built as `link`, over the measured time, which ends at
    /// `end`. `name` gives the names of flows.
    pub fn result(
        &mut self,
        end: Instant,
        link: &BuiltLink,
        name: &dyn Fn(FlowId) -> String,
    ) -> LinkResult {
        let backlog = self.backlog.result(end);
        LinkResult {
            name: link.name.clone(),
            discipline: link.discipline.clone(),
            utilization: (link.capacity_bytes > 0.0)
                .then(|| self.bytes as f64 / link.capacity_bytes),
            sojourn_ms: self.waits.sojourn(),
            drops: self.drops,
            marks: self.marks,
            lost: self.lost,
            packets: self.waits.packets(),
            occupancy: link.buffer.map(|buffer| backlog.occupancy(buffer)),
            backlog,
            moves: self.classes.moves(&link.classes),
            residence: self.classes.residence(end, &link.classes, name),
            children: link.children.iter().map(ChildResult::from).collect(),
        }
    }

    /// Mean and largest sojourn for each bin, in ms.
    pub fn series(&self) -> Vec<Option<(f64, f64)>> {
        let bins = self.bins.as_deref().unwrap_or_default();
        bins.iter()
            .map(|&Bin { packets, sum, max }| {
                (packets > 0).then(|| (sum.as_millis_f64() / packets as f64, max.as_millis_f64()))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdisc::Limit;

    #[test]
    fn sojourn_of_packets() {
        let mut meter = LinkMeter::new(Instant::ZERO, true);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for _ in 0..=100 {
            meter.enqueued(at(0), 1000);
        }
        meter.dequeued(at(0), false, 1000, Duration::from_secs(9), Some(0));
        // 1 ms to 100 ms: the mean is 50.5 ms, and 95 of a hundred wait 95 ms or less.
        for ms in 1..=100 {
            let bin = Some((ms / 100) as usize);
            meter.dequeued(at(ms), true, 1000, Duration::from_millis(ms), bin);
        }
        let link = BuiltLink {
            name: "link".to_owned(),
            discipline: "pfifo".to_owned(),
            classes: Vec::new(),
            capacity_bytes: 200_000.0,
            children: Vec::new(),
            remarks: Vec::new(),
            doubt: None,
            buffer: Some(Limit::Bytes(202_000)),
        };
        let result = meter.result(at(200), &link, &|_| String::new());
        assert_eq!((result.packets, result.utilization), (100, Some(0.5)));
        let sojourn = result.sojourn_ms;
        assert_eq!((sojourn.mean, sojourn.max), (Some(50.5), Some(100.0)));
        let p95 = sojourn.p95.unwrap();
        assert!((95.0..95.1).contains(&p95), "three digits: {p95}");
        // Little's law: 100 packets in 200 ms, each for 50.5 ms.
        assert_eq!(result.backlog.mean_packets, 100.0 / 200.0 * 50.5);
        assert_eq!(result.backlog.max_packets, 100);
        assert_eq!(result.occupancy, Some(0.125), "25 250 B of 202 000 B");
        // The first bin has 1 to 99 ms and the 9 s that were not measured; the second has 100 ms.
        let bins = meter.series();
        assert_eq!(bins[0], Some(((4950.0 + 9000.0) / 100.0, 9000.0)));
        assert_eq!(bins[1], Some((100.0, 100.0)));
    }
}
