//! Guarantees of every discipline, checked with random traffic on every entry of the registry.
//!
//! A [`Witness`] runs in parallel with the discipline and knows which packets ought to be inside.
//! After each step it compares.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use qdisc::{
    Backlog, Choice, Class, Discipline, DropReason, Ecn, Env, FlowId, Hosts, Ignore, Label, Limit,
    Observer, Order, Packet, Qdisc, Registry,
};
use units::param::{Settings, Spec};
use units::{Bytes, Duration, Instant, Refusal};

/// A packet's payload is its number.
type Numbered = Packet<usize>;
type Boxed = Box<dyn Qdisc<usize>>;

/// An event of a discipline.
#[derive(Debug, Clone)]
enum Step {
    /// Packets of a flow arrive at once.
    Arrive {
        flow: u32,
        packets: u32,
        len: u32,
        ecn: Ecn,
        label: Label,
        dscp: u8,
    },
    /// One packet of each of so many flows arrives.
    Flock { flows: u32, len: u32 },
    /// The link asks for packets, so long apart.
    Send { packets: u32, every: u64 },
    /// A pause of so many nanoseconds.
    Idle(u64),
    /// A parameter changes: which one, and to which of its values.
    Change { param: usize, value: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![
        Just(0),
        1..100u32,
        Just(1500),
        1..2000u32,
        Just(65_536),
        Just(500_000)
    ];
    let ecn = prop_oneof![
        Just(Ecn::NotCapable),
        Just(Ecn::Ect0),
        Just(Ecn::Ect1),
        Just(Ecn::Ce)
    ];
    let label = prop_oneof![Just(Label::None), Just(Label::RealTime), Just(Label::Bulk)];
    let dscp = prop_oneof![3 => Just(0u8), 1 => Just(8), 1 => Just(46), 1 => 0..64u8];
    let burst = prop_oneof![Just(1u32), 1..8u32, 20..120u32];
    let every = prop_oneof![Just(0u64), 1_000..2_000_000u64, 10_000_000..400_000_000u64];
    let idle = prop_oneof![
        0..1_000_000_000u64,
        Just(3_600_000_000_000),
        Just(1 << 42),
        Just(1 << 56)
    ];
    prop_oneof![
        6 => (0..12u32, burst, len.clone(), ecn, label, dscp).prop_map(
            |(flow, packets, len, ecn, label, dscp)| {
                Step::Arrive { flow, packets, len, ecn, label, dscp }
            }
        ),
        1 => (1..300u32, len).prop_map(|(flows, len)| Step::Flock { flows, len }),
        6 => (1..100u32, every).prop_map(|(packets, every)| Step::Send { packets, every }),
        1 => idle.prop_map(Step::Idle),
        1 => (0..64usize, 0..6usize).prop_map(|(param, value)| Step::Change { param, value }),
    ]
}

/// The kind of call to the discipline, since not everything may happen at any time.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    Enqueue,
    Dequeue,
    Change,
}

/// A packet as it was handed in.
#[derive(Debug, Clone)]
struct Known {
    packet: Numbered,
    inside: bool,
    marked: bool,
}

/// Tracks every packet; receives drops and marks as they happen.
struct Witness {
    known: Vec<Known>,
    inside: Backlog,
    call: Call,
    now: Instant,
    order: Order,
    /// For each label, ECN field or code point, if order is promised only among those, and each
    /// flow: the number of the packet that left last.
    left: [Vec<Option<usize>>; 64],
    dropped: u32,
    classes: usize,
}

const FLOWS: usize = 300;

impl Witness {
    fn new(discipline: &Boxed) -> Self {
        Witness {
            known: Vec::new(),
            inside: Backlog::default(),
            call: Call::Enqueue,
            now: Instant::default(),
            order: discipline.order(),
            left: [(); 64].map(|()| vec![None; FLOWS]),
            dropped: 0,
            classes: discipline.classes().len(),
        }
    }

