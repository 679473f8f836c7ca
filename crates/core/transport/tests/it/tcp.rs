//! TCP between two end points, against hand-computed steps.

use crate::common::{CLIENT, Direction, Fault, Pair, SERVER, control, ms, pure_delay, us};
use transport::tcp::{SegmentKind, Tcp};
use transport::{Config, Connection, Wire};
use units::{Duration, Ecn, Instant, Rate};

fn pair_of(name: &str, config: &Config, ways: [Direction; 2]) -> Pair<Tcp> {
    Pair::new(
        Tcp::new(config.clone(), control(name, MSS), true),
        Tcp::new(config.clone(), control(name, MSS), false),
        ways,
    )
}

/// Connects, and then lets the server send `bytes`.
fn serve(pair: &mut Pair<Tcp>, bytes: u64) {
    pair.open();
    pair.run_until(ms(100));
    assert!(pair.connected[SERVER].is_some());
    pair.send(SERVER, 0, bytes);
}

/// Data that the server sent: when, first byte, and its fate.
fn data(pair: &Pair<Tcp>) -> Vec<(Instant, u64, Fault)> {
    let sent = pair.log.iter().filter(|sent| sent.from == SERVER);
    sent.filter_map(|sent| sent.data().map(|(seq, _)| (sent.at, seq, sent.fault)))
        .collect()
}

/// Drops the listed data segments of the server, counted from 0 with retransmissions.
fn drop_data(pair: &mut Pair<Tcp>, numbers: &'static [u64]) {
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        let Wire::Tcp(segment) = &transmit.packet else {
            return Fault::None;
        };
        if segment.len == 0 {
            return Fault::None;
        }
        count += 1;
        if numbers.contains(&(count - 1)) {
            Fault::Drop
        } else {
            Fault::None
        }
    });
}

const MSS: u64 = 1448;

#[test]
fn handshake_takes_a_round_trip() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.open();
    pair.run_until(ms(1000));
    // SYN at 0, arrives at 20; SYN-ACK arrives at 40; its acknowledgement at 60.
    assert_eq!(pair.connected, [Some(ms(40)), Some(ms(60))]);
    let sent: Vec<_> = pair
        .log
        .iter()
        .map(|sent| (sent.at, sent.from, sent.len))
        .collect();
    assert_eq!(
        sent,
        [
            (ms(0), CLIENT, 60),
            (ms(20), SERVER, 60),
            (ms(40), CLIENT, 52)
        ]
    );
    assert_eq!(pair.ends[CLIENT].srtt(), Duration::from_millis(40));
    assert_eq!(pair.ends[SERVER].srtt(), Duration::from_millis(40));
    assert_eq!(pair.next(), Instant::NEVER, "nothing is left to do");
}

#[test]
fn a_request_leaves_with_the_last_acknowledgement_of_the_handshake() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.open();
    pair.send(CLIENT, 0, 500);
    assert_eq!(pair.run_received(SERVER, 500, ms(1000)), Some(ms(60)));
    assert_eq!(pair.connected[SERVER], Some(ms(60)));
    let from_client = pair.log.iter().filter(|sent| sent.from == CLIENT);
    assert_eq!(
        from_client.map(|sent| sent.len).collect::<Vec<_>>(),
        [60, 552]
    );
}

