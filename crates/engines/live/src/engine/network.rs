//! The network between the two sides: a scenario's link, and the delay of each flow behind it.

use crate::engine::Side;
use crate::frame::{Frame, Header};
use crate::spare::Spare;
use crate::wire::{self, LinkWire};
use core::cmp::Reverse;
use link::Link;
use measure::{Event, LinkId, PacketId};
use qdisc::{Class, DropReason, FlowId, Observer, Packet};
use scenario::addresses::{FLOWS, flow_of};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Duration, Instant};

/// A packet under way.
#[derive(Debug, Default)]
pub struct Parcel {
    frame: Frame,
    number: u64,
    flow: Option<FlowId>,
    subflow: u8,
}

/// The round trip of each flow, without queueing and transmission. It is set here when a flow is
/// opened.
#[derive(Clone)]
pub struct RoundTrips(Arc<[AtomicU64]>);

impl RoundTrips {
    /// Without flows.
    pub fn new() -> Self {
        RoundTrips((0..FLOWS).map(|_| AtomicU64::new(0)).collect())
    }

    /// That of a flow is `rtt`.
    pub fn set(&self, flow: FlowId, rtt: Duration) {
        if let Some(slot) = self.0.get(flow.0 as usize) {
            slot.store(rtt.as_nanos(), Ordering::Release);
        }
    }

    /// One direction of it. An odd nanosecond is added to the other one.
    fn one_way(&self, flow: Option<FlowId>, to: Side) -> Duration {
        let slot = flow.and_then(|flow| self.0.get(flow.0 as usize));
        let rtt = slot.map_or(0, |slot| slot.load(Ordering::Acquire));
        Duration::from_nanos(match to {
            Side::Home => rtt / 2,
            Side::Net => rtt - rtt / 2,
        })
    }
}

/// A direction's queue, and how packets travel behind it.
#[derive(Debug, Clone, Copy)]
struct QueueLane {
    link: LinkId,
    to: Side,
    /// The link's own part of the delay.
    own_delay: Duration,
}

/// A packet behind the link: when it arrives, which of those that arrive then it is, and where.
struct Flying {
    at: Instant,
    number: u64,
    to: Side,
    frame: Frame,
}

