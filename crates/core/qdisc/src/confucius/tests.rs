//! The discipline as a whole: shares and classes.

mod limits;
mod strangers;

use super::*;
use crate::{Ecn, FlowId, Label};
use units::Duration;

/// A packet of `flow` with a number of its own as payload.
pub(super) fn packet(flow: u32, number: u64) -> Packet<u64> {
    Packet {
        len: 1500,
        flow: FlowId(flow),
        // Distinct sets for the first hundred flows.
        hash: flow.wrapping_mul(0x9E37_79B9),
        ecn: Ecn::NotCapable,
        label: Label::None,
        arrived: Instant::ZERO,
        payload: number,
        ..Packet::default()
    }
}

pub(super) fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Recorded events.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) drops: Vec<(FlowId, DropReason)>,
    moves: Vec<(Instant, u32, Option<u8>, u8)>,
    marks: Vec<u64>,
}

impl Observer<u64> for Log {
    fn dropped(&mut self, _now: Instant, packet: Packet<u64>, reason: DropReason) {
        self.drops.push((packet.flow, reason));
    }
    fn marked(&mut self, _now: Instant, packet: &Packet<u64>) {
        assert_eq!(packet.ecn, Ecn::Ce);
        self.marks.push(packet.payload);
    }
    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let from = from.map(|class| class.0);
        self.moves.push((now, flow.0, from, to.0));
    }
}

/// How a flow of the bench sends.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// Keeps so many packets in the queue.
    Window(u32),
    /// One packet every so many milliseconds.
    Every(u64),
}

/// A link that sends one packet of 1500 bytes per millisecond (12 Mbit/s), and its sources.
pub(super) struct Bench {
    pub(super) qdisc: Confucius<u64>,
    pub(super) log: Log,
    pub(super) ms: u64,
    sources: Vec<Source>,
    sent: Vec<u64>,
    worst: Vec<Duration>,
}

impl Bench {
    pub(super) fn new(settings: &[(&str, &str)]) -> Self {
        let settings: Vec<_> = settings
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Bench {
            qdisc: Confucius::new(&settings, &Env::default()).unwrap(),
            log: Log::default(),
            ms: 0,
            sources: Vec::new(),
            sent: Vec::new(),
            worst: Vec::new(),
        }
    }

    fn add(&mut self, source: Source) -> u32 {
        self.sources.push(source);
        self.sent.push(0);
        self.worst.push(Duration::ZERO);
        (self.sources.len() - 1) as u32
    }

    fn send(&mut self, flow: u32) {
        let arriving = packet(flow, 0);
        self.qdisc.enqueue(at(self.ms), arriving, &mut self.log);
    }

    pub(super) fn index(&self, flow: u32) -> Option<usize> {
        self.qdisc.table.lookup(packet(flow, 0).hash)
    }

    fn class(&self, flow: u32) -> usize {
        self.qdisc.store.class_of(self.index(flow).unwrap())
    }

    pub(super) fn put(&mut self, flow: u32, class: usize) {
        let index = self.index(flow).unwrap();
        self.qdisc.force(at(self.ms), index, class, &mut self.log);
    }

    /// Runs until `ms`, and returns what each flow sent on the way.
    fn run_until(&mut self, ms: u64) -> Vec<u64> {
        let before = self.sent.clone();
        while self.ms < ms {
            for flow in 0..self.sources.len() as u32 {
                match self.sources[flow as usize] {
                    Source::Window(window) => {
                        while self.waiting(flow) < window {
                            let dropped = self.log.drops.len();
                            self.send(flow);
                            if self.log.drops.len() > dropped {
                                break;
                            }
                        }
                    }
                    Source::Every(period) if self.ms.is_multiple_of(period) => self.send(flow),
                    Source::Every(_) => {}
                }
            }
            if let Some(packet) = self.qdisc.dequeue(at(self.ms), &mut self.log) {
                let flow = packet.flow.0 as usize;
                self.sent[flow] += 1;
                self.worst[flow] = self.worst[flow].max(at(self.ms).since(packet.arrived));
            }
            self.qdisc.check();
            self.ms += 1;
        }
        let pairs = self.sent.iter().zip(before);
        pairs.map(|(after, before)| after - before).collect()
    }

