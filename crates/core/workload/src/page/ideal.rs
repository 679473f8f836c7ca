//! The load time of a page on an ideal link: the part that no link and no queue can change.
//!
//! The same client and the same servers run as over any other network, so that connection limits,
//! handshakes and dependencies are those of the real load. But a message arrives half a round trip
//! after it was sent, whatever its length: there are no rates, no queues, no windows and no losses.

use super::load::PageLoad;
use super::{Page, PageServer};
use crate::ideal::Ideal;
use crate::{App, ConnId, Input, Output};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Duration, Instant};

impl Ideal {
    /// Of a load of `page` over a network of this round trip, with these additional round trips of
    /// origins, and this factor for the plan's think times.
    pub(super) fn of(
        page: &Arc<Page>,
        rtt: Duration,
        extra_rtts: &[Duration],
        think_scale: f64,
    ) -> Self {
        let load = |rtt, extra_rtts: &[Duration]| {
            IdealNetwork::new(rtt).load(PageLoad::new(0, Arc::clone(page), extra_rtts, think_scale))
        };
        Ideal {
            servers: load(Duration::ZERO, &[]),
            round_trips: load(rtt, extra_rtts),
        }
    }
}

/// The next event, and its receiver.
#[derive(Debug)]
enum IdealEvent {
    Home(Input),
    Far(ConnId, Input),
}

/// A network in which only propagation takes time.
struct IdealNetwork {
    rtt: Duration,
    /// In the order of time, then of being made.
    events: BTreeMap<(Instant, u64), IdealEvent>,
    made: u64,
    /// The far end of each connection, and its round trip.
    servers: BTreeMap<ConnId, (PageServer, Duration)>,
}

impl IdealNetwork {
    fn new(rtt: Duration) -> Self {
        IdealNetwork {
            rtt,
            events: BTreeMap::new(),
            made: 0,
            servers: BTreeMap::new(),
        }
    }

    /// When the load is complete.
    fn load(mut self, mut load: PageLoad) -> Duration {
        let (mut now, mut next, mut out) = (Instant::ZERO, 0, Vec::new());
        load.begin(now, &mut next, &mut out);
        self.home(now, &mut out);
        while !load.is_complete()
            && let Some(((at, _), event)) = self.events.pop_first()
        {
            now = at;
            match event {
                IdealEvent::Home(input) => {
                    load.handle(now, input, &mut next, &mut out);
                    self.home(now, &mut out);
                }
                IdealEvent::Far(conn, input) => self.far(now, conn, input),
            }
        }
        now.since(Instant::ZERO)
    }

    fn at(&mut self, when: Instant, event: IdealEvent) {
        self.events.insert((when, self.made), event);
        self.made += 1;
    }

    fn home(&mut self, now: Instant, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            match output {
                Output::Open {
                    conn, extra_rtt, ..
                } => {
                    let rtt = self.rtt + extra_rtt;
                    self.servers.insert(conn, (PageServer::new(), rtt));
                    self.at(now + rtt, IdealEvent::Home(Input::Opened(conn)));
                }
                Output::Send {
                    conn,
                    stream,
                    message,
                    ..
                } => {
                    let way = self.servers[&conn].1 / 2;
                    let input = Input::Message {
                        conn,
                        stream,
                        message,
                    };
                    self.at(now + way, IdealEvent::Far(conn, input));
                }
                Output::Timer(when, timer) => self.at(when, IdealEvent::Home(Input::Timer(timer))),
                _ => {}
            }
        }
    }

    /// Passes `input` to the server of `conn`, and then continues as long as it has data and room
    /// for it.
    fn far(&mut self, now: Instant, conn: ConnId, input: Input) {
        let mut input = Some(input);
        while let Some(told) = input.take() {
            let mut out = Vec::new();
            let (server, rtt) = self.servers.get_mut(&conn).expect("it was opened");
            let way = *rtt / 2;
            server.handle(now, told, &mut out);
            for output in out {
                match output {
                    Output::Send {
                        conn,
                        stream,
                        message,
                        ..
                    } => {
                        let message = Input::Message {
                            conn,
                            stream,
                            message,
                        };
                        self.at(now + way, IdealEvent::Home(message));
                        input = Some(Input::Writable(conn));
                    }
                    Output::Timer(when, timer) => {
                        self.at(when, IdealEvent::Far(conn, Input::Timer(timer)));
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{After, Origin, Protocol, Request};
    use units::Bytes;

    const RTT: Duration = Duration::from_millis(100);

    fn request(origin: u32, after: After, think: u64, delay: u64) -> Request {
        Request {
            origin,
            request: Bytes::new(400),
            // More than any window: length must not matter.
            response: Bytes::new(1_000_000),
            think: Duration::from_millis(think),
            after,
            delay: Duration::from_millis(delay),
        }
    }

    fn page(protocols: &[Protocol], requests: Vec<Request>) -> Arc<Page> {
        let origins = protocols
            .iter()
            .enumerate()
            .map(|(number, protocol)| Origin {
                secure: true,
                host: format!("{number}.example"),
                port: 443,
                protocol: *protocol,
            });
        Arc::new(Page::new("test", origins.collect(), requests).unwrap())
    }

    /// Servers' part and the whole, in milliseconds.
    fn ideal(page: &Arc<Page>, extra: &[Duration], think_scale: f64) -> (u64, u64) {
        let ideal = Ideal::of(page, RTT, extra, think_scale);
        (ideal.servers.as_millis(), ideal.round_trips.as_millis())
    }

    /// A document over HTTP/1, and behind it an image of another server over QUIC.
    fn chain() -> Arc<Page> {
        let requests = vec![
            request(0, After::Navigation, 10, 0),
            request(1, After::Done(0), 20, 50),
        ];
        page(&[Protocol::H1, Protocol::H3], requests)
    }

    #[test]
    fn a_chain_by_hand() {
        // 10 + 50 + 20; and TCP, TLS, request, then QUIC and request: five round trips.
        assert_eq!(ideal(&chain(), &[], 1.0), (80, 580));
        // Servers that think twice as long: 20 + 50 + 40.
        assert_eq!(ideal(&chain(), &[], 2.0), (110, 610));
        assert_eq!(ideal(&chain(), &[], 0.0), (50, 550));
    }

    #[test]
    fn a_far_server_costs_its_own_round_trips() {
        // Three to the first, two to the second, which is 30 ms farther.
        let extra = [Duration::ZERO, Duration::from_millis(30)];
        assert_eq!(ideal(&chain(), &extra, 1.0), (80, 640));
    }

    #[test]
    fn the_longest_chain_counts() {
        let requests = vec![
            request(0, After::Navigation, 10, 0),
            request(0, After::FirstPart(0), 5, 0),
            request(0, After::Done(0), 200, 0),
            request(0, After::Done(1), 30, 0),
        ];
        // 10 and the longer of 200 and 5 + 30. Over one QUIC connection: handshake, document, image.
        let page = page(&[Protocol::H3], requests);
        assert_eq!(ideal(&page, &[], 1.0), (210, 510));
    }

    #[test]
    fn six_connections_limit_what_goes_at_a_time() {
        let requests = vec![request(0, After::Navigation, 40, 0); 8];
        // Six, then two: twice 40 ms; TCP, TLS, and twice a request.
        assert_eq!(
            ideal(&page(&[Protocol::H1], requests.clone()), &[], 1.0),
            (80, 480)
        );
        // All at a time over one.
        assert_eq!(ideal(&page(&[Protocol::H2], requests), &[], 1.0), (40, 340));
    }
}
