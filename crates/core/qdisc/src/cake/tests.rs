//! Traces worked out by hand.

use super::*;
use crate::testing::{Log, settings, us};
use crate::{Ecn, FlowId, Home, Hosts, Ignore, Limit};

/// Packets are `(flow, number)`.
type Name = (u32, u32);

fn cake(set: &[(&str, &str)]) -> Cake<Name> {
    Cake::new(&settings(set), &Env::default()).unwrap()
}

/// A packet of a flow between hosts of its own, capable of marks.
fn packet(len: u32, name: Name) -> Packet<Name> {
    Packet {
        len,
        flow: FlowId(name.0),
        hash: name.0,
        hosts: Hosts::new(name.0, name.0),
        ecn: Ecn::Ect0,
        payload: name,
        ..Packet::default()
    }
}

/// `n` packets of a flow arrive.
fn put(cake: &mut Cake<Name>, now: Instant, flow: u32, n: u32, len: u32) {
    (1..=n).for_each(|number| cake.enqueue(now, packet(len, (flow, number)), &mut Ignore));
}

/// The flows of the next packets that leave at once.
fn take(cake: &mut Cake<Name>, now: Instant, n: usize) -> Vec<u32> {
    core::iter::from_fn(|| cake.dequeue(now, &mut Ignore))
        .take(n)
        .map(|packet| packet.payload.0)
        .collect()
}

/// Every packet and when it leaves, in microseconds, on a link without a limit of its own.
fn leave(cake: &mut Cake<Name>, mut now: Instant) -> Vec<(u64, Name)> {
    let mut left = Vec::new();
    while !cake.backlog().is_empty() {
        match cake.dequeue(now, &mut Ignore) {
            Some(packet) => left.push((now.as_nanos() / 1000, packet.payload)),
            None => now = cake.next_wake(now).expect("packets wait"),
        }
    }
    left
}

fn names() -> Log<Name, Name> {
    Log::by(|_, packet| packet.payload)
}

#[test]
fn the_homes_computers_share_the_link_wherever_they_are_known() {
    let mode = |home, set: &[(&str, &str)]| {
        let env = Env {
            home,
            ..Env::default()
        };
        let cake: Cake<Name> = Cake::new(&settings(set), &env).unwrap();
        cake.params.flowmode
    };
    assert_eq!(mode(None, &[]), FlowMode::TripleIsolate);
    assert_eq!(mode(Some(Home::Senders), &[]), FlowMode::DualSrcHost);
    assert_eq!(mode(Some(Home::Receivers), &[]), FlowMode::DualDstHost);
    let set = &[("flowmode", "flows")];
    assert_eq!(mode(Some(Home::Receivers), set), FlowMode::Flows);
}

#[test]
fn two_flows_take_turns_and_a_new_one_goes_first() {
    let mut cake = cake(&[]);
    put(&mut cake, us(0), 1, 4, 1000);
    put(&mut cake, us(0), 2, 4, 1000);
    // Both are new, with a quantum of 1514 B. Flow 1 sends two (1514 − 2000 = −486) and becomes a
    // bulk flow with 1514 − 486 = 1028 B; then flow 2 does the same.
    assert_eq!(take(&mut cake, us(0), 3), [1, 1, 2]);
    // A new flow waits for the flows that were new before it, and for no others.
    put(&mut cake, us(0), 3, 1, 1000);
    // 1028 B are two packets again (1028 − 2000 = −972), and so on.
    assert_eq!(take(&mut cake, us(0), 9), [2, 3, 1, 1, 2, 2]);
}

/// A share for each of five backlogged flows: 0 to 3 go to one computer, 4 to another.
fn shares(mode: &str) -> [usize; 5] {
    let mut cake = cake(&[("flowmode", mode)]);
    for flow in 0..5 {
        for number in 0..1000 {
            let mut packet = packet(500, (flow, number));
            packet.hosts.destination = flow / 4;
            cake.enqueue(us(0), packet, &mut Ignore);
        }
    }
    let sent = take(&mut cake, us(0), 1000);
    [0, 1, 2, 3, 4].map(|flow| sent.iter().filter(|&&sent| sent == flow).count())
}

