//! Bytes in flight, and bytes lost so far, at the departure of each packet: the draft's
//! `P.tx_in_flight` and `P.lost` (4.1.2.1), which an acknowledgement does not carry.

use std::collections::VecDeque;
use units::Instant;

/// Packets under way, in the order of sending. Packets that left at one instant are one entry.
#[derive(Debug, Clone, Default)]
pub(super) struct SentLog {
    packets: VecDeque<Sent>,
    lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Instant,
    in_flight: u64,
    lost: u64,
}

impl SentLog {
    /// A packet left at `at`; `in_flight` includes it.
    pub(super) fn on_sent(&mut self, at: Instant, in_flight: u64) {
        match self.packets.back_mut() {
            Some(last) if last.at == at => last.in_flight = in_flight,
            _ => self.packets.push_back(Sent {
                at,
                in_flight,
                lost: self.lost,
            }),
        }
    }

    pub(super) fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Bytes in flight at the departure of the packet that left at `at`, and bytes lost since;
    /// `None` if a later one has been asked for before. Forgets earlier packets.
    pub(super) fn since(&mut self, at: Instant) -> Option<(u64, u64)> {
        while self.packets.get(1).is_some_and(|next| next.at <= at) {
            self.packets.pop_front();
        }
        let packet = self.packets.front().filter(|packet| packet.at <= at)?;
        Some((packet.in_flight, self.lost - packet.lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Two packets at 1 ms make one entry with 2000 B in flight; 500 B are lost before the packet
    /// of 2 ms leaves, and 300 B after it.
    #[test]
    fn tells_what_was_in_flight_and_what_was_lost_since() {
        let mut log = SentLog::default();
        log.on_sent(at(1), 1000);
        log.on_sent(at(1), 2000);
        log.on_lost(500);
        log.on_sent(at(2), 2500);
        log.on_lost(300);
        assert_eq!(log.since(at(0)), None);
        assert_eq!(log.since(at(1)), Some((2000, 800)));
        assert_eq!(log.since(at(2)), Some((2500, 300)));
        assert_eq!(log.since(at(2)), Some((2500, 300)));
        assert_eq!(log.since(at(1)), None);
        assert_eq!(log.packets.len(), 1);
    }
}
