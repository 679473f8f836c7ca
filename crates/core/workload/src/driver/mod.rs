//! One driver of applications for every engine.
//!
//! The driver starts the applications of a scenario, passes events to them, and carries out their
//! actions, over the [`Sockets`] of an engine: simulated transports, a kernel's, real ones. It
//! knows which application owns which end of a flow, keeps the meaning of the bytes under way, and
//! reports the applications' events to results. An engine knows packets, clocks and sockets, and no
//! application.
//!
//! Applications, flows and timers are slots that are used again: memory is that of the active ones.

mod flows;
mod frames;
mod session;
mod slots;
mod sockets;

pub use flows::{FlowEnd, OpenedFlow};
pub use session::Fate;
pub use sockets::{Sockets, TimerId, TrafficEntry};

use crate::{
    App, AudioFrame, ConnId, Datagram, Event, Input, Output, Report, Rows, Start, TrafficId,
};
use flows::{Flows, Opening, Owner};
use slots::{SlotId, Slots};
use std::collections::BTreeMap;
use units::{Duration, FlowId, Instant};

/// An application that runs.
struct Running {
    /// Taken out while it handles an event.
    app: Option<Box<dyn App>>,
    entry: u16,
    instance: u32,
    /// Its connections' ends, by its own numbers.
    connections: BTreeMap<ConnId, FlowEnd>,
}

/// A timer that runs.
#[derive(Debug, Clone, Copy)]
struct Timer {
    app: SlotId,
    token: u64,
}

/// The applications of a run.
pub struct Driver {
    entries: Vec<TrafficEntry>,
    seed: u64,
    apps: Slots<Running>,
    timers: Slots<Timer>,
    flows: Flows,
    /// Instances started so far, by entry.
    started: Vec<u32>,
    /// Flows so far.
    numbers: u32,
    /// Empty: the room for what applications say, used again and again.
    said: Vec<Output>,
}

impl Driver {
    /// The applications of `entries` in the run of `seed`; none has started.
    pub fn new(entries: Vec<TrafficEntry>, seed: u64) -> Self {
        Driver {
            started: vec![0; entries.len()],
            entries,
            seed,
            apps: Slots::default(),
            timers: Slots::default(),
            flows: Flows::default(),
            numbers: 0,
            said: Vec::new(),
        }
    }

    /// Flows so far.
    pub fn flows(&self) -> u32 {
        self.numbers
    }

