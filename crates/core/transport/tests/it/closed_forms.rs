//! Controls against what is known of them in closed form, over a path that loses packets and has no queue.
//!
//! Cubic's curve and the time after which it is back stand beside the control, CoDel's and PIE's steps, by hand from
//! Linux's arithmetic, beside these disciplines.

use crate::common::{CLIENT, Direction, Fault, Pair, SERVER, control, ms, pure_delay};
use std::cell::Cell;
use transport::tcp::Tcp;
use transport::{Config, Wire};
use units::Instant;
use units::random::Stream;

const MSS: u64 = 1448;
/// Round trip of [`pure_delay`].
const RTT: f64 = 0.04;

/// A sender under a control, to the client, with all data that it can send; `lost` decides on each packet of data.
fn sending(name: &str, mut lost: impl FnMut() -> bool + 'static) -> Pair<Tcp> {
    let config = Config {
        receive_window: 1 << 40,
        ..Config::linux()
    };
    let mut ways: [Direction; 2] = pure_delay();
    ways[SERVER].fault = Box::new(move |_, transmit| match &transmit.packet {
        Wire::Tcp(segment) if segment.len > 0 && lost() => Fault::Drop,
        _ => Fault::None,
    });
    let end = |opens| Tcp::new(config.clone(), control(name, MSS), opens);
    let mut pair = Pair::new(end(true), end(false), ways);
    pair.keep_log = false;
    pair.open();
    pair.run_until(ms(100));
    pair.send(SERVER, 0, 1 << 50);
    pair
}

/// Every packet whose number is a multiple of this is lost.
fn every(n: u64) -> impl FnMut() -> bool {
    let mut count = 0;
    move || {
        count += 1;
        count % n == 0
    }
}

/// Segments a round trip, on average from `from` to `until`.
fn mean_window(pair: &mut Pair<Tcp>, from: Instant, until: Instant) -> f64 {
    pair.run_until(from);
    let before = pair.total(CLIENT);
    pair.run_until(until);
    let segments = (pair.total(CLIENT) - before) as f64 / MSS as f64;
    segments / (until.since(from).as_secs_f64() / RTT)
}

#[track_caller]
fn within_3_percent(found: f64, expected: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() < 0.03, "{found} is {off} off {expected}");
}

/// Between two losses a window goes from W/2 to W by a segment a round trip, with 3/8 of its square in segments, which
/// are n: the mean is √(3n/2) (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, (3)).
#[test]
fn reno_under_regular_loss() {
    for n in [20_000, 40_000] {
        let mut pair = sending("reno", every(n));
        // Slow start is over, and there are ten periods or more.
        let mean = mean_window(&mut pair, ms(60_000), ms(150_000));
        within_3_percent(mean, (1.5 * n as f64).sqrt());
    }
}

/// Independent losses: of the square of the window, which gains 2 with each segment and loses three quarters of itself
/// with each loss, the distribution is known, and the mean rate is 1.31/√p (Mathis and others, table 1; Ott, Kemperman
/// and Mathis 1996).
#[test]
fn reno_under_random_loss() {
    let n = 3_000;
    let runs = 1..=8;
    let means = runs.clone().map(|seed| {
        let mut chance = Stream::new(seed, "loss");
        let mut pair = sending("reno", move || chance.below(n) == 0);
        mean_window(&mut pair, ms(20_000), ms(320_000))
    });
    let mean = means.sum::<f64>() / runs.count() as f64;
    within_3_percent(mean, 1.31 * (n as f64).sqrt());
}

/// When losses are noticed, s, and the window just before, segments, from `from` until `until`.
fn falls(pair: &mut Pair<Tcp>, from: Instant, until: Instant) -> Vec<(f64, u64)> {
    pair.run_until(from);
    let mut falls = Vec::new();
    let highest = Cell::new(0);
    let rises = |pair: &Pair<Tcp>| {
        let window = pair.ends[SERVER].control().window();
        window >= highest.replace(window.max(highest.get()))
    };
    while pair.run_while(until, rises) {
        falls.push((pair.now.as_secs_f64(), highest.take() / MSS));
    }
    falls
}

/// Cubic's steepness, segments per cubic second.
const C: f64 = 0.4;

/// Seconds until a curve that was cut at `max` segments is back there: K (RFC 9438, (2)).
fn return_of(max: u64) -> f64 {
    libm::cbrt((max as f64 - (0.7 * max as f64).floor()) / C)
}

/// Seconds in which a curve that was cut at `max` segments carries `n` of them: the integral of
/// W(t) = max + C (t - K)³ (RFC 9438, (1)), which grows with t.
fn time_of(n: u64, max: u64) -> f64 {
    let k = return_of(max);
    let max = max as f64;
    let fourth = |t: f64| t * t * t * t;
    let carried = |t: f64| (max * t + C / 4.0 * (fourth(t - k) - fourth(k))) / RTT;
    let mut time = [0.0, 4.0 * k];
    for _ in 0..60 {
        let middle = (time[0] + time[1]) / 2.0;
        time[usize::from(carried(middle) >= n as f64)] = middle;
    }
    time[0]
}

/// Near its plateau the curve stays in one whole segment for 2.7 s (|C (t - K)³| < 1). So losses at a regular distance may
/// settle at one of several windows, and RFC 9438's mean rate is that of one of them. Held are the time between losses at
/// the window that it is, and that the losses are on the plateau.
#[test]
fn cubic_under_regular_loss() {
    let n = 60_000;
    let falls = falls(&mut sending("cubic", every(n)), ms(36_000), ms(90_000));
    let max = falls[0].1;
    assert!(falls.iter().all(|fall| fall.1 == max), "{falls:?}");
    let periods = falls.len() - 1;
    assert!(periods > 6, "{falls:?}");
    let period = (falls[periods].0 - falls[0].0) / periods as f64;
    within_3_percent(period, time_of(n, max));
    let from_plateau = period - return_of(max);
    assert!(from_plateau.abs() < 1.36, "{from_plateau} s");
}
