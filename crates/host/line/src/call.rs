//! The page's call: datagrams of WebTransport over HTTP/3, thirty frames a second each way, whatever the line does.
//! Those of the server say when it sent them, and when those of the browser came.

use crate::Problem;
use crate::grants::{GrantedPlace, OnlyCall, Shared};
use bytes::{BufMut as _, Bytes, BytesMut};
use hyper::StatusCode;
use noq::congestion::{Controller, ControllerFactory};
use noq::crypto::rustls::QuicServerConfig;
use noq::{Connection, Endpoint, EndpointConfig, IdleTimeout, Incoming, RecvStream, SendStream};
use noq::{ServerConfig, TokioRuntime, TransportConfig, ValidationTokenConfig, VarInt};
use probe::locked;
use probe::real::socket;
use socket2::Type;
use std::any::Any;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use web_transport_proto::{ConnectRequest, ConnectResponse, Settings};

/// Its path.
pub const CALL: &str = "/call";
/// Frames a second.
pub const FRAMES: u32 = 30;
/// Bytes of a datagram, which is a frame: what passes everywhere (RFC 9000 section 14 has 1200 with all headers). A
/// quarter Mbit/s.
pub const SIZE: usize = 1000;
/// What each takes on the line beside its bytes: IP, UDP, QUIC with its tag, the frame's and the session's numbers.
const OVERHEAD: u64 = 60;
/// Arrivals that each datagram tells: so many may be lost one after the other, and still all is known.
const TOLD: usize = 100;
/// Bytes of what is told of one.
const EACH: usize = 8;

/// A handshake that takes longer belongs to nobody who measures.
const PATIENCE: Duration = Duration::from_secs(10);
/// A call without arrivals for this long is over.
const IDLE: Duration = Duration::from_secs(5);
/// Handshakes that are under way.
const INCOMING: usize = 16;
/// What waits to be sent or read: more is dropped, oldest first. Bytes.
const WAITING: usize = 64 << 10;
/// A stream has a request and a few settings. Bytes.
const STREAM: u32 = 32 << 10;
/// What may be under way: the call for ten seconds, so that it goes on whatever happens to it.
const FLIGHT: u64 = 10 * FRAMES as u64 * (SIZE as u64 + OVERHEAD);

/// The socket of calls.
pub struct Calls {
    socket: std::net::UdpSocket,
    config: ServerConfig,
    clients: Shared,
}

impl Calls {
    /// Calls at `address` over `tls`, counted with `clients`.
    ///
    /// # Errors
    /// If the address is taken, or TLS is none for QUIC.
    pub fn bind(
        address: SocketAddr,
        tls: rustls::ServerConfig,
        clients: &Shared,
    ) -> Result<Self, Problem> {
        let tls = QuicServerConfig::try_from(tls)
            .map_err(|e| Problem::Refused(format!("TLS of calls: {e}")))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.migration(false);
        config.max_incoming(INCOMING);
        config.incoming_buffer_size(16 << 10);
        config.incoming_buffer_size_total(64 << 10);
        config.validation_token_config({
            let mut none = ValidationTokenConfig::default();
            none.sent(0);
            none
        });
        config.transport_config(Arc::new(transport()));
        let bound = || {
            let socket = socket(address, Type::DGRAM)?;
            socket.set_nonblocking(true)?;
            socket.bind(&address.into())?;
            Ok(std::net::UdpSocket::from(socket))
        };
        Ok(Calls {
            socket: bound()
                .map_err(|e| Problem::system(&format!("the page's calls at {address}"), e))?,
            config,
            clients: clients.clone(),
        })
    }

