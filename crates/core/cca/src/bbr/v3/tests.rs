mod paths;

use super::*;
use crate::testing::{MSS, at, setup};
use crate::{RateSample, Signal};

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits(mbit * 1_000_000)
}

fn bbr() -> Bbr3 {
    Bbr3::new(&[], &setup()).unwrap()
}

/// In `state`, start-up behind it: 8 Mbit/s and 100 ms make a product of 100 segments.
fn steady(state: BbrState) -> Bbr3 {
    let mut bbr = bbr();
    bbr.on_ack(at(100), &ack(100, 1));
    bbr.filled = true;
    bbr.max_bandwidth.add(mbit(8));
    bbr.window = 200 * MSS;
    bbr.start_down(at(100));
    bbr.state = state;
    bbr
}

/// An acknowledgement of one segment after 100 ms, in which 100 were delivered: 8 Mbit/s. A
/// million bytes had been delivered when it was sent, so that it ends any round before that.
fn ack(in_flight: u64, sent: u64) -> Ack {
    Ack {
        bytes: MSS,
        rtt: Some(Duration::from_millis(100)),
        srtt: Duration::from_millis(100),
        delivered: 1_000_000,
        in_flight: in_flight * MSS,
        prior_in_flight: (in_flight + 1) * MSS,
        newest_sent: at(sent),
        window_limited: true,
        rate: Some(RateSample {
            delivered: 100 * MSS,
            interval: Duration::from_millis(100),
            prior_delivered: 1_000_000,
            app_limited: false,
        }),
        ..Ack::default()
    }
}

fn mark() -> Congestion {
    Congestion {
        signal: Signal::Mark,
        lost: 0,
        in_flight: 100 * MSS,
        min_rtt: Duration::from_millis(100),
    }
}

#[test]
fn the_version_decides_which_is_built() {
    let build = |version: &str| {
        let choice = format!("bbr,version={version}").parse().unwrap();
        crate::Registry::builtin().build(&choice, &setup())
    };
    // 2.885 × 80000 bits in a millisecond, less 1 %; 2.77 × that without a margin.
    let rate = |version| build(version).unwrap().pacing_rate().unwrap().as_bits();
    assert_eq!(rate("1"), 228_492_000);
    assert_eq!(rate("3"), 221_600_000);
    let error = build("2").err().unwrap().to_string();
    assert!(error.contains("1 or 3"), "{error}");
}

/// 8 in the cycle before, 6 in this one; a cycle without samples does not count.
#[test]
fn the_bandwidth_is_that_of_two_cycles() {
    let mut max = MaxBandwidth::default();
    max.add(mbit(8));
    max.advance();
    max.add(mbit(6));
    assert_eq!(max.get(), mbit(8));
    max.advance();
    max.advance();
    assert_eq!(max.get(), mbit(6));
    max.add(mbit(7));
    assert_eq!(max.get(), mbit(7));
}

/// 100 segments were in flight and 5 are lost since, 3 of them just now: before these, 97 in flight
/// and 2 lost. (2 + x) / (97 + x) = 0.02 has x = (2 × 97 − 100 × 2) / 98 < 0: already passed. With
/// 1 lost before, x = (194 − 100) / 98 = 0.959 segments.
#[test]
fn the_flight_at_which_losses_reached_two_per_cent() {
    let mut bbr = bbr();
    bbr.sample.in_flight = 100 * MSS;
    bbr.sample.lost = 5 * MSS;
    assert_eq!(bbr.flight_at_loss(3 * MSS), 97_000);
    bbr.sample.lost = 4 * MSS;
    assert_eq!(bbr.flight_at_loss(3 * MSS), 97_959);
    assert!(bbr.sample.loses_too_much());
    bbr.sample.lost = 2 * MSS;
    assert!(!bbr.sample.loses_too_much(), "two per cent are tolerated");
}

