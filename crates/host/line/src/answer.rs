//! A server's answers, and their bodies.

use crate::body::CHUNK;
use crate::grants::GrantedPlace;
use bytes::Bytes;
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use std::io::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// How often an upload's course is told.
const STEP: Duration = Duration::from_millis(100);

/// An answer in JSON.
pub fn json(text: String) -> Response<Answer> {
    let mut response = of(StatusCode::OK, Answer::whole(text));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer with its status.
pub fn of(status: StatusCode, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// The body of an answer.
pub enum Answer {
    /// It is known.
    Whole(Option<Bytes>),
    /// Zeros until the grant is used up: the wait for the next chunk, if it was asked for.
    Large(Arc<GrantedPlace>, Option<Pin<Box<Sleep>>>),
    /// What has come of its client's uploads, again and again.
    Uploaded(Uploaded),
}

/// A line each 100 ms: the milliseconds since the first one, and the bytes of uploads that came until then.
pub struct Uploaded {
    place: Arc<GrantedPlace>,
    since: Instant,
    next: Pin<Box<Sleep>>,
}

impl Answer {
    /// Nothing.
    pub fn empty() -> Self {
        Answer::Whole(None)
    }

    /// These bytes.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Answer::Whole(Some(bytes.into()))
    }

    /// Zeros until the grant is used up.
    pub fn large(place: Arc<GrantedPlace>) -> Self {
        Answer::Large(place, None)
    }

    /// The course of its client's uploads.
    pub fn uploaded(place: Arc<GrantedPlace>) -> Self {
        let since = Instant::now();
        Answer::Uploaded(Uploaded {
            place,
            since,
            next: Box::pin(sleep_until(since)),
        })
    }
}

/// A frame to be sent when it is due.
type Next = Poll<Option<Result<Frame<Bytes>, Error>>>;

impl Body for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Next {
        match self.get_mut() {
            Answer::Whole(body) => Poll::Ready(body.take().map(|b| Ok(Frame::data(b)))),
            Answer::Large(place, wait) => large(place, wait, context),
            Answer::Uploaded(uploaded) => uploaded.line(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Answer::Whole(None))
    }
}

fn large(
    place: &GrantedPlace,
    wait: &mut Option<Pin<Box<Sleep>>>,
    context: &mut Context<'_>,
) -> Next {
    let due = match wait {
        Some(due) => due,
        None => match place.pass(CHUNK.len() as u64) {
            Some(at) => wait.insert(Box::pin(sleep_until(at))),
            None => return Poll::Ready(Some(Err(used_up()))),
        },
    };
    ready!(due.as_mut().poll(context));
    *wait = None;
    Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))))
}

impl Uploaded {
    fn line(&mut self, context: &mut Context<'_>) -> Next {
        ready!(self.next.as_mut().poll(context));
        let now = Instant::now();
        let ms = now.duration_since(self.since).as_secs_f64() * 1e3;
        let line = format!("{ms:.1} {}\n", self.place.uploaded());
        self.next.as_mut().reset(now + STEP);
        Poll::Ready(Some(if self.place.count(line.len() as u64) {
            Ok(Frame::data(line.into()))
        } else {
            Err(used_up())
        }))
    }
}

fn used_up() -> Error {
    Error::other("what was granted is used up")
}
