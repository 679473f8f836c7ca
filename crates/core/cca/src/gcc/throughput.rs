//! R_hat: the rate at which packets arrive, or leave if that is slower.
//!
//! libwebrtc's `robust_throughput_estimator.cc`, in place of the draft's bits in half a second
//! (section 5.5). The window is as long as it has to be: twenty packets and a second. Its longest
//! gap does not count, so that a link that stood still for a moment is not taken for a slow one;
//! the rate of sending bounds the overestimate.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// The window has more packets than this, and more time, but only so much of either.
const PACKETS: usize = 20;
const SPAN: Duration = Duration::from_secs(1);
const MOST_PACKETS: usize = 500;
const MOST_SPAN: Duration = Duration::from_secs(5);
/// With fewer packets there is no estimate.
const LEAST_PACKETS: usize = 10;
/// A packet so much older than the newest: the receiver's clock was set.
const DISORDER: Duration = Duration::from_secs(1);
/// No time is shorter.
const LEAST_TIME: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy)]
struct AckedPacket {
    sent: Instant,
    received: Instant,
    bytes: u32,
}

/// Arrivals within the window, in order of arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct Throughput {
    window: VecDeque<AckedPacket>,
    /// The latest time of sending among the packets that have left the window.
    left: Option<Instant>,
}

impl Throughput {
    /// A packet of `bytes`, sent at `sent`, arrived at `received` on the receiver's clock.
    pub fn add(&mut self, sent: Instant, received: Instant, bytes: u32) {
        let packet = AckedPacket {
            sent,
            received,
            bytes,
        };
        let place = self
            .window
            .partition_point(|other| other.received <= received);
        self.window.insert(place, packet);
        let newest = self.window.back().map_or(received, |last| last.received);
        if newest.since(received) > DISORDER {
            *self = Throughput::default();
        }
    }

    /// Forgets packets that are too old. Called once for all the packets of a report.
    pub fn trim(&mut self) {
        while self.is_too_long()
            && let Some(packet) = self.window.pop_front()
        {
            self.left = self.left.max(Some(packet.sent));
        }
    }

    fn is_too_long(&self) -> bool {
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else {
            return false;
        };
        let span = last.received.since(first.received);
        let count = self.window.len();
        count > MOST_PACKETS || span > MOST_SPAN || (count > PACKETS && span > SPAN)
    }

    /// Bits per second, once it can be estimated. One look at each packet finds both rates unless some
    /// overtook others, since the window may hold hundreds, and this is asked for at every report.
    pub fn rate(&self) -> Option<f64> {
        let first = self.window.front()?;
        if self.window.len() < LEAST_PACKETS {
            return None;
        }
        let mut arriving = Arriving::from(first);
        let (older, newer) = self.window.as_slices();
        for packets in [older, newer] {
            for packet in packets {
                arriving.add(packet);
            }
        }
        let leaving = if arriving.in_order && self.left.is_none_or(|left| left <= first.sent) {
            self.leaving_in_order(first, arriving.bytes)
        } else {
            self.leaving()
        };
        let leaving = leaving.rate();
        let arriving = arriving.rate();
        Some(leaving.map_or(arriving, |rate| rate.min(arriving)))
    }

    fn leaving(&self) -> Leaving {
        let mut leaving = Leaving::new(self.left);
        self.window.iter().for_each(|packet| leaving.add(packet));
        leaving
    }

    /// The same if packets arrived in the order in which they left, the `first` of them and `bytes` in
    /// all.
    fn leaving_in_order(&self, first: &AckedPacket, bytes: u64) -> Leaving {
        let newest = self.window.back().unwrap_or(first).sent;
        let together = self.window.iter().rev();
        let together = together.take_while(|packet| packet.sent == newest);
        Leaving {
            count: self.window.len(),
            bytes,
            first: first.sent,
            last: (newest, together.last().unwrap_or(first).bytes),
            ..Leaving::new(self.left)
        }
    }
}

/// The rate of arriving: n packets span n − 1 gaps, the longest of which counts as the second
/// longest, and the first packet's bytes belong to none.
struct Arriving {
    first: AckedPacket,
    last: Instant,
    longest: Duration,
    second: Duration,
    bytes: u64,
    /// Those so far arrived in the order in which they left; and when the last did.
    in_order: bool,
    left: Instant,
}

impl Arriving {
    fn from(first: &AckedPacket) -> Self {
        Arriving {
            first: *first,
            last: first.received,
            longest: Duration::ZERO,
            second: Duration::ZERO,
            bytes: 0,
            in_order: true,
            left: first.sent,
        }
    }

    fn add(&mut self, packet: &AckedPacket) {
        let gap = packet.received.since(self.last);
        self.last = packet.received;
        // Hardly any gap is one of the longest.
        if gap > self.second {
            self.second = gap.min(self.longest);
            self.longest = gap.max(self.longest);
        }
        self.bytes += u64::from(packet.bytes);
        self.in_order &= packet.sent >= self.left;
        self.left = packet.sent;
    }

    fn rate(&self) -> f64 {
        let span = self.last.since(self.first.received);
        let bytes = self.bytes - u64::from(self.first.bytes);
        rate(bytes, span.saturating_sub(self.longest) + self.second)
    }
}

