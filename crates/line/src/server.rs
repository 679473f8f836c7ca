//! A server of draft-ietf-ippm-responsiveness: its document, an object without an end, one of a byte, and what takes
//! any upload. Within limits, so that it is no weapon; it keeps nothing of who asked.

use crate::Problem;
use crate::body::CHUNK;
use crate::client::GRANTED;
use crate::config::WELL_KNOWN;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use probe::limits::{Grant, Ledger};
use probe::locked;
use probe::real::socket;
use socket2::Type;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

/// The paths of the three places.
const LARGE: &str = "/large";
const SMALL: &str = "/small";
const UPLOAD: &str = "/upload";
/// Handshakes and heads of requests that take longer belong to nobody who measures.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections of one client at once: sixteen with load, and those of requests beside them, which some clients keep.
const CONNECTIONS: usize = 512;
/// Connections of all clients at once.
const CONNECTIONS_IN_ALL: usize = 1024;
/// Connections that wait to be taken.
const BACKLOG: i32 = 128;
/// Requests of a connection at once.
const STREAMS: u32 = 32;
/// What a client may send ahead: 1 Gbit/s over 32 ms. Bytes.
const WINDOW: u32 = 4 << 20;
/// What is unsent in this process, and again in the kernel, so that a request does not wait behind it. Bytes.
const UNSENT: u32 = 32 << 10;

/// What one client has been granted, and what it has of it.
#[derive(Debug)]
struct Client {
    grant: Grant,
    /// When its time is over.
    until: Instant,
    used: u64,
    connections: usize,
    /// When the next chunk may pass, for the rate's sake.
    next: Instant,
}

#[derive(Debug)]
struct Clients {
    ledger: Ledger,
    each: Vec<(IpAddr, Client)>,
}

type Shared = Arc<Mutex<Clients>>;

/// A server on its socket.
pub struct Server {
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    clients: Shared,
    rate: u64,
}

impl Server {
    /// A server at `address` that shows `tls`' certificate and keeps to `ledger`'s policy.
    ///
    /// # Errors
    /// If the address is taken.
    pub fn bind(
        address: SocketAddr,
        tls: rustls::ServerConfig,
        ledger: Ledger,
    ) -> Result<Self, Problem> {
        let listener = listener(address).map_err(|e| Problem::system(&address.to_string(), e))?;
        Ok(Server {
            listener,
            tls: Arc::new(tls),
            rate: ledger.policy().rate.as_bits(),
            clients: Arc::new(Mutex::new(Clients {
                ledger,
                each: Vec::new(),
            })),
        })
    }

    /// The address on which it listens.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn address(&self) -> Result<SocketAddr, Problem> {
        let address = self.listener.local_addr();
        address.map_err(|e| Problem::system("listen", e))
    }

    /// A certificate that says no more than the key of `identity`, whose pin clients know.
    ///
    /// # Errors
    /// If none can be made of it.
    pub fn own(identity: &probe::Identity) -> Result<rustls::ServerConfig, Problem> {
        crate::tls::server(identity)
    }

    /// A certificate of an authority, from two files in PEM.
    ///
    /// # Errors
    /// If a file cannot be read, or the key is not the certificate's.
    pub fn given(
        certificates: &std::path::Path,
        key: &std::path::Path,
    ) -> Result<rustls::ServerConfig, Problem> {
        crate::tls::server_of(certificates, key)
    }

    /// Serves until the program ends.
    ///
    /// # Errors
    /// If the system denies a runtime or its socket.
    pub fn run(self) -> Result<(), Problem> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Problem::system("a runtime", e))?;
        runtime.block_on(self.accept())
    }

    async fn accept(self) -> Result<(), Problem> {
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(|e| Problem::system("listen", e))?;
        let tls = TlsAcceptor::from(self.tls);
        loop {
            // One that is gone again, or no descriptor left: the next one is waited for.
            let Ok((stream, from)) = listener.accept().await else {
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            if let Some(place) = Place::taken(&self.clients, from.ip()) {
                tokio::spawn(serve(stream, tls.clone(), place, self.rate));
            }
        }
    }
}

fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = socket(address, Type::STREAM)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// One connection's place among those of its client; given back when it is dropped.
#[derive(Debug)]
struct Place {
    clients: Shared,
    of: IpAddr,
    until: Instant,
}

impl Place {
    fn taken(clients: &Shared, of: IpAddr) -> Option<Self> {
        let mut all = locked(clients);
        if !all.ledger.allows(of) {
            return None;
        }
        let open: usize = all.each.iter().map(|(_, client)| client.connections).sum();
        if open >= CONNECTIONS_IN_ALL {
            return None;
        }
        let now = Instant::now();
        let known = all.each.iter().position(|(address, _)| *address == of);
        let n = match known {
            Some(n) => n,
            None => {
                let grant = all.ledger.begin(now.into_std(), of).ok()?;
                let client = Client {
                    grant,
                    until: now + grant.span,
                    used: 0,
                    connections: 0,
                    next: now,
                };
                all.each.push((of, client));
                all.each.len() - 1
            }
        };
        let client = &mut all.each[n].1;
        if client.connections >= CONNECTIONS {
            return None;
        }
        client.connections += 1;
        let until = client.until;
        drop(all);
        Some(Place {
            clients: clients.clone(),
            of,
            until,
        })
    }