    /// What answers calls until the program ends, within a runtime.
    ///
    /// # Errors
    /// If the system denies its socket.
    pub fn run(self) -> Result<impl Future<Output = ()>, Problem> {
        let runtime = Arc::new(TokioRuntime);
        let config = EndpointConfig::default();
        let endpoint = Endpoint::new(config, Some(self.config), self.socket, runtime)
            .map_err(|e| Problem::system("the page's calls", e))?;
        Ok(async move {
            while let Some(incoming) = endpoint.accept().await {
                take(incoming, &self.clients);
            }
        })
    }
}

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(Arc::new(Steady))
        .max_concurrent_bidi_streams(VarInt::from_u32(2))
        // Control, and two of QPACK.
        .max_concurrent_uni_streams(VarInt::from_u32(3))
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .mtu_discovery_config(None)
        .datagram_receive_buffer_size(Some(WAITING))
        .datagram_send_buffer_size(WAITING)
        .stream_receive_window(VarInt::from_u32(STREAM))
        .receive_window(VarInt::from_u32(4 * STREAM))
        .send_window(u64::from(STREAM));
    config
}

/// Takes a call of an address that has proven itself, and keeps nothing of others.
fn take(incoming: Incoming, clients: &Shared) {
    if !incoming.remote_address_validated() {
        // One that cannot be sent back is none of a browser's.
        let _ = incoming.retry();
        return;
    }
    match GrantedPlace::taken(clients, incoming.remote_address().ip()) {
        Some(place) => {
            tokio::spawn(serve(incoming, place));
        }
        None => incoming.refuse(),
    }
}

async fn serve(incoming: Incoming, place: GrantedPlace) {
    let place = Arc::new(place);
    // What ends a call early is the client's.
    let _ = timeout_at(place.until, answered(incoming, &place)).await;
}

async fn answered(incoming: Incoming, place: &Arc<GrantedPlace>) -> Option<()> {
    let connection = timeout(PATIENCE, async { incoming.accept().ok()?.await.ok() });
    let connection = connection.await.ok()??;
    let session = timeout(PATIENCE, session(&connection, place)).await;
    let Ok(Some(session)) = session else {
        connection.close(VarInt::from_u32(0), b"no call");
        return None;
    };
    let heard = Arc::new(Mutex::new(Heard::default()));
    let since = Instant::now();
    let hears = tokio::spawn(hear(
        connection.clone(),
        session.prefix.clone(),
        since,
        heard.clone(),
        place.clone(),
    ));
    let ends = tokio::spawn(end(connection.clone(), session.request));
    speak(&connection, &session.prefix, since, &heard, place).await;
    connection.close(VarInt::from_u32(0), b"the time is over");
    hears.abort();
    ends.abort();
    drop((session.answer, session.control, session.only));
    Some(())
}

/// A session of WebTransport, and the streams that have to stay open.
struct TransportSession {
    /// What its datagrams begin with: a quarter of its number (RFC 9297 section 2.1).
    prefix: Bytes,
    request: RecvStream,
    answer: SendStream,
    control: SendStream,
    only: OnlyCall,
}

/// The session that is asked for. A browser may make connections ahead, on which it asks for nothing.
async fn session(connection: &Connection, place: &Arc<GrantedPlace>) -> Option<TransportSession> {
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    let mut control = connection.open_uni().await.ok()?;
    settings.write(&mut control).await.ok()?;
    let (mut answer, mut request) = connection.accept_bi().await.ok()?;
    let asked = ConnectRequest::read(&mut request).await.ok()?;
    let (status, only) = match (asked.url.path(), place.calls()) {
        (CALL, Some(only)) => (StatusCode::OK, Some(only)),
        (CALL, None) => (StatusCode::TOO_MANY_REQUESTS, None),
        _ => (StatusCode::NOT_FOUND, None),
    };
    ConnectResponse::new(status).write(&mut answer).await.ok()?;
    let mut prefix = BytesMut::new();
    let quarter = u64::from(VarInt::from(request.id())) / 4;
    web_transport_proto::VarInt::from_u64(quarter)
        .ok()?
        .encode(&mut prefix);
    Some(TransportSession {
        only: only?,
        prefix: prefix.freeze(),
        request,
        answer,
        control,
    })
}

