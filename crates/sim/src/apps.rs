//! Applications: pages and their servers, transfers, calls.

use crate::agenda::Due;
use crate::ends::{End, EndKind, Owner};
use crate::network::Route;
use crate::world::World;
use measure::{Event, TrafficId};
use qdisc::{FlowId, Hosts, Label};
use scenario::{Choice, Kind, Scenario, Traffic};
use std::collections::BTreeMap;

use transport::media::MediaParams;
use transport::quic::{self, Quic};
use transport::tcp::Tcp;
use transport::{Connection, media};
use units::random::Stream;
use units::{Duration, Instant};
use workload::bulk::Bulk;
use workload::call::{CallParams, Conditions, Encoder};
use workload::ledger::Ledger;
use workload::page::{PageClient, PageServer, PageSetup};
use workload::{App, Carrier, ConnId, Input, Message, Output, Report};

/// Applications and calls of a run.
#[derive(Default)]
pub struct Apps {
    apps: Vec<Slot>,
    calls: BTreeMap<u16, Call>,
    /// Timers that applications asked for: whose, and with which token.
    timers: Vec<(u32, u64)>,
    free_timers: Vec<u32>,
}

struct Slot {
    app: Option<Box<dyn App>>,
    traffic: u16,
    /// Its connections, by its own numbers.
    connections: BTreeMap<ConnId, u32>,
}

struct Call {
    encoder: Encoder,
    sender: u32,
    /// Lengths of its frames.
    frames: Vec<u32>,
}

impl Apps {
    fn add(&mut self, app: Box<dyn App>, traffic: u16) -> u32 {
        self.apps.push(Slot {
            app: Some(app),
            traffic,
            connections: BTreeMap::new(),
        });
        (self.apps.len() - 1) as u32
    }

    fn add_timer(&mut self, app: u32, token: u64) -> u32 {
        match self.free_timers.pop() {
            Some(number) => {
                self.timers[number as usize] = (app, token);
                number
            }
            None => {
                self.timers.push((app, token));
                (self.timers.len() - 1) as u32
            }
        }
    }

    /// A timer came due: whose, and with which token.
    pub fn take_timer(&mut self, number: u32) -> (u32, u64) {
        self.free_timers.push(number);
        self.timers[number as usize]
    }
}

/// Makes end points.
pub struct Spawner<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The known controls.
    pub controls: &'a cca::Registry,
    /// The run's seed.
    pub seed: u64,
    /// Links in the direction away from the home, and their place in the network's list.
    pub uplinks: (u16, u8),
    /// Flows so far.
    pub flows: u32,
}

