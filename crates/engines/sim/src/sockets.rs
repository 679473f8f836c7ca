//! The applications' view of the network: simulated transports at end points.

use crate::agenda::{Due, DueKind};
use crate::ends::End;
use crate::network::{Network, Route};
use core::convert::Infallible;
use link::Jitter;
use measure::Event;
use qdisc::{Hosts, Label};
use scenario::{Path, Scenario, Traffic};
use transport::Endpoint;
use units::random::Stream;
use units::{Duration, Instant, Rate};
use workload::driver::{self, OpenedFlow, TimerId};
use workload::{AudioFrame, Conditions, Frame};
use workload::{Carrier, Datagram, Sockets};

/// End points over the network.
pub struct Ends<'a> {
    /// Links and packets.
    pub network: Network<'a>,
    /// End points by number.
    pub ends: Vec<End>,
    /// End points that may have packets or events.
    pub ready: Vec<u32>,
    /// An application did something to an end point since this was last reset.
    pub touched: bool,
    scenario: &'a Scenario,
    controls: &'a cca::Registry,
    seed: u64,
    /// The paths of each traffic entry, and which of them it takes now.
    paths: Vec<(Vec<Path>, usize)>,
}

impl<'a> Ends<'a> {
    /// No end points yet.
    pub fn new(
        network: Network<'a>,
        scenario: &'a Scenario,
        controls: &'a cca::Registry,
        seed: u64,
    ) -> Self {
        let paths = scenario.traffic.iter();
        Ends {
            network,
            ends: Vec::new(),
            ready: Vec::new(),
            touched: false,
            paths: paths.map(|entry| (scenario.paths(entry), 0)).collect(),
            scenario,
            controls,
            seed,
        }
    }

