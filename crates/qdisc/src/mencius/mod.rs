//! `mencius`: hosts share the link, flows share what their host gets, and whoever has kept its queue
//! short is not made to wait because others came.

mod calm;
mod hold;
mod rounds;

use crate::codel::{Codel, Config, Queue, Threshold};
use crate::confucius::flow_table::{FlowTable, Found};
use crate::confucius::heap::{Heap, Places};
use crate::pool::{Fifo, Pool};
use crate::{Backlog, Discipline, DropReason, Env, FlowId, Observer, Packet, Qdisc};
use calm::Calm;
use hold::{Hold, Rules};
use rounds::{Members, Round};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

/// Which of a packet's addresses is the home's.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Side {
    /// The receiver's: a downlink.
    Destination,
    /// The sender's: an uplink.
    Source,
    /// Nobody's: flows alone share the link.
    None,
}

impl units::param::Value for Side {
    const KIND: &'static str = "destination, source or none";
    fn parse(text: &str) -> Result<Self, units::ParseError> {
        match text {
            "destination" => Ok(Side::Destination),
            "source" => Ok(Side::Source),
            "none" => Ok(Side::None),
            _ => Err(units::ParseError::new(text, Self::KIND)),
        }
    }
}

impl core::fmt::Display for Side {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Side::Destination => "destination",
            Side::Source => "source",
            Side::None => "none",
        })
    }
}

units::params! {
    /// Parameters of `mencius`.
    pub struct MenciusParams {
        /// Packets that may wait.
        limit: u32 = "10240", range "1".."1000000", source "Linux sch_fq_codel.c";
        /// Flows that are told apart. Fixed once there is a queue.
        flows: u32 = "1024", range "8".."65536", source "ours";
        /// Whose address stands for a host.
        hosts: Side = "destination", source "ours";
        /// The most that a packet of an established flow is made to wait, with exceptions.
        hold: Duration = "80ms", range "4ms".."1s", source "ours";
        /// In this time the least that others get beside established flows doubles.
        doubling: Duration = "1s", range "10ms".."1min", source "ours";
        /// The same between hosts.
        across: Duration = "1s", range "10ms".."1min", source "ours";
        /// Parts of 256 of its host's share that established flows may take whenever they wait.
        part: u32 = "128", range "0".."256", source "ours";
        /// Acceptable standing queue delay of a flow.
        target: Duration = "5ms", range "1us".."10s", source "RFC 8289, 4.3";
        /// How long the delay may stand above the target.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8289, 4.2";
        /// The same of a flow that is held back while its host's established flows are protected.
        eased: Duration = "5ms", range "1us".."10s", source "ours";
        /// Mark instead of dropping where the packet allows it.
        ecn: bool = "yes", source "RFC 8290, 5.2.6";
    }
}

/// Bytes of a turn.
const QUANTUM: i64 = 1514;
/// A flow without packets for so long is forgotten.
const IDLE: Duration = Duration::from_secs(5);

/// `mencius` for the registry.
pub fn mencius<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "mencius",
        summary: "hosts and flows share alike, and whoever keeps its queue short is not made to wait by others",
        about: "Trial.",
        source: "ours",
        params: MenciusParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Mencius::new(parts.settings, parts.env)?)),
    }
}

#[derive(Debug, Clone)]
struct Flow {
    queue: Fifo,
    codel: Codel,
    calm: Calm,
    host: usize,
}

#[derive(Debug)]
struct Host {
    round: Round,
    hold: Hold,
    /// Waiting flows that are established, by the arrival of their oldest packet.
    waiting: Heap,
    own: u32,
    others: u32,
    packets: u32,
}

/// The discipline.
#[derive(Debug)]
pub struct Mencius<P> {
    params: MenciusParams,
    rules: Rules,
    plain: Config,
    established: Config,
    eased: Config,
    pool: Pool<P>,
    table: FlowTable,
    host_table: FlowTable,
    flows: Vec<Flow>,
    hosts: Vec<Host>,
    flow_members: Members,
    host_members: Members,
    round: Round,
    places: Places,
    backlog: Backlog,
    /// The hold of all hosts together.
    hold: Hold,
    all: Rules,
}

struct One<'a, P> {
    pool: &'a mut Pool<P>,
    fifo: &'a mut Fifo,
    backlog: &'a mut Backlog,
    all: u64,
    popped: u32,
}

impl<P> Queue<P> for One<'_, P> {
    fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.pool.pop(self.fifo)?;
        self.backlog.remove(packet.len);
        self.popped += 1;
        Some(packet)
    }
    fn backlog_bytes(&self) -> u64 {
        self.all
    }
}

