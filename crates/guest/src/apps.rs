//! Applications: pages and their servers, transfers, calls. What they want done is done on sockets.

use crate::agenda::Due;
use crate::ends::{Datagrams, End, EndKind, Maker, Owner, Stream};
use crate::error::{Failure, Tried};
use crate::place::Place;
use crate::ports;
use crate::socket::{self, Marking};
use crate::world::World;
use measure::{Event, TrafficId};
use nix::sys::epoll::{EpollEvent, EpollFlags};
use qdisc::FlowId;
use scenario::{Choice, Kind};
use std::collections::BTreeMap;
use transport::quic::{self, Quic};
use transport::{Config, Connection, media};
use units::random::Stream as Random;
use units::{Duration, Instant};
use workload::bulk::Bulk;
use workload::call::{Conditions, Encoder};
use workload::ledger::Ledger;
use workload::page::{PageClient, PageServer, PageSetup};
use workload::{App, Carrier, ConnId, Input, Message, Output, Report};

type Result<T> = core::result::Result<T, Failure>;

/// Applications and calls of a run.
#[derive(Default)]
pub struct Apps {
    apps: Vec<Slot>,
    calls: BTreeMap<u16, Call>,
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
}

/// The far end of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Far {
    /// Which of the application's servers.
    server: u32,
    /// How much longer the round trip to it is.
    extra_rtt: Duration,
}

/// A flow's two ends: the first opens it.
#[derive(Debug, Clone, Copy)]
struct Pair {
    entry: u16,
    flow: FlowId,
    /// The first end is at home.
    up: bool,
    owners: (Owner, Owner),
    far: Far,
}

impl World {
    /// A traffic entry starts one of its instances.
    pub fn start(&mut self, now: Instant, entry: u16) -> Result<()> {
        let traffic = self.traffic(entry);
        match &traffic.kind {
            Kind::Bulk(params) => {
                let app = self.apps.add(Box::new(Bulk::new(params)), entry);
                self.tell(now, app, Input::Start)
            }
            Kind::Page { params, pages } => {
                let seed = Random::new(self.setup.seed, &traffic.name).bits();
                let setup = PageSetup {
                    seed,
                    rtt: traffic.rtt.unwrap_or(self.setup.rtt),
                };
                let client = PageClient::new(pages.clone(), params.clone(), setup);
                let client = client.tried(&traffic.name)?;
                let app = self.apps.add(Box::new(client), entry);
                self.tell(now, app, Input::Start)
            }
            Kind::Call(params, session) => {
                let chance = Random::new(self.setup.seed, &traffic.name);
                let encoder = Encoder::new(params, now, chance).tried(&traffic.name)?;
                let bounds = (params.min_rate, params.max_rate);
                let setup = session.setup(params.start_rate, bounds, self.setup.seed);
                let control = self.control(&traffic.control, setup)?;
                let receiver = media::Receiver::new(session, control.feedback());
                let sender = media::Sender::new(session, control);
                let owner = Owner::Call(entry);
                let pair = self.pair(now, entry, (owner, owner), Far::default(), traffic.up);
                let makers = (
                    Maker::Sender(Box::new(sender)),
                    Maker::Receiver(Box::new(receiver)),
                );
                let sender = self.datagrams(pair, makers)?;
                let call = Call {
                    encoder,
                    sender,
                    frames: Vec::new(),
                };
                self.apps.calls.insert(entry, call);
                self.agenda.push(now, Due::Frame(entry));
                Ok(())
            }
        }
    }

    fn control(&self, choice: &Choice, setup: cca::Setup) -> Result<Box<dyn cca::Control>> {
        let name = format!("control-{}", self.flows);
        let seed = Random::new(self.setup.seed, &name).bits();
        let setup = cca::Setup { seed, ..setup };
        self.controls.build(choice, &setup).tried("control")
    }

    /// Gives a flow its number.
    fn pair(
        &mut self,
        now: Instant,
        entry: u16,
        owners: (Owner, Owner),
        far: Far,
        up: bool,
    ) -> Pair {
        let flow = FlowId(self.flows);
        self.flows += 1;
        let traffic = TrafficId(entry);
        self.log.event(now, Event::FlowStarted { flow, traffic });
        Pair {
            entry,
            flow,
            up,
            owners,
            far,
        }
    }

