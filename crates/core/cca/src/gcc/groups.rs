//! Packets in groups, and how much the delay changed from one group to the next.
//!
//! draft-ietf-rmcat-gcc-02, sections 5.1 (groups) and 5.2 (inter-group delay variation); bursts as
//! in libwebrtc's `inter_arrival_delta.cc`.

use super::signed_ms;
use units::{Duration, Instant};

/// Packets sent within this time form a group (section 5.1, `burst_time`).
const GROUP: Duration = Duration::from_millis(5);
/// Packets that arrive within this time and bunched up belong to the group before them.
const BURST: Duration = Duration::from_millis(5);
/// A burst is at most this long.
const LONGEST_BURST: Duration = Duration::from_millis(100);
/// After so many groups in the wrong order the receiver's clock must have jumped.
const REORDERED: u32 = 3;

/// How two groups follow one another. Times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Delta {
    /// From the last packet sent of one to the last packet sent of the next.
    pub sent: f64,
    /// The same at the receiver; never negative.
    pub received: f64,
}

impl Delta {
    /// The inter-group delay variation d(i) of section 5.2.
    pub fn variation(&self) -> f64 {
        self.received - self.sent
    }
}

#[derive(Debug, Clone, Copy)]
struct PacketGroup {
    first_sent: Instant,
    last_sent: Instant,
    first_received: Instant,
    last_received: Instant,
}

/// The group being filled and the one before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    current: Option<PacketGroup>,
    previous: Option<PacketGroup>,
    reordered: u32,
}

impl Groups {
    /// A packet arrived; the difference of the two groups before it, if it begins a new one.
    pub fn add(&mut self, sent: Instant, received: Instant) -> Option<Delta> {
        let fresh = PacketGroup {
            first_sent: sent,
            last_sent: sent,
            first_received: received,
            last_received: received,
        };
        let Some(current) = &mut self.current else {
            self.current = Some(fresh);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.takes(sent, received) {
            current.last_sent = current.last_sent.max(sent);
            current.last_received = received;
            return None;
        }
        let complete = *current;
        let delta = self.previous.map(|previous| Delta {
            sent: signed_ms(previous.last_sent, complete.last_sent),
            received: signed_ms(previous.last_received, complete.last_received),
        });
        if delta.is_some_and(|delta| delta.received < 0.0) {
            self.reordered += 1;
            if self.reordered >= REORDERED {
                *self = Groups::default();
            }
            return None;
        }
        self.reordered = 0;
        self.previous = Some(complete);
        self.current = Some(fresh);
        delta
    }
}

impl PacketGroup {
    fn takes(&self, sent: Instant, received: Instant) -> bool {
        self.is_burst(sent, received) || sent.since(self.first_sent) <= GROUP
    }

    /// Packets that waited somewhere and came out together are no sign of the queue's growth: "an
    /// inter-arrival time below 5 ms and an inter-group delay variation below zero".
    fn is_burst(&self, sent: Instant, received: Instant) -> bool {
        let sent_ms = signed_ms(self.last_sent, sent);
        let received_ms = signed_ms(self.last_received, received);
        sent_ms == 0.0
            || (received_ms < sent_ms
                && received.since(self.last_received) <= BURST
                && received.since(self.first_received) < LONGEST_BURST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn add(groups: &mut Groups, sent: u64, received: u64) -> Option<(f64, f64)> {
        groups
            .add(us(sent), us(received))
            .map(|delta| (delta.sent, delta.received))
    }

    #[test]
    fn groups_of_five_milliseconds_and_their_differences() {
        let mut groups = Groups::default();
        // First group: sent at 0, 2 and 5 ms, arriving one by one.
        assert_eq!(add(&mut groups, 0, 20_000), None);
        assert_eq!(add(&mut groups, 2_000, 22_000), None);
        assert_eq!(add(&mut groups, 5_000, 25_000), None);
        // Second: 33 ms, arriving at 60 ms. There is no earlier one to compare the first with.
        assert_eq!(add(&mut groups, 33_000, 60_000), None);
        // Third: 66 ms. The second's last packet against the first's: sent 33 − 5 = 28 ms apart,
        // received 60 − 25 = 35 ms apart: the delay grew by 7 ms.
        assert_eq!(add(&mut groups, 66_000, 90_000), Some((28.0, 35.0)));
    }

    #[test]
    fn a_burst_is_one_group() {
        let mut groups = Groups::default();
        add(&mut groups, 0, 20_000);
        add(&mut groups, 10_000, 100_000);
        // Sent 10 ms later, arriving 1 ms later: it waited together with the one before.
        assert_eq!(add(&mut groups, 20_000, 101_000), None);
        // The burst as a whole against the first: 20 ms and 81 ms.
        assert_eq!(add(&mut groups, 200_000, 220_000), Some((20.0, 81.0)));
    }

    #[test]
    fn packets_from_the_past_are_ignored_and_a_jumping_clock_resets() {
        let mut groups = Groups::default();
        add(&mut groups, 0, 50_000);
        add(&mut groups, 10_000, 60_000);
        assert_eq!(add(&mut groups, 5_000, 61_000), None);
        // The receiver's clock jumps back by 50 ms: no difference is negative, ever.
        let mut later = 0;
        for step in 2..20 {
            if let Some((_, received)) = add(&mut groups, step * 10_000, step * 10_000) {
                assert!(received >= 0.0);
                later += 1;
            }
        }
        assert!(later > 10, "{later}");
    }
}