    fn traffic(&self, entry: u16) -> &'a Traffic {
        &self.scenario.traffic[usize::from(entry)]
    }

    /// When an entry changes its path, and to which.
    pub fn moves(&self) -> Vec<(Instant, Due)> {
        let entries = (0..).zip(&self.paths);
        let moves = entries.flat_map(|(entry, (paths, _))| {
            let later = (0u32..).zip(paths).skip(1);
            later.map(move |(step, path)| {
                (
                    Instant::ZERO + path.at,
                    Due::new(DueKind::Move, entry, step),
                )
            })
        });
        moves.collect()
    }

    /// A traffic entry takes another of its paths from now on.
    pub fn take_path(&mut self, entry: u16, step: u16) {
        self.paths[usize::from(entry)].1 = usize::from(step);
        for end in 0..self.network.routes().len() {
            let route = &self.network.routes()[end];
            if route.entry == entry {
                let route = self.along(entry, route.clone());
                self.network.set_route(end as u32, route);
            }
        }
    }

    /// The control of an end point noticed something. Notices of an end that hardly sends data are
    /// ignored.
    pub fn noticed(&mut self, now: Instant, end: u32, notice: cca::Notice) {
        let Route {
            flow, entry, up, ..
        } = self.network.routes()[end as usize];
        if up == self.traffic(entry).up {
            let event = Event::Noticed { flow, notice };
            self.network.sink.event(now, &event);
        }
    }

    /// Tells what the senders of flows' data are at.
    pub fn look(&mut self, now: Instant) {
        for end in 0..self.ends.len() {
            let route = &self.network.routes()[end];
            let state = self.ends[end].kind.state();
            if let Some(state) = state.filter(|_| self.sends_data(route)) {
                let flow = route.flow;
                self.network.sink.event(now, &Event::Sender { flow, state });
            }
        }
    }

    /// Tells what limited the senders that are open.
    pub fn tell_limits(&mut self, now: Instant) {
        (0..self.ends.len()).for_each(|end| self.tell_limit(now, end));
    }

    /// Tells what limited the sender of a flow's data, if one thing did so for more than half of its time.
    fn tell_limit(&mut self, now: Instant, end: usize) {
        let route = &self.network.routes()[end];
        let connection = self.ends[end].kind.connection();
        let connection = connection.filter(|_| self.sends_data(route));
        let Some((limit, share)) = connection.and_then(|of| of.limits().mostly(now)) else {
            return;
        };
        let flow = route.flow;
        let event = Event::Limited { flow, limit, share };
        self.network.sink.event(now, &event);
    }

    /// Most of its entry's data leaves on this route.
    fn sends_data(&self, route: &Route) -> bool {
        let entry = self.scenario.traffic.get(usize::from(route.entry));
        entry.is_some_and(|entry| entry.up == route.up)
    }

    /// The route with the path that its entry takes now.
    fn along(&mut self, entry: u16, route: Route) -> Route {
        let (paths, step) = &self.paths[usize::from(entry)];
        let path = &paths[*step];
        let queues = self.scenario.queues(&path.links, route.up);
        // If there is no uplink, the whole route is behind the last link.
        let through = path
            .links
            .iter()
            .map(|link| &self.scenario.links[usize::from(*link)]);
        let through = through.filter(|link| !route.up || link.up.is_some());
        let on_links = through.fold(Duration::ZERO, |sum, link| sum + link.wire.delay);
        let one_way = (path.rtt + route.extra_rtt) / 2;
        Route {
            path: self.network.path(&queues),
            delay: one_way.saturating_sub(on_links),
            ..route
        }
    }

    /// The route of the packets of one of a flow's ends.
    fn route(&mut self, flow: &OpenedFlow, up: bool) -> Route {
        let traffic = self.traffic(flow.entry);
        let label = if traffic.kind.workload.real_time() {
            Label::RealTime
        } else {
            Label::Bulk
        };
        let sends_most = up == traffic.up;
        let access = traffic.access.filter(|_| sends_most);
        // Seeded by name and instance, not by number: flows start in another order under another
        // discipline.
        let name = format!("{} {} {}", traffic.name, flow.instance, flow.conn.0);
        let way = if up { "up" } else { "down" };
        let route = Route {
            flow: flow.flow,
            hash: (Stream::new(self.seed, &format!("hash {name}")).bits() >> 32) as u32,
            noise: Jitter::new(
                self.scenario.noise,
                self.seed,
                &format!("noise {way} {name}"),
            ),
            hosts: hosts(self.seed, traffic, flow.server, up),
            dscp: traffic.dscp.bits(),
            label,
            entry: flow.entry,
            up,
            path: 0,
            extra_rtt: flow.extra_rtt,
            delay: Duration::ZERO,
            access: access.map(|rate| (rate, Instant::ZERO)),
        };
        self.along(flow.entry, route)
    }

    fn kind(&mut self, end: driver::FlowEnd) -> &mut Endpoint {
        self.touched = true;
        &mut self.ends[end.0 as usize].kind
    }
}

/// The two ends of a flow: the entry's computer at home and one of its servers.
fn hosts(seed: u64, traffic: &Traffic, server: u32, up: bool) -> Hosts {
    let hash =
        |name: &str, number: u32| (Stream::new(seed ^ u64::from(number), name).bits() >> 32) as u32;
    let home = hash(&format!("host {}", traffic.host), 0);
    let away = if traffic.kind.workload.shares_servers() {
        hash("site", server)
    } else {
        hash(&format!("server {}", traffic.name), server)
    };
    let (source, destination) = if up { (home, away) } else { (away, home) };
    Hosts::new(source, destination)
}

