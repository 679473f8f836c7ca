//! Links, and the packets on them.

use crate::agenda::{Agenda, Due, DueKind, LaneId, Noted};
use crate::below::Below;
use crate::flights::{Flight, Flights};
use crate::pairs::Pairs;
use autorate::Decision;
use link::{Capacity, Jitter, Link};
use measure::{Event, LinkId, MediaContent, MediaPart, PacketId, Sink};
use qdisc::{Class, DropReason, FlowId, Hosts, Label, Observer, Packet};
use std::collections::BTreeMap;
use transport::{Transmit, Wire, media};
use units::{Duration, Instant, Rate};

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
    /// The end host's claim about it.
    pub label: Label,
    /// The traffic entry that it belongs to.
    pub entry: u16,
    /// They go away from the home.
    pub up: bool,
    /// The path that they take, among the network's.
    pub path: u16,
    /// How much longer than the entry's round trip this flow's is.
    pub extra_rtt: Duration,
    /// Propagation, behind the last link.
    pub delay: Duration,
    /// Rate of the sender's own link, and when that is free again.
    pub access: Option<(Rate, Instant)>,
    /// Random delay of departures.
    pub noise: Option<Jitter>,
}

/// Links, routes, packets under way, and the agenda.
pub struct Network<'a> {
    /// Links towards the home in order, then uplinks in the order in which packets pass them.
    pub links: Vec<Link<u32>>,
    /// Paths: the places of links in the order in which packets pass them.
    paths: Vec<Box<[u16]>>,
    /// Routes by the number of the sending end point.
    routes: Vec<Route>,
    /// For each route, the lane of its packets behind the last link: those that leave the same link,
    /// or none, and have as far to go arrive in the order in which they left.
    lanes: Vec<LaneId>,
    /// For each route, when its last packet on a way without queues left.
    left: Vec<Noted>,
    wires: BTreeMap<(Option<u16>, Duration), LaneId>,
    /// The lane of packets that are sent and have not come to a queue.
    sending: LaneId,
    /// For each link, the lanes of its departures and of its packets to the next link.
    link_lanes: Vec<LinkLanes>,
    /// Packets so far.
    packets: u64,
    /// Packets under way.
    pub flights: Flights,
    /// How many of them each flow has.
    pub pairs: Pairs,
    /// Bytes of each end point that wait in the first queue of their way, or are about to; kept
    /// only for senders that use it.
    below: Option<Below>,
    /// The entries by due time.
    pub agenda: Agenda,
    /// The receiver of events.
    pub sink: &'a mut dyn Sink,
    /// Whether it wants to hear of packets' ends.
    tells_ends: bool,
}

/// What one link does in order.
#[derive(Debug, Clone, Copy)]
struct LinkLanes {
    sent: LaneId,
    onward: LaneId,
}

impl<'a> Network<'a> {
    /// Links without packets. With `small_queues` the backlog in each sender's own queue is
    /// tracked.
    pub fn new(links: Vec<Link<u32>>, small_queues: bool, sink: &'a mut dyn Sink) -> Self {
        let mut agenda = Agenda::default();
        let mut lanes = || LinkLanes {
            sent: agenda.add_lane(),
            onward: agenda.add_lane(),
        };
        Network {
            link_lanes: links.iter().map(|_| lanes()).collect(),
            links,
            paths: Vec::new(),
            routes: Vec::new(),
            lanes: Vec::new(),
            left: Vec::new(),
            wires: BTreeMap::new(),
            sending: agenda.add_lane(),
            packets: 0,
            flights: Flights::default(),
            pairs: Pairs::default(),
            below: small_queues.then(Below::default),
            agenda,
            tells_ends: sink.wants_ends(),
            sink,
        }
    }

    /// The number of a path over these links.
    pub fn path(&mut self, links: &[u16]) -> u16 {
        let found = self.paths.iter().position(|path| **path == *links);
        let place = found.unwrap_or_else(|| {
            self.paths.push(links.into());
            self.paths.len() - 1
        });
        place as u16
    }

    fn lane(&mut self, route: &Route) -> LaneId {
        let last = self.paths[usize::from(route.path)].last().copied();
        let wire = self.wires.entry((last, route.delay));
        *wire.or_insert_with(|| self.agenda.add_lane())
    }

    /// How the packets of end point `end` travel from now on.
    pub fn set_route(&mut self, end: u32, route: Route) {
        let lane = self.lane(&route);
        let place = end as usize;
        if place == self.routes.len() {
            self.routes.push(route);
            self.lanes.push(lane);
            self.left.push(Noted::default());
        } else {
            self.routes[place] = route;
            self.lanes[place] = lane;
        }
    }

