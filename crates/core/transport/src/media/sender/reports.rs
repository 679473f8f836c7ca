//! Processing of the receiver's reports, acknowledgements or arrival times, and of their absence.

use super::MediaSender;
use crate::flight::Flight;
use crate::media::{Acks, Arrivals};
use cca::{Ack, Arrival, Congestion, EcnMode, Probe, Signal};
use units::{Duration, Instant};

impl MediaSender {
    /// Handles arrival times: the control is told of every packet that they mention.
    pub(super) fn on_arrivals(&mut self, now: Instant, report: &Arrivals) {
        self.arrivals.clear();
        if let Some(rtt) = settle(&mut self.flight, now, report, &mut self.arrivals) {
            // The wait for the report is known and regular: none of it is part of the sample.
            self.rtt.sample(rtt, Duration::ZERO);
        }
        let missing = self.arrivals.iter().filter(|a| a.received.is_none());
        self.stats.lost += missing.count() as u64;
        if !self.arrivals.is_empty() {
            self.control.on_arrivals(now, &self.arrivals);
        }
    }

    /// An acknowledgement arrived.
    pub(super) fn on_acks(&mut self, now: Instant, acks: &Acks) {
        let prior_in_flight = self.flight.in_flight();
        let acknowledged = self
            .flight
            .acknowledge(now, acks.largest, acks.ranges(), |_| ());
        let Some(news) = acknowledged else {
            return;
        };
        let latest = news.largest_sent.map(|sent| now.since(sent));
        let rtt = latest.map(|latest| self.rtt.sample(latest, acks.delay));
        let Some((_, newest)) = news.newest else {
            return;
        };
        let (rate, round_start) = self.flight.deliver(now, &news, self.rtt.min);
        let marked = acks.marked.saturating_sub(self.marked).min(news.bytes);
        self.marked = self.marked.max(acks.marked);
        self.rtt.restart();
        if self.recovery.acknowledged(self.flight.acked_end()) {
            self.control.on_recovered(now);
        }
        self.marks.acknowledged(self.flight.acked_end());
        let lost = self.find_losses(now);
        if marked > 0 {
            let newest = self.flight.acked_end().saturating_sub(1);
            self.congestion(now, Signal::Mark, newest, 0);
        }
        let (window, slow_start) = (self.control.window(), self.control.in_slow_start());
        let window_limited = self.pacer.window_limited(round_start, slow_start, window);
        let ack = Ack {
            bytes: news.bytes,
            lost,
            rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            prior_in_flight,
            in_flight: self.flight.in_flight(),
            delivered: self.flight.delivered(),
            rate,
            round_start,
            newest_sent: newest.sent,
            in_recovery: self.recovery.is_active(),
            window_limited,
            marked,
        };
        self.control.on_ack(now, &ack);
        self.arm_rto(now);
    }

    /// Looks for losses and reports the first in a round trip to the control; returns their bytes.
    pub(super) fn find_losses(&mut self, now: Instant) -> u64 {
        let losses = self.flight.find_lost(now, self.rtt.loss_delay(), |_, _| ());
        self.stats.lost += losses.packets;
        if losses.packets > 0 {
            self.congestion(now, Signal::Loss, losses.newest, losses.bytes);
        }
        losses.bytes
    }

    fn congestion(&mut self, now: Instant, signal: Signal, sequence: u64, lost: u64) {
        let next = self.flight.next_number();
        let episode = match (self.mode, signal) {
            (EcnMode::Scalable, Signal::Mark) => &mut self.marks,
            _ => &mut self.recovery,
        };
        if !episode.enter(signal, sequence, next) {
            return;
        }
        self.stats.congestions += 1;
        self.control.on_congestion(
            now,
            &Congestion {
                signal,
                lost,
                in_flight: self.flight.in_flight(),
                min_rtt: self.rtt.min,
            },
        );
    }

    /// The timeout starts anew, if there are packets to wait for.
    pub(super) fn arm_rto(&mut self, now: Instant) {
        self.rto_due = if self.wants == cca::Feedback::Acks && self.flight.in_flight() > 0 {
            now + self.rtt.timeout()
        } else {
            Instant::NEVER
        };
    }

    /// No feedback for too long: all packets in flight are taken for lost.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        let in_flight = self.flight.in_flight();
        self.flight.lose_all();
        self.recovery.timed_out(self.flight.next_number());
        self.rtt.back_off();
        self.stats.timeouts += 1;
        self.control.on_timeout(now, in_flight);
        self.arm_rto(now);
    }
}

/// Moves the packets that a report mentions from the flight into `out`. Returns the round trip of
/// the newest that arrived. Packets that only a lost report mentioned are skipped silently, as
/// libwebrtc does.
fn settle(
    flight: &mut Flight<Option<Probe>>,
    now: Instant,
    report: &Arrivals,
    out: &mut Vec<Arrival>,
) -> Option<Duration> {
    let end = report.base.checked_add(report.received.len() as u64)?;
    if end > flight.next_number() {
        return None;
    }
    let mut rtt = None;
    while flight.first() < end
        && let Some((sequence, packet)) = flight.pop()
    {
        let Some(index) = sequence.checked_sub(report.base) else {
            continue;
        };
        let (bytes, sent) = (packet.bytes, packet.stamp.sent);
        let received = report.received[index as usize];
        if received.is_some() {
            flight.count_delivered(bytes);
            rtt = Some(now.since(sent).saturating_sub(report.delay));
        }
        out.push(Arrival {
            sequence,
            bytes,
            sent,
            received,
            probe: packet.content,
        });
    }
    rtt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::tests::{ms, six};

    #[test]
    fn arrivals_are_told_once_and_in_order() {
        let mut flight = six();
        let report = Arrivals {
            base: 1,
            received: vec![Some(ms(60)), None, Some(ms(80))],
            delay: Duration::from_millis(5),
        };
        let mut out = Vec::new();
        // Packet 3 left at 30: 125 − 30 − 5.
        let rtt = settle(&mut flight, ms(125), &report, &mut out);
        assert_eq!(rtt, Some(Duration::from_millis(90)));
        let told: Vec<_> = out.iter().map(|a| (a.sequence, a.received)).collect();
        assert_eq!(told, [(1, Some(ms(60))), (2, None), (3, Some(ms(80)))]);
        assert_eq!((flight.in_flight(), flight.delivered()), (2_000, 2_000));
        out.clear();
        assert_eq!(settle(&mut flight, ms(125), &report, &mut out), None);
        assert!(out.is_empty());
    }

    #[test]
    fn reports_of_packets_never_sent_are_ignored() {
        let mut flight = six();
        for base in [5, u64::MAX] {
            let report = Arrivals {
                base,
                received: vec![None; 2],
                delay: Duration::ZERO,
            };
            let mut out = Vec::new();
            assert!(settle(&mut flight, ms(60), &report, &mut out).is_none());
            assert!(out.is_empty());
        }
        assert_eq!(flight.in_flight(), 6_000);
    }
}
