//! Streams: the data left to send, and the data that arrived, of each.

use crate::ranges::Ranges;
use crate::wire::quic::{CRYPTO, QuicFrame};
use std::collections::VecDeque;

/// The sending side of all streams.
#[derive(Debug, Default)]
pub(super) struct SendStreams {
    /// By number.
    streams: Vec<SendStream>,
    /// Streams with data to send, the next one first. Each is in here once.
    turns: VecDeque<u32>,
    /// Given and not sent for the first time, handshake excluded.
    unsent: u64,
    /// Bytes sent and not acknowledged, handshake excluded: the count of flow control.
    open: u64,
    acked: u64,
}

#[derive(Debug)]
struct SendStream {
    stream: u32,
    given: u64,
    next: u64,
    acked: Ranges,
    lost: Ranges,
    waiting: bool,
}

impl SendStream {
    /// Drops lost data that was acknowledged later, as far as it is next to be sent.
    fn forget_repaired(&mut self) {
        while let Some((start, _)) = self.lost.first()
            && let Some((_, end)) = self.acked.containing(start)
        {
            self.lost.trim(end);
        }
    }

    fn has_work(&self) -> bool {
        self.next < self.given || !self.lost.is_empty()
    }
}

impl SendStreams {
    /// `bytes` more of a stream.
    pub(super) fn give(&mut self, stream: u32, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let index = self.index(stream);
        let state = &mut self.streams[index];
        let before = state.given;
        state.given = before.saturating_add(bytes);
        if stream != CRYPTO {
            self.unsent += state.given - before;
        }
        self.wait(index);
    }

    /// The next frame of at most `room` bytes; `fresh` bytes may be sent for the first time.
    pub(super) fn take(&mut self, room: u32, fresh: u64) -> Option<QuicFrame> {
        for _ in 0..self.turns.len() {
            let stream = *self.turns.front()?;
            let index = self.index(stream);
            let state = &mut self.streams[index];
            let most = u64::from(room);
            if let Some((start, end)) = state.lost.take_front(most) {
                state.forget_repaired();
                return Some(QuicFrame {
                    offset: start,
                    stream,
                    len: (end - start) as u32,
                });
            }
            let allowed = if stream == CRYPTO {
                most
            } else {
                most.min(fresh)
            };
            let len = allowed.min(state.given - state.next);
            if len > 0 {
                let offset = state.next;
                state.next += len;
                if stream != CRYPTO {
                    self.unsent -= len;
                    self.open += len;
                }
                return Some(QuicFrame {
                    offset,
                    stream,
                    len: len as u32,
                });
            }
            self.pass_turn();
        }
        None
    }

    /// The stream whose turn it is lets the next one go first, and leaves if it is done.
    pub(super) fn pass_turn(&mut self) {
        let Some(stream) = self.turns.pop_front() else {
            return;
        };
        let index = self.index(stream);
        let state = &mut self.streams[index];
        state.waiting = state.has_work();
        if state.waiting {
            self.turns.push_back(stream);
        }
    }

    /// Whether data waits that flow control allows with `fresh` bytes of room.
    pub(super) fn has_work(&self, fresh: u64) -> bool {
        let ready = |&stream: &u32| {
            let may_start = fresh > 0 || stream == CRYPTO;
            self.find(stream).is_ok_and(|index| {
                let state = &self.streams[index];
                !state.lost.is_empty() || (may_start && state.next < state.given)
            })
        };
        self.turns.iter().any(ready)
    }

    /// A frame arrived.
    pub(super) fn on_acked(&mut self, frame: &QuicFrame) {
        let index = self.index(frame.stream);
        let mut bytes = 0;
        let end = frame.offset + u64::from(frame.len);
        let state = &mut self.streams[index];
        let count = |start, end| bytes += end - start;
        state.acked.insert(frame.offset, end, count);
        state.forget_repaired();
        if frame.stream != CRYPTO {
            self.acked += bytes;
            self.open -= bytes;
        }
    }

    /// A frame was lost, or is to be sent again by a probe.
    pub(super) fn on_lost(&mut self, frame: &QuicFrame) {
        let index = self.index(frame.stream);
        let end = frame.offset + u64::from(frame.len);
        let state = &mut self.streams[index];
        state.lost.insert(frame.offset, end, |_, _| ());
        state.forget_repaired();
        self.wait(index);
    }

    /// Bytes given and not sent for the first time.
    pub(super) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Bytes sent and not acknowledged.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// Bytes acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    fn wait(&mut self, index: usize) {
        let state = &mut self.streams[index];
        if state.waiting || !state.has_work() {
            return;
        }
        state.waiting = true;
        let stream = state.stream;
        if stream == CRYPTO {
            self.turns.push_front(stream);
        } else {
            self.turns.push_back(stream);
        }
    }

    fn find(&self, stream: u32) -> Result<usize, usize> {
        self.streams
            .binary_search_by_key(&stream, |state| state.stream)
    }

    fn index(&mut self, stream: u32) -> usize {
        self.find(stream).unwrap_or_else(|index| {
            let state = SendStream {
                stream,
                given: 0,
                next: 0,
                acked: Ranges::default(),
                lost: Ranges::default(),
                waiting: false,
            };
            self.streams.insert(index, state);
            index
        })
    }
}