#[test]
fn a_computer_with_four_flows_gets_as_much_as_one_with_one() {
    // Each of the four gets a quarter of the quantum: 125 of 1000 packets, the other one 500. In
    // the first round there is no bulk flow yet, and all get the same.
    for mode in ["triple-isolate", "dual-dsthost"] {
        let shares = shares(mode);
        assert!(
            shares[..4].iter().all(|n| (122..=130).contains(n)),
            "{shares:?}"
        );
        assert!((485..=505).contains(&shares[4]), "{shares:?}");
    }
    // Their sources are all different, so that only flows remain.
    for mode in ["flows", "dual-srchost"] {
        let shares = shares(mode);
        assert!(
            shares.iter().all(|n| (196..=204).contains(n)),
            "{mode}: {shares:?}"
        );
    }
    // A queue for each computer: the four share one, and take turns in order of arrival.
    let shares = shares("dsthost");
    assert!((496..=504).contains(&shares[4]), "{shares:?}");
    // One queue: the first flow came first.
    assert_eq!(self::shares("flowblind"), [1000, 0, 0, 0, 0]);
}

#[test]
fn the_shaper_keeps_its_distance() {
    let mut shaped = cake(&[("bandwidth", "1mbit")]);
    put(&mut shaped, us(0), 1, 3, 1500);
    // 1500 B are 12 ms at 1 Mbit/s.
    let times: Vec<u64> = leave(&mut shaped, us(0))
        .iter()
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(times, [0, 12_000, 24_000]);
    // The last one is on its way until 36 ms.
    put(&mut shaped, us(30_000), 1, 1, 1500);
    assert_eq!(shaped.dequeue(us(30_000), &mut Ignore), None);
    assert_eq!(shaped.next_wake(us(30_000)), Some(us(36_000)));
    assert_eq!(leave(&mut shaped, us(35_999)), [(36_000, (1, 1))]);
    // Unused credit of an idle time is not sent as a burst.
    put(&mut shaped, us(1_000_000), 1, 2, 1500);
    let left = leave(&mut shaped, us(1_000_000));
    assert_eq!(left, [(1_000_000, (1, 1)), (1_012_000, (1, 2))]);
}

#[test]
fn the_shaper_counts_what_the_link_behind_adds() {
    // 1500 + 40 B are 33 cells of 53 B, 1749 B: 13.992 ms at 1 Mbit/s.
    let mut dsl = cake(&[("bandwidth", "1mbit"), ("overhead", "40"), ("atm", "atm")]);
    put(&mut dsl, us(0), 1, 2, 1500);
    assert_eq!(leave(&mut dsl, us(0)), [(0, (1, 1)), (13_992, (1, 2))]);
}

#[test]
fn tins_go_by_their_thresholds_when_shaped() {
    let mut cake = cake(&[("bandwidth", "10mbit")]);
    for (flow, dscp) in [(1, 0), (2, 8), (3, 46)] {
        for number in 1..=2 {
            let mut packet = packet(1000, (flow, number));
            packet.dscp = dscp;
            cake.enqueue(us(0), packet, &mut Ignore);
        }
    }
    // 1000 B are 0.8 ms. Thresholds are 10 Mbit/s for best effort (1), a sixteenth for background
    // (2) and a quarter for low latency (3): a packet there takes 0.8, 12.8 and 3.2 ms. Priority
    // rises from 1 to 3, as long as a tin is not ahead of its threshold.
    //
    //    0   ms: 3 sends, ahead until 3.2 ms;
    //    0.8 ms: 2 sends, ahead until 12.8 ms;
    //    1.6 ms: 1 sends, due since 0, and again at 2.4 ms;
    //    3.2 ms: 3 is due again;
    //    4   ms: only 2 is left: no tin waits for a threshold while the link is idle.
    assert_eq!(
        leave(&mut cake, us(0)),
        [
            (0, (3, 1)),
            (800, (2, 1)),
            (1600, (1, 1)),
            (2400, (1, 2)),
            (3200, (3, 2)),
            (4000, (2, 2)),
        ]
    );
}

