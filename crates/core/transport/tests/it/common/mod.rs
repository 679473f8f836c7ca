//! Two end points and a virtual link between them.
#![allow(dead_code, reason = "every test file uses a part of it")]

use cca::{Choice, Control, Registry, Setup};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use transport::{Connection, Event, Transmit, Wire};
use units::random::Stream;
use units::{Duration, Ecn, Instant, Rate};

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

pub fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// A control by name, with an initial window of ten packets.
pub fn control(name: &str, mss: u64) -> Box<dyn Control> {
    let setup = Setup {
        mss,
        initial_window: 10 * mss,
        ..Setup::default()
    };
    let choice: Choice = name.parse().unwrap();
    Registry::builtin().build(&choice, &setup).unwrap()
}

/// 20 ms each way, no serialisation, no loss.
pub fn pure_delay() -> [Direction; 2] {
    [(); 2].map(|()| Direction::new(None, Duration::from_millis(20), usize::MAX))
}

/// A fault of a packet on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Drop,
    /// Arrives later than it would by this much.
    Delay(Duration),
    /// Arrives twice, the second time later by this much.
    Duplicate(Duration),
    /// Congestion Experienced, if its sender understands.
    Mark,
}

/// A packet on its way, as tests look at it.
#[derive(Clone)]
pub struct Sent {
    pub at: Instant,
    pub from: usize,
    pub len: u32,
    pub ecn: Ecn,
    pub packet: Wire,
    pub fault: Fault,
}

impl Sent {
    /// First byte, length of a data segment.
    pub fn data(&self) -> Option<(u64, u32)> {
        match &self.packet {
            Wire::Tcp(segment) if segment.len > 0 => Some((segment.seq, segment.len)),
            _ => None,
        }
    }
}

/// Decides on packets.
pub type Faults = Box<dyn FnMut(u64, &Transmit) -> Fault>;
/// Looks at both ends.
pub type Check<C> = Box<dyn FnMut(&[C; 2])>;

/// One direction of the link.
pub struct Direction {
    /// `None` for no serialisation at all.
    pub rate: Option<Rate>,
    pub delay: Duration,
    /// Packets that may wait or be in transmission.
    pub queue: usize,
    /// The fault of a packet, given its number in this direction and itself.
    pub fault: Faults,
    free_at: Instant,
    departures: std::collections::VecDeque<Instant>,
    count: u64,
    pub queue_drops: u64,
}

impl Direction {
    pub fn new(rate: Option<Rate>, delay: Duration, queue: usize) -> Self {
        Direction {
            rate,
            delay,
            queue,
            fault: Box::new(|_, _| Fault::None),
            free_at: Instant::ZERO,
            departures: std::collections::VecDeque::new(),
            count: 0,
            queue_drops: 0,
        }
    }
}

/// An arrival; the order of equal moments is the order of sending.
struct Flight {
    at: Instant,
    order: u64,
    to: usize,
    ecn: Ecn,
    packet: Wire,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl Eq for Flight {}
impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Two end points of one kind and their recorded events.
pub struct Pair<C> {
    pub now: Instant,
    pub ends: [C; 2],
    /// The directions in which client and server send.
    pub ways: [Direction; 2],
    pub log: Vec<Sent>,
    pub keep_log: bool,
    pub connected: [Option<Instant>; 2],
    /// Bytes received in order at each end, by stream.
    pub received: [std::collections::BTreeMap<u32, u64>; 2],
    /// When the last byte so far was received.
    pub last_received: [Instant; 2],
    pub writable: [u64; 2],
    /// Called after every step.
    pub check: Check<C>,
    arrivals: BinaryHeap<Reverse<Flight>>,
    order: u64,
}

impl<C: Connection> Pair<C> {
    pub fn new(client: C, server: C, ways: [Direction; 2]) -> Self {
        Pair {
            now: Instant::ZERO,
            ends: [client, server],
            ways,
            log: Vec::new(),
            keep_log: true,
            connected: [None; 2],
            received: Default::default(),
            last_received: [Instant::ZERO; 2],
            writable: [0; 2],
            check: Box::new(|_| ()),
            arrivals: BinaryHeap::new(),
            order: 0,
        }
    }

    /// Both directions lose, delay (by up to 60 ms) and duplicate packets, in percent.
    pub fn disturb(&mut self, seed: u64, [loss, reorder, duplicate]: [u64; 3]) {
        for (way, name) in self.ways.iter_mut().zip(["up", "down"]) {
            let mut chance = Stream::new(seed, name);
            way.fault = Box::new(move |_, _| {
                let late = Duration::from_micros(chance.below(60_000));
                match chance.below(100) {
                    draw if draw < loss => Fault::Drop,
                    draw if draw < loss + reorder => Fault::Delay(late),
                    draw if draw < loss + reorder + duplicate => Fault::Duplicate(late),
                    _ => Fault::None,
                }
            });
        }
    }