impl Spawner<'_> {
    fn control(&mut self, choice: &Choice, setup: cca::Setup) -> Box<dyn cca::Control> {
        let seed = Stream::new(self.seed, &format!("control-{}", self.flows)).bits();
        let setup = cca::Setup { seed, ..setup };
        let control = self.controls.build(choice, &setup);
        control.expect("the engine checked every control before it started")
    }

    fn connection(
        &mut self,
        carrier: Carrier,
        choice: &Choice,
        opens: bool,
    ) -> Box<dyn Connection> {
        let config = self.scenario.transport();
        let (mss, paced) = match carrier {
            Carrier::Tcp => (u64::from(config.mss), config.pacing),
            Carrier::Quic => (u64::from(quic::DATAGRAM), true),
        };
        let setup = cca::Setup {
            mss,
            initial_window: mss * u64::from(config.initial_segments),
            paced,
            ..cca::Setup::default()
        };
        let control = self.control(choice, setup);
        match carrier {
            Carrier::Tcp => Box::new(Tcp::new(config, control, opens)),
            Carrier::Quic => Box::new(Quic::new(config, control, opens)),
        }
    }

    /// The route of a flow's packets away from the home or towards it.
    fn route(&self, flow: FlowId, to: u32, up: bool, entry: u16, far: Far) -> Route {
        let traffic = &self.scenario.traffic[usize::from(entry)];
        let rtt = traffic.rtt.unwrap_or(self.scenario.rtt) + far.extra_rtt;
        let sends_most = up == traffic.up;
        let label = match traffic.kind {
            Kind::Call(..) => Label::RealTime,
            _ => Label::Bulk,
        };
        let (first, hops) = if up {
            self.uplinks
        } else {
            (0, self.scenario.links.len() as u8)
        };
        Route {
            flow,
            hash: (Stream::new(self.seed ^ u64::from(flow.0), "hash").bits() >> 32) as u32,
            hosts: self.hosts(traffic, far.server, up),
            dscp: traffic.dscp.bits(),
            label,
            entry,
            to,
            first,
            hops,
            delay: rtt / 2,
            access: traffic
                .access
                .filter(|_| sends_most)
                .map(|rate| (rate, Instant::ZERO)),
        }
    }

    /// Who speaks to whom: the entry's computer at home and one of its servers.
    fn hosts(&self, traffic: &Traffic, server: u32, up: bool) -> Hosts {
        let hash = |name: &str, number: u32| {
            (Stream::new(self.seed ^ u64::from(number), name).bits() >> 32) as u32
        };
        let home = hash(&format!("host {}", traffic.host), 0);
        // Sites are the same for every entry that visits them; calls and transfers have their own.
        let away = match traffic.kind {
            Kind::Page { .. } => hash("site", server),
            Kind::Call(..) | Kind::Bulk(_) => hash(&format!("server {}", traffic.name), server),
        };
        let (source, destination) = if up { (home, away) } else { (away, home) };
        Hosts {
            source,
            destination,
        }
    }
}

/// The far end of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Far {
    /// Which of the application's servers.
    server: u32,
    /// How much longer the round trip to it is.
    extra_rtt: Duration,
}

