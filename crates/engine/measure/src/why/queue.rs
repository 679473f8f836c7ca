//! What one queue did lately: whose packets left it and wait in it, and how fast it is when it is busy.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Duration, Instant};

/// A traffic entry by its place; [`STRANGER`] for packets of none.
pub type Entry = u16;
/// Packets of no traffic entry, such as a kernel's own.
pub const STRANGER: Entry = Entry::MAX;

/// A busy time of this length is a sample of the queue's rate.
const SAMPLE: Duration = Duration::from_millis(20);
/// Shorter ones count as well if so many packets left.
const FEWEST: u32 = 3;
/// What left a queue so shortly before a packet was dropped had part in filling it.
const JUST: Duration = Duration::from_millis(100);
/// Classes of rates in a factor of two.
const CLASSES: f64 = 8.0;

/// The recent past of a queue.
#[derive(Debug, Default)]
pub struct QueuePast {
    departures: VecDeque<Departure>,
    waiting: BTreeMap<Entry, u64>,
    packets: u64,
    busy: Busy,
    /// The entries whose packets came by.
    seen: BTreeSet<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Departure {
    at: Instant,
    of: Entry,
    flow: u32,
    bytes: u32,
}

/// What left a queue, or waits in it, by traffic entry: bytes, and the number of flows.
pub type Parts = BTreeMap<Entry, (u64, usize)>;

impl QueuePast {
    /// A packet came.
    pub fn entered(&mut self, of: Entry, bytes: u32) {
        self.seen.insert(of);
        *self.waiting.entry(of).or_default() += u64::from(bytes);
        self.packets += 1;
    }

    /// A packet left for the wire.
    pub fn left(&mut self, at: Instant, of: Entry, flow: u32, bytes: u32) {
        self.gone(of, bytes);
        self.busy.left(at, bytes, self.packets > 0);
        self.departures.push_back(Departure {
            at,
            of,
            flow,
            bytes,
        });
    }

    /// A packet no longer waits.
    pub fn gone(&mut self, of: Entry, bytes: u32) {
        let waiting = self.waiting.entry(of).or_default();
        *waiting = waiting.saturating_sub(u64::from(bytes));
        self.packets = self.packets.saturating_sub(1);
    }

    /// Forgets what left before `at`.
    pub fn forget(&mut self, at: Instant) {
        while self.departures.front().is_some_and(|first| first.at < at) {
            self.departures.pop_front();
        }
    }

    /// What left from one moment to another, both excluded.
    pub fn between(&self, from: Instant, to: Instant) -> Parts {
        let start = self.departures.partition_point(|of| of.at <= from);
        let within = self.departures.iter().skip(start);
        let mut flows: BTreeMap<Entry, (u64, BTreeSet<u32>)> = BTreeMap::new();
        for departure in within.take_while(|of| of.at < to) {
            let part = flows.entry(departure.of).or_default();
            part.0 += u64::from(departure.bytes);
            part.1.insert(departure.flow);
        }
        let parts = flows.into_iter();
        parts
            .map(|(of, (bytes, flows))| (of, (bytes, flows.len())))
            .collect()
    }

    /// What waits now, and what left just before: in a short queue the packets that wait say little of
    /// who fills it.
    pub fn around(&self, now: Instant) -> Parts {
        let mut parts = self.between(now - JUST, now);
        for (of, (bytes, _)) in self.waiting() {
            parts.entry(of).or_default().0 += bytes;
        }
        parts
    }

    /// What waits now.
    fn waiting(&self) -> Parts {
        let waiting = self.waiting.iter().filter(|(_, bytes)| **bytes > 0);
        waiting.map(|(of, bytes)| (*of, (*bytes, 0))).collect()
    }

    /// Whether packets of `of` came by.
    pub fn has_seen(&self, of: Entry) -> bool {
        self.seen.contains(&of)
    }

    /// The rate at which half of all bytes left that did not find the queue empty behind them, bytes
    /// per second.
    pub fn usual_rate(&self) -> Option<f64> {
        self.busy.usual()
    }
}

/// Rates of a queue while packets wait in it, each with the bytes that left at this rate: so a time
/// without capacity, in which few do, does not count for much.
#[derive(Debug, Default)]
struct Busy {
    /// The last departure, if others waited behind it, and its bytes.
    last: Option<(Instant, u32)>,
    bytes: u64,
    packets: u32,
    span: Duration,
    rates: BTreeMap<i64, u64>,
}

impl Busy {
    fn left(&mut self, at: Instant, bytes: u32, more: bool) {
        if let Some((last, bytes)) = self.last {
            self.bytes += u64::from(bytes);
            self.packets += 1;
            self.span += at.since(last);
            if self.span >= SAMPLE {
                self.sample();
            }
        }
        self.last = more.then_some((at, bytes));
        if !more {
            if self.packets >= FEWEST {
                self.sample();
            }
            (self.bytes, self.packets, self.span) = (0, 0, Duration::ZERO);
        }
    }

    fn sample(&mut self) {
        let span = self.span.as_secs_f64();
        if span > 0.0 {
            let rate = self.bytes as f64 / span;
            let class = (libm::log2(rate) * CLASSES).round() as i64;
            *self.rates.entry(class).or_default() += self.bytes;
        }
        (self.bytes, self.packets, self.span) = (0, 0, Duration::ZERO);
    }

    fn usual(&self) -> Option<f64> {
        let total: u64 = self.rates.values().sum();
        let mut sum = 0;
        let middle = self.rates.iter().find(|(_, bytes)| {
            sum += **bytes;
            sum * 2 >= total
        });
        middle.map(|(class, _)| libm::exp2(*class as f64 / CLASSES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn who_left_meanwhile_and_who_waits() {
        let mut queue = QueuePast::default();
        for of in [1, 1, 2] {
            queue.entered(of, 1000);
        }
        queue.left(at(10), 1, 7, 1000);
        queue.left(at(20), 1, 8, 1000);
        assert_eq!(queue.waiting(), [(2, (1000, 0))].into());
        queue.left(at(30), 2, 9, 1000);
        let parts = queue.between(at(0), at(30));
        assert_eq!(parts, [(1, (2000, 2))].into(), "both ends are left out");
        queue.forget(at(15));
        assert_eq!(queue.between(at(0), at(40)).len(), 2);
        assert_eq!(queue.between(at(0), at(20)).len(), 0);
        assert!(queue.has_seen(2) && !queue.has_seen(3));
    }

    /// 1000 B each millisecond for a second, then one packet in half a second.
    #[test]
    fn an_outage_does_not_change_what_is_usual() {
        let mut queue = QueuePast::default();
        for _ in 0..=1002 {
            queue.entered(0, 1000);
        }
        for ms in 1..=1000 {
            queue.left(at(ms), 0, 0, 1000);
        }
        queue.left(at(1500), 0, 0, 1000);
        queue.left(at(2000), 0, 0, 1000);
        let rate = queue.usual_rate().unwrap();
        assert!((rate / 1e6 - 1.0).abs() < 0.05, "{rate}");
    }

    #[test]
    fn an_idle_queue_has_no_rate() {
        let mut queue = QueuePast::default();
        for ms in 1..100 {
            queue.entered(0, 1000);
            queue.left(at(ms), 0, 0, 1000);
        }
        assert_eq!(queue.usual_rate(), None);
    }
}
