//! Packets under way by number, each sent once: QUIC's and a media session's.
//!
//! Numbers are in the order of sending, so a packet that was sent again has a new one, and every
//! acknowledgement of a number is about one moment of sending. TCP numbers bytes, which may be
//! sent again: it keeps a scoreboard of its own ([`crate::tcp`]).

use crate::delivery::{Delivery, Stamp};
use crate::ranges::Ranges;
use cca::RateSample;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// All packets from the first that is not settled.
#[derive(Debug)]
pub(crate) struct Flight<P> {
    pub(super) packets: VecDeque<SentPacket<P>>,
    /// Number of the first of them.
    pub(super) first: u64,
    acked: Ranges,
    /// One more than the largest that was acknowledged.
    pub(super) acked_end: u64,
    pub(super) in_flight: u64,
    /// When there was the first round trip sample.
    pub(super) sampled_at: Instant,
    pub(super) loss_at: Instant,
    delivery: Delivery,
}

/// A packet that was sent.
#[derive(Debug)]
pub(crate) struct SentPacket<P> {
    pub(crate) stamp: Stamp,
    pub(crate) bytes: u32,
    pub(super) fate: PacketFate,
    /// Its contents, as far as its sender has to remember them.
    pub(crate) content: P,
}

/// The assumed state of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketFate {
    /// On its way.
    Flying,
    /// Acknowledged while it counted as on its way.
    Acked,
    Lost,
    /// It asked for no acknowledgement, and is not missed.
    Quiet,
}

/// The new information in an acknowledgement. Packets that counted as lost already are no part of
/// it.
#[derive(Debug, Default)]
pub(crate) struct AckNews {
    /// Bytes delivered.
    pub(crate) bytes: u64,
    /// Packets delivered.
    pub(crate) packets: u64,
    /// The newest of them.
    pub(crate) newest: Option<(u64, Stamp)>,
    /// For a round trip sample: when the largest that it names was sent, if no earlier one named
    /// it (RFC 9002, 5.1). One that counted as lost gives a sample too.
    pub(crate) largest_sent: Option<Instant>,
}

impl<P> Default for Flight<P> {
    fn default() -> Self {
        Flight {
            packets: VecDeque::new(),
            first: 0,
            acked: Ranges::default(),
            acked_end: 0,
            in_flight: 0,
            sampled_at: Instant::NEVER,
            loss_at: Instant::NEVER,
            delivery: Delivery::default(),
        }
    }
}

impl<P> Flight<P> {
    /// Number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// All packets before this number are settled.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// One more than the largest number that was acknowledged.
    pub(crate) fn acked_end(&self) -> u64 {
        self.acked_end
    }

