//! QUIC between two end points, against hand-computed steps.

use crate::common::{CLIENT, Direction, Fault, Faults, Pair, SERVER, control, ms, pure_delay};
use proptest::prelude::*;
use transport::quic::{CRYPTO, DATAGRAM, IP_UDP, Quic, QuicPacket};
use transport::{Config, Connection, Wire};
use units::{Duration, Ecn, Instant, Rate};

fn pair_of(name: &str, config: &Config, ways: [Direction; 2]) -> Pair<Quic> {
    Pair::new(
        Quic::new(config.clone(), control(name, DATAGRAM.into()), true),
        Quic::new(config.clone(), control(name, DATAGRAM.into()), false),
        ways,
    )
}

fn linux_pair() -> Pair<Quic> {
    pair_of("reno", &Config::linux(), pure_delay())
}

fn quic(wire: &Wire) -> &QuicPacket {
    match wire {
        Wire::Quic(packet) => packet,
        _ => panic!("not QUIC"),
    }
}

/// Connects, and then lets the server send `bytes` on stream 0 at 200 ms.
fn serve(pair: &mut Pair<Quic>, bytes: u64) {
    pair.open();
    pair.run_until(ms(200));
    assert!(pair.connected[SERVER].is_some());
    pair.send(SERVER, 0, bytes);
}

/// Stream data that the server sent: when, on which stream, from where.
fn data(pair: &Pair<Quic>) -> Vec<(Instant, u32, u64)> {
    let packets = pair.log.iter().filter(|sent| sent.from == SERVER);
    packets
        .flat_map(|sent| {
            let frames = quic(&sent.packet).frames.iter();
            frames.map(|frame| (sent.at, frame.stream, frame.offset))
        })
        .filter(|&(_, stream, _)| stream != CRYPTO)
        .collect()
}

