//! Bodies: none, and one without an end whose bytes are counted.

use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

/// What a frame of HTTP/2 carries by default (RFC 9113, SETTINGS_MAX_FRAME_SIZE). Bytes.
static CHUNK: [u8; 16_384] = [0; 16_384];

/// What is sent.
#[derive(Debug)]
pub enum Outgoing {
    /// Nothing.
    Nothing,
    /// Zeros without an end; each chunk is counted when it is handed over.
    Endless(Arc<AtomicU64>),
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &*self {
            Outgoing::Nothing => Poll::Ready(None),
            Outgoing::Endless(count) => {
                count.fetch_add(CHUNK.len() as u64, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Outgoing::Nothing)
    }
}