#[test]
fn slow_start_by_hand() {
    let config = Config {
        quick_acks: u32::MAX,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    serve(&mut pair, 100 * MSS);
    // No serialisation, so rounds of 40 ms. Ten segments in the first; every one is acknowledged
    // and each acknowledgement lets two leave: 10, 20, 40, 30 are left. The last round leaves at
    // 100 + 3 × 40 and arrives 20 later.
    assert_eq!(
        pair.run_received(CLIENT, 100 * MSS, ms(2000)),
        Some(ms(240))
    );
    for (at, count) in [(100, 10), (140, 20), (180, 40), (220, 30)] {
        let sent = data(&pair).iter().filter(|sent| sent.0 == ms(at)).count();
        assert_eq!(sent, count, "at {at} ms");
    }
    pair.run_until(ms(3000));
    let stats = pair.ends[SERVER].stats();
    assert_eq!(
        (stats.acked, stats.retransmits, stats.timeouts),
        (100 * MSS, 0, 0)
    );
    assert_eq!(pair.ends[SERVER].in_flight(), 0);
    assert_eq!(pair.next(), Instant::NEVER);
}

#[test]
fn acknowledgements_are_delayed() {
    let config = Config {
        quick_acks: 0,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    serve(&mut pair, 5 * MSS);
    pair.run_until(ms(1000));
    let acks: Vec<_> = pair
        .log
        .iter()
        .filter(|sent| sent.from == CLIENT && sent.at >= ms(100))
        .map(|sent| match &sent.packet {
            Wire::Tcp(segment) => (sent.at, segment.ack),
            _ => panic!("not TCP"),
        })
        .collect();
    // Five arrive at 120: two acknowledgements at once, the last one after 40 ms.
    assert_eq!(
        acks,
        [(ms(120), 2 * MSS), (ms(120), 4 * MSS), (ms(160), 5 * MSS)]
    );
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second_and_then_two() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.ways[CLIENT].fault =
        Box::new(|number, _| if number < 2 { Fault::Drop } else { Fault::None });
    pair.open();
    pair.run_until(ms(10_000));
    // At 0, 1 s and 3 s.
    assert_eq!(pair.connected, [Some(ms(3040)), Some(ms(3060))]);
}

#[test]
fn a_lost_syn_ack_is_sent_again_after_a_second() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.ways[SERVER].fault =
        Box::new(|number, _| if number < 1 { Fault::Drop } else { Fault::None });
    pair.open();
    pair.run_until(ms(10_000));
    // The client's second SYN leaves at 1 s, before the server's own timer at 1.02 s.
    assert_eq!(pair.connected[CLIENT], Some(ms(1040)));
    assert!(pair.connected[SERVER].is_some());
}

#[test]
fn rack_repairs_a_loss_in_one_round_trip() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[3]);
    serve(&mut pair, 10 * MSS);
    // Nine arrive at 120; the third selective acknowledgement at 140 shows the loss; the repair
    // leaves at once and arrives at 160.
    assert_eq!(pair.run_received(CLIENT, 10 * MSS, ms(2000)), Some(ms(160)));
    let sent = data(&pair);
    assert_eq!(sent.len(), 11);
    assert_eq!((sent[10].0, sent[10].1), (ms(140), 3 * MSS));
    pair.run_until(ms(2000));
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.recoveries, stats.timeouts, stats.probes), (1, 0, 0));
    // Ten segments, and five more in slow start: three acknowledged, two selectively. The third
    // shows the loss, and the window is halved.
    assert_eq!(pair.ends[SERVER].control().window(), 15 * MSS / 2);
}

#[test]
fn rack_waits_a_quarter_round_trip_where_fewer_than_three_arrived() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[3]);
    serve(&mut pair, 5 * MSS);
    // One selective acknowledgement, at 140: sent at 100, round trip 40, window 40/4 = 10, so lost
    // at 150.
    assert_eq!(pair.run_received(CLIENT, 5 * MSS, ms(2000)), Some(ms(170)));
    assert_eq!(pair.ends[SERVER].stats().probes, 0);
}

#[test]
fn a_probe_repairs_a_lost_tail() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[9]);
    serve(&mut pair, 10 * MSS);
    // The ninth is acknowledged at 140, one packet is in flight: the probe would be due after
    // 2 × 40 + 200 ms, the timeout comes first at 140 + 240 = 380. It sends the probe.
    assert_eq!(pair.run_received(CLIENT, 10 * MSS, ms(2000)), Some(ms(400)));
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.probes, stats.timeouts), (1, 0));
}

#[test]
fn a_probe_shows_a_lost_tail_of_several() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[7, 8, 9]);
    serve(&mut pair, 10 * MSS);
    // Three in flight after 140: the probe leaves at 140 + 2 × 40 and repeats the last; its
    // selective acknowledgement at 260 shows the others. One packet was delivered, so one is
    // repeated (RFC 6937's conservative bound), arrives at 280, and its acknowledgement at 300
    // lets the second one go.
    assert_eq!(pair.run_received(CLIENT, 10 * MSS, ms(2000)), Some(ms(320)));
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.probes, stats.timeouts, stats.recoveries), (1, 0, 1));
}

/// Drops the server's segment at `seq` the first `times` times.
fn drop_segment(pair: &mut Pair<Tcp>, seq: u64, times: u32) {
    let mut left = times;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| match &transmit.packet {
        Wire::Tcp(segment) if segment.len > 0 && segment.seq == seq && left > 0 => {
            left -= 1;
            Fault::Drop
        }
        _ => Fault::None,
    });
}

