//! Steps by hand, and flows behind a queue that marks at a threshold.

use super::*;
use crate::testing::{MSS, at, settings, setup};
use crate::testpath::Path;
use crate::{RateSample, reno::Reno};

fn prague(set: &[(&str, &str)]) -> Prague {
    Prague::new(&settings(set), &setup()).unwrap()
}

/// A flow out of slow start with a window of so many segments, and alpha at its initial value.
fn avoiding(settings: &[(&str, &str)], segments: u64) -> Prague {
    let mut prague = prague(settings);
    prague.window = (2 * segments * MSS) as f64;
    prague.on_congestion(Instant::ZERO, &MARK);
    assert_eq!(prague.window(), segments * MSS, "alpha is 1 at first");
    prague
}

const MARK: Congestion = Congestion {
    signal: Signal::Mark,
    lost: 0,
    in_flight: 100 * MSS,
    min_rtt: Duration::ZERO,
};

const LOSS: Congestion = Congestion {
    signal: Signal::Loss,
    lost: MSS,
    ..MARK
};

/// An acknowledgement of segments that left a round trip ago.
fn ack(now: u64, rtt: u64, segments: u64, marked: u64) -> Ack {
    Ack {
        bytes: segments * MSS,
        marked: marked * MSS,
        srtt: Duration::from_millis(rtt),
        newest_sent: at(now - rtt),
        window_limited: true,
        ..Ack::default()
    }
}