impl<P> Mencius<P> {
    /// A discipline with `settings` in the place that `env` describes.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = MenciusParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        let table = FlowTable::new(params.flows as usize);
        let host_table = FlowTable::new(256);
        let flow = Flow {
            queue: Fifo::default(),
            codel: Codel::default(),
            calm: Calm::new(Instant::ZERO),
            host: 0,
        };
        let hosts = (0..host_table.len()).map(|_| Host {
            round: Round::default(),
            hold: Hold::new(Instant::ZERO),
            waiting: Heap::default(),
            own: 0,
            others: 0,
            packets: 0,
        });
        let config = |target| Config::new(target, params.interval, params.ecn, Threshold(None));
        Ok(Mencius {
            rules: Rules {
                most: params.hold,
                part: i64::from(params.part),
                doubling: params.doubling,
            },
            plain: config(params.target),
            established: config(params.hold / 4),
            eased: config(params.eased),
            pool: Pool::new(),
            flows: vec![flow; table.len()],
            hosts: hosts.collect(),
            flow_members: Members::new(table.len()),
            host_members: Members::new(host_table.len()),
            round: Round::default(),
            places: Places::new(table.len()),
            backlog: Backlog::default(),
            hold: Hold::new(Instant::ZERO),
            all: Rules {
                most: params.hold,
                part: 0,
                doubling: params.across,
            },
            table,
            host_table,
            params,
        })
    }

    fn flow_of(&mut self, now: Instant, packet: &Packet<P>) -> usize {
        let side = match self.params.hosts {
            Side::Destination => packet.hosts.destination,
            Side::Source => packet.hosts.source,
            Side::None => 0,
        };
        let hosts = &self.hosts;
        let host = match self
            .host_table
            .find(now, side, FlowId(side), |host| hosts[host].packets > 0)
        {
            Found::Known(host) | Found::Shared(host) => host,
            Found::Fresh(host) | Found::FirstShared(host) => {
                self.hosts[host].hold = Hold::new(now);
                host
            }
        };
        let flows = &self.flows;
        match self.table.find(now, packet.hash, packet.flow, |flow| {
            !flows[flow].queue.is_empty()
        }) {
            Found::Known(flow) | Found::Shared(flow) => flow,
            Found::Fresh(flow) | Found::FirstShared(flow) => {
                let state = &mut self.flows[flow];
                state.codel = Codel::default();
                state.calm = Calm::new(now);
                state.host = host;
                self.hosts[host].hold.birth = now;
                self.hold.birth = now;
                flow
            }
        }
    }

    fn expire(&mut self, now: Instant) {
        while let Some(flow) = self.table.idle(now, IDLE) {
            if !self.flows[flow].queue.is_empty() || !self.flow_members.is_idle(flow) {
                self.table.touch(now, flow);
                break;
            }
            self.table.forget(flow);
        }
        while let Some(host) = self.host_table.idle(now, IDLE * 4) {
            if self.hosts[host].packets > 0 || !self.host_members.is_idle(host) {
                self.host_table.touch(now, host);
                break;
            }
            self.host_table.forget(host);
        }
    }

    /// Drops the oldest packet of the fattest flow of the fattest host.
    fn make_room(&mut self, now: Instant, observer: &mut dyn Observer<P>) {
        let host = (0..self.hosts.len())
            .max_by_key(|host| self.hosts[*host].packets)
            .unwrap_or(0);
        let of_host = (0..self.flows.len()).filter(|flow| self.flows[*flow].host == host);
        let Some(flow) = of_host.max_by_key(|flow| self.flows[*flow].queue.backlog().bytes) else {
            return;
        };
        self.unlist(flow);
        let state = &mut self.flows[flow];
        if let Some(packet) = self.pool.pop(&mut state.queue) {
            self.backlog.remove(packet.len);
            self.hosts[host].packets -= 1;
            self.flows[flow].codel.signal(1);
            self.flows[flow].calm.dropped(now);
            observer.dropped(now, packet, DropReason::Overlimit);
        }
        self.list(now, flow);
    }

    /// Counts a flow that waits among the established or the others of its host.
    fn list(&mut self, now: Instant, flow: usize) {
        let state = &self.flows[flow];
        let host = &mut self.hosts[state.host];
        let Some(head) = self.pool.peek(&state.queue) else {
            return;
        };
        if state.calm.established(now) {
            host.own += 1;
            host.waiting
                .push(&mut self.places, head.arrived.as_nanos(), flow);
        } else {
            host.others += 1;
        }
    }

    fn unlist(&mut self, flow: usize) {
        let state = &self.flows[flow];
        let host = &mut self.hosts[state.host];
        if state.queue.is_empty() {
            return;
        }
        if self.places.holds(flow) {
            host.own -= 1;
            host.waiting.remove(&mut self.places, flow);
        } else {
            host.others -= 1;
        }
    }

    /// The established flow of `host` that goes before others.
    fn held(&mut self, now: Instant, host: usize) -> Option<usize> {
        let host = &mut self.hosts[host];
        let (arrival, flow) = host.waiting.top()?;
        let wait = now.since(Instant::from_nanos(arrival));
        let counts = (host.own, host.others);
        (host.others > 0 && host.hold.serves(now, wait, &self.rules, counts)).then_some(flow)
    }

    /// The established flow that goes before what all other hosts have.
    fn held_by_all(&mut self, now: Instant) -> Option<usize> {
        let with_own = || self.hosts.iter().filter(|host| host.own > 0);
        let others = self.hosts.iter().filter(|host| host.others > 0).count() as u32;
        let own = with_own().count() as u32;
        let (arrival, flow) = with_own().filter_map(|host| host.waiting.top()).min()?;
        let host = self.flows[flow].host;
        let alone = others == u32::from(self.hosts[host].others > 0);
        let wait = now.since(Instant::from_nanos(arrival));
        (!alone && self.hold.serves(now, wait, &self.all, (own, others))).then_some(flow)
    }

    fn send(
        &mut self,
        now: Instant,
        flow: usize,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        let was_established = self.places.holds(flow);
        self.unlist(flow);
        let all = self.backlog.bytes;
        let state = &mut self.flows[flow];
        let host = &mut self.hosts[state.host];
        let on = host.hold.is_on() || self.hold.is_on();
        let head = self
            .pool
            .peek(&state.queue)
            .map(|head| now.since(head.arrived));
        let spared = was_established && on && head.is_some_and(|wait| wait < self.rules.most * 2);
        let mut one = One {
            pool: &mut self.pool,
            fifo: &mut state.queue,
            backlog: &mut self.backlog,
            all,
            popped: 0,
        };
        let packet = if spared {
            one.pop()
        } else {
            let config = match (was_established, on) {
                (true, _) => &self.established,
                (false, true) => &self.eased,
                (false, false) => &self.plain,
            };
            state.codel.dequeue(now, config, &mut one, observer)
        };
        let popped = one.popped;
        host.packets -= popped;
        if popped > u32::from(packet.is_some()) && !(was_established && on) {
            state.calm.dropped(now);
        }
        if let Some(packet) = &packet {
            let wait = now.since(packet.arrived);
            if !(was_established && on) {
                state
                    .calm
                    .left(now, wait, self.rules.low(), self.rules.most);
            }
            if host.others > 0 || !was_established {
                host.hold.sent(packet.len, was_established, &self.rules);
            }
            self.hold.sent(packet.len, was_established, &self.all);
        }
        self.list(now, flow);
        packet
    }

    /// The next packet of `host`.
    fn of_host(
        &mut self,
        now: Instant,
        host: usize,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        if let Some(flow) = self.held(now, host)
            && let Some(packet) = self.send(now, flow, observer)
        {
            return Some(packet);
        }
        while let Some(flow) = self.hosts[host].round.next(&mut self.flow_members, QUANTUM) {
            match self.send(now, flow, observer) {
                Some(packet) => {
                    self.flow_members.charge(flow, packet.len);
                    return Some(packet);
                }
                None => self.hosts[host].round.leave(&mut self.flow_members),
            }
        }
        None
    }
}

impl<P: Send> Qdisc<P> for Mencius<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.expire(now);
        let flow = self.flow_of(now, &packet);
        let host = self.flows[flow].host;
        self.flows[flow].calm.arrived(now);
        let first = self.flows[flow].queue.is_empty();
        self.backlog.add(packet.len);
        self.hosts[host].packets += 1;
        self.pool.push(&mut self.flows[flow].queue, now, packet);
        if first {
            self.list(now, flow);
        }
        self.hosts[host]
            .round
            .join_new(&mut self.flow_members, flow, QUANTUM);
        self.round.join_new(&mut self.host_members, host, QUANTUM);
        if self.backlog.packets > self.params.limit {
            self.make_room(now, observer);
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        if let Some(flow) = self.held_by_all(now)
            && let Some(packet) = self.send(now, flow, observer)
        {
            return Some(packet);
        }
        while let Some(host) = self.round.next(&mut self.host_members, QUANTUM) {
            match self.of_host(now, host, observer) {
                Some(packet) => {
                    self.host_members.charge(host, packet.len);
                    return Some(packet);
                }
                None => self.round.leave(&mut self.host_members),
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        _: Instant,
        settings: &Settings,
        _: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        self.params = params;
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}