    pub fn open(&mut self) {
        self.ends[CLIENT].open(self.now);
        self.drive(CLIENT);
    }

    pub fn send(&mut self, end: usize, stream: u32, bytes: u64) {
        self.ends[end].send(self.now, stream, bytes);
        self.drive(end);
    }

    pub fn total(&self, end: usize) -> u64 {
        self.received[end].values().sum()
    }

    /// The time of the next event.
    pub fn next(&self) -> Instant {
        let arrival = self
            .arrivals
            .peek()
            .map_or(Instant::NEVER, |first| first.0.at);
        self.ends
            .iter()
            .map(|end| end.next_timer().max(self.now))
            .fold(arrival, Instant::min)
    }

    /// Runs up to and including `until`.
    pub fn run_until(&mut self, until: Instant) {
        self.run_while(until, |_| true);
    }

    /// Runs while `go_on` returns true, until there are no more events or `limit` is reached;
    /// returns whether `go_on` ended it.
    pub fn run_while(&mut self, limit: Instant, go_on: impl Fn(&Self) -> bool) -> bool {
        while go_on(self) {
            let next = self.next();
            if next > limit || next == Instant::NEVER {
                self.now = self.now.max(limit.min(next));
                return false;
            }
            self.now = next;
            self.step();
        }
        true
    }

    /// Runs until `end` has received `bytes` in all; when that was, or `None` if not by `limit`.
    pub fn run_received(&mut self, end: usize, bytes: u64, limit: Instant) -> Option<Instant> {
        self.run_while(limit, |pair| pair.total(end) < bytes)
            .then_some(self.now)
    }

    fn step(&mut self) {
        if let Some(first) = self.arrivals.peek()
            && first.0.at <= self.now
            && let Some(Reverse(flight)) = self.arrivals.pop()
        {
            self.ends[flight.to].handle(self.now, flight.ecn, &flight.packet);
            self.drive(flight.to);
            return;
        }
        for end in [CLIENT, SERVER] {
            if self.ends[end].next_timer() <= self.now {
                self.ends[end].on_timer(self.now);
                self.drive(end);
                let next = self.ends[end].next_timer();
                assert!(next > self.now, "a timer that has run out stays");
            }
        }
    }

    fn drive(&mut self, end: usize) {
        while let Some(transmit) = self.ends[end].transmit(self.now) {
            self.carry(end, transmit);
        }
        while let Some(event) = self.ends[end].event() {
            match event {
                Event::Connected => {
                    assert_eq!(self.connected[end], None, "connected once");
                    self.connected[end] = Some(self.now);
                }
                Event::Received { stream, bytes } => {
                    assert!(bytes > 0);
                    *self.received[end].entry(stream).or_default() += bytes;
                    self.last_received[end] = self.now;
                }
                Event::Writable => self.writable[end] += 1,
                Event::Noticed(_) => {}
            }
        }
        (self.check)(&self.ends);
    }

    fn carry(&mut self, from: usize, transmit: Transmit) {
        let way = &mut self.ways[from];
        let fault = (way.fault)(way.count, &transmit);
        way.count += 1;
        if self.keep_log {
            self.log.push(Sent {
                at: self.now,
                from,
                len: transmit.len,
                ecn: transmit.ecn,
                packet: transmit.packet.clone(),
                fault,
            });
        }
        if fault == Fault::Drop {
            return;
        }
        while way.departures.front().is_some_and(|&at| at <= self.now) {
            way.departures.pop_front();
        }
        if way.departures.len() >= way.queue {
            way.queue_drops += 1;
            return;
        }
        let wire = way
            .rate
            .map_or(Duration::ZERO, |rate| rate.time_for(transmit.len.into()));
        way.free_at = way.free_at.max(self.now) + wire;
        way.departures.push_back(way.free_at);
        let mut at = way.free_at + way.delay;
        let ecn = match (fault, transmit.ecn) {
            (Fault::Mark, Ecn::Ect0 | Ecn::Ect1) => Ecn::Ce,
            (_, ecn) => ecn,
        };
        if let Fault::Delay(extra) = fault {
            at += extra;
        }
        self.arrive(at, 1 - from, ecn, &transmit.packet);
        if let Fault::Duplicate(extra) = fault {
            self.arrive(at + extra, 1 - from, ecn, &transmit.packet);
        }
    }

    fn arrive(&mut self, at: Instant, to: usize, ecn: Ecn, packet: &Wire) {
        self.order += 1;
        self.arrivals.push(Reverse(Flight {
            at,
            order: self.order,
            to,
            ecn,
            packet: packet.clone(),
        }));
    }
}