    /// A new packet. Flows 0 to 3 have hashes next to each other; 4 and 5 have the same one and the
    /// same hosts; 200 to 219 agree in all bits that a table's index is made of. There are seven
    /// hosts on one side and three on the other.
    fn packet(&mut self, flow: u32, len: u32, ecn: Ecn, label: Label, dscp: u8) -> Numbered {
        let hash = match flow {
            0..=3 => flow,
            4 | 5 => u32::MAX,
            200..220 => flow << 16,
            _ => flow.wrapping_mul(0x9e37_79b1),
        };
        let host = if flow == 5 { 4 } else { flow };
        let packet = Packet {
            len,
            flow: FlowId(flow),
            hash,
            hosts: Hosts::new((host % 7).wrapping_mul(0x9e37_79b1), host % 3),
            dscp,
            band: 0,
            ecn,
            label,
            arrived: self.now,
            payload: self.known.len(),
        };
        self.known.push(Known {
            packet: packet.clone(),
            inside: true,
            marked: false,
        });
        self.inside.add(len);
        packet
    }

    /// The packet comes out, by way of the link or dropped: once, and unchanged.
    fn comes_out(&mut self, packet: &Numbered) {
        let known = &mut self.known[packet.payload];
        assert!(known.inside, "a packet came out twice");
        known.inside = false;
        self.inside.remove(packet.len);
        let mut expected = known.packet.clone();
        if known.marked {
            expected.ecn = Ecn::Ce;
        }
        // A packet that is refused may not have been stamped: it then is as it was handed in.
        assert_eq!(*packet, expected);
    }

    fn sent(&mut self, packet: &Numbered) {
        self.comes_out(packet);
        let stream = match self.order {
            Order::None => return,
            Order::Flow => 0,
            Order::FlowAndLabel => packet.label as usize,
            Order::FlowLabelAndEcn => {
                let ecn = self.known[packet.payload].packet.ecn;
                packet.label as usize * 4 + ecn as usize
            }
            Order::FlowAndDscp => packet.dscp.into(),
        };
        let last = &mut self.left[stream][packet.flow.0 as usize];
        assert!(*last < Some(packet.payload), "a flow was reordered");
        *last = Some(packet.payload);
    }
}

impl Observer<usize> for Witness {
    fn dropped(&mut self, now: Instant, packet: Numbered, reason: DropReason) {
        assert_eq!(now, self.now);
        assert_eq!(
            reason == DropReason::Change,
            self.call == Call::Change,
            "{reason:?} in {:?}",
            self.call
        );
        let full = matches!(reason, DropReason::Tail | DropReason::Overlimit);
        assert!(!full || self.call == Call::Enqueue, "only an arrival fills");
        if reason == DropReason::Tail {
            assert_eq!(packet.payload + 1, self.known.len(), "tail is the arrival");
        }
        self.comes_out(&packet);
        self.dropped += 1;
    }

    fn marked(&mut self, now: Instant, packet: &Numbered) {
        assert_eq!(now, self.now);
        let known = &mut self.known[packet.payload];
        assert!(
            known.inside && !known.marked,
            "marked once, before it leaves"
        );
        assert_ne!(known.packet.ecn, Ecn::NotCapable);
        assert_eq!(packet.ecn, Ecn::Ce);
        known.marked = true;
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        assert_eq!(now, self.now);
        assert!((flow.0 as usize) < FLOWS && usize::from(to.0) < self.classes);
        assert!(from.is_none_or(|from| usize::from(from.0) < self.classes && from != to));
    }
}

/// Values to set a parameter to: its default, its limits, values in between, and nonsense.
fn value(spec: &Spec, choice: usize) -> &'static str {
    let (min, max) = spec.range.unwrap_or((spec.default, spec.default));
    match (choice, spec.kind) {
        (0, _) => spec.default,
        (1, _) => min,
        (2, _) => max,
        (3, "count") => "17",
        (3, "size") => "9000B",
        (3, "duration" | "duration or off") => "3ms",
        (3, "rate" | "rate or off") => "3mbit",
        (4, "rate or off") => "100kbit",
        (3, "duration or packets") => "3p",
        (3, "size or auto") => "9000B",
        (3, "rate or unlimited") => "5mbit",
        (4, "rate or unlimited") => "100kbit",
        (3, "rate or adaptive") => "5mbit",
        (4, "rate or adaptive") => "100kbit",
        (3, "tins") => "diffserv4",
        (4, "tins") => "besteffort",
        (3, "flow mode") => "dual-srchost",
        (4, "flow mode") => "hosts",
        (3, "framing") => "atm",
        (4, "framing") => "ptm",
        (3, "variant") => "equation",
        (4, "variant") => "algorithm",
        (3, "signed count") => "17",
        (3, "weights") => "3:2",
        (3, "thresholds") => "9000B/1MB",
        (3, "yes or no") => "no",
        (4, "yes or no") => "yes",
        (4, "number") => "0.5",
        _ => "nonsense",
    }
}

