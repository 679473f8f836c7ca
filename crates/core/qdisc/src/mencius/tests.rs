//! Worked traces: on a link that sends a full packet a millisecond (12 Mbit/s).

use super::*;
use crate::testing::{letters, ms, settings};
use crate::{Ecn, FlowId, Hosts, Ignore};
use units::Duration;
use units::random::Stream;

/// A packet of a flow of a host.
fn packet(flow: u32, host: u32, len: u32) -> Packet<u32> {
    Packet {
        len,
        flow: FlowId(flow),
        hash: flow.wrapping_mul(0x9E37_79B9),
        hosts: Hosts::new(1000 + flow, host),
        ..Packet::default()
    }
}

fn mencius(set: &[(&str, &str)]) -> Mencius<u32> {
    let mut set = set.to_vec();
    set.push(("hosts", "destination"));
    Mencius::new(&settings(&set), &Env::default()).unwrap()
}

/// A link, and its departures: when, which flow, and after what wait.
struct Link {
    queue: Mencius<u32>,
    now: u64,
    sent: Vec<(u64, u32, Duration)>,
}

impl Link {
    fn new(set: &[(&str, &str)]) -> Self {
        Link {
            queue: mencius(set),
            now: 0,
            sent: Vec::new(),
        }
    }

    fn put(&mut self, flow: u32, host: u32, packets: u32) {
        for _ in 0..packets {
            let packet = packet(flow, host, 1500);
            self.queue.enqueue(ms(self.now), packet, &mut Ignore);
        }
    }

    /// A packet leaves, if any waits, and a millisecond passes.
    fn step(&mut self) {
        if let Some(packet) = self.queue.dequeue(ms(self.now), &mut Ignore) {
            let wait = ms(self.now).since(packet.arrived);
            self.sent.push((self.now, packet.flow.0, wait));
        }
        self.now += 1;
    }

    /// Packets of `flow` that left from `from` to `to`.
    fn count(&self, flow: u32, from: u64, to: u64) -> usize {
        let sent = self.sent.iter();
        sent.filter(|sent| sent.1 == flow && (from..to).contains(&sent.0))
            .count()
    }

    /// The longest that a packet of `flow` waited which left from `from` to `to`, ms.
    fn longest(&self, flow: u32, from: u64, to: u64) -> u64 {
        let sent = self.sent.iter();
        let of_flow = sent.filter(|sent| sent.1 == flow && (from..to).contains(&sent.0));
        of_flow
            .map(|sent| sent.2.as_nanos() / 1_000_000)
            .max()
            .unwrap_or(0)
    }
}

const CALL: u32 = 100;

/// A call sends `of_ten` packets in ten milliseconds, alone for two seconds.
fn settled(set: &[(&str, &str)], of_ten: u64) -> Link {
    let mut link = Link::new(set);
    while link.now < 2000 {
        call(&mut link, of_ten);
        link.step();
    }
    link
}

fn call(link: &mut Link, of_ten: u64) {
    if (link.now * of_ten) % 10 < of_ten {
        link.put(CALL, 1, 1);
    }
}

/// Backlogged transfers begin at `host`, and the call goes on until `end`.
fn burst(link: &mut Link, of_ten: u64, host: u32, end: u64) {
    for flow in 0..12 {
        link.put(flow, host, 30);
    }
    while link.now < end {
        call(link, of_ten);
        link.step();
        if let Some(&(at, flow, _)) = link.sent.last()
            && at + 1 == link.now
            && flow != CALL
        {
            link.put(flow, host, 1);
        }
    }
}

#[test]
fn hosts_share_and_within_them_flows() {
    let mut link = Link::new(&[("quantum", "1500")]);
    for flow in 0..9 {
        link.put(flow, 1, 100);
    }
    link.put(9, 2, 200);
    for _ in 0..90 {
        link.step();
    }
    assert_eq!(link.count(9, 0, 90), 45);
    for flow in 0..9 {
        assert_eq!(link.count(flow, 0, 90), 5);
    }
}

