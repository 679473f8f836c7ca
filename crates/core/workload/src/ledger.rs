//! The meaning of a connection's bytes.
//!
//! Transports and sockets carry bytes; the messages made of those bytes are kept here, in the order
//! of sending, and are handed over when their last byte has arrived.

use crate::Message;
use std::collections::{BTreeMap, VecDeque};

/// Messages sent by one end of a connection.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Stream 0, the only one of TCP.
    first: LedgerStream,
    others: BTreeMap<u32, LedgerStream>,
}

#[derive(Debug, Default)]
struct LedgerStream {
    sent: u64,
    received: u64,
    /// Messages with the offset of their end.
    messages: VecDeque<(u64, Message)>,
}

impl Ledger {
    #[inline]
    fn stream(&mut self, stream: u32) -> &mut LedgerStream {
        match stream {
            0 => &mut self.first,
            _ => self.others.entry(stream).or_default(),
        }
    }

    /// A message of `bytes` was given to the transport.
    pub fn sent(&mut self, stream: u32, bytes: u64, message: Message) {
        let stream = self.stream(stream);
        stream.sent += bytes;
        stream.messages.push_back((stream.sent, message));
    }

    /// `bytes` more arrived at the other end; whether a message is complete with them, so that most
    /// packets need no [`take`](Self::take).
    #[inline]
    pub fn received(&mut self, stream: u32, bytes: u64) -> bool {
        let entry = self.stream(stream);
        entry.received += bytes;
        debug_assert!(entry.received <= entry.sent, "more arrives than was sent");
        let first = entry.messages.front();
        first.is_some_and(|(end, _)| *end <= entry.received)
    }

    /// The next message that has arrived completely.
    pub fn take(&mut self, stream: u32) -> Option<Message> {
        let entry = self.stream(stream);
        let &(end, message) = entry.messages.front()?;
        if end > entry.received {
            return None;
        }
        entry.messages.pop_front();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_with_its_last_byte() {
        let mut ledger = Ledger::default();
        ledger.sent(0, 100, Message::ClientHello);
        ledger.sent(0, 50, Message::Bulk { last: true });
        assert!(!ledger.received(0, 99));
        assert_eq!(ledger.take(0), None);
        assert!(ledger.received(0, 51));
        assert_eq!(ledger.take(0), Some(Message::ClientHello));
        assert_eq!(ledger.take(0), Some(Message::Bulk { last: true }));
        assert_eq!(ledger.take(0), None);
    }
}
