//! Operations on `mencius`, written down with the decisions of the discipline in Rust.
//!
//! The format is that of `kernel/test/trace_mencius.h`.

use super::params::{Params, one_of};
use crate::kernel_c::harness::Trace;
use core::fmt::Write;
use qdisc::mencius::Mencius;
use qdisc::{DropReason, Ecn, Env, FlowId, Hosts, Observer, Packet, Qdisc};
use units::Instant;
use units::random::Stream;

const MS: u64 = 1_000_000;
/// Flows that begin beside those of [`Recorder::imitate`].
const BORN: usize = 3000;
/// Added to the ECN field of a packet whose addresses are provisional.
const PROVISIONAL: u64 = 4;

/// Records decisions, and the flows that wait.
#[derive(Debug, Default)]
struct Log {
    lines: String,
    /// Packets of each flow that wait.
    waiting: Vec<u32>,
}

impl Observer<u32> for Log {
    fn dropped(&mut self, _: Instant, packet: Packet<u32>, reason: DropReason) {
        writeln!(self.lines, "drop {} {}", packet.payload, reason.name()).unwrap();
        self.waiting[packet.flow.0 as usize] -= 1;
    }

    fn marked(&mut self, _: Instant, packet: &Packet<u32>) {
        writeln!(self.lines, "mark {}", packet.payload).unwrap();
    }
}

/// A flow as its packets show it.
#[derive(Debug, Clone, Copy)]
struct Sender {
    hash: u32,
    hosts: Hosts,
    len: u32,
}

/// A discipline, and its decisions so far.
struct Discipline {
    qdisc: Mencius<u32>,
    log: Log,
    /// Of the next packet.
    number: u32,
}

impl Discipline {
    /// For packets of so many `flows`.
    fn new(params: &Params, flows: usize) -> Self {
        Discipline {
            qdisc: Mencius::new(&params.settings(), &Env::default()).unwrap(),
            log: Log {
                lines: String::new(),
                waiting: vec![0; flows],
            },
            number: 0,
        }
    }

    fn enqueue(&mut self, now: u64, flow: u32, sender: Sender, ecn: u8) {
        let packet = Packet {
            len: sender.len,
            flow: FlowId(flow),
            hash: sender.hash,
            hosts: sender.hosts,
            ecn: Ecn::of_tos(ecn),
            payload: self.number,
            ..Packet::default()
        };
        self.number += 1;
        self.log.waiting[flow as usize] += 1;
        self.qdisc
            .enqueue(Instant::from_nanos(now), packet, &mut self.log);
    }

