//! The discipline against the paper's description of it, under random traffic.

use super::tests::{Bench, at, packet};
use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    Send(u32),
    Take,
    Move(u32, usize),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..20_u32).prop_map(Op::Send),
        6 => Just(Op::Take),
        2 => (0..20_u32, 1..4_usize).prop_map(|(flow, class)| Op::Move(flow, class)),
        1 => (0..150_u64).prop_map(Op::Wait),
    ]
}

proptest! {
    /// The paper's description of the mechanism is the model: search all flows of the served class
    /// for the packet that arrived first.
    #[test]
    fn what_leaves_is_what_a_search_finds(
        ops in proptest::collection::vec(op(), 0..600),
        occupancy in prop_oneof![Just("buffer"), Just("delay")],
    ) {
        let settings = [
            ("limit", "40"), ("flows", "16"), ("occupancy", occupancy),
            ("idle", "300ms"), ("doubling", "20ms"), ("interval", "10ms"),
        ];
        let mut bench = Bench::new(&settings);
        let mut numbers = 0..;
        let mut taken = [0; 20];
        let (mut came, mut left) = (0, 0);
        for op in ops {
            let now = at(bench.ms);
            match op {
                Op::Wait(ms) => bench.ms += ms,
                Op::Send(flow) => {
                    came += 1;
                    let arriving = packet(flow, numbers.next().unwrap_or(0) + 1);
                    bench.qdisc.enqueue(now, arriving, &mut bench.log);
                }
                Op::Move(flow, class) => if bench.index(flow).is_some() {
                    bench.put(flow, class);
                },
                Op::Take => {
                    // Timed events happen first, so that the classes stand still afterwards.
                    for _ in 0..100 {
                        bench.qdisc.expire(now);
                        bench.qdisc.reweigh(now, &mut bench.log);
                    }
                    let firsts: [_; MAX_CLASSES] = core::array::from_fn(|class| {
                        Some(bench.qdisc.store.front_by_search(class)?.payload)
                    });
                    match bench.qdisc.dequeue(now, &mut bench.log) {
                        Some(packet) => {
                            left += 1;
                            prop_assert!(firsts.contains(&Some(packet.payload)));
                            let last = &mut taken[packet.flow.0 as usize];
                            prop_assert!(packet.payload > *last, "a flow was reordered");
                            *last = packet.payload;
                        }
                        None => prop_assert_eq!(firsts, [None; MAX_CLASSES]),
                    }
                }
            }
            bench.qdisc.check();
            let waiting = bench.qdisc.backlog().packets as usize;
            prop_assert_eq!(came, left + bench.log.drops.len() + waiting);
        }
    }
}