/// What came of the browser's datagrams last: their numbers, and when, in µs.
#[derive(Debug, Default)]
struct Heard(VecDeque<(u32, u32)>);

impl Heard {
    fn hears(&mut self, number: u32, at: u32) {
        self.0.truncate(TOLD - 1);
        self.0.push_front((number, at));
    }
}

/// The µs since a call began: a wrap comes after an hour.
fn micros(since: Instant) -> u32 {
    since.elapsed().as_micros() as u32
}

async fn hear(
    connection: Connection,
    prefix: Bytes,
    since: Instant,
    heard: Arc<Mutex<Heard>>,
    place: Arc<GrantedPlace>,
) {
    while let Ok(datagram) = connection.read_datagram().await {
        let at = micros(since);
        if !place.count(datagram.len() as u64 + OVERHEAD) {
            break;
        }
        let number = datagram.strip_prefix(&prefix[..]);
        if let Some(number) = number.and_then(|rest| rest.first_chunk::<4>()) {
            locked(&heard).hears(u32::from_be_bytes(*number), at);
        }
    }
    connection.close(VarInt::from_u32(0), b"what was granted is used up");
}

/// A session ends with its request's stream.
async fn end(connection: Connection, mut request: RecvStream) {
    let _ = request.read_to_end(STREAM as usize).await;
    connection.close(VarInt::from_u32(0), b"");
}

async fn speak(
    connection: &Connection,
    prefix: &[u8],
    since: Instant,
    heard: &Mutex<Heard>,
    place: &GrantedPlace,
) {
    let frame = Duration::from_secs(1) / FRAMES;
    let mut due = since;
    let mut number = 0;
    while connection.close_reason().is_none() {
        sleep_until(due).await;
        // A host that slept does not send what it missed.
        due = (due + frame).max(Instant::now());
        let datagram = told(prefix, number, micros(since), &locked(heard));
        number += 1;
        let passes = place.count(datagram.len() as u64 + OVERHEAD);
        if !passes || connection.send_datagram(datagram).is_err() {
            return;
        }
    }
}

/// A datagram: its number, when it is sent, and the arrivals that are told, the last one first; numbers in network
/// byte order, zeros to the end.
fn told(prefix: &[u8], number: u32, at: u32, heard: &Heard) -> Bytes {
    let mut datagram = BytesMut::with_capacity(SIZE + prefix.len());
    datagram.put_slice(prefix);
    datagram.put_u32(number);
    datagram.put_u32(at);
    datagram.put_u32(heard.0.len() as u32);
    for (number, at) in &heard.0 {
        datagram.put_u32(*number);
        datagram.put_u32(*at);
    }
    datagram.resize(SIZE + prefix.len(), 0);
    datagram.freeze()
}

const _: () = assert!(12 + TOLD * EACH <= SIZE);

/// No control: a call that sends a quarter Mbit/s, and no more, for as long as it was granted.
#[derive(Debug, Clone)]
struct Steady;

impl ControllerFactory for Steady {
    fn build(self: Arc<Self>, _: std::time::Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Steady)
    }
}

impl Controller for Steady {
    fn on_congestion_event(
        &mut self,
        _: std::time::Instant,
        _: std::time::Instant,
        _: bool,
        _: bool,
        _: u64,
        _: u64,
    ) {
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        FLIGHT
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Steady)
    }

    fn initial_window(&self) -> u64 {
        FLIGHT
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_tells_the_last_arrivals() {
        let mut heard = Heard::default();
        for number in 0..TOLD as u32 + 5 {
            heard.hears(number, number * 10);
        }
        assert_eq!(heard.0.len(), TOLD);
        let datagram = told(&[0], 7, 9, &heard);
        assert_eq!(datagram.len(), SIZE + 1);
        let words: Vec<u32> = datagram[1..]
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words[..5], [7, 9, TOLD as u32, 104, 1040]);
    }
}
