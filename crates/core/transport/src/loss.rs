//! Which packets are lost (RFC 9002, 6.1 and 7.6): for QUIC and media sessions.
//!
//! A packet is lost when a later one was acknowledged, and either that is three later or 9/8 round
//! trips have passed since it was sent.
//!
//! The other mechanisms of the protocols, and the reasons:
//!
//! | | QUIC | media session | TCP |
//! |---|---|---|---|
//! | what is lost | this module | this module | RACK, RFC 8985 (ns-3's stack: RFC 6675) |
//! | nothing comes back | probes (PTO, RFC 9002, 6.2) | timeout (RFC 6298) | one probe (TLP), then the timeout |
//! | then | long losses: persistent congestion | all is lost | all is lost |
//!
//! TCP cannot share the detection. It numbers bytes: an acknowledgement does not tell whether a
//! segment's first or second transmission arrived, so RACK counts transmissions, leaves out answers
//! that arrive too soon, and puts the time threshold at the newest delivered round trip and a
//! reordering window that widens as duplicates are reported. It shares [`crate::rtt`],
//! [`crate::delivery`] and [`crate::ranges`].
//!
//! A media session has no probes: an unanswered frame is of no use when a probe would repair it,
//! and the next frame is as good a probe. The receiver asks for missing packets (`media::nack`),
//! independently of those that the sender takes for lost.

use crate::flight::{Flight, PacketFate};
use units::{Duration, Instant};

/// A packet is lost when one so many later was acknowledged (`kPacketThreshold`).
const PACKET_THRESHOLD: u64 = 3;

/// The packets found lost at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// How many packets.
    pub(crate) packets: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// The last of them.
    pub(crate) newest: u64,
    /// The longest time between two of them with no acknowledged one in between (7.6.2).
    pub(crate) span: Duration,
}

impl<P> Flight<P> {
    /// When a packet may have to be declared lost; [`Instant::NEVER`] if not at all.
    pub(crate) fn loss_at(&self) -> Instant {
        self.loss_at
    }

    /// Finds the packets lost at `now`, gives each to `on_lost` with the time at which it left, and forgets settled packets.
    pub(crate) fn find_lost(
        &mut self,
        now: Instant,
        loss_delay: Duration,
        on_lost: impl FnMut(&P, Instant),
    ) -> Losses {
        self.loss_at = Instant::NEVER;
        // In most cases no packets are missing before the arrivals.
        let losses = if self.first < self.acked_end {
            self.judge(now, loss_delay, on_lost)
        } else {
            Losses::default()
        };
        self.in_flight -= losses.bytes;
        self.forget_settled();
        losses
    }

    /// Looks at every packet before the largest that was acknowledged.
    fn judge(
        &mut self,
        now: Instant,
        loss_delay: Duration,
        mut on_lost: impl FnMut(&P, Instant),
    ) -> Losses {
        let mut losses = Losses::default();
        // The departure of the first of the packets without an acknowledged one in between.
        let mut run: Option<Instant> = None;
        for (number, sent) in (self.first..self.acked_end).zip(&mut self.packets) {
            match sent.fate {
                PacketFate::Acked => run = None,
                PacketFate::Lost | PacketFate::Quiet => {}
                PacketFate::Flying => {
                    let left = sent.stamp.sent;
                    let due = left + loss_delay;
                    if number + PACKET_THRESHOLD >= self.acked_end && due > now {
                        // Later ones left later.
                        self.loss_at = due;
                        break;
                    }
                    sent.fate = PacketFate::Lost;
                    losses.packets += 1;
                    losses.bytes += u64::from(sent.bytes);
                    losses.newest = number;
                    // Packets that left before there was a sample do not count (7.6.2).
                    if left >= self.sampled_at {
                        let since = *run.get_or_insert(left);
                        losses.span = losses.span.max(left.since(since));
                    }
                    on_lost(&sent.content, left);
                }
            }
        }
        losses
    }

    /// All packets in flight are taken for lost, as after a timeout (RFC 6298).
    pub(crate) fn lose_all(&mut self) {
        for sent in &mut self.packets {
            if sent.fate == PacketFate::Flying {
                sent.fate = PacketFate::Lost;
            }
        }
        self.in_flight = 0;
        self.loss_at = Instant::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::tests::{acknowledge, ms, six};

    const DELAY: Duration = Duration::from_micros(112_500);

    fn find(flight: &mut Flight<()>, now: Instant) -> (u64, u64, Duration) {
        let losses = flight.find_lost(now, DELAY, |(), _| ());
        assert_eq!(losses.bytes, 1_000 * losses.packets);
        (losses.packets, losses.newest, losses.span)
    }

    #[test]
    fn by_number_or_by_time() {
        let mut flight = six();
        acknowledge(&mut flight, 130, &[(3, 4), (1, 2)]);
        // Packets 0 and 2 are missing; 3 − 0 is the threshold.
        assert_eq!(find(&mut flight, ms(130)), (1, 0, Duration::ZERO));
        assert_eq!((flight.in_flight(), flight.first()), (3_000, 2));
        // Packet 2 left at 20.
        let due = ms(20) + DELAY;
        assert_eq!(flight.loss_at(), due);
        assert_eq!(find(&mut flight, due), (1, 2, Duration::ZERO));
        assert_eq!((flight.in_flight(), flight.first()), (2_000, 4));
        assert_eq!(flight.loss_at(), Instant::NEVER, "nothing later arrived");
    }

    #[test]
    fn what_is_lost_is_handed_out_once() {
        let mut flight = Flight::default();
        for number in 0..5 {
            flight.sent(ms(number), 1_000, number);
        }
        flight.acknowledge(ms(40), 4, core::iter::once((4, 5)), |_| ());
        let mut lost = Vec::new();
        for _ in 0..2 {
            flight.find_lost(ms(41), DELAY, |&content, left| lost.push((content, left)));
        }
        assert_eq!(lost, [(0, ms(0)), (1, ms(1))]);
        assert_eq!(flight.in_flight(), 2_000);
    }

    #[test]
    fn the_span_ends_where_something_arrived_or_nothing_was_measured() {
        // All six left before there was a sample.
        let mut flight = six();
        acknowledge(&mut flight, 200, &[(5, 6)]);
        assert_eq!(find(&mut flight, ms(200)), (5, 4, Duration::ZERO));
        for number in 0..8 {
            flight.sent(ms(200 + 10 * number), 1_000, ());
        }
        // 6 to 9 and 11 and 12 are missing.
        acknowledge(&mut flight, 400, &[(13, 14), (10, 11)]);
        assert_eq!(
            find(&mut flight, ms(400)),
            (6, 12, Duration::from_millis(30))
        );
    }
}
