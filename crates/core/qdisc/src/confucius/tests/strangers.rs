//! A call among strangers: the effect on it of a spray of packets, each of its own flow, or of a
//! flood of few flows.

use super::*;

/// A link of so many Mbit/s, and the senders next to a call of 1 Mbit/s.
struct Street {
    rate: u64,
    /// Old flows, and so many packets of 1500 bytes from each every 0.9 s.
    others: (u32, u32),
    /// New flows, of 24 Mbit/s together.
    flood: u32,
    /// Whether a spray of 24 Mbit/s arrives, each packet of a flow not seen before.
    spray: bool,
}

/// Of the call's packets, in percent; and in ms.
#[derive(Debug)]
struct Call {
    lost: f64,
    worst: f64,
}

impl Street {
    /// The result for the call over 20 s; it is five seconds old when flood and spray begin.
    fn call(&self) -> Call {
        let mut bench = Bench::new(&[]);
        let (mut sent, mut worst, mut fresh, mut free) = (0_u32, Duration::ZERO, 1000, 0);
        for us in (0..25_000_000_u64).step_by(100) {
            let now = Instant::from_nanos(us * 1000);
            let attacked = us >= 5_000_000;
            let mut come = |flow, len| {
                let arriving = Packet {
                    len,
                    ..packet(flow, 0)
                };
                bench.qdisc.enqueue(now, arriving, &mut bench.log);
            };
            if us.is_multiple_of(10_000) {
                come(0, 1250);
                sent += u32::from(attacked);
            }
            let (others, burst) = self.others;
            for flow in (1..=others).filter(|flow| us % 900_000 == u64::from(flow * 18_000 - 100)) {
                (0..burst).for_each(|_| come(flow, 1500));
            }
            if attacked && us.is_multiple_of(500) {
                if self.flood > 0 {
                    come(500 + (us / 500) as u32 % self.flood, 1500);
                }
                if self.spray {
                    come(fresh, 1500);
                    fresh += 1;
                }
            }
            while free <= us {
                let Some(packet) = bench.qdisc.dequeue(now, &mut bench.log) else {
                    break;
                };
                free = free.max(us) + u64::from(packet.len) * 8 / self.rate;
                if packet.flow == FlowId(0) {
                    worst = worst.max(now.since(packet.arrived));
                }
            }
        }
        let lost = bench.log.drops.iter().filter(|drop| drop.0 == FlowId(0));
        Call {
            lost: 100.0 * lost.count() as f64 / f64::from(sent),
            worst: worst.as_secs_f64() * 1000.0,
        }
    }
}

/// The table of `kernel/README.md`, with the most that each may come to: `--nocapture` prints it.
#[test]
fn a_call_among_strangers() {
    let street = |rate, others, flood, spray| Street {
        rate,
        others,
        flood,
        spray,
    };
    let rows = [
        ("spray", street(20, (0, 0), 0, true), 0.0, 2.0),
        ("spray", street(10, (0, 0), 0, true), 0.0, 10.0),
        ("spray", street(5, (0, 0), 0, true), 8.0, 700.0),
        (
            "spray, 50 old flows of a packet each",
            street(20, (50, 1), 0, true),
            0.0,
            40.0,
        ),
        ("flood of 10 flows", street(20, (0, 0), 10, false), 0.0, 2.0),
        (
            "the same, 50 old flows of 10 packets each",
            street(20, (50, 10), 10, false),
            45.0,
            700.0,
        ),
        (
            "flood of 50 flows",
            street(20, (0, 0), 50, false),
            17.0,
            700.0,
        ),
    ];
    for (name, street, lost, worst) in rows {
        let call = street.call();
        println!(
            "| {name} | {} | {:.1} % | {:.0} ms |",
            street.rate, call.lost, call.worst
        );
        assert!(call.lost <= lost && call.worst <= worst, "{name}: {call:?}");
    }
}
