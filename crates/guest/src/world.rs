//! The loop: sockets become ready and timers run out, and whoever it concerns reacts.

use crate::agenda::{Agenda, Due};
use crate::apps::Apps;
use crate::ends::{End, EndKind, Maker, Owner, Ready, Stream};
use crate::error::{Failure, Tried};
use crate::log::Log;
use crate::place::Namespaces;
use crate::plan::{Delay, Plan};
use crate::rates::Rates;
use crate::socket;
use measure::{Event, TrafficId};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use scenario::{Kind, Traffic};
use std::sync::Arc;
use transport::media;
use units::{Duration, Instant};
use workload::Input;

type Result<T> = core::result::Result<T, Failure>;

/// What the plan says of traffic.
pub struct Setup {
    /// The entries.
    pub traffic: Vec<Arc<Traffic>>,
    /// The run's seed.
    pub seed: u64,
    /// The scenario's round trip.
    pub rtt: Duration,
    /// QUIC negotiates ECN.
    pub ecn: bool,
    delays: Vec<Delay>,
}

impl Setup {
    /// Reads the plan.
    pub fn new(plan: &Plan) -> Result<Setup> {
        let traffic = plan
            .traffic
            .iter()
            .map(|entry| entry.traffic().map(Arc::new));
        Ok(Setup {
            traffic: traffic.collect::<Result<_>>()?,
            seed: plan.seed,
            rtt: Duration::from_nanos(plan.rtt),
            ecn: plan.ecn,
            delays: plan.delays.clone(),
        })
    }

    /// The class of a round trip.
    pub fn delay(&self, rtt: Duration) -> Result<&Delay> {
        let this = |delay: &&Delay| delay.rtt == rtt.as_nanos();
        let found = self.delays.iter().find(this);
        found.ok_or_else(|| Failure::new("opening a connection", format!("no class has {rtt}")))
    }
}

/// Everything that a run consists of.
pub struct World {
    /// What the plan says.
    pub setup: Setup,
    /// Known controls.
    pub controls: cca::Registry,
    /// Where sockets are made.
    pub namespaces: Namespaces,
    /// What is due.
    pub agenda: Agenda,
    /// End points.
    pub ends: Vec<End>,
    /// Applications and calls.
    pub apps: Apps,
    /// What happened.
    pub log: Log,
    /// Flows so far.
    pub flows: u32,
    /// Who watches the sockets.
    pub epoll: Epoll,
    /// Bytes of no meaning.
    pub filler: Vec<u8>,
    rates: Rates,
    timer: TimerFd,
    armed: Instant,
    origin: u64,
    /// End points that may have something to send or to say.
    restless: Vec<u32>,
    /// Room for what is received, and for datagrams; their content is of no concern.
    room: Vec<u8>,
    control: Vec<u8>,
}

/// The number by which the timer is known among the sockets.
const TIMER: u64 = u64::MAX;
/// More than a socket takes or has at a time.
const ROOM: usize = 1 << 18;

fn clock() -> Result<u64> {
    let now = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).tried("the clock")?;
    Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

