//! One connection: the messages and actions of each end on it.
//!
//! The client opens all paths, asks on the first stream, and reads or writes filler; the server
//! grants and does the opposite. The sending end has the [`Sender`](crate::control::Sender) and
//! makes the reports. Filler is sent in datagrams (RFC 9221): none of it is sent twice, or kept
//! until gaps are filled, so that losses cost no memory.

mod sending;

use crate::Problem;
use crate::control::Shared;
use crate::farewell;
use crate::limits::Grant;
use crate::message::{Ask, LONGEST, Lines, ServerLine, line};
use crate::news::News;
use crate::report::DataDirection;
use bytes::Bytes;
use noq_proto::{
    Connection, ConnectionError, Dir, Event, FourTuple, PathError, PathEvent, PathStatus,
    StreamEvent, StreamId, VarInt,
};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// A peer has this long to be connected, on all ports, and to ask: QUIC sends a handshake's packets and challenges again
/// after 0.3, 0.9, 2.1, 4.5 and 9.3 s, so that a path that loses a third of them is all but sure to be probed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// Datagrams that wait to be sent, or to be read. Bytes.
pub(crate) const DATAGRAMS: usize = 64 << 10;
/// Between two reports of a sender, and two signs of life of a receiver.
const EVERY: Duration = Duration::from_millis(250);
/// Factor by which a client may exceed its granted rate for a while: bursts, and the difference
/// between its clock and the server's.
const LENIENCE: u64 = 2;
/// For how long it may, before the server ends it.
const WHILE: Duration = Duration::from_secs(1);
/// The application's codes for the end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Done = 0,
    Protocol = 1,
    Limit = 2,
    Late = 3,
}

/// The role of this end.
#[derive(Debug)]
enum Role {
    Asks {
        ask: Ask,
        /// The paths beside the first one, and how many of them were opened and proven.
        others: Vec<SocketAddr>,
        opened: usize,
        proven: usize,
    },
    Serves {
        address: IpAddr,
        grant: Grant,
    },
}

/// The state of the session.
#[derive(Debug)]
enum State {
    /// Before the question, or its answer.
    Waiting,
    /// Filler is sent.
    Sending { until: Instant },
    /// Trains are sent, and nothing else.
    Training { until: Instant },
    /// Filler is received.
    Receiving { until: Instant },
    /// The data is over.
    Over,
}

/// A connection with its application.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    sender: Shared,
    role: Role,
    state: State,
    direction: DataDirection,
    control: Option<StreamId>,
    unsent: Vec<u8>,
    lines: Lines,
    news: VecDeque<News>,
    begun: Instant,
    next_report: Instant,
    taken: u64,
    accounted: bool,
    /// The second path is proven.
    both: bool,
    /// A call is sent beside the load.
    calls: bool,
}

impl Session {
    pub(crate) fn asks(
        connection: Connection,
        sender: Shared,
        ask: Ask,
        others: Vec<SocketAddr>,
        now: Instant,
    ) -> Self {
        let role = Role::Asks {
            ask,
            others,
            opened: 0,
            proven: 0,
        };
        Self::new(connection, sender, role, now)
    }

    pub(crate) fn serves(
        connection: Connection,
        sender: Shared,
        address: IpAddr,
        grant: Grant,
        now: Instant,
    ) -> Self {
        Self::new(connection, sender, Role::Serves { address, grant }, now)
    }

    fn new(connection: Connection, sender: Shared, role: Role, now: Instant) -> Self {
        Session {
            connection,
            sender,
            role,
            state: State::Waiting,
            direction: DataDirection::Down,
            control: None,
            unsent: Vec::new(),
            lines: Lines::default(),
            news: VecDeque::new(),
            begun: now,
            next_report: now,
            taken: 0,
            accounted: false,
            both: false,
            calls: false,
        }
    }

    /// The client's news, oldest first.
    pub(crate) fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// The grant of a server, its client, and the usage: once, when it is over.
    pub(crate) fn account(&mut self) -> Option<(IpAddr, Grant, u64)> {
        let Role::Serves { address, grant } = self.role else {
            return None;
        };
        if self.accounted || !matches!(self.state, State::Over) {
            return None;
        }
        self.accounted = true;
        let used = self.connection.stats();
        Some((address, grant, used.udp_tx.bytes + used.udp_rx.bytes))
    }