/// The rate of sending, to which the last packet's bytes do not belong. Packets overtaken by some
/// that have left the window would make it look slow; without enough others there is none.
struct Leaving {
    /// Packets that left before are not counted.
    from: Instant,
    count: usize,
    bytes: u64,
    first: Instant,
    /// When the last left, and its bytes.
    last: (Instant, u32),
}

impl Leaving {
    fn new(left: Option<Instant>) -> Self {
        Leaving {
            from: left.unwrap_or(Instant::ZERO),
            count: 0,
            bytes: 0,
            first: Instant::NEVER,
            last: (Instant::ZERO, 0),
        }
    }

    fn add(&mut self, packet: &AckedPacket) {
        if packet.sent < self.from {
            return;
        }
        // Of several that left last, the one that arrived first.
        if packet.sent > self.last.0 || self.count == 0 {
            self.last = (packet.sent, packet.bytes);
        }
        self.count += 1;
        self.bytes += u64::from(packet.bytes);
        self.first = self.first.min(packet.sent);
    }

    fn rate(&self) -> Option<f64> {
        let (last, bytes) = self.last;
        let span = last.since(self.first);
        (self.count >= LEAST_PACKETS).then(|| rate(self.bytes - u64::from(bytes), span))
    }
}

fn rate(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.max(LEAST_TIME).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// Packets of `bytes` every 10 ms, from and to the given times, arriving 20 ms later.
    fn add(throughput: &mut Throughput, ms: core::ops::Range<u64>, bytes: u32) {
        for ms in ms.step_by(10) {
            throughput.add(at(ms), at(ms + 20), bytes);
        }
        throughput.trim();
    }

    #[test]
    fn ten_packets_tell_and_a_second_counts() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 0..90, 1250);
        assert_eq!(throughput.rate(), None);
        // 1250 B every 10 ms are 1 Mbit/s.
        add(&mut throughput, 90..2000, 1250);
        assert_eq!(throughput.rate(), Some(1e6));
        assert_eq!(throughput.window.len(), 101, "a second");
        // Half of the window at half of the rate. Of arriving, 50 packets of 1250 B and 50 of
        // 625 B follow the first; of sending, 51 and 49 precede the last.
        add(&mut throughput, 2000..2500, 625);
        assert_eq!(throughput.rate(), Some(750_000.0));
    }

    #[test]
    fn the_longest_gap_does_not_count_but_sending_bounds() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 0..500, 1250);
        // The link stands still for 300 ms; ten packets then come out at once.
        for ms in (500..600).step_by(10) {
            throughput.add(at(ms), at(800), 1250);
        }
        throughput.trim();
        // Arriving: 59 packets in 780 ms, less 290 (the gap is 300, the second 10): above 1 Mbit/s.
        assert_eq!(throughput.rate(), Some(1e6));
        // Three quarters of a second more, after a pause: without its gap of 310 ms.
        let mut paused = Throughput::default();
        add(&mut paused, 0..200, 1250);
        add(&mut paused, 500..700, 1250);
        // Sending counts the pause: 39 packets in 690 ms.
        let rate = 39.0 * 10_000.0 / 0.69;
        assert!((paused.rate().unwrap() - rate).abs() < 1e-3);
    }

    #[test]
    fn slow_packets_fill_the_window_until_they_are_too_old() {
        let mut throughput = Throughput::default();
        for second in 0..40 {
            throughput.add(at(250 * second), at(250 * second + 20), 1250);
            throughput.trim();
        }
        // More than a second needs no more than twenty: 40 kbit/s over nineteen gaps.
        assert_eq!(throughput.window.len(), 20);
        assert!((throughput.rate().unwrap() - 40_000.0).abs() < 1e-6);
        throughput.add(at(20_000), at(20_020), 1250);
        throughput.trim();
        assert_eq!(throughput.rate(), None, "all others are older than 5 s");
    }

    #[test]
    fn a_clock_set_back_begins_anew() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 2000..3000, 1250);
        throughput.add(at(3000), at(1000), 1250);
        assert_eq!(throughput.rate(), None);
        add(&mut throughput, 3000..3200, 1250);
        assert_eq!(throughput.rate(), Some(1e6));
    }

    #[test]
    fn what_was_overtaken_does_not_slow_sending() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 1000..3000, 1250);
        // Sent two seconds ago, it arrives now.
        throughput.add(at(990), at(3020), 1250);
        throughput.trim();
        let rate = throughput.rate().unwrap();
        assert!((0.99e6..1.02e6).contains(&rate), "{rate}");
    }

    #[test]
    fn in_order_the_sums_are_those_of_one_by_one() {
        let mut throughput = Throughput::default();
        // Three at a time, of other sizes.
        for packet in 0..100 {
            throughput.add(at(packet / 3 * 10), at(packet * 4), 700 + packet as u32);
        }
        throughput.trim();
        let bytes = (700..800).sum();
        let sums = |leaving: Leaving| (leaving.count, leaving.bytes, leaving.first, leaving.last);
        let in_order = throughput.leaving_in_order(&throughput.window[0], bytes);
        assert_eq!(sums(in_order), sums(throughput.leaving()));
        assert_eq!(throughput.leaving().last, (at(330), 799));
    }
}
