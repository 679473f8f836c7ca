//! A server of draft-ietf-ippm-responsiveness: its document, an object without an end, one of a byte, and what takes
//! any upload. Within limits, so that it is no weapon; it keeps nothing of who asked.

use crate::Problem;
use crate::answer::{Answer, json, of};
use crate::apart::CLOCK;
use crate::call::Calls;
use crate::client::GRANTED;
use crate::config::WELL_KNOWN;
use crate::grants::{Clients, GrantedPlace, Shared};
use crate::page::ServedPage;
use crate::tls::Tls;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use probe::limits::Ledger;
use probe::real::socket;
use socket2::Type;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

/// The paths of the three places.
const LARGE: &str = "/large";
const SMALL: &str = "/small";
const UPLOAD: &str = "/upload";
/// Handshakes and heads of requests that take longer belong to nobody who measures.
const PATIENCE: Duration = Duration::from_secs(10);
/// A connection without a request for so long, or twice that, is closed once it has had one: clients leave those of
/// single requests open, up to a hundred a second (goresponsiveness), and their number is limited.
const IDLE: Duration = Duration::from_secs(2);
/// Connections that wait to be taken.
const BACKLOG: i32 = 128;
/// Requests of a connection at once.
const STREAMS: u32 = 32;
/// What a client may send ahead: 1 Gbit/s over 32 ms. Bytes.
const WINDOW: u32 = 4 << 20;
/// What is unsent in this process, and again in the kernel, so that a request does not wait behind it. Bytes.
const UNSENT: u32 = 32 << 10;

/// A server on its socket.
pub struct Server {
    listener: TcpListener,
    tls: Tls,
    clients: Shared,
    served: Served,
    calls: Option<Calls>,
}

/// What answers have to know.
#[derive(Debug, Clone)]
struct Served {
    /// What a client is granted, in bits a second.
    rate: u64,
    /// The page, if there is one, and the port of its calls.
    page: Option<(Arc<ServedPage>, u16)>,
    /// When it began: its clock tells the time since.
    since: Instant,
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
            tls: Tls::new(tls),
            served: Served {
                rate: ledger.policy().rate.as_bits(),
                page: None,
                since: Instant::now(),
            },
            calls: None,
            clients: Clients::within(ledger),
        })
    }

    /// The same with a page at `/`, which browsers get over TLS as `browsers` has it. Its calls go to the UDP port after
    /// its own.
    ///
    /// # Errors
    /// If there is no such port, it is taken, or TLS cannot be set up.
    pub fn with_page(
        mut self,
        page: ServedPage,
        browsers: rustls::ServerConfig,
    ) -> Result<Self, Problem> {
        let mut address = self.address()?;
        let port = address.port().checked_add(1);
        let none = || {
            Problem::Refused(format!(
                "{address}: no port is after it for the page's calls"
            ))
        };
        address.set_port(port.ok_or_else(none)?);
        let page = Arc::new(page);
        self.tls.with_browsers(browsers);
        self.calls = Some(Calls::bind(address, page.calls()?, &self.clients)?);
        self.served.page = Some((page, address.port()));
        Ok(self)
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
        if let Some(calls) = self.calls {
            tokio::spawn(calls.run()?);
        }
        loop {
            // One that is gone again, or no descriptor left: the next one is waited for.
            let Ok((stream, from)) = listener.accept().await else {
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            if let Some(place) = GrantedPlace::taken(&self.clients, from.ip()) {
                tokio::spawn(serve(stream, self.tls.clone(), place, self.served.clone()));
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

async fn serve(stream: TcpStream, tls: Tls, place: GrantedPlace, served: Served) {
    let _ = stream.set_nodelay(true);
    let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
    let place = Arc::new(place);
    // What does not shake hands in time, or wrongly, is dropped without a word.
    let Ok(Some((stream, browser))) = timeout(PATIENCE, tls.accept(stream)).await else {
        return;
    };
    if browser {
        // BBR fills no buffer, and the buffer is what is asked for (docs/decisions/0078).
        let _ = socket2::SockRef::from(stream.get_ref().0).set_tcp_congestion(b"cubic");
    }
    let until = place.until;
    let asked = Arc::new(AtomicU64::new(0));
    let answered = service_fn({
        let (place, asked) = (place.clone(), asked.clone());
        move |request| {
            asked.fetch_add(1, Ordering::Relaxed);
            let (place, served) = (place.clone(), served.clone());
            async move { Ok::<_, Infallible>(answer(request, place, &served).await) }
        }
    });
    let stream = TokioIo::new(stream);
    // What is still open when the time is over is closed; errors are the client's.
    let _ = timeout_at(until, async move {
        if browser {
            return one_request().serve_connection(stream, answered).await;
        }
        let mut connection = pin!(many_requests().serve_connection(stream, answered));
        let mut before = 0;
        loop {
            if let Ok(ended) = timeout(IDLE, &mut connection).await {
                return ended;
            }
            let now = asked.load(Ordering::Relaxed);
            // This connection and its service have one each, and each request until it is answered.
            if now > 0 && now == before && Arc::strong_count(&place) == 2 {
                connection.as_mut().graceful_shutdown();
            }
            before = now;
        }
    })
    .await;
}

fn many_requests() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(UNSENT as usize)
        .keep_alive_interval(PATIENCE);
    builder
}

/// Browsers put all requests of HTTP/2 on one connection, whose one control decides what it fills. And what they keep
/// open would use up their time: each request has a connection of its own, as handshakes are measured anyway.
fn one_request() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .keep_alive(false)
        .header_read_timeout(PATIENCE)
        .max_buf_size(UNSENT as usize);
    builder
}

async fn answer(
    request: Request<Incoming>,
    place: Arc<GrantedPlace>,
    served: &Served,
) -> Response<Answer> {
    let host = host(&request);
    match (request.method(), request.uri().path()) {
        (&Method::GET, WELL_KNOWN) => {
            let mut response = json(document(&host));
            response.headers_mut().insert(GRANTED, served.rate.into());
            response
        }
        (&Method::GET, SMALL) => {
            let mut response = of(StatusCode::OK, Answer::whole("0"));
            let clock = served.since.elapsed().as_micros() as u64;
            response.headers_mut().insert(CLOCK, clock.into());
            response
        }
        (&Method::GET, LARGE) => of(StatusCode::OK, Answer::large(place)),
        (&Method::POST, UPLOAD) => taken(request.into_body(), &place).await,
        (method, path) => match &served.page {
            Some((page, port)) => page.answer(method, path, (&host, *port), &place),
            None => of(StatusCode::NOT_FOUND, Answer::empty()),
        },
    }
}

/// The host that a request names, as HTTP/2 and HTTP/1.1 have it.
fn host(request: &Request<Incoming>) -> String {
    let named = request
        .headers()
        .get(HOST)
        .and_then(|name| name.to_str().ok());
    let authority = request.uri().authority().map(Authority::as_str);
    authority.or(named).unwrap_or_default().to_owned()
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

/// Reads an upload to its end, no faster than granted.
async fn taken(mut body: Incoming, place: &GrantedPlace) -> Response<Answer> {
    while let Some(frame) = body.frame().await {
        let bytes = match &frame {
            Ok(frame) => frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(_) => return of(StatusCode::BAD_REQUEST, Answer::empty()),
        };
        match place.upload(bytes) {
            Some(at) => sleep_until(at).await,
            None => return of(StatusCode::TOO_MANY_REQUESTS, Answer::empty()),
        }
    }
    of(StatusCode::OK, Answer::empty())
}
