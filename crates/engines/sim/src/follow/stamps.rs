//! The time stamps that TCP segments carry (RFC 7323), as a router reads them.
//!
//! The simulated TCP needs none. They are made here, of the moments at which segments leave and reach
//! their ends: each end has a clock of its own that begins anywhere and ticks in ms, as Linux's do.

use autorate::Stamps;
use measure::PacketId;
use std::collections::{BTreeMap, VecDeque};
use units::random::Stream;
use units::{FlowId, Instant};

/// The clocks of the ends of all TCP flows, and the stamps of the segments under way.
#[derive(Debug)]
pub struct Clocks {
    seed: u64,
    flows: BTreeMap<FlowId, [StampedEnd; 2]>,
    /// By number, from `first` on.
    under_way: VecDeque<Option<Segment>>,
    first: u64,
}

/// An end of a flow.
#[derive(Debug, Clone, Copy)]
struct StampedEnd {
    /// What its clock says at the start, ms.
    offset: u32,
    /// The TSval that it echoes.
    recent: u32,
    /// It has sent nothing since that came: a later one does not replace it (RFC 7323, 4.2).
    owes: bool,
    /// Bytes sent, which are its sequence numbers: headers count, and what is sent again counts again.
    sent: u32,
    /// The end of what came last.
    has: u32,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    stamps: Stamps,
    up: bool,
}

impl Clocks {
    /// No flows yet.
    pub fn new(seed: u64) -> Self {
        Clocks {
            seed,
            flows: BTreeMap::new(),
            under_way: VecDeque::new(),
            first: 0,
        }
    }

    /// A TCP flow starts.
    pub fn start(&mut self, flow: FlowId) {
        let mut chance = Stream::new(self.seed, &format!("clocks {}", flow.0));
        let mut end = || StampedEnd {
            offset: chance.bits() as u32,
            recent: 0,
            owes: false,
            sent: 0,
            has: 0,
        };
        self.flows.insert(flow, [end(), end()]);
    }

    /// A flow has ended.
    pub fn end(&mut self, flow: FlowId) {
        self.flows.remove(&flow);
    }

    /// A packet leaves its end.
    pub fn sent(&mut self, now: Instant, packet: PacketId, up: bool) {
        let flow = packet.flow.unwrap_or_default();
        let Some(ends) = self.flows.get_mut(&flow) else {
            return;
        };
        let end = &mut ends[usize::from(up)];
        end.owes = false;
        end.sent = end.sent.wrapping_add(packet.bytes);
        let stamps = Stamps {
            flow: flow.0,
            value: end.at(now),
            echo: end.recent,
            end: end.sent,
            has: end.has,
        };
        if self.under_way.is_empty() {
            self.first = packet.number;
        }
        let place = (packet.number - self.first) as usize;
        while self.under_way.len() < place {
            self.under_way.push_back(None);
        }
        self.under_way.push_back(Some(Segment { stamps, up }));
    }

    /// A packet reaches its end.
    pub fn arrived(&mut self, packet: PacketId) {
        let Some(segment) = self.take(packet.number) else {
            return;
        };
        if let Some(ends) = packet.flow.and_then(|flow| self.flows.get_mut(&flow)) {
            let end = &mut ends[usize::from(!segment.up)];
            end.has = segment.stamps.end;
            if !end.owes {
                end.recent = segment.stamps.value;
                end.owes = true;
            }
        }
    }

    /// The packet with this number will not arrive.
    pub fn gone(&mut self, number: u64) {
        self.take(number);
    }

    fn take(&mut self, number: u64) -> Option<Segment> {
        let gone = self.slot(number)?.take();
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first += 1;
        }
        gone
    }

    /// The stamps of the packet with this number, if it has some.
    pub fn stamps(&mut self, number: u64) -> Option<Stamps> {
        let segment = self.slot(number)?.as_ref()?;
        Some(segment.stamps)
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<Segment>> {
        let place = number.checked_sub(self.first)?;
        self.under_way.get_mut(place as usize)
    }
}

impl StampedEnd {
    fn at(&self, now: Instant) -> u32 {
        let ms = now.as_nanos() / 1_000_000;
        self.offset.wrapping_add(ms as u32)
    }
}