/// In UP with 140 in flight, 4 segments are lost: 2.9 %. Before them 136 were in flight and
/// nothing was lost, so 136 + 2 × 136 / 98 = 138.8 is the bound. Another loss of the same probe
/// does not move it, and a lost flight of 30 would not take it below 0.7 of the product.
#[test]
fn a_probe_that_loses_too_much_sets_the_bound_once() {
    let mut bbr = steady(BbrState::Up);
    bbr.cycle.samples_probe = true;
    bbr.on_sent(at(150), MSS, 140 * MSS);
    let mut lossy = ack(135, 150);
    lossy.lost = 4 * MSS;
    lossy.rate.as_mut().unwrap().prior_delivered = 0;
    bbr.on_ack(at(250), &lossy);
    assert_eq!(
        (bbr.state, bbr.long_term.in_flight),
        (BbrState::Down, 138_775)
    );
    bbr.on_ack(at(251), &lossy);
    assert_eq!(bbr.long_term.in_flight, 138_775);
    bbr.cycle.samples_probe = true;
    bbr.flight_was_too_high(at(252), 30 * MSS);
    assert_eq!(bbr.long_term.in_flight, 70 * MSS);
    // Fifteen per cent stay free.
    let window = bbr.min_window();
    assert_eq!(bbr.long_term.with_headroom(MSS, window), 59_500);
}

/// A window of 80 segments: 80 acknowledged ones for the first segment of growth, then 40, 20 and
/// 10: 1, 2, 4 and 8 in successive rounds.
#[test]
fn the_bound_grows_twice_as_fast_each_round() {
    let mut bound = LongTerm::default();
    bound.in_flight = 80 * MSS;
    let grown: Vec<u64> = (0..4)
        .map(|_| {
            bound.steepen(80 * MSS, MSS);
            let before = bound.in_flight;
            (0..80).for_each(|_| bound.grow(MSS, MSS));
            (bound.in_flight - before) / MSS
        })
        .collect();
    assert_eq!(grown, [1, 2, 4, 8]);
    bound.stop_growing();
    bound.grow(1_000_000 * MSS, MSS);
    assert_eq!(bound.in_flight, 95 * MSS);
}

/// Losses in CRUISE with 8 Mbit/s and a window of 200: a round that delivers 50 segments at 4
/// Mbit/s takes three tenths, 5.6 and 140; the next 3.92 and 98, where the 4 that were delivered
/// keep the rate up.
#[test]
fn losses_between_probes_bound_rate_and_flight_by_three_tenths_a_round() {
    let mut bbr = steady(BbrState::Cruise);
    for (rate, flight) in [(5_600_000, 140), (4_000_000, 98)] {
        bbr.latest = Latest {
            rate: mbit(4),
            in_flight: 50 * MSS,
        };
        (bbr.losses.seen, bbr.losses.round_ended) = (true, true);
        bbr.adapt_to_losses();
        assert_eq!(bbr.short_term.bandwidth, Rate::from_bits(rate));
        assert_eq!(bbr.short_term.in_flight, flight * MSS);
        assert!(!bbr.losses.seen);
    }
    // While probing they do not count.
    for state in [BbrState::Startup, BbrState::Refill, BbrState::Up] {
        let mut bbr = steady(state);
        (bbr.losses.seen, bbr.losses.round_ended) = (true, true);
        bbr.adapt_to_losses();
        assert_eq!(bbr.short_term.in_flight, UNBOUNDED);
    }
}