impl World {
    /// A world in which nothing has happened. Its time starts at 0 with [`run`](Self::run).
    pub fn new(setup: Setup, namespaces: Namespaces, rates: Rates) -> Result<World> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).tried("epoll")?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK);
        let timer = timer.tried("a timer")?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, TIMER);
        epoll.add(&timer, event).tried("epoll")?;
        Ok(World {
            setup,
            controls: cca::Registry::builtin(),
            namespaces,
            agenda: Agenda::default(),
            ends: Vec::new(),
            apps: Apps::default(),
            log: Log::default(),
            flows: 0,
            epoll,
            filler: vec![0; ROOM],
            rates,
            timer,
            armed: Instant::NEVER,
            origin: 0,
            restless: Vec::new(),
            room: vec![0; ROOM],
            control: nix::cmsg_space!(u8, [i32; 4]),
        })
    }

    /// A traffic entry.
    pub fn traffic(&self, entry: u16) -> Arc<Traffic> {
        Arc::clone(&self.setup.traffic[usize::from(entry)])
    }

    /// The moment, since traffic started.
    fn now(&self) -> Result<Instant> {
        Ok(Instant::from_nanos(clock()?.saturating_sub(self.origin)))
    }

    /// Lets everything happen for `duration`; returns when that began, on the kernel's clock.
    pub fn run(&mut self, duration: Duration) -> Result<u64> {
        for (index, entry) in (0..).zip(&self.setup.traffic) {
            for start in entry.starts(self.setup.seed) {
                self.agenda.push(Instant::ZERO + start, Due::Start(index));
            }
        }
        for (number, at) in (0..).zip(self.rates.times()) {
            self.agenda.push(at, Due::Rate(number));
        }
        let end = Instant::ZERO + duration;
        let mut events = [EpollEvent::empty(); 64];
        self.origin = clock()?;
        loop {
            let mut now = self.now()?;
            if now >= end {
                return Ok(self.origin);
            }
            while let Some(due) = self.agenda.pop_until(now) {
                self.happen(now, due)?;
                self.settle(now)?;
                now = self.now()?;
            }
            self.arm(self.agenda.next().min(end))?;
            let ready = self.epoll.wait(&mut events, EpollTimeout::NONE);
            for event in &events[..ready.tried("epoll")?] {
                now = self.now()?;
                self.ready(now, event.data(), event.events())?;
                self.settle(now)?;
            }
        }
    }

    /// Sets the timer for `at`.
    fn arm(&mut self, at: Instant) -> Result<()> {
        if at == self.armed {
            return Ok(());
        }
        self.armed = at;
        let nanos = self.origin + at.as_nanos();
        let at = TimeSpec::new(
            (nanos / 1_000_000_000) as i64,
            (nanos % 1_000_000_000) as i64,
        );
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        self.timer
            .set(Expiration::OneShot(at), flags)
            .tried("the timer")
    }

    fn happen(&mut self, now: Instant, due: Due) -> Result<()> {
        match due {
            Due::Start(entry) => self.start(now, entry),
            Due::Frame(call) => {
                self.frame(now, call);
                Ok(())
            }
            Due::App(app, token) => self.tell(now, app, Input::Timer(token)),
            Due::End(number) => {
                let end = &mut self.ends[number as usize];
                if now >= end.scheduled {
                    end.scheduled = Instant::NEVER;
                }
                if let EndKind::Datagrams(datagrams) = &mut end.kind {
                    if datagrams.next_timer() <= now {
                        datagrams.on_timer(now);
                    }
                    self.stir(number);
                }
                Ok(())
            }
            Due::Rate(step) => self.rates.apply(step),
        }
    }

    fn ready(&mut self, now: Instant, token: u64, flags: EpollFlags) -> Result<()> {
        if token == TIMER {
            self.armed = Instant::NEVER;
            return self.timer.wait().tried("the timer").or(Ok(()));
        }
        let number = token as u32;
        let end = &mut self.ends[number as usize];
        match &mut end.kind {
            EndKind::Listener(listener, marking) => {
                let fd = socket::accept(listener, *marking)?;
                let stream = Stream::new(fd, true, &self.epoll, number)?;
                end.kind = EndKind::Stream(stream);
                self.opened(now, number)
            }
            EndKind::Stream(stream) => {
                let buffers = (&self.filler[..], &mut self.room[..]);
                match stream.ready(&self.epoll, number, flags, buffers)? {
                    Ready::Came(bytes) => self.arrived(now, number, 0, bytes),
                    Ready::Connected => self.opened(now, number),
                    Ready::Room => self.writable(now, number),
                    Ready::Nothing => Ok(()),
                }
            }
            EndKind::Datagrams(datagrams) => {
                let peer = end.peer;
                let Some((packet, ecn)) = datagrams.receive(&mut self.control)? else {
                    return Ok(());
                };
                let wire = match &mut self.ends[peer as usize].kind {
                    EndKind::Datagrams(sender) => sender.said(packet),
                    _ => None,
                };
                if let (Some(wire), EndKind::Datagrams(datagrams)) =
                    (wire, &mut self.ends[number as usize].kind)
                {
                    datagrams.handle(now, ecn, &wire);
                    self.stir(number);
                }
                Ok(())
            }
            // What became ready in the same round in which it was closed.
            EndKind::Closed => Ok(()),
        }
    }

    fn opened(&mut self, now: Instant, number: u32) -> Result<()> {
        match self.ends[number as usize].owner {
            Owner::App(app, conn) => self.tell(now, app, Input::Opened(conn)),
            Owner::Nobody | Owner::Call(_) => Ok(()),
        }
    }

    fn writable(&mut self, now: Instant, number: u32) -> Result<()> {
        match self.ends[number as usize].owner {
            Owner::App(app, conn) => self.tell(now, app, Input::Writable(conn)),
            Owner::Nobody | Owner::Call(_) => Ok(()),
        }
    }

    /// `bytes` more of a stream arrived in order.
    fn arrived(&mut self, now: Instant, number: u32, stream: u32, bytes: u64) -> Result<()> {
        let end = &self.ends[number as usize];
        let (owner, peer, flow) = (end.owner, end.peer, end.flow);
        if end.counts {
            self.log.event(now, Event::Delivered { flow, bytes });
        }
        self.ends[peer as usize].outgoing.received(stream, bytes);
        while let Some(message) = self.ends[peer as usize].outgoing.take(stream) {
            if let Owner::App(app, conn) = owner {
                let input = Input::Message {
                    conn,
                    stream,
                    message,
                };
                self.tell(now, app, input)?;
            }
        }
        if owner == Owner::Nobody {
            self.transferred(now, number, bytes);
        }
        Ok(())
    }

    /// More of a transfer arrived; the last byte of one with a size completes it.
    fn transferred(&mut self, now: Instant, number: u32, bytes: u64) {
        let end = &mut self.ends[number as usize];
        end.received += bytes;
        let (received, flow) = (end.received, end.flow);
        if let Kind::Bulk(params) = &self.setup.traffic[usize::from(end.entry)].kind
            && received == params.size.get()
        {
            self.log.event(now, Event::FlowDone { flow });
        }
    }

    /// An end point may have something to send.
    pub fn stir(&mut self, number: u32) {
        self.restless.push(number);
    }

    fn settle(&mut self, now: Instant) -> Result<()> {
        while let Some(number) = self.restless.pop() {
            self.pump(now, number)?;
        }
        Ok(())
    }

    /// Lets an end of datagrams send and speak until it is quiet.
    fn pump(&mut self, now: Instant, number: u32) -> Result<()> {
        loop {
            let EndKind::Datagrams(datagrams) = &mut self.ends[number as usize].kind else {
                return Ok(());
            };
            while let Some(transmit) = datagrams.transmit(now) {
                datagrams.send(transmit, &mut self.room)?;
            }
            if !self.listen(now, number)? {
                break;
            }
        }
        let end = &mut self.ends[number as usize];
        if let EndKind::Datagrams(datagrams) = &end.kind {
            let timer = datagrams.next_timer();
            if timer < end.scheduled {
                end.scheduled = timer;
                self.agenda.push(timer.max(now), Due::End(number));
            }
        }
        Ok(())
    }

    /// Hears what an end of datagrams has to say; false if it had nothing to say.
    fn listen(&mut self, now: Instant, number: u32) -> Result<bool> {
        let mut spoke = false;
        loop {
            let EndKind::Datagrams(datagrams) = &mut self.ends[number as usize].kind else {
                return Ok(spoke);
            };
            match &mut datagrams.maker {
                Maker::Sender(_) => return Ok(spoke),
                Maker::Receiver(receiver) => match receiver.event() {
                    Some(event) => self.media_event(now, number, event),
                    None => return Ok(spoke),
                },
                Maker::Connection(connection) => match connection.event() {
                    Some(transport::Event::Connected) => self.opened(now, number)?,
                    Some(transport::Event::Writable) => self.writable(now, number)?,
                    Some(transport::Event::Received { stream, bytes }) => {
                        self.arrived(now, number, stream, bytes)?;
                    }
                    None => return Ok(spoke),
                },
            }
            spoke = true;
        }
    }

    fn media_event(&mut self, now: Instant, number: u32, event: media::Event) {
        let end = &self.ends[number as usize];
        let (Owner::Call(entry), flow) = (end.owner, end.flow) else {
            return;
        };
        let call = TrafficId(entry);
        let event = match event {
            media::Event::FrameComplete { id: frame, .. } => {
                let bytes = self.frame_bytes(entry, frame);
                self.log.event(now, Event::Delivered { flow, bytes });
                Event::FrameArrived { call, frame }
            }
            media::Event::FrameShown { id: frame, .. } => Event::FrameShown { call, frame },
            media::Event::FrameLost { id: frame, .. } => Event::FrameLost { call, frame },
        };
        self.log.event(now, event);
    }
}