impl World<'_> {
    /// A traffic entry starts one of its instances.
    pub fn start(&mut self, now: Instant, entry: u16) {
        let scenario = self.spawner.scenario;
        let traffic = &scenario.traffic[usize::from(entry)];
        match &traffic.kind {
            Kind::Bulk(params) => {
                let app = self.apps.add(Box::new(Bulk::new(params)), entry);
                self.tell(now, app, Input::Start);
            }
            Kind::Page { params, pages } => {
                let seed = Stream::new(self.spawner.seed, &traffic.name).bits();
                let setup = PageSetup {
                    seed,
                    rtt: traffic.rtt.unwrap_or(scenario.rtt),
                };
                let client = PageClient::new(pages.clone(), params.clone(), setup)
                    .expect("a scenario's page entry has pages");
                let app = self.apps.add(Box::new(client), entry);
                self.tell(now, app, Input::Start);
            }
            Kind::Call(params, session) => {
                let chance = Stream::new(self.spawner.seed, &traffic.name);
                let encoder = Encoder::new(params, now, chance)
                    .expect("the engine checked every call before it started");
                let sender = self.session(now, entry, params, session);
                let call = Call {
                    encoder,
                    sender,
                    frames: Vec::new(),
                };
                self.apps.calls.insert(entry, call);
                self.network.agenda.push(now, Due::Frame(entry));
            }
        }
    }

    /// Makes a flow's two ends; returns the first, which sends away from the home if `up`.
    fn pair(
        &mut self,
        now: Instant,
        entry: u16,
        kinds: (EndKind, EndKind),
        owners: (Owner, Owner),
        far: Far,
        up: bool,
    ) -> u32 {
        let flow = FlowId(self.spawner.flows);
        self.spawner.flows += 1;
        let traffic = TrafficId(entry);
        self.network
            .sink
            .event(now, Event::FlowStarted { flow, traffic });
        let first = self.ends.len() as u32;
        let down_counts = !self.spawner.scenario.traffic[usize::from(entry)].up;
        let both = [(kinds.0, owners.0, up), (kinds.1, owners.1, !up)];
        for (number, (kind, owner, sends_up)) in (first..).zip(both) {
            let peer = if number == first { first + 1 } else { first };
            let route = self.spawner.route(flow, peer, sends_up, entry, far);
            self.network.add_route(route);
            self.ends.push(End {
                kind,
                peer,
                owner,
                outgoing: Ledger::default(),
                received: 0,
                // An end that sends up is at home: what arrives there came down.
                counts: sends_up == down_counts,
                scheduled: Instant::NEVER,
            });
        }
        first
    }

    fn connect(
        &mut self,
        now: Instant,
        entry: u16,
        carrier: Carrier,
        owners: (Owner, Owner),
        far: Far,
        up: bool,
    ) -> u32 {
        let choice = &self.spawner.scenario.traffic[usize::from(entry)].control;
        let opener = EndKind::Connection(self.spawner.connection(carrier, choice, true));
        let other = EndKind::Connection(self.spawner.connection(carrier, choice, false));
        let first = self.pair(now, entry, (opener, other), owners, far, up);
        if let EndKind::Connection(connection) = &mut self.ends[first as usize].kind {
            connection.open(now);
        }
        self.stir(first);
        first
    }

    fn session(
        &mut self,
        now: Instant,
        entry: u16,
        call: &CallParams,
        params: &MediaParams,
    ) -> u32 {
        let traffic = &self.spawner.scenario.traffic[usize::from(entry)];
        let bounds = (call.min_rate, call.max_rate);
        let setup = params.setup(call.start_rate, bounds, self.spawner.seed);
        let control = self.spawner.control(&traffic.control, setup);
        let receiver = media::Receiver::new(params, control.feedback());
        let sender = EndKind::Sender(Box::new(media::Sender::new(params, control)));
        let receiver = EndKind::Receiver(Box::new(receiver));
        let owner = Owner::Call(entry);
        self.pair(
            now,
            entry,
            (sender, receiver),
            (owner, owner),
            Far::default(),
            traffic.up,
        )
    }

    /// A call's encoder takes its turn.
    pub fn frame(&mut self, now: Instant, entry: u16) {
        let Some(call) = self.apps.calls.get_mut(&entry) else {
            return;
        };
        let number = call.sender;
        let EndKind::Sender(sender) = &mut self.ends[number as usize].kind else {
            return;
        };
        let conditions = Conditions {
            rate: sender.media_rate(),
            keyframe_requested: sender.take_keyframe_request(),
            congested: sender.congested(now),
        };
        if let Some(frame) = call.encoder.on_timer(now, &conditions) {
            let event = Event::FrameSent {
                call: TrafficId(entry),
                frame: frame.id,
            };
            self.network.sink.event(now, event);
            call.frames.push(frame.bytes);
            let (id, bytes, key) = (frame.id, frame.bytes, frame.key);
            sender.push_frame(now, media::Frame { id, bytes, key });
        }
        let next = call.encoder.next_frame_at();
        self.network.agenda.push(next, Due::Frame(entry));
        self.stir(number);
    }

    /// The length of a call's frame.
    pub fn frame_bytes(&self, entry: u16, frame: u64) -> u64 {
        let call = self.apps.calls.get(&entry);
        call.and_then(|call| call.frames.get(frame as usize))
            .copied()
            .map_or(0, u64::from)
    }

    /// Tells an application what happened, and does what it wants done.
    pub fn tell(&mut self, now: Instant, app: u32, input: Input) {
        let mut out = Vec::new();
        let slot = &mut self.apps.apps[app as usize];
        // An application that is being told something is not told anything else meanwhile.
        let Some(mut taken) = slot.app.take() else {
            return;
        };
        taken.handle(now, input, &mut out);
        self.apps.apps[app as usize].app = Some(taken);
        for output in out {
            self.act(now, app, output);
        }
    }

    fn act(&mut self, now: Instant, app: u32, output: Output) {
        let slot = &self.apps.apps[app as usize];
        let traffic = slot.traffic;
        match output {
            Output::Open {
                conn,
                carrier,
                server,
                extra_rtt,
            } => {
                let far = Far { server, extra_rtt };
                self.open(now, app, conn, carrier, far);
            }
            Output::Send {
                conn,
                stream,
                bytes,
                message,
            } => {
                if let Some(&end) = slot.connections.get(&conn) {
                    self.give(now, end, stream, bytes, message);
                }
            }
            Output::Timer(at, token) => {
                let timer = self.apps.add_timer(app, token);
                self.network.agenda.push(at.max(now), Due::App(timer));
            }
            Output::Close(conn) => {
                if let Some(end) = self.apps.apps[app as usize].connections.remove(&conn) {
                    self.close(end);
                }
            }
            Output::Report(report) => self.report(now, TrafficId(traffic), report),
        }
    }

    fn open(&mut self, now: Instant, app: u32, conn: ConnId, carrier: Carrier, far: Far) {
        let entry = self.apps.apps[app as usize].traffic;
        let traffic = &self.spawner.scenario.traffic[usize::from(entry)];
        let opener = Owner::App(app, conn);
        let end = if let Kind::Page { .. } = traffic.kind {
            let server = self.apps.add(Box::new(PageServer::default()), entry);
            let owners = (opener, Owner::App(server, conn));
            // Pages are opened from home: what they send goes up, unless the entry is turned.
            let end = self.connect(now, entry, carrier, owners, far, !traffic.up);
            self.apps.apps[server as usize]
                .connections
                .insert(conn, end + 1);
            let page = TrafficId(entry);
            self.network
                .sink
                .event(now, Event::ConnectionOpened { page });
            end
        } else {
            self.connect(
                now,
                entry,
                carrier,
                (opener, Owner::Nobody),
                far,
                traffic.up,
            )
        };
        self.apps.apps[app as usize].connections.insert(conn, end);
    }

    fn give(&mut self, now: Instant, number: u32, stream: u32, bytes: u64, message: Message) {
        let end = &mut self.ends[number as usize];
        end.outgoing.sent(stream, bytes, message);
        if let EndKind::Connection(connection) = &mut end.kind {
            connection.send(now, stream, bytes);
        }
        self.stir(number);
    }

    /// Closes both ends; the server's application goes with its only connection.
    fn close(&mut self, number: u32) {
        let peer = self.ends[number as usize].peer;
        if let Owner::App(server, _) = self.ends[peer as usize].owner {
            self.apps.apps[server as usize].app = None;
        }
        for end in [number, peer] {
            self.ends[end as usize].kind = EndKind::Closed;
            self.ends[end as usize].outgoing = Ledger::default();
        }
    }

    fn report(&mut self, now: Instant, page: TrafficId, report: Report) {
        let event = Event::of_page(page, report);
        self.network.sink.event(now, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Document, Names};

    #[test]
    fn computers_at_home_are_shared_and_servers_are_told_apart() {
        let names = Names {
            discipline: &|_| Ok(()),
            control: &|_| Ok(()),
        };
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
        let scenario = scenario.unwrap().resolve(&names).unwrap();
        let spawner = Spawner {
            scenario: &scenario,
            controls: &cca::Registry::builtin(),
            seed: 1,
            uplinks: (1, 0),
            flows: 0,
        };
        let down = |entry: usize, server| spawner.hosts(&scenario.traffic[entry], server, false);
        let (a, b, c) = (down(0, 0), down(1, 7), down(2, 7));
        assert_eq!(a.destination, b.destination, "one laptop");
        assert_ne!(b.destination, c.destination, "another computer");
        assert_eq!(b.source, c.source, "the same site");
        assert_ne!(b.source, down(1, 8).source, "another site");
        assert_ne!(a.source, b.source);
        let up = spawner.hosts(&scenario.traffic[0], 0, true);
        assert_eq!((up.source, up.destination), (a.destination, a.source));
    }
}
