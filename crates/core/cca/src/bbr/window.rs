//! How much may be in flight.

use super::{Bbr, BbrRepair, Mode};
use crate::Ack;
use units::Duration;

impl Bbr {
    /// Adds the amount that end systems hold back to a number of bytes in flight: three times the
    /// size of a burst (draft, 4.2.2 and 4.2.3.2), and two segments so that probing exceeds even a
    /// small product (Linux `bbr_quantization_budget`).
    pub(super) fn with_budget(&self, bytes: u64) -> u64 {
        let mss = self.setup.mss;
        let quantum = match self.pacing.as_bits() {
            0..1_200_000 => mss,
            1_200_000..24_000_000 => 2 * mss,
            _ => self.pacing.bytes_in(Duration::from_millis(1)).min(64 << 10),
        };
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        let held = 3 * quantum + if probing { 2 * mss } else { 0 };
        bytes.saturating_add(held)
    }

    /// The window (draft, 4.2.3).
    pub(super) fn set_window(&mut self, ack: &Ack) {
        if ack.bytes > 0 {
            self.window = self.window.saturating_sub(ack.lost).max(self.setup.mss);
            if self.repair == BbrRepair::Entering {
                self.repair = BbrRepair::Conserving;
                self.round_end = ack.delivered;
                self.window = ack.in_flight + ack.bytes;
            }
            if self.repair == BbrRepair::Conserving {
                self.window = self.window.max(ack.in_flight + ack.bytes);
            } else {
                self.approach_target(ack);
            }
        }
        self.cap_window();
    }

    /// Grows towards the window gain's share by the bytes acknowledged, or falls to it.
    fn approach_target(&mut self, ack: &Ack) {
        let (_, gain) = self.gains();
        let mut target = self.bdp(gain);
        if self.params.extra_acked && self.full.reached {
            target = target.saturating_add(self.aggregation.extra(self.bandwidth.get()));
        }
        target = self.with_budget(target);
        if self.full.reached {
            self.window = (self.window + ack.bytes).min(target);
        } else if self.window < target || ack.delivered < self.setup.initial_window {
            self.window += ack.bytes;
        }
        self.window = self.window.max(self.min_window());
    }

    pub(super) fn cap_window(&mut self) {
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(self.min_window());
        }
    }

    pub(super) fn restore_window(&mut self) {
        if self.repair != BbrRepair::Nothing {
            self.repair = BbrRepair::Nothing;
            self.window = self.window.max(self.prior_window);
            self.cap_window();
        }
    }

    /// Remembers a window that is about to be cut for a while.
    pub(super) fn save_window(&mut self) {
        let intact = self.repair == BbrRepair::Nothing && self.mode != Mode::ProbeRtt;
        let cut = if intact { 0 } else { self.prior_window };
        self.prior_window = self.window.max(cut);
    }
}
