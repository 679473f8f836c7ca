//! Operations on `floq`, written down with the decisions of the discipline in Rust.
//!
//! The format is that of `kernel/test/trace_floq.h`.

use super::params::{Params, one_of};
use crate::kernel_c::harness::Trace;
use core::fmt::Write;
use qdisc::floq::Floq;
use qdisc::{Class, DropReason, Ecn, Env, FlowId, Observer, Packet, Qdisc};
use units::Instant;
use units::random::Stream;

const MS: u64 = 1_000_000;

/// Records decisions, and the flows that lost a packet.
#[derive(Debug, Default)]
struct Log {
    lines: String,
    /// Of the arriving packet.
    number: u32,
    /// Whether its flow was signalled congestion.
    told: bool,
}

impl Observer<u32> for Log {
    fn dropped(&mut self, _: Instant, packet: Packet<u32>, reason: DropReason) {
        writeln!(self.lines, "drop {} {}", packet.payload, reason.name()).unwrap();
        self.told = true;
    }

    fn marked(&mut self, _: Instant, packet: &Packet<u32>) {
        writeln!(self.lines, "mark {}", packet.payload).unwrap();
        self.told = true;
    }

    fn moved(&mut self, _: Instant, _: FlowId, from: Option<Class>, to: Class) {
        let from = from.map_or(-1, |class| i32::from(class.0));
        writeln!(self.lines, "move {} {from} {}", self.number, to.0).unwrap();
    }
}

/// A discipline, and its decisions so far.
struct Discipline {
    qdisc: Floq<u32>,
    log: Log,
}

impl Discipline {
    fn new(params: &Params) -> Self {
        let env = Env {
            seed: params.seed(),
            ..Env::default()
        };
        Discipline {
            qdisc: Floq::new(&params.settings(), &env).unwrap(),
            log: Log::default(),
        }
    }

    /// Returns whether the sender is signalled congestion.
    fn enqueue(&mut self, now: u64, hash: u32, len: u32, ecn: u8) -> bool {
        let packet = Packet {
            len,
            flow: FlowId(hash),
            hash,
            ecn: Ecn::of_tos(ecn),
            payload: self.log.number,
            ..Packet::default()
        };
        self.log.told = false;
        self.qdisc
            .enqueue(Instant::from_nanos(now), packet, &mut self.log);
        self.log.number += 1;
        self.log.told
    }

    fn dequeue(&mut self, now: u64) {
        let now = Instant::from_nanos(now);
        let Some(packet) = self.qdisc.dequeue(now, &mut self.log) else {
            return;
        };
        let (number, waits) = (packet.payload, self.qdisc.backlog());
        let waited = now.since(packet.arrived).as_nanos();
        let (packets, bytes) = (waits.packets, waits.bytes);
        writeln!(self.log.lines, "tx {number} {waited} {packets} {bytes}").unwrap();
    }

    fn change(&mut self, now: u64, params: &Params) {
        let settings = params.settings();
        self.qdisc
            .change(Instant::from_nanos(now), &settings, &mut self.log)
            .unwrap();
    }

    /// All its decisions.
    fn end(self) -> String {
        let waits = self.qdisc.backlog();
        let mut decisions = self.log.lines;
        writeln!(decisions, "end {} {}", waits.packets, waits.bytes).unwrap();
        decisions
    }
}

/// The sender.
#[derive(Debug, Clone, Copy)]
struct Sender {
    hash: u32,
    len: u32,
    /// ns between its packets without losses, and now.
    least: u64,
    gap: u64,
    /// ns: when it sends next.
    next: u64,
    /// ns: when it learns of a loss, if of any.
    learns: u64,
    /// By how many percent its gaps grow then; 0 for not at all.
    slower: u64,
}

/// A discipline whose operations are written down.
struct Recorder {
    random: Stream,
    params: Params,
    discipline: Discipline,
    operations: String,
    now: u64,
    /// Whether a flow ends when it takes up another manner.
    marks: bool,
    /// Whether nearly all packets can be marked; a part of them can otherwise.
    capable: bool,
    /// Times are multiples of this.
    unit: u64,
    senders: Vec<Sender>,
}