/// The receiving side of all streams.
#[derive(Debug, Default)]
pub(super) struct RecvStreams {
    streams: Vec<RecvStream>,
    /// Streams with more data in order than the application knows, oldest news first.
    news: VecDeque<u32>,
}

#[derive(Debug)]
struct RecvStream {
    stream: u32,
    next: u64,
    early: Ranges,
    unread: u64,
}

impl RecvStreams {
    /// A frame arrived.
    pub(super) fn on_frame(&mut self, frame: &QuicFrame) {
        let end = frame.offset.saturating_add(u64::from(frame.len));
        let stream = frame.stream;
        let index = self.index(stream);
        let state = &mut self.streams[index];
        if end <= state.next {
            return;
        }
        state
            .early
            .insert(frame.offset.max(state.next), end, |_, _| ());
        let Some(reached) = state.early.advance(state.next) else {
            return;
        };
        if state.unread == 0 && stream != CRYPTO {
            self.news.push_back(stream);
        }
        state.unread += reached - state.next;
        state.next = reached;
    }

    /// A stream and how many bytes more of it arrived in order.
    pub(super) fn read(&mut self) -> Option<(u32, u64)> {
        let stream = self.news.pop_front()?;
        let index = self.index(stream);
        Some((stream, core::mem::take(&mut self.streams[index].unread)))
    }

    /// Bytes of the handshake that arrived in order.
    pub(super) fn crypto(&self) -> u64 {
        self.find(CRYPTO)
            .map_or(0, |index| self.streams[index].next)
    }

    fn find(&self, stream: u32) -> Result<usize, usize> {
        self.streams
            .binary_search_by_key(&stream, |state| state.stream)
    }

    fn index(&mut self, stream: u32) -> usize {
        self.find(stream).unwrap_or_else(|index| {
            let state = RecvStream {
                stream,
                next: 0,
                early: Ranges::default(),
                unread: 0,
            };
            self.streams.insert(index, state);
            index
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(stream: u32, offset: u64, len: u32) -> QuicFrame {
        QuicFrame {
            offset,
            stream,
            len,
        }
    }

    #[test]
    fn streams_take_turns_and_the_handshake_goes_first() {
        let mut streams = SendStreams::default();
        streams.give(4, 250);
        streams.give(0, 100);
        streams.give(CRYPTO, 10);
        let mut order = Vec::new();
        while let Some(frame) = streams.take(100, u64::MAX) {
            order.push((frame.stream, frame.offset, frame.len));
            streams.pass_turn();
        }
        assert_eq!(
            order,
            [
                (CRYPTO, 0, 10),
                (4, 0, 100),
                (0, 0, 100),
                (4, 100, 100),
                (4, 200, 50)
            ]
        );
        assert_eq!((streams.unsent(), streams.open()), (0, 350));
    }

    #[test]
    fn lost_frames_go_again_unless_they_arrived_after_all() {
        let mut streams = SendStreams::default();
        streams.give(0, 300);
        let frames = [0, 1, 2].map(|_| streams.take(100, u64::MAX).unwrap());
        for frame in &frames {
            streams.on_lost(frame);
        }
        streams.on_acked(&frames[0]);
        assert_eq!(streams.take(100, 0), Some(frame(0, 100, 100)));
        streams.on_acked(&frames[2]);
        assert_eq!(streams.take(100, 0), None);
        assert!(!streams.has_work(u64::MAX));
        assert_eq!((streams.acked(), streams.open()), (200, 100));
    }

    #[test]
    fn flow_control_holds_new_bytes_back_only() {
        let mut streams = SendStreams::default();
        streams.give(0, 300);
        let first = streams.take(100, 50).unwrap();
        assert_eq!(first.len, 50);
        assert!(!streams.has_work(0));
        streams.on_lost(&first);
        assert!(streams.has_work(0));
        assert_eq!(streams.take(100, 0), Some(first));
    }

    #[test]
    fn bytes_come_out_in_order_and_once() {
        let mut streams = RecvStreams::default();
        streams.on_frame(&frame(0, 100, 100));
        assert_eq!(streams.read(), None);
        streams.on_frame(&frame(0, 0, 150));
        streams.on_frame(&frame(8, 0, 10));
        streams.on_frame(&frame(0, 0, 150));
        assert_eq!(streams.read(), Some((0, 200)));
        assert_eq!(streams.read(), Some((8, 10)));
        assert_eq!(streams.read(), None);
        streams.on_frame(&frame(CRYPTO, 0, 10));
        assert_eq!((streams.crypto(), streams.read()), (10, None));
    }
}