    /// The length of the packet that left.
    fn dequeue(&mut self, now: u64) -> Option<u32> {
        let now = Instant::from_nanos(now);
        let Some(packet) = self.qdisc.dequeue(now, &mut self.log) else {
            if let Some(until) = self.qdisc.next_wake(now) {
                writeln!(self.log.lines, "wait {}", until.as_nanos()).unwrap();
            }
            return None;
        };
        let (number, waits) = (packet.payload, self.qdisc.backlog());
        let waited = now.since(packet.arrived).as_nanos();
        let (packets, bytes) = (waits.packets, waits.bytes);
        writeln!(self.log.lines, "tx {number} {waited} {packets} {bytes}").unwrap();
        self.log.waiting[packet.flow.0 as usize] -= 1;
        Some(packet.len)
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

/// The kind of traffic on a link next to others.
#[derive(Debug, Clone, Copy)]
enum Manner {
    /// A packet in so many ns.
    Every(u64),
    /// So many packets wait from then on.
    Keeps(u32, u64),
}

/// A discipline whose operations are written down.
struct Recorder {
    random: Stream,
    params: Params,
    discipline: Discipline,
    operations: String,
    now: u64,
    senders: Vec<Sender>,
    /// When the addresses of each flow are recorded; at once where there is none.
    translated_from: Vec<u64>,
}

/// The address of all flows that are not recorded yet.
const ROUTER: u32 = 77;

impl Recorder {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "mencius");
        let params = Params::first(&mut random);
        let flows = one_of(&mut random, &[2, 5, 12, 12, 100, 1500]);
        // Few different high bits fill a set; few different hashes make flows one.
        let masks = [u32::MAX, u32::MAX, 0x0000_001F, 0x8000_0007, 0xC000_FFFF];
        let mask = one_of(&mut random, &masks);
        // Hosts behind and before the link.
        let (near, far) = (
            one_of(&mut random, &[1, 2, 5, 300]),
            one_of(&mut random, &[1, 3, 40, 1000]),
        );
        let spread = one_of(&mut random, &[1, 0x9E37_79B9]);
        let longest = one_of(&mut random, &[60, 1500, 1500, 1500, 9000, 65_000]);
        let bits = one_of(&mut random, &[1, 30, 56]);
        let now = random.below(1 << bits);
        let sender = |random: &mut Stream| Sender {
            hash: random.bits() as u32 & mask,
            hosts: Hosts::new(
                (random.below(far) as u32 + 1000).wrapping_mul(spread),
                (random.below(near) as u32).wrapping_mul(spread),
            ),
            len: 60 + random.below(longest - 59) as u32,
        };
        Recorder {
            discipline: Discipline::new(&params, flows),
            operations: format!("new {}\n", params.line()),
            now,
            senders: (0..flows).map(|_| sender(&mut random)).collect(),
            params,
            random,
            translated_from: Vec::new(),
        }
    }

    /// Few flows that are told apart, under parameters that make holds likely.
    fn orderly(seed: u64) -> Self {
        let mut random = Stream::new(seed, "mencius, orderly");
        let changes = random.below(3);
        let params = Params::near(&mut random, 64, changes);
        let flows = 2 + random.below(7);
        let hosts = one_of(&mut random, &[1, 2, 4]);
        let sender = |random: &mut Stream, flow: u64| Sender {
            hash: random.bits() as u32,
            hosts: Hosts::new(1000 + flow as u32, random.below(hosts) as u32),
            len: 100 + random.below(1401) as u32,
        };
        Recorder {
            discipline: Discipline::new(&params, flows as usize),
            operations: format!("new {}\n", params.line()),
            now: random.below(1000) * MS,
            senders: (0..flows).map(|flow| sender(&mut random, flow)).collect(),
            params,
            random,
            translated_from: Vec::new(),
        }
    }

    /// Calls of the host 0, then a flow of the host 1, then many that begin at the host 0.
    fn imitators(seed: u64) -> Self {
        let mut random = Stream::new(seed, "mencius, imitators");
        let params = Params::near(&mut random, 64, 0);
        let calls = 2 + random.below(8) as usize;
        let flows = calls + 1 + BORN;
        let senders = (0..flows).map(|flow| Sender {
            hash: (flow as u32).wrapping_mul(0x9E37_79B9),
            hosts: Hosts::new(1000 + flow as u32, u32::from(flow == calls)),
            len: 1500,
        });
        Recorder {
            discipline: Discipline::new(&params, flows),
            operations: format!("new {}\n", params.line()),
            now: 0,
            senders: senders.collect(),
            params,
            random,
            translated_from: Vec::new(),
        }
    }

