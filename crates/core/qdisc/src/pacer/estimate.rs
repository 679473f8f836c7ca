//! The capacity of the bottleneck in front of a pacer, from what arrives.
//!
//! Packets that waited at a bottleneck arrive one behind another at its rate. So the rate of the
//! fastest *trains* of packets is what the bottleneck had for this traffic: its capacity less what
//! others took of it. A faster train raises the estimate at once. It falls only to trains that the
//! pacer itself did not slow (BBR treats samples of a sender without data in the same way): senders
//! that follow the pacer's rate say nothing of the bottleneck's.
//!
//! While the pacer is what limits, there would be no sign of a bottleneck that became faster, so it
//! gives way now and then ([`CapacityEstimate::probes`]).

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

/// A train of this part of the estimate shows that it holds.
const HOLDS: (u64, u64) = (7, 8);
/// An estimate that nothing has shown to hold for so long is forgotten: pages come more often.
const FORGET: Duration = Duration::from_secs(120);

/// An estimate of the capacity that there is for what arrives.
#[derive(Debug, Default)]
pub(super) struct CapacityEstimate {
    rate: Option<Rate>,
    /// When it was last seen to hold.
    known: Instant,
    train: Train,
    window: TrainWindow,
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
struct TrainWindow {
    span: Duration,
    fastest: Rate,
    slowed: bool,
    /// The least that it lowers the estimate to; none if there is a packet in it without such a bound.
    floor: Option<Rate>,
    unbound: bool,
}

impl CapacityEstimate {
    /// The estimate, once there is one.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// When the estimate was last seen to hold; long ago if there is none.
    pub(super) fn known(&self) -> Instant {
        self.rate.map_or(Instant::ZERO, |_| self.known)
    }

    /// Forgets what has not been seen to hold for long.
    pub(super) fn forget(&mut self, now: Instant) {
        if self.rate.is_some() && now.since(self.known) > FORGET {
            *self = CapacityEstimate::default();
        }
    }

    /// `len` bytes arrive `now`, while packets wait in the pacer or not. Packets with a `floor` do not lower
    /// the estimate further, unless there are others.
    pub(super) fn arrived(&mut self, now: Instant, len: u32, waiting: bool, floor: Option<Rate>) {
        self.window.floor = self.window.floor.max(floor);
        self.window.unbound |= floor.is_none();
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
        self.take(now, rate, span, slowed);
    }

    fn take(&mut self, now: Instant, rate: Rate, span: Duration, slowed: bool) {
        let known = self.rate.unwrap_or_default();
        if rate >= known.scale(HOLDS.0, HOLDS.1) {
            self.known = now;
        }
        let known = known.max(rate);
        self.rate = Some(known);
        let window = &mut self.window;
        window.span += span;
        window.fastest = window.fastest.max(rate);
        window.slowed |= slowed;
        if window.span >= WINDOW {
            if !window.slowed {
                let floor = window.floor.filter(|_| !window.unbound);
                let floor = floor.unwrap_or_default().min(known);
                self.rate = Some(window.fastest.max(floor));
                self.known = now;
            }
            self.window = TrainWindow::default();
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
    fn arrive(estimate: &mut CapacityEstimate, gap: u64, (from, to): (u64, u64), waiting: bool) {
        for at in (from * 1000..to * 1000).step_by(gap as usize) {
            estimate.arrived(us(at), 1250, waiting, None);
        }
    }

    fn mbit(estimate: &CapacityEstimate) -> u64 {
        estimate.rate().unwrap().as_bits() / 1_000_000
    }

    /// By hand: 1250 B every 200 µs are 50 Mbit/s.
    #[test]
    fn a_burst_shows_the_capacity_and_pauses_do_not_count() {
        let mut estimate = CapacityEstimate::default();
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
        let mut estimate = CapacityEstimate::default();
        arrive(&mut estimate, 200, (0, 100), false);
        arrive(&mut estimate, 500, (200, 2000), true);
        assert_eq!(mbit(&estimate), 50, "20 Mbit/s are the pacer's");
        arrive(&mut estimate, 500, (2000, 3500), false);
        assert_eq!(mbit(&estimate), 20);
        arrive(&mut estimate, 100, (4000, 4030), true);
        assert_eq!(mbit(&estimate), 100);
    }

    #[test]
    fn it_is_known_when_it_was_seen_to_hold_and_forgotten_after_two_minutes() {
        let mut estimate = CapacityEstimate::default();
        assert_eq!(estimate.known(), Instant::ZERO);
        arrive(&mut estimate, 200, (0, 100), false);
        let first = estimate.known();
        assert!(us(20_000) <= first && first < us(100_000));
        // What the pacer slows says nothing, until a train is as fast.
        arrive(&mut estimate, 500, (2000, 9000), true);
        assert_eq!(estimate.known(), first);
        arrive(&mut estimate, 220, (9000, 9100), true);
        assert!(estimate.known() > us(9_000_000));
        estimate.forget(us(129_000_000));
        assert_eq!(mbit(&estimate), 50);
        estimate.forget(us(129_200_000));
        assert_eq!((estimate.rate(), estimate.known()), (None, Instant::ZERO));
    }

    #[test]
    fn what_passes_lowers_it_to_some_calls_and_no_further() {
        let least = Some(Rate::from_bits(12_000_000));
        let pass = |estimate: &mut CapacityEstimate, gap: u64, (from, to): (u64, u64)| {
            for at in (from * 1000..to * 1000).step_by(gap as usize) {
                estimate.arrived(us(at), 1250, false, least);
            }
        };
        let mut estimate = CapacityEstimate::default();
        arrive(&mut estimate, 200, (0, 600), false);
        pass(&mut estimate, 500, (1000, 3000));
        assert_eq!(mbit(&estimate), 20);
        pass(&mut estimate, 2000, (4000, 6000));
        assert_eq!(mbit(&estimate), 12, "5 Mbit/s may be a call");
        arrive(&mut estimate, 2000, (7000, 9000), false);
        assert_eq!(mbit(&estimate), 5);
        pass(&mut estimate, 5000, (10_000, 12_000));
        assert_eq!(mbit(&estimate), 5, "the bound does not raise it");
    }

    #[test]
    fn a_tenth_of_the_time_is_for_probes() {
        let probes = |ms| CapacityEstimate::probes(Duration::from_millis(ms));
        assert!(!probes(0) && !probes(199) && !probes(1999));
        assert!(probes(2000) && probes(2199) && !probes(2200) && probes(4000));
    }
}