    /// Place, address and marking of a pair's ends.
    fn sides(&self, pair: &Pair) -> Result<[(Place, nix::sys::socket::SockaddrIn, Marking); 2]> {
        let traffic = &self.setup.traffic[usize::from(pair.entry)];
        let home = ports::home(&self.setup.traffic, pair.entry);
        let server = ports::server(traffic, pair.far.server);
        let rtt = traffic.rtt.unwrap_or(self.setup.rtt) + pair.far.extra_rtt;
        let delay = self.setup.delay(rtt)?;
        let tos = traffic.dscp.bits() << 2;
        let marking = |priority| Marking { priority, tos };
        let home = (
            Place::Home,
            ports::address(home, pair.flow)?,
            marking(delay.home),
        );
        let net = (
            Place::Net,
            ports::address(server, pair.flow)?,
            marking(delay.net),
        );
        Ok(if pair.up { [home, net] } else { [net, home] })
    }

    fn push(&mut self, pair: &Pair, second: bool, kind: EndKind) -> u32 {
        let number = self.ends.len() as u32;
        let down_counts = !self.setup.traffic[usize::from(pair.entry)].up;
        let (owner, sends_up, peer) = match second {
            false => (pair.owners.0, pair.up, number + 1),
            true => (pair.owners.1, !pair.up, number - 1),
        };
        self.ends.push(End {
            kind,
            peer,
            owner,
            flow: pair.flow,
            entry: pair.entry,
            outgoing: Ledger::default(),
            received: 0,
            // An end that sends up is at home: what arrives there came down.
            counts: sends_up == down_counts,
            scheduled: Instant::NEVER,
        });
        number
    }

    /// Makes both ends of a flow of datagrams; returns the first.
    fn datagrams(&mut self, pair: Pair, makers: (Maker, Maker)) -> Result<u32> {
        let [(place, own, marking), (far_place, far_own, far_marking)] = self.sides(&pair)?;
        let number = self.ends.len() as u32;
        self.namespaces.enter(far_place)?;
        let far = socket::datagrams(far_own, own, far_marking)?;
        let far = Datagrams::new(far, makers.1, far_marking, &self.epoll, number + 1)?;
        self.namespaces.enter(place)?;
        let near = socket::datagrams(own, far_own, marking)?;
        let near = Datagrams::new(near, makers.0, marking, &self.epoll, number)?;
        self.push(&pair, false, EndKind::Datagrams(near));
        self.push(&pair, true, EndKind::Datagrams(far));
        Ok(number)
    }

