//! A line with a queue, senders that do not respond, and what each host gets.

use super::attack::Attack;
use core::fmt::Write as _;
use qdisc::{DropReason, Env, FlowId, Home, Hosts, Limit, Observer, Packet, Qdisc, Registry};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Instant;
use units::random::Stream;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// Packets of a download that wait, always; but those of all fill at most half of the buffer. What is dropped is
/// sent again at once, so that more than there is room for would be dropped and sent all the time.
const WINDOW: u64 = 40;
/// From when on what comes is counted: every flow that can be settled is by then.
pub const COUNTED: u64 = 3 * SECOND;
/// When the attack begins.
const ATTACKED: u64 = SECOND;
/// An attack has so many packets a second of each kind at most, so that a run takes a moment.
const PACKETS: u64 = 2_000;

/// Tables go by the high bits of a hash.
const SPREADS: u32 = 0x9E37_79B9;

/// Numbers of hosts, as a packet's band has them, which no queue here reads; attacking ones have those from [`ATTACKERS`] on, and downloads those before.
pub const CALL: u32 = 0;
/// A new flow of one small packet now and then.
const NAMES: u32 = 1;
/// One full packet now and then.
pub const SPARSE: u32 = 2;
const DOWNLOADS: u32 = 3;
const ATTACKERS: u32 = 100;

/// What sends.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// So many bytes thirty times a second, in packets of at most 1200.
    Frames(u64),
    /// A packet of 80 bytes of a new flow, at random.
    Names,
    /// A packet of 1400 bytes every so many ns at least.
    Sparse(u64),
    /// `len` bytes every so many ns.
    Constant { len: u32, every: u64 },
    /// The same while it is the turn of this one: for `on` ns of each `of`, another each time.
    Turn {
        len: u32,
        every: u64,
        on: u64,
        of: u64,
        slot: (u64, u64),
    },
    /// A packet of 100 bytes of a new flow every so many ns.
    Births(u64),
}

#[derive(Debug, Clone, Copy)]
struct Sender {
    host: u32,
    flow: u32,
    kind: Kind,
}

/// What a host gets.
#[derive(Debug, Clone, Default)]
pub struct Got {
    pub bytes: u64,
    /// ns that each packet waited.
    pub waits: Vec<u64>,
    /// Packets that were dropped.
    pub lost: usize,
}

impl Got {
    /// ms below which 95 of 100 packets waited. A packet that was dropped waited for a second: so who drops all
    /// that would wait does not look fast.
    pub fn p95(&self) -> f64 {
        let mut waits = self.waits.clone();
        waits.resize(waits.len() + self.lost, SECOND);
        waits.sort_unstable();
        let at = (waits.len() * 95 / 100).min(waits.len().saturating_sub(1));
        waits.get(at).map_or(0.0, |&wait| wait as f64 / MS as f64)
    }
}

/// Drops, what each host gets, and for each download how many packets of it do not wait any more.
#[derive(Debug)]
struct Log {
    /// Decisions, if they are written down.
    lines: Option<String>,
    /// Of each host.
    got: Vec<Got>,
    /// What comes from then on is counted.
    counted: u64,
    gone: Vec<u32>,
}

impl Log {
    /// The host of `packet`, if that counts. What had waited before does not: a queue that has let it stand would be
    /// the one that brings more. But of a download always as much waits.
    fn counted(&mut self, now: Instant, packet: &Packet<u32>) -> Option<&mut Got> {
        let since = if is_download(packet) {
            now
        } else {
            packet.arrived
        };
        let counts = since.as_nanos() >= self.counted;
        counts.then(|| &mut self.got[usize::from(packet.band)])
    }

    fn gone(&mut self, packet: &Packet<u32>) {
        if is_download(packet) {
            self.gone.push(u32::from(packet.band));
        }
    }
}

fn is_download(packet: &Packet<u32>) -> bool {
    (DOWNLOADS..ATTACKERS).contains(&u32::from(packet.band))
}

impl Observer<u32> for Log {
    fn dropped(&mut self, now: Instant, packet: Packet<u32>, reason: DropReason) {
        if let Some(lines) = &mut self.lines {
            writeln!(lines, "drop {} {}", packet.payload, reason.name()).unwrap();
        }
        self.gone(&packet);
        if let Some(got) = self.counted(now, &packet) {
            got.lost += 1;
        }
    }
}

/// A line under attack.
pub struct Line<'a> {
    attack: &'a Attack,
    queue: Box<dyn Qdisc<u32>>,
    senders: Vec<Sender>,
    due: BinaryHeap<Reverse<(u64, usize)>>,
    random: Stream,
    log: Log,
    /// When the line is free.
    free: u64,
    number: u32,
    born: u32,
    /// In the format of `kernel/test/trace_mencius.h`.
    operations: Option<String>,
}

/// What comes of an attack.
pub struct Outcome {
    pub got: Vec<Got>,
    /// What all downloads would get if every host got the same.
    pub due: u64,
    pub operations: String,
    pub decisions: String,
}

