//! The applications' view of the kernel: sockets at both ends of flows.

use crate::agenda::{Agenda, Due};
use crate::ends::{Datagrams, End, EndKind, TcpStreamEnd};
use crate::error::{Failure, Tried};
use crate::log::{Log, Said};
use crate::place::{Namespaces, Place};
use crate::ports;
use crate::setup::GuestSetup;
use crate::socket::{self, Marking};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::SockaddrIn;
use scenario::addresses;
use transport::Endpoint;
use units::{Instant, Rate};
use workload::driver::{self, OpenedFlow, TimerId};
use workload::{AudioFrame, Conditions, Frame};
use workload::{Carrier, Datagram, Event, Sockets};

type Result<T> = core::result::Result<T, Failure>;

/// More than a socket takes or has at a time.
const ROOM: usize = 1 << 18;

/// Sockets, by the numbers of the ends that they serve.
pub struct Ends {
    /// The plan's settings.
    pub setup: GuestSetup,
    controls: cca::Registry,
    namespaces: Namespaces,
    /// The entries by due time.
    pub agenda: Agenda,
    /// End points.
    pub ends: Vec<End>,
    /// End points that may have packets or events.
    pub ready: Vec<u32>,
    /// Flows that were closed since the driver was last notified.
    pub closed: Vec<driver::FlowEnd>,
    /// The recorded events.
    pub log: Log,
    /// The poll of the sockets.
    pub epoll: Epoll,
    /// Bytes of no meaning.
    pub filler: Vec<u8>,
    /// Buffer for received data, and for datagrams; their content is not used.
    pub room: Vec<u8>,
}

/// The place of a socket, and the markings of its packets.
type Site = (Place, Marking);

/// Of something at home and at the server, that of the opening end first.
fn opening_first<T>(flow: &OpenedFlow, [home, net]: [T; 2]) -> [T; 2] {
    if flow.up { [home, net] } else { [net, home] }
}

impl Ends {
    /// No sockets yet.
    pub fn new(setup: GuestSetup, namespaces: Namespaces, epoll: Epoll) -> Self {
        Ends {
            setup,
            controls: cca::Registry::builtin(),
            namespaces,
            agenda: Agenda::default(),
            ends: Vec::new(),
            ready: Vec::new(),
            closed: Vec::new(),
            log: Log::default(),
            epoll,
            filler: vec![0; ROOM],
            room: vec![0; ROOM],
        }
    }

    /// Place and marking of a flow's ends, the opening one first.
    fn sites(&self, flow: &OpenedFlow) -> Result<[Site; 2]> {
        let [at_home, at_net] = self.setup.markings(flow)?;
        let sites = [(Place::Home, at_home), (Place::Net, at_net)];
        Ok(opening_first(flow, sites))
    }

    /// The addresses of a subflow's ends, the opening one first.
    fn addresses(&self, flow: &OpenedFlow, subflow: u8) -> Result<[SockaddrIn; 2]> {
        let traffic = self.setup.traffic(flow.entry);
        let home = addresses::home(&self.setup.traffic, flow.entry);
        let server = addresses::server(traffic, flow.server);
        let addresses = ports::addresses([home, server], flow.flow, subflow)?;
        Ok(opening_first(flow, addresses))
    }

    /// An end's number among the watched sockets, with its generation, so that readiness of a
    /// closed socket is not taken for its successor's.
    pub fn token(&self, end: u32) -> u64 {
        let used = self.ends.get(end as usize).map_or(0, |end| end.used);
        u64::from(used) << 32 | u64::from(end)
    }

    fn put(&mut self, end: driver::FlowEnd, kind: EndKind) {
        let place = end.0 as usize;
        let end = End {
            kind,
            scheduled: Instant::NEVER,
            used: self.ends.get(place).map_or(0, |end| end.used),
        };
        match self.ends.get_mut(place) {
            Some(slot) => *slot = end,
            None => self.ends.push(end),
        }
    }

    /// Makes both ends of a flow of datagrams.
    fn datagrams(&mut self, now: Instant, flow: &OpenedFlow) -> Result<()> {
        let sites = self.sites(flow)?;
        let traffic = self.setup.traffic(flow.entry);
        let up = traffic.up;
        let (config, seed) = (self.setup.config(), self.setup.seed);
        let makers = match (&self.setup.sessions, flow.carrier) {
            (Some(sessions), Carrier::Media) => sessions(now, traffic),
            _ => endpoints::pair(now, traffic, flow, &config, &self.controls, seed),
        };
        let makers = makers.tried(&traffic.name)?;
        let subflows = 0..makers[0].subflows();
        let addresses = subflows.map(|subflow| self.addresses(flow, subflow));
        let addresses = addresses.collect::<Result<Vec<_>>>()?;
        let ends = [flow.first, flow.first.peer()];
        for (place, ((end, maker), (site, marking))) in
            ends.into_iter().zip(makers).zip(sites).enumerate()
        {
            self.namespaces.enter(site)?;
            let sockets = addresses.iter();
            let sockets = sockets.map(|of| socket::datagrams(of[place], of[1 - place], marking));
            let sockets = sockets.collect::<Result<Vec<_>>>()?;
            let token = self.token(end.0);
            let mut datagrams = Datagrams::new(sockets, maker, marking, &self.epoll, token)?;
            datagrams.reports = ((site == Place::Home) == up).then_some(flow.flow);
            self.put(end, EndKind::Datagrams(Box::new(datagrams)));
        }
        if flow.carrier == Carrier::Quic {
            self.ready.push(flow.first.0);
        }
        Ok(())
    }

