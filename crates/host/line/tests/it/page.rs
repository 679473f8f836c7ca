//! The page, and its call, as browsers ask for them; and those who ask for more.

use crate::wish;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::SendRequest;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use line::Trust;
use line::client::measure;
use line::page::ServedPage;
use line::server::Server;
use noq::crypto::rustls::QuicClientConfig;
use probe::Identity;
use probe::limits::{Ledger, Policy};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use web_transport_proto::{ConnectRequest, ConnectResponse, Settings};

const SOON: Duration = Duration::from_secs(10);

/// A person who looks past a browser's warning. Browsers take these signatures.
#[derive(Debug)]
struct Careless(Vec<SignatureScheme>);

impl ServerCertVerifier for Careless {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}

fn tls(protocols: &[&[u8]], schemes: &[SignatureScheme]) -> rustls::ClientConfig {
    let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Careless(schemes.to_vec())))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    config
}

const BROWSERS: [SignatureScheme; 2] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::RSA_PSS_SHA256,
];

/// Sends a request as a browser does; the answer, and whether it came over HTTP/2.
async fn asked(
    address: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Option<(Response<hyper::body::Incoming>, bool)> {
    let tls = tokio_rustls::TlsConnector::from(Arc::new(tls(&[b"h2", b"http/1.1"], &BROWSERS)));
    let stream = TcpStream::connect(address).await.ok()?;
    let stream = tls.connect("any.example".try_into().unwrap(), stream);
    let stream = stream.await.ok()?;
    let new = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    let answer = if new {
        let built = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut sender, connection) = built.await.ok()?;
        tokio::spawn(connection);
        sender.send_request(request).await
    } else {
        let built = hyper::client::conn::http1::handshake(stream);
        let (mut sender, connection) = built.await.ok()?;
        tokio::spawn(connection);
        sender.send_request(request).await
    };
    Some((answer.ok()?, new))
}

/// A connection of HTTP/2, and what ends when it does. A browser takes no Ed25519: without a page there is no certificate
/// for it.
pub async fn opened(address: SocketAddr) -> (SendRequest<Full<Bytes>>, JoinHandle<()>) {
    let config = tls(&[b"h2"], &[SignatureScheme::ED25519]);
    let tls = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await.unwrap();
    let stream = tls.connect("any.example".try_into().unwrap(), stream);
    let stream = TokioIo::new(stream.await.unwrap());
    let built = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
    let (sender, connection) = built.await.unwrap();
    let ends = tokio::spawn(async { drop(connection.await) });
    (sender, ends)
}

pub fn get(address: SocketAddr, path: &str) -> Request<Full<Bytes>> {
    let request = Request::get(format!("https://{address}{path}"));
    let request = request.header("host", address.to_string());
    request.body(Full::default()).unwrap()
}

async fn text(answer: Response<hyper::body::Incoming>) -> String {
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn served(policy: Policy) -> (SocketAddr, Identity) {
    let identity = Identity::new().unwrap();
    let tls = Server::own(&identity).unwrap();
    let ledger = Ledger::new(policy);
    // Somebody else may have the port after a free one.
    let bound = (0..50).find_map(|_| {
        let page = ServedPage::new(Some("https://play.example/try/".to_owned())).unwrap();
        let browsers = page.own().unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(any, tls.clone(), ledger.clone()).unwrap();
        server.with_page(page, browsers).ok()
    });
    let server = bound.unwrap();
    let address = server.address().unwrap();
    std::thread::spawn(|| server.run().unwrap());
    (address, identity)
}

pub fn run<T>(what: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async { timeout(6 * SOON, what).await.unwrap() })
}