    /// The next instance of a traffic entry starts.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn start<S: Sockets>(
        &mut self,
        now: Instant,
        entry: u16,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let of = &self.entries[usize::from(entry)];
        let instance = self.started[usize::from(entry)];
        let start = Start {
            now,
            name: &of.name,
            instance,
            place: of.first + instance,
            seed: self.seed,
            rtt: of.rtt,
            rate: of.rate,
        };
        let client = of.kind.workload.client(&start);
        self.started[usize::from(entry)] += 1;
        let app = self.add(client, entry, instance);
        self.say(now, app, Input::Start, sockets)
    }

    fn add(&mut self, app: Box<dyn App>, entry: u16, instance: u32) -> SlotId {
        self.apps.insert(Running {
            app: Some(app),
            entry,
            instance,
            connections: BTreeMap::new(),
        })
    }

    /// A moment that was asked for has come.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn timer<S: Sockets>(
        &mut self,
        now: Instant,
        timer: TimerId,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        match self.timers.take_place(timer.0) {
            Some(Timer { app, token }) => self.say(now, app, Input::Timer(token), sockets),
            None => Ok(()),
        }
    }

    /// The handshake of `end` is complete.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn opened<S: Sockets>(
        &mut self,
        now: Instant,
        end: FlowEnd,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let owner = self.flows.owner(end);
        self.say_of(now, owner, Input::Opened, sockets)
    }

    /// The transport of `end` has room for more.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn writable<S: Sockets>(
        &mut self,
        now: Instant,
        end: FlowEnd,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let owner = self.flows.owner(end);
        self.say_of(now, owner, Input::Writable, sockets)
    }

    /// `bytes` more of `stream` arrived in order at `end`.
    ///
    /// # Errors
    /// If a socket fails.
    #[inline]
    pub fn received<S: Sockets>(
        &mut self,
        now: Instant,
        end: FlowEnd,
        stream: u32,
        bytes: u64,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let Some((flow, owner)) = self.flows.received(end, stream, bytes) else {
            return Ok(());
        };
        if let Some(flow) = flow {
            sockets.tell(now, Event::Delivered { flow, bytes });
        }
        let Some(Owner { app, conn }) = owner else {
            return Ok(());
        };
        while let Some(message) = self.flows.message(end, stream) {
            let input = Input::Message {
                conn,
                stream,
                message,
            };
            self.say(now, app, input, sockets)?;
        }
        Ok(())
    }

    /// A datagram arrived at `end`.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn arrived<S: Sockets>(
        &mut self,
        now: Instant,
        end: FlowEnd,
        datagram: Datagram,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let Some((flow, owner)) = self.flows.arrived(end) else {
            return Ok(());
        };
        if let Some(flow) = flow {
            let bytes = u64::from(datagram.bytes);
            sockets.tell(now, Event::Delivered { flow, bytes });
        }
        let input = |conn| Input::Datagram { conn, datagram };
        self.say_of(now, owner, input, sockets)
    }

    /// No packets of a closed flow are under way: its ends may be used again.
    pub fn release(&mut self, first: FlowEnd) {
        self.flows.release(first);
    }

    /// Passes an event of the connection to an end's owner, if it has one.
    fn say_of<S: Sockets>(
        &mut self,
        now: Instant,
        owner: Option<Owner>,
        input: impl FnOnce(ConnId) -> Input,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        match owner {
            Some(Owner { app, conn }) => self.say(now, app, input(conn), sockets),
            None => Ok(()),
        }
    }

    /// Passes an event to an application, and carries out its actions.
    fn say<S: Sockets>(
        &mut self,
        now: Instant,
        app: SlotId,
        input: Input,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        // An application that is handling an event receives no other meanwhile.
        let Some(mut taken) = self
            .apps
            .get_mut(app)
            .and_then(|running| running.app.take())
        else {
            return Ok(());
        };
        let mut out = core::mem::take(&mut self.said);
        taken.handle(now, input, &mut out);
        if let Some(running) = self.apps.get_mut(app) {
            running.app = Some(taken);
        }
        for output in out.drain(..) {
            self.act(now, app, output, sockets)?;
        }
        self.said = out;
        Ok(())
    }

    fn act<S: Sockets>(
        &mut self,
        now: Instant,
        app: SlotId,
        output: Output,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let Some(running) = self.apps.get_mut(app) else {
            return Ok(());
        };
        let end = |conn: &ConnId| running.connections.get(conn).copied();
        match output {
            Output::Open { .. } => self.open(now, app, &output, sockets),
            Output::Send {
                conn,
                stream,
                bytes,
                message,
            } => match end(&conn) {
                Some(end) => {
                    self.flows.sent(end, stream, bytes, message);
                    sockets.send(now, end, stream, bytes)
                }
                None => Ok(()),
            },
            Output::Datagram { conn, datagram } => match end(&conn) {
                Some(end) => sockets.datagram(now, end, datagram),
                None => Ok(()),
            },
            Output::Ask { conn, stream } => {
                let input =
                    end(&conn).and_then(|end| session::state(now, conn, stream, end, sockets));
                match input {
                    Some(input) => self.say(now, app, input, sockets),
                    None => Ok(()),
                }
            }
            Output::Frame { conn, frame } => {
                if let Some(end) = end(&conn) {
                    self.hand_over(now, end, frame, sockets);
                }
                Ok(())
            }
            Output::Fill { conn, rate } => {
                if let Some(end) = end(&conn) {
                    sockets.fill(now, end, rate);
                }
                Ok(())
            }
            Output::Audio { conn, frame } => {
                if let Some(end) = end(&conn) {
                    let (call, AudioFrame { id: frame, bytes }) = (TrafficId(running.entry), frame);
                    sockets.tell(now, Event::AudioSent { call, frame, bytes });
                    sockets.audio(now, end, AudioFrame { id: frame, bytes });
                }
                Ok(())
            }
            Output::Timer(at, token) => {
                let timer = self.timers.insert(Timer { app, token });
                sockets.wake(at.max(now), TimerId(timer.place()));
                Ok(())
            }
            Output::Close(conn) => {
                self.close(now, app, conn, sockets);
                Ok(())
            }
            Output::Report(report) => {
                self.report(now, app, report, sockets);
                Ok(())
            }
        }
    }

    fn open<S: Sockets>(
        &mut self,
        now: Instant,
        app: SlotId,
        output: &Output,
        sockets: &mut S,
    ) -> Result<(), S::Error> {
        let (
            &Output::Open {
                conn,
                carrier,
                server,
                extra_rtt,
            },
            Some(running),
        ) = (output, self.apps.get_mut(app))
        else {
            return Ok(());
        };
        let (entry, instance) = (running.entry, running.instance);
        let of = &self.entries[usize::from(entry)];
        let workload = &of.kind.workload;
        // The application that asks for data is at the end opposite to the sender.
        let up = of.up == workload.client_sends();
        let (loads, counts_up) = (of.kind.entry.rows == Rows::Loads, of.up);
        let far = workload.server();
        let far = far.map(|app| self.add(app, entry, instance));
        let flow = FlowId(self.numbers);
        self.numbers = self.numbers.wrapping_add(1);
        let owner = |app| Owner { app, conn };
        let first = self.flows.insert(Opening {
            flow,
            entry,
            owners: [Some(owner(app)), far.map(owner)],
            // An end that sends up is at home: data that arrives there came down.
            counting: usize::from(up == counts_up),
        });
        let connections = [Some(app), far].into_iter().zip([first, first.peer()]);
        for (app, end) in connections {
            let running = app.and_then(|app| self.apps.get_mut(app));
            running.map(|running| running.connections.insert(conn, end));
        }
        let traffic = TrafficId(entry);
        let event = Event::FlowStarted {
            flow,
            traffic,
            carrier,
            server,
        };
        sockets.tell(now, event);
        let flow = OpenedFlow {
            first,
            flow,
            entry,
            instance,
            conn,
            carrier,
            up,
            server,
            extra_rtt,
        };
        sockets.open(now, &flow)?;
        if loads {
            sockets.tell(now, Event::ConnectionOpened { page: traffic });
        }
        Ok(())
    }

    /// Closes both ends of a connection; the application at the far end is removed with its only
    /// one.
    fn close<S: Sockets>(&mut self, now: Instant, app: SlotId, conn: ConnId, sockets: &mut S) {
        let running = self.apps.get_mut(app);
        let Some(&end) = running.and_then(|running| running.connections.get(&conn)) else {
            return;
        };
        let Some((flow, owners)) = self.flows.close(end) else {
            return;
        };
        for Owner { app, conn } in owners.iter().flatten() {
            if let Some(running) = self.apps.get_mut(*app) {
                running.connections.remove(conn);
            }
        }
        if let Some(far) = owners[1] {
            self.apps.remove(far.app);
        }
        sockets.close(end.first());
        sockets.tell(now, Event::FlowEnded { flow });
    }

    fn report<S: Sockets>(&mut self, now: Instant, app: SlotId, report: Report, sockets: &mut S) {
        let Some(running) = self.apps.get_mut(app) else {
            return;
        };
        let page = TrafficId(running.entry);
        let event = match report {
            Report::PageStarted {
                load,
                page: site,
                ideal,
            } => Event::PageStarted {
                page,
                load,
                site,
                ideal,
            },
            Report::RequestStarted { load, id: request } => Event::RequestStarted {
                page,
                load,
                request,
            },
            Report::RequestDone { load, id, bytes } => Event::RequestDone {
                page,
                load,
                request: id,
                bytes,
            },
            Report::PageDone { load } => Event::PageDone { page, load },
            Report::FrameSent { frame } => Event::FrameSent { call: page, frame },
            Report::FrameArrived { frame } => Event::FrameArrived { call: page, frame },
            Report::FrameShown { frame } => Event::FrameShown {
                call: page,
                frame,
                held: Duration::ZERO,
            },
            Report::Figure {
                figure,
                value,
                began,
            } => Event::Observed {
                traffic: page,
                figure,
                value,
                began,
            },
            Report::Done(conn) => {
                let end = running.connections.get(&conn).copied();
                match end.and_then(|end| self.flows.get_mut(end)) {
                    Some(open) => Event::FlowDone { flow: open.flow },
                    None => return,
                }
            }
        };
        sockets.tell(now, event);
    }
}
