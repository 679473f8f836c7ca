//! Links, and the packets on them.

use crate::agenda::{Agenda, Due, LaneId};
use crate::flights::{Flight, Flights};
use link::Capacity;
use measure::{Event, LinkId, Sink};
use qdisc::{Class, DropReason, FlowId, Hosts, Label, Observer, Packet, Qdisc};
use std::collections::BTreeMap;
use transport::Transmit;
use units::{Duration, Instant, Rate};

/// A queue and the wire behind it.
pub struct Link {
    /// The discipline; its packets are numbers of [`Flights`].
    pub queue: Box<dyn Qdisc<u32>>,
    /// What the wire can carry.
    pub capacity: Capacity,
    /// Bytes that the wire adds to every packet.
    pub overhead: u32,
    /// Packets that the device takes behind the one that it sends.
    pub device: u32,
    /// Packets in the device, the one on the wire included.
    held: u32,
    /// When the device has sent them.
    free: Instant,
    /// When the queue is to be asked again.
    wake: Instant,
}

impl Link {
    /// An idle link.
    pub fn new(queue: Box<dyn Qdisc<u32>>, capacity: Capacity, overhead: u32, device: u32) -> Self {
        Link {
            queue,
            capacity,
            overhead,
            device,
            held: 0,
            free: Instant::ZERO,
            wake: Instant::NEVER,
        }
    }

    /// The device takes no further packet.
    const fn busy(&self) -> bool {
        self.held > self.device
    }

    /// The device takes a packet of `len`; returns when it has been sent.
    fn take(&mut self, now: Instant, len: u32) -> Instant {
        let (start, bytes) = (now.max(self.free), u64::from(len + self.overhead));
        self.held += 1;
        self.free = match &self.capacity {
            Capacity::Constant(rate) => start + rate.time_for(bytes),
            Capacity::Trace(trace) => trace.finish(start, bytes),
        };
        self.free
    }
}

/// How the packets of one end point travel.
#[derive(Debug, Clone)]
pub struct Route {
    /// The flow that they belong to.
    pub flow: FlowId,
    /// Its hash.
    pub hash: u32,
    /// Hashes of the end points' hosts.
    pub hosts: Hosts,
    /// The code point that its packets carry.
    pub dscp: u8,
    /// What the end host claims.
    pub label: Label,
    /// The traffic entry that it belongs to.
    pub entry: u16,
    /// Whom they reach.
    pub to: u32,
    /// First link; the route passes `hops` links from here on.
    pub first: u16,
    /// How many links it passes.
    pub hops: u8,
    /// Propagation, behind the last link.
    pub delay: Duration,
    /// Rate of the sender's own link, and when that is free again.
    pub access: Option<(Rate, Instant)>,
}

/// Links, routes, packets under way, and what is due.
pub struct Network<'a> {
    /// Links towards the home in order, then uplinks in the order in which packets pass them.
    pub links: Vec<Link>,
    /// Routes by the number of the sending end point.
    pub routes: Vec<Route>,
    /// For each route, the lane of its packets behind the last link: those that leave the same link,
    /// or none, and have as far to go arrive in the order in which they left.
    lanes: Vec<LaneId>,
    wires: BTreeMap<(Option<u16>, Duration), LaneId>,
    /// The lane of packets on senders' own links.
    access: LaneId,
    /// Packets under way.
    pub flights: Flights,
    /// What is due.
    pub agenda: Agenda,
    /// Who is told.
    pub sink: &'a mut dyn Sink,
}

impl<'a> Network<'a> {
    /// Links without packets.
    pub fn new(links: Vec<Link>, sink: &'a mut dyn Sink) -> Self {
        let mut agenda = Agenda::default();
        Network {
            links,
            routes: Vec::new(),
            lanes: Vec::new(),
            wires: BTreeMap::new(),
            access: agenda.add_lane(),
            flights: Flights::default(),
            agenda,
            sink,
        }
    }

    /// How the packets of the next end point travel.
    pub fn add_route(&mut self, route: Route) {
        let last = (route.hops > 0).then(|| route.first + u16::from(route.hops) - 1);
        let wire = self.wires.entry((last, route.delay));
        let lane = *wire.or_insert_with(|| self.agenda.add_lane());
        self.lanes.push(lane);
        self.routes.push(route);
    }

    /// End point `from` sends a packet.
    pub fn send(&mut self, now: Instant, from: u32, transmit: Transmit) {
        let flight = self.flights.insert(Flight {
            from,
            hop: 0,
            ecn: transmit.ecn,
            len: transmit.len,
            wire: transmit.packet,
        });
        let route = &mut self.routes[from as usize];
        let Some((rate, free)) = &mut route.access else {
            return self.forward(now, flight);
        };
        *free = now.max(*free) + rate.time_for(u64::from(transmit.len));
        self.agenda.push_in(self.access, *free, Due::Arrive(flight));
    }

    /// A packet goes to its next link, or to its end point.
    pub fn forward(&mut self, now: Instant, number: u32) {
        let flight = self.flights.get_mut(number);
        let from = flight.from as usize;
        let route = &self.routes[from];
        if flight.hop == route.hops {
            let at = now + route.delay;
            self.agenda
                .push_in(self.lanes[from], at, Due::Deliver(number));
            return;
        }
        let index = route.first + u16::from(flight.hop);
        flight.hop += 1;
        let packet = Packet {
            len: flight.len,
            flow: route.flow,
            hash: route.hash,
            hosts: route.hosts,
            dscp: route.dscp,
            ecn: flight.ecn,
            label: route.label,
            arrived: now,
            payload: number,
        };
        let (link, bytes, flow) = (LinkId(index), packet.len, packet.flow);
        self.sink.event(now, Event::Enqueued { link, flow, bytes });
        let mut hook = Hook {
            link,
            sink: self.sink,
            flights: &mut self.flights,
        };
        let state = &mut self.links[usize::from(index)];
        state.queue.enqueue(now, packet, &mut hook);
        if !state.busy() {
            self.start(now, index);
        }
    }