/// When the server sent the segment at `seq`.
fn times_of(pair: &Pair<Tcp>, seq: u64) -> Vec<Instant> {
    let sent = data(pair);
    let of_it = sent.iter().filter(|sent| sent.1 == seq);
    of_it.map(|sent| sent.0).collect()
}

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut pair = pair_of("reno", &Config::linux(), pure_delay());
    drop_segment(&mut pair, 3 * MSS, 2);
    serve(&mut pair, 60 * MSS);
    let done = pair.run_received(CLIENT, 60 * MSS, ms(2000)).unwrap();
    // Lost at 100, repeated at 140 and lost again; data that left after it at 140 is acknowledged
    // at 180, and reveals it.
    assert_eq!(times_of(&pair, 3 * MSS), [ms(100), ms(140), ms(180)]);
    assert!(done < ms(600), "{done}");
    assert_eq!(pair.ends[SERVER].stats().timeouts, 0);
}

#[test]
fn without_rack_a_lost_retransmission_waits_for_the_timer() {
    let config = Config {
        rack: false,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_segment(&mut pair, 3 * MSS, 2);
    serve(&mut pair, 60 * MSS);
    assert!(pair.run_received(CLIENT, 60 * MSS, ms(3000)).is_some());
    let times = times_of(&pair, 3 * MSS);
    assert_eq!((times.len(), times[1]), (3, ms(140)));
    assert!(
        times[2] >= ms(140 + 240),
        "no sooner than 40 + 200 ms after"
    );
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.recoveries, stats.probes, stats.timeouts), (1, 0, 1));
}

#[test]
fn a_needless_probe_does_not_reduce_the_window() {
    let config = Config {
        idle_restart: false,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    // The acknowledgements of the last three of ten are late by 100 ms: longer than the 80 ms
    // after which the probe leaves.
    pair.ways[CLIENT].fault = Box::new(|_, transmit| match &transmit.packet {
        Wire::Tcp(segment) if segment.ack > 7 * MSS && segment.ack <= 10 * MSS => {
            Fault::Delay(Duration::from_millis(100))
        }
        _ => Fault::None,
    });
    serve(&mut pair, 10 * MSS);
    pair.run_until(ms(600));
    assert_eq!(pair.ends[SERVER].stats().probes, 1);
    let before = pair.ends[SERVER].control().window();
    pair.send(SERVER, 0, 2 * MSS);
    pair.run_until(ms(700));
    assert!(pair.ends[SERVER].control().window() >= before);
    assert!(pair.ends[SERVER].control().in_slow_start());
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    let mut pair = pair_of("reno", &Config::linux(), pure_delay());
    drop_data(&mut pair, &[9]);
    serve(&mut pair, 10 * MSS);
    pair.run_until(ms(450));
    let before = pair.ends[SERVER].control().window();
    pair.send(SERVER, 0, 2 * MSS);
    pair.run_until(ms(700));
    assert!(pair.ends[SERVER].control().window() < before * 2 / 3);
}

#[test]
fn what_fills_a_gap_is_acknowledged_at_once() {
    let config = Config {
        quick_acks: 0,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[4, 6]);
    serve(&mut pair, 10 * MSS);
    pair.run_until(ms(1000));
    // Both are repeated at 140. The first fills its gap at 160: a single segment and the next one
    // are in order then, and another gap is left.
    let told: Vec<_> = pair
        .log
        .iter()
        .filter_map(|sent| match &sent.packet {
            Wire::Tcp(segment) if sent.from == CLIENT => Some((sent.at, segment.ack)),
            _ => None,
        })
        .filter(|&(at, ack)| at > ms(120) && ack > 4 * MSS)
        .collect();
    assert_eq!(told, [(ms(160), 6 * MSS), (ms(160), 10 * MSS)]);
}

#[test]
fn a_burst_of_losses_is_repaired_without_a_timeout() {
    let config = Config::linux();
    for numbers in [
        &[0, 1, 2, 3, 4, 5, 6][..],
        &[12, 14, 16, 18, 20, 22, 24, 25, 26],
    ] {
        let mut pair = pair_of("reno", &config, pure_delay());
        drop_data(&mut pair, numbers);
        serve(&mut pair, 100 * MSS);
        assert!(pair.run_received(CLIENT, 100 * MSS, ms(3000)).is_some());
        let stats = pair.ends[SERVER].stats();
        assert_eq!(
            (stats.timeouts, stats.retransmits),
            (0, numbers.len() as u64)
        );
        assert_eq!(stats.recoveries, 1);
    }
}

/// Segment 3 is lost, and its repetition, and so is 21, which leaves at 180 before 3 does for the third
/// time. At 220 segment 22 is acknowledged, so that 21 is known to be lost, and then 3, with which the
/// first episode ends. The loss of 21 was another round trip's congestion: the window is halved again.
#[test]
fn what_was_lost_during_a_repair_is_congestion_of_its_own() {
    let mut pair = pair_of("reno", &Config::linux(), pure_delay());
    let mut lost = [(3 * MSS, 2), (21 * MSS, 1)];
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        let Wire::Tcp(segment) = &transmit.packet else {
            return Fault::None;
        };
        let entry = lost
            .iter_mut()
            .find(|(seq, left)| segment.len > 0 && *seq == segment.seq && *left > 0);
        entry.map_or(Fault::None, |(_, left)| {
            *left -= 1;
            Fault::Drop
        })
    });
    serve(&mut pair, 60 * MSS);
    pair.run_until(ms(219));
    assert_eq!(times_of(&pair, 3 * MSS), [ms(100), ms(140), ms(180)]);
    let once = pair.ends[SERVER].control().window();
    assert_eq!(pair.ends[SERVER].stats().recoveries, 1);
    pair.run_until(ms(221));
    assert_eq!(pair.ends[SERVER].stats().recoveries, 2);
    assert_eq!(pair.ends[SERVER].control().window(), once / 2);
    assert_eq!(times_of(&pair, 21 * MSS), [ms(180), ms(220)]);
    assert!(pair.run_received(CLIENT, 60 * MSS, ms(3000)).is_some());
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.recoveries, stats.timeouts), (2, 0));
}

