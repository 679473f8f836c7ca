//! Packet traces by hand.

use super::*;
use crate::Ignore;
use crate::testing::{Log, letter, letters, of_letter, settings};

/// Packets have the number of their arrival.
struct Bench {
    queue: Hhf<u32>,
    now: Instant,
    arrivals: u32,
    log: Log<char>,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Self {
        Bench {
            queue: Hhf::new(&settings(set), &Env::default()).unwrap(),
            now: Instant::ZERO,
            arrivals: 0,
            log: letters(),
        }
    }

    /// Flows that share no counter.
    fn put(&mut self, flows: &str, len: u32) {
        for flow in flows.chars() {
            let packet = Packet {
                payload: self.arrivals,
                ..of_letter(flow, len)
            };
            self.arrivals += 1;
            self.queue.enqueue(self.now, packet, &mut self.log);
        }
    }

    fn packets(&mut self) -> impl Iterator<Item = Packet<u32>> {
        std::iter::from_fn(|| self.queue.dequeue(self.now, &mut Ignore))
    }

    /// All queued packets, in the order in which they leave.
    fn drain(&mut self) -> String {
        self.packets().map(|packet| letter(&packet)).collect()
    }

    /// How many packets wait in the heavy bucket.
    fn heavy(&self) -> u32 {
        self.queue.buckets[HEAVY as usize].queue.backlog().packets
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }
}

/// 131 packets of 1000 bytes are 131,000, which is not more than 131,072; the next one is too many.
/// It was not counted, but the flow is known from then on.
#[test]
fn a_flow_is_heavy_after_128_kib() {
    let mut bench = Bench::new(&[]);
    bench.put(&"A".repeat(131), 1000);
    assert_eq!(bench.heavy(), 0);
    bench.put("AA", 1000);
    assert_eq!(bench.heavy(), 2);
    bench.put("B", 1000);
    assert_eq!(bench.heavy(), 2);
}

/// Two packets in each round of 40 ms are never more than 2500 bytes.
#[test]
fn what_flows_sent_is_forgotten() {
    let mut bench = Bench::new(&[("admit_bytes", "2500")]);
    for _ in 0..10 {
        bench.put("AA", 1000);
        bench.wait(41);
    }
    assert_eq!(bench.heavy(), 0);
    bench.put("AA", 1000);
    bench.wait(40);
    bench.put("A", 1000);
    assert_eq!(bench.heavy(), 1);
}

/// A is heavy from its third packet on. Then, with packets of 1000 bytes, six of A and twelve of
/// flows that send two each:
///
/// - others, new: 3028, 2028, 1028, 28, -972 (four). A: 1514, 514, -486 (two).
/// - others: 2056, 1056, 56, -944 (three). A: 1028, 28, -972 (two).
/// - others: 2084, 1084, 84, -916 (three). A: 542, -458 (one).
/// - others: 2112, 1112, 112 (the last two). A: 1056 (the last one).
#[test]
fn others_have_twice_the_weight() {
    let mut bench = Bench::new(&[("admit_bytes", "2500")]);
    bench.put("AAA", 1000);
    assert_eq!(bench.heavy(), 1);
    assert_eq!(bench.drain(), "AAA");
    bench.put("AAAAAACDEFGHCDEFGH", 1000);
    assert_eq!(bench.drain(), "CDEFAAGHCAADEFAGHA");
}

/// The third packet of A, number 5, is in the heavy bucket, and its first two behind B, C and D in
/// the other one, with packets of 1500 bytes. Others: 3028, 1528, 28, -1472 (three), and then Linux
/// would send number 5. It is held back, and number 3 goes: 1556, 56, and number 4: -1444. Now the
/// heavy bucket is in the round, with 1514, and number 5 goes before E, number 6.
#[test]
fn a_flow_that_is_found_does_not_overtake_itself() {
    let mut bench = Bench::new(&[("admit_bytes", "4000")]);
    bench.put("BCDAAAE", 1500);
    assert_eq!(bench.heavy(), 1);
    let sent: Vec<_> = bench.packets().map(|packet| packet.payload).collect();
    assert_eq!(sent, [0, 1, 2, 3, 4, 5, 6]);
}

/// H is heavy and none of its packets wait elsewhere: that A is held back behind it does not hold H.
/// Others, 1500 bytes each: B C A (-1472); H: 14, and then A's third packet is held back; others:
/// 1556, A's second packet: 56, and D: -1444; and then A's third.
#[test]
fn only_those_that_would_overtake_are_held_back() {
    let mut bench = Bench::new(&[("admit_bytes", "4000")]);
    bench.put("HHH", 1500);
    assert_eq!(bench.drain(), "HHH");
    bench.put("HBCAAAD", 1500);
    assert_eq!(bench.heavy(), 2);
    let sent: Vec<_> = bench.packets().map(|packet| packet.payload - 3).collect();
    assert_eq!(sent, [1, 2, 3, 0, 4, 6, 5]);
}

/// A is heavy at 1 s after its last packet, and not after that, unless a packet waits.
#[test]
fn a_silent_flow_is_heavy_no_more() {
    for (ms, waits, heavy) in [(1000, false, 1), (1001, false, 0), (1001, true, 2)] {
        let mut bench = Bench::new(&[("admit_bytes", "2500")]);
        bench.put("AAA", 1000);
        if !waits {
            bench.drain();
        }
        bench.wait(ms);
        bench.put("A", 1000);
        assert_eq!(bench.heavy(), heavy, "{ms} {waits}");
    }
}

#[test]
fn there_are_only_so_many_heavy_hitters() {
    let mut bench = Bench::new(&[("admit_bytes", "2500"), ("hh_limit", "1")]);
    bench.put("AAABBBBB", 1000);
    assert_eq!(bench.heavy(), 1);
    assert_eq!(bench.drain().len(), 8);
}

/// Of A, the first two packets are not in the heavy bucket, and four are; when all of those are
/// gone, the oldest of all goes.
#[test]
fn heavy_hitters_are_dropped_first() {
    let mut bench = Bench::new(&[("admit_bytes", "2500"), ("limit", "6")]);
    bench.put("AAAAAA", 1000);
    assert_eq!(bench.heavy(), 4);
    bench.put("BCDEF", 1000);
    assert_eq!(bench.log.dropped, [('A', DropReason::Overlimit); 5]);
    // A is heavy: its arrival is alone in its bucket.
    bench.put("A", 1000);
    assert_eq!(bench.log.dropped[5..], [('A', DropReason::Tail)]);
    let limit = settings(&[("limit", "2")]);
    bench
        .queue
        .change(bench.now, &limit, &mut bench.log)
        .unwrap();
    assert_eq!(
        bench.log.dropped[6..],
        ['A', 'B', 'C', 'D'].map(|flow| (flow, DropReason::Change))
    );
    assert_eq!(bench.drain(), "EF");
}
