use super::*;
use crate::testing::{Log, numbers, packet, settings, us};

fn dualpi2(set: &[(&str, &str)]) -> DualPi2<u32> {
    DualPi2::new(&settings(set), &Env::default()).unwrap()
}

/// 40 packets of 1500 B in each queue, and the flows of the next 30.
fn order(protection: &str) -> String {
    let (mut queue, mut log) = (dualpi2(&[("classic_protection", protection)]), numbers());
    for number in 0..40 {
        queue.enqueue(us(0), packet(number, 1500, Ecn::NotCapable), &mut log);
        queue.enqueue(us(0), packet(number, 1500, Ecn::Ect1), &mut log);
    }
    let sent = (0..30).map(|_| queue.dequeue(us(0), &mut log).unwrap().ecn);
    sent.map(|ecn| if ecn == Ecn::Ect1 { 'L' } else { 'c' })
        .collect()
}

/// With 10 %, the credit starts at 1514 (10 - 90) = -121 120. Each low-latency packet adds 1500 * 10, so
/// that the ninth makes it 13 880; a classic one takes 1500 * 90, to -121 120 again: 9 to 1.
///
/// With 40 %, from 1514 (40 - 60) = -30 280: 60 000 more is 29 720, then -90 000 is -60 280, -280, 59 720,
/// -30 280: after one, it is two, one, two, one.
#[test]
fn the_classic_queue_has_its_share() {
    assert_eq!(order("10"), "LLLLLLLLLc".repeat(3));
    assert_eq!(order("40"), "LcLLcLcLLcLcLLcLcLLcLcLLcLcLLc");
    assert_eq!(order("0"), "L".repeat(30));
    assert_eq!(order("100"), "c".repeat(30));
}

/// A flow that is alone gets the whole link, and owes nothing for it: after 20 packets of the one,
/// the other, and then both, the order is as from the start.
#[test]
fn a_queue_that_is_alone_uses_no_credit() {
    let (mut queue, mut log) = (dualpi2(&[]), numbers());
    for ecn in [Ecn::Ect1, Ecn::NotCapable] {
        (0..20).for_each(|number| queue.enqueue(us(0), packet(number, 1500, ecn), &mut log));
        let sent = (0..20).filter_map(|_| queue.dequeue(us(0), &mut log));
        assert_eq!(sent.count(), 20);
        assert_eq!(queue.credit, -121_120);
    }
}

/// Four packets arrive at 0 and leave after 1 ms, which is not above the step, and later, which is:
/// the one that arrived marked stays so, and is not marked again. The classic one waits without a
/// mark.
#[test]
fn a_low_latency_packet_is_marked_above_the_step() {
    let (mut queue, mut log) = (dualpi2(&[]), numbers());
    for (number, ecn) in [Ecn::Ect1, Ecn::Ect1, Ecn::Ce, Ecn::Ect0]
        .into_iter()
        .enumerate()
    {
        queue.enqueue(us(0), packet(number as u32, 100, ecn), &mut log);
    }
    let out = [1000, 1001, 1002, 5000].map(|at| queue.dequeue(us(at), &mut log).unwrap().ecn);
    assert_eq!(out, [Ecn::Ect1, Ecn::Ce, Ecn::Ce, Ecn::Ect0]);
    assert_eq!(log.marked, [1]);
}

/// Five packets; with a step of 2 packets, those that leave 4 and 3 behind are marked. The first two
/// found less than 2 in the queue, and are spared if that is asked for.
#[test]
fn the_step_may_be_packets_and_may_need_a_queue() {
    for (min, marked) in [("0", vec![0, 1]), ("1", vec![1]), ("2", vec![])] {
        let set = [("step_thresh", "2p"), ("min_qlen_step", min)];
        let (mut queue, mut log) = (dualpi2(&set), numbers());
        for number in 0..5 {
            queue.enqueue(us(0), packet(number, 100, Ecn::Ect1), &mut log);
        }
        while queue.dequeue(us(0), &mut log).is_some() {}
        assert_eq!(log.marked, marked);
    }
}

/// Senders that do not listen, at 12 packets for 10 that leave, one each millisecond, for a minute.
fn overload(set: &[(&str, &str)], ecn: Ecn) -> (DualPi2<u32>, Log<u32>) {
    let (mut queue, mut log) = (dualpi2(set), numbers());
    for ms in 0..60_000 {
        for _ in 0..if ms % 5 == 0 { 2 } else { 1 } {
            queue.enqueue(us(ms * 1000), packet(ms as u32, 1500, ecn), &mut log);
        }
        queue.dequeue(us(ms * 1000 + 500), &mut log);
    }
    (queue, log)
}

/// A sixth has to be dropped, in either queue, early or late: for the low-latency one, that is
/// overload. The delay comes to its target, 15 packets.
#[test]
fn the_probability_finds_what_has_to_go() {
    for early in ["no", "yes"] {
        for ecn in [Ecn::NotCapable, Ecn::Ect1] {
            let (queue, log) = overload(&[("drop_early", early)], ecn);
            let late = log.dropped.iter().filter(|drop| drop.0 >= 50_000);
            assert!(late.clone().all(|drop| drop.1 == DropReason::Congestion));
            let late = late.count();
            assert!((1850..2150).contains(&late), "{late} of 12000, for 2000");
            let waiting = queue.backlog().packets;
            assert!((5..40).contains(&waiting), "{waiting}");
        }
    }
}

