//! End to end, over a bottleneck of 20 Mbit/s and 40 ms.

use super::*;
use crate::bbr::Bbr;
use crate::reno::Reno;
use crate::testpath::{Path, Source};

/// 20 Mbit/s and 40 ms make 100 segments of 1000 B, 0.4 ms each; the buffer holds `packets`.
fn path(packets: u64) -> Path {
    Path::new(mbit(20), Duration::from_millis(40), packets * MSS, MSS)
}

/// Runs in steps of a millisecond until `done` or 60 s; the time of it in milliseconds.
fn until(path: &mut Path, bbr: &mut Bbr3, done: impl Fn(&Bbr3) -> bool) -> u64 {
    let start = path.now.as_nanos() / 1_000_000;
    for ms in start..60_000 {
        path.run(bbr, at(ms));
        if done(bbr) {
            return ms;
        }
    }
    panic!("not within a minute: {bbr:?}");
}

/// The first pacing rate is 2.77 × 10 segments in 40.4 ms: 5.485 Mbit/s. At the end two products of
/// 101 segments are in flight plus the bunches, so that 111 segments wait; draining at half the
/// rate takes 101 × 0.4 ms / 0.495 = 82 ms.
#[test]
fn startup_ends_at_the_plateau_and_draining_with_an_empty_queue() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    until(&mut path, &mut bbr, |bbr| bbr.rounds.count == 1);
    assert_eq!(bbr.pacing.as_bits() / 1000, 5_485);
    let full = until(&mut path, &mut bbr, |bbr| bbr.state != BbrState::Startup);
    assert_eq!(bbr.state, BbrState::Drain);
    assert_eq!(bbr.bandwidth(), path.rate);
    let waiting = path.peak_wait.as_micros() / 400;
    assert!((101..=115).contains(&waiting), "{waiting}");
    let empty = until(&mut path, &mut bbr, |bbr| bbr.state != BbrState::Drain);
    assert!((75..=90).contains(&(empty - full)), "{}", empty - full);
    assert!(path.wait() <= Duration::from_millis(1), "{}", path.wait());
    assert_eq!(path.lost, 0);
}

/// Twenty segments of buffer: the losses of a round end start-up before the plateau does, with the
/// 101 + 20 segments that fit as the bound.
#[test]
fn losses_end_startup() {
    let (mut bbr, mut path) = (bbr(), path(20));
    until(&mut path, &mut bbr, |bbr| bbr.state != BbrState::Startup);
    assert!(!bbr.plateau.reached);
    let bound = bbr.long_term.in_flight / MSS;
    assert!((118..=122).contains(&bound), "{bound}");
}

/// In CRUISE, which is most of the time, hardly a packet waits. UP comes every two to three
/// seconds, later if ProbeRTT is between; it lasts three rounds, adds about 0.24 × 0.15 s × 20
/// Mbit/s = 90 segments, and never more than 2.25 products and two segments.
#[test]
fn a_deep_buffer_stays_empty_but_for_probes() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(2_000));
    let (before, mut probes, mut cruising) = (path.delivered, Vec::new(), 0);
    let mut last = bbr.state;
    for ms in 2_000..22_000 {
        path.run(&mut bbr, at(ms));
        let in_flight = path.in_flight() / MSS;
        assert!(in_flight <= 230, "{in_flight} at {ms} ms");
        if bbr.state == BbrState::Cruise {
            cruising += 1;
            assert!(path.wait() <= Duration::from_millis(1), "{}", path.wait());
        }
        if bbr.state == BbrState::Up && last != BbrState::Up {
            probes.push(ms);
        }
        last = bbr.state;
    }
    assert!(cruising > 14_000, "{cruising} ms");
    assert!((5..=8).contains(&probes.len()), "{probes:?}");
    assert!(probes.windows(2).all(|pair| pair[1] - pair[0] >= 2_000));
    // 20 s at 20 Mbit/s are 50 MB, less 1 % of margin and 2 % of ProbeRTT.
    let carried = (path.delivered - before) as f64 / 50e6;
    assert!(carried >= 0.965, "{carried}");
    assert!(path.peak_wait <= Duration::from_millis(46));
    assert_eq!(path.lost, 0);
}

