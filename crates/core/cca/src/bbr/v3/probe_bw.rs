//! ProbeBW: DOWN, CRUISE, REFILL, UP, and when (draft, 5.3.3).

use super::{Bbr3, BbrState};
use crate::Ack;
use units::{Duration, Instant};

/// Time without a probe is two seconds and up to one more, by chance (draft, 5.3.3.8.2: T_bbr).
const WAIT: Duration = Duration::from_secs(2);
const WAIT_SPREAD: u64 = 1_000_000_000;
/// On a short path a probe comes after as many rounds as there are segments in flight, when Reno
/// would lose, and after this many at most (draft, 5.3.3.8.2: T_reno).
const MOST_ROUNDS: u64 = 63;

/// The phase of the sender between two probes.
#[derive(Debug, Clone, Default)]
pub(super) struct Cycle {
    /// When DOWN began, and how long after it the next probe comes at the latest.
    start: Instant,
    wait: Duration,
    /// Rounds since then, and one at the start by chance.
    pub(super) rounds: u64,
    /// Acknowledgements are still for packets of a probe that has ended (draft, 2.14: ack_phase is
    /// ACKS_PROBE_STOPPING; its other values decide nothing).
    stopping: bool,
    /// Acknowledgements are for packets of a probe that has not lost too much yet.
    pub(super) samples_probe: bool,
    /// The last probe lost too much.
    pub(super) went_too_high: bool,
    /// It ended at once when the bound was reached, because the one before had lost too much.
    pub(super) was_careful: bool,
}

impl Bbr3 {
    /// The bandwidth-delay product, unless less may be in flight.
    pub(super) fn target_flight(&self) -> u64 {
        self.bdp(self.bandwidth(), super::ONE).min(self.window)
    }

    /// DOWN begins with the next round, as far as rounds are concerned.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.reset_signals();
        self.long_term.stop_growing();
        self.cycle.rounds = self.random.below(2);
        self.cycle.wait = WAIT + Duration::from_nanos(self.random.below(WAIT_SPREAD));
        self.cycle.start = now;
        self.stop_probe();
        self.state = BbrState::Down;
    }

    /// Samples of the probe come for one more round.
    pub(super) fn stop_probe(&mut self) {
        self.cycle.stopping = true;
        self.rounds.start();
    }

    fn start_refill(&mut self) {
        self.short_term = super::ShortTerm::default();
        self.long_term.restart();
        self.cycle.was_careful = false;
        self.cycle.stopping = false;
        self.rounds.start();
        self.state = BbrState::Refill;
    }

    fn start_up(&mut self) {
        self.cycle.samples_probe = true;
        self.cycle.stopping = false;
        self.rounds.start();
        self.plateau.restart(self.sample.rate);
        self.long_term.steepen(self.window, self.setup.mss);
        self.state = BbrState::Up;
    }

    /// Draft, 5.3.3.9: UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, now: Instant, ack: &Ack) {
        if !self.filled {
            return;
        }
        if self.probe_has_ended() {
            self.start_refill();
            return;
        }
        self.raise_bound(ack);
        match self.state {
            BbrState::Down | BbrState::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            BbrState::Down if self.is_drained(ack) => self.state = BbrState::Cruise,
            BbrState::Refill if self.rounds.ended => self.start_up(),
            BbrState::Up => self.probe(now, ack),
            _ => {}
        }
    }

    /// The last sample of a probe ends the cycle of the bandwidth. Whether to probe again at once:
    /// a careful probe has lost little.
    fn probe_has_ended(&mut self) -> bool {
        if !self.cycle.stopping || !self.rounds.ended {
            return false;
        }
        self.cycle.samples_probe = false;
        self.cycle.stopping = false;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !self.sample.app_limited {
            self.max_bandwidth.advance();
        }
        self.cycle.was_careful && !self.cycle.went_too_high
    }

    pub(super) fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = (self.target_flight() / self.setup.mss).min(MOST_ROUNDS);
        now > self.cycle.start + self.cycle.wait || self.cycle.rounds >= rounds
    }

    /// The queue is empty, and there is room for others.
    fn is_drained(&self, ack: &Ack) -> bool {
        let headroom = self
            .long_term
            .with_headroom(self.setup.mss, self.min_window());
        let product = self.bdp(self.max_bandwidth.get(), super::ONE);
        ack.in_flight <= headroom.min(self.with_budget(product))
    }

    /// UP lasts until more in flight brings no more, or reaches the amount that lost too much last
    /// time (draft: IsTimeToGoDown).
    fn probe(&mut self, now: Instant, ack: &Ack) {
        let careful = self.cycle.went_too_high && ack.in_flight >= self.long_term.in_flight;
        if !careful && self.bound_limits(ack) {
            self.plateau.restart(self.sample.rate);
        }
        if careful || self.plateau.reached {
            self.cycle.was_careful |= careful;
            self.cycle.went_too_high = false;
            self.start_down(now);
        }
    }
}
