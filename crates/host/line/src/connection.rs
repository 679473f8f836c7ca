//! A connection to a server: TCP, TLS, HTTP/2, each timed.

use crate::apart::{Apart, CLOCK};
use crate::body::Outgoing;
use crate::{Problem, Trusted, tls};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_util::io::{InspectReader, InspectWriter};

/// A connection that takes longer is none: two of TCP's retries.
const PATIENCE: Duration = Duration::from_secs(8);
/// A small object that takes longer does not come: longer than any buffer that was measured.
const ANSWERED: Duration = Duration::from_secs(30);
/// What a client grants ahead: 1 Gbit/s over 128 ms. Bytes.
const WINDOW: u32 = 16 << 20;
/// A document or an answer is shorter than this. Bytes.
const SMALL: usize = 64 << 10;
/// What may lie unsent in this process, and again in the kernel: what waits there has not left, and a request waits
/// behind it. Bytes.
const UNSENT: u32 = 32 << 10;

/// A server, and how it is spoken to.
#[derive(Clone)]
pub struct SpokenServer {
    /// Where it is.
    pub address: SocketAddr,
    /// Its name, with the port unless that is 443: what requests name.
    pub authority: String,
    name: ServerName<'static>,
    tls: TlsConnector,
    /// The moment that times of each way count from: the clocks of all connections are as far apart.
    since: Instant,
}

/// Bytes of TCP's payload that connections took and gave.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    read: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl Meter {
    /// What was read.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// What was handed to the kernel.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// How long each part took, in ms, and when.
#[derive(Debug, Clone, Copy)]
pub struct SetupTimes {
    /// TCP's handshake.
    pub tcp: f64,
    /// When it ended.
    pub reached: Instant,
    /// A round trip of TLS' handshake.
    pub tls: f64,
}

/// A small object that was asked for.
pub struct Small {
    /// All of it.
    pub body: Vec<u8>,
    headers: HeaderMap,
    asked: Instant,
    /// When all of it had come.
    pub came: Instant,
    /// How long each way took; none where the server tells no clock.
    pub apart: Option<Apart>,
}

impl Small {
    /// How long it took, in ms.
    pub fn took(&self) -> f64 {
        self.came.duration_since(self.asked).as_secs_f64() * 1e3
    }

    /// The number that the server says in the header `name`.
    pub fn number(&self, name: &str) -> Option<f64> {
        let text = self.headers.get(name)?.to_str().ok()?;
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

/// A connection that takes requests.
pub struct Connection {
    sender: SendRequest<Outgoing>,
    driven: AbortHandle,
    authority: String,
    since: Instant,
    /// This host's end of it.
    pub from: SocketAddr,
    /// How long it took to come about.
    pub setup: SetupTimes,
}

fn count(sum: &AtomicU64, bytes: &[u8]) {
    sum.fetch_add(bytes.len() as u64, Ordering::Relaxed);
}

/// Milliseconds since `start`.
pub fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

impl SpokenServer {
    /// The server `host` at `address`.
    ///
    /// # Errors
    /// If the name is none, or TLS cannot be set up.
    pub fn new(address: SocketAddr, host: &str, trusted: Trusted) -> Result<Self, Problem> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|_| Problem::Refused(format!("{host} is no name of a host")))?;
        let authority = match address.port() {
            443 => host.to_owned(),
            port => format!("{host}:{port}"),
        };
        Ok(SpokenServer {
            address,
            authority,
            name,
            since: Instant::now(),
            tls: TlsConnector::from(Arc::new(tls::client(trusted)?)),
        })
    }

    /// The same server, asked for by the name that its document gives.
    pub fn named(&self, config: &crate::config::PlacesConfig) -> Self {
        let authority = match config.port {
            443 => config.host.clone(),
            port => format!("{}:{port}", config.host),
        };
        SpokenServer {
            authority,
            ..self.clone()
        }
    }