/// An office of 320 computers with three flows each, all with packets waiting: each computer gets the
/// same, with places as they are by default (Jain's index).
#[test]
fn three_hundred_computers_share_alike() {
    let mut link = Link::new(&[("limit", "100000"), ("interval", "100s")]);
    for host in 0..320 {
        for flow in 0..3 {
            link.put(3 * host + flow, host.wrapping_mul(0x85EB_CA6B), 12);
        }
    }
    (0..6400).for_each(|_| link.step());
    let mut shares = [0.0; 320];
    for &(_, flow, _) in &link.sent {
        shares[flow as usize / 3] += 1.0;
    }
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let index = sum * sum / (320.0 * squares);
    assert!(index > 0.98, "{index}");
}

/// Two flows of a packet each come every millisecond. After their credit of 64 kB, 43 packets, they
/// get every other turn.
#[test]
fn a_spray_of_new_flows_takes_no_more_than_half() {
    let mut link = Link::new(&[
        ("limit", "100000"),
        ("flows", "65536"),
        ("interval", "100s"),
    ]);
    link.put(0, 1, 1000);
    for at in 0..1500 {
        link.put(1000 + 2 * at, 1, 1);
        link.put(1001 + 2 * at, 1, 1);
        link.step();
    }
    let old = link.count(0, 100, 1500);
    assert!((690..=710).contains(&old), "{old} of 1400");
}

/// A call of 40 % of the link keeps its rate next to twelve transfers on its own computer, and
/// waits for 20 ms and the packet that is being sent; a flow that was not there before has a
/// thirteenth, and waits for its own queue.
#[test]
fn an_established_flow_is_not_made_to_wait_and_a_stranger_is() {
    let mut link = settled(&[], 4);
    burst(&mut link, 4, 1, 8000);
    assert!(link.longest(CALL, 2000, 8000) <= 22);
    let sent = link.count(CALL, 2100, 8000);
    assert!((2350..=2370).contains(&sent), "{sent} of 2360");

    let mut link = Link::new(&[]);
    link.now = 2000;
    burst(&mut link, 4, 1, 8000);
    assert!(link.longest(CALL, 3000, 8000) > 100);
}

/// A call of 90 % of the link next to another computer: its wait goes up to 80 ms and back, and
/// others get a sixteenth at first.
#[test]
fn more_than_the_part_is_given_up_gradually() {
    let mut link = settled(&[], 9);
    burst(&mut link, 9, 2, 4000);
    let longest = link.longest(CALL, 2000, 4000);
    assert!((75..=82).contains(&longest), "{longest}");
    let sent = link.count(CALL, 2500, 3500);
    assert!((860..=940).contains(&sent), "{sent} of 1000");
}

/// A constant flood that behaved before: when others' share has grown it waits above the maximum, and
/// after three seconds of that it is a stranger, with a thirteenth of the link.
#[test]
fn who_never_gives_way_loses_it() {
    let mut link = settled(&[("limit", "100000")], 9);
    burst(&mut link, 9, 1, 32_000);
    let sent = |from| link.count(CALL, from, from + 1000);
    assert!(sent(2500) > 850, "{}", sent(2500));
    assert!(sent(31_000) < 90, "{}", sent(31_000));
}

/// A call of 90 % of the link is held against another computer's transfers; a look-up of a third
/// goes at once, although a transfer begins there with it.
#[test]
fn a_look_up_waits_for_nobody() {
    let mut link = settled(&[], 9);
    burst(&mut link, 9, 2, 3000);
    for at in [3000, 3100] {
        while link.now < at {
            call(&mut link, 9);
            link.step();
        }
        let look_up = packet(200, 3, 100);
        link.queue.enqueue(ms(link.now), look_up, &mut Ignore);
        let others = (0..3).map(|_| packet(201, 3, 1500));
        for packet in others {
            link.queue.enqueue(ms(link.now), packet, &mut Ignore);
        }
        link.step();
        assert_eq!(link.sent.last().map(|sent| sent.1), Some(200));
    }
}