#[test]
fn tins_go_by_their_quanta_when_not_shaped() {
    let mut cake = cake(&[]);
    for (flow, dscp) in [(1, 0), (2, 8), (3, 46)] {
        for number in 0..1000 {
            let mut packet = packet(1000, (flow, number));
            packet.dscp = dscp;
            cake.enqueue(us(0), packet, &mut Ignore);
        }
    }
    let sent = take(&mut cake, us(0), 1050);
    let share = |flow| sent.iter().filter(|&&sent| sent == flow).count();
    // 1024, 64 and 256 of 1344: of 1050 packets 800, 50 and 200.
    for (flow, expected) in [(1, 800), (2, 50), (3, 200)] {
        assert!(
            share(flow).abs_diff(expected) <= 2,
            "{flow}: {}",
            share(flow)
        );
    }
}

#[test]
fn a_full_buffer_takes_from_the_longest_queue() {
    let mut cake = cake(&[("memlimit", "6000B")]);
    put(&mut cake, us(0), 1, 4, 1500);
    let mut seen = names();
    cake.enqueue(us(0), packet(500, (2, 1)), &mut seen);
    // 6500 B: flow 1 gives its oldest packet.
    assert_eq!(seen.dropped, [((1, 1), DropReason::Overlimit)]);
    let left: Vec<Name> = leave(&mut cake, us(0)).iter().map(|left| left.1).collect();
    assert_eq!(left, [(1, 2), (1, 3), (2, 1), (1, 4)]);
}

#[test]
fn a_buffer_that_the_link_has_is_the_memory_limit() {
    let env = Env {
        limit: Some(Limit::Packets(20)),
        ..Env::default()
    };
    let cake = Cake::<()>::new(&[], &env).unwrap();
    assert!(cake.params().contains(&("memlimit", "30kB".to_owned())));
    let set = Cake::<()>::new(&settings(&[("memlimit", "auto")]), &env).unwrap();
    assert_eq!(set.limit, 15_503_360, "what a user says comes first");
}

#[test]
fn drops_count_behind_the_bottleneck_only() {
    let second = |ingress| {
        let mut cake = cake(&[
            ("bandwidth", "1mbit"),
            ("memlimit", "3000B"),
            ("ingress", ingress),
        ]);
        // The third packet causes a drop of the first one.
        put(&mut cake, us(0), 1, 3, 1500);
        let left = leave(&mut cake, us(0));
        assert_eq!(left[0], (0, (1, 2)));
        left[1]
    };
    assert_eq!(second("no"), (12_000, (1, 3)));
    // The dropped one takes 12 ms, too, and the one that left is due at 24 ms. But no packet waits
    // for longer than 1.5 times the sending time of those sent: 18 ms.
    assert_eq!(second("yes"), (18_000, (1, 3)));
}

#[test]
fn late_packets_are_marked_or_dropped() {
    // A packet comes each millisecond and one leaves, 20 behind: they are 20 ms late. As in
    // `cobalt`: the second of them gets a signal at 21 ms, counted from 20 ms, and the next is due
    // 100 ms / √2 after that, at 90.7 ms.
    let run = |ecn| {
        let (mut cake, mut seen) = (cake(&[]), names());
        for ms in 0..100 {
            let mut packet = packet(1000, (1, ms));
            packet.ecn = ecn;
            cake.enqueue(us(u64::from(ms) * 1000), packet, &mut seen);
            if ms >= 20 {
                cake.dequeue(us(u64::from(ms) * 1000), &mut seen);
            }
        }
        seen
    };
    let marked = run(Ecn::Ect0);
    assert_eq!(marked.marked, [(1, 1), (1, 71)]);
    assert_eq!(marked.dropped, []);
    let dropped = run(Ecn::NotCapable);
    assert_eq!(dropped.marked, []);
    // One more has left by the second time.
    let reason = DropReason::Congestion;
    assert_eq!(dropped.dropped, [((1, 1), reason), ((1, 72), reason)]);
}