impl Outcome {
    /// What all downloads get.
    pub fn downloads(&self) -> u64 {
        let hosts = &self.got[DOWNLOADS as usize..ATTACKERS as usize];
        hosts.iter().map(|got| got.bytes).sum()
    }

    /// ms that 95 of 100 look-ups waited at most.
    pub fn names_p95(&self) -> f64 {
        self.got[NAMES as usize].p95()
    }
}

/// Hosts that send.
pub fn hosts(attack: &Attack) -> u64 {
    3 + attack.value("other computers with a download") + attack.value("attacking computers")
}

pub fn bytes_a_second(attack: &Attack) -> u64 {
    attack.value("line, kbit/s") * 125
}

/// ns between two packets of the host that sends one now and then: four turns of it, and more.
pub fn sparse(attack: &Attack) -> u64 {
    4 * 1514 * SECOND * hosts(attack) / bytes_a_second(attack)
}

impl<'a> Line<'a> {
    /// With this discipline. `operations`: they are written down, after this line.
    pub fn new(attack: &'a Attack, choice: &str, seed: u64, operations: Option<String>) -> Self {
        let mut choice = choice.to_owned();
        if attack.value("shaped by the queue") == 1 {
            let rate = attack.value("line, kbit/s");
            write!(choice, ",bandwidth={rate}kbit").unwrap();
        }
        let env = Env {
            limit: Some(Limit::Packets(attack.value("buffer, packets") as u32)),
            home: Some(Home::Receivers),
            ..Env::default()
        };
        let queue = Registry::builtin().build(&choice.parse().unwrap(), &env);
        let mut line = Line {
            attack,
            queue: queue.unwrap(),
            senders: Vec::new(),
            due: BinaryHeap::new(),
            random: Stream::new(seed, "line"),
            log: Log {
                lines: operations.is_some().then(String::new),
                got: vec![Got::default(); 128],
                counted: COUNTED,
                gone: Vec::new(),
            },
            free: 0,
            number: 0,
            born: 0,
            operations,
        };
        line.place_victims();
        line.place_attackers();
        line
    }

    fn add(&mut self, from: u64, host: u32, kind: Kind) {
        let sender = Sender {
            host,
            flow: 1000 + self.senders.len() as u32,
            kind,
        };
        let first = from + self.random.below(100 * MS);
        self.due.push(Reverse((first, self.senders.len())));
        self.senders.push(sender);
    }

    /// A call of half of its fair share, look-ups, a host that sends a packet now and then, and downloads.
    fn place_victims(&mut self) {
        let share = bytes_a_second(self.attack) / hosts(self.attack);
        self.add(0, CALL, Kind::Frames((share / 2).min(312_500) / 30));
        self.add(0, NAMES, Kind::Names);
        self.add(0, SPARSE, Kind::Sparse(sparse(self.attack)));
        let downloads = self.attack.value("other computers with a download");
        let room = self.attack.value("buffer, packets") / 2;
        let window = WINDOW.min(room / downloads.max(1)) as usize;
        self.log.gone = (0..downloads as u32)
            .flat_map(|host| vec![DOWNLOADS + host; window])
            .collect();
    }

    fn place_attackers(&mut self) {
        let value = |name| self.attack.value(name);
        let (hosts, flows) = (value("attacking computers"), value("flows of each"));
        let line = bytes_a_second(self.attack);
        let flood = line * value("flood, % of the line") / 100;
        let len = value("packets, bytes").max(flood / PACKETS).min(1500);
        let flood = flood.min(len * PACKETS);
        let on = value("for, ms") * MS;
        let of = (value("in each, ms") * MS).max(on);
        let at_once = value("of so many flows at once").min(hosts * flows);
        let apart = hosts * flows * SECOND / PACKETS;
        let births = value("births a second");
        let [kept, sent] = [value("bytes of that"), value("packets of that, bytes")];
        let keep = value("alive every, ms") * MS;
        let steady = value("each flow always, kbit/s") * 125;
        for index in 0..hosts * flows {
            let host = ATTACKERS + (index % hosts) as u32;
            if let Some(every) = (len * at_once * SECOND).checked_div(flood) {
                self.add(
                    ATTACKED,
                    host,
                    Kind::Turn {
                        len: len as u32,
                        every,
                        on,
                        of,
                        slot: (index / at_once, (hosts * flows).div_ceil(at_once)),
                    },
                );
            }
            // Of the flow that floods in its turn, if there is one.
            let flow = 1000 + self.senders.len() as u32 - u32::from(flood > 0);
            let always = (sent * SECOND).checked_div(steady);
            for (len, every) in [(kept, keep), (sent, always.unwrap_or(0))] {
                if every > 0 {
                    let (len, every) = (len as u32, every.max(apart));
                    self.add(ATTACKED, host, Kind::Constant { len, every });
                    self.senders.last_mut().unwrap().flow = flow;
                }
            }
        }
        if let Some(every) = SECOND.checked_div(births) {
            self.add(ATTACKED, ATTACKERS, Kind::Births(every));
        }
    }

