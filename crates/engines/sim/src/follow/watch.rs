//! What a run's events are to the controllers of its followed links.

use super::Shared;
use measure::{Event, PacketId, Sink};
use units::{FlowId, Instant};
use workload::{Carrier, Event as Application};

/// Listens to a run for its controllers, and passes its events on: pings are packets that belong to
/// none of the scenario's flows.
pub struct Watch<'a> {
    followers: Shared,
    sink: &'a mut dyn Sink,
    tells_ends: bool,
}

impl<'a> Watch<'a> {
    /// Before the first event.
    pub fn new(followers: Shared, sink: &'a mut dyn Sink) -> Self {
        Watch {
            followers,
            tells_ends: sink.wants_ends(),
            sink,
        }
    }

    /// Passes an event of a packet on, without its flow if that is one of pings.
    fn pass(&mut self, now: Instant, event: &Event) {
        let mut event = *event;
        if let Some(packet) = packet_of(&mut event)
            && self.followers.borrow().pings.is_one(*packet)
        {
            packet.flow = None;
        }
        self.sink.event(now, &event);
    }

    /// An event of the traffic; those of pings are kept back.
    fn traffic(&mut self, now: Instant, event: &Event, application: Application) {
        let mut followers = self.followers.borrow_mut();
        match application {
            Application::FlowStarted {
                flow,
                traffic,
                carrier,
                ..
            } => {
                if followers.pings.start(flow, traffic) {
                    return;
                }
                if carrier == Carrier::Tcp {
                    followers.clocks.start(flow);
                }
            }
            Application::FlowEnded { flow } => followers.clocks.end(flow),
            Application::Observed { traffic, .. } if followers.is_ping(traffic.0) => return,
            _ => {}
        }
        let ping = flow_of(&application).is_some_and(|flow| followers.pings.is_flow(flow));
        drop(followers);
        if !ping {
            self.sink.event(now, event);
        }
    }
}

/// The packet that an event is about.
fn packet_of(event: &mut Event) -> Option<&mut PacketId> {
    match event {
        Event::Sent { packet, .. }
        | Event::Arrived { packet }
        | Event::Media { packet, .. }
        | Event::Enqueued { packet, .. }
        | Event::Dequeued { packet, .. }
        | Event::Dropped { packet, .. }
        | Event::Marked { packet, .. }
        | Event::Lost { packet, .. } => Some(packet),
        _ => None,
    }
}

/// The flow that an application's event is about, if it is about one.
fn flow_of(event: &Application) -> Option<FlowId> {
    match *event {
        Application::Delivered { flow, .. }
        | Application::FlowDone { flow }
        | Application::FlowEnded { flow } => Some(flow),
        _ => None,
    }
}

impl Sink for Watch<'_> {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { packet, up } => {
                let followers = &mut *self.followers.borrow_mut();
                followers.clocks.sent(now, packet, up);
                followers.pings.sent(now, packet, up);
            }
            Event::Arrived { packet } => self.followers.borrow_mut().arrived(now, packet),
            Event::Enqueued { link, packet } => {
                let mut followers = self.followers.borrow_mut();
                followers.at_queue(now, link, packet, true);
            }
            Event::Dequeued { link, packet, .. } => {
                let mut followers = self.followers.borrow_mut();
                followers.at_queue(now, link, packet, false);
            }
            Event::Dropped { packet, .. } | Event::Lost { packet, .. } => {
                self.followers.borrow_mut().clocks.gone(packet.number);
            }
            Event::Traffic(application) => return self.traffic(now, event, application),
            _ => {}
        }
        let at_ends = matches!(
            event,
            Event::Sent { .. } | Event::Arrived { .. } | Event::Media { .. }
        );
        if self.tells_ends || !at_ends {
            self.pass(now, event);
        }
    }

    fn wants_ends(&self) -> bool {
        true
    }
}