    /// Opens a TCP connection; returns its first end.
    fn stream(&mut self, pair: Pair, control: &str) -> Result<u32> {
        let [(place, own, marking), (far_place, far_own, far_marking)] = self.sides(&pair)?;
        let number = self.ends.len() as u32;
        self.namespaces.enter(far_place)?;
        let listener = socket::listener(far_own, far_marking, control)?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, u64::from(number + 1));
        self.epoll.add(&listener, event).tried("epoll")?;
        self.namespaces.enter(place)?;
        let near = socket::open(own, far_own, marking, control)?;
        let near = Stream::new(near, false, &self.epoll, number)?;
        self.push(&pair, false, EndKind::Stream(near));
        self.push(&pair, true, EndKind::Listener(listener, far_marking));
        Ok(number)
    }

    fn quic(&mut self, now: Instant, pair: Pair, choice: &Choice) -> Result<u32> {
        let config = Config {
            ecn: self.setup.ecn,
            ..Config::linux()
        };
        let mss = u64::from(quic::DATAGRAM);
        let setup = cca::Setup {
            mss,
            initial_window: mss * u64::from(config.initial_segments),
            paced: true,
            ..cca::Setup::default()
        };
        let end = |opens| -> Result<Box<dyn Connection>> {
            let control = self.control(choice, setup.clone())?;
            Ok(Box::new(Quic::new(config.clone(), control, opens)))
        };
        let (mut opener, other) = (end(true)?, end(false)?);
        opener.open(now);
        let makers = (Maker::Connection(opener), Maker::Connection(other));
        let number = self.datagrams(pair, makers)?;
        self.stir(number);
        Ok(number)
    }

    /// A call's encoder takes its turn.
    pub fn frame(&mut self, now: Instant, entry: u16) {
        let Some(call) = self.apps.calls.get_mut(&entry) else {
            return;
        };
        let number = call.sender;
        let EndKind::Datagrams(datagrams) = &mut self.ends[number as usize].kind else {
            return;
        };
        let Maker::Sender(sender) = &mut datagrams.maker else {
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
            self.log.event(now, event);
            call.frames.push(frame.bytes);
            let (id, bytes, key) = (frame.id, frame.bytes, frame.key);
            sender.push_frame(now, media::Frame { id, bytes, key });
        }
        let next = call.encoder.next_frame_at();
        self.agenda.push(next, Due::Frame(entry));
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
    pub fn tell(&mut self, now: Instant, app: u32, input: Input) -> Result<()> {
        let mut out = Vec::new();
        let slot = &mut self.apps.apps[app as usize];
        // An application that is being told something is not told anything else meanwhile.
        let Some(mut taken) = slot.app.take() else {
            return Ok(());
        };
        taken.handle(now, input, &mut out);
        self.apps.apps[app as usize].app = Some(taken);
        for output in out {
            self.act(now, app, output)?;
        }
        Ok(())
    }

    fn act(&mut self, now: Instant, app: u32, output: Output) -> Result<()> {
        let slot = &mut self.apps.apps[app as usize];
        let traffic = slot.traffic;
        match output {
            Output::Open {
                conn,
                carrier,
                server,
                extra_rtt,
            } => {
                let far = Far { server, extra_rtt };
                self.open(now, app, conn, carrier, far)?;
            }
            Output::Send {
                conn,
                stream,
                bytes,
                message,
            } => {
                if let Some(&end) = slot.connections.get(&conn) {
                    self.give(now, end, stream, bytes, message)?;
                }
            }
            Output::Timer(at, token) => self.agenda.push(at.max(now), Due::App(app, token)),
            Output::Close(conn) => {
                if let Some(end) = slot.connections.remove(&conn) {
                    self.close(end);
                }
            }
            Output::Report(report) => self.report(now, TrafficId(traffic), report),
        }
        Ok(())
    }

    fn open(
        &mut self,
        now: Instant,
        app: u32,
        conn: ConnId,
        carrier: Carrier,
        far: Far,
    ) -> Result<()> {
        let entry = self.apps.apps[app as usize].traffic;
        let traffic = self.traffic(entry);
        let opener = Owner::App(app, conn);
        let is_page = matches!(traffic.kind, Kind::Page { .. });
        let server = is_page.then(|| self.apps.add(Box::new(PageServer::default()), entry));
        let pair = match server {
            Some(server) => {
                let owners = (opener, Owner::App(server, conn));
                // Pages are opened from home: what they send goes up, unless the entry is turned.
                self.pair(now, entry, owners, far, !traffic.up)
            }
            None => self.pair(now, entry, (opener, Owner::Nobody), far, traffic.up),
        };
        let end = match carrier {
            Carrier::Tcp => self.stream(pair, &traffic.control.name)?,
            Carrier::Quic => self.quic(now, pair, &traffic.control)?,
        };
        if let Some(server) = server {
            let slot = &mut self.apps.apps[server as usize];
            slot.connections.insert(conn, end + 1);
            let page = TrafficId(entry);
            self.log.event(now, Event::ConnectionOpened { page });
        }
        let slot = &mut self.apps.apps[app as usize];
        slot.connections.insert(conn, end);
        Ok(())
    }

    fn give(
        &mut self,
        now: Instant,
        number: u32,
        stream: u32,
        bytes: u64,
        message: Message,
    ) -> Result<()> {
        let end = &mut self.ends[number as usize];
        end.outgoing.sent(stream, bytes, message);
        match &mut end.kind {
            EndKind::Stream(stream) => stream.send(&self.epoll, number, &self.filler, bytes)?,
            EndKind::Datagrams(datagrams) => {
                if let Maker::Connection(connection) = &mut datagrams.maker {
                    connection.send(now, stream, bytes);
                }
                self.stir(number);
            }
            EndKind::Listener(..) | EndKind::Closed => {}
        }
        Ok(())
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
        self.log.event(now, Event::of_page(page, report));
    }
}