impl Recorder {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "floq traces");
        // A flow that is signalled by marks can be unresponsive before any of its packets was lost.
        let marks = random.below(5) == 0;
        let params = if marks {
            Params::marks(&mut random)
        } else {
            Params::first(&mut random)
        };
        let flows = one_of(&mut random, &[1, 2, 3, 5, 8, 12, 100]);
        // Few different high bits fill a set; few different hashes make flows one.
        let masks = [u32::MAX, u32::MAX, 0x0000_001F, 0x8000_0007, 0xC000_FFFF];
        let mask = one_of(&mut random, &masks);
        let longest = one_of(&mut random, &[60, 1500, 1500, 9000, 65_000, u32::MAX]);
        let bits = one_of(&mut random, &[1, 30, 56]);
        let unit = one_of(&mut random, &[1, MS]);
        let now = random.below(1 << bits) / unit * unit;
        let sender = |random: &mut Stream| Sender {
            hash: random.bits() as u32 & mask,
            len: 1 + random.below(u64::from(longest)) as u32,
            least: 0,
            gap: 0,
            next: now,
            learns: u64::MAX,
            slower: 0,
        };
        Recorder {
            discipline: Discipline::new(&params),
            operations: format!("new {}\n", params.line()),
            now,
            marks,
            capable: marks || random.below(4) == 0,
            unit,
            senders: (0..flows).map(|_| sender(&mut random)).collect(),
            params,
            random,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn enqueue(&mut self, flow: usize) -> bool {
        let (Sender { hash, mut len, .. }, now) = (self.senders[flow], self.now);
        if self.below(8) == 0 {
            len = self.below(1500) as u32;
        }
        let ecn = if self.capable && self.below(40) > 0 {
            2
        } else {
            self.below(4) as u8
        };
        writeln!(self.operations, "e {now} {hash} {len} {ecn}").unwrap();
        self.discipline.enqueue(now, hash, len, ecn)
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

    fn wait(&mut self, ns: u64) {
        self.now += ns / self.unit * self.unit;
    }

    /// An occasional event, independent of the traffic: a pause, or a change of parameters.
    fn now_and_then(&mut self, one_in: usize) {
        match self.below(one_in) {
            0 => self.change(),
            1 => {
                let pause = 1 << self.below(36);
                self.wait(pause);
            }
            _ => {}
        }
    }

    /// From now on it sends as fast as a share of the link, and responds to losses, or not.
    fn take_up(&mut self, flow: usize, service: u64) {
        let share = service * self.senders.len() as u64;
        let least = share * (40 + self.random.below(100)) / 100;
        if self.marks {
            self.senders[flow].hash = self.random.bits() as u32;
        }
        self.senders[flow].least = least;
        self.senders[flow].gap = least;
        self.senders[flow].slower = one_of(&mut self.random, &[0, 0, 10, 50, 100, 400]);
    }

    /// A packet of a sender that may slow down, and recovers.
    fn send(&mut self, flow: usize, trip: u64) {
        let told = self.enqueue(flow);
        let now = self.now;
        let sender = &mut self.senders[flow];
        if now >= sender.learns {
            sender.gap += sender.gap * sender.slower / 100;
            sender.learns = u64::MAX;
        } else {
            sender.gap = sender.least.max(sender.gap * 99 / 100);
        }
        if told && sender.learns == u64::MAX {
            sender.learns = now + trip;
        }
        sender.next = now + sender.gap;
    }

    /// More than the link can carry, of flows that respond and of flows that do not, in turn.
    fn link(&mut self, steps: usize) {
        let flows = self.senders.len();
        let service = one_of(&mut self.random, &[MS, 2 * MS, 200_000]).max(self.unit);
        let trip = one_of(&mut self.random, &[5, 20, 50]) * MS;
        for flow in 0..flows {
            self.take_up(flow, service);
        }
        for _ in 0..steps {
            for flow in 0..flows {
                if self.senders[flow].next <= self.now {
                    self.send(flow, trip);
                }
            }
            self.dequeue();
            self.wait(service);
            if self.below(200) == 0 {
                let flow = self.below(flows);
                self.take_up(flow, service);
            }
            self.now_and_then(2000);
        }
    }

    /// Flows that begin, one after another, next to one that fills the queue.
    fn begins(&mut self, steps: usize) {
        let fresh = one_of(&mut self.random, &[0x0100_0000, 1, 0x9E37_79B9]);
        for _ in 0..steps {
            for _ in 0..3 {
                self.enqueue(0);
            }
            let flow = self.senders.len() - 1;
            if self.below(12) == 0 {
                self.senders[flow].hash = self.senders[flow].hash.wrapping_add(fresh);
            }
            self.enqueue(flow);
            (0..2).for_each(|_| self.dequeue());
            self.wait(MS);
            self.now_and_then(2000);
        }
    }

    /// Any operations in any order.
    fn muddle(&mut self, steps: usize) {
        let flows = self.senders.len();
        let pause = one_of(&mut self.random, &[1, 10_000, 1_000_000, 20_000_000]);
        for _ in 0..steps {
            let flow = self.below(flows);
            match self.below(20) {
                0..8 => self.dequeue(),
                8 => (0..self.below(40)).for_each(|_| self.dequeue()),
                9 => (0..self.below(40)).for_each(|_| {
                    self.enqueue(flow);
                }),
                _ => {
                    self.enqueue(flow);
                }
            }
            let pause = self.random.below(pause);
            self.wait(pause);
            self.now_and_then(200);
        }
    }
}

/// The trace that this seed stands for.
pub fn random(seed: u64) -> Trace {
    let mut recorder = Recorder::new(seed);
    match recorder.below(6) {
        0 => {
            let steps = one_of(&mut recorder.random, &[30, 150, 600]);
            recorder.muddle(steps);
        }
        1 => recorder.begins(500),
        _ => {
            let steps = one_of(&mut recorder.random, &[300, 1500, 4000]);
            recorder.link(steps);
            recorder.muddle(30);
        }
    }
    recorder.operations.push_str("end\n");
    Trace {
        operations: recorder.operations,
        decisions: recorder.discipline.end(),
    }
}

/// The decisions of the discipline in Rust on `operations`.
pub fn decide(operations: &str) -> String {
    let mut lines = operations.lines();
    let begin = lines.next().and_then(|line| line.strip_prefix("new "));
    let params = Params::read(begin.expect("a trace begins with new"));
    let mut discipline = Discipline::new(&params);
    for line in lines {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (now, _) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = |word: &str| word.parse().unwrap();
        let words: Vec<u64> = rest.split_whitespace().map(number).collect();
        match (kind, &words[..]) {
            ("e", &[now, hash, len, ecn]) => {
                discipline.enqueue(now, hash as u32, len as u32, ecn as u8);
            }
            ("d", &[now]) => discipline.dequeue(now),
            ("change", _) => discipline.change(words[0], &Params::read(&rest[now.len()..])),
            ("end", []) => {}
            _ => panic!("{line:?} is no operation"),
        }
    }
    discipline.end()
}