    /// Opens a TCP connection.
    fn stream(&mut self, flow: &OpenedFlow) -> Result<()> {
        let [(place, marking), (far_place, far_marking)] = self.sites(flow)?;
        let [own, far_own] = self.addresses(flow, 0)?;
        let control = self.setup.traffic(flow.entry).control.clone();
        let control = control.map(|choice| choice.name).unwrap_or_default();
        let (first, second) = (flow.first, flow.first.peer());
        self.namespaces.enter(far_place)?;
        let listener = socket::listener(far_own, far_marking, &control)?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, self.token(second.0));
        self.epoll.add(&listener, event).tried("epoll")?;
        self.namespaces.enter(place)?;
        let near = socket::open(own, far_own, marking, &control)?;
        let near = TcpStreamEnd::new(near, false, &self.epoll, self.token(first.0))?;
        self.put(first, EndKind::Stream(near));
        self.put(second, EndKind::Listener(listener, far_marking));
        Ok(())
    }

    fn maker(&mut self, end: driver::FlowEnd) -> Option<&mut Endpoint> {
        match &mut self.ends.get_mut(end.0 as usize)?.kind {
            EndKind::Datagrams(datagrams) => Some(&mut datagrams.maker),
            EndKind::Stream(_) | EndKind::Listener(..) | EndKind::Closed => None,
        }
    }
}

impl Sockets for Ends {
    type Error = Failure;

    fn open(&mut self, now: Instant, flow: &OpenedFlow) -> Result<()> {
        match flow.carrier {
            Carrier::Tcp => self.stream(flow),
            Carrier::Quic | Carrier::Udp | Carrier::Media => self.datagrams(now, flow),
        }
    }

    fn send(&mut self, now: Instant, end: driver::FlowEnd, stream: u32, bytes: u64) -> Result<()> {
        let token = self.token(end.0);
        if let EndKind::Stream(stream) = &mut self.ends[end.0 as usize].kind {
            return stream.send(&self.epoll, token, &self.filler, bytes);
        }
        if let Some(maker) = self.maker(end) {
            endpoints::send(maker, now, stream, bytes);
            self.ready.push(end.0);
        }
        Ok(())
    }

    fn datagram(&mut self, _now: Instant, end: driver::FlowEnd, datagram: Datagram) -> Result<()> {
        if let Some(maker) = self.maker(end) {
            endpoints::datagram(maker, datagram);
            self.ready.push(end.0);
        }
        Ok(())
    }

    fn conditions(&mut self, now: Instant, end: driver::FlowEnd, stream: u8) -> Option<Conditions> {
        self.ready.push(end.0);
        endpoints::conditions(self.maker(end)?, now, stream)
    }

    /// Of TCP, Linux reports it by `SIOCOUTQNSD` only, which takes unsafe code: the host refuses
    /// applications that ask.
    fn unsent(&mut self, end: driver::FlowEnd) -> Option<u64> {
        endpoints::unsent(self.maker(end)?)
    }

    fn frame(&mut self, now: Instant, end: driver::FlowEnd, frame: Frame) {
        if let Some(maker) = self.maker(end) {
            endpoints::frame(maker, now, frame);
        }
    }

    fn fill(&mut self, now: Instant, end: driver::FlowEnd, rate: Rate) {
        if let Some(maker) = self.maker(end) {
            endpoints::fill(maker, now, rate);
            self.ready.push(end.0);
        }
    }

    fn audio(&mut self, now: Instant, end: driver::FlowEnd, frame: AudioFrame) {
        if let Some(maker) = self.maker(end) {
            endpoints::audio(maker, now, frame);
            self.ready.push(end.0);
        }
    }

    fn close(&mut self, first: driver::FlowEnd) {
        for end in [first, first.peer()] {
            if let Some(end) = self.ends.get_mut(end.0 as usize) {
                end.kind = EndKind::Closed;
                end.used = end.used.wrapping_add(1);
            }
        }
        self.closed.push(first);
    }

    fn wake(&mut self, at: Instant, timer: TimerId) {
        self.agenda.push(at, Due::App(timer.0));
    }

    fn tell(&mut self, now: Instant, event: Event) {
        self.log.event(now, Said::Traffic(event));
    }
}