#[test]
fn lost_acknowledgements_cost_nothing_where_later_ones_arrive() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.ways[CLIENT].fault = Box::new(|number, _| {
        if number > 1 && number % 2 == 0 {
            Fault::Drop
        } else {
            Fault::None
        }
    });
    serve(&mut pair, 100 * MSS);
    assert!(pair.run_received(CLIENT, 100 * MSS, ms(3000)).is_some());
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.timeouts, stats.retransmits), (0, 0));
}

#[test]
fn timeouts_double_from_the_smallest() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    drop_data(&mut pair, &[0, 1, 2, 3, 4]);
    serve(&mut pair, MSS);
    assert!(pair.run_received(CLIENT, MSS, ms(20_000)).is_some());
    let times: Vec<_> = data(&pair).iter().map(|sent| sent.0).collect();
    // At 100; the probe when the timeout of 40 + 200 ms would come; then after 240, 480, 960, 1920.
    assert_eq!(
        times,
        [ms(100), ms(340), ms(580), ms(1060), ms(2020), ms(3940)]
    );
    assert_eq!(pair.ends[SERVER].stats().timeouts, 4);
}

#[test]
fn after_a_timeout_the_window_grows_again() {
    // The whole second round is lost, so that no acknowledgement reveals the loss.
    let config = Config {
        rack: false,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    const SECOND: [u64; 20] = [
        10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    ];
    drop_data(&mut pair, &SECOND);
    serve(&mut pair, 30 * MSS);
    let done = pair.run_received(CLIENT, 30 * MSS, ms(5000));
    // The timer was started at 140 and runs out at 380 (Linux's 40 + 200 ms). From a window of one
    // up to a threshold of ten, 20 segments take 1 + 2 + 4 + 8 + 5: five rounds of 40 ms, the last
    // of which takes 20 to arrive.
    assert_eq!(done, Some(ms(380 + 4 * 40 + 20)));
    assert_eq!(pair.ends[SERVER].stats().timeouts, 1);
}

#[test]
fn the_receive_window_is_kept() {
    let config = Config {
        receive_window: 5 * MSS + 100,
        quick_acks: u32::MAX,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    pair.check = Box::new(|ends| assert!(ends[SERVER].in_flight() <= 5 * MSS));
    serve(&mut pair, 50 * MSS);
    // Five full segments a round: the tenth round arrives at 100 + 9 × 40 + 20.
    assert_eq!(pair.run_received(CLIENT, 50 * MSS, ms(5000)), Some(ms(480)));
}

#[test]
fn a_mark_halves_once_and_is_answered() {
    let config = Config {
        ecn: true,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        if transmit.ecn == Ecn::Ect0 {
            count += 1;
        }
        if count == 15 {
            Fault::Mark
        } else {
            Fault::None
        }
    });
    serve(&mut pair, 200 * MSS);
    assert!(pair.run_received(CLIENT, 200 * MSS, ms(5000)).is_some());
    pair.run_until(ms(5000));
    let flags = |from: usize| {
        pair.log.iter().filter_map(move |sent| match &sent.packet {
            Wire::Tcp(segment) if sent.from == from && segment.kind == SegmentKind::Ack => {
                Some(*segment)
            }
            _ => None,
        })
    };
    assert_eq!(
        flags(SERVER).filter(|flags| flags.cwr).count(),
        1,
        "reduced once"
    );
    assert!(
        flags(CLIENT).filter(|flags| flags.ece).count() > 1,
        "echoed until answered"
    );
    assert!(!flags(CLIENT).next_back().unwrap().ece, "and not after");
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.retransmits, stats.recoveries), (0, 0));
    assert!(pair.ends[SERVER].control().window() < 30 * MSS);
}