    /// Bytes on their way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivery.delivered()
    }

    /// The packets on their way, oldest first.
    pub(crate) fn flying(&self) -> impl Iterator<Item = &SentPacket<P>> {
        let packets = self.packets.iter();
        packets.filter(|sent| sent.fate == PacketFate::Flying)
    }

    /// The application had no data although more might have been in flight.
    pub(crate) fn limited_by_app(&mut self) {
        self.delivery.limited_by_app(self.in_flight);
    }

    /// A packet of `bytes` leaves.
    pub(crate) fn sent(&mut self, now: Instant, bytes: u32, content: P) {
        let stamp = self.delivery.stamp(now, self.in_flight == 0);
        self.in_flight += u64::from(bytes);
        self.push(stamp, bytes, PacketFate::Flying, content);
    }

    /// A packet leaves that asks for no acknowledgement, and counts neither as on its way nor as
    /// delivered.
    pub(crate) fn sent_quiet(&mut self, content: P) {
        if self.packets.is_empty() {
            self.first += 1;
        } else {
            self.push(Stamp::default(), 0, PacketFate::Quiet, content);
        }
    }

    fn push(&mut self, stamp: Stamp, bytes: u32, fate: PacketFate, content: P) {
        self.packets.push_back(SentPacket {
            stamp,
            bytes,
            fate,
            content,
        });
    }

    /// An acknowledgement names `ranges` of numbers, `start..end` from the highest down, the
    /// largest of them `largest`. Each that no earlier one named is given to `on_acked`. No effect
    /// if it names packets that were never sent.
    pub(crate) fn acknowledge(
        &mut self,
        now: Instant,
        largest: u64,
        ranges: impl Iterator<Item = (u64, u64)>,
        mut on_acked: impl FnMut(&P),
    ) -> Option<AckNews> {
        if largest >= self.next_number() {
            return None;
        }
        let mut news = AckNews {
            largest_sent: self.largest_sent(largest),
            ..AckNews::default()
        };
        if news.largest_sent.is_some() {
            self.sampled_at = self.sampled_at.min(now);
        }
        for (start, end) in ranges {
            let first = self.first;
            if start <= first && self.acked.is_empty() {
                self.acknowledge_front(end, &mut news, on_acked);
                break;
            }
            let packets = &mut self.packets;
            self.acked.insert(start.max(first), end, |from, to| {
                for number in from..to {
                    if let Some(sent) = packets.get_mut((number - first) as usize) {
                        on_acked(&sent.content);
                        news.credit(number, sent);
                    }
                }
            });
            if start <= first {
                break;
            }
        }
        self.in_flight -= news.bytes;
        self.acked_end = self.acked_end.max(largest + 1);
        Some(news)
    }

    /// All packets before `end` arrived, as in most cases: they are settled, and no ranges need be
    /// kept.
    fn acknowledge_front(&mut self, end: u64, news: &mut AckNews, mut on_acked: impl FnMut(&P)) {
        while self.first < end
            && let Some(mut sent) = self.packets.pop_front()
        {
            on_acked(&sent.content);
            news.credit(self.first, &mut sent);
            self.first += 1;
        }
    }

    fn largest_sent(&self, largest: u64) -> Option<Instant> {
        if largest < self.acked_end {
            return None;
        }
        let sent = self
            .packets
            .get(largest.checked_sub(self.first)? as usize)?;
        (sent.fate != PacketFate::Quiet).then_some(sent.stamp.sent)
    }

    /// A delivery rate sample, if `news` give one, and whether a packet-timed round trip is over.
    /// To be called once for all news, with the smallest round trip.
    pub(crate) fn deliver(
        &mut self,
        now: Instant,
        news: &AckNews,
        min_rtt: Duration,
    ) -> (Option<RateSample>, bool) {
        match &news.newest {
            Some((_, stamp)) => self.delivery.on_delivered(now, news.bytes, stamp, min_rtt),
            None => (None, false),
        }
    }
}

impl<P> Flight<P> {
    /// `bytes` of a packet that is no longer here were delivered, with no rate sample.
    pub(crate) fn count_delivered(&mut self, bytes: u32) {
        self.delivery.count(bytes.into());
    }

    /// The oldest packet and its number, which are forgotten: its fate no longer matters.
    pub(crate) fn pop(&mut self) -> Option<(u64, SentPacket<P>)> {
        let sent = self.packets.pop_front()?;
        if sent.fate == PacketFate::Flying {
            self.in_flight -= u64::from(sent.bytes);
        }
        self.first += 1;
        Some((self.first - 1, sent))
    }

    /// Forgets packets that left more than `span` ago.
    pub(crate) fn forget_older(&mut self, now: Instant, span: Duration) {
        while let Some(sent) = self.packets.front()
            && now.since(sent.stamp.sent) > span
        {
            self.pop();
        }
    }

    /// Forgets the settled packets at the front; lost ones only once a later one is acknowledged,
    /// so that packets given up too early by a timeout still give a round trip.
    pub(super) fn forget_settled(&mut self) {
        while let Some(sent) = self.packets.front() {
            let settled = match sent.fate {
                PacketFate::Flying => false,
                PacketFate::Lost => self.first < self.acked_end,
                PacketFate::Acked | PacketFate::Quiet => true,
            };
            if !settled {
                break;
            }
            self.packets.pop_front();
            self.first += 1;
        }
        self.acked.trim(self.first);
    }
}

