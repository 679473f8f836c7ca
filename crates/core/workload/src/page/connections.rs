//! The connections of one load: opened on demand, as browsers do.
//!
//! - HTTP/1: a request takes an idle connection; if all are busy another is opened, six at most for
//!   an origin; a request goes to the connection that is free first, not to the one that was opened
//!   for it (Chrome's and Firefox's rule).
//! - HTTP/2 and HTTP/3: one connection for an origin, up to 100 requests at a time on it.
//! - https over TCP: TLS 1.3 with one round trip; over QUIC the transport's handshake includes it.
//!   http: none.
//!
//! Not modelled: DNS look-ups, session resumption and early data, sharing of one HTTP/2 connection
//! by several origins, closing by the server, a limit over all origins together.

use super::{Origin, Page, Protocol};
use crate::{Carrier, ConnId, Message, Output, Report};
use std::collections::{BTreeMap, VecDeque};
use units::Duration;

/// Length of a ClientHello as Chrome pads it (RFC 7685: servers that hang at 256 to 511 bytes),
/// with its record header.
pub(super) const CLIENT_HELLO: u64 = 517;
/// Length of ServerHello to Finished with a chain of two or three certificates: typical, not exact.
pub(super) const SERVER_HELLO: u64 = 3_500;
/// Length of the client's change_cipher_spec and Finished records (RFC 8446, appendix D.4), which
/// leave with the first request: 6 + 58 or 74 bytes.
const FINISHED: u64 = 80;
/// Concurrent requests on a shared connection (RFC 9113, section 6.5.2: no fewer than 100).
const STREAMS: u32 = 100;

/// All connections of one load.
#[derive(Debug)]
pub(super) struct Pool {
    servers: Vec<OriginServer>,
    /// Which server a connection leads to.
    owner: BTreeMap<ConnId, usize>,
    load: u32,
    think_scale: f64,
}

#[derive(Debug)]
struct OriginServer {
    protocol: Protocol,
    carrier: Carrier,
    tls: bool,
    number: u32,
    extra_rtt: Duration,
    lines: Vec<PageConnection>,
    /// Requests that have no connection yet.
    waiting: VecDeque<u32>,
}