    /// The routes there are, by the number of the sending end point.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// End point `from` sends a packet.
    #[inline]
    pub fn send(&mut self, now: Instant, from: u32, transmit: Transmit) {
        let route = &mut self.routes[from as usize];
        self.packets += 1;
        self.pairs.sent(from);
        // Without a queue on the route, no packets wait.
        let queues = !self.paths[usize::from(route.path)].is_empty();
        if let Some(below) = self.below.as_mut().filter(|_| queues) {
            below.sent(from, transmit.len);
        }
        let flight = self.flights.insert(Flight {
            number: self.packets,
            from,
            len: transmit.len,
            path: route.path,
            hop: 0,
            ecn: transmit.ecn,
            wire: transmit.packet,
        });
        if self.tells_ends {
            self.tell_sent(now, flight);
        }
        let route = &mut self.routes[from as usize];
        let mut leaves = now;
        if let Some((rate, free)) = &mut route.access {
            *free = now.max(*free) + rate.time_for(u64::from(transmit.len));
            leaves = *free;
        }
        if let Some(noise) = &mut route.noise {
            leaves = noise.delay(leaves);
        }
        if leaves == now {
            return self.forward(now, flight);
        }
        if !queues {
            let (lane, left) = (self.lanes[from as usize], &mut self.left[from as usize]);
            let (at, due) = (leaves + route.delay, Due::packet(DueKind::Deliver, flight));
            return self.agenda.push_later(lane, left, leaves, at, due);
        }
        self.agenda
            .push_in(self.sending, leaves, Due::packet(DueKind::Arrive, flight));
    }

    /// A packet goes to its next link, or to its end point.
    pub fn forward(&mut self, now: Instant, place: u32) {
        let flight = self.flights.get_mut(place);
        let from = flight.from as usize;
        let route = &self.routes[from];
        let path = &self.paths[usize::from(flight.path)];
        let Some(&index) = path.get(usize::from(flight.hop)) else {
            let at = now + route.delay;
            self.agenda
                .push_in(self.lanes[from], at, Due::packet(DueKind::Deliver, place));
            return;
        };
        flight.hop += 1;
        let packet = Packet {
            len: flight.len,
            flow: route.flow,
            hash: subflow_hash(route.hash, flight.wire.subflow()),
            hosts: route.hosts,
            dscp: route.dscp,
            band: 0,
            ecn: flight.ecn,
            label: route.label,
            arrived: now,
            payload: place,
        };
        let link = LinkId(index);
        let id = PacketId {
            number: flight.number,
            flow: Some(packet.flow),
            subflow: flight.wire.subflow(),
            bytes: packet.len,
            ecn: packet.ecn,
        };
        self.sink.event(now, &Event::Enqueued { link, packet: id });
        let mut hook = Hook {
            link,
            sink: self.sink,
            flights: &mut self.flights,
            pairs: &mut self.pairs,
            below: &mut self.below,
        };
        self.links[usize::from(index)].enqueue(now, packet, &mut hook);
        self.start(now, index);
    }

    /// Bytes of an end point that wait on its own computer.
    #[inline]
    pub fn waiting_below(&self, end: u32) -> u64 {
        let below = self.below.as_ref();
        below.map_or(0, |below| below.bytes(end))
    }

    /// An end point with fewer bytes on its own computer than before.
    #[inline]
    pub fn take_relieved(&mut self) -> Option<u32> {
        self.below.as_mut()?.relieved.pop()
    }

    #[cold]
    fn tell_sent(&mut self, now: Instant, place: u32) {
        let (packet, up) = self.end_of(place);
        self.sink.event(now, &Event::Sent { packet, up });
        if let Wire::Media(media) = &self.flights.get(place).wire {
            let part = part_of(media);
            self.sink.event(now, &Event::Media { packet, part });
        }
    }

    #[cold]
    fn tell_arrived(&mut self, now: Instant, place: u32) {
        let (packet, _) = self.end_of(place);
        self.sink.event(now, &Event::Arrived { packet });
    }

    /// A packet at one of its ends, and whether it goes away from the home.
    fn end_of(&self, place: u32) -> (PacketId, bool) {
        let flight = self.flights.get(place);
        let route = &self.routes[flight.from as usize];
        let packet = PacketId {
            number: flight.number,
            flow: Some(route.flow),
            subflow: flight.wire.subflow(),
            bytes: flight.len,
            ecn: flight.ecn,
        };
        (packet, route.up)
    }

    /// A packet is about to be handed to its end point.
    #[inline]
    pub fn arrives(&mut self, now: Instant, place: u32) {
        if self.tells_ends {
            self.tell_arrived(now, place);
        }
    }

    /// A packet has reached its end point: whose it was.
    #[inline]
    pub fn delivered(&mut self, place: u32) {
        let from = self.flights.get(place).from;
        self.flights.remove(place);
        self.pairs.ended(from);
    }

    /// The link's packet is sent; the next one follows.
    pub fn sent(&mut self, now: Instant, link: u16) {
        self.links[usize::from(link)].sent();
        self.start(now, link);
    }

    /// The rate of a link is another, or for another reason; `moved` says whether it is another.
    pub fn rate(&mut self, now: Instant, link: LinkId, decision: Decision, moved: bool) {
        if moved {
            let capacity = Capacity::Constant(decision.rate);
            self.links[usize::from(link.0)].set_capacity(capacity);
        }
        self.sink.event(now, &Event::Rated { link, decision });
    }