/// Of 161 packets one has to be dropped: host 2 has most, although each of its flows has little.
#[test]
fn the_fullest_host_gives_way() {
    let (mut queue, mut log) = (mencius(&[("limit", "160")]), letters());
    let mut put = |flow, host, packets| {
        for _ in 0..packets {
            queue.enqueue(ms(0), packet(flow, host, 1500), &mut log);
        }
    };
    put(0, 1, 60);
    for flow in 1..=10 {
        put(flow, 2, 10);
    }
    put(11, 3, 1);
    assert_eq!(log.who(), "B");
    assert_eq!(log.dropped[0].1, DropReason::Overlimit);
    assert_eq!(queue.backlog().packets, 160);
}

#[test]
fn the_number_of_flows_stays_and_a_smaller_limit_is_met() {
    let (mut queue, mut log) = (mencius(&[]), letters());
    for _ in 0..10 {
        queue.enqueue(ms(0), packet(0, 1, 1500), &mut log);
    }
    let refused = queue.change(ms(0), &settings(&[("flows", "2048")]), &mut log);
    assert!(refused.unwrap_err().to_string().contains("4096"));
    queue
        .change(ms(0), &settings(&[("limit", "4")]), &mut log)
        .unwrap();
    assert_eq!(log.dropped, [('A', DropReason::Change); 6]);
    assert_eq!(queue.backlog().packets, 4);
}

/// Late from the beginning, then a pause of 100 s: by CoDel's law thousands of packets are due at once,
/// and none of them may hold the link up.
#[test]
fn no_packet_waits_for_more_than_a_few_drops() {
    let (mut queue, mut log) = (mencius(&[("limit", "100000"), ("ecn", "no")]), letters());
    for _ in 0..10_000 {
        queue.enqueue(ms(0), packet(0, 1, 1500), &mut log);
    }
    for at in 0..1000 {
        queue.dequeue(ms(at), &mut log).unwrap();
    }
    let before = log.dropped.len();
    assert!(before > 5, "{before}");
    let mut most = 0;
    for at in 0..100 {
        let before = log.dropped.len();
        queue.dequeue(ms(100_000 + at), &mut log).unwrap();
        most = most.max(log.dropped.len() - before);
    }
    assert_eq!(most, 32);
}

/// Two thousand flows of one computer fill the table, and all wait. A new flow of another computer has
/// no place there, but half of the link.
#[test]
fn a_full_table_costs_the_host_that_fills_it() {
    let mut link = Link::new(&[("limit", "100000"), ("interval", "100s")]);
    for flow in 0..2000 {
        link.put(flow, 1, 3);
    }
    for _ in 0..100 {
        link.step();
    }
    link.put(5000, 2, 1000);
    link.put(5001, 2, 1000);
    let from = link.now;
    for _ in 0..1000 {
        link.step();
    }
    let sent = link.count(5000, from, link.now) + link.count(5001, from, link.now);
    assert!((495..=545).contains(&sent), "{sent} of 1000");
}

/// A trickle of flows with one packet each, none of which waits for long, takes no place from new flows
/// of others, nor from a call that is there.
#[test]
fn a_trickle_of_flows_makes_nobody_a_guest() {
    let mut link = Link::new(&[("flows", "64")]);
    for at in 0..5000 {
        link.put(1000 + at, 1, u32::from(at % 5 == 0));
        call(&mut link, 1);
        link.step();
    }
    let known = |link: &Link, flow, host| {
        let table = &link.queue.flow_table;
        table.lookup(packet(flow, host, 0).hash)
    };
    let call = known(&link, CALL, 1).unwrap();
    assert!(link.queue.flows[call].settling.is_settled(ms(link.now)));
    link.put(1, 2, 1);
    assert!(known(&link, 1, 2).is_some());
}

/// What a computer does to get more than its half: settled flows by small packets now and then, a
/// flood that moves on from one to the next, and flows that begin so that a hold goes on.
#[derive(Debug)]
struct Adversary {
    alive: u64,
    keep: u64,
    moves: u64,
    births: u64,
    flood: u64,
}

impl Adversary {
    fn random(random: &mut Stream) -> Self {
        Adversary {
            alive: 1 + random.below(30),
            keep: 20 + random.below(220),
            moves: 200 + random.below(6000),
            births: 20 + random.below(2000),
            flood: 5 + random.below(8),
        }
    }

