//! The smallest round trip, and ProbeRTT, which shows it again (draft, 5.3.4).

use super::{Bbr3, BbrState, PROBE_RTT_WINDOW};
use crate::Ack;
use units::{Duration, Instant};

/// At least so long between two ProbeRTT (draft, 2.16.2: ProbeRTTInterval; all senders need the
/// same).
const INTERVAL: Duration = Duration::from_secs(5);

/// The smallest round trips: of the long window, which the model uses, and of the interval, which
/// decides when ProbeRTT is due; each with when it was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct MinRtt {
    model: Option<(Duration, Instant)>,
    recent: Option<(Duration, Instant)>,
    /// `recent` was too old when the last acknowledgement came.
    expired: bool,
    /// When the present ProbeRTT may end, once little enough is in flight; and whether a round has
    /// passed since.
    end: Option<Instant>,
    round_passed: bool,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.model.map(|(rtt, _)| rtt)
    }

    fn update(&mut self, now: Instant, rtt: Option<Duration>, window: Duration) {
        self.expired = self.recent.is_some_and(|(_, seen)| now > seen + INTERVAL);
        if let Some(rtt) = rtt
            && (self.expired || self.recent.is_none_or(|(least, _)| rtt < least))
        {
            self.recent = Some((rtt, now));
        }
        let Some((recent, _)) = self.recent else {
            return;
        };
        if self
            .model
            .is_none_or(|(least, seen)| recent < least || now > seen + window)
        {
            self.model = self.recent;
        }
    }
}

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &Ack) {
        self.min_rtt
            .update(now, ack.rtt, self.params.min_rtt_window);
    }

    /// Half a product in flight.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.bandwidth(), PROBE_RTT_WINDOW)
            .max(self.min_window())
    }

    pub(super) fn check_probe_rtt(&mut self, now: Instant, ack: &Ack) {
        if self.min_rtt.expired && !self.idle_restart && self.state != BbrState::ProbeRtt {
            self.save_window();
            self.state = BbrState::ProbeRtt;
            self.min_rtt.end = None;
            self.held_back.start(ack);
            self.stop_probe();
        }
        if self.state == BbrState::ProbeRtt {
            self.probe_rtt(now, ack);
        }
        if ack.rate.is_some() {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, now: Instant, ack: &Ack) {
        self.held_back.extend(ack);
        if self.min_rtt.end.is_some() {
            self.min_rtt.round_passed |= self.rounds.ended;
            if self.min_rtt.round_passed {
                self.leave_probe_rtt(now);
            }
        } else if ack.in_flight <= self.probe_rtt_window() {
            self.min_rtt.end = Some(now + self.params.probe_rtt_time);
            self.min_rtt.round_passed = false;
            self.rounds.start();
        }
    }

    /// Ends ProbeRTT if its time is up: straight to CRUISE, since the queue is empty.
    pub(super) fn leave_probe_rtt(&mut self, now: Instant) {
        if self.min_rtt.end.is_none_or(|end| now <= end) {
            return;
        }
        if let Some((_, seen)) = &mut self.min_rtt.recent {
            *seen = now;
        }
        self.short_term = super::ShortTerm::default();
        if self.filled {
            self.start_down(now);
            self.state = BbrState::Cruise;
        } else {
            self.state = BbrState::Startup;
        }
        self.restore_window();
    }
}
