//! The sending half's processing of acknowledgements: round trips, losses, marks, and the control's
//! events.

use super::{PacketContent, QuicSender};
use crate::flight::AckNews;
use crate::loss::Losses;
use crate::quic::acks::{ArrivedPackets, MAX_ACK_DELAY};
use crate::quic::streams::SendStreams;
use crate::recovery::RecoveryPeriod;
use crate::wire::quic::Ack;
use cca::{Congestion, Signal};
use units::{Duration, Instant};

/// Probe timeouts of loss that make congestion persistent (`kPersistentCongestionThreshold`).
const PERSISTENT: u64 = 3;

impl QuicSender {
    /// An acknowledgement arrived.
    pub(in crate::quic) fn on_ack(
        &mut self,
        now: Instant,
        ack: &Ack,
        streams: &mut SendStreams,
        arrivals: &mut ArrivedPackets,
    ) {
        let prior_in_flight = self.in_flight();
        let on_acked = |content: &PacketContent| {
            for frame in content.frames.iter() {
                streams.on_acked(frame);
            }
            arrivals.forget_below(content.told);
        };
        let ranges = ack.ranges();
        let Some(news) = self.flight.acknowledge(now, ack.largest, ranges, on_acked) else {
            return;
        };
        let rtt = self.measure(now, ack, &news);
        if news.newest.is_some() {
            self.rtt.restart();
            self.leave_recovery(now);
        }
        let lost = self.find_lost(now, streams);
        let marked = self.count_marks(now, ack, &news);
        if news.bytes > 0 || lost > 0 {
            self.tell_control(now, &news, rtt, prior_in_flight, marked);
        }
        self.arm_probe(now);
    }

    /// The peer held the acknowledgement back no longer than it may.
    fn measure(&mut self, now: Instant, ack: &Ack, news: &AckNews) -> Option<Duration> {
        let latest = now.since(news.largest_sent?);
        let held = Duration::from_micros(ack.delay.into()).min(self.rtt.ack_delay);
        Some(self.rtt.sample(latest, held))
    }

    /// Finds losses, and answers the first of a recovery period. Returns the bytes.
    pub(super) fn find_lost(&mut self, now: Instant, streams: &mut SendStreams) -> u64 {
        let prior_in_flight = self.in_flight();
        let (stats, control) = (&mut self.stats, &mut self.control);
        let on_lost = |content: &PacketContent, left: Instant| {
            control.on_lost(left);
            for frame in content.frames.iter() {
                streams.on_lost(frame);
            }
            stats.retransmits += u64::from(!content.frames.is_empty());
        };
        let losses = self.flight.find_lost(now, self.rtt.loss_delay(), on_lost);
        if losses.bytes > 0 {
            self.lost_untold += losses.bytes;
            self.on_lost(now, &losses, prior_in_flight);
        }
        losses.bytes
    }

    fn on_lost(&mut self, now: Instant, losses: &Losses, prior_in_flight: u64) {
        let next = self.next_number();
        if self.recovery.enter(Signal::Loss, losses.newest, next) {
            self.stats.recoveries += 1;
            self.rescue = true;
            self.tell_congestion(now, Signal::Loss, losses.bytes);
        }
        // RFC 9002, 7.6.
        if losses.span > (self.rtt.bound() + MAX_ACK_DELAY) * PERSISTENT {
            self.stats.timeouts += 1;
            self.recovery = RecoveryPeriod::default();
            self.control.on_timeout(now, prior_in_flight);
        }
    }

    fn tell_congestion(&mut self, now: Instant, signal: Signal, lost: u64) {
        let congestion = Congestion {
            signal,
            lost,
            in_flight: self.in_flight(),
            min_rtt: self.rtt.min,
        };
        self.control.on_congestion(now, &congestion);
    }

    fn leave_recovery(&mut self, now: Instant) {
        let acked = self.flight.acked_end();
        self.marked.acknowledged(acked);
        if self.recovery.acknowledged(acked) {
            self.control.on_recovered(now);
        }
    }

    /// RFC 9002, 7.1: the peer's count of marks grew. Returns the bytes that were marked: it is not
    /// known which packets were, so their share is applied to the bytes delivered. A scalable
    /// control repairs nothing after a mark, and hears of losses nonetheless.
    fn count_marks(&mut self, now: Instant, ack: &Ack, news: &AckNews) -> u64 {
        let marks = ack.marks.saturating_sub(self.marks);
        let Some((newest, _)) = news.newest else {
            return 0;
        };
        if marks == 0 {
            return 0;
        }
        self.marks = ack.marks;
        let next = self.next_number();
        let period = if self.scalable {
            &mut self.marked
        } else {
            &mut self.recovery
        };
        if period.enter(Signal::Mark, newest, next) {
            self.tell_congestion(now, Signal::Mark, 0);
        }
        news.bytes * u64::from(marks).min(news.packets) / news.packets
    }

    fn tell_control(
        &mut self,
        now: Instant,
        news: &AckNews,
        rtt: Option<Duration>,
        prior_in_flight: u64,
        marked: u64,
    ) {
        let (rate, round_start) = self.flight.deliver(now, news, self.rtt.min);
        let (window, slow_start) = (self.control.window(), self.control.in_slow_start());
        let ack = cca::Ack {
            bytes: news.bytes,
            lost: core::mem::take(&mut self.lost_untold),
            rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            prior_in_flight,
            in_flight: self.in_flight(),
            delivered: self.flight.delivered(),
            rate,
            round_start,
            newest_sent: news.newest.map_or(Instant::ZERO, |(_, stamp)| stamp.sent),
            in_recovery: self.recovery.is_active(),
            window_limited: self.usage.is_limited(window, slow_start),
            marked,
        };
        self.control.on_ack(now, &ack);
    }
}
