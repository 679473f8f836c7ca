//! Packets under way: what the receiver's reports say of them.
//!
//! Acknowledgements give delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation-02)
//! and packet-timed rounds; a packet is lost when one sent three later was acknowledged or 9/8
//! round trips have passed since it was sent and a later one was acknowledged (RFC 9002, 6.1).

use super::{Acks, Arrivals};
use crate::rtt::Rtt;
use cca::{Arrival, RateSample};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// `kPacketThreshold` of RFC 9002, 6.1.1.
const THRESHOLD: u64 = 3;
/// What no report speaks of for so long is forgotten (libwebrtc `kSendTimeHistoryWindow`).
const REMEMBERED: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
struct Sent {
    len: u32,
    at: Instant,
    probe: Option<u32>,
    state: State,
    /// The session's state at sending, for the rate sample.
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    app_limited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Flying,
    Lost,
    Done,
}

/// All packets from the first that is still under way.
#[derive(Debug)]
pub struct Flight {
    /// Sequence number of the first of `sent`.
    base: u64,
    sent: VecDeque<Sent>,
    in_flight: u64,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Until so much is delivered, samples are limited by the application; 0 for not.
    app_limited: u64,
    /// The round ends with the first acknowledgement of a packet sent when so much was delivered.
    round_end: u64,
    /// One more than the largest acknowledged.
    acked: u64,
    marked: u64,
    loss_due: Instant,
}

/// What an acknowledgement says.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// Bytes newly delivered.
    pub bytes: u64,
    /// Bytes newly delivered with Congestion Experienced.
    pub marked: u64,
    /// Of the newest packet, where it is newly acknowledged.
    pub rtt: Option<Duration>,
    /// Delivery rate, where there is a sample.
    pub rate: Option<RateSample>,
    /// A packet-timed round trip has passed.
    pub round_start: bool,
    /// When the newest of the newly delivered was sent.
    pub newest_sent: Instant,
}

/// Packets that were found lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The last of them.
    pub newest: u64,
}

impl Default for Flight {
    fn default() -> Self {
        Flight {
            base: 0,
            sent: VecDeque::new(),
            in_flight: 0,
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            app_limited: 0,
            round_end: 0,
            acked: 0,
            marked: 0,
            loss_due: Instant::NEVER,
        }
    }
}