    /// When `bytes` may pass; none if they exceed what was granted.
    fn pass(&self, bytes: u64) -> Option<Instant> {
        let mut all = locked(&self.clients);
        let (_, client) = all.each.iter_mut().find(|(of, _)| *of == self.of)?;
        let now = Instant::now();
        if client.used + bytes > client.grant.bytes || now >= client.until {
            return None;
        }
        client.used += bytes;
        let at = client.next.max(now);
        let span = bytes as f64 * 8.0 / client.grant.rate.as_bits() as f64;
        client.next = at + Duration::from_secs_f64(span);
        Some(at)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = locked(&self.clients);
        let Some(n) = all.each.iter().position(|(of, _)| *of == self.of) else {
            return;
        };
        let client = &mut all.each[n].1;
        client.connections -= 1;
        if client.connections == 0 {
            let (of, client) = all.each.swap_remove(n);
            all.ledger.end(of, client.grant, client.used);
        }
    }
}

async fn serve(stream: TcpStream, tls: TlsAcceptor, place: Place, rate: u64) {
    let _ = stream.set_nodelay(true);
    let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
    let place = Arc::new(place);
    // What does not shake hands in time, or wrongly, is dropped without a word.
    let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await else {
        return;
    };
    let until = place.until;
    let answered = service_fn(move |request| {
        let place = place.clone();
        async move { Ok::<_, Infallible>(answer(request, place, rate).await) }
    });
    let served = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(UNSENT as usize)
        .keep_alive_interval(PATIENCE)
        .serve_connection(TokioIo::new(stream), answered);
    // What is still open when the time is over is closed; errors are the client's.
    let _ = tokio::time::timeout_at(until, served).await;
}

async fn answer(request: Request<Incoming>, place: Arc<Place>, rate: u64) -> Response<Answer> {
    let host = request.uri().authority().map(ToString::to_string);
    match (request.method(), request.uri().path()) {
        (&Method::GET, WELL_KNOWN) => {
            let document = document(&host.unwrap_or_default());
            let mut response = of(StatusCode::OK, Answer::Whole(Some(document.into())));
            let headers = response.headers_mut();
            headers.insert(GRANTED, rate.into());
            headers.insert(
                "content-type",
                hyper::header::HeaderValue::from_static("application/json"),
            );
            response
        }
        (&Method::GET, SMALL) => of(
            StatusCode::OK,
            Answer::Whole(Some(Bytes::from_static(b"0"))),
        ),
        (&Method::GET, LARGE) => of(StatusCode::OK, Answer::large(place)),
        (&Method::POST, UPLOAD) => taken(request.into_body(), &place).await,
        _ => of(StatusCode::NOT_FOUND, Answer::Whole(None)),
    }
}

fn document(host: &str) -> String {
    let url = |path: &str| format!("https://{host}{path}");
    serde_json::json!({
        "version": 1,
        "urls": {
            "large_download_url": url(LARGE),
            "small_download_url": url(SMALL),
            "upload_url": url(UPLOAD),
            // As clients before the draft's version 1 want it.
            "large_https_download_url": url(LARGE),
            "small_https_download_url": url(SMALL),
            "https_upload_url": url(UPLOAD),
        },
    })
    .to_string()
}

fn of(status: StatusCode, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// Reads an upload to its end, no faster than granted.
async fn taken(mut body: Incoming, place: &Place) -> Response<Answer> {
    while let Some(frame) = body.frame().await {
        let bytes = match &frame {
            Ok(frame) => frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(_) => return of(StatusCode::BAD_REQUEST, Answer::Whole(None)),
        };
        match place.pass(bytes) {
            Some(at) => sleep_until(at).await,
            None => return of(StatusCode::TOO_MANY_REQUESTS, Answer::Whole(None)),
        }
    }
    of(StatusCode::OK, Answer::Whole(None))
}

/// The body of an answer.
enum Answer {
    /// It is known.
    Whole(Option<Bytes>),
    /// Zeros until the grant is used up: the wait for the next chunk, if it was asked for.
    Large(Arc<Place>, Option<Pin<Box<Sleep>>>),
}

impl Answer {
    fn large(place: Arc<Place>) -> Self {
        Answer::Large(place, None)
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let (place, wait) = match self.get_mut() {
            Answer::Whole(body) => return Poll::Ready(body.take().map(|b| Ok(Frame::data(b)))),
            Answer::Large(place, wait) => (place, wait),
        };
        let due = match wait {
            Some(due) => due,
            None => match place.pass(CHUNK.len() as u64) {
                Some(at) => wait.insert(Box::pin(sleep_until(at))),
                None => {
                    let over = std::io::Error::other("what was granted is used up");
                    return Poll::Ready(Some(Err(over)));
                }
            },
        };
        std::task::ready!(due.as_mut().poll(context));
        *wait = None;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Answer::Whole(None))
    }
}
