//! Operations on `confucius`, written down with the decisions of the discipline in Rust: random
//! ones, and such as were worked out by hand (`traces/`).
//!
//! The format is that of `kernel/test/trace_confucius.h`.

use crate::kernel_c::harness::Trace;
use core::fmt::Write;
use qdisc::confucius::Confucius;
use qdisc::{Class, DropReason, Ecn, Env, FlowId, Observer, Packet, Qdisc};
use units::Instant;
use units::random::Stream;

/// Records decisions, and the flows that wait.
#[derive(Debug, Default)]
struct Log {
    lines: String,
    /// Packets of each flow that wait.
    waiting: Vec<u32>,
    /// Flows that began, aged out, and moved up and down.
    moves: [u32; 4],
}

impl Observer<u32> for Log {
    fn dropped(&mut self, _: Instant, packet: Packet<u32>, reason: DropReason) {
        writeln!(self.lines, "drop {} {}", packet.payload, reason.name()).unwrap();
        self.waiting[packet.flow.0 as usize] -= 1;
    }

    fn marked(&mut self, _: Instant, packet: &Packet<u32>) {
        writeln!(self.lines, "mark {}", packet.payload).unwrap();
    }

    fn moved(&mut self, _: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let kind = match from {
            None => 0,
            Some(Class(0)) => 1,
            Some(from) if from < to => 2,
            Some(_) => 3,
        };
        self.moves[kind] += 1;
        let from = from.map_or("-".to_owned(), |class| class.0.to_string());
        writeln!(self.lines, "move {} {from} {}", flow.0, to.0).unwrap();
    }
}

/// Parameters; times in µs.
#[derive(Debug, Clone)]
struct Params {
    limit: u64,
    memory: u64,
    flows: u64,
    quantum: u64,
    buffer: bool,
    scale: u64,
    doubling: u64,
    head_start: u64,
    alpha: u64,
    interval: u64,
    idle: u64,
    ecn: bool,
    targets: Vec<u64>,
}

