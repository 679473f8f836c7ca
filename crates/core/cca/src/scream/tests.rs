//! Steps by hand, and calls on a path: behind a queue that marks, one that does not, and a slower one.

use super::*;
use crate::testing::{MSS, at, settings, setup};
use crate::testpath::{Path, Source};

fn scream(set: &[(&str, &str)]) -> Scream {
    let setup = Setup {
        media_bounds: (Rate::from_bits(150_000), Rate::from_bits(30_000_000)),
        ..setup()
    };
    Scream::new(&settings(set), &setup).unwrap()
}

/// An acknowledgement of segments, so many of them marked or others lost.
fn ack(rtt: u64, segments: u64, marked: u64, lost: u64) -> Ack {
    Ack {
        bytes: segments * MSS,
        marked: marked * MSS,
        lost: lost * MSS,
        rtt: Some(Duration::from_millis(rtt)),
        srtt: Duration::from_millis(rtt),
        in_flight: 50 * MSS,
        round_start: true,
        ..Ack::default()
    }
}

/// A window of so many segments, all of it used, a round trip of 20 ms, and no congestion so far.
fn used(set: &[(&str, &str)], segments: u64) -> Scream {
    let mut scream = scream(set);
    scream.window = (segments * MSS) as f64;
    scream.on_sent(at(0), MSS, segments * MSS);
    scream
}

fn near(value: f64, expected: f64) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{value}, not {expected}"
    );
}

#[test]
fn a_loss_takes_three_tenths_and_a_mark_without_l4s_two() {
    for (set, marked, lost, left) in [
        (&[][..], 0, 1, 0.7),
        (&[("l4s", "no")][..], 1, 0, 0.8),
        (&[("loss_factor", "0.5")][..], 0, 1, 0.5),
    ] {
        let mut scream = used(set, 50);
        scream.on_ack(at(100), &ack(20, 0, marked, lost));
        near(scream.reference_window(), left * (50 * MSS) as f64);
        // Not again within 20 ms.
        scream.on_ack(at(110), &ack(20, 0, marked, lost));
        near(scream.reference_window(), left * (50 * MSS) as f64);
    }
}

/// All of ten segments are marked: a share of 1, an eighth of which counts at first, and half of that
/// is taken; the window is where congestion came last, so that it is a quarter of the step.
#[test]
fn marks_take_half_of_their_share() {
    let mut scream = used(&[], 50);
    scream.on_ack(at(100), &ack(20, 10, 10, 0));
    near(scream.alpha(), 0.125);
    near(
        scream.reference_window(),
        (1.0 - 0.0625) * (50 * MSS) as f64,
    );
    scream.on_ack(at(200), &ack(20, 10, 0, 0));
    near(scream.alpha(), 0.125 * 127.0 / 128.0);
}

/// A window without congestion grows by a segment in 25 ms, which is 0.8 in a round trip of 20.
#[test]
fn it_grows_by_a_segment_a_round_trip() {
    let mut scream = used(&[("increase", "0")], 50);
    scream.on_ack(at(100), &ack(20, 50, 0, 0));
    near(scream.reference_window(), (50.0 + 0.8) * MSS as f64);
}

#[test]
fn what_is_not_used_does_not_grow() {
    let mut scream = scream(&[]);
    scream.window = (100 * MSS) as f64;
    scream.on_ack(at(100), &ack(20, 50, 0, 0));
    near(scream.reference_window(), (100 * MSS) as f64);
}

/// A picture every 40 ms, on 10 Mbit/s with a round trip of 40.
fn call(limit: u64) -> Path {
    let mut path = Path::new(
        Rate::from_bits(10_000_000),
        Duration::from_millis(40),
        limit,
        1200,
    );
    path.source = Source::Frames(Duration::from_millis(40));
    path
}

fn rate(path: &mut Path, scream: &mut Scream, from: u64, to: u64) -> f64 {
    path.run(scream, at(from));
    path.peak_wait = Duration::ZERO;
    let before = path.delivered;
    path.run(scream, at(to));
    (path.delivered - before) as f64 * 8.0 / (to - from) as f64 / 1000.0
}

#[test]
fn a_queue_that_marks_stays_short() {
    let (mut path, mut scream) = (call(250_000), scream(&[]));
    path.mark_over = Duration::from_millis(2);
    let rate = rate(&mut path, &mut scream, 30_000, 60_000);
    println!("{rate} Mbit/s, {:?}", path.peak_wait);
    assert!(rate > 5.0, "{rate}");
    assert!(path.marked > 0 && path.lost == 0);
    assert!(
        path.peak_wait < Duration::from_millis(40),
        "{:?}",
        path.peak_wait
    );
}

#[test]
fn without_marks_the_delay_stays_below_its_target() {
    let (mut path, mut scream) = (call(250_000), scream(&[]));
    let rate = rate(&mut path, &mut scream, 30_000, 60_000);
    println!("{rate} Mbit/s, {:?}", path.peak_wait);
    assert!(rate > 6.0, "{rate}");
    assert_eq!(path.lost, 0);
    assert!(
        path.peak_wait < Duration::from_millis(90),
        "{:?}",
        path.peak_wait
    );
}

#[test]
fn it_gives_way_to_a_slower_link() {
    let (mut path, mut scream) = (call(250_000), scream(&[]));
    path.mark_over = Duration::from_millis(2);
    path.run(&mut scream, at(30_000));
    path.rate = Rate::from_bits(2_500_000);
    let rate = rate(&mut path, &mut scream, 40_000, 60_000);
    println!("{rate} Mbit/s, {:?}", path.peak_wait);
    assert!(
        rate > 1.0 && path.peak_wait < Duration::from_millis(60),
        "{rate}, {:?}",
        path.peak_wait
    );
}

/// A standing delay of 200 ms, as a flow that fills the buffer makes: the target goes above it; when it has gone,
/// back to the least one.
#[test]
fn the_target_rises_beside_who_fills_the_buffer() {
    let mut competing = Competing::new(&ScreamParams::parse(&settings(&[])).unwrap());
    for step in 0..200 {
        competing.sample(at(50 * (step + 1)), 0.2);
    }
    near(competing.target(), 0.2);
    for step in 200..400 {
        competing.sample(at(50 * (step + 1)), 0.01);
    }
    near(competing.target(), 0.06);
    let never = ScreamParams::parse(&settings(&[("compete", "no")])).unwrap();
    let mut never = Competing::new(&never);
    (0..200).for_each(|step| never.sample(at(50 * (step + 1)), 0.2));
    near(never.target(), 0.06);
}