    fn enqueue(&mut self, now: u64, (host, flow): (u32, u32), len: u32) {
        let [hash, address] = [flow, host].map(|number| number.wrapping_mul(SPREADS));
        if let Some(operations) = &mut self.operations {
            writeln!(operations, "e {now} {hash} {flow} {address} {len} 0").unwrap();
        }
        let packet = Packet {
            len,
            flow: FlowId(flow),
            hash,
            hosts: Hosts::new(flow, address),
            band: host as u8,
            payload: self.number,
            arrived: Instant::from_nanos(now),
            ..Packet::default()
        };
        self.number += 1;
        self.queue
            .enqueue(Instant::from_nanos(now), packet, &mut self.log);
    }

    /// Sends what is due, and says when it is next.
    fn send(&mut self, now: u64, index: usize) -> u64 {
        let Sender { host, flow, kind } = self.senders[index];
        let of_host = (host, flow);
        match kind {
            Kind::Frames(bytes) => {
                let mut left = bytes.max(100);
                while left > 0 {
                    let len = left.min(1200);
                    self.enqueue(now, of_host, len.max(40) as u32);
                    left -= len;
                }
                now + SECOND / 30
            }
            Kind::Names => {
                let flow = self.new_flow();
                self.enqueue(now, (host, flow), 80);
                now + 1 + self.random.below(SECOND / 5)
            }
            Kind::Sparse(least) => {
                self.enqueue(now, of_host, 1400);
                // Less than 250 ms apart, if it can be: so it is settled.
                now + least + self.random.below((240 * MS).saturating_sub(least).max(MS))
            }
            Kind::Constant { len, every } => {
                self.enqueue(now, of_host, len);
                now + every
            }
            Kind::Turn {
                len,
                every,
                on,
                of,
                slot,
            } => {
                let (turn, into) = ((now - ATTACKED) / of, (now - ATTACKED) % of);
                let mine = turn % slot.1 == slot.0;
                if mine && into < on {
                    self.enqueue(now, of_host, len);
                    return now + every.max(1);
                }
                let later = if turn % slot.1 < slot.0 { 0 } else { slot.1 };
                ATTACKED + (turn - turn % slot.1 + later + slot.0) * of
            }
            Kind::Births(every) => {
                let flow = self.new_flow();
                self.enqueue(now, (host, flow), 100);
                now + every
            }
        }
    }

    fn new_flow(&mut self) -> u32 {
        self.born += 1;
        1_000_000 + self.born
    }

    /// Downloads have as many packets waiting as before.
    fn refill(&mut self, now: u64) {
        for host in std::mem::take(&mut self.log.gone) {
            self.enqueue(now, (host, host), 1500);
        }
    }

    /// The line asks for a packet. It is busy until [`Line::free`].
    fn dequeue(&mut self, now: u64) {
        if let Some(operations) = &mut self.operations {
            writeln!(operations, "d {now}").unwrap();
        }
        let at = Instant::from_nanos(now);
        let Some(packet) = self.queue.dequeue(at, &mut self.log) else {
            let wake = self.queue.next_wake(at).map(|wake| wake.as_nanos());
            if let (Some(until), Some(lines)) = (wake, &mut self.log.lines) {
                writeln!(lines, "wait {until}").unwrap();
            }
            self.free = wake.unwrap_or(u64::MAX);
            return;
        };
        let waited = at.since(packet.arrived).as_nanos();
        if let Some(lines) = &mut self.log.lines {
            let (number, waits) = (packet.payload, self.queue.backlog());
            let (packets, bytes) = (waits.packets, waits.bytes);
            writeln!(lines, "tx {number} {waited} {packets} {bytes}").unwrap();
        }
        if let Some(got) = self.log.counted(at, &packet) {
            got.bytes += u64::from(packet.len);
            if u32::from(packet.band) < DOWNLOADS {
                got.waits.push(waited);
            }
        }
        self.log.gone(&packet);
        // A shaped queue is before a line that is faster.
        let faster = 1 + 9 * self.attack.value("shaped by the queue");
        self.free = now + u64::from(packet.len) * SECOND / bytes_a_second(self.attack) / faster;
    }

    /// What everybody gets from `counted` until `end`.
    pub fn run(mut self, counted: u64, end: u64) -> Outcome {
        self.log.counted = counted;
        let mut now = 0;
        self.refill(now);
        while now < end {
            let next = self.due.peek().map_or(u64::MAX, |due| due.0.0);
            if self.free <= next {
                now = self.free;
                self.dequeue(now);
                self.refill(now);
            } else {
                now = next;
                let index = self.due.pop().unwrap().0.1;
                let again = self.send(now, index);
                self.due.push(Reverse((again, index)));
                self.refill(now);
                if self.free == u64::MAX {
                    self.free = now;
                }
            }
        }
        let waits = self.queue.backlog();
        let mut decisions = self.log.lines.unwrap_or_default();
        writeln!(decisions, "end {} {}", waits.packets, waits.bytes).unwrap();
        let downloads = self.attack.value("other computers with a download");
        let share = bytes_a_second(self.attack) / hosts(self.attack);
        Outcome {
            got: self.log.got,
            due: (downloads * share * (end - counted) / SECOND).max(1),
            operations: self.operations.unwrap_or_default() + "end\n",
            decisions,
        }
    }
}