/// Drops the listed data packets of the server, counted from 0.
fn drop_data(pair: &mut Pair<Quic>, numbers: &'static [u64]) {
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        let packet = quic(&transmit.packet);
        if packet.frames.iter().all(|frame| frame.stream == CRYPTO) {
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

/// Drops the listed packets of one direction, counted from 0.
fn dropping(numbers: &'static [u64]) -> Faults {
    Box::new(|number, _| {
        if numbers.contains(&number) {
            Fault::Drop
        } else {
            Fault::None
        }
    })
}

/// The data in a full packet with one frame: 1350 less a short header of 27 and a frame's of 9.
const FULL: u64 = 1350 - 27 - 9;

#[test]
fn handshake_takes_a_round_trip_and_data_leaves_with_its_last_packet() {
    let mut pair = linux_pair();
    pair.open();
    pair.send(CLIENT, 0, 500);
    assert_eq!(pair.run_received(SERVER, 500, ms(1000)), Some(ms(60)));
    assert_eq!(pair.connected, [Some(ms(40)), Some(ms(60))]);
    let hello = &pair.log[0];
    assert_eq!((hello.at, hello.len), (ms(0), 1200 + IP_UDP), "padded");
    pair.run_until(ms(5000));
    assert_eq!(pair.next(), Instant::NEVER, "nothing is left to do");
    assert_eq!(pair.ends.each_ref().map(|end| end.in_flight()), [0, 0]);
}

#[test]
fn a_server_sends_three_times_what_it_got_until_the_address_is_proven() {
    let mut pair = linux_pair();
    // The client's packets after its hello are lost four times.
    pair.ways[CLIENT].fault = dropping(&[1, 2, 3, 4]);
    pair.open();
    pair.run_until(ms(900));
    let from_server = pair.log.iter().filter(|sent| sent.from == SERVER);
    let sent: u32 = from_server.map(|sent| sent.len - IP_UDP).sum();
    assert!(sent > 3300 && sent <= 3 * 1200, "{sent}");
    pair.run_until(ms(20_000));
    assert!(pair.connected[SERVER].is_some());
}

#[test]
fn a_lost_hello_is_sent_again_after_three_times_the_initial_round_trip() {
    let mut pair = linux_pair();
    pair.ways[CLIENT].fault = dropping(&[0]);
    pair.open();
    pair.run_until(ms(5000));
    // 3 × 333 ms, and a round trip.
    assert_eq!(pair.connected[CLIENT], Some(ms(999 + 40)));
}

#[test]
fn a_lost_part_of_the_servers_flight_is_repaired() {
    for numbers in [&[0][..], &[1], &[2], &[0, 1, 2]] {
        let mut pair = linux_pair();
        pair.ways[SERVER].fault = dropping(numbers);
        pair.open();
        pair.send(CLIENT, 0, 500);
        let done = pair.run_received(SERVER, 500, ms(10_000));
        assert!(
            done.is_some_and(|at| at < ms(2500)),
            "{numbers:?}: {done:?}"
        );
    }
}

#[test]
fn ten_datagrams_leave_at_once_and_arrive_together() {
    let mut pair = linux_pair();
    serve(&mut pair, 6 * FULL);
    // Of the ten unpaced packets the handshake took some; six are left.
    assert_eq!(data(&pair).len(), 6);
    assert_eq!(pair.run_received(CLIENT, 6 * FULL, ms(1000)), Some(ms(220)));
    let full = pair.log.iter().filter(|sent| sent.len == DATAGRAM + IP_UDP);
    assert!(full.count() >= 6);
}

#[test]
fn slow_start_doubles_every_round_trip() {
    let mut pair = linux_pair();
    serve(&mut pair, 300 * FULL);
    pair.run_until(ms(5000));
    assert_eq!(pair.total(CLIENT), 300 * FULL);
    // The window is 10 datagrams plus the growth during the handshake (3 packets of the server);
    // each round trip doubles it, and the pacer spreads it over 0.8 of the next one.
    let sent = |from, to| {
        let within = |&&(at, ..): &&(Instant, u32, u64)| at >= ms(from) && at < ms(to);
        data(&pair).iter().filter(within).count()
    };
    let rounds = [sent(200, 240), sent(240, 280), sent(280, 320)];
    assert!((10..=13).contains(&rounds[0]), "{rounds:?}");
    assert!(
        rounds[1] >= 2 * rounds[0] - 4 && rounds[1] <= 2 * rounds[0],
        "{rounds:?}"
    );
    assert!(
        rounds[2] >= 2 * rounds[1] - 8 && rounds[2] <= 2 * rounds[1],
        "{rounds:?}"
    );
    assert_eq!(pair.ends[SERVER].stats().acked, 300 * FULL);
}

#[test]
fn a_loss_is_seen_by_three_later_packets() {
    let mut pair = linux_pair();
    drop_data(&mut pair, &[1]);
    serve(&mut pair, 6 * FULL);
    // Six leave at 200; at 240 the acknowledgement of number 4 shows that number 1 is lost.
    assert_eq!(pair.run_received(CLIENT, 6 * FULL, ms(2000)), Some(ms(260)));
    pair.run_until(ms(1000));
    let stats = pair.ends[SERVER].stats();
    assert_eq!(
        (stats.recoveries, stats.probes, stats.retransmits),
        (1, 0, 1)
    );
    let window = pair.ends[SERVER].control().window();
    let datagrams = window / u64::from(DATAGRAM);
    // At most ten and three of the handshake and five before the loss showed, halved; then one for
    // the later arrivals.
    assert!((5..=10).contains(&datagrams), "{datagrams}");
}

#[test]
fn a_loss_with_fewer_later_packets_is_seen_after_nine_eighths_of_a_round_trip() {
    let mut pair = linux_pair();
    drop_data(&mut pair, &[1]);
    serve(&mut pair, 3 * FULL);
    // Sent at 200; lost at 200 + 40 × 9/8 = 245; arrives 20 later.
    assert_eq!(pair.run_received(CLIENT, 3 * FULL, ms(2000)), Some(ms(265)));
    assert_eq!(pair.ends[SERVER].stats().probes, 0);
}

#[test]
fn a_lost_tail_is_repaired_by_probes() {
    let mut pair = linux_pair();
    drop_data(&mut pair, &[5]);
    serve(&mut pair, 6 * FULL);
    let done = pair.run_received(CLIENT, 6 * FULL, ms(3000)).unwrap();
    // The probe leaves SRTT + 4 × RTTVAR + 25 ms after the last acknowledgement: at 240 for an
    // even number of packets before it, at 265 for the one whose acknowledgement was held back.
    // With SRTT 40 ms and RTTVAR below 20 ms, that is at most 265 + 145.
    assert!(
        done > ms(240 + 40 + 25 + 20) && done <= ms(265 + 145 + 20),
        "{done}"
    );
    let stats = pair.ends[SERVER].stats();
    assert_eq!((stats.probes, stats.timeouts), (1, 0));
}

#[test]
fn streams_take_turns() {
    let mut pair = linux_pair();
    serve(&mut pair, 100 * FULL);
    pair.send(SERVER, 4, 100 * FULL);
    pair.run_until(ms(5000));
    assert_eq!(pair.received[CLIENT][&0], 100 * FULL);
    assert_eq!(pair.received[CLIENT][&4], 100 * FULL);
    let order: Vec<_> = data(&pair).iter().map(|&(_, stream, _)| stream).collect();
    let begin = order.iter().position(|&stream| stream == 4).unwrap();
    let both = &order[begin..begin + 100];
    assert!(
        both.windows(2).all(|two| two[0] != two[1]),
        "one packet each"
    );
}

#[test]
fn small_messages_share_a_packet() {
    let mut pair = linux_pair();
    pair.open();
    for stream in 0..8 {
        pair.send(CLIENT, 4 * stream, 100);
    }
    pair.run_until(ms(45));
    let last = pair.log.iter().rfind(|sent| sent.from == CLIENT).unwrap();
    // Finished and eight requests.
    assert_eq!(quic(&last.packet).frames.iter().count(), 9);
}

#[test]
fn a_stream_waits_for_its_own_bytes_only() {
    let mut pair = linux_pair();
    drop_data(&mut pair, &[0]);
    serve(&mut pair, FULL);
    pair.send(SERVER, 4, FULL);
    pair.run_until(ms(230));
    assert_eq!(pair.received[CLIENT].get(&4), Some(&FULL));
    assert_eq!(pair.received[CLIENT].get(&0), None);
}

#[test]
fn a_mark_halves_once() {
    let config = Config {
        ecn: true,
        ..Config::linux()
    };
    let mut pair = pair_of("reno", &config, pure_delay());
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, _| {
        count += 1;
        if (20..24).contains(&count) {
            Fault::Mark
        } else {
            Fault::None
        }
    });
    serve(&mut pair, 100 * FULL);
    let before = pair.ends[SERVER].control().window();
    pair.run_until(ms(5000));
    let stats = pair.ends[SERVER].stats();
    assert_eq!((pair.total(CLIENT), stats.retransmits), (100 * FULL, 0));
    assert!(pair.ends[SERVER].control().window() > before / 2);
    assert!(!pair.ends[SERVER].control().in_slow_start());
    assert!(pair.log.iter().all(|sent| sent.ecn == Ecn::Ect0));
}

#[test]
fn persistent_congestion_starts_anew() {
    let mut pair = linux_pair();
    serve(&mut pair, 2000 * FULL);
    pair.run_until(ms(400));
    // No packets arrive for a second: longer than three probe timeouts of at most 145 ms.
    let (from, to) = (ms(400), ms(1400));
    let clock = std::rc::Rc::new(std::cell::Cell::new(from));
    let seen = clock.clone();
    pair.ways[SERVER].fault = Box::new(move |_, _| {
        if seen.get() < to {
            Fault::Drop
        } else {
            Fault::None
        }
    });
    while pair.now < ms(1500) {
        let next = pair.next();
        clock.set(next);
        pair.run_until(next);
    }
    clock.set(to);
    assert!(pair.run_received(CLIENT, 2000 * FULL, ms(60_000)).is_some());
    assert_eq!(pair.ends[SERVER].stats().timeouts, 1);
}

#[test]
fn reno_fills_a_twenty_mbit_link() {
    let rate: Rate = "20mbit".parse().unwrap();
    let ways = [
        Direction::new(None, Duration::from_millis(20), usize::MAX),
        Direction::new(Some(rate), Duration::from_millis(20), 67),
    ];
    let mut pair = pair_of("reno", &Config::linux(), ways);
    pair.keep_log = false;
    serve(&mut pair, u64::MAX / 2);
    pair.run_until(ms(10_000));
    let before = pair.total(CLIENT);
    pair.run_until(ms(60_000));
    let goodput = Rate::from_bytes_over(pair.total(CLIENT) - before, Duration::from_secs(50));
    // 20 × 1314 / 1378 = 19.07 Mbit/s is all that the headers leave.
    assert!(goodput.as_mbit_f64() > 18.8, "{goodput}");
    assert!(pair.ways[SERVER].queue_drops > 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn everything_arrives_once_and_in_order(
        seed: u64,
        control in prop::sample::select(vec!["reno", "tonopah"]),
        loss in 0u64..25,
        reorder in 0u64..20,
        duplicate in 0u64..10,
        sends in prop::collection::vec((0usize..2, 0u32..6, 1u64..60_000, 0u64..400), 1..12),
    ) {
        let mut pair = pair_of(control, &Config::linux(), pure_delay());
        pair.keep_log = false;
        pair.disturb(seed, [loss, reorder, duplicate]);
        pair.open();
        let mut expected = [[0u64; 6]; 2];
        for &(end, stream, bytes, pause) in &sends {
            pair.send(end, stream, bytes);
            expected[1 - end][stream as usize] += bytes;
            pair.run_until(pair.now + Duration::from_millis(pause));
        }
        let total: u64 = expected.iter().flatten().sum();
        let done = |pair: &Pair<Quic>| pair.total(CLIENT) + pair.total(SERVER) < total;
        prop_assert!(pair.run_while(ms(3_000_000), done), "finishes");
        pair.run_until(pair.now + Duration::from_secs(3000));
        for end in [CLIENT, SERVER] {
            for stream in 0..6 {
                let received = pair.received[end].get(&stream).copied().unwrap_or(0);
                prop_assert_eq!(received, expected[end][stream as usize]);
            }
            let sent: u64 = expected[1 - end].iter().sum();
            prop_assert_eq!(pair.ends[end].in_flight(), 0);
            prop_assert_eq!(pair.ends[end].stats().acked, sent);
        }
        prop_assert_eq!(pair.next(), Instant::NEVER, "nothing is left to do");
    }
}

/// Every acknowledgement of the server's flight is lost, and its probes need leave to be sent: the
/// client's Finished gives it.
#[test]
fn the_end_of_the_handshake_proves_the_address() {
    let mut pair = linux_pair();
    pair.keep_log = false;
    pair.disturb(3361453008978392497, [23, 19, 3]);
    pair.open();
    pair.send(SERVER, 0, 350);
    let done = |pair: &Pair<Quic>| pair.total(CLIENT) < 350;
    assert!(pair.run_while(ms(3_000_000), done));
    pair.run_until(pair.now + Duration::from_secs(3000));
    assert_eq!(pair.ends[SERVER].in_flight(), 0);
}

/// A control over two subflows: data goes over both paths, six to four in turns, each with packet
/// numbers of its own, and arrives whole.
#[test]
fn two_paths_carry_one_connection() {
    let mut pair = pair_of("tonopah", &Config::linux(), pure_delay());
    serve(&mut pair, 4_000_000);
    pair.run_until(ms(5_000));
    assert_eq!(pair.total(CLIENT), 4_000_000);
    let sent = pair.log.iter().filter(|sent| sent.from == SERVER);
    let mut next = [0, 0];
    let mut bytes = [0, 0];
    for sent in sent {
        let packet = quic(&sent.packet);
        let path = usize::from(packet.path);
        assert_eq!(packet.number, next[path], "on path {path}");
        next[path] += 1;
        bytes[path] += packet
            .frames
            .iter()
            .map(|frame| u64::from(frame.len))
            .sum::<u64>();
        assert!(!(packet.long && path == 1), "the handshake has one path");
    }
    let share = bytes[0] as f64 / (bytes[0] + bytes[1]) as f64;
    assert!((0.4..=0.6).contains(&share), "{share} on the first path");
    let stats = pair.ends[SERVER].stats();
    assert_eq!(
        (stats.packets_sent, stats.retransmits),
        (next[0] + next[1], 0)
    );
    assert_eq!(pair.ends[SERVER].in_flight(), 0);
}

/// Data lost on one path may arrive over the other; a packet of a path that does not exist is
/// ignored.
#[test]
fn two_paths_repair_each_other() {
    let mut pair = pair_of("tonopah(cubic)", &Config::linux(), pure_delay());
    pair.disturb(7, [5, 5, 2]);
    serve(&mut pair, 2_000_000);
    pair.run_until(ms(30_000));
    assert_eq!(pair.total(CLIENT), 2_000_000);
    assert!(pair.ends[SERVER].stats().retransmits > 0);
    let mut stray = QuicPacket {
        path: 9,
        number: 0,
        frames: Default::default(),
        ack: None,
        ping: true,
        long: false,
    };
    for path in [1, 2, 255] {
        stray.path = path;
        let (now, wire) = (ms(30_001), Wire::Quic(stray.clone()));
        pair.ends[SERVER].handle(now, Ecn::NotCapable, &wire);
    }
    assert_eq!(pair.total(CLIENT), 2_000_000);
}