impl Flight {
    /// The sequence number of the next packet.
    pub fn next_sequence(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    /// One more than the largest sequence number that was acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes under way.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When a packet may have to be declared lost.
    pub fn loss_due(&self) -> Instant {
        self.loss_due
    }

    /// The application had nothing to send although more might have been under way.
    pub fn limited_by_application(&mut self) {
        self.app_limited = (self.delivered + self.in_flight).max(1);
    }

    /// A packet leaves; it has the number [`next_sequence`](Self::next_sequence) gave before.
    pub fn sent(&mut self, now: Instant, len: u32, probe: Option<u32>) {
        if self.in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        while let Some(packet) = self.sent.front()
            && now.since(packet.at) > REMEMBERED
        {
            if packet.state == State::Flying {
                self.in_flight -= u64::from(packet.len);
            }
            self.sent.pop_front();
            self.base += 1;
        }
        self.in_flight += u64::from(len);
        self.sent.push_back(Sent {
            len,
            at: now,
            probe,
            state: State::Flying,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited != 0,
        });
    }

    /// An acknowledgement; nothing where it says nothing new.
    pub fn acknowledge(&mut self, now: Instant, acks: &Acks, rtt: &mut Rtt) -> Option<Delivery> {
        if acks.largest >= self.next_sequence() {
            return None;
        }
        let latest = self.newest_rtt(now, acks);
        let sample = latest.map(|latest| rtt.sample(latest, acks.delay));
        let before = self.delivered;
        let mut newest = None;
        for sequence in self.base..=acks.largest {
            let Some(packet) = self.sent.get_mut((sequence - self.base) as usize) else {
                break;
            };
            if packet.state == State::Flying && acks.has(sequence) {
                packet.state = State::Done;
                newest = Some(*packet);
                self.in_flight -= u64::from(packet.len);
                self.delivered += u64::from(packet.len);
            }
        }
        self.acked = self.acked.max(acks.largest + 1);
        let bytes = self.delivered - before;
        let newest = newest?;
        self.delivered_at = now;
        let round_start = newest.delivered >= self.round_end;
        if round_start {
            self.round_end = self.delivered;
        }
        let marked = acks.marked.saturating_sub(self.marked).min(bytes);
        self.marked = self.marked.max(acks.marked);
        Some(Delivery {
            bytes,
            marked,
            rtt: sample,
            rate: self.rate_sample(now, &newest, rtt.min),
            round_start,
            newest_sent: newest.at,
        })
    }

    /// Round trip of the largest, if this is its first acknowledgement. One that was thought lost
    /// counts too: no packet goes twice under one number.
    fn newest_rtt(&mut self, now: Instant, acks: &Acks) -> Option<Duration> {
        if acks.largest < self.acked {
            return None;
        }
        let packet = self
            .sent
            .get((acks.largest.checked_sub(self.base)?) as usize)?;
        Some(now.since(packet.at))
    }

    fn rate_sample(
        &mut self,
        now: Instant,
        newest: &Sent,
        min_rtt: Duration,
    ) -> Option<RateSample> {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.first_sent = newest.at;
        let sending = newest.at.since(newest.first_sent);
        let interval = now.since(newest.delivered_at).max(sending);
        (interval >= min_rtt && interval > Duration::ZERO).then(|| RateSample {
            delivered: self.delivered - newest.delivered,
            interval,
            prior_delivered: newest.delivered,
            app_limited: newest.app_limited,
        })
    }

    /// Finds what is lost by now, and forgets what is settled.
    pub fn find_losses(&mut self, now: Instant, rtt: &Rtt) -> Losses {
        let mut losses = Losses::default();
        let patience = rtt.loss_delay();
        self.loss_due = Instant::NEVER;
        for (packet, sequence) in self.sent.iter_mut().zip(self.base..self.acked) {
            if packet.state != State::Flying {
                continue;
            }
            let due = packet.at + patience;
            if self.acked > sequence + THRESHOLD || due <= now {
                packet.state = State::Lost;
                self.in_flight -= u64::from(packet.len);
                losses.packets += 1;
                losses.bytes += u64::from(packet.len);
                losses.newest = sequence;
            } else {
                self.loss_due = self.loss_due.min(due);
            }
        }
        self.settle();
        losses
    }

    /// Everything under way is presumed lost.
    pub fn lose_all(&mut self) {
        for packet in &mut self.sent {
            if packet.state == State::Flying {
                packet.state = State::Lost;
            }
        }
        self.in_flight = 0;
        self.loss_due = Instant::NEVER;
    }

    /// Forgets the settled packets at the front; lost ones only once a later one is acknowledged,
    /// so that what a timeout wrongly gave up still gives a round trip.
    fn settle(&mut self) {
        while let Some(packet) = self.sent.front() {
            if packet.state == State::Flying || self.base >= self.acked {
                break;
            }
            self.sent.pop_front();
            self.base += 1;
        }
    }

    /// Arrival times: appends to `out` what a control wants to know. Returns the round trip of the
    /// newest that arrived. Packets that only a lost report spoke of are passed over in silence,
    /// as libwebrtc does.
    pub fn report(
        &mut self,
        now: Instant,
        report: &Arrivals,
        out: &mut Vec<Arrival>,
    ) -> Option<Duration> {
        let mut rtt = None;
        let end = report.base.checked_add(report.received.len() as u64)?;
        if end > self.next_sequence() {
            return None;
        }
        while self.base < end
            && let Some(packet) = self.sent.pop_front()
        {
            let sequence = self.base;
            self.base += 1;
            self.in_flight -= u64::from(packet.len);
            let Some(index) = sequence.checked_sub(report.base) else {
                continue;
            };
            let received = report.received[index as usize];
            if received.is_some() {
                self.delivered += u64::from(packet.len);
                rtt = Some(now.since(packet.at).saturating_sub(report.delay));
            }
            out.push(Arrival {
                sequence,
                bytes: packet.len,
                sent: packet.at,
                received,
                probe: packet.probe,
            });
        }
        rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::Floor;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn rtt() -> Rtt {
        Rtt::new(Duration::from_secs(1), Floor::Sum(Duration::ZERO))
    }

    fn acks(largest: u64, before: u64) -> Acks {
        Acks {
            largest,
            before: [before, 0],
            delay: Duration::ZERO,
            marked: 0,
        }
    }

    /// Six packets of 1000 B, one every 10 ms.
    fn flight() -> Flight {
        let mut flight = Flight::default();
        for sequence in 0..6 {
            flight.sent(ms(10 * sequence), 1_000, None);
        }
        flight
    }

    #[test]
    fn rate_samples_and_rounds() {
        let (mut flight, mut rtt) = (flight(), rtt());
        let first = flight.acknowledge(ms(100), &acks(0, 0), &mut rtt).unwrap();
        // Sent at 0, delivered at 100: 1000 B in 100 ms.
        let sample = first.rate.unwrap();
        assert_eq!(sample.rate().as_bits(), 80_000);
        assert!(first.round_start && !sample.app_limited);
        let second = flight
            .acknowledge(ms(120), &acks(2, 0b11), &mut rtt)
            .unwrap();
        assert_eq!((second.bytes, second.newest_sent), (2_000, ms(20)));
        // Packet 2 left when nothing was delivered: 3000 B since 0, 120 ms ago.
        assert_eq!(second.rate.unwrap().rate().as_bits(), 200_000);
        assert!(
            !second.round_start,
            "it left before the first was delivered"
        );
        flight.sent(ms(130), 1_000, None);
        let third = flight
            .acknowledge(ms(230), &acks(6, 0b111), &mut rtt)
            .unwrap();
        assert!(third.round_start);
        // 7000 − 3000 since 120: 4000 B in 110 ms.
        assert_eq!(third.rate.unwrap().rate().as_bits(), 290_909);
        assert_eq!(flight.in_flight(), 0);
        assert!(
            flight
                .acknowledge(ms(231), &acks(6, 0b111), &mut rtt)
                .is_none()
        );
    }

    #[test]
    fn lost_by_number_or_by_time() {
        let (mut flight, mut rtt) = (flight(), rtt());
        // Packets 0 and 2 are missing; 3 arrived: 3 − 0 is the threshold.
        flight.acknowledge(ms(130), &acks(3, 0b10), &mut rtt);
        let expected = Losses {
            packets: 1,
            bytes: 1_000,
            newest: 0,
        };
        assert_eq!(flight.find_losses(ms(130), &rtt), expected);
        // Packet 2 left at 20; 9/8 of the round trip of 100 ms later it is lost.
        assert_eq!(flight.loss_due(), Instant::from_nanos(132_500_000));
        assert_eq!(flight.find_losses(flight.loss_due(), &rtt).newest, 2);
        assert_eq!((flight.in_flight(), flight.delivered()), (2_000, 2_000));
    }

    #[test]
    fn a_late_acknowledgement_after_a_timeout_still_gives_a_round_trip() {
        let (mut flight, mut rtt) = (flight(), rtt());
        flight.lose_all();
        assert_eq!(flight.in_flight(), 0);
        flight.sent(ms(500), 1_000, None);
        assert!(
            flight
                .acknowledge(ms(800), &acks(5, 0b11111), &mut rtt)
                .is_none()
        );
        assert_eq!(rtt.srtt, Duration::from_millis(750));
        assert_eq!(flight.in_flight(), 1_000);
    }

    #[test]
    fn samples_of_an_application_without_data_say_so() {
        let (mut flight, mut rtt) = (Flight::default(), rtt());
        flight.sent(ms(0), 1_000, None);
        flight.limited_by_application();
        flight.sent(ms(10), 1_000, None);
        let limited = |delivery: Option<Delivery>| delivery.unwrap().rate.unwrap().app_limited;
        assert!(!limited(flight.acknowledge(ms(50), &acks(0, 0), &mut rtt)));
        assert!(limited(flight.acknowledge(ms(60), &acks(1, 1), &mut rtt)));
        flight.sent(ms(60), 1_000, None);
        assert!(!limited(flight.acknowledge(ms(110), &acks(2, 3), &mut rtt)));
    }

    #[test]
    fn arrivals_are_told_once_and_in_order() {
        let mut flight = flight();
        let report = Arrivals {
            base: 1,
            received: vec![Some(ms(60)), None, Some(ms(80))],
            delay: Duration::from_millis(5),
        };
        let mut out = Vec::new();
        // Packet 3 left at 30: 125 − 30 − 5.
        let rtt = flight.report(ms(125), &report, &mut out);
        assert_eq!(rtt, Some(Duration::from_millis(90)));
        let told: Vec<_> = out.iter().map(|a| (a.sequence, a.received)).collect();
        assert_eq!(told, [(1, Some(ms(60))), (2, None), (3, Some(ms(80)))]);
        assert_eq!(flight.in_flight(), 2_000);
        out.clear();
        assert_eq!(flight.report(ms(125), &report, &mut out), None);
        assert!(out.is_empty());
    }

    #[test]
    fn what_is_never_reported_is_forgotten_after_a_minute() {
        let mut flight = flight();
        flight.sent(ms(60_020), 1_000, None);
        // The first two left at 0 and 10.
        assert_eq!((flight.in_flight(), flight.sent.len()), (5_000, 5));
        assert_eq!(flight.next_sequence(), 7);
    }

    #[test]
    fn reports_of_packets_never_sent_are_ignored() {
        let (mut flight, mut rtt) = (flight(), rtt());
        assert!(flight.acknowledge(ms(60), &acks(6, 0), &mut rtt).is_none());
        let report = Arrivals {
            base: u64::MAX,
            received: vec![None; 2],
            delay: Duration::ZERO,
        };
        assert!(flight.report(ms(60), &report, &mut Vec::new()).is_none());
        assert_eq!(flight.in_flight(), 6_000);
    }
}
