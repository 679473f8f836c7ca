//! Ten minutes of seventy new flows a second, as the thesis' actors make: beside a list that forgets
//! nobody, and beside the theory.

use super::*;
use crate::Ignore;
use crate::testing::settings;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::random::Stream;

const PACKET: u64 = 1000;
/// Seventy flows of twenty packets each on average use 0.7 of the link.
const SLOT: u64 = 500_000;
const FLOWS: u32 = 42_000;

/// When each flow comes, in ns, and of how many packets it is: Pareto of shape 1.2 from 5 to 2000.
fn flows(chance: &mut Stream) -> Vec<(u64, u32)> {
    let mut at = 0.0;
    let mut flow = || {
        at -= libm::log(1.0 - chance.unit()) / 70.0 * 1e9;
        let size = 5.0 * libm::pow(1.0 - chance.unit(), -1.0 / 1.2);
        (at as u64, size.min(2000.0) as u32)
    };
    (0..FLOWS).map(|_| flow()).collect()
}

/// What serves packets of flows.
trait FlowServer {
    fn put(&mut self, now: u64, flow: u32);
    fn take(&mut self, now: u64) -> Option<u32>;
}

impl FlowServer for Las<()> {
    fn put(&mut self, now: u64, flow: u32) {
        let packet = Packet {
            len: PACKET as u32,
            flow: crate::FlowId(flow),
            // A bijection, so that no two flows have one hash.
            hash: flow.wrapping_mul(0x9E37_79B1),
            ..Packet::default()
        };
        self.enqueue(Instant::from_nanos(now), packet, &mut Ignore);
    }

    fn take(&mut self, now: u64) -> Option<u32> {
        let packet = self.dequeue(Instant::from_nanos(now), &mut Ignore)?;
        Some(packet.flow.0)
    }
}

/// Packets served and waiting of all flows that ever were, and those that wait by packets served.
#[derive(Default)]
struct Exact {
    flows: BTreeMap<u32, (u64, u32)>,
    waiting: BTreeSet<(u64, u64, u32)>,
    turns: u64,
}

impl Exact {
    fn queue_up(&mut self, flow: u32) {
        self.turns += 1;
        self.waiting.insert((self.flows[&flow].0, self.turns, flow));
    }
}

impl FlowServer for Exact {
    fn put(&mut self, _now: u64, flow: u32) {
        let known = self.flows.entry(flow).or_default();
        known.1 += 1;
        if known.1 == 1 {
            self.queue_up(flow);
        }
    }

    fn take(&mut self, _now: u64) -> Option<u32> {
        let (.., flow) = self.waiting.pop_first()?;
        let known = self.flows.get_mut(&flow).unwrap();
        known.0 += 1;
        known.1 -= 1;
        if known.1 > 0 {
            self.queue_up(flow);
        }
        Some(flow)
    }
}

/// The time that each flow takes, in ns, if `window` packets of it are on their way at most: one that
/// left is followed by the next after `back` ns. `window` and all packets are the same for `None`.
fn times(
    server: &mut dyn FlowServer,
    flows: &[(u64, u32)],
    window: Option<(u32, u64)>,
) -> Vec<u64> {
    let mut left: Vec<u32> = flows.iter().map(|flow| flow.1).collect();
    let mut sent = vec![0; flows.len()];
    let mut done = vec![0; flows.len()];
    let mut next: VecDeque<(u64, u32)> = VecDeque::new();
    let (mut now, mut coming) = (0, 0);
    let mut open = flows.len();
    while open > 0 {
        while coming < flows.len() && flows[coming].0 <= now {
            let size = flows[coming].1;
            sent[coming] = window.map_or(size, |(window, _)| window.min(size));
            for _ in 0..sent[coming] {
                server.put(now, coming as u32);
            }
            coming += 1;
        }
        while let Some((_, flow)) = next.pop_front_if(|next| next.0 <= now) {
            server.put(now, flow);
        }
        if let Some(flow) = server.take(now) {
            now += SLOT;
            let at = flow as usize;
            left[at] -= 1;
            if left[at] == 0 {
                done[at] = now - flows[at].0;
                open -= 1;
            }
            if let Some((_, back)) = window
                && sent[at] < flows[at].1
            {
                sent[at] += 1;
                next.push_back((now + back, flow));
            }
            continue;
        }
        let arrival = flows.get(coming).map(|flow| flow.0);
        let following = next.front().map(|next| next.0);
        now = arrival.into_iter().chain(following).min().unwrap();
    }
    done
}