impl AckNews {
    fn credit<P>(&mut self, number: u64, sent: &mut SentPacket<P>) {
        if sent.fate != PacketFate::Flying {
            return;
        }
        sent.fate = PacketFate::Acked;
        self.bytes += u64::from(sent.bytes);
        self.packets += 1;
        if self.newest.is_none_or(|(newest, _)| newest < number) {
            self.newest = Some((number, sent.stamp));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Six packets of 1000 B, one every 10 ms.
    pub(crate) fn six<P: Default>() -> Flight<P> {
        let mut flight = Flight::default();
        for number in 0..6 {
            flight.sent(ms(10 * number), 1_000, P::default());
        }
        flight
    }

    /// An acknowledgement that names `ranges`, from the highest down.
    pub(crate) fn acknowledge(flight: &mut Flight<()>, at: u64, ranges: &[(u64, u64)]) -> AckNews {
        let ranges = ranges.iter().copied();
        let largest = ranges.clone().next().unwrap().1 - 1;
        flight.acknowledge(ms(at), largest, ranges, |_| ()).unwrap()
    }

    #[test]
    fn each_packet_is_news_once() {
        let mut flight = six();
        let news = acknowledge(&mut flight, 100, &[(3, 4), (0, 1)]);
        assert_eq!((news.bytes, news.packets), (2_000, 2));
        assert_eq!(news.newest.map(|(number, _)| number), Some(3));
        assert_eq!(news.largest_sent, Some(ms(30)));
        let news = acknowledge(&mut flight, 110, &[(2, 4), (0, 1)]);
        assert_eq!(news.newest.map(|(number, _)| number), Some(2));
        assert_eq!(news.largest_sent, None, "3 was named before");
        assert_eq!(flight.in_flight(), 3_000);
        let news = acknowledge(&mut flight, 120, &[(0, 6)]);
        assert_eq!((news.bytes, flight.in_flight()), (3_000, 0));
        assert_eq!(acknowledge(&mut flight, 130, &[(0, 6)]).packets, 0);
    }

    #[test]
    fn contents_are_handed_out_once() {
        let mut flight = Flight::default();
        for number in 0..4 {
            flight.sent(ms(number), 1_000, number);
        }
        let mut acked = Vec::new();
        for (start, end) in [(1, 2), (0, 4)] {
            let ranges = core::iter::once((start, end));
            flight.acknowledge(ms(50), end - 1, ranges, |&content| acked.push(content));
        }
        assert_eq!(acked, [1, 0, 2, 3]);
    }

    #[test]
    fn packets_never_sent_cannot_be_acknowledged() {
        let mut flight: Flight<()> = six();
        let ranges = core::iter::once((0, 7));
        assert!(flight.acknowledge(ms(60), 6, ranges, |()| ()).is_none());
        assert_eq!(flight.in_flight(), 6_000);
    }

    #[test]
    fn rates_and_rounds() {
        let mut flight = six();
        let min = Duration::from_millis(100);
        let news = acknowledge(&mut flight, 100, &[(0, 1)]);
        let (rate, round_start) = flight.deliver(ms(100), &news, min);
        // Sent at 0, delivered at 100: 1000 B in 100 ms.
        assert_eq!(rate.unwrap().rate().as_bits(), 80_000);
        assert!(round_start);
        let news = acknowledge(&mut flight, 120, &[(0, 3)]);
        let (rate, round_start) = flight.deliver(ms(120), &news, min);
        // Packet 2 left when no bytes were delivered: 3000 B since 0, 120 ms ago.
        assert_eq!(rate.unwrap().rate().as_bits(), 200_000);
        assert!(!round_start, "it left before the first was delivered");
        flight.sent(ms(130), 1_000, ());
        let news = acknowledge(&mut flight, 230, &[(0, 7)]);
        let (rate, round_start) = flight.deliver(ms(230), &news, min);
        // 7000 − 3000 since 120: 4000 B in 110 ms.
        assert_eq!(rate.unwrap().rate().as_bits(), 290_909);
        assert!(round_start);
        assert_eq!(flight.delivered(), 7_000);
    }

    #[test]
    fn a_late_acknowledgement_after_a_timeout_still_gives_a_round_trip() {
        let mut flight = six();
        flight.lose_all();
        assert_eq!(flight.in_flight(), 0);
        flight.sent(ms(500), 1_000, ());
        let news = acknowledge(&mut flight, 800, &[(0, 6)]);
        assert_eq!((news.packets, news.largest_sent), (0, Some(ms(50))));
        assert_eq!(flight.in_flight(), 1_000);
    }

    #[test]
    fn quiet_packets_count_nowhere() {
        let mut flight: Flight<()> = Flight::default();
        flight.sent_quiet(());
        assert_eq!((flight.first(), flight.next_number()), (1, 1));
        flight.sent(ms(0), 1_000, ());
        flight.sent_quiet(());
        assert_eq!((flight.in_flight(), flight.flying().count()), (1_000, 1));
        let news = acknowledge(&mut flight, 40, &[(0, 3)]);
        assert_eq!((news.bytes, news.packets), (1_000, 1));
        assert_eq!(news.largest_sent, None, "it may have waited for company");
        flight.find_lost(ms(40), Duration::from_millis(45), |(), _| ());
        assert_eq!(flight.first(), 3);
    }

    #[test]
    fn old_packets_are_forgotten() {
        let mut flight: Flight<()> = six();
        flight.forget_older(ms(60_011), Duration::from_secs(60));
        // The first two left at 0 and 10.
        assert_eq!((flight.in_flight(), flight.first()), (4_000, 2));
        assert_eq!(flight.pop().map(|(number, _)| number), Some(2));
        assert_eq!((flight.in_flight(), flight.next_number()), (3_000, 6));
    }
}
