use super::*;
use crate::testing::{MSS, at, setup};
use crate::testpath::{Path, Source};

fn bbr() -> Bbr {
    Bbr::new(&[], &setup()).unwrap()
}

/// 20 Mbit/s and 40 ms make 100 segments of 1000 B, 0.4 ms each; the buffer holds `packets`.
fn path(packets: u64) -> Path {
    let rate = Rate::from_bits(20_000_000);
    Path::new(rate, Duration::from_millis(40), packets * MSS, MSS)
}

/// Runs in steps of a millisecond until `done` or 60 s; the time of it in milliseconds.
fn until(path: &mut Path, bbr: &mut Bbr, done: impl Fn(&Bbr) -> bool) -> u64 {
    let start = path.now.as_nanos() / 1_000_000;
    for ms in start..60_000 {
        path.run(bbr, at(ms));
        if done(bbr) {
            return ms;
        }
    }
    panic!("not within a minute: {bbr:?}");
}

/// The first pacing rate is 2.885 × 10 segments in 40.4 ms, less 1 %: 5.656 Mbit/s. The rate
/// doubles with every round, from 10 segments in flight to the 101 that the path holds in
/// log2(10.1) = 3.3 rounds, and is measured a round later: full in the sixth. Three more rounds
/// without a quarter more end start-up.
#[test]
fn startup_doubles_and_ends_three_rounds_after_the_pipe_is_full() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    until(&mut path, &mut bbr, |bbr| bbr.rounds == 1);
    assert_eq!(bbr.pacing.as_bits() / 1000, 5_655);
    until(&mut path, &mut bbr, |bbr| bbr.mode != Mode::Startup);
    assert_eq!((bbr.mode, bbr.rounds), (Mode::Drain, 9));
    assert_eq!(bbr.bandwidth.get(), path.rate);
    // 2.885 products of 101 segments, and the budget of 3 × 57 Mbit/s × 1 ms = 21 segments.
    assert!((308..=314).contains(&(path.peak_wait.as_micros() / 400 + 101)));
}

/// Start-up leaves 2.885 − 1 = 1.9 products in the queue. Draining at 1 / 2.885 = 0.35 of the rate
/// takes 1.9 / 0.65 = 2.9 times 40.4 ms, 117 ms, slightly less thanks to the budget.
#[test]
fn drain_empties_the_queue_to_the_budget() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    let full = until(&mut path, &mut bbr, |bbr| bbr.mode == Mode::Drain);
    let drained = until(&mut path, &mut bbr, |bbr| bbr.mode == Mode::ProbeBw);
    assert!(
        (115..=135).contains(&(drained - full)),
        "{}",
        drained - full
    );
    // Six segments of budget, 0.4 ms each, are left.
    assert!(
        path.wait() <= Duration::from_micros(2_800),
        "{}",
        path.wait()
    );
}

/// Cruising keeps the rest of draining: 101 + 6 segments of budget, and a round trip that is longer
/// by as much. Probing lasts at least a round trip, in which it adds 0.24 × 101 = 24, and until
/// 1.25 × 101 + 6 + 2 = 134 are in flight.
#[test]
fn steady_state_keeps_one_to_one_and_a_quarter_products_in_flight() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(2_000));
    let (before, mut sum, mut most) = (path.delivered, 0, 0);
    for ms in 2_000..8_000 {
        path.run(&mut bbr, at(ms));
        let segments = path.in_flight() / MSS;
        assert!(segments >= 98, "{segments} at {ms} ms");
        sum += segments;
        most = most.max(segments);
    }
    assert!((134..=140).contains(&most), "{most}");
    assert!((101..=115).contains(&(sum / 6_000)), "{}", sum / 6_000);
    // 5999 ms at 20 Mbit/s are 14.9975 MB.
    assert!(path.delivered - before >= 14_950_000);
    assert_eq!(path.lost, 0);
}

/// The smallest round trip is last seen in start-up, within 300 ms; ten seconds later four
/// packets are in flight for 200 ms. The path has become 10 ms longer: that shows now, at 50.4 ms.
#[test]
fn probe_rtt_comes_after_ten_seconds_and_measures_the_path_anew() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(1_000));
    path.rtt = Duration::from_millis(50);
    path.run(&mut bbr, at(9_990));
    assert_eq!(bbr.min_rtt.unwrap().0, Duration::from_micros(40_400));
    let begin = until(&mut path, &mut bbr, |bbr| bbr.mode == Mode::ProbeRtt);
    assert!((10_000..10_300).contains(&begin), "{begin}");
    let (before, window) = (bbr.bandwidth.get(), bbr.prior_window);
    path.run(&mut bbr, at(begin + 150));
    assert_eq!((bbr.window(), path.in_flight()), (4 * MSS, 4 * MSS));
    let end = until(&mut path, &mut bbr, |bbr| bbr.mode != Mode::ProbeRtt);
    // A round trip to get down to four packets, and 200 ms, and the rest of a round.
    assert!((250..=320).contains(&(end - begin)), "{}", end - begin);
    assert_eq!(bbr.mode, Mode::ProbeBw);
    assert!(bbr.window() >= window);
    assert_eq!(bbr.min_rtt.unwrap().0, Duration::from_micros(50_400));
    // Four packets a round trip did not count as the capacity of the path.
    path.run(&mut bbr, at(end + 2_000));
    assert!(bbr.bandwidth.get() >= before.scale(98, 100));
    let next = until(&mut path, &mut bbr, |bbr| bbr.mode == Mode::ProbeRtt);
    assert!(next >= end + 10_000);
}