    /// TCP alone, and how long its handshake took, in ms.
    pub async fn reach(&self) -> io::Result<(TcpStream, f64)> {
        let start = Instant::now();
        let stream = match timeout(PATIENCE, TcpStream::connect(self.address)).await {
            Ok(stream) => stream?,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        let tcp = ms(start);
        stream.set_nodelay(true)?;
        Ok((stream, tcp))
    }

    /// A connection, whose bytes `meter` counts.
    ///
    /// # Errors
    /// If one of its parts fails, each in its own words.
    pub async fn connect(&self, meter: &Meter) -> Result<Connection, Problem> {
        let failed = |e| Problem::Unreachable(format!("{}: no connection: {e}", self.address));
        let (stream, tcp) = self.reach().await.map_err(failed)?;
        let reached = Instant::now();
        let from = stream.local_addr().map_err(failed)?;
        let socket = SockRef::from(&stream);
        // Without it the kernel takes megabytes, and a request waits behind them. An old kernel has no such bound.
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
        // What is unsent when a load ends is not sent after it.
        socket.set_linger(Some(Duration::ZERO)).map_err(failed)?;
        let [read, written] = [meter.read.clone(), meter.written.clone()];
        let stream = InspectReader::new(stream, move |bytes: &[u8]| count(&read, bytes));
        let stream = InspectWriter::new(stream, move |bytes: &[u8]| count(&written, bytes));
        let start = Instant::now();
        let stream = timeout(PATIENCE, self.tls.connect(self.name.clone(), stream))
            .await
            .map_err(|_| Problem::Unreachable(format!("{}: TLS does not end", self.address)))?
            .map_err(|e| self.untrusted(&e))?;
        let rounds = match stream.get_ref().1.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => 2.0,
            _ => 1.0,
        };
        let setup = SetupTimes {
            tcp,
            reached,
            tls: ms(start) / rounds,
        };
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(Problem::Server(format!("{} has no HTTP/2", self.authority)));
        }
        let (sender, driven) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buf_size(UNSENT as usize)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|e| Problem::Server(format!("{}: HTTP/2: {e}", self.authority)))?;
        Ok(Connection {
            sender,
            driven: tokio::spawn(driven).abort_handle(),
            authority: self.authority.clone(),
            since: self.since,
            from,
            setup,
        })
    }

    fn untrusted(&self, error: &io::Error) -> Problem {
        Problem::Server(format!(
            "{}: TLS: {error}; another key than --pin's, a name that the certificate has not, or somebody in between \
             (a captive portal, a proxy that reads along)",
            self.authority
        ))
    }
}

impl Drop for Connection {
    /// Without it, a body without an end would go on being sent.
    fn drop(&mut self) {
        self.driven.abort();
    }
}

impl Connection {
    /// Sends a request, and waits for the head of the answer.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Outgoing,
    ) -> Result<Response<Incoming>, Problem> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.authority))
            .header("accept-encoding", "identity")
            .header("content-type", "application/octet-stream")
            .body(body)
            .map_err(|e| Problem::Server(format!("{path}: {e}")))?;
        let answer = self.sender.clone().send_request(request).await;
        let answer = answer.map_err(|e| Problem::Unreachable(format!("{path}: {e}")))?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            status if status.is_redirection() => Err(Problem::Server(format!(
                "{path}: {status} to {}: a captive portal, or a server of another kind",
                answer
                    .headers()
                    .get("location")
                    .and_then(|to| to.to_str().ok())
                    .unwrap_or("nowhere")
            ))),
            status => Err(Problem::Server(format!("{path}: {status}"))),
        }
    }

    fn apart(&self, small: &Small, clock: f64) -> Apart {
        let since = |at: Instant| at.duration_since(self.since).as_secs_f64() * 1e3;
        Apart {
            down: since(small.came) - clock,
            up: clock - since(small.asked),
        }
    }

    /// A small object, whole.
    ///
    /// # Errors
    /// If it does not come, or has no end.
    pub async fn small(&self, path: &str) -> Result<Small, Problem> {
        let none = |_| Problem::Server(format!("{path}: no answer in {ANSWERED:?}"));
        timeout(ANSWERED, self.whole(path)).await.map_err(none)?
    }

    async fn whole(&self, path: &str) -> Result<Small, Problem> {
        let asked = Instant::now();
        let answer = self.ask(Method::GET, path, Outgoing::Nothing).await?;
        let headers = answer.headers().clone();
        let mut body = answer.into_body();
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|e| Problem::Unreachable(format!("{path}: {e}")))?;
            read.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            if read.len() > SMALL {
                return Err(Problem::Server(format!(
                    "{path}: found more than {SMALL} bytes, expected a small object"
                )));
            }
        }
        let mut small = Small {
            body: read,
            headers,
            asked,
            came: Instant::now(),
            apart: None,
        };
        small.apart = small
            .number(CLOCK)
            .map(|clock| self.apart(&small, clock / 1e3));
        Ok(small)
    }
}
