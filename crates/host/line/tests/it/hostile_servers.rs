//! Servers that are none of this kind, or lie: each gets an error in words, at once.

use crate::wish;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Full, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use line::client::measure;
use line::{Problem, Trust};
use probe::Identity;
use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

type Body = BoxBody<Bytes, Infallible>;

/// What it does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    Redirects,
    HasNoDocument,
    WritesHtml,
    NeverEnds,
    IsEmpty,
    Refuses,
    SpeaksHttp1,
    SaysNothing,
}

fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed()
}

/// A body that does not end.
struct Endless;

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 16_384])))))
    }
}

/// A body that does not come.
struct Silent;

impl hyper::body::Body for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

fn answer(wrong: Wrong, request: &Request<Incoming>) -> Response<Body> {
    let host = request.uri().authority().unwrap().as_str();
    let document = format!(
        r#"{{"version": 1, "urls": {{"large_download_url": "https://{host}/l", "small_download_url":
        "https://{host}/s", "upload_url": "https://{host}/u"}}}}"#
    );
    let status = |code: u16| Response::builder().status(code);
    match (wrong, request.uri().path()) {
        (Wrong::Redirects, _) => {
            let response = status(302).header("location", "http://portal.example/");
            response.body(whole("")).unwrap()
        }
        (Wrong::HasNoDocument, _) => status(404).body(whole("")).unwrap(),
        (Wrong::WritesHtml, _) => Response::new(whole("<html>")),
        (Wrong::SaysNothing, _) => Response::new(Silent.boxed()),
        (Wrong::NeverEnds, _) => Response::new(Endless.boxed()),
        (_, "/.well-known/nq") => Response::new(whole(document)),
        (_, "/s") => Response::new(whole("0")),
        (Wrong::Refuses, _) => status(503).body(whole("")).unwrap(),
        _ => Response::new(Empty::new().boxed()),
    }
}

async fn serve(listener: TcpListener, tls: rustls::ServerConfig, wrong: Wrong) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let tls = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    while let Ok((stream, _)) = listener.accept().await {
        let tls = tls.clone();
        tokio::spawn(async move {
            let Ok(stream) = tls.accept(stream).await else {
                return;
            };
            let service =
                service_fn(
                    move |request| async move { Ok::<_, Infallible>(answer(wrong, &request)) },
                );
            let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn served(wrong: Wrong) -> SocketAddr {
    let identity = Identity::new().unwrap();
    let mut tls = line::server::Server::own(&identity).unwrap();
    if wrong == Wrong::SpeaksHttp1 {
        tls.alpn_protocols.clear();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(serve(listener, tls, wrong));
    });
    address
}

fn refused(address: SocketAddr) -> String {
    let wish = wish(address, Trust::Anyone);
    let found = measure(&wish, &AtomicBool::new(false), &mut |_| ());
    found.unwrap_err().to_string()
}

#[test]
fn each_is_named() {
    for (wrong, said) in [
        (
            Wrong::Redirects,
            "302 Found to http://portal.example/: a captive portal",
        ),
        (Wrong::HasNoDocument, "404 Not Found"),
        (
            Wrong::WritesHtml,
            "expected the JSON of draft-ietf-ippm-responsiveness",
        ),
        (Wrong::NeverEnds, "expected a small object"),
        (Wrong::IsEmpty, "found no bytes, expected 8 GB"),
        (Wrong::Refuses, "503 Service Unavailable"),
        (Wrong::SpeaksHttp1, "has no HTTP/2"),
    ] {
        let text = refused(served(wrong));
        assert!(text.contains(said), "{wrong:?}: {text}");
    }
}

#[test]
fn one_that_says_nothing_is_left_when_it_is_stopped() {
    let wish = wish(served(Wrong::SaysNothing), Trust::Anyone);
    let stop = Arc::new(AtomicBool::new(false));
    let later = stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        later.store(true, Ordering::Relaxed);
    });
    let found = measure(&wish, &stop, &mut |_| ());
    assert!(matches!(found, Err(Problem::Interrupted)), "{found:?}");
}

/// A portal that answers before TLS has begun, on the port of https.
#[test]
fn what_speaks_no_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 512]);
            let _ =
                stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n");
        }
    });
    let text = refused(address);
    assert!(text.contains("a captive portal"), "{text}");
}

#[test]
fn a_port_without_a_server_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let text = refused(address);
    assert!(
        text.contains(&format!("{address}: no connection")),
        "{text}"
    );
}