    fn waiting(&self, flow: u32) -> u32 {
        self.index(flow)
            .map_or(0, |index| self.qdisc.store.flow_backlog(index).packets)
    }

    /// The classes of `flow`, in order.
    fn route(&self, flow: u32) -> Vec<u8> {
        let of_flow = self.log.moves.iter().filter(|entry| entry.1 == flow);
        of_flow.map(|&(_, _, _, to)| to).collect()
    }
}

impl<P> Confucius<P> {
    /// Moves a flow regardless of its behaviour; it never returns to Q_new.
    fn force(&mut self, now: Instant, flow: usize, to: usize, observer: &mut dyn Observer<P>) {
        if self.store.class_of(flow) != to && to != NEW {
            self.reclassify(now, flow, to, observer);
        }
    }

    /// Recounts all state.
    pub(super) fn check(&self) {
        let mut members = [0; MAX_CLASSES];
        let mut sums = [(0, 0); MAX_CLASSES];
        for flow in self.table.active() {
            let class = self.store.class_of(flow);
            members[class] += 1;
            let window = &self.windows[flow];
            if window.counted() {
                sums[class].0 += window.mean().unwrap();
                sums[class].1 += 1;
            }
        }
        assert_eq!(members, self.members);
        assert_eq!(self.new_flows.len(), members[NEW]);
        let backlogs = self.store.recount();
        for class in 0..MAX_CLASSES {
            assert_eq!(self.occupancy[class].total(), sums[class]);
            let (backlog, waiting) = backlogs[class];
            assert_eq!(backlog, self.store.class_backlog(class));
            assert_eq!(waiting, self.store.class_waiting(class));
            assert_eq!(self.store.backlogged().contains(class), waiting > 0);
            assert!(self.weights[class] > 0 || backlog.is_empty() || self.stale);
        }
        let total: u32 = backlogs.iter().map(|(backlog, _)| backlog.packets).sum();
        assert_eq!(total, self.store.backlog().packets);
    }
}

#[test]
fn a_page_of_twelve_flows_beside_a_call() {
    // The call keeps 2 of 100 packets in the buffer, each flow of the page 7.
    let buffer = [("occupancy", "buffer"), ("limit", "100"), ("alpha", "1")];
    let mut bench = Bench::new(&[&buffer[..], &[("targets", "2/7/90")]].concat());
    let call = bench.add(Source::Window(2)) as usize;
    bench.run_until(1000);
    assert_eq!(bench.route(0), [0, 1]);
    for _ in 0..12 {
        bench.add(Source::Window(7));
    }
    // 250 packets in each doubling: the call has 1/2, 1/3, 1/5, 1/9 of them, and then 1/13.
    for (until, share) in [(1250, 125), (1500, 83), (1750, 50), (2000, 28), (2250, 19)] {
        let sent = bench.run_until(until)[call];
        assert!(sent.abs_diff(share) <= 2, "until {until}: {sent}");
    }
    // Soon afterwards all flows have the same; 1300 packets are 100 each. Flows of the page share
    // one class, where they may be a window apart.
    bench.run_until(2500);
    let sent = bench.run_until(3800);
    assert_eq!(sent[call], 100);
    assert!(sent.iter().all(|&sent| sent.abs_diff(100) <= 7), "{sent:?}");
    assert_eq!(bench.log.drops, []);
}

#[test]
fn with_a_head_start_the_old_flow_gives_way_in_smaller_steps() {
    let buffer = [("occupancy", "buffer"), ("limit", "100"), ("alpha", "1")];
    let extra = [("targets", "2/7/90"), ("head_start", "2")];
    let mut bench = Bench::new(&[&buffer[..], &extra].concat());
    let call = bench.add(Source::Window(2)) as usize;
    bench.run_until(1000);
    for _ in 0..12 {
        bench.add(Source::Window(7));
    }
    // Of 250 packets 4/5, 2/3, and then as without: 1/2, 1/3, 1/5, 1/9, 1/13.
    let shares = [200, 167, 125, 83, 50, 28, 19];
    for (doubling, share) in shares.into_iter().enumerate() {
        let sent = bench.run_until(1250 + 250 * doubling as u64)[call];
        assert!(sent.abs_diff(share) <= 2, "{doubling}: {sent}");
    }
}

