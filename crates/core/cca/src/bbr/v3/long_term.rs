//! How much may be in flight in the long term: learnt from probes that lost too much, and raised
//! by probes that did not (draft, 5.3.3.9 and 5.5.10.2).

use super::{BETA, Bbr3, BbrState, UNBOUNDED};
use crate::Ack;

/// The bound, and how a probe raises it.
#[derive(Debug, Clone)]
pub(super) struct LongTerm {
    /// Bytes; [`UNBOUNDED`] before a probe has lost too much.
    pub(super) in_flight: u64,
    /// Acknowledged bytes for which the bound grows by a segment, and those counted so far.
    per_segment: u64,
    acked: u64,
    /// Rounds for which this probe has been raising it.
    pub(super) rounds: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        LongTerm {
            in_flight: UNBOUNDED,
            per_segment: UNBOUNDED,
            acked: 0,
            rounds: 0,
        }
    }
}

impl LongTerm {
    /// Raises the slope: 1, 2, 4, … segments in successive rounds.
    pub(super) fn steepen(&mut self, window: u64, mss: u64) {
        self.per_segment = (window >> self.rounds).max(mss);
        self.rounds = (self.rounds + 1).min(30);
    }

    pub(super) fn stop_growing(&mut self) {
        self.per_segment = UNBOUNDED;
    }

    pub(super) fn restart(&mut self) {
        (self.rounds, self.acked) = (0, 0);
    }

    pub(super) fn grow(&mut self, acked: u64, mss: u64) {
        self.acked = self.acked.saturating_add(acked);
        let segments = self.acked / self.per_segment;
        self.acked %= self.per_segment;
        self.in_flight = self.in_flight.saturating_add(segments * mss);
    }

    /// The bound less fifteen per cent, at least a segment, which others may use (draft:
    /// InflightWithHeadroom).
    pub(super) fn with_headroom(&self, mss: u64, least: u64) -> u64 {
        if self.in_flight == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = (self.in_flight / 100 * 15).max(mss);
        self.in_flight.saturating_sub(headroom).max(least)
    }
}

impl Bbr3 {
    /// The bytes in flight when losses reached two per cent of them, `lost` of them just now. With
    /// x of the latter: (lost before + x) / (in flight before + x) = 0.02 (draft: InflightAtLoss).
    pub(super) fn flight_at_loss(&self, lost: u64) -> u64 {
        let flight = self.sample.in_flight.saturating_sub(lost);
        let lost_before = self.sample.lost.saturating_sub(lost);
        flight + (2 * flight).saturating_sub(100 * lost_before) / 98
    }

    /// A probe has lost too much with `in_flight`: the bound, once a probe (draft:
    /// HandleInflightTooHigh).
    pub(super) fn flight_was_too_high(&mut self, now: units::Instant, in_flight: u64) {
        if !self.cycle.samples_probe {
            return;
        }
        self.cycle.samples_probe = false;
        self.cycle.went_too_high = true;
        if !self.sample.app_limited {
            let least = self.target_flight() / BETA.1 * BETA.0;
            self.long_term.in_flight = in_flight.max(least);
        }
        if self.state == BbrState::Up {
            self.start_down(now);
        }
    }

    /// Raises the bound to a number of bytes in flight that did not lose too much (draft:
    /// AdaptLongTermModel).
    pub(super) fn raise_bound(&mut self, ack: &Ack) {
        if self.long_term.in_flight == UNBOUNDED || self.sample.loses_too_much() {
            return;
        }
        self.long_term.in_flight = self.long_term.in_flight.max(self.sample.in_flight);
        if self.state == BbrState::Up && self.bound_limits(ack) {
            self.long_term.grow(ack.bytes, self.setup.mss);
            if self.rounds.ended {
                self.long_term.steepen(self.window, self.setup.mss);
            }
        }
    }

    /// Whether the bound, not the bandwidth, limits the bytes in flight.
    pub(super) fn bound_limits(&self, ack: &Ack) -> bool {
        ack.window_limited && self.window >= self.long_term.in_flight
    }
}