    /// The packets of a millisecond.
    fn put(&self, link: &mut Link) {
        let now = link.now;
        let mut small = |flow: u64| {
            let small = packet(flow as u32, 1, 100);
            link.queue.enqueue(ms(now), small, &mut Ignore);
        };
        for flow in 0..self.alive {
            if (now + flow * 7).is_multiple_of(self.keep) {
                small(100 + flow);
            }
        }
        if now.is_multiple_of(self.births) {
            small(1000 + now);
        }
        let flow = 100 + now / self.moves % self.alive;
        if now > 2000 && (now * self.flood) % 10 < self.flood {
            link.put(flow as u32, 1, 1 + u32::from(self.flood > 10));
        }
    }
}

/// Another computer always has packets waiting, on a link that sends 1500 bytes in a millisecond. Of a
/// minute it gets half of all but two seconds and a sixteenth of the time, but for half a second for
/// what is owed and what goes first.
#[test]
fn no_adversary_gets_more_than_its_turns_and_its_favour() {
    let mut random = Stream::new(1, "adversary");
    for _ in 0..60 {
        let adversary = Adversary::random(&mut random);
        let mut link = Link::new(&[("limit", "2000")]);
        let (mut budget, mut sent) = (0_i64, 0_u64);
        while link.now < 62_000 {
            adversary.put(&mut link);
            if link.now >= 2000 {
                link.put(1, 2, 2);
            }
            budget = 1500.min(budget + 1500);
            while budget > 0
                && let Some(packet) = link.queue.dequeue(ms(link.now), &mut Ignore)
            {
                budget -= i64::from(packet.len);
                sent += u64::from(packet.flow.0 == 1) * u64::from(packet.len);
            }
            link.now += 1;
        }
        let least = (60_000 - 2000 - 3750) / 2 - 500;
        assert!(
            sent >= 1500 * least,
            "{} ms beside {adversary:?}",
            sent / 1500
        );
    }
}

/// Of 8000 ms those that a flood has which says that it is `ecn`, those of an honest flood of `host`, and the
/// longest wait of a call beside both.
fn beside_flood(ecn: Ecn, host: u32) -> [u64; 3] {
    let mut link = settled(&[], 2);
    for _ in 0..10_000 {
        call(&mut link, 2);
        for (flow, host, ecn) in [(0, 2, ecn), (1, host, Ecn::NotCapable)] {
            let packet = Packet {
                ecn,
                ..packet(flow, host, 1500)
            };
            link.queue.enqueue(ms(link.now), packet, &mut Ignore);
        }
        link.step();
    }
    let count = |flow| link.count(flow, 4000, 12_000) as u64;
    [count(0), count(1), link.longest(CALL, 4000, 12_000)]
}

/// On another computer than the honest one, and on the same.
#[test]
fn who_claims_l4s_and_ignores_marks_gains_nothing() {
    for host in [2, 3] {
        let [plain, beside_plain, waits_beside_plain] = beside_flood(Ecn::NotCapable, host);
        let [liar, beside_liar, waits_beside_liar] = beside_flood(Ecn::Ect1, host);
        assert!(liar <= plain + plain / 50, "{liar} {plain}");
        assert!(beside_liar + beside_plain / 50 >= beside_plain);
        assert!(waits_beside_liar <= waits_beside_plain + 1);
    }
}

/// A call is held for a second, and then it is alone with a queue of 60 ms. The link may have become
/// slower, so it has three seconds; then the AQM drops from it, and it is no longer settled.
#[test]
fn nobody_is_excused_when_the_others_have_gone() {
    let mut link = settled(&[], 4);
    burst(&mut link, 4, 1, 3000);
    while link.now < 6000 {
        call(&mut link, 4);
        link.step();
    }
    assert_eq!(link.count(0, 5000, 6000), 0, "the others have gone");
    link.put(CALL, 1, 60);
    while link.now < 11_000 {
        call(&mut link, 10);
        link.step();
    }
    assert!(link.longest(CALL, 8000, 9000) >= 59);
    assert!(link.longest(CALL, 10_500, 11_000) < 40);
    let queue = &link.queue;
    let flow = queue.flow_table.lookup(packet(CALL, 1, 0).hash).unwrap();
    assert!(!queue.flows[flow].settling.is_settled(ms(link.now)));
}
