//! A server that acknowledges what did not arrive: real QUIC but for its acknowledgements, which it
//! forges before they are encrypted.

use bytes::BytesMut;
use noq_proto::crypto::rustls::QuicServerConfig;
use noq_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
    UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{
    Connection, ConnectionError, ConnectionHandle, ConnectionId, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, FourTuple, PathId, ServerConfig, Side, StreamEvent, TransportConfig,
    TransportError,
};
use probe::Identity;
use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many packets more than arrived each acknowledgement names.
#[derive(Clone, Default)]
pub struct Ahead(Arc<AtomicU64>);

impl Ahead {
    pub fn set(&self, packets: u64) {
        self.0.store(packets, Ordering::Relaxed);
    }

    /// Forges the acknowledgement with which these frames begin, if its largest number keeps its length.
    fn forge(&self, frames: &mut [u8]) {
        let ahead = self.0.load(Ordering::Relaxed);
        let start = frames.iter().position(|&byte| byte != PING).unwrap_or(0);
        let mut at = start + 1;
        match frames.get(start) {
            Some(&(0x02 | 0x03)) => {}
            // Of a path, whose number comes first.
            Some(&(0x3e | 0x3f)) => at += length(frames[at]),
            _ => return,
        }
        let largest = at;
        let delay = largest + length(frames[largest]);
        let count = delay + length(frames[delay]);
        let range = count + length(frames[count]);
        if grows(&frames[largest..], ahead) {
            grow(&mut frames[largest..], ahead);
            // Else those before are left out, as if they were lost.
            if grows(&frames[range..], ahead) {
                grow(&mut frames[range..], ahead);
            }
        }
    }
}

/// The frame that may be before an acknowledgement.
const PING: u8 = 0x01;

/// The length of the number (RFC 9000, section 16) that begins with this byte.
fn length(byte: u8) -> usize {
    1 << (byte >> 6)
}

fn value(number: &[u8]) -> u64 {
    let bytes = &number[1..length(number[0])];
    let first = u64::from(number[0] & 0x3f);
    bytes.iter().fold(first, |n, &b| n << 8 | u64::from(b))
}

fn grows(number: &[u8], by: u64) -> bool {
    value(number) + by < 1 << (8 * length(number[0]) - 2)
}

fn grow(number: &mut [u8], by: u64) {
    let (n, prefix) = (length(number[0]), number[0] & 0xc0);
    let grown = value(number) + by;
    number[..n].copy_from_slice(&grown.to_be_bytes()[8 - n..]);
    number[0] |= prefix;
}

/// A server's TLS, whose packets go through [`Ahead`].
struct Tls(QuicServerConfig, Ahead);

impl crypto::ServerConfig for Tls {
    fn initial_keys(&self, version: u32, to: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.0.initial_keys(version, to)
    }

    fn retry_tag(&self, version: u32, to: ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.0.retry_tag(version, to, packet)
    }

    fn start_session(&self, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Forging(
            self.0.start_session(version, params),
            self.1.clone(),
        ))
    }
}

struct Forging(Box<dyn Session>, Ahead);

impl Forging {
    fn forged(&self, packet: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair {
            local: Box::new(Key(packet.local, self.1.clone())),
            remote: packet.remote,
        }
    }
}

impl Session for Forging {
    fn initial_keys(&self, to: ConnectionId, side: Side) -> Keys {
        self.0.initial_keys(to, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.0.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.0.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.0.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.0.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.0.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.0.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Keys { header, packet } = self.0.write_handshake(buf)?;
        let packet = self.forged(packet);
        Some(Keys { header, packet })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let next = self.0.next_1rtt_keys()?;
        Some(self.forged(next))
    }

    fn is_valid_retry(&self, to: ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.0.is_valid_retry(to, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.0.export_keying_material(output, label, context)
    }
}

struct Key(Box<dyn PacketKey>, Ahead);

impl PacketKey for Key {
    fn encrypt(&self, path: PathId, packet: u64, buf: &mut [u8], header_len: usize) {
        let end = buf.len() - self.0.tag_len();
        self.1.forge(&mut buf[header_len..end]);
        self.0.encrypt(path, packet, buf, header_len);
    }

    fn decrypt(
        &self,
        path: PathId,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.0.decrypt(path, packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// The server. It answers the first request with `answer`, and takes what comes.
pub struct Liar {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    answer: &'static str,
    /// Why the connection ended.
    pub ended: Option<ConnectionError>,
}

impl Liar {
    pub fn new(identity: &Identity, ahead: Ahead, answer: &'static str) -> Self {
        let tls = QuicServerConfig::try_from(identity.server().unwrap()).unwrap();
        let mut config = ServerConfig::with_crypto(Arc::new(Tls(tls, ahead)));
        let mut transport = TransportConfig::default();
        transport
            .max_concurrent_multipath_paths(2)
            .mtu_discovery_config(None);
        config.transport_config(Arc::new(transport));
        let ends = Arc::new(EndpointConfig::default());
        Liar {
            endpoint: Endpoint::new(ends, Some(Arc::new(config)), false),
            connection: None,
            answer,
            ended: None,
        }
    }

    pub fn receive(&mut self, now: Instant, from: SocketAddr, data: &[u8]) {
        let path = FourTuple::new(from, None);
        let (mut reply, data) = (Vec::new(), BytesMut::from(data));
        match self.endpoint.handle(now, path, None, data, &mut reply) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut reply, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
    }

    /// Does what is due, and returns the datagrams to send.
    pub fn turn(&mut self, now: Instant) -> Vec<(SocketAddr, Vec<u8>)> {
        let Some((handle, connection)) = &mut self.connection else {
            return Vec::new();
        };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    let stream = connection.streams().accept(Dir::Bi).unwrap();
                    let mut stream = connection.send_stream(stream);
                    stream.write(self.answer.as_bytes()).unwrap();
                }
                Event::ConnectionLost { reason } => self.ended = Some(reason),
                _ => {}
            }
        }
        while connection.datagrams().recv().is_some() {}
        let mut sent = Vec::new();
        loop {
            let mut data = Vec::new();
            match connection.poll_transmit(now, NonZeroUsize::MIN, &mut data) {
                Some(transmit) => sent.push((transmit.destination, data)),
                None => return sent,
            }
        }
    }
}