impl Sockets for Ends<'_> {
    type Error = Infallible;

    fn open(&mut self, now: Instant, flow: &OpenedFlow) -> Result<(), Infallible> {
        self.network.pairs.open(flow.first.0);
        let traffic = self.traffic(flow.entry);
        let config = self.scenario.transport();
        let kinds = endpoints::pair(now, traffic, flow, &config, self.controls, self.seed);
        let kinds = kinds.expect("the engine checked every control before it started");
        let both = [(flow.first, flow.up), (flow.first.peer(), !flow.up)];
        for ((end, up), kind) in both.into_iter().zip(kinds) {
            let route = self.route(flow, up);
            self.network.set_route(end.0, route);
            let place = end.0 as usize;
            let used = self.ends.get(place).map(|end| end.generation);
            let end = End {
                kind,
                scheduled: Instant::NEVER,
                generation: used.map_or(0, |generation| generation.wrapping_add(1)),
            };
            match self.ends.get_mut(place) {
                Some(slot) => *slot = end,
                None => self.ends.push(end),
            }
        }
        if matches!(flow.carrier, Carrier::Tcp | Carrier::Quic) {
            self.ready.push(flow.first.0);
        }
        Ok(())
    }

    fn send(
        &mut self,
        now: Instant,
        end: driver::FlowEnd,
        stream: u32,
        bytes: u64,
    ) -> Result<(), Infallible> {
        endpoints::send(self.kind(end), now, stream, bytes);
        self.ready.push(end.0);
        Ok(())
    }

    fn datagram(
        &mut self,
        _now: Instant,
        end: driver::FlowEnd,
        datagram: Datagram,
    ) -> Result<(), Infallible> {
        endpoints::datagram(self.kind(end), datagram);
        self.ready.push(end.0);
        Ok(())
    }

    fn conditions(&mut self, now: Instant, end: driver::FlowEnd, stream: u8) -> Option<Conditions> {
        self.ready.push(end.0);
        endpoints::conditions(self.kind(end), now, stream)
    }

    fn unsent(&mut self, end: driver::FlowEnd) -> Option<u64> {
        endpoints::unsent(self.kind(end))
    }

    fn frame(&mut self, now: Instant, end: driver::FlowEnd, frame: Frame) {
        endpoints::frame(self.kind(end), now, frame);
    }

    fn fill(&mut self, now: Instant, end: driver::FlowEnd, rate: Rate) {
        endpoints::fill(self.kind(end), now, rate);
        self.ready.push(end.0);
    }

    fn audio(&mut self, now: Instant, end: driver::FlowEnd, frame: AudioFrame) {
        endpoints::audio(self.kind(end), now, frame);
        self.ready.push(end.0);
    }

    fn close(&mut self, first: driver::FlowEnd) {
        let now = self.network.agenda.now();
        for end in [first, first.peer()] {
            self.tell_limit(now, end.0 as usize);
        }
        *self.kind(first) = Endpoint::Closed;
        *self.kind(first.peer()) = Endpoint::Closed;
        self.network.pairs.close(first.0);
    }

    fn wake(&mut self, at: Instant, timer: TimerId) {
        self.network
            .agenda
            .push(at, Due::new(DueKind::App, 0, timer.0));
    }

    fn tell(&mut self, now: Instant, event: workload::Event) {
        self.network.sink.event(now, &Event::Traffic(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};

    #[test]
    fn computers_at_home_are_shared_and_servers_are_told_apart() {
        let scenario = Document::parse(
            "hosts",
            r#"
            disciplines = ["pfifo"]
            link = { rate = "8mbit" }
            traffic = [
                { name = "a", kind = "bulk", host = "laptop" },
                { name = "b", kind = "page", host = "laptop" },
                { name = "c", kind = "page" },
            ]
            "#,
        );
        let scenario = scenario.unwrap().resolve(&AnyNames::default()).unwrap();
        let down = |entry: usize, server| hosts(1, &scenario.traffic[entry], server, false);
        let (a, b, c) = (down(0, 0), down(1, 7), down(2, 7));
        assert_eq!(a.destination, b.destination, "one laptop");
        assert_ne!(b.destination, c.destination, "another computer");
        assert_eq!(b.source, c.source, "the same site");
        assert_ne!(b.source, down(1, 8).source, "another site");
        assert_ne!(a.source, b.source);
        let up = hosts(1, &scenario.traffic[0], 0, true);
        assert_eq!((up.source, up.destination), (a.destination, a.source));
    }
}