#[test]
fn a_lone_new_flow_stays_new_for_one_doubling() {
    let mut bench = Bench::new(&[]);
    bench.add(Source::Every(10));
    bench.run_until(1000);
    bench.add(Source::Every(10));
    bench.run_until(2000);
    // Each appears, and is classified at its first packet or departure 250 ms later.
    let expected = [
        (at(0), 0, None, 0),
        (at(250), 0, Some(0), 1),
        (at(1000), 1, None, 0),
        (at(1250), 1, Some(0), 1),
    ];
    assert_eq!(bench.log.moves, expected);
}

#[test]
fn calls_and_downloads_are_told_apart_by_delay() {
    let mut bench = Bench::new(&[]);
    let call = bench.add(Source::Every(20));
    let bulk = bench.add(Source::Window(200));
    bench.run_until(2000);
    assert_eq!((bench.class(call), bench.class(bulk)), (1, 3));
    assert_eq!(bench.route(bulk), [0, 3]);
    // The call waits for one packet of the other class at most.
    bench.worst[call as usize] = Duration::ZERO;
    bench.run_until(3000);
    assert!(bench.worst[call as usize] <= Duration::from_millis(1));
}

#[test]
fn a_page_of_short_backlogs_is_told_from_a_call_by_what_it_adds_up_to() {
    let mut bench = Bench::new(&[]);
    let call = bench.add(Source::Every(20));
    bench.run_until(1000);
    let page: Vec<_> = (0..12).map(|_| bench.add(Source::Window(7))).collect();
    // No flow has more than 7 ms, but 12 · 7 = 84 ms together are above the middle of 50 and 90.
    bench.run_until(5000);
    assert_eq!(bench.route(call), [0, 1]);
    for flow in page {
        assert_eq!(bench.route(flow), [0, 3]);
    }
    assert!(bench.worst[call as usize] <= Duration::from_millis(2));
}

#[test]
fn an_aggressive_flow_is_promoted_from_among_others() {
    let mut bench = Bench::new(&[]);
    let call = bench.add(Source::Every(10));
    let bulk = bench.add(Source::Every(10));
    bench.run_until(1000);
    assert_eq!((bench.class(call), bench.class(bulk)), (1, 1));
    bench.sources[bulk as usize] = Source::Window(150);
    // Its share of class 1 is near 1, so equation (2) promotes it. Alone in class 2 it occupies
    // up to 150 ms, above 70 + 10 % of 100 ms, so the class is moved. The call stays.
    bench.run_until(1600);
    assert_eq!(bench.route(bulk), [0, 1, 2, 3]);
    assert_eq!(bench.route(call), [0, 1]);
    // One class per interval.
    let times: Vec<_> = bench.log.moves.iter().filter(|m| m.1 == bulk).collect();
    let last_two = &times[times.len() - 2..];
    assert!(last_two[1].0.since(last_two[0].0) >= Duration::from_millis(100));
}

#[test]
fn a_class_of_downloads_moves_up_and_a_class_of_calls_down() {
    let mut bench = Bench::new(&[]);
    let pair = [bench.add(Source::Window(60)), bench.add(Source::Window(60))];
    bench.run_until(300);
    for flow in pair {
        bench.put(flow, 1);
    }
    // Alike among themselves, 120 ms for each: the queue-level rule takes both up to class 3.
    bench.run_until(1500);
    assert_eq!(pair.map(|flow| bench.class(flow)), [3, 3]);
    // 4 packets of each make 8 ms, below 70 − 10 and 30 − 10 %: both go down to class 1.
    for flow in pair {
        bench.sources[flow as usize] = Source::Window(4);
    }
    bench.run_until(3000);
    assert_eq!(pair.map(|flow| bench.class(flow)), [1, 1]);
}