impl PartialEq for Flying {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Flying {}

impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flying {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Both directions. It is given the time, and processes the time that has passed in steps, each at
/// its own moment.
pub struct Network {
    /// Towards the home, and away from it; without a link there is only a delay.
    wires: [(QueueLane, Option<LinkWire<Parcel>>); 2],
    packets: u64,
    watch: EngineWatch,
}

/// What the queues let go: recorded events, packets behind the links, and buffers that are free again.
struct EngineWatch {
    /// The direction that reports now.
    lane: QueueLane,
    events: Vec<(Instant, Event)>,
    flying: BinaryHeap<Reverse<Flying>>,
    round_trips: RoundTrips,
    spare: Spare,
}

impl EngineWatch {
    fn tell(&mut self, now: Instant, event: Event) {
        self.events.push((now, event));
    }
}

fn id(packet: &Packet<Parcel>) -> PacketId {
    PacketId {
        number: packet.payload.number,
        flow: packet.payload.flow,
        subflow: packet.payload.subflow,
        bytes: packet.len,
        ecn: packet.ecn,
    }
}

impl Observer<Parcel> for EngineWatch {
    fn dropped(&mut self, now: Instant, packet: Packet<Parcel>, reason: DropReason) {
        let event = Event::Dropped {
            link: self.lane.link,
            packet: id(&packet),
            reason,
        };
        self.tell(now, event);
        self.spare.put(packet.payload.frame);
    }

    fn marked(&mut self, now: Instant, packet: &Packet<Parcel>) {
        let event = Event::Marked {
            link: self.lane.link,
            packet: id(packet),
        };
        self.tell(now, event);
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let event = Event::Moved {
            link: self.lane.link,
            flow,
            from,
            to,
        };
        self.tell(now, event);
    }
}

/// Behind the link each flow has a way of its own, and so packets overtake each other: they are kept here.
impl wire::WireWatch<Parcel> for EngineWatch {
    fn left(
        &mut self,
        now: Instant,
        packet: Packet<Parcel>,
        arrives: Option<Instant>,
    ) -> Option<Parcel> {
        let (link, id) = (self.lane.link, id(&packet));
        let sojourn = now.since(packet.arrived);
        self.tell(
            now,
            Event::Dequeued {
                link,
                packet: id,
                sojourn,
            },
        );
        let ecn = packet.ecn;
        let mut parcel = packet.payload;
        if ecn == units::Ecn::Ce {
            parcel.frame.mark();
        }
        let Some(arrives) = arrives else {
            self.tell(now, Event::Lost { link, packet: id });
            self.spare.put(parcel.frame);
            return None;
        };
        let all = self.round_trips.one_way(parcel.flow, self.lane.to);
        self.flying.push(Reverse(Flying {
            at: arrives + all.saturating_sub(self.lane.own_delay),
            number: parcel.number,
            to: self.lane.to,
            frame: parcel.frame,
        }));
        None
    }
}

impl Network {
    /// A network without packets under way: the link towards the home, and that away from it if
    /// there is one; `own_delay` is theirs.
    pub fn new(
        links: impl IntoIterator<Item = Link<Parcel>>,
        own_delay: Duration,
        round_trips: RoundTrips,
    ) -> Self {
        let mut links = links.into_iter().map(LinkWire::new);
        let lane = |number, to| QueueLane {
            link: LinkId(number),
            to,
            own_delay,
        };
        let lanes = [lane(0, Side::Home), lane(1, Side::Net)];
        Network {
            wires: lanes.map(|lane| (lane, links.next())),
            packets: 0,
            watch: EngineWatch {
                lane: lanes[0],
                events: Vec::new(),
                flying: BinaryHeap::new(),
                round_trips,
                spare: Spare::default(),
            },
        }
    }

    /// A buffer to read into.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.watch.spare.take()
    }

    /// A packet has been handed on, or was none: its buffer is free.
    pub fn done(&mut self, frame: Frame) {
        self.watch.spare.put(frame);
    }

    /// A packet arrives from the other side, `now`, no earlier than the former events.
    pub fn take(&mut self, now: Instant, to: Side, frame: Frame, header: Header) {
        self.catch_up(now);
        self.packets += 1;
        let (flow, subflow) = flow_of(header.ports).unzip();
        let number = self.packets;
        let (lane, wire) = &mut self.wires[place(to)];
        let Some(wire) = wire else {
            let at = now + self.watch.round_trips.one_way(flow, to);
            let flying = Flying {
                at,
                number,
                to,
                frame,
            };
            return self.watch.flying.push(Reverse(flying));
        };
        let mut packet = header.around(Parcel {
            frame,
            number,
            flow,
            subflow: subflow.unwrap_or_default(),
        });
        // Packets of no known flow are told apart by their hash, far from the numbers of flows.
        packet.flow = flow.unwrap_or(FlowId(packet.hash | 1 << 31));
        self.watch.lane = *lane;
        let event = Event::Enqueued {
            link: lane.link,
            packet: id(&packet),
        };
        self.watch.tell(now, event);
        wire.take(now, packet, &mut self.watch);
    }

    /// The next due time.
    pub fn due(&self) -> Instant {
        let flying = self.watch.flying.peek();
        let arrives = flying.map_or(Instant::NEVER, |Reverse(flying)| flying.at);
        let wires = self.wires.iter().filter_map(|(_, wire)| wire.as_ref());
        wires.map(LinkWire::due).fold(arrives, Instant::min)
    }

    /// A packet that has arrived by `now`, where, and when.
    pub fn arrived(&mut self, now: Instant) -> Option<(Side, Frame, Instant)> {
        self.catch_up(now);
        if self.watch.flying.peek()?.0.at > now {
            return None;
        }
        let Reverse(flying) = self.watch.flying.pop()?;
        Some((flying.to, flying.frame, flying.at))
    }

    /// The events, those of each direction in order, and the queues as they are now.
    pub fn end(self) -> (Vec<(Instant, Event)>, Vec<Link<Parcel>>) {
        let wires = self.wires.into_iter().filter_map(|(_, wire)| wire);
        (self.watch.events, wires.map(LinkWire::into_link).collect())
    }

    fn catch_up(&mut self, now: Instant) {
        for (lane, wire) in &mut self.wires {
            self.watch.lane = *lane;
            if let Some(wire) = wire {
                wire.catch_up(now, &mut self.watch);
            }
        }
    }
}

fn place(to: Side) -> usize {
    match to {
        Side::Home => 0,
        Side::Net => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::{Capacity, Line};
    use qdisc::{Choice, Env, Hosts, Limit, Registry};
    use units::{Ecn, Rate};

    /// 1500 bytes take a millisecond on it.
    fn link(discipline: &str, packets: u32) -> Link<Parcel> {
        let choice: Choice = discipline.parse().unwrap();
        let rate = Rate::from_bits(12_000_000);
        let env = Env {
            limit: Some(Limit::Packets(packets)),
            rate: Some(rate),
            seed: 1,
            home: None,
        };
        let queue = Registry::builtin().build(&choice, &env).unwrap();
        Link::new(queue, Line::new(Capacity::Constant(rate)))
    }

    fn header(ports: (u16, u16)) -> Header {
        Header {
            len: 1500,
            hash: u32::from(ports.0),
            hosts: Hosts::default(),
            ports,
            dscp: 0,
            ecn: Ecn::Ect0,
        }
    }

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// Two flows of 20 and of 5 ms.
    fn network(links: impl IntoIterator<Item = Link<Parcel>>) -> Network {
        let round_trips = RoundTrips::new();
        round_trips.set(FlowId(0), Duration::from_millis(20));
        round_trips.set(FlowId(1), Duration::from_millis(5));
        Network::new(links, Duration::ZERO, round_trips)
    }

    fn all(network: &mut Network) -> Vec<(Side, u8, Instant)> {
        let mut arrived = Vec::new();
        while network.due() != Instant::NEVER {
            let now = network.due();
            while let Some((to, frame, at)) = network.arrived(now) {
                arrived.push((to, frame.bytes()[0], at));
                network.done(frame);
            }
        }
        arrived
    }

    const PORTS: [(u16, u16); 3] = [(1024, 1024), (1025, 1025), (9, 1024)];

    /// A packet of each flow and one of no flow, at once: a millisecond each, and then half of the
    /// flow's round trip.
    #[test]
    fn the_link_is_shared_and_the_way_behind_it_is_each_flows_own() {
        let mut network = network([link("pfifo", 10)]);
        for (number, ports) in (0..).zip(PORTS) {
            network.take(at(0), Side::Home, Frame::new(vec![number]), header(ports));
        }
        let home = Side::Home;
        let arrived = all(&mut network);
        assert_eq!(
            arrived,
            [
                (home, 2, at(3000)),
                (home, 1, at(4500)),
                (home, 0, at(11_000))
            ]
        );
    }

    #[test]
    fn without_an_uplink_the_way_back_is_a_delay() {
        let mut network = network([link("pfifo", 10)]);
        for (number, ports) in (0..).zip(PORTS) {
            network.take(at(7), Side::Net, Frame::new(vec![number]), header(ports));
        }
        let arrived: Vec<Instant> = all(&mut network).into_iter().map(|(.., at)| at).collect();
        assert_eq!(arrived, [at(7), at(2507), at(10_007)]);
        assert_eq!(network.end().0, [], "it passed no queue");
    }

    #[test]
    fn an_uplink_is_a_queue_of_its_own() {
        let mut network = network([link("pfifo", 10), link("pfifo", 10)]);
        network.take(at(0), Side::Home, Frame::new(vec![0]), header(PORTS[0]));
        network.take(at(0), Side::Net, Frame::new(vec![1]), header(PORTS[0]));
        let arrived = all(&mut network);
        let expected = [(Side::Home, 0, at(11_000)), (Side::Net, 1, at(11_000))];
        assert_eq!(arrived, expected);
        let (events, links) = network.end();
        assert_eq!(links.len(), 2);
        let of = |wanted: u16| {
            let link = |event: &Event| match event {
                Event::Enqueued { link, .. } | Event::Dequeued { link, .. } => Some(*link),
                _ => None,
            };
            let events = events.iter().filter_map(|(_, event)| link(event));
            events.filter(|link| *link == LinkId(wanted)).count()
        };
        assert_eq!([of(0), of(1)], [2, 2]);
    }

    /// Called late, it still has the time of each event.
    #[test]
    fn events_have_their_own_times_and_say_whose_packets_they_are() {
        let mut network = network([link("pfifo", 1)]);
        for ports in PORTS {
            network.take(at(0), Side::Home, Frame::new(vec![0]), header(ports));
        }
        assert!(network.arrived(at(60_000)).is_some());
        let told: Vec<(Instant, &str, Option<FlowId>)> = network
            .end()
            .0
            .into_iter()
            .map(|(now, event)| match event {
                Event::Enqueued { packet, .. } => (now, "came", packet.flow),
                Event::Dequeued { packet, .. } => (now, "left", packet.flow),
                Event::Dropped { packet, .. } => (now, "dropped", packet.flow),
                other => panic!("{other:?}"),
            })
            .collect();
        let (first, second) = (Some(FlowId(0)), Some(FlowId(1)));
        assert_eq!(
            told,
            [
                (at(0), "came", first),
                (at(0), "left", first),
                (at(0), "came", second),
                (at(0), "came", None),
                (at(0), "dropped", None),
                (at(1000), "left", second),
            ]
        );
    }
}
