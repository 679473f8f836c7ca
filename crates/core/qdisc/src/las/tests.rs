//! Packet traces by hand.

use super::*;
use crate::testing::{Log, letters, ms, of_flow, put, settings, take};
use crate::{Ecn, Ignore};

fn las(set: &[(&str, &str)]) -> Las<u32> {
    Las::new(&settings(set), &Env::default()).unwrap()
}

/// Packets of 1000 bytes, quanta of 1000: A and B take turns, A first as it came first. After two
/// each, C has had nothing and gets three packets before it is level with them: as soon as it has had
/// 2000, it stands behind A and B, who were there before, at 2000 each; all then take turns.
#[test]
fn the_least_served_goes_next_and_equals_take_turns() {
    let mut queue = las(&[("quantum", "1000B")]);
    put(&mut queue, ms(0), "AAAABBBB", 1000, &mut Ignore);
    assert_eq!(take(&mut queue, ms(0), 4), "ABAB");
    put(&mut queue, ms(0), "CCCC", 1000, &mut Ignore);
    assert_eq!(take(&mut queue, ms(0), 9), "CCABCABC");
    assert!(queue.backlog().is_empty());
}

/// With a quantum of 3000 bytes three packets of A count as one: B, who came later, takes turns with
/// it from the first packet on although A has had two more.
#[test]
fn within_a_quantum_flows_are_equally_old() {
    let mut queue = las(&[("quantum", "3000B")]);
    put(&mut queue, ms(0), "AAAAAA", 1000, &mut Ignore);
    assert_eq!(take(&mut queue, ms(0), 2), "AA");
    put(&mut queue, ms(0), "BBB", 1000, &mut Ignore);
    // A has had 2000 and 3000; then B is behind it alone until 3000 as well.
    assert_eq!(take(&mut queue, ms(0), 9), "ABBBAAA");
}

/// The bytes that a flow has sent are remembered for `idle` after it ran empty: B goes before A
/// after 999 ms, and after a second of silence A starts anew, and was first.
#[test]
fn age_is_kept_until_a_flow_was_idle() {
    let mut queue = las(&[("idle", "1s")]);
    put(&mut queue, ms(0), "AAAA", 1500, &mut Ignore);
    assert_eq!(take(&mut queue, ms(0), 4), "AAAA");
    put(&mut queue, ms(999), "AB", 1500, &mut Ignore);
    assert_eq!(take(&mut queue, ms(999), 2), "BA");
    put(&mut queue, ms(1999), "AB", 1500, &mut Ignore);
    assert_eq!(take(&mut queue, ms(1999), 2), "AB");
}

/// A flow whose packets wait is not idle, however long: it keeps its age and its order.
#[test]
fn who_waits_long_is_not_forgotten() {
    let mut queue = las(&[("idle", "1s"), ("target", "10s"), ("interval", "100s")]);
    put(&mut queue, ms(0), "AAAA", 1500, &mut Ignore);
    assert_eq!(take(&mut queue, ms(0), 2), "AA");
    put(&mut queue, ms(5000), "AB", 1500, &mut Ignore);
    assert_eq!(take(&mut queue, ms(5000), 5), "BAAA");
}

/// Ten packets may wait: the eleventh causes a drop of half of A's nine, five of them, at the head.
#[test]
fn the_flow_with_most_waiting_loses_half() {
    let (mut queue, mut log) = (las(&[("limit", "10")]), letters());
    put(&mut queue, ms(0), "BAAAAAAAAA", 1000, &mut log);
    assert_eq!(log.who(), "");
    put(&mut queue, ms(0), "C", 1000, &mut log);
    assert_eq!(log.who(), "AAAAA");
    assert!(
        log.dropped
            .iter()
            .all(|drop| drop.1 == DropReason::Overlimit)
    );
    assert_eq!((queue.backlog().packets, queue.backlog().bytes), (6, 6000));
    // A smaller limit takes no more than it has to.
    let limit = settings(&[("limit", "4")]);
    queue.change(ms(0), &limit, &mut log).unwrap();
    assert_eq!(log.who(), "AAAAAAA");
    assert_eq!(take(&mut queue, ms(0), 9), "BACA");
}

/// CoDel acts on a flow that stands as in the tests of `codel`, except for the other flow's
/// packets, which go at 5, 15, ... ms: the delay is seen above the target at 6 ms, tick 5859, so
/// that dropping is due after tick 103515, which 106 ms is and 107 ms is past, and again 97654
/// ticks later.
#[test]
fn each_flow_is_under_a_codel_of_its_own() {
    let mut log: Log<(u32, u64)> =
        Log::by(|now, packet| (packet.flow.0, now.as_nanos() / 1_000_000));
    let mut queue = las(&[]);
    for _ in 0..600 {
        queue.enqueue(ms(0), of_flow(0, 1500, Ecn::Ect0), &mut log);
    }
    for at in 0..210 {
        if at % 10 == 5 {
            queue.enqueue(ms(at), of_flow(1, 100, Ecn::Ect0), &mut log);
            let sparse = queue.dequeue(ms(at), &mut log).unwrap();
            assert_eq!(sparse.flow.0, 1);
        } else {
            queue.dequeue(ms(at), &mut log);
        }
    }
    assert!(log.dropped.is_empty());
    assert_eq!(log.marked, [(0, 107), (0, 207)]);
}
