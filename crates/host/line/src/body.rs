//! Bodies: none, and one without an end.

use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a frame of HTTP/2 carries by default (RFC 9113, SETTINGS_MAX_FRAME_SIZE). Bytes.
pub static CHUNK: [u8; 16_384] = [0; 16_384];

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// Nothing.
    Nothing,
    /// Zeros without an end.
    Endless,
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(match *self {
            Outgoing::Nothing => None,
            Outgoing::Endless => Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))),
        })
    }

    fn is_end_stream(&self) -> bool {
        *self == Outgoing::Nothing
    }
}
