//! How fast and how much: pacing rate and window (draft, 4.6).

use super::{Bbr3, BbrState, Gain, STARTUP_PACING, UNBOUNDED, gained};
use crate::Ack;
use crate::bbr::{MARGIN, MIN_SEGMENTS};
use units::{Duration, Rate};

impl Bbr3 {
    /// From the initial window, before a rate has been measured.
    pub(super) fn first_pacing(&self, rtt: Duration) -> Rate {
        gained(Rate::from_bytes_over(self.window, rtt), STARTUP_PACING)
    }

    /// The pacing rate; until the pipe has been full it only grows.
    pub(super) fn set_pacing(&mut self, srtt: Duration) {
        if !self.seen_rtt && srtt > Duration::ZERO {
            self.seen_rtt = true;
            self.pacing = self.first_pacing(srtt);
        }
        let (gain, _) = self.state.gains();
        let rate = gained(gained(self.bandwidth(), gain), MARGIN);
        if self.filled || rate > self.pacing {
            self.pacing = rate;
        }
    }

    pub(super) fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.setup.mss
    }

    /// `gain` bandwidth-delay products; the initial window while there is no round trip.
    pub(super) fn bdp(&self, rate: Rate, gain: Gain) -> u64 {
        match self.min_rtt.get() {
            Some(rtt) => gained(rate, gain).bytes_in(rtt),
            None => self.setup.initial_window,
        }
    }

    /// At least the amount that end systems hold back, three times the size of a burst, and two
    /// segments more in UP (draft, 5.6.4.2: QuantizationBudget).
    pub(super) fn with_budget(&self, bytes: u64) -> u64 {
        let mss = self.setup.mss;
        let quantum = self.pacing.bytes_in(Duration::from_millis(1)).min(64 << 10);
        let least = (3 * quantum.max(2 * mss)).max(self.min_window());
        let probing = if self.state == BbrState::Up {
            2 * mss
        } else {
            0
        };
        bytes.max(least).saturating_add(probing)
    }

    fn max_flight(&self) -> u64 {
        let (_, gain) = self.state.gains();
        let mut bytes = self.bdp(self.bandwidth(), gain);
        if self.params.extra_acked {
            bytes = bytes.saturating_add(self.aggregation.extra(self.bandwidth()));
        }
        self.with_budget(bytes)
    }

    /// The window (draft, 5.6.4.6): grows by the bytes acknowledged towards the product times the
    /// gain, within the bounds.
    pub(super) fn set_window(&mut self, ack: &Ack) {
        let most = self.max_flight();
        if self.filled {
            self.window = (self.window + ack.bytes).min(most);
        } else if self.window < most || ack.delivered < self.setup.initial_window {
            self.window += ack.bytes;
        }
        self.window = self.window.max(self.min_window());
        if self.state == BbrState::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.bound_window();
    }

    /// Draft, 5.6.4.7.
    fn bound_window(&mut self) {
        let mss = self.setup.mss;
        let long_term = match self.state {
            BbrState::Startup | BbrState::Drain => UNBOUNDED,
            BbrState::Down | BbrState::Refill | BbrState::Up => self.long_term.in_flight,
            BbrState::Cruise | BbrState::ProbeRtt => {
                self.long_term.with_headroom(mss, self.min_window())
            }
        };
        let bound = long_term.min(self.short_term.in_flight);
        self.window = self.window.min(bound.max(self.min_window()));
    }

    /// Remembers a window that is about to be cut for a while.
    pub(super) fn save_window(&mut self) {
        let intact = !self.repairing && self.state != BbrState::ProbeRtt;
        let cut = if intact { 0 } else { self.prior_window };
        self.prior_window = self.window.max(cut);
    }

    /// As far as the model allows by now.
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
        if self.filled {
            self.window = self.window.min(self.max_flight());
        }
        self.bound_window();
    }
}