fn setting(spec: &Spec, value: &str) -> [(String, String); 1] {
    [(spec.name.to_owned(), value.to_owned())]
}

/// The buffer is never fuller than its parameter `limit` says.
fn check_limit(entry: &Discipline<usize>, qdisc: &Boxed) {
    let Some(spec) = entry.params.iter().find(|spec| spec.name == "limit") else {
        return;
    };
    let (_, limit) = qdisc
        .params()
        .into_iter()
        .find(|(name, _)| *name == "limit")
        .unwrap();
    let backlog = qdisc.backlog();
    match spec.kind {
        "count" => assert!(backlog.packets <= limit.parse().unwrap()),
        "size" => assert!(backlog.bytes <= limit.parse::<Bytes>().unwrap().get()),
        kind => panic!("a limit of kind {kind}: teach this test what it counts"),
    }
}

/// A discipline, its witness, and the time.
struct Bench<'a> {
    candidate: &'a Candidate,
    qdisc: Boxed,
    witness: Witness,
}

/// A failure names the discipline.
impl Drop for Bench<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was {}", self.candidate.choice);
        }
    }
}

impl Bench<'_> {
    fn check(&self) {
        assert_eq!(self.qdisc.backlog(), self.witness.inside);
        check_limit(&self.candidate.entry, &self.qdisc);
    }

    fn arrive(&mut self, flow: u32, len: u32, ecn: Ecn, label: Label, dscp: u8) {
        let packet = self.witness.packet(flow, len, ecn, label, dscp);
        self.witness.call = Call::Enqueue;
        self.qdisc
            .enqueue(self.witness.now, packet, &mut self.witness);
        self.check();
    }

    /// The link asks once. If no packet comes although packets wait, the discipline gives a time.
    fn send(&mut self) -> bool {
        self.witness.call = Call::Dequeue;
        let now = self.witness.now;
        let sent = self.qdisc.dequeue(now, &mut self.witness);
        match &sent {
            Some(packet) => self.witness.sent(packet),
            None if self.qdisc.backlog().is_empty() => {}
            None => assert!(
                self.qdisc.next_wake(now).is_some_and(|wake| wake > now),
                "packets wait, the link is idle, and nothing will wake it"
            ),
        }
        self.check();
        sent.is_some()
    }

    fn change(&mut self, param: usize, choice: usize) {
        let specs = self.candidate.entry.params;
        if specs.is_empty() {
            return;
        }
        let spec = &specs[param % specs.len()];
        let (before, drops) = (self.qdisc.params(), self.witness.dropped);
        self.witness.call = Call::Change;
        // A change may bring other classes, and move flows from those before to those after it.
        self.witness.classes = usize::MAX;
        let change = setting(spec, value(spec, choice));
        let result = self
            .qdisc
            .change(self.witness.now, &change, &mut self.witness);
        if result.is_err() {
            assert_eq!(self.qdisc.params(), before, "a refused change is none");
            assert_eq!(self.witness.dropped, drops);
        }
        self.witness.classes = self.qdisc.classes().len();
        // Every value that is shown can be set again, without any effect.
        let shown: Vec<_> = self
            .qdisc
            .params()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let drops = self.witness.dropped;
        self.qdisc
            .change(self.witness.now, &shown, &mut self.witness)
            .unwrap();
        assert_eq!(self.witness.dropped, drops);
        self.check();
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Arrive {
                flow,
                packets,
                len,
                ecn,
                label,
                dscp,
            } => (0..packets).for_each(|_| self.arrive(flow, len, ecn, label, dscp)),
            Step::Flock { flows, len } => {
                (0..flows).for_each(|flow| self.arrive(flow, len, Ecn::Ect0, Label::None, 0));
            }
            Step::Send { packets, every } => {
                for _ in 0..packets {
                    self.send();
                    self.witness.now += Duration::from_nanos(every);
                }
            }
            Step::Idle(ns) => self.witness.now += Duration::from_nanos(ns),
            Step::Change { param, value } => self.change(param, value),
        }
    }

    /// Lets all packets out; each time that none comes, waits until the time given by the
    /// discipline.
    fn drain(&mut self) {
        while !self.qdisc.backlog().is_empty() {
            if !self.send()
                && let Some(wake) = self.qdisc.next_wake(self.witness.now)
            {
                self.witness.now = wake;
            }
        }
        assert!(self.witness.known.iter().all(|known| !known.inside));
    }
}