#[test]
fn a_lesser_flow_is_demoted() {
    let mut bench = Bench::new(&[]);
    let thin = bench.add(Source::Every(10));
    let bulk = bench.add(Source::Window(200));
    bench.run_until(1000);
    bench.put(thin, 3);
    // Behind 200 packets it is measured only 200 ms later; then equation (3) takes it to class 2,
    // where it is alone and as short as class 1 is.
    bench.run_until(1500);
    assert_eq!(bench.route(thin), [0, 1, 3, 2, 1]);
    assert_eq!(bench.class(bulk), 3);
}

#[test]
fn unequal_flows_of_one_kind_stay_together() {
    // Two downloads with 120 and 60 packets, two calls with 8 and 1: shares of 2/3 and 8/9.
    for (windows, class) in [([120, 60], 3), ([8, 1], 1)] {
        for occupancy in ["delay", "buffer"] {
            let mut bench = Bench::new(&[("limit", "200"), ("occupancy", occupancy)]);
            let pair = windows.map(|window| bench.add(Source::Window(window)));
            bench.run_until(500);
            for flow in pair {
                bench.put(flow, class);
            }
            let settled = bench.log.moves.len();
            bench.run_until(5000);
            let moves = &bench.log.moves[settled..];
            // In a buffer of 200 packets, 60 are 30 %: that flow belongs to class 2.
            let expected = usize::from(occupancy == "buffer" && class == 3);
            assert_eq!(moves.len(), expected, "{occupancy} {moves:?}");
        }
    }
}

#[test]
fn idle_flows_leave_all_counts_and_begin_anew() {
    let mut bench = Bench::new(&[]);
    for ms in [0, 300] {
        bench.ms = ms;
        bench.send(7);
        assert!(bench.qdisc.dequeue(at(ms), &mut bench.log).is_some());
    }
    bench.ms = 1299;
    bench.send(8);
    bench.qdisc.check();
    // Flow 7 was classified at its second packet, and is active for another millisecond.
    assert_eq!(bench.qdisc.members[..3], [1, 1, 0]);
    bench.ms = 5000;
    bench.send(7);
    bench.qdisc.check();
    // Flow 8 waits, so it is not idle; 250 ms old it is classified too. Flow 7 is new again.
    assert_eq!(bench.qdisc.members[..3], [1, 1, 0]);
    assert_eq!(bench.waiting(8), 1);
    let moves: Vec<_> = bench.log.moves.iter().filter(|m| m.1 == 7).collect();
    let expected = [
        &(at(0), 7, None, 0),
        &(at(300), 7, Some(0), 1),
        &(at(5000), 7, None, 0),
    ];
    assert_eq!(moves, expected);
}

#[test]
fn look_ups_do_not_count_as_old_flows() {
    let mut bench = Bench::new(&[]);
    bench.add(Source::Every(10));
    bench.run_until(1000);
    bench.sent.resize(40, 0);
    bench.worst.resize(40, Duration::ZERO);
    for flow in 20..40 {
        bench.send(flow);
        bench.run_until(bench.ms + 10);
    }
    assert_eq!(bench.qdisc.members[..2], [20, 1]);
    // 500 ms after the last of them only the call is left, so that a page begins at a half.
    bench.run_until(1700);
    assert_eq!((bench.qdisc.members[NEW], bench.qdisc.existing()), (0, 1));
    assert!((20..40).all(|flow| bench.route(flow) == [0]));
}

#[test]
fn many_flows_of_one_packet_do_not_starve_a_call() {
    let mut bench = Bench::new(&[]);
    let call = bench.add(Source::Every(10));
    bench.run_until(1000);
    // 300 new flows in 300 ms, more than 128 for one existing flow.
    bench.sent.resize(400, 0);
    bench.worst.resize(400, Duration::ZERO);
    for flow in 100..400 {
        bench.send(flow);
        bench.run_until(bench.ms + 1);
    }
    assert!(bench.worst[call as usize] <= Duration::from_millis(2));
    bench.run_until(4000);
    assert_eq!(bench.qdisc.members, [0, 1, 0, 0, 0, 0, 0, 0]);
}
