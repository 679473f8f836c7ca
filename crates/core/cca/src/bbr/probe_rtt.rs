//! The smallest round trip, and seeing the empty path again when it has grown old.

use super::{Bbr, Mode};
use crate::Ack;
use units::Instant;

impl Bbr {
    /// The smallest round trip, and ProbeRtt when it has not been seen for too long (draft, 4.1.2,
    /// 4.3.5).
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &Ack) {
        let expired = self
            .min_rtt
            .is_some_and(|(_, seen)| now.since(seen) > self.params.min_rtt_window);
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|(min, _)| rtt <= min))
        {
            self.min_rtt = Some((rtt, now));
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_end = None;
            self.held_back.start(ack);
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(now, ack);
        }
        if ack.rate.is_some() {
            self.idle_restart = false;
        }
    }

    /// Four packets in flight for 200 ms and a round (draft, 4.3.5).
    fn probe_rtt(&mut self, now: Instant, ack: &Ack) {
        self.held_back.extend(ack);
        if self.probe_rtt_end.is_some() {
            self.probe_rtt_round |= self.round_start;
            if self.probe_rtt_round {
                self.leave_probe_rtt(now);
            }
        } else if ack.in_flight <= self.min_window() {
            self.probe_rtt_end = Some(now + self.params.probe_rtt_time);
            self.probe_rtt_round = false;
            self.round_end = ack.delivered;
        }
    }

    /// Ends ProbeRtt if its time is up.
    pub(super) fn leave_probe_rtt(&mut self, now: Instant) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        if let Some((_, seen)) = &mut self.min_rtt {
            *seen = now;
        }
        self.window = self.window.max(self.prior_window);
        self.leave_for_steady_state(now);
    }
}