/// A candidate for testing: an entry of the registry, and its children.
struct Candidate {
    entry: Discipline<usize>,
    choice: Choice,
}

impl Candidate {
    fn build(&self, settings: &Settings, env: &Env) -> Result<Boxed, Refusal> {
        let choice = Choice {
            settings: settings.to_vec(),
            ..self.choice.clone()
        };
        Registry::builtin().build(&choice, env)
    }
}

/// Every discipline; those that contain others with their default children, and with two more.
fn candidates() -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for entry in Registry::builtin().iter() {
        let plain = Choice::plain(entry.name);
        // A discipline on CAKE's tins has no other children.
        let tins = entry.children.first().map(|slot| slot.default) == Some("cake");
        let others = if tins {
            ["cake,diffserv=diffserv4", "cake,diffserv=precedence"]
        } else {
            ["fq_codel", "codel"]
        };
        let inside = others.map(|text| Choice {
            children: vec![text.parse().unwrap(); entry.children.len()],
            ..plain.clone()
        });
        let inside = inside.into_iter().filter(|_| !entry.children.is_empty());
        candidates.extend([plain.clone()].into_iter().chain(inside).map(|choice| {
            let entry = entry.clone();
            Candidate { entry, choice }
        }));
    }
    candidates
}

fn settings_of(entry: &Discipline<usize>, choices: &[usize]) -> Vec<(String, String)> {
    entry
        .params
        .iter()
        .zip(choices)
        .map(|(spec, &choice)| (spec, value(spec, choice)))
        .filter(|(_, value)| *value != "nonsense")
        .flat_map(|(spec, value)| setting(spec, value))
        .collect()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_traffic(
        steps in vec(step(), 1..60),
        // Defaults mostly, so that most cases are as in use.
        choices in vec(prop_oneof![4 => Just(0usize), 1 => 1..4usize], 32),
        limit in prop_oneof![
            Just(None),
            (1..200u32).prop_map(|packets| Some(Limit::Packets(packets))),
            (1..2_000_000u64).prop_map(|bytes| Some(Limit::Bytes(bytes))),
        ],
        start in prop_oneof![Just(0u64), 1..(1u64 << 43), Just(1 << 63)],
    ) {
        for candidate in &candidates() {
            let entry = &candidate.entry;
            let env = Env { limit, seed: 1, ..Env::default() };
            let settings = settings_of(entry, &choices);
            // Limits that do not go together may be refused; then the defaults are tried.
            let qdisc = candidate.build(&settings, &env)
                .or_else(|_| candidate.build(&[], &env))
                .unwrap();
            let mut witness = Witness::new(&qdisc);
            witness.now = Instant::from_nanos(start);
            let mut bench = Bench { candidate, qdisc, witness };
            for step in &steps {
                bench.run(step);
            }
            bench.drain();
        }
    }
}

