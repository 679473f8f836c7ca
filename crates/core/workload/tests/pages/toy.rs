//! A network just good enough to run pages over: every connection has its own window, which doubles
//! each round trip; all of them share one link towards home, first come, first served. There are no
//! losses. The capacity towards the servers is unlimited.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use units::{Duration, Instant, Rate};
use workload::page::{ActiveFlows, PageClient, PageServer};
use workload::{App, ConnId, Input, Message, Output, Report};

const INITIAL_WINDOW: u64 = 14_480;
const UNSENT_LOW: u64 = 32_768;

#[derive(Debug)]
enum Event {
    /// To the client.
    Home(Input),
    /// To the server of a connection.
    Far(ConnId, Input),
    /// A flight of this connection is acknowledged.
    Acked(ConnId, u64),
    /// Bytes arrive at home.
    Arrived(ConnId),
}

#[derive(Debug)]
struct Far {
    server: PageServer,
    rtt: Duration,
    window: u64,
    in_flight: u64,
    unsent: VecDeque<(u32, u64, Message)>,
    wants_writable: bool,
}

/// The observations of a run.
#[derive(Debug, Default)]
pub struct Run {
    pub reports: Vec<(Instant, Report)>,
    pub opened: Vec<(Instant, ConnId)>,
    pub sent: Vec<(Instant, ConnId, u32, u64, Message)>,
    pub closed: Vec<(Instant, ConnId)>,
    pub active: ActiveFlows,
}

pub struct Toy {
    pub rtt: Duration,
    pub rate: Rate,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    what: BTreeMap<u64, Event>,
    next: u64,
    link_free: Instant,
    conns: BTreeMap<ConnId, Far>,
    run: Run,
}

impl Toy {
    pub fn new(rtt: Duration, rate: Rate) -> Self {
        Toy {
            rtt,
            rate,
            events: BinaryHeap::new(),
            what: BTreeMap::new(),
            next: 0,
            link_free: Instant::ZERO,
            conns: BTreeMap::new(),
            run: Run::default(),
        }
    }

    /// Runs `client` until there are no more events, or for `most`.
    pub fn run(mut self, mut client: PageClient, most: Duration) -> Run {
        self.at(Instant::ZERO, Event::Home(Input::Start));
        while let Some(Reverse((now, key))) = self.events.pop() {
            if now.since(Instant::ZERO) > most {
                break;
            }
            let mut out = Vec::new();
            match self.what.remove(&key).unwrap() {
                Event::Home(input) => {
                    client.handle(now, input, &mut out);
                    out.into_iter()
                        .for_each(|output| self.home_does(now, output));
                }
                Event::Far(conn, input) => {
                    let Some(far) = self.conns.get_mut(&conn) else {
                        continue;
                    };
                    far.server.handle(now, input, &mut out);
                    out.into_iter()
                        .for_each(|output| self.far_does(conn, output));
                    self.transmit(now, conn);
                }
                Event::Acked(conn, bytes) => {
                    let Some(far) = self.conns.get_mut(&conn) else {
                        continue;
                    };
                    far.in_flight -= bytes;
                    far.window += bytes;
                    self.transmit(now, conn);
                }
                Event::Arrived(conn) => self.run.active.arrived(now, conn.0),
            }
        }
        self.run
    }

    fn at(&mut self, when: Instant, event: Event) {
        self.events.push(Reverse((when, self.next)));
        self.what.insert(self.next, event);
        self.next += 1;
    }

    fn home_does(&mut self, now: Instant, output: Output) {
        match output {
            Output::Open {
                conn, extra_rtt, ..
            } => {
                let rtt = self.rtt + extra_rtt;
                self.run.opened.push((now, conn));
                let far = Far {
                    server: PageServer::new(),
                    rtt,
                    window: INITIAL_WINDOW,
                    in_flight: 0,
                    unsent: VecDeque::new(),
                    wants_writable: false,
                };
                assert!(self.conns.insert(conn, far).is_none(), "a number twice");
                self.at(now + rtt, Event::Home(Input::Opened(conn)));
            }
            Output::Send {
                conn,
                stream,
                bytes,
                message,
            } => {
                self.run.sent.push((now, conn, stream, bytes, message));
                let rtt = self.conns[&conn].rtt;
                let input = Input::Message {
                    conn,
                    stream,
                    message,
                };
                self.at(now + rtt / 2, Event::Far(conn, input));
            }
            Output::Timer(when, token) => self.at(when, Event::Home(Input::Timer(token))),
            Output::Close(conn) => {
                self.run.closed.push((now, conn));
                assert!(self.conns.remove(&conn).is_some(), "closed twice");
            }
            Output::Report(report) => self.run.reports.push((now, report)),
            Output::Datagram { .. }
            | Output::Ask { .. }
            | Output::Fill { .. }
            | Output::Frame { .. }
            | Output::Audio { .. } => {
                panic!("pages have no use for {output:?}")
            }
        }
    }

    fn far_does(&mut self, conn: ConnId, output: Output) {
        match output {
            Output::Send {
                stream,
                bytes,
                message,
                ..
            } => {
                let far = self.conns.get_mut(&conn).unwrap();
                far.unsent.push_back((stream, bytes, message));
                far.wants_writable |= far.unsent.iter().map(|u| u.1).sum::<u64>() >= UNSENT_LOW;
            }
            Output::Timer(when, token) => self.at(when, Event::Far(conn, Input::Timer(token))),
            output => panic!("a server does not {output:?}"),
        }
    }

    /// Sends the bytes that the window allows as one burst.
    fn transmit(&mut self, now: Instant, conn: ConnId) {
        let far = self.conns.get_mut(&conn).unwrap();
        let mut room = far.window.saturating_sub(far.in_flight);
        let (mut burst, mut complete) = (0, Vec::new());
        while room > 0
            && let Some((stream, left, message)) = far.unsent.front_mut()
        {
            let bytes = room.min(*left);
            room -= bytes;
            burst += bytes;
            *left -= bytes;
            if *left == 0 {
                complete.push((burst, *stream, *message));
                far.unsent.pop_front();
            }
        }
        if burst == 0 {
            return;
        }
        far.in_flight += burst;
        let low = far.unsent.iter().map(|u| u.1).sum::<u64>() < UNSENT_LOW;
        let writable = low && core::mem::take(&mut far.wants_writable);
        let half = far.rtt / 2;
        let begin = self.link_free.max(now);
        for (bytes, stream, message) in complete {
            let input = Input::Message {
                conn,
                stream,
                message,
            };
            self.at(begin + self.rate.time_for(bytes) + half, Event::Home(input));
        }
        self.link_free = begin + self.rate.time_for(burst);
        for sent in (0..burst).step_by(1448).skip(1).chain([burst]) {
            let arrives = begin + self.rate.time_for(sent) + half;
            self.at(arrives, Event::Arrived(conn));
        }
        self.at(self.link_free + half * 2, Event::Acked(conn, burst));
        if writable {
            self.at(now, Event::Far(conn, Input::Writable(conn)));
        }
    }
}