/// `las` as it is, but without drops.
fn las() -> Las<()> {
    let set = [
        ("limit", "1000000"),
        ("target", "10s"),
        ("interval", "100s"),
        ("quantum", "1000B"),
    ];
    Las::new(&settings(&set), &Env::default()).unwrap()
}

fn mean(values: impl Iterator<Item = u64> + Clone) -> f64 {
    values.clone().sum::<u64>() as f64 / values.count() as f64
}

/// A window of four and 20 ms back: flows fall silent again and again while they last, and 8,400 others
/// begin before one may be forgotten. Small flows and all of them take as long as by the list.
#[test]
fn nobody_is_served_as_another() {
    let flows = flows(&mut Stream::new(1, "flows"));
    let window = Some((4, 20_000_000));
    let served = times(&mut las(), &flows, window);
    let exact = times(&mut Exact::default(), &flows, window);
    for most in [10, 100, u32::MAX] {
        let of = |times: &[u64]| {
            let some = times.iter().zip(&flows).filter(|(_, flow)| flow.1 <= most);
            mean(some.map(|(&time, _)| time))
        };
        let off = of(&served) / of(&exact) - 1.0;
        assert!(off.abs() < 0.05, "up to {most} packets: {off}");
    }
}

/// With all packets of a flow at once, a flow of x takes what the theory has (Rai et al., section 2;
/// L. Kleinrock, Queueing Systems 2, 4.6): with sizes cut at x, load r and second moment m of a flow's
/// time on the link, m·λ/2/(1−r)² + x/(1−r). Processor sharing would take x/(1−ρ).
///
/// Transfers that come at once meet in busy periods, so that one run of ten minutes can be a fifth off for
/// large ones: the times of thirty runs are added.
#[test]
fn flows_take_what_the_theory_has() {
    let classes = [(5, 10), (11, 100), (101, 1000), (5, 2000)];
    let mut sums = [(0.0, 0.0); 4];
    let (mut all, mut sharing) = (0.0, 0.0);
    for seed in 1..=30 {
        let flows = flows(&mut Stream::new(seed, "flows"));
        let served = times(&mut las(), &flows, None);
        let theory = Theory::of(&flows);
        for (flow, &time) in flows.iter().zip(&served) {
            let expected = theory.times[&flow.1];
            for (sum, (least, most)) in sums.iter_mut().zip(classes) {
                if (least..=most).contains(&flow.1) {
                    *sum = (sum.0 + time as f64, sum.1 + expected);
                }
            }
        }
        all += mean(served.iter().copied());
        sharing += theory.sharing;
    }
    for ((simulated, theory), (least, most)) in sums.into_iter().zip(classes) {
        let off = simulated / theory - 1.0;
        println!("{least} to {most} packets: {off}");
        assert!(off.abs() < 0.05, "{least} to {most} packets: {off}");
    }
    assert!(all < 0.8 * sharing);
}

/// What the theory has for the flows of a run.
struct Theory {
    /// By size: the mean time under least attained service.
    times: BTreeMap<u32, f64>,
    /// The mean under processor sharing, which does not depend on the sizes' distribution.
    sharing: f64,
}

impl Theory {
    fn of(flows: &[(u64, u32)]) -> Self {
        let rate = f64::from(FLOWS) / flows.last().unwrap().0 as f64;
        // Mean and second moment of the time on the link of flows that are cut at x.
        let moments = |x: u32| {
            let cut = flows
                .iter()
                .map(|flow| f64::from(flow.1.min(x)) * SLOT as f64);
            let sums = cut.fold((0.0, 0.0), |sums, time| {
                (sums.0 + time, sums.1 + time * time)
            });
            (sums.0 / f64::from(FLOWS), sums.1 / f64::from(FLOWS))
        };
        let time = |x: u32| {
            let (mean, second) = moments(x);
            let free = 1.0 - rate * mean;
            rate * second / 2.0 / (free * free) + f64::from(x) * SLOT as f64 / free
        };
        let sizes: BTreeSet<u32> = flows.iter().map(|flow| flow.1).collect();
        let (mean, _) = moments(u32::MAX);
        Theory {
            times: sizes.into_iter().map(|x| (x, time(x))).collect(),
            sharing: mean / (1.0 - rate * mean),
        }
    }
}