/// Buffers of a tenth to half a product: less than one per cent of the packets is lost, and the
/// path is full except for the margin, ProbeRTT, and the room left for others, by which 0.85 × 111
/// segments is less than a product.
#[test]
fn shallow_buffers_lose_little() {
    for (buffer, least) in [(10, 0.90), (20, 0.95), (50, 0.94)] {
        let (mut bbr, mut path) = (bbr(), path(buffer));
        path.run(&mut bbr, at(2_000));
        let (before, lost) = (path.delivered, path.lost);
        path.run(&mut bbr, at(22_000));
        let carried = (path.delivered - before) as f64 / 50e6;
        assert!(carried >= least, "{buffer}: {carried}");
        let share = (path.lost - lost) as f64 / (path.delivered - before) as f64;
        assert!(share < 0.01, "{buffer}: {share}");
    }
}

/// Every five seconds half a product, 50 segments, is in flight for 200 ms and the time it takes to
/// get there. The path has become 10 ms longer, which is believed after ten seconds.
#[test]
fn probe_rtt_comes_every_five_seconds() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(1_000));
    path.rtt = Duration::from_millis(50);
    let begin = until(&mut path, &mut bbr, |bbr| bbr.state == BbrState::ProbeRtt);
    assert!((5_000..5_100).contains(&begin), "{begin}");
    path.run(&mut bbr, at(begin + 150));
    assert_eq!((bbr.window() / MSS, path.in_flight() / MSS), (50, 50));
    let end = until(&mut path, &mut bbr, |bbr| bbr.state != BbrState::ProbeRtt);
    assert!((210..=280).contains(&(end - begin)), "{}", end - begin);
    assert_eq!(bbr.state, BbrState::Cruise);
    assert_eq!(bbr.min_rtt.get(), Some(Duration::from_micros(40_400)));
    let next = until(&mut path, &mut bbr, |bbr| bbr.state == BbrState::ProbeRtt);
    assert!((5_000..5_100).contains(&(next - end)), "{}", next - end);
    until(&mut path, &mut bbr, |bbr| bbr.state != BbrState::ProbeRtt);
    assert_eq!(bbr.min_rtt.get(), Some(Duration::from_micros(50_400)));
    assert_eq!(bbr.bandwidth(), path.rate);
}

/// At half the rate a buffer of a product overflows: the losses of two rounds bring the rate down
/// to the delivery rate, until the next probe.
#[test]
fn losses_tell_of_a_falling_rate_at_once() {
    let (mut bbr, mut path) = (bbr(), path(100));
    path.run(&mut bbr, at(4_000));
    path.rate = mbit(10);
    path.run(&mut bbr, at(4_500));
    assert_eq!(bbr.bandwidth(), path.rate);
    assert_eq!(bbr.max_bandwidth.get(), mbit(20));
}

/// Without losses it takes two probes to forget the higher rate. Until then two products of the
/// old rate are in flight; afterwards the queue is empty again.
#[test]
fn without_losses_a_falling_rate_shows_after_two_probes() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(4_000));
    path.rate = mbit(10);
    path.run(&mut bbr, at(5_000));
    assert!(path.wait() >= Duration::from_millis(100));
    let seen = until(&mut path, &mut bbr, |bbr| bbr.bandwidth() == mbit(10));
    assert!((8_000..16_000).contains(&seen), "{seen}");
    until(&mut path, &mut bbr, |bbr| bbr.state == BbrState::Cruise);
    assert!(path.wait() <= Duration::from_millis(2), "{}", path.wait());
}

/// Ten times the rate: UP lasts while each round brings a quarter more, and finds it in one probe.
#[test]
fn one_probe_finds_a_tenfold_rate() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(4_000));
    path.rate = mbit(200);
    until(&mut path, &mut bbr, |bbr| bbr.state == BbrState::Up);
    let ms = until(&mut path, &mut bbr, |bbr| bbr.state == BbrState::Cruise);
    assert!(ms <= 9_000, "{ms}");
    assert!(bbr.bandwidth() >= mbit(198), "{}", bbr.bandwidth());
}

