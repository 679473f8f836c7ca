//! The window beside a base that cannot go on from another one.

use super::*;
use crate::{Registry, Setup, Signal};

const MSS: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A control that is out of slow start, with a window that nothing changes.
struct Fixed;

impl Control for Fixed {
    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}
    fn window(&self) -> u64 {
        100 * MSS
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bits(77_000_000))
    }
}

/// In a queue of its own, with round trips of 40 ms and `queue` ms more.
fn alone(base: Box<dyn Control>, queue: u64) -> Pair {
    let setup = Setup {
        mss: MSS,
        ..Setup::default()
    };
    let reaction = Reaction::Reduce(Reduction::Queue);
    let mut pair = Pair::new(Settings::default(), reaction, base, &setup);
    pair.alone = true;
    for side in &mut pair.sides {
        side.min_rtt = Duration::from_millis(40);
        side.srtt = Duration::from_millis(40 + queue);
    }
    pair.keeper.delayed(0, Duration::from_millis(40 + queue));
    pair
}

#[test]
fn the_window_follows_the_queue_beside_any_base() {
    let mut pair = alone(Box::new(Fixed), 40);
    pair.keep_queue(at(100));
    assert_eq!(pair.window(), 87_500, "an eighth less");
    let rate = Rate::from_bytes_over(87_500, Duration::from_millis(80)).scale(125, 100);
    assert_eq!(pair.rate(), Some(rate), "and so does the rate");
    let congestion = Congestion {
        signal: Signal::Loss,
        lost: MSS,
        in_flight: 80 * MSS,
        min_rtt: Duration::from_millis(40),
    };
    pair.congested(at(101), &congestion);
    assert_eq!(pair.window(), 87_500 - 87_500 / 8);
    pair.alone = false;
    pair.keep_queue(at(200));
    assert_eq!(pair.window(), 100 * MSS, "the base rules again");
    assert_eq!(pair.rate(), Some(Rate::from_bits(77_000_000)));
}

#[test]
fn a_base_that_can_goes_on_from_that_window_itself() {
    let setup = Setup {
        mss: MSS,
        initial_window: 100 * MSS,
        ..Setup::default()
    };
    let base = Registry::builtin().build(&"reno".parse().unwrap(), &setup);
    let mut pair = alone(base.unwrap(), 40);
    pair.keep_queue(at(100));
    assert_eq!((pair.base.window(), pair.kept), (87_500, None));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for (limited, expected) in [(false, 100 * MSS), (true, 101_499)] {
        let mut pair = alone(Box::new(Fixed), 0);
        pair.kept = Some(100 * MSS);
        pair.limited = limited;
        pair.keep_queue(at(100));
        assert_eq!(pair.window(), expected, "limited: {limited}");
    }
}

#[test]
fn a_base_that_cannot_go_on_starts_up_by_itself() {
    let mut pair = alone(Box::new(Fixed), 0);
    pair.keep_queue(at(100));
    assert_eq!(pair.kept, None, "it has filled no queue yet");
}