    /// The addresses of flows are recorded only after some time.
    fn translate(&mut self) {
        let flows = 0..self.senders.len();
        let from = flows.map(|_| self.now + self.random.below(1 << 32));
        self.translated_from = from.collect();
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn enqueue(&mut self, flow: usize) {
        let (mut sender, now) = (self.senders[flow], self.now);
        if self.below(8) == 0 {
            sender.len = 60 + self.below(1441) as u32;
        }
        if let Some(unknown) = self.translated_from.get(flow).copied()
            && now < unknown
        {
            sender.hosts = Hosts {
                provisional: true,
                ..Hosts::new(ROUTER, ROUTER)
            };
        }
        let Sender { hash, hosts, len } = sender;
        let Hosts {
            source,
            destination,
            provisional,
        } = hosts;
        let ecn = self.below(4) as u8;
        let field = u64::from(ecn) + PROVISIONAL * u64::from(provisional);
        writeln!(
            self.operations,
            "e {now} {hash} {source} {destination} {len} {field}"
        )
        .unwrap();
        self.discipline.enqueue(now, flow as u32, sender, ecn);
    }

    fn dequeue(&mut self) -> Option<u32> {
        let now = self.now;
        writeln!(self.operations, "d {now}").unwrap();
        self.discipline.dequeue(now)
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
    fn now_and_then(&mut self, one_in: usize) {
        match self.below(one_in) {
            0 => self.change(),
            1 => self.now += 1 << self.below(36),
            2 => self.now += 1 << self.below(46),
            _ => {}
        }
    }

    /// Flows that behave like calls for a while, and then others next to them, on a link.
    fn link(&mut self, steps: usize) {
        let flows = self.senders.len();
        let full = one_of(&mut self.random, &[120, 1000, 1000, 3000, 8000]) * 1000;
        let calls = 1 + self.below(3);
        let alone = self.now + one_of(&mut self.random, &[0, 1_300_000_000, 2_000_000_000]);
        let share = one_of(&mut self.random, &[1, 2, 3, 10, 50]);
        let manners: Vec<_> = (0..flows)
            .map(|flow| {
                if flow < calls {
                    Manner::Every(full * share * (1 + self.random.below(3)))
                } else {
                    Manner::Keeps(1 + self.below(40) as u32, alone)
                }
            })
            .collect();
        let mut next = vec![self.now; flows];
        for _ in 0..steps {
            for (flow, manner) in manners.iter().enumerate().take(40) {
                match *manner {
                    Manner::Every(period) => {
                        if next[flow] <= self.now {
                            self.enqueue(flow);
                            next[flow] = self.now.max(next[flow] + period);
                        }
                    }
                    Manner::Keeps(packets, from) => {
                        if self.now >= from && self.waiting(flow) < packets && self.below(3) == 0 {
                            self.enqueue(flow);
                        }
                    }
                }
            }
            self.now += match self.dequeue() {
                Some(len) => full * u64::from(len) / 1500,
                None => full,
            };
            self.now_and_then(1500);
        }
    }

    /// Flows of a host that behave like calls carry a flood in turns, while others begin now and then, so
    /// that a hold goes on until the host's favour is spent.
    fn imitate(&mut self, steps: u64) {
        let calls = self.senders.len() - 1 - BORN;
        let keep = 50 + self.random.below(150);
        let moves = 500 + self.random.below(3000);
        let births = 20 + self.random.below(400);
        for step in 0..steps {
            for call in 0..calls as u64 {
                if (step + call * 7).is_multiple_of(keep) {
                    self.enqueue(call as usize);
                }
            }
            if step.is_multiple_of(births) {
                self.enqueue(calls + 1 + (step / births) as usize % BORN);
            }
            if step > 1500 && self.waiting(calls) < 20 {
                self.enqueue(calls);
            }
            if step > 1500 {
                self.enqueue((step / moves) as usize % calls);
            }
            self.dequeue();
            self.now += MS;
        }
    }

    /// Calls that are established, and others that come and go. All happens at whole ms, so that
    /// spans are often exactly those in the rules.
    fn episodes(&mut self, steps: usize) {
        let flows = self.senders.len();
        let calls = 1 + self.below(2);
        let service = 1 + self.random.below(2);
        let periods: Vec<_> = (0..calls)
            .map(|_| service * one_of(&mut self.random, &[1, 2, 2, 3, 5, 10]))
            .collect();
        let windows: Vec<_> = (0..flows).map(|_| 1 + self.below(30) as u32).collect();
        // Until when each is silent, or, of those that are not calls, is not.
        let mut turns: Vec<_> = (0..flows)
            .map(|flow| {
                if flow < calls {
                    self.now
                } else {
                    self.now + 1000 * MS + self.random.below(500) * MS
                }
            })
            .collect();
        let mut silent = vec![true; flows];
        for step in 0..steps as u64 {
            for flow in 0..flows {
                let due = self.now >= turns[flow];
                if flow < calls {
                    if due && (step * service).is_multiple_of(periods[flow]) {
                        self.enqueue(flow);
                    }
                    if due && self.below(3000) == 0 {
                        turns[flow] = self.now + (240 + self.random.below(20)) * MS;
                    }
                    continue;
                }
                if due {
                    silent[flow] = !silent[flow];
                    let most = one_of(&mut self.random, &[60, 250, 3000]);
                    turns[flow] = self.now + self.random.below(most) * MS;
                }
                while !silent[flow] && self.waiting(flow) < windows[flow] {
                    let before = self.waiting(flow);
                    self.enqueue(flow);
                    if self.waiting(flow) == before {
                        break;
                    }
                }
            }
            self.dequeue();
            self.now += service * MS;
            match self.below(10_000) {
                0 => self.change(),
                // The link stands still: about as long as a hold takes to end.
                1..20 => self.now += one_of(&mut self.random, &[199, 200, 200, 201, 2000]) * MS,
                _ => {}
            }
        }
    }

    /// Any operations in any order.
    fn muddle(&mut self, steps: usize) {
        let flows = self.senders.len();
        let pause = one_of(&mut self.random, &[1, 10_000, 1_000_000, 20_000_000]);
        for _ in 0..steps {
            let flow = self.below(flows);
            match self.below(20) {
                0..8 => {
                    self.dequeue();
                }
                8 => (0..self.below(40)).for_each(|_| {
                    self.dequeue();
                }),
                9 => (0..self.below(40)).for_each(|_| self.enqueue(flow)),
                _ => self.enqueue(flow),
            }
            self.now += self.random.below(pause);
            self.now_and_then(200);
        }
    }
}

/// The trace that this seed stands for.
pub fn random(seed: u64) -> Trace {
    let imitators = seed % 50 == 1;
    let mut recorder = match seed % 3 {
        _ if imitators => Recorder::imitators(seed),
        0 => Recorder::orderly(seed),
        _ => Recorder::new(seed),
    };
    if recorder.below(3) == 0 {
        recorder.translate();
    }
    if imitators {
        recorder.imitate(15_000);
    } else if seed.is_multiple_of(3) {
        let steps = one_of(&mut recorder.random, &[2000, 4000, 8000]);
        recorder.episodes(steps);
    } else if recorder.below(3) == 0 {
        let steps = one_of(&mut recorder.random, &[30, 150, 600]);
        recorder.muddle(steps);
    } else {
        let steps = one_of(&mut recorder.random, &[300, 1500, 4000]);
        recorder.link(steps);
        recorder.muddle(30);
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
    let mut discipline = Discipline::new(&params, 1);
    for line in lines {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (now, _) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = |word: &str| word.parse().unwrap();
        let words: Vec<u64> = rest.split_whitespace().map(number).collect();
        match (kind, &words[..]) {
            ("e", &[now, hash, source, destination, len, ecn]) => {
                let hosts = Hosts {
                    provisional: ecn & PROVISIONAL != 0,
                    ..Hosts::new(source as u32, destination as u32)
                };
                let sender = Sender {
                    hash: hash as u32,
                    hosts,
                    len: len as u32,
                };
                discipline.enqueue(now, 0, sender, (ecn & 3) as u8);
            }
            ("d", &[now]) => {
                discipline.dequeue(now);
            }
            ("change", _) => discipline.change(words[0], &Params::read(&rest[now.len()..])),
            ("end", []) => {}
            _ => panic!("{line:?} is no operation"),
        }
    }
    discipline.end()
}