/// Capable senders in the classic queue are marked by the square of at most a half; 20 % too much
/// is more than that can signal, and drops occur. Without drops, both queues overflow.
#[test]
fn overload_drops_or_overflows() {
    let (_, log) = overload(&[], Ecn::Ect0);
    assert!(
        log.dropped
            .iter()
            .all(|drop| drop.1 == DropReason::Congestion)
    );
    assert!(!log.marked.is_empty() && !log.dropped.is_empty());
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let set = [("drop_on_overload", "no"), ("limit", "1000")];
        let (queue, log) = overload(&set, ecn);
        assert!(log.dropped.iter().all(|drop| drop.1 == DropReason::Tail));
        assert!(queue.backlog().packets >= 999);
    }
}

/// A delay of a second, far above the target, of one packet at a time with 1514 or 3028 B behind it.
#[test]
fn less_than_two_packets_are_left_alone() {
    for (waiting, dropped) in [(2, false), (3, true)] {
        let (mut queue, mut log) = (dualpi2(&[]), numbers());
        for second in 0..20 {
            let arrivals = if second == 0 { waiting } else { 1 };
            for number in 0..arrivals {
                let full = packet(number, 1514, Ecn::NotCapable);
                queue.enqueue(us(second * 1_000_000), full, &mut log);
            }
            queue.dequeue(us((second + 1) * 1_000_000), &mut log);
        }
        assert_eq!(!log.dropped.is_empty(), dropped, "{waiting}");
    }
}

#[test]
fn who_goes_where() {
    for (set, low) in [
        (&[][..], "1C"),
        (&[("any_ect", "yes")], "01C"),
        (&[("labels", "yes")], "1Cr"),
    ] {
        let queue = dualpi2(set);
        let found: String = [
            ('-', Ecn::NotCapable, Label::Bulk),
            ('0', Ecn::Ect0, Label::None),
            ('1', Ecn::Ect1, Label::Bulk),
            ('C', Ecn::Ce, Label::None),
            ('r', Ecn::NotCapable, Label::RealTime),
        ]
        .into_iter()
        .filter(|&(_, ecn, label)| {
            let packet = Packet {
                label,
                ..packet(0, 100, ecn)
            };
            queue.params.which(&packet) == Which::LowLatency
        })
        .map(|(letter, ..)| letter)
        .collect();
        assert_eq!(found, low);
    }
}

/// Let in by a label, and not able to be marked: above the step it is dropped, and the next one comes.
#[test]
fn a_label_does_not_make_a_packet_understand_marks() {
    let (mut queue, mut log) = (dualpi2(&[("labels", "yes")]), numbers());
    for number in 0..2 {
        let labelled = Packet {
            label: Label::RealTime,
            ..packet(number, 100, Ecn::NotCapable)
        };
        queue.enqueue(us(u64::from(number) * 500), labelled, &mut log);
    }
    assert_eq!(queue.dequeue(us(1200), &mut log).unwrap().payload, 1);
    assert_eq!(log.dropped, [(0, DropReason::Congestion)]);
}

/// A full packet is 2076 bytes of memory; auto is 3028 for each of the limit.
#[test]
fn limits_are_packets_and_memory() {
    for (set, fit) in [
        (&[("limit", "3")][..], 3),
        (&[("memlimit", "6500B")], 3),
        (&[("limit", "3"), ("memlimit", "5kB")], 2),
    ] {
        let (mut queue, mut log) = (dualpi2(set), numbers());
        for number in 0..4 {
            let ecn = if number % 2 == 0 {
                Ecn::Ect1
            } else {
                Ecn::Ect0
            };
            queue.enqueue(us(0), packet(number, 1500, ecn), &mut log);
        }
        let refused: Vec<_> = (fit..4).map(|number| (number, DropReason::Tail)).collect();
        assert_eq!(log.dropped, refused);
        log.dropped.clear();
        let one = settings(&[("limit", "1"), ("memlimit", "auto")]);
        queue.change(us(0), &one, &mut log).unwrap();
        assert_eq!(
            log.dropped[0],
            (1, DropReason::Change),
            "classic ones first"
        );
        assert_eq!(queue.backlog().packets, 1);
    }
}

#[test]
fn what_is_low_latency_cannot_change_while_packets_wait() {
    let (mut queue, mut log) = (dualpi2(&[]), numbers());
    let change = settings(&[("any_ect", "yes")]);
    queue.enqueue(us(0), packet(0, 100, Ecn::Ect0), &mut log);
    let refused = queue.change(us(0), &change, &mut log);
    assert!(refused.unwrap_err().message.contains("cannot change"));
    queue.dequeue(us(0), &mut log);
    queue.change(us(0), &change, &mut log).unwrap();
}
