//! Packet traces by hand.

use super::*;
use crate::Ecn;
use crate::testing::{Log, letter, letters, of_flow, settings, us as at};

struct Bench {
    queue: Fq<u32>,
    now: Instant,
    log: Log<char>,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Self {
        Bench {
            queue: Fq::new(&settings(set), &Env::default()).unwrap(),
            now: Instant::ZERO,
            log: letters(),
        }
    }

    /// With eight packets of flow Z on the fast path, so that later arrivals are queued in their
    /// flows.
    fn past_the_fast_path(settings: &[(&str, &str)]) -> Self {
        let mut bench = Bench::new(settings);
        bench.put("ZZZZZZZZ", 100);
        bench
    }

    fn put(&mut self, flows: &str, len: u32) {
        for flow in flows.bytes() {
            let packet = of_flow(u32::from(flow - b'A'), len, Ecn::Ect0);
            self.queue.enqueue(self.now, packet, &mut self.log);
        }
    }

    fn take(&mut self, n: usize) -> String {
        std::iter::from_fn(|| self.queue.dequeue(self.now, &mut self.log))
            .take(n)
            .map(|packet| letter(&packet))
            .collect()
    }

    /// Sends as much as it can, waking at the times given: microseconds and flows.
    fn run(&mut self, n: usize) -> Vec<(u64, char)> {
        let mut sent = Vec::new();
        while sent.len() < n {
            match self.queue.dequeue(self.now, &mut self.log) {
                Some(packet) => sent.push((self.now.as_nanos() / 1000, letter(&packet))),
                None => self.now = self.queue.next_wake(self.now).unwrap(),
            }
        }
        sent
    }
}

/// Eight packets of any flow go first; then a flow has ten full-sized ones before the others get
/// their ten, 15140 bytes, and after that two, 3028 bytes.
#[test]
fn a_first_burst_and_then_turns() {
    let mut bench = Bench::past_the_fast_path(&[]);
    bench.put(&"A".repeat(16), 1514);
    bench.put(&"B".repeat(16), 1514);
    assert_eq!(bench.take(8), "ZZZZZZZZ");
    assert_eq!(bench.take(20), "A".repeat(10) + &"B".repeat(10));
    assert_eq!(bench.take(12), "AABBAABBAABB");
    assert!(bench.queue.backlog().is_empty());
}

/// While a flow has a packet waiting, the fast path is closed.
#[test]
fn the_fast_path_is_closed_while_flows_wait() {
    let mut bench = Bench::past_the_fast_path(&[]);
    bench.put("AB", 100);
    assert_eq!(bench.take(8), "ZZZZZZZZ");
    // A is served by turns, B is still waiting: the second A is not on the fast path.
    assert_eq!(bench.take(1), "A");
    bench.put("A", 100);
    assert_eq!(bench.take(2), "AB");
    // Both are empty now, though not out of the round.
    bench.put("BA", 100);
    assert_eq!(bench.take(2), "BA");
}

/// A sends 2000 of its 3028 bytes next to B, and leaves the round when it is found empty twice.
/// Back within 40 ms, it goes first with the 1028 left: 28 after one packet, -972 after two; then
/// B, which has 1056, sends two as well; then A has 2056. Back later, A has a quantum: three
/// packets of 1000 leave 28, and a fourth overdraws.
#[test]
fn credit_is_kept_while_idle_and_refilled_after_a_while() {
    for (idle, expected) in [(40_000, "AABBAA"), (40_001, "AAAABB")] {
        let mut bench = Bench::past_the_fast_path(&[("initial_quantum", "3028")]);
        bench.put("A", 2000);
        bench.put(&"B".repeat(8), 1000);
        assert_eq!(bench.take(8), "ZZZZZZZZ");
        // B: 3028 - 4 * 1000 = -972; A passes through the round, and is idle; B: 2056 - 1000.
        assert_eq!(bench.take(6), "ABBBBB");
        bench.now += Duration::from_micros(idle);
        bench.put("AAAA", 1000);
        assert_eq!(bench.take(6), expected, "{idle}");
    }
}

