//! The path in the short term: the delivery of the last round, and the bounds from losses while the
//! sender does not probe (draft, 5.5.10.3); and the highest bandwidth of two cycles.

use super::{BETA, Bbr3, BbrState, UNBOUNDED, gained};
use crate::{Ack, Signal};
use units::{Instant, Rate};

/// The measurement of an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckSample {
    pub(super) rate: Rate,
    /// Delivered while the packet was under way.
    pub(super) delivered: u64,
    /// Delivered on the connection when the packet left.
    pub(super) prior_delivered: u64,
    /// The application, not the network, limited the rate.
    pub(super) app_limited: bool,
    /// In flight when the packet left, and lost since.
    pub(super) in_flight: u64,
    pub(super) lost: u64,
}

impl AckSample {
    /// More than two per cent of the flight was lost (draft: LossThresh).
    pub(super) fn loses_too_much(&self) -> bool {
        self.lost.saturating_mul(50) > self.in_flight
    }
}

/// The highest rate of this probing cycle and of the one before.
#[derive(Debug, Clone, Default)]
pub(super) struct MaxBandwidth {
    previous: Rate,
    current: Rate,
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> Rate {
        self.previous.max(self.current)
    }

    pub(super) fn add(&mut self, rate: Rate) {
        self.current = self.current.max(rate);
    }

    /// A cycle ends; one without samples does not count (Google `bbr_advance_max_bw_filter`).
    pub(super) fn advance(&mut self) {
        if self.current > Rate::default() {
            self.previous = self.current;
            self.current = Rate::default();
        }
    }
}

/// The most that was delivered in this round.
#[derive(Debug, Clone, Default)]
pub(super) struct Latest {
    pub(super) rate: Rate,
    pub(super) in_flight: u64,
}

/// Rounds with losses: such a round begins with its first loss.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    end: u64,
    /// The last acknowledgement ended one.
    pub(super) round_ended: bool,
    /// There was one in this round; in how many acknowledgements they showed, in start-up.
    pub(super) seen: bool,
    pub(super) events: u32,
}

/// Bounds on rate and flight until the next probe.
#[derive(Debug, Clone)]
pub(super) struct ShortTerm {
    pub(super) bandwidth: Rate,
    pub(super) in_flight: u64,
}

impl Default for ShortTerm {
    fn default() -> Self {
        ShortTerm {
            bandwidth: Rate::from_bits(UNBOUNDED),
            in_flight: UNBOUNDED,
        }
    }
}

impl Bbr3 {
    pub(super) fn take_sample(&mut self, ack: &Ack) {
        self.rounds.delivered = ack.delivered;
        self.sent.on_lost(ack.lost);
        if let Some((in_flight, lost)) = self.sent.since(ack.newest_sent) {
            (self.sample.in_flight, self.sample.lost) = (in_flight, lost);
        }
        if let Some(rate) = ack.rate {
            self.sample.rate = rate.rate();
            self.sample.delivered = rate.delivered;
            self.sample.prior_delivered = rate.prior_delivered;
            self.sample.app_limited = rate.app_limited || self.held_back.covers(&rate);
        }
    }

    /// A loss or a mark (draft, 5.5.10.2: NoteLoss, HandleLostPacket).
    pub(super) fn note_congestion(&mut self, now: Instant, ack: &Ack) {
        let noticed = self.noticed.take();
        if noticed.is_none() && ack.lost == 0 {
            return;
        }
        if !self.losses.seen {
            self.losses.end = ack.delivered;
            self.losses.seen = true;
        }
        self.losses.events += u32::from(ack.lost > 0);
        if noticed == Some(Signal::Mark) {
            if self.state == BbrState::Startup {
                self.leave_startup_congested();
            }
            self.flight_was_too_high(now, self.sample.in_flight);
        } else if self.sample.loses_too_much() {
            self.flight_was_too_high(now, self.flight_at_loss(ack.lost));
        }
    }

    pub(super) fn update_latest(&mut self, ack: &Ack) {
        self.latest.rate = self.latest.rate.max(self.sample.rate);
        self.latest.in_flight = self.latest.in_flight.max(self.sample.delivered);
        if self.sample.prior_delivered >= self.losses.end {
            self.losses.end = ack.delivered;
            self.losses.round_ended = true;
        }
    }

    /// The next round begins with the measurement of this acknowledgement.
    pub(super) fn advance_latest(&mut self) {
        if self.losses.round_ended {
            self.latest.rate = self.sample.rate;
            self.latest.in_flight = self.sample.delivered;
        }
    }

    /// Draft, 5.5.1.
    pub(super) fn update_round(&mut self) {
        if self.sample.prior_delivered >= self.rounds.end {
            self.rounds.start();
            self.rounds.count += 1;
            self.rounds.ended = true;
            self.cycle.rounds += 1;
        }
    }

    /// A sample that the application limited counts only if it raises the estimate (draft, 5.5.4).
    pub(super) fn update_bandwidth(&mut self) {
        if !self.sample.app_limited || self.sample.rate >= self.max_bandwidth.get() {
            self.max_bandwidth.add(self.sample.rate);
        }
    }

    /// Once a round with losses, outside of probes: down to the delivered amount, but by three
    /// tenths at most (draft, 5.5.10.3).
    pub(super) fn adapt_to_losses(&mut self) {
        if !self.losses.round_ended {
            return;
        }
        if self.losses.seen && !self.state.is_accelerating() {
            let bounds = &mut self.short_term;
            let rate = bounds.bandwidth.min(self.max_bandwidth.get());
            bounds.bandwidth = gained(rate, BETA).max(self.latest.rate);
            if bounds.in_flight == UNBOUNDED {
                bounds.in_flight = self.window;
            }
            let least = bounds.in_flight / BETA.1 * BETA.0;
            bounds.in_flight = least.max(self.latest.in_flight);
        }
        self.losses.seen = false;
    }

    /// Forgets the signals of the last round.
    pub(super) fn reset_signals(&mut self) {
        self.losses.seen = false;
        self.latest = Latest::default();
    }
}
