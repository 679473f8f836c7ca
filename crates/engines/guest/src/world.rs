//! The loop: sockets become ready and timers run out, and the parts concerned react.

use crate::agenda::Due;
use crate::ends::{EndKind, Ready, TcpStreamEnd};
use crate::error::{Failure, Tried};
use crate::log::Said;
use crate::place::Namespaces;
use crate::rates::RateChanges;
use crate::setup::GuestSetup;
use crate::socket;
use crate::sockets::Ends;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use transport::endpoint::EndEvent;
use units::{Duration, Ecn, Instant};
use workload::Driver;
use workload::driver::{FlowEnd, TimerId};

type Result<T> = core::result::Result<T, Failure>;

/// The state of a run.
pub struct World {
    driver: Driver,
    /// Sockets and events.
    pub sockets: Ends,
    rates: RateChanges,
    timer: TimerFd,
    armed: Instant,
    origin: u64,
    control: Vec<u8>,
}

/// The number by which the timer is known among the sockets.
const TIMER: u64 = u64::MAX;

/// The kernel's monotonic clock, nanoseconds.
pub fn clock() -> Result<u64> {
    of(nix::time::ClockId::CLOCK_MONOTONIC)
}

fn of(clock: nix::time::ClockId) -> Result<u64> {
    clock_gettime(clock).map(socket::nanos).tried("the clock")
}

/// For how long a datagram has waited in its socket.
fn waited(stamp: Option<u64>) -> Result<Duration> {
    let Some(stamp) = stamp else {
        return Ok(Duration::ZERO);
    };
    let now = of(nix::time::ClockId::CLOCK_REALTIME)?;
    Ok(Duration::from_nanos(now.saturating_sub(stamp)))
}