#[test]
fn without_agreement_nothing_is_ecn_capable() {
    let (with, without) = (
        Config {
            ecn: true,
            ..Config::linux()
        },
        Config::linux(),
    );
    let mut pair = Pair::new(
        Tcp::new(without.clone(), control("reno", MSS), true),
        Tcp::new(with.clone(), control("reno", MSS), false),
        pure_delay(),
    );
    serve(&mut pair, 10 * MSS);
    pair.run_until(ms(1000));
    assert!(pair.log.iter().all(|sent| sent.ecn == Ecn::NotCapable));
}

#[test]
fn idle_shrinks_the_window_to_the_initial_one() {
    for (idle_restart, at_once) in [(true, 10), (false, 30)] {
        let config = Config {
            idle_restart,
            ..Config::linux()
        };
        let mut pair = pair_of("reno", &config, pure_delay());
        serve(&mut pair, 30 * MSS);
        pair.run_until(ms(5000));
        pair.log.clear();
        pair.send(SERVER, 0, 30 * MSS);
        let sent = data(&pair).len();
        assert_eq!(sent, at_once, "idle_restart = {idle_restart}");
    }
}

#[test]
fn paced_packets_leave_one_by_one() {
    let config = Config {
        pacing: true,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    serve(&mut pair, 60 * MSS);
    pair.run_until(ms(179));
    let second: Vec<_> = data(&pair)
        .iter()
        .map(|sent| sent.0)
        .filter(|&at| at >= ms(140))
        .collect();
    // Ten leave at once. Then twice the window (20 segments when all are acknowledged) per 40 ms:
    // a segment a millisecond.
    assert!(
        second.windows(2).all(|two| two[0] < two[1]),
        "never two at once"
    );
    let gap = second[10].since(second[9]);
    assert_eq!(gap, Duration::from_millis(1));
}

#[test]
fn writable_follows_every_gift_once() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    serve(&mut pair, 100 * MSS);
    assert_eq!(pair.writable[SERVER], 0, "90 segments wait");
    pair.run_until(ms(5000));
    assert_eq!(pair.writable[SERVER], 1);
    pair.send(SERVER, 0, 10);
    assert_eq!(pair.writable[SERVER], 2);
}

#[test]
fn endless_bulk_needs_no_memory_by_its_length() {
    let config = Config::linux();
    let mut pair = pair_of("reno", &config, pure_delay());
    serve(&mut pair, u64::MAX / 2);
    pair.send(SERVER, 0, u64::MAX);
    pair.run_until(ms(300));
    assert!(pair.total(CLIENT) >= 70 * MSS);
}

/// The reference's dumbbell: 20 Mbit/s, 40 ms, 67 packets.
#[test]
fn reno_fills_a_twenty_mbit_link() {
    let config = Config::linux();
    let rate: Rate = "20mbit".parse().unwrap();
    let ways = [
        Direction::new(None, Duration::from_millis(20), usize::MAX),
        Direction::new(Some(rate), Duration::from_millis(20), 67),
    ];
    let mut pair = pair_of("reno", &config, ways);
    pair.keep_log = false;
    serve(&mut pair, u64::MAX / 2);
    pair.run_until(us(10_000_000));
    let before = pair.total(CLIENT);
    pair.run_until(us(60_000_000));
    let goodput = Rate::from_bytes_over(pair.total(CLIENT) - before, Duration::from_secs(50));
    // 20 × 1448 / 1500 = 19.31 Mbit/s is all that the headers leave.
    assert!(goodput.as_mbit_f64() > 19.2, "{goodput}");
    assert_eq!(pair.ends[SERVER].stats().timeouts, 0);
    assert!(pair.ways[SERVER].queue_drops > 5);
}
