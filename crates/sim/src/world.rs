//! The loop: what is due happens, and whoever it concerns reacts until all is quiet.

use crate::agenda::Due;
use crate::apps::{Apps, Spawner};
use crate::ends::{End, EndKind, Owner};
use crate::network::{Network, Route};
use measure::{Event, TrafficId};
use scenario::{Kind, Scenario};
use transport::media;
use units::Instant;
use workload::Input;

/// Everything that a run consists of.
pub struct World<'a> {
    /// Links and packets.
    pub network: Network<'a>,
    /// End points.
    pub ends: Vec<End>,
    /// Applications and calls.
    pub apps: Apps,
    /// Makes end points.
    pub spawner: Spawner<'a>,
    /// End points that may have something to send or to say.
    restless: Vec<u32>,
}

impl<'a> World<'a> {
    /// A world in which nothing has happened.
    pub fn new(network: Network<'a>, spawner: Spawner<'a>) -> Self {
        World {
            network,
            ends: Vec::new(),
            apps: Apps::default(),
            spawner,
            restless: Vec::new(),
        }
    }

    /// Lets everything happen until `end`.
    pub fn run(&mut self, scenario: &Scenario, end: Instant) {
        for (index, entry) in (0..).zip(&scenario.traffic) {
            for start in entry.starts(self.spawner.seed) {
                let at = Instant::ZERO + start;
                self.network.agenda.push(at, Due::Start(index));
            }
        }
        while let Some((now, due)) = self.network.agenda.pop_until(end) {
            self.happen(now, due);
            while let Some(number) = self.restless.pop() {
                self.pump(now, number);
            }
        }
    }

    fn happen(&mut self, now: Instant, due: Due) {
        match due {
            Due::Arrive(packet) => self.network.forward(now, packet),
            Due::Sent(link) => self.network.sent(now, link),
            Due::Wake(link) => self.network.wake(now, link),
            Due::Deliver(packet) => {
                let flight = self.network.flights.get(packet);
                let to = self.network.routes[flight.from as usize].to;
                self.ends[to as usize].handle(now, flight.ecn, &flight.wire);
                self.network.flights.remove(packet);
                self.restless.push(to);
            }
            Due::Timer(number) => {
                let end = &mut self.ends[number as usize];
                if now >= end.scheduled {
                    end.scheduled = Instant::NEVER;
                }
                if end.next_timer() <= now {
                    end.on_timer(now);
                }
                self.restless.push(number);
            }
            Due::App(timer) => {
                let (app, token) = self.apps.take_timer(timer);
                self.tell(now, app, Input::Timer(token));
            }
            Due::Start(entry) => self.start(now, entry),
            Due::Frame(call) => self.frame(now, call),
        }
    }

    /// Lets an end point send and speak until it is quiet.
    fn pump(&mut self, now: Instant, number: u32) {
        let index = number as usize;
        loop {
            while let Some(transmit) = self.ends[index].transmit(now) {
                self.network.send(now, number, transmit);
            }
            if !self.listen(now, number) {
                break;
            }
        }
        let end = &mut self.ends[index];
        let timer = end.next_timer();
        if timer < end.scheduled {
            end.scheduled = timer;
            self.network.agenda.push(timer.max(now), Due::Timer(number));
        }
    }

    /// Hears what an end point has to say; false if it had nothing to say.
    fn listen(&mut self, now: Instant, number: u32) -> bool {
        let mut spoke = false;
        loop {
            let event = match &mut self.ends[number as usize].kind {
                EndKind::Connection(connection) => connection.event(),
                EndKind::Sender(_) | EndKind::Closed => None,
                EndKind::Receiver(receiver) => {
                    let Some(event) = receiver.event() else {
                        return spoke;
                    };
                    self.media_event(now, number, event);
                    spoke = true;
                    continue;
                }
            };
            let Some(event) = event else {
                return spoke;
            };
            spoke = true;
            self.connection_event(now, number, event);
        }
    }

    fn connection_event(&mut self, now: Instant, number: u32, event: transport::Event) {
        let end = &self.ends[number as usize];
        let (owner, peer, counts) = (end.owner, end.peer, end.counts);
        let (stream, bytes) = match event {
            transport::Event::Received { stream, bytes } => (stream, bytes),
            transport::Event::Connected => {
                if let Owner::App(app, conn) = owner {
                    self.tell(now, app, Input::Opened(conn));
                }
                return;
            }
            transport::Event::Writable => {
                if let Owner::App(app, conn) = owner {
                    self.tell(now, app, Input::Writable(conn));
                }
                return;
            }
        };
        if counts {
            let flow = self.network.routes[number as usize].flow;
            self.network
                .sink
                .event(now, Event::Delivered { flow, bytes });
        }
        self.ends[peer as usize].outgoing.received(stream, bytes);
        while let Some(message) = self.ends[peer as usize].outgoing.take(stream) {
            if let Owner::App(app, conn) = owner {
                self.tell(
                    now,
                    app,
                    Input::Message {
                        conn,
                        stream,
                        message,
                    },
                );
            }
        }
        if owner == Owner::Nobody {
            self.transferred(now, number, bytes);
        }
    }

    /// More of a transfer arrived; the last byte of one with a size completes it.
    fn transferred(&mut self, now: Instant, number: u32, bytes: u64) {
        let end = &mut self.ends[number as usize];
        end.received += bytes;
        let received = end.received;
        let Route { flow, entry, .. } = self.network.routes[number as usize];
        if let Kind::Bulk(params) = &self.spawner.scenario.traffic[usize::from(entry)].kind
            && received == params.size.get()
        {
            self.network.sink.event(now, Event::FlowDone { flow });
        }
    }

    fn media_event(&mut self, now: Instant, number: u32, event: media::Event) {
        let Owner::Call(entry) = self.ends[number as usize].owner else {
            return;
        };
        let call = TrafficId(entry);
        let event = match event {
            media::Event::FrameComplete { id: frame, .. } => {
                let flow = self.network.routes[number as usize].flow;
                let bytes = self.frame_bytes(entry, frame);
                self.network
                    .sink
                    .event(now, Event::Delivered { flow, bytes });
                Event::FrameArrived { call, frame }
            }
            media::Event::FrameShown { id: frame, .. } => Event::FrameShown { call, frame },
            media::Event::FrameLost { id: frame, .. } => Event::FrameLost { call, frame },
        };
        self.network.sink.event(now, event);
    }

    /// An end point may have something to send.
    pub fn stir(&mut self, number: u32) {
        self.restless.push(number);
    }
}
