//! Start-up, which a plateau or losses end, and draining (draft, 5.3.1 and 5.3.2).

use super::{Aggregation, Bbr3, BbrState};
use crate::Ack;
use units::Instant;

/// Acknowledgements with losses in a round, from which on start-up may end for them (Google
/// `bbr_full_loss_cnt`).
const LOSS_EVENTS: u32 = 6;
/// Rounds after which draining ends, regardless of the flight.
const DRAIN_ROUNDS: u64 = 3;
/// In start-up the allowance for bunches is that of the last rounds (draft, 5.5.9).
pub(super) const AGGREGATION_ROUNDS: u32 = 1;

impl Bbr3 {
    /// Three rounds without a quarter more (draft, 5.3.1.2).
    pub(super) fn check_plateau(&mut self) {
        if self.plateau.reached || !self.rounds.ended || self.sample.app_limited {
            return;
        }
        self.plateau.on_round(self.sample.rate);
        self.filled = self.filled || self.plateau.reached;
    }

    /// Start-up ends at the plateau, or with a round of a repair that lost more than two per cent,
    /// and not in one burst (draft, 5.3.1.3).
    pub(super) fn check_startup(&mut self, ack: &Ack) {
        if self.losses.round_ended {
            let too_many = self.losses.events >= LOSS_EVENTS && self.sample.loses_too_much();
            if self.state == BbrState::Startup && ack.in_recovery && too_many {
                self.leave_startup_congested();
            }
            self.losses.events = 0;
        }
        if self.state == BbrState::Startup && self.filled {
            self.state = BbrState::Drain;
            self.drain_start = self.rounds.count;
            self.aggregation.slot_rounds = Aggregation::SLOT_ROUNDS;
        }
    }

    /// Leaves start-up for congestion. The larger of the product and the bytes delivered in a round
    /// becomes the long-term bound.
    pub(super) fn leave_startup_congested(&mut self) {
        self.filled = true;
        let product = self.bdp(self.bandwidth(), super::ONE);
        self.long_term.in_flight = product.max(self.latest.in_flight);
    }

    pub(super) fn check_drain(&mut self, now: Instant, ack: &Ack) {
        if self.state != BbrState::Drain {
            return;
        }
        let product = self.with_budget(self.bdp(self.bandwidth(), super::ONE));
        if ack.in_flight <= product || self.rounds.count > self.drain_start + DRAIN_ROUNDS {
            self.start_down(now);
        }
    }
}