/// At half the rate the queue stands at the window of two products until the last sample of 20
/// Mbit/s is more than ten rounds old: 200 segments of 0.8 ms make rounds of 160 ms. The rest above
/// one product is drained slowly, because probing adds what draining takes, until ProbeRtt after
/// ten seconds. From then on at most 1.25 × 51 + 8 = 72 segments are in flight, 21 of them waiting
/// for 0.8 ms each.
#[test]
fn the_estimate_follows_a_falling_rate_after_ten_rounds() {
    let (mut bbr, mut path) = (bbr(), path(1000));
    path.run(&mut bbr, at(3_000));
    path.rate = Rate::from_bits(10_000_000);
    path.run(&mut bbr, at(3_500));
    assert_eq!(bbr.bandwidth.get(), Rate::from_bits(20_000_000));
    path.run(&mut bbr, at(5_500));
    assert_eq!(bbr.bandwidth.get(), path.rate);
    path.peak_wait = Duration::ZERO;
    path.run(&mut bbr, at(7_000));
    assert!(path.peak_wait >= Duration::from_millis(30));
    path.run(&mut bbr, at(11_000));
    path.peak_wait = Duration::ZERO;
    path.run(&mut bbr, at(13_000));
    assert!(path.peak_wait <= Duration::from_millis(18));
}

/// The buffer holds half a product, less than start-up puts into it: it loses, and continues.
#[test]
fn losses_do_not_slow_it_down() {
    let (mut bbr, mut path) = (bbr(), path(50));
    path.run(&mut bbr, at(2_000));
    let (before, lost) = (path.delivered, path.lost);
    assert!(lost > 0);
    path.run(&mut bbr, at(8_000));
    assert!(path.delivered - before >= 14_900_000);
    assert_eq!(
        path.lost, lost,
        "a probe of a quarter fits into half a product"
    );
}

fn sample(bytes: u64, ms: u64, app_limited: bool) -> Ack {
    Ack {
        bytes: MSS,
        rtt: Some(Duration::from_millis(40)),
        srtt: Duration::from_millis(40),
        delivered: 1_000_000,
        in_flight: 20 * MSS,
        prior_in_flight: 21 * MSS,
        rate: Some(crate::RateSample {
            delivered: bytes,
            interval: Duration::from_millis(ms),
            prior_delivered: 1_000_000,
            app_limited,
        }),
        ..Ack::default()
    }
}

/// 8000 B in 8 ms: 8 Mbit/s. An application-limited 4 Mbit/s is ignored, 12 Mbit/s is not.
#[test]
fn what_the_application_limits_only_raises_the_estimate() {
    let mut bbr = bbr();
    bbr.on_ack(at(40), &sample(8_000, 8, false));
    for round in 2..30 {
        bbr.on_ack(at(40 * round), &sample(4_000, 8, true));
    }
    assert_eq!(bbr.bandwidth.get(), Rate::from_bits(8_000_000));
    assert!(!bbr.full.reached);
    bbr.on_ack(at(2_000), &sample(12_000, 8, true));
    assert_eq!(bbr.bandwidth.get(), Rate::from_bits(12_000_000));
}

/// In flight 20 and 1 acknowledged: the window is 21 in the first round of a repair, and grows in
/// the next; afterwards it has its former value. A mark changes nothing.
#[test]
fn a_repair_conserves_packets_for_a_round() {
    let mut bbr = bbr();
    bbr.window = 60 * MSS;
    let mut congestion = Congestion {
        signal: Signal::Mark,
        lost: 0,
        in_flight: 20 * MSS,
        min_rtt: Duration::from_millis(40),
    };
    bbr.on_congestion(at(40), &congestion);
    assert_eq!(bbr.repair, BbrRepair::Nothing);
    congestion.signal = Signal::Loss;
    bbr.on_congestion(at(40), &congestion);
    let mut ack = sample(8_000, 8, false);
    ack.in_recovery = true;
    bbr.on_ack(at(40), &ack);
    assert_eq!(bbr.window(), 21 * MSS);
    // The next acknowledgement is for a packet of the same round, and 3 segments are lost.
    ack.rate.as_mut().unwrap().prior_delivered = 900_000;
    ack.lost = 3 * MSS;
    bbr.on_ack(at(41), &ack);
    assert_eq!(bbr.window(), 21 * MSS);
    // A round later: 21 + 1.
    ack.rate.as_mut().unwrap().prior_delivered = 1_000_000;
    ack.lost = 0;
    bbr.on_ack(at(80), &ack);
    assert_eq!(bbr.window(), 22 * MSS);
    // The next episode follows at once: packets are not conserved again.
    bbr.on_congestion(at(85), &congestion);
    bbr.on_ack(at(85), &ack);
    assert_eq!(bbr.window(), 23 * MSS);
    bbr.on_recovered(at(90));
    assert_eq!(bbr.window(), 60 * MSS);
    bbr.on_timeout(at(400), 20 * MSS);
    assert_eq!(bbr.window(), MSS);
    bbr.on_recovered(at(500));
    assert_eq!(bbr.window(), 60 * MSS);
}

