//! Arrivals, and when to acknowledge them (RFC 9000, 13.2).

use crate::ranges::Ranges;
use crate::wire::quic::{Ack, MAX_RANGES};
use units::{Duration, Instant};

/// Acknowledgements may be held back for so long (RFC 9000, 18.2, `max_ack_delay`).
pub(super) const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// After so many packets with nothing but an acknowledgement, one asks for an answer, so that its
/// contents need not be repeated forever (Chrome; RFC 9000, 13.2.4).
const PING_AFTER: u32 = 19;

/// The packets that arrived.
#[derive(Debug)]
pub(super) struct ArrivedPackets {
    /// An acknowledgement is due after so many packets that ask for one (RFC 9000, 13.2.2).
    every: u32,
    received: Ranges,
    /// Packets below count as received: they are not reported any more.
    floor: u64,
    largest_at: Instant,
    eliciting: u32,
    due: bool,
    delayed_until: Instant,
    marks: u32,
    without_answer: u32,
}

impl ArrivedPackets {
    /// No packet arrived yet; of `every` so many an acknowledgement is due.
    pub(super) fn new(every: u32) -> Self {
        ArrivedPackets {
            every,
            received: Ranges::default(),
            floor: 0,
            largest_at: Instant::ZERO,
            eliciting: 0,
            due: false,
            delayed_until: Instant::NEVER,
            marks: 0,
            without_answer: 0,
        }
    }

    /// A packet arrived; false if it had arrived before. With `hurry`, its acknowledgement is not
    /// held back.
    pub(super) fn on_packet(
        &mut self,
        now: Instant,
        number: u64,
        eliciting: bool,
        marked: bool,
        hurry: bool,
    ) -> bool {
        if number < self.floor || number == u64::MAX || self.received.containing(number).is_some() {
            self.due |= eliciting;
            return false;
        }
        let expected = self.received.last().map_or(self.floor, |(_, end)| end);
        self.received.insert(number, number + 1, |_, _| ());
        if number >= expected {
            self.largest_at = now;
        }
        if self.received.len() > MAX_RANGES
            && let Some((_, end)) = self.received.first()
        {
            self.floor = end;
            self.received.trim(end);
        }
        self.marks += u32::from(marked);
        if eliciting {
            self.eliciting += 1;
            // RFC 9000, 13.2.1: packets out of order or marked are acknowledged at once.
            self.due |= hurry || marked || number != expected || self.eliciting >= self.every;
            if self.delayed_until == Instant::NEVER {
                self.delayed_until = now + MAX_ACK_DELAY;
            }
        }
        true
    }

    /// An acknowledgement has to leave.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// When one that was held back is due.
    pub(super) fn next_timer(&self) -> Instant {
        if self.due {
            Instant::NEVER
        } else {
            self.delayed_until
        }
    }

    /// Time has passed.
    pub(super) fn on_timer(&mut self, now: Instant) {
        self.due |= now >= self.delayed_until;
    }

    /// The acknowledgement for a packet that leaves `now`, if there is news.
    pub(super) fn take(&mut self, now: Instant) -> Option<Ack> {
        if self.eliciting == 0 && !self.due {
            return None;
        }
        self.eliciting = 0;
        self.due = false;
        self.delayed_until = Instant::NEVER;
        let delay = u32::try_from(now.since(self.largest_at).as_micros()).unwrap_or(u32::MAX);
        Ack::new(self.received.descending(), delay, self.marks)
    }

    /// A packet with only an acknowledgement leaves; returns whether it should ask for an answer.
    pub(super) fn wants_answer(&mut self) -> bool {
        self.without_answer += 1;
        self.without_answer > PING_AFTER
    }

    /// A packet leaves that will be answered.
    pub(super) fn will_be_answered(&mut self) {
        self.without_answer = 0;
    }

    /// The peer knows the arrivals below `number`.
    pub(super) fn forget_below(&mut self, number: u64) {
        self.floor = self.floor.max(number);
        self.received.trim(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn arrive(arrivals: &mut ArrivedPackets, ms: u64, number: u64) -> bool {
        arrivals.on_packet(at(ms), number, true, false, false)
    }

    #[test]
    fn every_second_packet_or_after_25_ms() {
        let mut arrivals = ArrivedPackets::new(2);
        assert!(arrive(&mut arrivals, 0, 0));
        assert!(!arrivals.is_due());
        assert_eq!(arrivals.next_timer(), at(25));
        assert!(arrive(&mut arrivals, 1, 1));
        assert!(arrivals.is_due());
        let ack = arrivals.take(at(1)).unwrap();
        assert_eq!((ack.largest, ack.first), (1, 2));
        arrive(&mut arrivals, 2, 2);
        arrivals.on_timer(at(27));
        assert!(arrivals.is_due());
        assert_eq!(arrivals.take(at(27)).unwrap().delay, 25_000);
        assert_eq!(arrivals.take(at(28)), None);
    }

    #[test]
    fn the_number_of_packets_can_be_another() {
        let mut arrivals = ArrivedPackets::new(10);
        for number in 0..9 {
            arrive(&mut arrivals, number, number);
        }
        assert!(!arrivals.is_due());
        assert_eq!(arrivals.next_timer(), at(25));
        arrive(&mut arrivals, 9, 9);
        assert!(arrivals.is_due());
        assert_eq!(arrivals.take(at(9)).unwrap().first, 10);
    }

    #[test]
    fn gaps_and_what_fills_them_are_told_at_once() {
        let mut arrivals = ArrivedPackets::new(2);
        arrive(&mut arrivals, 0, 0);
        arrivals.take(at(0));
        arrive(&mut arrivals, 1, 2);
        let ack = arrivals
            .is_due()
            .then(|| arrivals.take(at(1)))
            .flatten()
            .unwrap();
        assert_eq!(ack.ranges().collect::<Vec<_>>(), [(2, 3), (0, 1)]);
        arrive(&mut arrivals, 2, 1);
        assert!(arrivals.is_due());
        assert!(!arrive(&mut arrivals, 3, 1), "twice");
        arrivals.forget_below(2);
        assert!(!arrive(&mut arrivals, 3, 0), "long ago");
    }

    #[test]
    fn acknowledgements_alone_are_not_acknowledged() {
        let mut arrivals = ArrivedPackets::new(2);
        for number in 0..9 {
            arrivals.on_packet(at(0), number, false, false, false);
        }
        assert!(!arrivals.is_due());
        assert_eq!(
            (arrivals.next_timer(), arrivals.take(at(1))),
            (Instant::NEVER, None)
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut arrivals = ArrivedPackets::new(2);
        for number in 0..1000 {
            arrive(&mut arrivals, 0, 2 * number);
        }
        assert!(arrivals.received.len() <= MAX_RANGES);
        assert!(!arrive(&mut arrivals, 0, 1), "forgotten counts as received");
    }
}
