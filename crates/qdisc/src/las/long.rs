//! Ten minutes of seventy new flows a second, as the thesis' actors make: beside a list that forgets
//! nobody, and beside the theory.

use super::*;
use crate::Ignore;
use crate::testing::settings;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const PACKET: u64 = 1000;
/// Seventy flows of twenty packets each on average use 0.7 of the link.
const SLOT: u64 = 500_000;
const FLOWS: u32 = 42_000;

/// Numbers from a generator of Knuth's (MMIX), in (0, 1].
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// When each flow comes, in ns, and of how many packets it is: Pareto of shape 1.2 from 5 to 2000.
fn flows(random: &mut Random) -> Vec<(u64, u32)> {
    let mut at = 0.0;
    let mut flow = || {
        at -= libm::log(random.next()) / 70.0 * 1e9;
        let size = 5.0 * libm::pow(random.next(), -1.0 / 1.2);
        (at as u64, size.min(2000.0) as u32)
    };
    (0..FLOWS).map(|_| flow()).collect()
}

/// What serves packets of flows.
trait Server {
    fn put(&mut self, now: u64, flow: u32);
    fn take(&mut self, now: u64) -> Option<u32>;
}

impl Server for Las<()> {
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

impl Server for Exact {
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
fn times(server: &mut dyn Server, flows: &[(u64, u32)], window: Option<(u32, u64)>) -> Vec<u64> {
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
    let flows = flows(&mut Random(1));
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
#[test]
fn flows_take_what_the_theory_has() {
    let flows = flows(&mut Random(2));
    let served = times(&mut las(), &flows, None);
    let rate = f64::from(FLOWS) / flows.last().unwrap().0 as f64;
    let mut sizes: Vec<u32> = flows.iter().map(|flow| flow.1).collect();
    sizes.sort_unstable();
    let slot = SLOT as f64;
    let times_of = |x: u32| {
        let cut = sizes.iter().map(|&size| f64::from(size.min(x)) * slot);
        let (one, two) = cut.fold((0.0, 0.0), |(one, two), time| {
            (one + time, two + time * time)
        });
        let (one, two) = (one / f64::from(FLOWS), two / f64::from(FLOWS));
        let free = 1.0 - rate * one;
        rate * two / 2.0 / (free * free) + f64::from(x) * slot / free
    };
    let by_theory: BTreeMap<u32, f64> = sizes.iter().map(|&x| (x, 0.0)).collect();
    let by_theory: BTreeMap<u32, f64> = by_theory.into_keys().map(|x| (x, times_of(x))).collect();
    for (least, most) in [(5, 10), (11, 100), (101, 1000), (5, 2000)] {
        let some = flows.iter().zip(&served);
        let some: Vec<_> = some
            .filter(|(flow, _)| (least..=most).contains(&flow.1))
            .collect();
        let simulated = some.iter().map(|(_, time)| **time as f64).sum::<f64>();
        let theory = some.iter().map(|(flow, _)| by_theory[&flow.1]).sum::<f64>();
        let off = simulated / theory - 1.0;
        assert!(off.abs() < 0.05, "{least} to {most} packets: {off}");
    }
    // The mean of processor sharing, which does not depend on the sizes' distribution.
    let load = rate
        * sizes
            .iter()
            .map(|&size| f64::from(size) * slot)
            .sum::<f64>()
        / f64::from(FLOWS);
    let sharing = load / rate / (1.0 - load);
    assert!(mean(served.iter().copied()) < 0.8 * sharing);
}