/// Two senders over one bottleneck, the second from 5 s on: the delivery of each from 20 to 40 s,
/// as a share of 50 MB. They take turns of 0.1 ms, a quarter of a segment's time.
fn together(buffer: u64, first: &mut dyn Control, second: &mut dyn Control) -> (f64, f64) {
    let (mut one, mut two) = (path(buffer), path(buffer));
    one.run(first, at(5_000));
    two.now = at(5_000);
    let mut before = (0, 0);
    for turn in 50_000..400_000 {
        let now = Instant::from_nanos(turn * 100_000);
        two.share_link(&one);
        two.run(second, now);
        one.share_link(&two);
        one.run(first, now);
        if turn == 200_000 {
            before = (one.delivered, two.delivered);
        }
    }
    (
        (one.delivered - before.0) as f64 / 50e6,
        (two.delivered - before.1) as f64 / 50e6,
    )
}

#[test]
fn two_share_the_path() {
    for buffer in [30, 100, 300] {
        let mut other = Bbr3::new(&[], &Setup { seed: 2, ..setup() }).unwrap();
        let (one, two) = together(buffer, &mut bbr(), &mut other);
        assert!(one > 0.38 && two > 0.38, "{buffer}: {one} {two}");
        assert!(one + two > 0.95, "{buffer}: {one} {two}");
    }
}

/// With a shallow buffer version 1 leaves an eighth to a Reno sender; version 3, which answers the
/// losses and waits as long as Reno would with its probes, a third.
#[test]
fn reno_gets_more_beside_it_than_beside_version_1() {
    let reno = || Reno::new(&[], &setup()).unwrap();
    let (_, beside_1) = together(30, &mut Bbr::new(&[], &setup()).unwrap(), &mut reno());
    let (_, beside_3) = together(30, &mut bbr(), &mut reno());
    assert!(beside_1 < 0.2 && beside_3 > 0.3, "{beside_1} {beside_3}");
}

/// A call of at most 5 Mbit/s. The encoder never exceeds the estimate, so that padding has to find
/// the capacity of the path, and ends when that is more than the encoder can use.
#[test]
fn a_call_finds_the_bandwidth_by_padding() {
    let mut setup = setup();
    setup.media_bounds.1 = mbit(5);
    let mut bbr = Bbr3::new(&[], &setup).unwrap();
    let mut path = path(1000);
    path.source = Source::Frames(Duration::from_millis(33));
    path.encoder_limit = setup.media_bounds.1;
    path.run(&mut bbr, at(500));
    assert!(bbr.media_rate(Duration::ZERO) >= path.encoder_limit);
    assert_eq!(bbr.take_probe(at(500)), None);
    let before = path.delivered;
    path.run(&mut bbr, at(20_500));
    // 20 s of 5 Mbit/s are 12.5 MB.
    assert!(path.delivered - before >= 12_400_000);
    assert_eq!(path.lost, 0);
}

/// At 4 Mbit/s a call has 95 % of the estimate. The data that ProbeRTT holds back, half of 200 ms
/// and of the time it takes to get there, is sent before the next one.
#[test]
fn a_call_catches_up_after_probe_rtt() {
    let mut setup = setup();
    setup.media_bounds.1 = mbit(5);
    let mut bbr = Bbr3::new(&[], &setup).unwrap();
    let mut path = path(1000);
    path.rate = mbit(4);
    path.source = Source::Frames(Duration::from_millis(33));
    path.encoder_limit = setup.media_bounds.1;
    path.run(&mut bbr, at(8_000));
    let mut last = bbr.state;
    let mut backlogs = Vec::new();
    for ms in 8_000..30_000 {
        let backlog = path.rate.time_for(path.waiting).as_millis();
        path.run(&mut bbr, at(ms));
        if bbr.state == BbrState::ProbeRtt && last != BbrState::ProbeRtt {
            backlogs.push(backlog);
        }
        assert!(backlog <= 200, "{backlog} ms at {ms} ms");
        last = bbr.state;
    }
    assert!(backlogs.len() >= 3, "{backlogs:?}");
    assert!(backlogs.iter().all(|ms| *ms <= 50), "{backlogs:?}");
    assert_eq!(bbr.media_rate(Duration::ZERO), Rate::from_bits(3_800_000));
}