/// A connection.
#[derive(Debug)]
struct PageConnection {
    conn: ConnId,
    state: ConnectionState,
    /// Requests on it.
    busy: u32,
    /// Requests that it has carried.
    carried: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum ConnectionState {
    Opening,
    Tls,
    Ready,
}

impl OriginServer {
    fn new(origin: &Origin, extra_rtt: Duration) -> Self {
        OriginServer {
            protocol: origin.protocol,
            carrier: origin.carrier(),
            tls: origin.tls(),
            number: origin.server(),
            extra_rtt,
            lines: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Requests at a time on one connection.
    fn capacity(&self) -> u32 {
        match self.protocol {
            Protocol::H1 => 1,
            Protocol::H2 | Protocol::H3 => STREAMS,
        }
    }

    /// Whether the waiting requests need one more connection than there are and are being opened.
    fn wants_another(&self) -> bool {
        let most = self.protocol.most_connections();
        let opening = self
            .lines
            .iter()
            .filter(|l| l.state != ConnectionState::Ready);
        self.lines.len() < most && opening.count() < self.waiting.len()
    }
}

impl Pool {
    pub(super) fn new(page: &Page, extra_rtts: &[Duration], load: u32, think_scale: f64) -> Self {
        let extra = |index| extra_rtts.get(index).copied().unwrap_or_default();
        Pool {
            servers: page
                .origins()
                .iter()
                .enumerate()
                .map(|(index, origin)| OriginServer::new(origin, extra(index)))
                .collect(),
            owner: BTreeMap::new(),
            load,
            think_scale,
        }
    }

    /// Queues request `id`, to be sent as soon as a connection can take it.
    pub(super) fn want(&mut self, page: &Page, id: u32, next: &mut u32, out: &mut Vec<Output>) {
        let server = page.requests()[id as usize].origin as usize;
        self.servers[server].waiting.push_back(id);
        self.dispatch(page, server, out);
        while self.servers[server].wants_another() {
            let conn = ConnId(*next);
            *next = next.wrapping_add(1);
            self.open(server, conn, out);
        }
    }

    fn open(&mut self, server: usize, conn: ConnId, out: &mut Vec<Output>) {
        self.owner.insert(conn, server);
        let server = &mut self.servers[server];
        server.lines.push(PageConnection {
            conn,
            state: ConnectionState::Opening,
            busy: 0,
            carried: 0,
        });
        out.push(Output::Open {
            conn,
            carrier: server.carrier,
            server: server.number,
            extra_rtt: server.extra_rtt,
        });
    }

    /// The transport's handshake is complete.
    pub(super) fn opened(&mut self, page: &Page, conn: ConnId, out: &mut Vec<Output>) {
        let Some((index, line)) = self.line(conn) else {
            return;
        };
        if self.servers[index].tls {
            self.servers[index].lines[line].state = ConnectionState::Tls;
            out.push(Output::Send {
                conn,
                stream: 0,
                bytes: CLIENT_HELLO,
                message: Message::ClientHello,
            });
        } else {
            self.ready(page, conn, out);
        }
    }

    /// Requests can be sent on `conn`.
    pub(super) fn ready(&mut self, page: &Page, conn: ConnId, out: &mut Vec<Output>) {
        if let Some((index, line)) = self.line(conn) {
            self.servers[index].lines[line].state = ConnectionState::Ready;
            self.dispatch(page, index, out);
        }
    }

    /// An answer on `conn` is complete.
    pub(super) fn answered(&mut self, page: &Page, conn: ConnId, out: &mut Vec<Output>) {
        if let Some((index, line)) = self.line(conn) {
            let busy = &mut self.servers[index].lines[line].busy;
            *busy = busy.saturating_sub(1);
            self.dispatch(page, index, out);
        }
    }

    /// Whether `conn` is one of these.
    pub(super) fn contains(&self, conn: ConnId) -> bool {
        self.owner.contains_key(&conn)
    }

    pub(super) fn close_all(&mut self, out: &mut Vec<Output>) {
        let conns = core::mem::take(&mut self.owner).into_keys();
        out.extend(conns.map(Output::Close));
    }

    fn line(&self, conn: ConnId) -> Option<(usize, usize)> {
        let server = *self.owner.get(&conn)?;
        let lines = &self.servers[server].lines;
        Some((server, lines.iter().position(|line| line.conn == conn)?))
    }

    /// Sends the requests waiting for `server` on connections that can take them, in order.
    fn dispatch(&mut self, page: &Page, server: usize, out: &mut Vec<Output>) {
        let server = &mut self.servers[server];
        let (capacity, tls) = (server.capacity(), server.tls);
        for line in &mut server.lines {
            while line.state == ConnectionState::Ready
                && line.busy < capacity
                && let Some(id) = server.waiting.pop_front()
            {
                let request = &page.requests()[id as usize];
                let finished = if tls && line.carried == 0 {
                    FINISHED
                } else {
                    0
                };
                // Client-initiated bidirectional streams (RFC 9000, section 2.1).
                let stream = match server.protocol {
                    Protocol::H3 => 4 * line.carried,
                    Protocol::H1 | Protocol::H2 => 0,
                };
                line.busy += 1;
                line.carried += 1;
                out.push(Output::Send {
                    conn: line.conn,
                    stream,
                    bytes: request.request.get().max(1) + finished,
                    message: Message::Request {
                        id,
                        response: request.response.get(),
                        think: Duration::from_secs_f64(
                            request.think.as_secs_f64() * self.think_scale,
                        ),
                    },
                });
                out.push(Output::Report(Report::RequestStarted {
                    load: self.load,
                    id,
                }));
            }
        }
    }
}
