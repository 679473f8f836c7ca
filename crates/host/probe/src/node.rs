//! An end point without sockets and clock: datagrams and the time in, datagrams and news out.
//!
//! A client has [`SOCKETS`], numbered from 0, so that each path has a port of its own. QUIC knows a
//! path by its remote address, and all have the same: inside, those after the first get another port,
//! which never leaves the node.

pub use crate::news::News;

use crate::Problem;
use crate::control::{DATAGRAM, Shared};
use crate::identity::{self, Identity, Trust};
use crate::limits::Ledger;
use crate::message::Ask;
use crate::report::DataDirection;
use crate::session::{DATAGRAMS, Session};
use bytes::BytesMut;
use cca::tonopah::Settings;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, IdleTimeout, Incoming, ServerConfig, Transmit, TransportConfig, VarInt,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Rate;

/// The sockets of a client: the two subflows of the load, and the call.
pub const SOCKETS: usize = 3;

/// A connection without arrivals for this long is over.
const IDLE: Duration = Duration::from_secs(10);
/// The round trip that is assumed before one was seen: packets of a handshake are sent again after three of them. A
/// second, as RFC 9002 has it, leaves too few tries where a queue is full.
const ASSUMED: Duration = Duration::from_millis(100);
/// Bytes kept of a stream that are not acknowledged, or not read: the only stream has lines of
/// text.
const WINDOW: u32 = 16 << 10;
/// Answers of the end point itself (Retry, refusals) that wait to be sent.
const REPLIES: usize = 64;
/// Connections that are over and wait for stragglers (RFC 9000, section 10.2), in addition to those
/// that are not.
const CLOSING: usize = 32;
/// Unfinished handshakes: the server answers each at once, and keeps none.
const INCOMING: usize = 16;

/// Trains that are not accounted for after this are given up.
const QUICK: Duration = Duration::from_millis(700);

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// From which of the client's sockets; 0 for a server.
    pub socket: usize,
    /// The destination.
    pub to: SocketAddr,
    /// From which of a server's addresses, if it matters.
    pub from: Option<IpAddr>,
    /// The ECN field.
    pub ecn: Option<EcnCodepoint>,
    /// The data.
    pub data: Vec<u8>,
}

/// What a probe measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeForm {
    /// The path under load, for so long.
    Load(Duration),
    /// The order in which two trains arrive ([`trains`](crate::trains)): under a second where round trips
    /// take 50 ms or less, and less than 150 kB.
    Quick,
}

impl ProbeForm {
    /// How long data is sent at most.
    fn span(self) -> Duration {
        match self {
            ProbeForm::Load(span) => span,
            ProbeForm::Quick => QUICK,
        }
    }
}

/// A client's request.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The direction of the data.
    pub direction: DataDirection,
    /// What to measure.
    pub form: ProbeForm,
    /// The server to trust.
    pub trust: Trust,
    /// The highest rate at which it sends itself.
    pub rate: Rate,
}

struct Serving {
    config: ServerConfig,
    ledger: Ledger,
}

/// A client or a server.
pub struct Node {
    endpoint: Endpoint,
    sessions: BTreeMap<usize, Session>,
    /// The session that is asked first for packets to send.
    turn: usize,
    replies: VecDeque<Outgoing>,
    serving: Option<Serving>,
    remote: Option<SocketAddr>,
    settings: Settings,
}

