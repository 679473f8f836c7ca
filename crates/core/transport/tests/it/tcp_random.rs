//! TCP over links that lose, delay and repeat packets at random, and TCP with nonsensical input.

use crate::common::{CLIENT, Direction, Pair, SERVER, control, ms, pure_delay};
use proptest::prelude::*;
use transport::tcp::{Segment, SegmentKind, Tcp};
use transport::{Config, Connection, Wire};
use units::{Duration, Ecn, Instant};

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

const MSS: u64 = 1448;

/// Acknowledged and in-flight data was sent.
fn watch(pair: &mut Pair<Tcp>, expected: [u64; 2]) {
    pair.check = Box::new(move |ends| {
        for (end, given) in ends.iter().zip([expected[SERVER], expected[CLIENT]]) {
            let sent = given.saturating_sub(end.unsent());
            assert!(end.stats().acked + end.in_flight() <= sent);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn everything_arrives_once_and_in_order(
        seed: u64,
        loss in 0u64..25,
        reorder in 0u64..20,
        duplicate in 0u64..10,
        rack: bool,
        pacing: bool,
        ecn: bool,
        name in prop::sample::select(vec!["reno", "cubic", "bbr", "vegas", "copa", "prague"]),
        sends in prop::collection::vec((0usize..2, 1u64..80_000, 0u64..400), 1..10),
    ) {
        let config = Config { rack, pacing, ecn, ..Config::linux() };
        let mut pair = pair_of(name, &config, pure_delay());
        pair.keep_log = false;
        pair.disturb(seed, [loss, reorder, duplicate]);
        let mut expected = [0u64; 2];
        for &(end, bytes, _) in &sends {
            expected[1 - end] += bytes;
        }
        watch(&mut pair, expected);
        pair.open();
        for &(end, bytes, pause) in &sends {
            pair.send(end, 0, bytes);
            pair.run_until(pair.now + Duration::from_millis(pause));
        }
        let total: u64 = expected.iter().sum();
        let open = |pair: &Pair<Tcp>| pair.total(CLIENT) + pair.total(SERVER) < total;
        prop_assert!(pair.run_while(ms(3_000_000), open), "finishes");
        pair.run_until(pair.now + Duration::from_secs(3000));
        for end in [CLIENT, SERVER] {
            prop_assert_eq!(pair.total(end), expected[end]);
            prop_assert_eq!(pair.ends[end].in_flight(), 0);
            prop_assert_eq!(pair.ends[end].unsent(), 0);
            prop_assert_eq!(pair.ends[end].stats().acked, expected[1 - end]);
        }
    }

    /// No contents of a packet make an end panic.
    #[test]
    fn nonsense_is_survived(
        packets in prop::collection::vec((any::<[u64; 8]>(), 0usize..4, any::<[u32; 2]>()), 1..30),
        near: bool,
    ) {
        let mut pair = pair_of("reno", &Config::linux(), pure_delay());
        serve(&mut pair, 100 * MSS);
        for (numbers, kind, [len, flags]) in packets {
            let number = |index: usize| {
                let number: u64 = numbers[index];
                if near { number % (120 * MSS) } else { number }
            };
            let segment = Segment {
                seq: number(0),
                ack: number(1),
                sacks: [2, 4, 6].map(|index| (number(index), number(index + 1))),
                sent: Instant::from_nanos(numbers[0]),
                echo: Instant::from_nanos(numbers[1]),
                len: if near { len % 3000 } else { len },
                kind: [SegmentKind::Syn, SegmentKind::SynAck, SegmentKind::Ack, SegmentKind::Ack][kind],
                ce: numbers[7] as u32,
                accurate: flags & 8 == 0,
                ece: flags & 1 == 0,
                cwr: flags & 2 == 0,
                duplicate: flags & 4 == 0,
            };
            for end in &mut pair.ends {
                end.handle(pair.now, Ecn::Ce, &Wire::Tcp(segment));
                let left = (0..1000).find(|_| end.transmit(pair.now).is_none());
                prop_assert!(left.is_some(), "sending ends");
                end.on_timer(pair.now);
            }
            pair.now += Duration::from_millis(10);
        }
    }
}