    /// It is `now`, and packets may be asked for.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.sender.get().tick(now);
        if matches!(self.state, State::Sending { .. }) {
            // A peer that takes no filler is informed when the session acts next.
            let _ = self.make_ready();
        }
    }

    /// When to call [`act`](Self::act) if no datagram arrives.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        match self.state {
            State::Waiting => Some(self.begun + PATIENCE),
            State::Sending { until } => {
                let sender = self.sender.get();
                let next = [sender.next_slot(), sender.next_frame()];
                let soonest = until.min(self.next_report);
                Some(next.into_iter().flatten().fold(soonest, Instant::min))
            }
            State::Training { until } => Some(until),
            State::Receiving { until } => Some(until.min(self.next_report)),
            State::Over => None,
        }
    }

    /// Does all that can be done `now`.
    pub(crate) fn act(&mut self, now: Instant) {
        while let Some(event) = self.connection.poll() {
            self.event(now, event);
        }
        if matches!(self.state, State::Over) {
            return;
        }
        if let Err((code, problem)) = self.step(now) {
            self.fail(now, code, problem);
        }
        self.write_control();
    }

    fn event(&mut self, now: Instant, event: Event) {
        match event {
            Event::ConnectionLost { reason } => self.lost(&reason),
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) if self.control.is_none() => {
                self.control = self.connection.streams().accept(Dir::Bi);
            }
            Event::Path(PathEvent::Established { .. }) => {
                self.both = true;
                if let Role::Asks { proven, .. } = &mut self.role {
                    *proven += 1;
                }
            }
            Event::Path(PathEvent::Abandoned { .. }) => {
                let text = "one of the ports is no longer answered";
                self.fail(now, Code::Protocol, Problem::Unreachable(text.to_owned()));
            }
            _ => {}
        }
    }

    fn lost(&mut self, reason: &ConnectionError) {
        if matches!(self.state, State::Over) {
            return;
        }
        self.state = State::Over;
        let came = self.connection.stats().udp_rx.datagrams;
        let problem = farewell::told(reason, came);
        self.news.push_back(News::Failed(problem));
    }

    fn fail(&mut self, now: Instant, code: Code, problem: Problem) {
        if !matches!(self.state, State::Over) {
            let reason = Bytes::from(problem.to_string());
            self.news.push_back(News::Failed(problem));
            self.close(now, code, reason);
        }
    }

    fn close(&mut self, now: Instant, code: Code, reason: Bytes) {
        self.state = State::Over;
        self.connection
            .close(now, VarInt::from_u32(code as u32), reason);
    }

    /// Asks, once all paths are there.
    fn ask(&mut self) {
        let Role::Asks {
            ask,
            others,
            proven,
            ..
        } = &mut self.role
        else {
            return;
        };
        if self.control.is_none() && *proven == others.len() {
            ask.call = others.len() > 1;
            self.calls = ask.call;
            self.direction = ask.direction;
            self.unsent = line(ask);
            self.control = self.connection.streams().open(Dir::Bi);
            if let Some(control) = self.control {
                let _ = self.connection.send_stream(control).set_priority(1);
            }
        }
    }

    fn step(&mut self, now: Instant) -> Result<(), (Code, Problem)> {
        self.open_next(now)?;
        self.ask();
        self.read_control(now)?;
        match self.state {
            State::Waiting if now >= self.begun + PATIENCE => Err((
                Code::Late,
                Problem::Unreachable(format!(
                    "the peer made no progress within {} s: packets come back, but too few of them",
                    PATIENCE.as_secs()
                )),
            )),
            State::Sending { until } => self.send(now, until),
            State::Training { until } => self.train(now, until),
            State::Receiving { until } => self.receive(now, until),
            State::Waiting | State::Over => Ok(()),
        }
    }

    /// Opens the client's next path as soon as the last one is proven, and the server has given it identifiers. That
    /// is their order on the server as well, which makes the second subflow B and the third the call.
    fn open_next(&mut self, now: Instant) -> Result<(), (Code, Problem)> {
        let Role::Asks {
            ref mut others,
            ref mut opened,
            proven,
            ..
        } = self.role
        else {
            return Ok(());
        };
        if *opened == others.len() || *opened > proven || self.connection.is_handshaking() {
            return Ok(());
        }
        if !self.connection.is_multipath_negotiated() {
            let text = "the server does not speak multipath QUIC".to_owned();
            return Err((Code::Protocol, Problem::Peer(text)));
        }
        let path = FourTuple::from_remote(others[*opened]);
        match self.connection.open_path(path, PathStatus::Available, now) {
            Ok(_) => *opened += 1,
            // The server is of before the call, and has two paths.
            Err(PathError::MaxPathIdReached) if *opened == 1 => others.truncate(1),
            Err(_) => {}
        }
        Ok(())
    }

    fn read_control(&mut self, now: Instant) -> Result<(), (Code, Problem)> {
        let Some(control) = self.control else {
            return Ok(());
        };
        let pieces = read(&mut self.connection, control);
        for piece in pieces {
            match self.role {
                Role::Serves { .. } => {
                    let asks: Vec<Ask> = self.lines.add(&piece).map_err(protocol)?;
                    asks.into_iter().try_for_each(|ask| self.asked(now, &ask))?;
                }
                Role::Asks { .. } => {
                    let answers: Vec<ServerLine> = self.lines.add(&piece).map_err(protocol)?;
                    answers
                        .into_iter()
                        .try_for_each(|answer| self.answered(now, answer))?;
                }
            }
        }
        Ok(())
    }

    /// The server has read the request.
    fn asked(&mut self, now: Instant, ask: &Ask) -> Result<(), (Code, Problem)> {
        let Role::Serves { grant, .. } = self.role else {
            return Ok(());
        };
        if !matches!(self.state, State::Waiting) {
            return Err(protocol(Problem::Peer("the client asked twice".to_owned())));
        }
        // noq-proto updates its keys after some hundred packets, and then compares packet numbers
        // of different paths: if a fair queue lets one path overtake the other, packets of the old
        // keys are taken for forged ones, and are lost. The next update is after 2^23 packets.
        self.connection.force_key_update();
        let span = Duration::from_millis(ask.millis).min(grant.span);
        self.direction = ask.direction;
        self.calls = ask.call;
        self.unsent = line(&ServerLine::Granted {
            millis: span.as_millis() as u64,
            bits_per_second: grant.rate.as_bits(),
        });
        self.begun = now;
        self.next_report = now + EVERY;
        match ask.direction {
            DataDirection::Down => self.start(now, now + span, ask.quick),
            // The client ends it; the rest is for data under way.
            DataDirection::Up => {
                self.state = State::Receiving {
                    until: now + span + 2 * WHILE,
                }
            }
        }
        Ok(())
    }

    /// The client has read an answer.
    fn answered(&mut self, now: Instant, answer: ServerLine) -> Result<(), (Code, Problem)> {
        let waiting = matches!(self.state, State::Waiting);
        let Role::Asks { ask, .. } = &self.role else {
            return Ok(());
        };
        match answer {
            ServerLine::Granted {
                millis,
                bits_per_second,
            } if waiting => {
                let span = Duration::from_millis(millis.min(ask.millis));
                self.begun = now;
                self.next_report = now + EVERY;
                if self.direction == DataDirection::Up {
                    self.sender
                        .get()
                        .set_limit(units::Rate::from_bits(bits_per_second));
                    let quick = ask.quick;
                    self.start(now, now + span, quick);
                } else {
                    self.state = State::Receiving {
                        until: now + span + PATIENCE,
                    };
                }
                Ok(())
            }
            ServerLine::Refused(reason) if waiting => {
                let reason = reason.chars().filter(|c| !c.is_control()).collect();
                Err((Code::Done, Problem::Refused(reason)))
            }
            ServerLine::Seen(report) if report.is_sound() && !waiting => {
                self.news.push_back(News::Seen(*report));
                Ok(())
            }
            ServerLine::Done(report) if report.is_sound() && !waiting => {
                self.news.push_back(News::Done(*report));
                self.close(now, Code::Done, Bytes::new());
                Ok(())
            }
            _ => {
                let text = "the server answered out of turn, or with impossible figures";
                Err(protocol(Problem::Peer(text.to_owned())))
            }
        }
    }

    /// Takes filler and throws it away; a server only as much as it granted.
    fn receive(&mut self, now: Instant, until: Instant) -> Result<(), (Code, Problem)> {
        // Acknowledgements may all come over one path: the other would seem dead to the sender.
        if now >= self.next_report {
            self.next_report = now + EVERY;
            for path in self.connection.paths() {
                let _ = self.connection.ping_path(path);
            }
        }
        while let Some(piece) = self.connection.datagrams().recv() {
            self.taken += piece.len() as u64;
        }
        if let Role::Serves { grant, .. } = self.role {
            let span = now.saturating_duration_since(self.begun) + WHILE;
            let span = units::Duration::from_nanos(span.as_nanos() as u64);
            if self.taken > grant.bytes || self.taken > LENIENCE * grant.rate.bytes_in(span) {
                let text = "more data, or faster, than was granted".to_owned();
                return Err((Code::Limit, Problem::Refused(text)));
            }
        }
        if now >= until {
            let text = "the peer did not end in time".to_owned();
            return Err((Code::Late, Problem::Unreachable(text)));
        }
        Ok(())
    }

    fn write_control(&mut self) {
        if let (Some(control), false) = (self.control, self.unsent.is_empty())
            && let Ok(n) = self.connection.send_stream(control).write(&self.unsent)
        {
            self.unsent.drain(..n);
        }
    }
}

fn protocol(problem: Problem) -> (Code, Problem) {
    (Code::Protocol, problem)
}

/// Reads the available data, which flow control bounds. An error of the stream shows in the
/// connection's end.
fn read(connection: &mut Connection, stream: StreamId) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    let mut incoming = connection.recv_stream(stream);
    let Ok(mut chunks) = incoming.read(true) else {
        return pieces;
    };
    while let Ok(Some(chunk)) = chunks.next(LONGEST) {
        pieces.push(chunk.bytes);
    }
    // The driver of the connection asks it for transmissions in any case.
    let _ = chunks.finalize();
    pieces
}
