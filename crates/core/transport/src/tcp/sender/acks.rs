//! The sending half's processing of acknowledgements: round trips, losses, marks, and the control's
//! events.

use super::{Recovery, ReductionCause, Sender};
use crate::tcp::scoreboard::Acked;
use crate::wire::segment::Segment;
use cca::{Ack, Congestion, Signal};
use units::Instant;

impl Sender {
    /// An acknowledgement arrived, alone or with data.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Instant, segment: &Segment) {
        if segment.ack > self.next {
            return;
        }
        if self.board.is_empty() {
            self.resolve_probe(now, segment, &Acked::default());
            return;
        }
        let prior_in_flight = self.board.in_flight();
        let acked = self.board.acknowledge(segment);
        self.measure(now, segment, &acked);
        self.undo_timeout(now, segment, &acked);
        let repaired = self.leave_recovery(now);
        let lost = self.detect(now);
        if repaired && self.recovery.is_none() {
            self.control.on_recovered(now);
        }
        let marked = self.marks.take(segment, acked.bytes);
        if marked > 0 {
            self.answer_mark(now);
        }
        self.resolve_probe(now, segment, &acked);
        if let Some(recovery) = &mut self.recovery
            && acked.bytes > 0
        {
            let (in_flight, target) = (self.board.in_flight(), self.control.window());
            let progress = acked.advanced && lost == 0;
            let mss = u64::from(self.config.mss);
            recovery.on_delivered(acked.bytes, in_flight, target, progress, mss);
        }
        if acked.bytes > 0 || lost > 0 {
            self.tell_control(now, &acked, marked, prior_in_flight);
        }
        if acked.bytes > 0 {
            self.rearm(now, &acked);
        }
    }

    /// The timeout is put off by acknowledgements that move the left edge, or do not concern it
    /// yet. Those of later segments do: if they put the timeout off again and again, a lost
    /// retransmission would never time out (Linux `tcp_clean_rtx_queue`).
    fn rearm(&mut self, now: Instant, acked: &Acked) {
        let newest = acked.newest.as_ref();
        if acked.advanced || newest.is_some_and(|newest| self.board.is_before_head(newest)) {
            self.arm(now);
        } else {
            self.arm_probe(now);
        }
    }

    /// A round trip from the newest segment if it was sent once, otherwise from the time stamp.
    fn measure(&mut self, now: Instant, segment: &Segment, acked: &Acked) {
        if segment.duplicate && self.probe.is_none() {
            self.rack.on_duplicate(self.board.una(), self.next);
        }
        let Some(newest) = &acked.newest else {
            return;
        };
        let since = if newest.retransmitted {
            segment.echo
        } else {
            newest.stamp.sent
        };
        if since >= newest.stamp.sent {
            self.sample(now.since(since));
        }
        self.rack
            .on_delivered(now, newest, self.rtt.min, acked.reordered);
    }

    /// Finds losses, and answers the first of an episode. Returns the bytes.
    pub(super) fn detect(&mut self, now: Instant) -> u64 {
        let lost = if self.config.rack {
            let repairing = self
                .recovery
                .as_ref()
                .is_some_and(|recovery| recovery.cause != ReductionCause::Mark);
            let window = self.rack.reordering_window(
                self.board.sacked_segments(),
                repairing,
                self.rtt.min,
                self.rtt.srtt,
            );
            let (lost, again) = self.board.lose_by_time(now, &self.rack, window);
            self.timers.reordering = again;
            lost
        } else {
            self.board.lose_by_count(self.mss())
        };
        self.lost_untold += lost;
        if lost > 0 || self.board.missing_segments() > 0 {
            self.repair(now, lost);
        }
        lost
    }

    /// Fast recovery begins, unless something is being repaired already. It also begins if an
    /// episode has ended and data lost during it is still missing: that was another round trip's
    /// congestion (Linux `tcp_time_to_recover`, `lost_out`; RFC 6675, section 5, `IsLost`). A
    /// reduction in answer to a mark of the same round trip counts for the loss as well (Linux
    /// `tcp_enter_recovery`).
    fn repair(&mut self, now: Instant, lost: u64) {
        match &mut self.recovery {
            None => self.reduce(now, ReductionCause::Loss, lost),
            Some(recovery) if recovery.cause == ReductionCause::Mark => {
                recovery.cause = ReductionCause::Loss;
                recovery.until = self.next;
            }
            Some(_) => return,
        }
        self.stats.recoveries += 1;
        self.timers.probe = Instant::NEVER;
    }

    fn reduce(&mut self, now: Instant, cause: ReductionCause, lost: u64) {
        let prior = self.control.window();
        self.recovery = Some(Recovery::new(cause, self.next, prior, self.mss()));
        self.tell_reduced = self.marks.wants_cwr();
        let signal = if cause == ReductionCause::Mark {
            Signal::Mark
        } else {
            Signal::Loss
        };
        self.congestion(now, signal, lost);
    }

    fn congestion(&mut self, now: Instant, signal: Signal, lost: u64) {
        let congestion = Congestion {
            signal,
            lost,
            in_flight: self.board.in_flight(),
            min_rtt: self.rtt.min,
        };
        self.control.on_congestion(now, &congestion);
    }

    /// RFC 3168's answer is a recovery that rations sending; a scalable control is only notified.
    fn answer_mark(&mut self, now: Instant) {
        if !self.marks.scalable() {
            if self.recovery.is_none() {
                self.reduce(now, ReductionCause::Mark, 0);
            }
        } else if self.marks.is_news(self.board.una(), self.next) {
            self.congestion(now, Signal::Mark, 0);
        }
    }

    /// RFC 8985, 7.4.2 (Linux `tcp_process_tlp_ack`): a probe that repaired a loss unseen is a
    /// sign of congestion like any other. That it did is certain only once more than it covered is
    /// acknowledged: the word that it arrived twice may follow the acknowledgement.
    fn resolve_probe(&mut self, now: Instant, segment: &Segment, acked: &Acked) {
        let Some(probe) = self.probe else {
            return;
        };
        if segment.ack < probe.end {
            return;
        }
        if probe.repeated && !segment.duplicate {
            if segment.ack == probe.end && acked.bytes > 0 {
                return;
            }
            if segment.ack > probe.end && self.recovery.is_none() {
                self.congestion(now, Signal::Loss, self.mss());
                self.control.on_recovered(now);
                self.tell_reduced = self.marks.wants_cwr();
            }
        }
        self.probe = None;
    }

    /// The timer ran out too early if the acknowledgement that follows is of an earlier
    /// transmission: of data that was never sent again (RFC 5682, section 3.1; Linux
    /// `tcp_process_loss`), or, by its time stamp, of the first copy of data that was (RFC 3522).
    /// Then nothing was lost.
    fn undo_timeout(&mut self, now: Instant, segment: &Segment, acked: &Acked) {
        let timed_out = |recovery: &Recovery| recovery.cause == ReductionCause::Timeout;
        if !self.config.undo || !self.recovery.as_ref().is_some_and(timed_out) {
            return;
        }
        // The time stamp is that of the segment that moved the left edge, if any did (RFC 7323,
        // section 4.3).
        let first_copy = acked.advanced && segment.echo < self.repeats_since;
        if !acked.refound && !first_copy {
            return;
        }
        self.board.refind_all();
        self.recovery = None;
        self.timed_out = None;
        self.stats.spurious += 1;
        self.control.on_spurious_timeout(now);
        self.control.on_recovered(now);
    }

    /// Ends an episode in which everything was repaired. True if it was one of losses and the
    /// control is to be notified of its end, unless the next one begins at once.
    fn leave_recovery(&mut self, now: Instant) -> bool {
        let una = self.board.una();
        let over = self.recovery.as_ref().is_some_and(|recovery| {
            // Data beyond has to be acknowledged before the peer has heard of the reduction.
            let heard = u64::from(recovery.cause == ReductionCause::Mark);
            una >= recovery.until + heard
        });
        if !over {
            return false;
        }
        let cause = self.recovery.take().map(|recovery| recovery.cause);
        if cause != Some(ReductionCause::Mark) {
            self.rack.on_recovered();
        }
        if cause == Some(ReductionCause::Timeout) {
            self.control.on_recovered(now);
        }
        cause == Some(ReductionCause::Loss)
    }

    fn tell_control(&mut self, now: Instant, acked: &Acked, marked: u64, prior: u64) {
        let (mut rate, mut round_start, mut rtt, mut newest_sent) =
            (None, false, None, Instant::ZERO);
        if let Some(newest) = &acked.newest {
            newest_sent = newest.stamp.sent;
            rtt = (!newest.retransmitted).then(|| now.since(newest_sent));
            (rate, round_start) =
                self.delivery
                    .on_delivered(now, acked.bytes, &newest.stamp, self.rtt.min);
        }
        let (window, slow_start) = (self.control.window(), self.control.in_slow_start());
        let ack = Ack {
            bytes: acked.bytes,
            lost: core::mem::take(&mut self.lost_untold),
            rtt,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            prior_in_flight: prior,
            in_flight: self.board.in_flight(),
            delivered: self.delivery.delivered(),
            rate,
            round_start,
            newest_sent,
            in_recovery: self.recovery.as_ref().is_some_and(Recovery::rations),
            window_limited: self.usage.is_limited(window, slow_start),
            marked,
        };
        self.control.on_ack(now, &ack);
    }
}
