//! The capacity of the bottleneck in front of a pacer, from what arrives.
//!
//! Packets that waited at a bottleneck arrive one behind another at its rate. So the rate of the
//! fastest *trains* of packets is what the bottleneck had for this traffic: its capacity less what
//! others took of it. A faster train raises the estimate at once. It falls only to trains that the
//! pacer itself did not slow (BBR treats samples of a sender without data in the same way): senders
//! that follow the pacer's rate say nothing of the bottleneck's.
//!
//! While the pacer is what limits, there would be no sign of a bottleneck that became faster, so it
//! gives way now and then ([`Estimate::probes`]).

use units::{Duration, Instant, Rate};

/// A train has at least so many packets, ...
const PACKETS: u32 = 10;
/// ... and takes this long: a few turns of a computer's timer and of a radio link's frames.
const SPAN: Duration = Duration::from_millis(20);
/// A pause that ends a train: its packets did not all wait.
const PAUSE: Duration = Duration::from_millis(10);
/// Trains are compared over so much of their own time.
const WINDOW: Duration = Duration::from_millis(500);
/// A probe every so long, ...
const PROBE_EVERY: Duration = Duration::from_secs(2);
/// ... for this long, a round trip and more, as BBR's `PROBE_BW` has one in eight.
const PROBE_FOR: Duration = Duration::from_millis(200);

/// An estimate of the capacity that there is for what arrives.
#[derive(Debug, Default)]
pub(super) struct Estimate {
    rate: Option<Rate>,
    train: Train,
    window: Window,
}

/// The packets of a train.
#[derive(Debug, Clone, Copy, Default)]
struct Train {
    first: Instant,
    last: Instant,
    packets: u32,
    /// Without the first packet: it is the end of its time on the wire that is seen.
    bytes: u64,
    slowed: bool,
}

/// The trains of a time.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    span: Duration,
    fastest: Rate,
    slowed: bool,
}

impl Estimate {
    /// The estimate, once there is one.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// `len` bytes arrive `now`, while packets wait in the pacer or not.
    pub(super) fn arrived(&mut self, now: Instant, len: u32, waiting: bool) {
        let train = &mut self.train;
        if train.packets == 0 || now.since(train.last) > PAUSE {
            self.train = Train::new(now, waiting);
            return;
        }
        train.last = now;
        train.packets += 1;
        train.bytes += u64::from(len);
        train.slowed |= waiting;
        let span = now.since(train.first);
        if train.packets < PACKETS || span < SPAN {
            return;
        }
        let rate = Rate::from_bytes_over(train.bytes, span);
        let slowed = train.slowed;
        self.train = Train::new(now, waiting);
        self.take(rate, span, slowed);
    }

    fn take(&mut self, rate: Rate, span: Duration, slowed: bool) {
        self.rate = Some(self.rate.map_or(rate, |known| known.max(rate)));
        let window = &mut self.window;
        window.span += span;
        window.fastest = window.fastest.max(rate);
        window.slowed |= slowed;
        if window.span >= WINDOW {
            if !window.slowed {
                self.rate = Some(window.fastest);
            }
            self.window = Window::default();
        }
    }

    /// Whether traffic that has been sustained for `age` may now be faster than the estimate.
    pub(super) fn probes(age: Duration) -> bool {
        let turn = age.as_nanos() % PROBE_EVERY.as_nanos();
        age >= PROBE_EVERY && turn < PROBE_FOR.as_nanos()
    }
}

impl Train {
    fn new(now: Instant, slowed: bool) -> Self {
        Train {
            first: now,
            last: now,
            packets: 1,
            bytes: 0,
            slowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    /// Packets of 1250 B, one every `gap` µs, from `from` until `to` ms.
    fn arrive(estimate: &mut Estimate, gap: u64, (from, to): (u64, u64), waiting: bool) {
        for at in (from * 1000..to * 1000).step_by(gap as usize) {
            estimate.arrived(us(at), 1250, waiting);
        }
    }

    fn mbit(estimate: &Estimate) -> u64 {
        estimate.rate().unwrap().as_bits() / 1_000_000
    }

    /// By hand: 1250 B every 200 µs are 50 Mbit/s.
    #[test]
    fn a_burst_shows_the_capacity_and_pauses_do_not_count() {
        let mut estimate = Estimate::default();
        arrive(&mut estimate, 200, (0, 10), false);
        assert_eq!(estimate.rate(), None, "too short");
        arrive(&mut estimate, 200, (10, 40), false);
        assert_eq!(mbit(&estimate), 50);
        // A stream of 10 Mbit/s that comes in bursts over the same bottleneck.
        for start in (100..5000).step_by(150) {
            arrive(&mut estimate, 200, (start, start + 30), false);
        }
        assert_eq!(mbit(&estimate), 50);
    }

    #[test]
    fn it_rises_at_once_and_falls_where_the_pacer_is_not_the_reason() {
        let mut estimate = Estimate::default();
        arrive(&mut estimate, 200, (0, 100), false);
        arrive(&mut estimate, 500, (200, 2000), true);
        assert_eq!(mbit(&estimate), 50, "20 Mbit/s are the pacer's");
        arrive(&mut estimate, 500, (2000, 3500), false);
        assert_eq!(mbit(&estimate), 20);
        arrive(&mut estimate, 100, (4000, 4030), true);
        assert_eq!(mbit(&estimate), 100);
    }

    #[test]
    fn a_tenth_of_the_time_is_for_probes() {
        let probes = |ms| Estimate::probes(Duration::from_millis(ms));
        assert!(!probes(0) && !probes(199) && !probes(1999));
        assert!(probes(2000) && probes(2199) && !probes(2200) && probes(4000));
    }
}