fn one_of<T: Copy>(random: &mut Stream, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

impl Params {
    fn random(random: &mut Stream) -> Self {
        let mut targets: Vec<u64> = match random.below(3) {
            0 => vec![10, 50, 90],
            1 => vec![random.below(1001)],
            _ => (0..=random.below(7)).map(|_| random.below(150)).collect(),
        };
        targets.sort_unstable();
        targets.dedup();
        Params {
            limit: one_of(random, &[1, 2, 7, 40, 150, 1000, 20_000]),
            memory: one_of(
                random,
                &[4000, 15_000, 100_000, 1 << 25, 1 << 25, 1_000_000_000],
            ),
            flows: one_of(random, &[8, 10, 16, 64, 1024]),
            quantum: one_of(random, &[256, 300, 1514, 1514, 9000, 64_000]),
            buffer: random.below(2) == 0,
            scale: one_of(random, &[1000, 7001, 100_000, 100_000, 333_333, 10_000_000]),
            doubling: one_of(random, &[1000, 5000, 20_000, 250_000, 60_000_000]),
            head_start: one_of(random, &[0, 0, 0, 1, 3, 6]),
            alpha: one_of(random, &[1, 5, 10, 10, 25, 50]),
            interval: one_of(random, &[1000, 2000, 10_000, 100_000, 10_000_000]),
            idle: one_of(random, &[10_000, 50_000, 1_000_000, 3_600_000_000]),
            ecn: random.below(2) == 0,
            targets,
        }
    }

    /// Parameters under which much happens in a short trace.
    fn lively() -> Self {
        Params {
            limit: 150,
            memory: 1 << 25,
            flows: 64,
            quantum: 1514,
            buffer: false,
            scale: 50_000,
            doubling: 20_000,
            head_start: 0,
            alpha: 10,
            interval: 10_000,
            idle: 300_000,
            ecn: true,
            targets: vec![10, 50, 90],
        }
    }

    /// One parameter becomes another, but never `flows`.
    fn changed(&self, random: &mut Stream) -> Self {
        let other = Params::random(random);
        let mut changed = self.clone();
        match random.below(12) {
            0 => changed.limit = other.limit,
            1 => changed.memory = other.memory,
            2 => changed.quantum = other.quantum,
            3 => changed.buffer = other.buffer,
            4 => changed.scale = other.scale,
            5 => changed.doubling = other.doubling,
            6 => changed.head_start = other.head_start,
            7 => changed.alpha = other.alpha,
            8 => changed.interval = other.interval,
            9 => changed.idle = other.idle,
            10 => changed.ecn = other.ecn,
            _ => changed.targets = other.targets,
        }
        changed
    }

    /// The parameters at the start of a trace: any, or a few changes away from lively ones.
    fn first(random: &mut Stream) -> Self {
        let any = Params::random(random);
        if random.below(3) == 0 {
            return any;
        }
        let flows = any.flows;
        let lively = Params {
            flows,
            ..Params::lively()
        };
        (0..random.below(4)).fold(lively, |params, _| params.changed(random))
    }

    /// Reads the output of [`Params::line`].
    fn read(line: &str) -> Self {
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect();
        let (&[limit, memory, flows, quantum, buffer, scale, doubling, ..], targets) =
            numbers.split_first_chunk::<12>().unwrap();
        Params {
            limit,
            memory,
            flows,
            quantum,
            buffer: buffer == 1,
            scale,
            doubling,
            head_start: numbers[7],
            alpha: numbers[8],
            interval: numbers[9],
            idle: numbers[10],
            ecn: numbers[11] == 1,
            targets: targets.to_vec(),
        }
    }

    fn line(&self) -> String {
        let targets: Vec<_> = self.targets.iter().map(u64::to_string).collect();
        let (buffer, ecn) = (u8::from(self.buffer), u8::from(self.ecn));
        format!(
            "{} {} {} {} {buffer} {} {} {} {} {} {} {ecn} {}",
            self.limit,
            self.memory,
            self.flows,
            self.quantum,
            self.scale,
            self.doubling,
            self.head_start,
            self.alpha,
            self.interval,
            self.idle,
            targets.join(" ")
        )
    }

    fn settings(&self) -> Vec<(String, String)> {
        let targets: Vec<_> = self.targets.iter().map(u64::to_string).collect();
        [
            ("limit", self.limit.to_string()),
            ("memory_limit", format!("{}B", self.memory)),
            ("flows", self.flows.to_string()),
            ("quantum", format!("{}B", self.quantum)),
            (
                "occupancy",
                ["delay", "buffer"][usize::from(self.buffer)].to_owned(),
            ),
            ("scale", format!("{}us", self.scale)),
            ("doubling", format!("{}us", self.doubling)),
            ("head_start", self.head_start.to_string()),
            ("alpha", self.alpha.to_string()),
            ("interval", format!("{}us", self.interval)),
            ("idle", format!("{}us", self.idle)),
            ("ecn", ["no", "yes"][usize::from(self.ecn)].to_owned()),
            ("targets", targets.join("/")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// A discipline, and its decisions so far.
struct Discipline {
    qdisc: Confucius<u32>,
    log: Log,
    /// Of the next packet.
    number: u32,
}

impl Discipline {
    /// For packets of so many `flows`.
    fn new(params: &Params, flows: usize) -> Self {
        Discipline {
            qdisc: Confucius::new(&params.settings(), &Env::default()).unwrap(),
            log: Log {
                lines: String::new(),
                waiting: vec![0; flows],
                moves: [0; 4],
            },
            number: 0,
        }
    }

    fn enqueue(&mut self, now: u64, hash: u32, flow: u32, len: u32, ecn: usize) {
        let packet = Packet {
            len,
            flow: FlowId(flow),
            hash,
            ecn: [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][ecn],
            payload: self.number,
            ..Packet::default()
        };
        self.number += 1;
        self.log.waiting[flow as usize] += 1;
        self.qdisc
            .enqueue(Instant::from_nanos(now), packet, &mut self.log);
    }

    fn dequeue(&mut self, now: u64) {
        let packet = self.qdisc.dequeue(Instant::from_nanos(now), &mut self.log);
        if let Some(packet) = packet {
            let (number, waits) = (packet.payload, self.qdisc.backlog());
            let (packets, bytes) = (waits.packets, waits.bytes);
            writeln!(self.log.lines, "tx {number} {packets} {bytes}").unwrap();
            self.log.waiting[packet.flow.0 as usize] -= 1;
        }
    }

    fn change(&mut self, now: u64, params: &Params) {
        let settings = params.settings();
        self.qdisc
            .change(Instant::from_nanos(now), &settings, &mut self.log)
            .unwrap();
    }

    /// All its decisions.
    fn end(self) -> String {
        let (shared, waits) = (self.qdisc.shared(), self.qdisc.backlog());
        let mut decisions = self.log.lines;
        let (packets, bytes) = (waits.packets, waits.bytes);
        let [new, aged, up, down] = self.log.moves;
        writeln!(
            decisions,
            "end {shared} {packets} {bytes} {new} {aged} {up} {down}"
        )
        .unwrap();
        decisions
    }
}

/// A discipline whose operations are written down.
struct Recorder {
    random: Stream,
    params: Params,
    discipline: Discipline,
    operations: String,
    now: u64,
    hashes: Vec<u32>,
    lens: Vec<u32>,
}

impl Recorder {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "trace");
        let params = Params::first(&mut random);
        let flows = one_of(&mut random, &[1, 2, 5, 20, 100, 1500]);
        // Few different high bits fill a set; few different hashes make flows one.
        let mask = one_of(
            &mut random,
            &[u32::MAX, u32::MAX, 0x0000_000F, 0x8000_0007, 0xC000_FFFF],
        );
        let longest = one_of(&mut random, &[60, 1500, 1500, 70_000, 500_000]);
        let bits = one_of(&mut random, &[1, 30, 56]);
        let now = random.below(1 << bits);
        Recorder {
            discipline: Discipline::new(&params, flows),
            operations: format!("new {}\n", params.line()),
            now,
            hashes: (0..flows).map(|_| random.bits() as u32 & mask).collect(),
            lens: (0..flows)
                .map(|_| random.below(longest + 1) as u32)
                .collect(),
            params,
            random,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn enqueue(&mut self, flow: usize) {
        let (hash, now) = (self.hashes[flow], self.now);
        let len = if self.below(8) == 0 {
            self.below(2000) as u32
        } else {
            self.lens[flow]
        };
        let ecn = self.below(4);
        writeln!(self.operations, "e {now} {hash} {flow} {len} {ecn}").unwrap();
        self.discipline.enqueue(now, hash, flow as u32, len, ecn);
    }

    fn dequeue(&mut self) {
        let now = self.now;
        writeln!(self.operations, "d {now}").unwrap();
        self.discipline.dequeue(now);
    }

    fn change(&mut self) {
        self.params = self.params.changed(&mut self.random);
        let now = self.now;
        writeln!(self.operations, "change {now} {}", self.params.line()).unwrap();
        self.discipline.change(now, &self.params);
    }

    fn waiting(&self, flow: usize) -> u32 {
        self.discipline.log.waiting[flow]
    }

    /// An occasional event, independent of the traffic: a pause, or a change of parameters.
    fn now_and_then(&mut self) {
        match self.below(400) {
            0 => self.change(),
            1 => self.now += 1 << self.below(36),
            2 => self.now += 1 << self.below(46),
            _ => {}
        }
    }

    /// Senders that keep so many packets in the queue, and a link that takes one at a time.
    fn windows(&mut self, steps: usize) {
        let flows = self.hashes.len();
        let most = one_of(&mut self.random, &[1, 3, 10, 60]);
        let windows: Vec<_> = (0..flows).map(|_| 1 + self.below(most) as u32).collect();
        let service = one_of(&mut self.random, &[1000, 30_000, 1_000_000, 7_000_000]);
        for _ in 0..steps {
            let flow = self.below(flows);
            let missing = windows[flow].saturating_sub(self.waiting(flow));
            // A sender whose packet is refused does not continue at once.
            for _ in 0..missing.min(20) {
                let before = self.waiting(flow);
                self.enqueue(flow);
                if self.waiting(flow) == before {
                    break;
                }
            }
            self.now += service;
            self.dequeue();
            self.now_and_then();
        }
    }

    /// Any operations in any order.
    fn muddle(&mut self, steps: usize) {
        let flows = self.hashes.len();
        let pause = one_of(&mut self.random, &[1, 10_000, 1_000_000, 20_000_000]);
        for _ in 0..steps {
            match self.below(20) {
                0..8 => self.dequeue(),
                8 => (0..self.below(40)).for_each(|_| self.dequeue()),
                9 => {
                    let flow = self.below(flows);
                    (0..self.below(40)).for_each(|_| self.enqueue(flow));
                }
                _ => {
                    let flow = self.below(flows);
                    self.enqueue(flow);
                }
            }
            self.now += self.random.below(pause);
            self.now_and_then();
        }
    }
}

/// The trace that this seed stands for.
pub fn random(seed: u64) -> Trace {
    let mut recorder = Recorder::new(seed);
    for _ in 0..1 + recorder.below(3) {
        let steps = one_of(&mut recorder.random, &[30, 150, 600]);
        if recorder.below(2) == 0 {
            recorder.windows(steps);
        } else {
            recorder.muddle(steps);
        }
    }
    recorder.operations.push_str("end\n");
    Trace {
        operations: recorder.operations,
        decisions: recorder.discipline.end(),
    }
}

/// The decisions of the discipline in Rust on `operations`. Each packet's memory has to be its
/// length, since the discipline knows no other.
pub fn decide(operations: &str) -> String {
    let mut lines = operations.lines();
    let begin = lines.next().and_then(|line| line.strip_prefix("new "));
    let params = Params::read(begin.expect("a trace begins with new"));
    let mut discipline = Discipline::new(&params, 1 << 16);
    for line in lines {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (now, _) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = |word: &str| word.parse().unwrap();
        let words: Vec<u64> = rest.split_whitespace().map(number).collect();
        match (kind, &words[..]) {
            ("e", &[now, hash, flow, len, ecn]) => {
                discipline.enqueue(now, hash as u32, flow as u32, len as u32, ecn as usize);
            }
            ("d", &[now]) => discipline.dequeue(now),
            ("change", _) => {
                discipline.change(words[0], &Params::read(&rest[now.len()..]));
            }
            ("end", []) => {}
            _ => panic!("{line:?} is no operation"),
        }
    }
    discipline.end()
}