impl World {
    /// A world before the first event. Its time starts at 0 with [`run`](Self::run).
    pub fn new(setup: GuestSetup, namespaces: Namespaces, rates: RateChanges) -> Result<World> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).tried("epoll")?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK);
        let timer = timer.tried("a timer")?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, TIMER);
        epoll.add(&timer, event).tried("epoll")?;
        Ok(World {
            driver: Driver::new(setup.entries.clone(), setup.seed),
            sockets: Ends::new(setup, namespaces, epoll),
            rates,
            timer,
            armed: Instant::NEVER,
            origin: 0,
            control: socket::control(),
        })
    }

    /// Flows so far.
    pub fn flows(&self) -> u32 {
        self.driver.flows()
    }

    /// The moment, since traffic started.
    fn now(&self) -> Result<Instant> {
        Ok(Instant::from_nanos(clock()?.saturating_sub(self.origin)))
    }

    /// Processes all events for `duration` from `origin` on, a moment of the kernel's clock.
    pub fn run(&mut self, origin: u64, duration: Duration) -> Result<()> {
        let Ends { setup, agenda, .. } = &mut self.sockets;
        for (index, entry) in (0..).zip(&setup.traffic) {
            for start in entry.starts(setup.seed) {
                agenda.push(Instant::ZERO + start, Due::Start(index));
            }
        }
        for (number, at) in (0..).zip(self.rates.times()) {
            agenda.push(at, Due::Rate(number));
        }
        let end = Instant::ZERO + duration;
        let mut events = [EpollEvent::empty(); 64];
        self.origin = origin;
        loop {
            let mut now = self.now()?;
            if now >= end {
                return Ok(());
            }
            while let Some(due) = self.sockets.agenda.pop_until(now) {
                self.happen(now, due)?;
                self.settle(now)?;
                now = self.now()?;
            }
            self.arm(self.sockets.agenda.next().min(end))?;
            let ready = self.sockets.epoll.wait(&mut events, EpollTimeout::NONE);
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
        let at = TimeSpec::from(std::time::Duration::from_nanos(nanos));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        self.timer
            .set(Expiration::OneShot(at), flags)
            .tried("the timer")
    }

    fn happen(&mut self, now: Instant, due: Due) -> Result<()> {
        match due {
            Due::Start(entry) => self.driver.start(now, entry, &mut self.sockets),
            Due::App(timer) => self.driver.timer(now, TimerId(timer), &mut self.sockets),
            Due::End { end, used } => {
                self.end_timer(now, end, used);
                Ok(())
            }
            Due::Rate(step) => self.rates.apply(step),
        }
    }

    fn end_timer(&mut self, now: Instant, number: u32, used: u32) {
        let end = &mut self.sockets.ends[number as usize];
        if end.used != used {
            return;
        }
        if now >= end.scheduled {
            end.scheduled = Instant::NEVER;
        }
        if let EndKind::Datagrams(datagrams) = &mut end.kind {
            if datagrams.maker.next_timer() <= now {
                datagrams.maker.on_timer(now);
            }
            self.sockets.ready.push(number);
        }
    }

    fn ready(&mut self, now: Instant, token: u64, flags: EpollFlags) -> Result<()> {
        if token == TIMER {
            self.armed = Instant::NEVER;
            return self.timer.wait().tried("the timer").or(Ok(()));
        }
        let number = token as u32;
        if token != self.sockets.token(number) {
            // It became ready in the same round in which it was closed.
            return Ok(());
        }
        let Ends {
            ends,
            epoll,
            filler,
            room,
            ..
        } = &mut self.sockets;
        let (end, driver) = (FlowEnd(number), &mut self.driver);
        match &mut ends[number as usize].kind {
            EndKind::Listener(listener, marking) => {
                let fd = socket::accept(listener, *marking)?;
                let stream = TcpStreamEnd::new(fd, true, epoll, token)?;
                ends[number as usize].kind = EndKind::Stream(stream);
                driver.opened(now, end, &mut self.sockets)
            }
            EndKind::Stream(stream) => {
                let buffers = (&filler[..], &mut room[..]);
                match stream.ready(epoll, token, flags, buffers)? {
                    Ready::Came(bytes) => driver.received(now, end, 0, bytes, &mut self.sockets),
                    Ready::Connected => driver.opened(now, end, &mut self.sockets),
                    Ready::Room => driver.writable(now, end, &mut self.sockets),
                    Ready::Nothing => Ok(()),
                }
            }
            EndKind::Datagrams(_) => self.datagrams(now, end),
            EndKind::Closed => Ok(()),
        }
    }

    /// Datagrams have arrived at an end, of one subflow or both: takes one of each.
    fn datagrams(&mut self, now: Instant, end: FlowEnd) -> Result<()> {
        let subflows = match &self.sockets.ends[end.0 as usize].kind {
            EndKind::Datagrams(datagrams) => datagrams.subflows(),
            _ => 0,
        };
        (0..subflows).try_for_each(|subflow| self.datagram(now, end, subflow))
    }

    /// Takes the next datagram of a subflow, if there is one: its contents stand with the end that sent
    /// it.
    fn datagram(&mut self, now: Instant, end: FlowEnd, subflow: usize) -> Result<()> {
        let ends = &mut self.sockets.ends;
        let EndKind::Datagrams(datagrams) = &mut ends[end.0 as usize].kind else {
            return Ok(());
        };
        let Some((packet, received)) = datagrams.receive(subflow, &mut self.control)? else {
            return Ok(());
        };
        let came = datagrams.asked.max(now - waited(received.stamp)?);
        let wire = match &mut ends[end.peer().0 as usize].kind {
            EndKind::Datagrams(sender) => sender.said(packet),
            _ => None,
        };
        if let (Some(wire), EndKind::Datagrams(datagrams)) = (wire, &mut ends[end.0 as usize].kind)
        {
            datagrams
                .maker
                .handle(came, Ecn::of_tos(received.tos), &wire);
            self.sockets.ready.push(end.0);
        }
        Ok(())
    }

    fn settle(&mut self, now: Instant) -> Result<()> {
        while let Some(number) = self.sockets.ready.pop() {
            self.service(now, number)?;
        }
        while let Some(first) = self.sockets.closed.pop() {
            self.driver.release(first);
        }
        Ok(())
    }

    /// Lets an end of datagrams send and speak until it is quiet.
    fn service(&mut self, now: Instant, number: u32) -> Result<()> {
        loop {
            let Ends { ends, room, .. } = &mut self.sockets;
            let EndKind::Datagrams(datagrams) = &mut ends[number as usize].kind else {
                return Ok(());
            };
            datagrams.asked = now;
            while let Some(transmit) = datagrams.maker.transmit(now) {
                datagrams.send(transmit, room)?;
            }
            if !self.listen(now, number)? {
                break;
            }
        }
        let end = &mut self.sockets.ends[number as usize];
        if let EndKind::Datagrams(datagrams) = &end.kind {
            let timer = datagrams.maker.next_timer();
            if timer < end.scheduled {
                end.scheduled = timer;
                let used = end.used;
                let due = Due::End { end: number, used };
                self.sockets.agenda.push(timer.max(now), due);
            }
        }
        Ok(())
    }

    /// Handles an event of an end of datagrams; false if there was none.
    fn listen(&mut self, now: Instant, number: u32) -> Result<bool> {
        let mut spoke = false;
        while let EndKind::Datagrams(datagrams) = &mut self.sockets.ends[number as usize].kind
            && let Some(event) = datagrams.maker.event()
        {
            if let EndEvent::Connection(transport::Event::Noticed(notice)) = event
                && let Some(flow) = datagrams.reports
            {
                self.sockets.log.event(now, Said::Noticed { flow, notice });
            }
            let driver = &mut self.driver;
            endpoints::tell(driver, now, FlowEnd(number), event, &mut self.sockets)?;
            spoke = true;
        }
        Ok(spoke)
    }
}