#[test]
fn without_being_asked_for_there_is_none() {
    let (address, _) = crate::served(Policy::default());
    let (answer, new) = run(asked(address, get(address, "/"))).unwrap_or_else(|| {
        run(async {
            let (mut sender, _) = opened(address).await;
            let answer = sender.send_request(get(address, "/")).await;
            (answer.unwrap(), true)
        })
    });
    assert!(new);
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[test]
fn browsers_get_it_under_a_strict_policy_and_others_measure_as_before() {
    let (address, identity) = served(Policy::default());
    run(async {
        let (answer, new) = asked(address, get(address, "/")).await.unwrap();
        assert!(!new);
        assert_eq!(answer.status(), StatusCode::OK);
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        let calls = format!(
            "connect-src 'self' https://127.0.0.1:{};",
            address.port() + 1
        );
        assert!(
            policy.starts_with("default-src 'none';") && policy.contains(&calls),
            "{policy}"
        );
        let [_, nonce, _] = policy.splitn(3, "'nonce-").collect::<Vec<_>>()[..] else {
            panic!("{policy}");
        };
        let nonce = nonce.split('\'').next().unwrap();
        assert_eq!(header("cache-control"), "no-store");
        assert!(!answer.headers().contains_key("set-cookie"));
        let page = text(answer).await;
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
        assert!(page.contains("kind = \"call\"") && !page.contains("{script}"));

        let (answer, _) = asked(address, get(address, "/settings")).await.unwrap();
        let settings: serde_json::Value = serde_json::from_str(&text(answer).await).unwrap();
        assert_eq!(settings["port"], address.port() + 1);
        assert_eq!(settings["playground"], "https://play.example/try/");
        assert!(settings["left_ms"].as_u64().unwrap() > 50_000, "{settings}");
        let (answer, _) = asked(address, get(address, "/other")).await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    });
    let wish = wish(address, Trust::Pin(identity.pin()));
    measure(&wish, &AtomicBool::new(false), &mut |_| ()).unwrap();
}

#[test]
fn an_uploads_course_is_told() {
    let (address, _) = served(Policy::default());
    run(async {
        let (course, _) = asked(address, get(address, "/uploaded")).await.unwrap();
        let mut body = course.into_body();
        let mut lines = String::new();
        let mut more = async |until: &str| {
            while !lines.contains(until) {
                let frame = timeout(SOON, body.frame()).await.unwrap().unwrap().unwrap();
                lines += std::str::from_utf8(frame.data_ref().unwrap()).unwrap();
            }
        };
        more(" 0\n").await;
        let request = Request::post(format!("https://{address}/upload"));
        let request = request.header("host", address.to_string());
        let body = Full::new(Bytes::from(vec![0; 300_000]));
        let (answer, _) = asked(address, request.body(body).unwrap()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        more(" 300000\n").await;
        let first: Vec<&str> = lines.lines().next().unwrap().split(' ').collect();
        assert_eq!(first[1], "0", "{lines}");
    });
}

#[test]
fn its_bytes_count() {
    let (address, _) = served(Policy {
        bytes: 60_000,
        ..Policy::default()
    });
    run(async {
        let mut pages = 0;
        while let Some((answer, _)) = asked(address, get(address, "/")).await {
            if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                break;
            }
            pages += 1;
            let size = text(answer).await.len();
            assert!(
                size > 20_000 && pages * size <= 60_000,
                "{pages} pages of {size}"
            );
        }
        assert!(pages > 0);
    });
}

/// A session of WebTransport at `path`; none if the server ends the connection.
async fn call(
    endpoint: &noq::Endpoint,
    address: SocketAddr,
    path: &str,
) -> Option<(noq::Connection, Vec<Box<dyn Send>>)> {
    let mut calls = address;
    calls.set_port(address.port() + 1);
    let connection = endpoint.connect(calls, "any.example").unwrap().await.ok()?;
    let mut control = connection.open_uni().await.ok()?;
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    settings.write(&mut control).await.ok()?;
    let (mut send, mut receive) = connection.open_bi().await.ok()?;
    let url = url::Url::parse(&format!("https://{calls}{path}")).unwrap();
    ConnectRequest::new(url).write(&mut send).await.ok()?;
    ConnectResponse::read(&mut receive).await.ok()?;
    Some((
        connection,
        vec![Box::new(control), Box::new(send), Box::new(receive)],
    ))
}

fn endpoint() -> noq::Endpoint {
    let tls = QuicClientConfig::try_from(tls(&[b"h3"], &BROWSERS)).unwrap();
    let endpoint = noq::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    endpoint.set_default_client_config(noq::ClientConfig::new(Arc::new(tls)));
    endpoint
}

#[test]
fn a_call_goes_on_and_tells_what_came() {
    let (address, _) = served(Policy::default());
    run(async {
        let endpoint = endpoint();
        let (connection, _streams) = call(&endpoint, address, "/call").await.unwrap();
        let word = |datagram: &Bytes, n: usize| {
            u32::from_be_bytes(datagram[1 + 4 * n..][..4].try_into().unwrap())
        };
        // Too short, of another session, and one of the call.
        for datagram in [&b"\0"[..], b"", b"\x05\0\0\0\x09", b"\0\0\0\0\x07"] {
            connection
                .send_datagram(Bytes::copy_from_slice(datagram))
                .unwrap();
        }
        let mut numbers = Vec::new();
        loop {
            let datagram = timeout(SOON, connection.read_datagram())
                .await
                .unwrap()
                .unwrap();
            assert_eq!(datagram.len(), 1001);
            numbers.push((word(&datagram, 0), word(&datagram, 1)));
            let told = word(&datagram, 2);
            if told > 0 && numbers.len() > 10 {
                assert_eq!((told, word(&datagram, 3)), (1, 7));
                break;
            }
        }
        assert!(numbers.is_sorted(), "{numbers:?}");
        // It leaves thirty times a second since the call began, by the server's own clock: late on a busy host, never early.
        let early = |(number, at): &(u32, u32)| *at < number * 33_333;
        assert!(!numbers.iter().any(early), "{numbers:?}");
    });
}

#[test]
fn a_client_has_one_call_and_nothing_else_there() {
    let (address, _) = served(Policy::default());
    run(async {
        let endpoint = endpoint();
        assert!(call(&endpoint, address, "/other").await.is_none());
        let mut first = None;
        // The one before has to end.
        while first.is_none() {
            first = call(&endpoint, address, "/call").await;
        }
        assert!(call(&endpoint, address, "/call").await.is_none());
        drop(first);
        while call(&endpoint, address, "/call").await.is_none() {}
    });
}

#[test]
fn a_call_ends_with_what_was_granted() {
    let (address, _) = served(Policy {
        bytes: 20_000,
        ..Policy::default()
    });
    run(async {
        let endpoint = endpoint();
        let (connection, _streams) = call(&endpoint, address, "/call").await.unwrap();
        let mut bytes = 0;
        while let Ok(datagram) = connection.read_datagram().await {
            bytes += datagram.len();
        }
        assert!((10_000..20_000).contains(&bytes), "{bytes}");
    });
}
