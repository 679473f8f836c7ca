use super::*;
use crate::testing::{MSS, settings, setup};
use crate::testpath::Path;
use units::Rate;

fn cubic(set: &[(&str, &str)]) -> Cubic {
    Cubic::new(&settings(set), &setup()).unwrap()
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn lose(cubic: &mut Cubic, segments: u64) {
    cubic.window = segments * MSS;
    let congestion = Congestion {
        signal: Signal::Loss,
        lost: MSS,
        in_flight: cubic.window,
        min_rtt: Duration::ZERO,
    };
    cubic.on_congestion(Instant::ZERO, &congestion);
    cubic.on_recovered(Instant::ZERO);
}

/// Acknowledges a window every round trip, from `from` until `to` seconds.
fn drive(cubic: &mut Cubic, rtt: f64, from: f64, to: f64, limited: bool) {
    let mut time = from;
    while time < to {
        let ack = Ack {
            bytes: MSS,
            rtt: Some(Duration::from_secs_f64(rtt)),
            window_limited: limited,
            ..Ack::default()
        };
        cubic.on_ack(at(time), &ack);
        time += rtt * MSS as f64 / cubic.window as f64;
    }
}

fn segments(cubic: &Cubic) -> u64 {
    cubic.window / MSS
}

/// W_max = 100: the loss leaves 70, and K = cbrt(30 / 0.4) = cbrt(75) = 4.217 s. With a round
/// trip of 100 ms Reno gains 0.53 a round trip, 22 in K: the curve is ahead all the way.
/// At K / 2: 100 − 0.4 × 2.109³ = 96.2; at K: 100; at 2 K: 100 + 30 = 130.
#[test]
fn the_window_is_back_at_the_maximum_after_k() {
    let mut cubic = cubic(&[]);
    lose(&mut cubic, 100);
    assert_eq!(segments(&cubic), 70);
    drive(&mut cubic, 0.1, 0.0, 2.109, true);
    let k = cubic.curve.as_ref().unwrap().k;
    assert!((k - 4.217_163).abs() < 1e-6, "{k}");
    assert!((95..=97).contains(&segments(&cubic)), "{}", cubic.window);
    drive(&mut cubic, 0.1, 2.109, 4.217, true);
    assert!((99..=100).contains(&segments(&cubic)), "{}", cubic.window);
    drive(&mut cubic, 0.1, 4.217, 8.434, true);
    assert!((127..=131).contains(&segments(&cubic)), "{}", cubic.window);
}

/// 40 segments, round trip 40 ms: the loss leaves 28, K = cbrt(12 / 0.4) = 3.107 s. A round trip
/// ahead of t = 0 the curve is 11.5 below 40, in whole segments 11: one is missing, for 28
/// acknowledgements. Then, at 39 ms, it is 11.1 below: none is missing. At 70 ms it is looked at
/// again, 10.8 below: one is, and the bytes acknowledged meanwhile count, so that the window grows
/// after two round trips and not three. Linux was recorded to have 30 after 90 ms.
#[test]
fn targets_are_whole_segments() {
    let mut cubic = cubic(&[]);
    lose(&mut cubic, 40);
    let mut window_at = |from, to| {
        drive(&mut cubic, 0.04, from, to, true);
        segments(&cubic)
    };
    assert_eq!(window_at(0.0, 0.038), 28);
    assert_eq!(window_at(0.038, 0.075), 29);
    assert_eq!(window_at(0.075, 0.085), 30);
}

/// W_max = 20, round trip 10 ms: the curve stands at 20 − 0.4 × 1.466³ = 18.7 after 1 s, while
/// Reno has gained 0.529 in each of 100 round trips: 14 + 53 = 67.
#[test]
fn reno_is_followed_where_it_is_faster() {
    let mut cubic = cubic(&[]);
    lose(&mut cubic, 20);
    assert_eq!(segments(&cubic), 14);
    drive(&mut cubic, 0.01, 0.0, 1.0, true);
    assert!((64..=67).contains(&segments(&cubic)), "{}", cubic.window);
}

/// As above with RFC 9438's alpha of 1 above 20: reached after 6 / 0.529 = 11.3 round trips, then
/// 88.7 more gain a segment each: 20 + 89 = 109, and the curve is no faster. The estimate is
/// evaluated every 31 ms while the window stands, and so up to three round trips late; without the
/// setting it ends at 67.
#[test]
fn the_reno_estimate_catches_up_if_asked_to() {
    let mut cubic = cubic(&[("reno_catchup", "yes")]);
    lose(&mut cubic, 20);
    drive(&mut cubic, 0.01, 0.0, 1.0, true);
    assert!((103..=109).contains(&segments(&cubic)), "{}", cubic.window);
}

/// 100, then 80 below it: with fast convergence the plateau is 80 × 1.7 / 2 = 68 (and K is
/// cbrt((68 − 56) / 0.4) = 3.107 s), without it 80.
#[test]
fn fast_convergence_lowers_the_plateau() {
    for (setting, plateau) in [("yes", 68), ("no", 80)] {
        let mut cubic = cubic(&[("fast_convergence", setting)]);
        lose(&mut cubic, 100);
        lose(&mut cubic, 80);
        assert_eq!((cubic.last_max, segments(&cubic)), (plateau * MSS, 56));
    }
}

/// Four seconds without use of the window: neither does it grow in them, nor does it jump
/// afterwards. Without the shift it would be at 99 after the second second of use; with it,
/// t = 2.109: 96.2.
#[test]
fn application_limited_time_does_not_count() {
    let mut cubic = cubic(&[]);
    lose(&mut cubic, 100);
    drive(&mut cubic, 0.1, 0.0, 1.0, true);
    let before = cubic.window;
    drive(&mut cubic, 0.1, 1.0, 3.0, false);
    assert_eq!(cubic.window, before);
    // Idle from 3 s to 5 s.
    cubic.on_sent(at(5.0), MSS, MSS);
    drive(&mut cubic, 0.1, 5.0, 6.109, true);
    assert!((95..=97).contains(&segments(&cubic)), "{}", cubic.window);
}

/// 100 segments: the threshold is 70; slow start from one segment, also while the losses are
/// being repaired, and a second timeout in the same episode leaves the threshold alone.
#[test]
fn a_timeout_starts_from_one_segment() {
    let mut cubic = cubic(&[]);
    cubic.window = 100 * MSS;
    cubic.on_timeout(Instant::ZERO, 50 * MSS);
    cubic.on_timeout(at(0.5), MSS);
    assert_eq!((cubic.window, cubic.threshold), (MSS, 70 * MSS));
    let repairing = Ack {
        bytes: MSS,
        in_recovery: true,
        window_limited: true,
        ..Ack::default()
    };
    cubic.on_ack(at(1.0), &repairing);
    assert_eq!(cubic.window, 2 * MSS);
    cubic.on_idle_restart(at(9.0), Duration::from_secs(8));
    assert_eq!((cubic.window, cubic.threshold), (2 * MSS, 70 * MSS));
}

/// 20 Mbit/s and 40 ms make 100 segments of 1000 B, 0.4 ms each; the buffer holds 100 more. Without
/// HyStart slow start notices at 401 that it has lost about 200; a loss leaves 281. With Linux's,
/// the train of acknowledgements is (40.4 + 1) / 2 = 20.7 ms long after 52 of the fourth round's
/// 80: the window is 80 + 52 = 132. HyStart++ has no trains: the first packets of the fifth round
/// found no queue yet, so it waits for the sixth, at 320 + 7; of the other 74 it takes a quarter:
/// 345, and 0.7 of that is 241. Too late for this buffer.
#[test]
fn hystart_ends_slow_start_before_the_buffer_overflows() {
    let run = |hystart| {
        let mut cubic = cubic(&[("hystart", hystart)]);
        let rate = Rate::from_bits(20_000_000);
        let mut path = Path::new(rate, Duration::from_millis(40), 100 * MSS, MSS);
        let slow = (0..1000).find(|&ms| {
            path.run(&mut cubic, at(f64::from(ms) / 1e3));
            !cubic.in_slow_start()
        });
        let threshold = cubic.threshold / MSS;
        // Packets in flight when slow start ended may still be lost.
        path.run(&mut cubic, path.now + Duration::from_millis(90));
        assert!(slow.is_some());
        (threshold, path.lost / MSS)
    };
    assert_eq!(run("linux"), (132, 0));
    let ((plus, plus_lost), (none, none_lost)) = (run("plusplus"), run("none"));
    assert_eq!((plus, none), (241, 281));
    assert!((140..150).contains(&plus_lost), "{plus_lost}");
    assert!((195..205).contains(&none_lost), "{none_lost}");
}

/// On the same path for a minute: the queue is full now and then, the link always busy.
#[test]
fn fills_a_link_whose_buffer_holds_its_bandwidth_delay_product() {
    let mut cubic = cubic(&[]);
    let rate = Rate::from_bits(20_000_000);
    let mut path = Path::new(rate, Duration::from_millis(40), 100 * MSS, MSS);
    path.run(&mut cubic, at(10.0));
    let before = path.delivered;
    path.run(&mut cubic, at(60.0));
    let carried = (path.delivered - before) as f64 / (50.0 * 2_500_000.0);
    assert!(carried > 0.98, "{carried}");
    assert!(path.lost > 0);
}