#[test]
fn the_last_packet_is_not_dropped() {
    let (mut cake, mut seen) = (cake(&[]), names());
    for ms in [0, 100, 200, 300] {
        let mut packet = packet(1000, (1, ms));
        packet.ecn = Ecn::NotCapable;
        cake.enqueue(us(u64::from(ms) * 1000), packet, &mut seen);
        let sent = cake.dequeue(us(u64::from(ms) * 1000 + 50_000), &mut seen);
        assert_eq!(sent.map(|packet| packet.payload), Some((1, ms)));
    }
    assert_eq!(seen.dropped, []);
}

#[test]
fn a_guest_does_not_overtake_itself() {
    // Nine flows hash to the same place, in a set of eight; the ninth joins the first.
    let mut cake = cake(&[]);
    let arrive = |cake: &mut Cake<Name>, now, flow, number| {
        let mut packet = packet(1000, (flow, number));
        packet.hash = 1024 * flow + 77;
        cake.enqueue(now, packet, &mut Ignore);
    };
    (1..=8).for_each(|flow| arrive(&mut cake, us(0), flow, 0));
    (1..=50).for_each(|number| arrive(&mut cake, us(0), 9, number));
    assert_eq!(cake.tins[0].flow(77).queue.backlog().packets, 51);
    // After 200 ms all others have forgotten everything: one of them is found idle with each packet
    // that leaves, and their places are free.
    take(&mut cake, us(0), 10);
    take(&mut cake, us(200_000), 20);
    let free = (72..80).filter(|&place| cake.tins[0].is_idle(place));
    assert!(free.count() >= 1, "or nothing is tested");
    arrive(&mut cake, us(200_000), 9, 51);
    let left = leave(&mut cake, us(200_000));
    let guest: Vec<u32> = (left.iter())
        .filter(|(_, name)| name.0 == 9)
        .map(|(_, name)| name.1)
        .collect();
    assert!(guest.is_sorted() && guest.last() == Some(&51), "{guest:?}");
}

#[test]
fn flows_stay_in_order_whoever_shares_their_queue() {
    // Twelve flows in a set of eight, with bursts of ten packets on average: queues fill up, flows
    // join others, places come free, again and again.
    let mut cake = cake(&[]);
    let mut chance = Stream::new(1, "collisions");
    let (mut next, mut last, mut guests) = ([0; 12], [None; 12], 0);
    for step in 0..100_000u64 {
        let now = us(step * 2000);
        if chance.below(20) == 0 {
            let flow = chance.below(12) as u32;
            for _ in 0..chance.below(20) {
                next[flow as usize] += 1;
                let mut packet = packet(1000, (flow, next[flow as usize]));
                packet.hash = 1024 * flow + 72 + flow % 8;
                cake.enqueue(now, packet, &mut Ignore);
            }
            guests += u32::from((72..80).all(|place| !cake.tins[0].is_idle(place)));
        }
        if let Some(packet) = cake.dequeue(now, &mut Ignore) {
            let (flow, number) = packet.payload;
            assert!(last[flow as usize] < Some(number), "step {step}");
            last[flow as usize] = Some(number);
        }
    }
    assert!(guests > 100, "the set was full {guests} times");
}

#[test]
fn other_queues_get_what_waits_in_its_order() {
    let mut cake = cake(&[]);
    for (ms, flow) in [(0, 1), (1, 2), (2, 1), (3, 2)] {
        cake.enqueue(us(ms * 1000), packet(1000, (flow, ms as u32)), &mut Ignore);
    }
    let change = settings(&[("flowmode", "flowblind")]);
    cake.change(us(4000), &change, &mut Ignore).unwrap();
    assert_eq!(cake.backlog().packets, 4);
    assert_eq!(take(&mut cake, us(4000), 4), [1, 2, 1, 2]);
}