/// Z has eight packets on the fast path, A and B two each and the third refused, C none.
#[test]
fn limits() {
    let mut bench = Bench::past_the_fast_path(&[("flow_limit", "2"), ("limit", "12")]);
    bench.put("AAABBBC", 100);
    assert_eq!(bench.log.who(), "ABC");
    // Of A and B, half is dropped: 10 packets are left. Then A, then B, and of the eight three.
    for (limit, dropped) in [("10", "AB"), ("9", "A"), ("5", "BZZZ")] {
        bench.log.dropped.clear();
        let change = [("limit".to_owned(), limit.to_owned())];
        let Bench { queue, now, log } = &mut bench;
        queue.change(*now, &change, log).unwrap();
        assert_eq!(log.who(), dropped);
    }
    assert_eq!(bench.take(9), "ZZZZZ");
    assert!(bench.queue.backlog().is_empty());
}

/// 3028 bytes take 2 ms at 12112 kbit/s. Ten packets are the first quantum, and only then is
/// there a wait: two packets every 2 ms.
#[test]
fn flows_are_paced_by_quanta() {
    let mut bench = Bench::new(&[("maxrate", "12112kbit")]);
    bench.put(&"A".repeat(14), 1514);
    let expected = [[0; 2]; 5].into_iter().chain([[2000; 2], [4000; 2]]);
    let expected: Vec<_> = expected.flatten().map(|us| (us, 'A')).collect();
    assert_eq!(bench.run(14), expected);
}

/// As before. A is served at 2 ms, and next, late, at 4.5 ms: half a millisecond of the 2 ms is
/// past, and it is due at 6 ms. Two milliseconds late, at 8 ms, no more than half is taken off:
/// 9 ms.
#[test]
fn lateness_is_made_up_for() {
    let mut bench = Bench::new(&[("maxrate", "12112kbit")]);
    bench.put(&"A".repeat(20), 1514);
    for (us, packets, due) in [
        (0, 10, 2000),
        (2000, 2, 4000),
        (4500, 2, 6000),
        (8000, 2, 9000),
    ] {
        bench.now = at(us);
        assert_eq!(bench.take(20).len(), packets, "{us}");
        assert_eq!(bench.queue.next_wake(bench.now), Some(at(due)));
    }
}

/// At 400 kbit/s, below 550, each packet of 1000 bytes is followed by 20 ms, the first one too.
/// Two flows have that rate each.
#[test]
fn slow_flows_are_paced_by_packets() {
    let mut bench = Bench::new(&[("maxrate", "400kbit")]);
    bench.put("AAABB", 1000);
    let ms = |ms: u64, flow| (ms * 1000, flow);
    assert_eq!(
        bench.run(5),
        [
            ms(0, 'A'),
            ms(0, 'B'),
            ms(20, 'A'),
            ms(20, 'B'),
            ms(40, 'A')
        ]
    );
}

/// 1500 bytes at 8 kbit/s would be 1.5 s.
#[test]
fn no_wait_is_longer_than_a_second() {
    let mut bench = Bench::new(&[("maxrate", "8kbit")]);
    bench.put("AA", 1500);
    assert_eq!(bench.run(2), [(0, 'A'), (1_000_000, 'A')]);
}

#[test]
fn without_pacing_there_is_no_rate() {
    let mut bench = Bench::new(&[("maxrate", "8kbit"), ("pacing", "no")]);
    bench.put("AA", 1500);
    assert_eq!(bench.run(2), [(0, 'A'), (0, 'A')]);
}

/// Above 5 ms after it came; a paced packet, 20 ms after it might have left at the earliest, is
/// not late.
#[test]
fn late_packets_are_marked() {
    let mut bench = Bench::past_the_fast_path(&[("ce_threshold", "5ms")]);
    bench.put("AB", 1000);
    bench.now = at(5000);
    assert_eq!(bench.take(9), "ZZZZZZZZA");
    bench.now = at(5001);
    assert_eq!(bench.take(1), "B");
    assert_eq!(bench.log.marked, ['B']);
    let mut paced = Bench::new(&[("ce_threshold", "5ms"), ("maxrate", "400kbit")]);
    paced.put("AA", 1000);
    assert_eq!(paced.run(2)[1], (20_000, 'A'));
    assert_eq!(paced.log.marked, []);
}