/// A mark in UP is a loss of too much, at the bytes in flight; in CRUISE it bounds the short term
/// at the end of the round; in start-up it ends that.
#[test]
fn a_mark_is_too_much_loss() {
    let mut up = steady(BbrState::Up);
    up.cycle.samples_probe = true;
    up.on_sent(at(150), MSS, 140 * MSS);
    up.on_congestion(at(250), &mark());
    up.on_ack(at(250), &ack(139, 150));
    assert_eq!(
        (up.state, up.long_term.in_flight),
        (BbrState::Down, 140 * MSS)
    );

    let mut cruise = steady(BbrState::Cruise);
    cruise.on_congestion(at(250), &mark());
    cruise.on_ack(at(250), &ack(100, 150));
    assert!(cruise.short_term.in_flight < UNBOUNDED);

    let mut startup = bbr();
    startup.on_ack(at(100), &ack(20, 1));
    startup.on_congestion(at(110), &mark());
    startup.on_ack(at(110), &ack(20, 10));
    assert!(startup.filled && startup.state != BbrState::Startup);
    assert_eq!(startup.long_term.in_flight, 100 * MSS);
}

/// After a probe that lost too much the next ends when 120 segments, the bound, are in flight. As
/// that loses nothing, the pipe is refilled at once, and the probe after it stays.
#[test]
fn a_careful_probe_comes_before_a_bold_one() {
    let mut bbr = steady(BbrState::Up);
    bbr.long_term.in_flight = 120 * MSS;
    bbr.cycle.went_too_high = true;
    let mut within = ack(119, 1);
    within.rate.as_mut().unwrap().prior_delivered = 0;
    bbr.on_ack(at(200), &within);
    assert_eq!(bbr.state, BbrState::Up);
    within.in_flight = 120 * MSS;
    bbr.on_ack(at(201), &within);
    assert_eq!((bbr.state, bbr.cycle.was_careful), (BbrState::Down, true));
    bbr.on_ack(at(300), &ack(120, 201));
    assert_eq!(
        (bbr.state, bbr.cycle.was_careful),
        (BbrState::Refill, false)
    );
    bbr.on_ack(at(400), &ack(120, 301));
    assert_eq!(bbr.state, BbrState::Up);
    bbr.on_ack(at(401), &within);
    assert_eq!(bbr.state, BbrState::Up, "the last one lost nothing");
}

/// A hundred segments in flight: the next probe comes after 62 or 63 rounds, with thirty after 29
/// or 30, or after two to three seconds if that is sooner.
#[test]
fn a_probe_comes_when_reno_would_lose_or_after_two_to_three_seconds() {
    let mut rounds = [0, 0];
    for seed in 0..200 {
        let mut bbr = steady(BbrState::Cruise);
        bbr.random = Stream::new(seed, "test");
        bbr.start_down(at(100));
        bbr.window = if seed < 100 { 200 * MSS } else { 30 * MSS };
        rounds[bbr.cycle.rounds as usize] += 1;
        let most = if seed < 100 { 63 } else { 30 };
        bbr.cycle.rounds = most - 1;
        assert!(!bbr.is_time_to_probe(at(2_100)));
        assert!(bbr.is_time_to_probe(at(3_101)));
        bbr.cycle.rounds = most;
        assert!(bbr.is_time_to_probe(at(101)));
    }
    // 200 draws of two: 100 each, a standard deviation of 7.
    assert!(rounds.iter().all(|n| (70..=130).contains(n)), "{rounds:?}");
}

/// Restarting from idle in UP: paced at 0.99 of 8 Mbit/s, not 1.24.
#[test]
fn a_restart_from_idle_does_not_probe() {
    let mut bbr = steady(BbrState::Up);
    bbr.set_pacing(Duration::from_millis(100));
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(9_900_000)));
    bbr.on_sent(at(300), MSS, MSS);
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(9_900_000)));
    bbr.sample.app_limited = true;
    bbr.on_sent(at(600), MSS, MSS);
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(7_920_000)));
}

/// A timeout leaves one segment; the former window of 200 comes back after the repair, as far as
/// two products of 100 segments allow.
#[test]
fn the_window_comes_back_after_a_timeout() {
    let mut bbr = steady(BbrState::Cruise);
    bbr.on_timeout(at(400), 150 * MSS);
    bbr.on_timeout(at(800), MSS);
    assert_eq!(bbr.window(), MSS);
    bbr.on_recovered(at(900));
    assert_eq!(bbr.window(), 200 * MSS);
}