    /// A queue that had held its packets back is asked again.
    pub fn wake(&mut self, now: Instant, link: u16) {
        self.links[usize::from(link)].woken(now);
        self.start(now, link);
    }

    /// Puts the next packet of a link that has room in its device onto the wire.
    #[inline]
    fn start(&mut self, now: Instant, index: u16) {
        if self.links[usize::from(index)].has_room() {
            self.send_next(now, index);
        }
    }

    /// Takes the next packet out of a link's queue, if there is one. Its registers need not be saved
    /// where the device is full.
    #[inline(never)]
    fn send_next(&mut self, now: Instant, index: u16) {
        let link = &mut self.links[usize::from(index)];
        let mut hook = Hook {
            link: LinkId(index),
            sink: self.sink,
            flights: &mut self.flights,
            pairs: &mut self.pairs,
            below: &mut self.below,
        };
        let Some(departure) = link.next(now, &mut hook) else {
            if let Some(at) = link.wake_at(now) {
                self.agenda.push(at, Due::link(DueKind::Wake, index));
            }
            return;
        };
        let packet = departure.packet;
        let flight = self.flights.get_mut(packet.payload);
        flight.ecn = packet.ecn;
        if let Some(below) = self.below.as_mut().filter(|_| flight.hop == 1) {
            below.left(flight.from, packet.len);
        }
        let id = PacketId {
            number: flight.number,
            flow: Some(packet.flow),
            subflow: flight.wire.subflow(),
            bytes: packet.len,
            ecn: packet.ecn,
        };
        let link = LinkId(index);
        let sojourn = now.since(packet.arrived);
        let event = Event::Dequeued {
            link,
            packet: id,
            sojourn,
        };
        self.sink.event(now, &event);
        let lanes = self.link_lanes[usize::from(index)];
        self.agenda
            .push_in(lanes.sent, departure.sent, Due::link(DueKind::Sent, index));
        let Some(arrives) = departure.arrives else {
            self.sink.event(now, &Event::Lost { link, packet: id });
            self.delivered(packet.payload);
            return;
        };
        let from = flight.from as usize;
        if usize::from(flight.hop) == self.paths[usize::from(flight.path)].len() {
            let at = arrives + self.routes[from].delay;
            self.agenda.push_in(
                self.lanes[from],
                at,
                Due::packet(DueKind::Deliver, packet.payload),
            );
        } else {
            self.agenda.push_in(
                lanes.onward,
                arrives,
                Due::packet(DueKind::Arrive, packet.payload),
            );
        }
    }
}

/// The hash of a flow's subflow: that of the flow itself for the first.
fn subflow_hash(flow: u32, subflow: u8) -> u32 {
    flow ^ u32::from(subflow).wrapping_mul(0x9e37_79b9)
}

/// Passes a discipline's events on, and frees the packets it dropped.
struct Hook<'a> {
    link: LinkId,
    sink: &'a mut dyn Sink,
    flights: &'a mut Flights,
    pairs: &'a mut Pairs,
    below: &'a mut Option<Below>,
}

impl Hook<'_> {
    fn id(&self, packet: &Packet<u32>) -> PacketId {
        let flight = self.flights.get(packet.payload);
        PacketId {
            number: flight.number,
            flow: Some(packet.flow),
            subflow: flight.wire.subflow(),
            bytes: packet.len,
            ecn: packet.ecn,
        }
    }
}

impl Observer<u32> for Hook<'_> {
    fn dropped(&mut self, now: Instant, packet: Packet<u32>, reason: DropReason) {
        let (link, id) = (self.link, self.id(&packet));
        let flight = self.flights.get(packet.payload);
        self.pairs.ended(flight.from);
        if let Some(below) = self.below.as_mut().filter(|_| flight.hop == 1) {
            below.left(flight.from, packet.len);
        }
        self.flights.remove(packet.payload);
        let event = Event::Dropped {
            link,
            packet: id,
            reason,
        };
        self.sink.event(now, &event);
    }

    fn marked(&mut self, now: Instant, packet: &Packet<u32>) {
        let (link, packet) = (self.link, self.id(packet));
        self.sink.event(now, &Event::Marked { link, packet });
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let link = self.link;
        let event = Event::Moved {
            link,
            flow,
            from,
            to,
        };
        self.sink.event(now, &event);
    }
}

/// What a packet of a media session's sender carries, as events have it.
const fn part_of(packet: &media::MediaPacket) -> MediaPart {
    let (stream, content) = match packet.content {
        media::Content::Padding => (0, MediaContent::Padding),
        media::Content::Fec(packet) => (packet.stream, MediaContent::Fec),
        media::Content::Audio(frames) => {
            let (frame, copied) = (frames.id, frames.copied);
            (0, MediaContent::Audio { frame, copied })
        }
        media::Content::Video(part) => {
            let content = MediaContent::Video {
                sequence: part.rtp,
                frame: part.frame,
                last: part.index + 1 == part.count,
            };
            (part.stream, content)
        }
    };
    MediaPart { stream, content }
}
