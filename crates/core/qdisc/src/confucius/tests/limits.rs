//! Limits, marks, and parameters that change while packets wait.

use super::*;

#[test]
fn overflow_falls_on_the_longest_class() {
    let mut bench = Bench::new(&[("limit", "100")]);
    let call = bench.add(Source::Every(20));
    let bulk = bench.add(Source::Window(95));
    bench.run_until(1000);
    assert_eq!((bench.class(call), bench.class(bulk)), (1, 3));
    bench.log.drops.clear();
    while bench.qdisc.backlog().packets < 100 {
        bench.send(bulk);
    }
    // The download's own packet is refused; for the call's it gives up its oldest.
    let oldest = bench.qdisc.store.front_by_search(3).unwrap().arrived;
    bench.send(bulk);
    bench.send(call);
    let expected = [
        (FlowId(bulk), DropReason::Tail),
        (FlowId(bulk), DropReason::Overlimit),
    ];
    assert_eq!(bench.log.drops, expected);
    assert_eq!(bench.qdisc.backlog().packets, 100);
    assert!(bench.qdisc.store.front_by_search(3).unwrap().arrived > oldest);
}

#[test]
fn memory_is_limited_too() {
    let mut bench = Bench::new(&[("memory_limit", "4kB")]);
    // Two packets of 1500 bytes fit into 4000.
    bench.send(0);
    bench.send(1);
    bench.send(2);
    assert_eq!(bench.log.drops, [(FlowId(2), DropReason::Tail)]);
    assert_eq!(bench.qdisc.backlog().bytes, 3000);
}

#[test]
fn a_smaller_limit_holds_for_packets_without_length_too() {
    let mut bench = Bench::new(&[]);
    for flow in [3, 3, 4, 4, 4] {
        let empty = Packet {
            len: 0,
            ..packet(flow, 0)
        };
        bench.qdisc.enqueue(at(0), empty, &mut bench.log);
    }
    // Classified, so that Q_new, which stands first, is empty.
    bench.qdisc.reweigh(at(500), &mut bench.log);
    let settings = [("limit".to_owned(), "2".to_owned())];
    bench
        .qdisc
        .change(at(500), &settings, &mut bench.log)
        .unwrap();
    assert_eq!(bench.qdisc.backlog().packets, 2);
}

#[test]
fn parameters_change_while_packets_wait() {
    let mut bench = Bench::new(&[]);
    let call = bench.add(Source::Every(20));
    let bulk = bench.add(Source::Window(100));
    bench.run_until(1000);
    assert_eq!(bench.qdisc.classes(), ["new", "1", "2", "3"]);
    let mut change = |name: &str, value: &str| {
        let settings = [(name.to_owned(), value.to_owned())];
        bench.qdisc.change(at(1000), &settings, &mut bench.log)
    };
    let refused = change("flows", "2048").unwrap_err();
    assert!(refused.message.contains("cannot be changed"), "{refused}");
    assert!(change("flows", "1024").is_ok());
    change("targets", "10/50").unwrap();
    change("limit", "30").unwrap();
    bench.qdisc.check();
    assert_eq!(bench.qdisc.classes(), ["new", "1", "2"]);
    assert_eq!((bench.class(call), bench.class(bulk)), (1, 2));
    assert_eq!(bench.qdisc.backlog().packets, 30);
    assert!(!bench.log.drops.is_empty());
    let by_change = |drop: &(FlowId, DropReason)| *drop == (FlowId(bulk), DropReason::Change);
    assert!(bench.log.drops.iter().all(by_change));
}

#[test]
fn what_waited_longer_than_the_target_is_marked() {
    // The one class aims at 20 % of 100 ms, and new flows with it. Number n leaves at n ms.
    let marks = |settings: &[(&str, &str)]| {
        let mut bench = Bench::new(&[&[("targets", "20")], settings].concat());
        for number in 0..40 {
            let ecn = [Ecn::Ect0, Ecn::Ect1, Ecn::NotCapable, Ecn::Ce][number as usize % 4];
            let arriving = Packet {
                ecn,
                ..packet(0, number)
            };
            bench.qdisc.enqueue(at(0), arriving, &mut bench.log);
        }
        for ms in 0..40 {
            bench.qdisc.dequeue(at(ms), &mut bench.log).unwrap();
        }
        bench.log.marks
    };
    let capable = |after: u64| (after + 1..40).filter(|number| number % 4 != 2);
    assert_eq!(marks(&[("ecn", "yes")]), capable(20).collect::<Vec<_>>());
    let scale = [("ecn", "yes"), ("scale", "150ms")];
    assert_eq!(marks(&scale), capable(30).collect::<Vec<_>>());
    assert_eq!(marks(&[]), []);
}