#[test]
fn unknown_parameters_are_refused() {
    let unknown = [("no such parameter".to_owned(), "1".to_owned())];
    for candidate in &candidates() {
        let error = candidate.build(&unknown, &Env::default()).err().unwrap();
        assert!(error.message.contains("no parameter"), "{error}");
        let mut qdisc = candidate.build(&[], &Env::default()).unwrap();
        let error = qdisc
            .change(Instant::default(), &unknown, &mut Ignore)
            .unwrap_err();
        assert!(error.message.contains("no parameter"), "{error}");
    }
}

/// The declared default of a parameter can be set, is the value in a new discipline, and is within
/// the declared range.
#[test]
fn declared_defaults_are_what_is_used() {
    for candidate in &candidates() {
        let entry = &candidate.entry;
        let untouched = candidate.build(&[], &Env::default()).unwrap().params();
        let names: Vec<_> = entry.params.iter().map(|spec| spec.name).collect();
        let shown: Vec<_> = untouched.iter().map(|(name, _)| *name).collect();
        assert_eq!(shown, names, "{}", entry.name);
        for spec in entry.params {
            let set = candidate.build(&setting(spec, spec.default), &Env::default());
            let set = set.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert_eq!(set.params(), untouched, "{} {}", entry.name, spec.name);
            assert!(!spec.help.is_empty() && !spec.source.is_empty());
        }
    }
}

/// Both ends of a declared range are accepted by a new discipline, alone.
#[test]
fn declared_ranges_are_accepted() {
    for candidate in &candidates() {
        let entry = &candidate.entry;
        for spec in entry.params {
            for end in spec.range.map_or(vec![], |(min, max)| vec![min, max]) {
                let result = candidate.build(&setting(spec, end), &Env::default());
                if let Err(error) = result {
                    // Only because it is incompatible with another parameter's default.
                    assert!(!error.message.contains("is outside"), "{error}");
                }
            }
        }
    }
}

#[test]
fn names_are_unique_and_described() {
    let registry = Registry::<usize>::builtin();
    let mut names: Vec<_> = registry.iter().map(|entry| entry.name).collect();
    for entry in registry.iter() {
        assert!(!entry.summary.is_empty() && !entry.about.is_empty() && !entry.source.is_empty());
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// At the end of time, nothing overflows and nothing is lost.
#[test]
fn the_end_of_time() {
    for candidate in &candidates() {
        let entry = &candidate.entry;
        let mut qdisc = candidate.build(&[], &Env::default()).unwrap();
        let mut witness = Witness::new(&qdisc);
        for ns in [u64::MAX - 1_000_000_000, u64::MAX - 1, u64::MAX] {
            witness.now = Instant::from_nanos(ns);
            for flow in 0..100 {
                let packet = witness.packet(flow, 1500, Ecn::Ect0, Label::None, 0);
                witness.call = Call::Enqueue;
                qdisc.enqueue(witness.now, packet, &mut witness);
            }
            witness.call = Call::Dequeue;
            for _ in 0..50 {
                if let Some(packet) = qdisc.dequeue(witness.now, &mut witness) {
                    witness.sent(&packet);
                }
            }
            assert_eq!(qdisc.backlog(), witness.inside, "{}", entry.name);
        }
    }
}

/// The same packets at the same times get the same treatment.
#[test]
fn two_runs_agree() {
    for candidate in &candidates() {
        let entry = &candidate.entry;
        let run = || {
            let mut qdisc = candidate.build(&[], &Env::default()).unwrap();
            let mut witness = Witness::new(&qdisc);
            let mut sent = Vec::new();
            for n in 0..5_000u64 {
                witness.now = Instant::from_nanos(n * 700_000);
                for flow in 0..3 {
                    let packet = witness.packet(flow, 1000, Ecn::NotCapable, Label::None, 0);
                    witness.call = Call::Enqueue;
                    qdisc.enqueue(witness.now, packet, &mut witness);
                }
                witness.call = Call::Dequeue;
                for _ in 0..2 {
                    sent.extend(qdisc.dequeue(witness.now, &mut witness).map(|p| p.payload));
                }
            }
            sent
        };
        let first = run();
        assert!(first.len() > 5_000, "{}", entry.name);
        assert_eq!(first, run(), "{}", entry.name);
    }
}