    /// The link's packet is sent; the next one follows.
    pub fn sent(&mut self, now: Instant, link: u16) {
        self.links[usize::from(link)].held -= 1;
        self.start(now, link);
    }

    /// A queue that had held its packets back is asked again.
    pub fn wake(&mut self, now: Instant, link: u16) {
        let state = &mut self.links[usize::from(link)];
        if now >= state.wake {
            state.wake = Instant::NEVER;
        }
        if !state.busy() {
            self.start(now, link);
        }
    }

    /// Puts the next packet of an idle link onto its wire.
    fn start(&mut self, now: Instant, index: u16) {
        let link = &mut self.links[usize::from(index)];
        let mut hook = Hook {
            link: LinkId(index),
            sink: self.sink,
            flights: &mut self.flights,
        };
        let Some(packet) = link.queue.dequeue(now, &mut hook) else {
            if let Some(at) = link.queue.next_wake(now).filter(|&at| at < link.wake) {
                link.wake = at;
                self.agenda.push(at, Due::Wake(index));
            }
            return;
        };
        self.sink.event(
            now,
            Event::Dequeued {
                link: LinkId(index),
                flow: packet.flow,
                bytes: packet.len,
                sojourn: now.since(packet.arrived),
            },
        );
        let done = link.take(now, packet.len);
        let flight = self.flights.get_mut(packet.payload);
        flight.ecn = packet.ecn;
        let from = flight.from as usize;
        let route = &self.routes[from];
        self.agenda.push(done, Due::Sent(index));
        if flight.hop == route.hops {
            let at = done + route.delay;
            self.agenda
                .push_in(self.lanes[from], at, Due::Deliver(packet.payload));
        } else {
            self.agenda.push(done, Due::Arrive(packet.payload));
        }
    }
}

/// Passes a discipline's words on, and frees what it dropped.
struct Hook<'a> {
    link: LinkId,
    sink: &'a mut dyn Sink,
    flights: &'a mut Flights,
}

impl Observer<u32> for Hook<'_> {
    fn dropped(&mut self, now: Instant, packet: Packet<u32>, reason: DropReason) {
        self.flights.remove(packet.payload);
        let (link, flow, bytes) = (self.link, packet.flow, packet.len);
        self.sink.event(
            now,
            Event::Dropped {
                link,
                flow,
                bytes,
                reason,
            },
        );
    }

    fn marked(&mut self, now: Instant, packet: &Packet<u32>) {
        let (link, flow) = (self.link, packet.flow);
        self.sink.event(now, Event::Marked { link, flow });
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let link = self.link;
        self.sink.event(
            now,
            Event::Moved {
                link,
                flow,
                from,
                to,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdisc::{Env, Registry};
    use transport::Wire;
    use units::Ecn;

    /// When packets left the discipline, in microseconds.
    #[derive(Default)]
    struct Left(Vec<u64>);

    impl Sink for Left {
        fn event(&mut self, now: Instant, event: Event) {
            if let Event::Dequeued { .. } = event {
                self.0.push(now.as_nanos() / 1000);
            }
        }
    }

    /// When each of four packets of 1500 B that arrive at once on 12 Mbit/s leaves the discipline,
    /// and when it reaches its end point, in microseconds.
    fn times(device: u32) -> (Vec<u64>, Vec<u64>) {
        let registry = Registry::builtin();
        let pfifo = qdisc::Choice::plain("pfifo");
        let queue = registry.build(&pfifo, &Env::default()).unwrap();
        let capacity = Capacity::Constant("12mbit".parse().unwrap());
        let mut left = Left::default();
        let link = Link::new(queue, capacity, 0, device);
        let mut network = Network::new(vec![link], &mut left);
        network.add_route(Route {
            flow: FlowId(0),
            hash: 0,
            hosts: Hosts::default(),
            dscp: 0,
            label: Label::None,
            entry: 0,
            to: 1,
            first: 0,
            hops: 1,
            delay: Duration::ZERO,
            access: None,
        });
        for _ in 0..4 {
            let transmit = Transmit {
                len: 1500,
                ecn: Ecn::NotCapable,
                packet: Wire::Tcp(Default::default()),
            };
            network.send(Instant::ZERO, 0, transmit);
        }
        let mut delivered = Vec::new();
        while let Some((now, due)) = network.agenda.pop_until(Instant::NEVER) {
            match due {
                Due::Sent(link) => network.sent(now, link),
                Due::Deliver(_) => delivered.push(now.as_nanos() / 1000),
                other => panic!("{other:?}"),
            }
        }
        (left.0, delivered)
    }

    #[test]
    fn a_device_takes_packets_early_and_sends_them_at_the_same_time() {
        // 1500 B at 12 Mbit/s take 1 ms.
        let sent = vec![1000, 2000, 3000, 4000];
        assert_eq!(times(0), (vec![0, 1000, 2000, 3000], sent.clone()));
        assert_eq!(times(1), (vec![0, 0, 1000, 2000], sent.clone()));
        assert_eq!(times(9), (vec![0, 0, 0, 0], sent));
    }
}