impl Node {
    /// A server. With a `seed`, its identifiers are the same every time: for simulations only.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn server(
        identity: &Identity,
        ledger: Ledger,
        settings: Settings,
        seed: Option<[u8; 32]>,
    ) -> Result<Self, Problem> {
        let tls = QuicServerConfig::try_from(identity.server()?)
            .map_err(|e| Problem::System(e.to_string()))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.migration(false);
        config.max_incoming(INCOMING);
        config.incoming_buffer_size(u64::from(DATAGRAM) * 8);
        config.incoming_buffer_size_total(u64::from(DATAGRAM) * 64);
        config.validation_token_config({
            let mut none = noq_proto::ValidationTokenConfig::default();
            none.sent(0);
            none
        });
        let endpoint = Endpoint::new(ends(seed), Some(Arc::new(config.clone())), false);
        let serving = Serving { config, ledger };
        Ok(Node {
            serving: Some(serving),
            ..Self::over(endpoint, settings)
        })
    }

    /// A client that connects to `remote` `now`. For `seed` see [`server`](Self::server).
    ///
    /// # Errors
    /// If TLS cannot be set up, or the address cannot be reached.
    pub fn client(
        now: Instant,
        remote: SocketAddr,
        wish: &Wish,
        settings: Settings,
        seed: Option<[u8; 32]>,
    ) -> Result<Self, Problem> {
        let tls = QuicClientConfig::try_from(identity::client(wish.trust)?)
            .map_err(|e| Problem::System(e.to_string()))?;
        let sender = Shared::new(now, settings.clone(), wish.rate);
        let mut config = ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(transport(&sender)));
        let mut endpoint = Endpoint::new(ends(seed), None, false);
        let (handle, connection) = endpoint
            .connect(now, config, remote, "probe")
            .map_err(|e| Problem::Unreachable(format!("{remote}: {e}")))?;
        let ask = Ask {
            direction: wish.direction,
            millis: wish.form.span().as_millis() as u64,
            quick: wish.form == ProbeForm::Quick,
            call: false,
        };
        let paths = match wish.form {
            ProbeForm::Load(_) => SOCKETS,
            ProbeForm::Quick => 2,
        };
        let others = (1..paths).map(|socket| inner(remote, socket)).collect();
        let session = Session::asks(connection, sender, ask, others, now);
        Ok(Node {
            sessions: BTreeMap::from([(handle.0, session)]),
            remote: Some(remote),
            ..Self::over(endpoint, settings)
        })
    }

    fn over(endpoint: Endpoint, settings: Settings) -> Self {
        Node {
            endpoint,
            sessions: BTreeMap::new(),
            turn: 0,
            replies: VecDeque::new(),
            serving: None,
            remote: None,
            settings,
        }
    }

    /// A datagram arrived at a socket, whose address is `local` if that is known.
    pub fn datagram(
        &mut self,
        now: Instant,
        socket: usize,
        from: SocketAddr,
        local: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        data: &[u8],
    ) {
        let path = match (&self.serving, self.remote) {
            (Some(serving), _) if serving.ledger.allows(from.ip()) => FourTuple::new(from, local),
            (None, Some(remote)) if from == remote => FourTuple::from_remote(inner(remote, socket)),
            _ => return,
        };
        let mut reply = Vec::new();
        match self
            .endpoint
            .handle(now, path, ecn, BytesMut::from(data), &mut reply)
        {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(session) = self.sessions.get_mut(&handle.0) {
                    session.connection.handle_event(event);
                    self.act(now, handle);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.incoming(now, incoming),
            Some(DatagramEvent::Response(transmit)) => self.reply(transmit, reply),
            None => {}
        }
    }

    /// When to call [`timeout`](Self::timeout), if no datagram arrives before.
    pub fn next_timeout(&mut self) -> Option<Instant> {
        self.sessions
            .values_mut()
            .flat_map(|s| [s.connection.poll_timeout(), s.next_timer()])
            .flatten()
            .min()
    }

    /// The time has come.
    pub fn timeout(&mut self, now: Instant) {
        let due: Vec<usize> = self.sessions.keys().copied().collect();
        for handle in due {
            let Some(session) = self.sessions.get_mut(&handle) else {
                continue;
            };
            if session
                .connection
                .poll_timeout()
                .is_some_and(|at| at <= now)
            {
                session.connection.handle_timeout(now);
            }
            self.act(now, ConnectionHandle(handle));
        }
    }

    /// The next datagram to send.
    pub fn transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        let after: Vec<usize> = self.sessions.keys().copied().collect();
        let from = after.partition_point(|&handle| handle < self.turn);
        for &handle in after[from..].iter().chain(&after[..from]) {
            let Some(session) = self.sessions.get_mut(&handle) else {
                continue;
            };
            session.tick(now);
            let mut data = Vec::with_capacity(usize::from(DATAGRAM));
            let next = session
                .connection
                .poll_transmit(now, NonZeroUsize::MIN, &mut data);
            if let Some(transmit) = next {
                self.turn = handle + 1;
                return Some(self.outgoing(transmit, data));
            }
        }
        None
    }

    /// The next piece of news for a client; a server has none.
    pub fn news(&mut self) -> Option<News> {
        match self.serving {
            None => self.sessions.values_mut().find_map(Session::news),
            Some(_) => None,
        }
    }

    /// Connections that are open or closing.
    pub fn connections(&self) -> usize {
        self.sessions.len()
    }

    fn outgoing(&self, transmit: Transmit, mut data: Vec<u8>) -> Outgoing {
        data.truncate(transmit.size);
        let path = |remote| (0..SOCKETS).find(|&s| inner(remote, s) == transmit.destination);
        let (socket, to) = match self.remote.and_then(|remote| Some((path(remote)?, remote))) {
            Some(path) => path,
            None => (0, transmit.destination),
        };
        Outgoing {
            socket,
            to,
            from: transmit.src_ip,
            ecn: transmit.ecn,
            data,
        }
    }

    fn reply(&mut self, transmit: Transmit, data: Vec<u8>) {
        if self.replies.len() < REPLIES {
            let reply = self.outgoing(transmit, data);
            self.replies.push_back(reply);
        }
    }

    /// Handles a new connection: requires a proof of the address first, and keeps nothing until
    /// then.
    fn incoming(&mut self, now: Instant, incoming: Incoming) {
        let mut reply = Vec::new();
        let Some(serving) = &mut self.serving else {
            self.endpoint.ignore(incoming);
            return;
        };
        if !incoming.remote_address_validated() {
            match self.endpoint.retry(incoming, &mut reply) {
                Ok(transmit) => self.reply(transmit, reply),
                Err(refused) => self.endpoint.ignore(refused.into_incoming()),
            }
            return;
        }
        let address = incoming.remote_address().ip();
        let room = self.sessions.len() < serving.ledger.policy().clients + CLOSING;
        let grant = if room {
            serving.ledger.begin(now, address).ok()
        } else {
            None
        };
        let Some(grant) = grant else {
            let transmit = self.endpoint.refuse(incoming, &mut reply);
            self.reply(transmit, reply);
            return;
        };
        let sender = Shared::new(now, self.settings.clone(), grant.rate);
        let mut config = serving.config.clone();
        config.transport_config(Arc::new(transport(&sender)));
        match self
            .endpoint
            .accept(incoming, now, &mut reply, Some(Arc::new(config)))
        {
            Ok((handle, connection)) => {
                let session = Session::serves(connection, sender, address, grant, now);
                self.sessions.insert(handle.0, session);
                self.act(now, handle);
            }
            Err(refused) => {
                serving.ledger.end(address, grant, 0);
                if let Some(transmit) = refused.response {
                    self.reply(transmit, reply);
                }
            }
        }
    }

    /// Lets a session act, and carries between it and the end point.
    fn act(&mut self, now: Instant, handle: ConnectionHandle) {
        let Some(session) = self.sessions.get_mut(&handle.0) else {
            return;
        };
        session.act(now);
        let mut drained = false;
        while let Some(event) = session.connection.poll_endpoint_events() {
            drained |= event.is_drained();
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                session.connection.handle_event(event);
                session.act(now);
            }
        }
        if let Some(serving) = &mut self.serving {
            if let Some((address, grant, used)) = session.account() {
                serving.ledger.end(address, grant, used);
            }
            // A client's news are read after its connection is gone.
            if drained {
                self.sessions.remove(&handle.0);
            }
        }
    }
}

fn ends(seed: Option<[u8; 32]>) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::default();
    config.rng_seed(seed);
    Arc::new(config)
}

/// The internal address for `remote`, on the path of a socket.
fn inner(mut remote: SocketAddr, socket: usize) -> SocketAddr {
    let offset = socket.min(SOCKETS) as u16;
    let port = remote.port();
    remote.set_port(port.checked_add(offset).unwrap_or(port - offset));
    remote
}

fn transport(sender: &Shared) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(sender.factory())
        .max_concurrent_multipath_paths(SOCKETS as u32)
        .initial_rtt(ASSUMED)
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .default_path_max_idle_timeout(Some(IDLE))
        .default_path_keep_alive_interval(Some(IDLE / 4))
        .initial_mtu(DATAGRAM)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .datagram_receive_buffer_size(Some(DATAGRAMS))
        .datagram_send_buffer_size(DATAGRAMS)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    config
}
