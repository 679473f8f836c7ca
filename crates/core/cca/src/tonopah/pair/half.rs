//! What looks like a control of its own to one subflow's part of a transport.

use super::{Pair, Reaction, Subflow};
use crate::{Ack, Congestion, Control, ControlPhase, EcnMode, Notice, Signal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Instant, Rate};

/// One subflow's view of a [`Pair`].
pub(super) struct Half {
    pair: Arc<Mutex<Pair>>,
    subflow: Subflow,
}

impl Half {
    /// That of `subflow`.
    pub(super) fn new(pair: Arc<Mutex<Pair>>, subflow: Subflow) -> Self {
        Half { pair, subflow }
    }

    /// The lock is held for no longer than a call.
    fn pair(&self) -> MutexGuard<'_, Pair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Control for Half {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        self.pair().sent(now, self.subflow, bytes, in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.pair().acked(now, self.subflow, ack);
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        let mut pair = self.pair();
        pair.sides[self.subflow as usize].in_flight = congestion.in_flight;
        // Lost data was sent before the data that revealed the loss. One subflow may report long
        // after the other, because it sends less.
        let newest = pair.sides[self.subflow as usize].newest;
        if pair.is_news(now, |_, since| newest <= since) {
            pair.detector.congested(congestion.signal);
            let congestion = Congestion {
                in_flight: pair.in_flight(),
                min_rtt: pair.min_rtt,
                ..*congestion
            };
            pair.congested(now, &congestion);
        }
    }

    fn on_lost(&mut self, sent_at: Instant) {
        self.pair().detector.lost(sent_at);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.pair().each(|control| control.on_recovered(now));
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u64) {
        let mut pair = self.pair();
        pair.sides[self.subflow as usize].in_flight = in_flight;
        if pair.is_news(now, |pair, since| now.since(since) <= pair.srtt()) {
            pair.detector.congested(Signal::Loss);
            let in_flight = pair.in_flight();
            pair.each(|control| control.on_timeout(now, in_flight));
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let pair = self.pair();
        let other = match &pair.reaction {
            Reaction::Switch(other) => other.next_timer(),
            Reaction::Reduce(_) => None,
        };
        pair.base.next_timer().into_iter().chain(other).min()
    }

    fn on_timer(&mut self, now: Instant) {
        self.pair().each(|control| {
            if control.next_timer().is_some_and(|at| at <= now) {
                control.on_timer(now);
            }
        });
    }

    fn window(&self) -> u64 {
        self.pair().window_of(self.subflow)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pair().rate_of(self.subflow)
    }

    fn release(&self) -> Option<Instant> {
        self.pair().release()
    }

    fn in_slow_start(&self) -> bool {
        self.pair().ruling().in_slow_start()
    }

    fn phase(&self) -> ControlPhase {
        self.pair().ruling().phase()
    }

    fn ecn(&self) -> EcnMode {
        self.pair().base.ecn()
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.pair().notices.pop_front()
    }
}