#[test]
fn the_cycle_starts_at_any_phase_but_the_draining_one() {
    let mut seen = [0; 8];
    for seed in 0..400 {
        let mut bbr = Bbr::new(&[], &Setup { seed, ..setup() }).unwrap();
        bbr.full.reached = true;
        bbr.leave_for_steady_state(at(1));
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    // 400 draws among seven: 57 each, a standard deviation of 7.
    assert!(
        seen.iter()
            .enumerate()
            .all(|(i, n)| i == 1 || (30..90).contains(n)),
        "{seen:?}"
    );
}

/// Restarting from idle while probing a quarter higher: paced at 0.99 of the estimate, not 1.24.
#[test]
fn a_restart_from_idle_does_not_probe() {
    let mut bbr = bbr();
    bbr.on_ack(at(40), &sample(8_000, 8, true));
    bbr.full.reached = true;
    bbr.mode = Mode::ProbeBw;
    bbr.phase = 0;
    bbr.set_pacing(Duration::from_millis(40));
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(9_900_000)));
    bbr.on_sent(at(300), MSS, 2 * MSS);
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(9_900_000)));
    bbr.on_sent(at(600), MSS, MSS);
    assert_eq!(bbr.pacing_rate(), Some(Rate::from_bits(7_920_000)));
}

/// A call of at most 5 Mbit/s over `rate` for `ms`, and the time at the estimated rate, in ms, of
/// the data then waiting at its sender.
fn call(setting: (&str, &str), rate: u64, ms: u64) -> (Bbr, Path, u64) {
    let mut setup = setup();
    setup.media_bounds.1 = Rate::from_bits(5_000_000);
    let settings = [(setting.0.to_owned(), setting.1.to_owned())];
    let mut bbr = Bbr::new(&settings, &setup).unwrap();
    let mut path = path(1000);
    path.rate = Rate::from_bits(rate);
    path.source = Source::Frames(Duration::from_millis(33));
    path.encoder_limit = setup.media_bounds.1;
    path.run(&mut bbr, at(ms));
    let backlog = bbr.bandwidth.get().time_for(path.waiting).as_millis();
    (bbr, path, backlog)
}

/// The encoder never exceeds the estimate: without padding 20 Mbit/s are not found in 20 s. With
/// it, the most that the encoder can use is known within half a second, and padding ends.
#[test]
fn a_call_finds_the_bandwidth_by_padding() {
    let (bbr, ..) = call(("padding", "no"), 20_000_000, 20_000);
    assert!(bbr.media_rate(Duration::ZERO) < Rate::from_bits(1_000_000));
    let (mut bbr, path, _) = call(("padding", "yes"), 20_000_000, 500);
    assert!(bbr.media_rate(Duration::ZERO) >= path.encoder_limit);
    assert_eq!(bbr.take_probe(at(500)), None);
}

/// At 4 Mbit/s, 18 s after the start and 7 s after ProbeRtt: with 95 % of the estimate the sender
/// has caught up to less than two frames; with all of it, it keeps the 200 ms forever.
#[test]
fn an_encoder_with_a_share_of_the_estimate_catches_up_after_probe_rtt() {
    let (bbr, path, backlog) = call(("encoder_share", "0.95"), 4_000_000, 18_000);
    assert_eq!(bbr.bandwidth.get(), path.rate);
    assert_eq!(bbr.media_rate(Duration::ZERO), Rate::from_bits(3_800_000));
    assert!(backlog <= 66, "{backlog} ms");
    let (.., backlog) = call(("encoder_share", "1"), 4_000_000, 18_000);
    assert!(backlog >= 200, "{backlog} ms");
}

/// Before the first round trip there are no probes, and the encoder has the initial rate.
#[test]
fn starts_with_the_initial_rate() {
    let mut bbr = bbr();
    assert_eq!(bbr.take_probe(at(0)), None);
    assert_eq!(bbr.media_rate(Duration::ZERO), setup().initial_rate);
    bbr.on_ack(at(40), &sample(100, 8, true));
    assert_eq!(bbr.media_rate(Duration::ZERO), setup().initial_rate);
    let probe = bbr.take_probe(at(40)).unwrap();
    assert_eq!((probe.id, probe.span), (1, Duration::from_millis(10)));
    assert_eq!(Some(probe.rate), bbr.pacing_rate());
}