fn give(prague: &mut Prague, now: u64, rtt: u64, segments: u64, marked: u64) {
    prague.on_ack(at(now), &ack(now, rtt, segments, marked));
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

/// Rounds of 40 ms: 10 of 100 marked, then none, then 30 of 100.
/// 1 + (0.1 − 1) / 16 = 0.94375; × 15 / 16 = 0.884765625; + (0.3 − 0.8848) / 16 = 0.84821777.
#[test]
fn alpha_by_hand() {
    let mut prague = prague(&[]);
    prague.saw_mark = true;
    give(&mut prague, 40, 40, 100, 10);
    near(prague.alpha(), 0.943_75);
    give(&mut prague, 60, 40, 50, 0);
    near(prague.alpha(), 0.943_75);
    give(&mut prague, 80, 40, 50, 0);
    near(prague.alpha(), 0.884_765_625);
    give(&mut prague, 100, 40, 90, 30);
    give(&mut prague, 120, 40, 10, 0);
    near(prague.alpha(), 0.848_217_773_437_5);
}

#[test]
fn without_a_mark_there_is_nothing_to_average() {
    let mut prague = prague(&[]);
    for round in 1..50 {
        give(&mut prague, 40 * round, 40, 10, 0);
    }
    near(prague.alpha(), 1.0);
}

/// Slow start doubles from 10 to 20, and the first mark halves that.
#[test]
fn the_first_mark_ends_slow_start() {
    let mut prague = prague(&[]);
    give(&mut prague, 40, 40, 10, 0);
    assert_eq!((prague.window(), prague.in_slow_start()), (20 * MSS, true));
    prague.on_congestion(at(80), &MARK);
    near(prague.fractional_window(), 10_000.0);
    assert!(!prague.in_slow_start());
    // Nineteen segments without a mark, at a window of ten: 1.9 segments more.
    give(&mut prague, 80, 40, 20, 1);
    near(prague.fractional_window(), 11_900.0);
    assert_eq!(prague.window(), 12 * MSS, "in whole segments");
}

/// alpha = 0.25, window 80: 80 × (1 − 0.125) = 70. Then a round trip in which 14 of 70 are marked
/// gains 56 / 70 = 0.8 of a segment, and one without marks about a whole.
#[test]
fn half_of_alpha_once_and_growth_by_what_was_not_marked() {
    let mut prague = avoiding(&[], 80);
    prague.alpha = 0.25;
    prague.on_congestion(at(40), &MARK);
    near(prague.fractional_window(), 70_000.0);
    give(&mut prague, 80, 40, 70, 14);
    near(prague.fractional_window(), 70_800.0);
    for segment in 0..71 {
        give(&mut prague, 81 + segment, 40, 1, 0);
    }
    let window = prague.fractional_window();
    assert!((71_770.0..71_810.0).contains(&window), "{window}");
}

/// Round trip 5 ms, target 25: a fifth squared is 0.04 of a segment a round trip. Alpha is updated
/// and the window reduced every 25 ms at most. All that not before 500 rounds.
#[test]
fn short_round_trips_behave_like_long_ones() {
    let mut prague = avoiding(&[], 50);
    for round in 1..=500 {
        assert_eq!(prague.virtual_rtt(), None);
        give(&mut prague, 5 * round, 5, 1, 0);
    }
    assert_eq!(prague.virtual_rtt(), Some(Duration::from_millis(25)));
    prague.window = 50_000.0;
    give(&mut prague, 2505, 5, 50, 0);
    near(prague.fractional_window(), 50_040.0);
    let alpha = prague.alpha;
    give(&mut prague, 2520, 5, 1, 0);
    near(prague.alpha, alpha);
    give(&mut prague, 2525, 5, 1, 0);
    near(prague.alpha, alpha * 15.0 / 16.0);

    prague.alpha = 0.5;
    prague.window = 40_000.0;
    let mut windows = Vec::new();
    for ms in [2530, 2550, 2554, 2555] {
        prague.on_congestion(at(ms), &MARK);
        windows.push(prague.window() / MSS);
    }
    assert_eq!(windows, [30, 30, 30, 23], "40 × 3 / 4, and 30 × 3 / 4");
}

/// At 25 ms both behave alike at `rate`; with `additive`, 25 of 50 ms is a quarter; without
/// scaling, a round trip of 5 ms gains a segment.
#[test]
fn other_scalings() {
    let gain = |scaling, rtt| {
        let mut prague = avoiding(&[("rtt_scaling", scaling), ("rtt_transition", "0")], 50);
        give(&mut prague, 100, rtt, 50, 0);
        prague.fractional_window() - 50_000.0
    };
    near(gain("rate", 25), 1000.0);
    near(gain("rate", 5), 40.0);
    near(gain("additive", 25), 250.0);
    near(gain("none", 5), 1000.0);
    let unknown = [("rtt_scaling".to_owned(), "square".to_owned())];
    assert!(Prague::new(&unknown, &setup()).is_err());
}

#[test]
fn a_loss_halves_and_marks_meanwhile_add_nothing() {
    let mut prague = avoiding(&[], 60);
    prague.on_congestion(at(40), &LOSS);
    prague.on_congestion(at(41), &MARK);
    let repairing = Ack {
        in_recovery: true,
        ..ack(80, 40, 30, 0)
    };
    prague.on_ack(at(80), &repairing);
    near(prague.fractional_window(), 30_000.0);
    prague.on_recovered(at(90));
    prague.alpha = 1.0;
    prague.on_congestion(at(91), &MARK);
    near(prague.fractional_window(), 15_000.0);
    let mut gentle = avoiding(&[("loss_factor", "0.7")], 60);
    gentle.on_congestion(at(40), &LOSS);
    near(gentle.fractional_window(), 42_000.0);
}

/// 60 segments: one remains, and slow start goes up to 30. A second timeout does not change that.
#[test]
fn a_timeout_starts_from_one_segment() {
    let mut prague = avoiding(&[], 60);
    prague.on_timeout(at(40), 0);
    prague.on_timeout(at(400), 0);
    assert_eq!(prague.window(), MSS);
    near(prague.threshold, 30_000.0);
    give(&mut prague, 500, 40, 20, 0);
    assert_eq!(prague.window(), 21 * MSS);
    give(&mut prague, 540, 40, 9, 0);
    assert!(!prague.in_slow_start());
    prague.alpha = 1.0;
    prague.on_congestion(at(541), &MARK);
    assert_eq!(prague.window(), 15 * MSS, "marks count again");
}

/// Two segments are kept; an unused window neither grows nor counts as full; idle time leaves the
/// initial window, and slow start to three quarters of the former one.
#[test]
fn bounds() {
    let mut prague = avoiding(&[], 2);
    prague.on_congestion(at(40), &MARK);
    assert_eq!(prague.window(), 2 * MSS);
    let mut prague = avoiding(&[], 40);
    let sample = RateSample {
        delivered: MSS,
        interval: Duration::from_millis(1),
        prior_delivered: 0,
        app_limited: true,
    };
    let idle = Ack {
        window_limited: false,
        rate: Some(sample),
        ..ack(80, 40, 40, 0)
    };
    prague.on_ack(at(80), &idle);
    assert_eq!(prague.window(), 40 * MSS);
    let paced = Ack {
        rate: Some(RateSample {
            app_limited: false,
            ..sample
        }),
        ..idle
    };
    prague.on_ack(at(81), &paced);
    near(prague.fractional_window(), 41_000.0);
    prague.window = 40_000.0;
    prague.on_idle_restart(at(2000), Duration::from_secs(1));
    assert_eq!(prague.window(), 10 * MSS);
    near(prague.threshold, 40_000.0);
}

/// 50 segments of 1000 B in 40 ms are 10 Mbit/s; in slow start twice that.
#[test]
fn paces_at_the_window_per_round_trip() {
    let mut prague = prague(&[]);
    assert_eq!(prague.pacing_rate(), None);
    prague.window = 49_000.0;
    give(&mut prague, 40, 40, 1, 0);
    let mbit = |mbit: u64| Some(Rate::from_bits(mbit * 1_000_000));
    assert_eq!(prague.pacing_rate(), mbit(20));
    prague.threshold = 60_000.0;
    assert_eq!(
        prague.pacing_rate(),
        mbit(10),
        "more than half of the threshold"
    );
    assert_eq!(Some(prague.media_rate(Duration::from_millis(20))), mbit(20));
}

/// A flow's run on a path of 40 ms with a step, until so many seconds.
fn behind_a_step(control: &mut dyn Control, mbit: u64, step: u64, until: u64) -> Path {
    let rate = Rate::from_bits(mbit * 1_000_000);
    let limit = rate.bytes_in(Duration::from_millis(400));
    let mut path = Path::new(rate, Duration::from_millis(40), limit, MSS);
    path.mark_over = Duration::from_millis(step);
    path.run(control, at(until * 1000));
    assert_eq!(path.lost, 0);
    path
}

/// Behind a step all packets of some round trips are marked. Alizadeh et al. (SIGMETRICS 2011) find
/// alpha = sqrt(2 / W) in that case, so sqrt(2 W) marks a round trip: 7 at 5 Mbit/s (W = 25), 14 at
/// 20, 28 at 80. The queue is the step and two packets.
#[test]
fn a_step_keeps_the_queue_short_and_the_link_busy_at_any_rate() {
    for (mbit, expected) in [(5, 7.0), (20, 14.0), (80, 28.0)] {
        let mut prague = prague(&[]);
        let mut path = behind_a_step(&mut prague, mbit, 1, 10);
        let (delivered, marked, rounds) = (path.delivered, path.marked, path.rounds);
        path.peak_wait = Duration::ZERO;
        path.run(&mut prague, at(30_000));
        assert_eq!(path.lost, 0);
        let carried = (path.delivered - delivered) as f64 / (mbit * 125_000 * 20) as f64;
        assert!(carried > 0.96, "{mbit}: {carried}");
        let marks = ((path.marked - marked) / MSS) as f64 / (path.rounds - rounds) as f64;
        let off = marks / expected;
        assert!((0.8..1.25).contains(&off), "{mbit}: {marks} marks a round");
        let most = Duration::from_millis(1) + path.rate.time_for(2 * MSS);
        assert!(path.peak_wait < most, "{mbit}: {}", path.peak_wait);
    }
}

/// A step at 20 ms stands for a classic AQM: with the fallback Prague needs about as few marks as
/// Reno, which halves for each round trip with one; without it, several times as many. A step at
/// 1 ms is not taken for one.
#[test]
fn a_classic_queue_is_noticed() {
    let run = |fallback, step| {
        let mut prague = prague(&[("classic_fallback", fallback)]);
        let path = behind_a_step(&mut prague, 20, step, 60);
        let least = prague.classic.as_ref().map(Classic::least_share);
        (path.marked / MSS, least)
    };
    assert_eq!(run("yes", 1), (run("no", 1).0, Some(0.0)));
    let (noticed, share) = run("yes", 20);
    assert_eq!(share, Some(0.625));
    let mut reno = Reno::new(&[], &setup()).unwrap();
    let reno = behind_a_step(&mut reno, 20, 20, 60).marked / MSS;
    let unnoticed = run("no", 20).0;
    assert!(noticed < 2 * reno && unnoticed > 4 * noticed);
}
