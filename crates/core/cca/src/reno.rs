//! `reno`: additive increase, multiplicative decrease.
//!
//! Principles: a lost packet is the only sign of congestion; the window grows by one segment a
//! round trip and halves on loss.
//! Not for: calls (it fills the buffer), long fat paths (recovery takes thousands of round trips).
//!
//! RFC 5681; appropriate byte counting with L = 2 in slow start (RFC 3465); Linux `tcp_cong.c`.

use crate::undo::Taken;
use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Reno has nothing to set.
    pub struct RenoParams {}
}

/// `reno` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "reno",
    summary: "one segment more per round trip, half the window on loss",
    about: "The window grows by its own size every round trip until the first loss, then by one \
        segment a round trip, and halves on every loss.\n\nNot for calls: it fills the buffer.",
    source: "RFC 5681, RFC 3465",
    params: RenoParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Reno::new(parts.settings, parts.setup)?)),
};

/// Reno's state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Reno {
    mss: u64,
    initial_window: u64,
    window: u64,
    threshold: u64,
    taken: Taken,
    /// Acknowledged since the window last grew, in congestion avoidance.
    credit: u64,
}

/// Linux's floor for the slow start threshold: two segments.
const MIN_SEGMENTS: u64 = 2;

impl Reno {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        RenoParams::parse(settings)?;
        Ok(Reno {
            mss: setup.mss,
            initial_window: setup.initial_window,
            window: setup.initial_window,
            threshold: u64::MAX,
            taken: Taken::default(),
            credit: 0,
        })
    }
}

/// Grows a window in slow start by the bytes acknowledged, up to `threshold`; returns the
/// acknowledged bytes that are left for congestion avoidance (Linux `tcp_slow_start`).
pub(crate) fn slow_start(window: &mut u64, threshold: u64, acked: u64) -> u64 {
    let grown = (*window + acked).min(threshold.max(*window));
    let used = grown - *window;
    *window = grown;
    acked - used
}

/// Grows a window in congestion avoidance by a segment for every `price` acknowledged bytes, with
/// the savings in `credit`. Savings for a higher price buy one segment at most (Linux
/// `tcp_cong_avoid_ai`).
pub(crate) fn avoid(window: &mut u64, credit: &mut u64, acked: u64, price: u64, mss: u64) {
    if *credit >= price {
        *credit = 0;
        *window += mss;
    }
    *credit += acked;
    *window += *credit / price * mss;
    *credit %= price;
}

impl Control for Reno {
    fn on_ack(&mut self, _now: Instant, ack: &Ack) {
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        let mut acked = ack.bytes;
        if self.in_slow_start() {
            acked = slow_start(&mut self.window, self.threshold, acked);
        }
        if acked == 0 {
            return;
        }
        self.credit += acked;
        if self.credit >= self.window {
            self.credit -= self.window;
            self.window += self.mss;
        }
    }

    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {
        self.threshold = (self.window / 2).max(MIN_SEGMENTS * self.mss);
        self.window = self.threshold;
        self.credit = 0;
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.taken.forget();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.taken.note(self.window, self.threshold);
        self.threshold = (self.window / 2).max(MIN_SEGMENTS * self.mss);
        self.window = self.mss;
        self.credit = 0;
    }

    fn on_spurious_timeout(&mut self, _now: Instant) {
        self.taken.give_back(&mut self.window, &mut self.threshold);
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        self.window = self.window.min(self.initial_window);
    }

    fn adopt(&mut self, window: u64) -> bool {
        self.window = window.max(MIN_SEGMENTS * self.mss);
        self.threshold = self.window;
        self.credit = 0;
        true
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signal;

    fn ack(bytes: u64) -> Ack {
        Ack {
            bytes,
            window_limited: true,
            ..Ack::default()
        }
    }

    #[test]
    fn doubles_then_halves_then_adds_one_segment_a_round() {
        let setup = Setup {
            mss: 1000,
            initial_window: 10_000,
            ..Setup::default()
        };
        let mut reno = Reno::new(&[], &setup).unwrap();
        let now = Instant::ZERO;
        for _ in 0..10 {
            reno.on_ack(now, &ack(1000));
        }
        assert_eq!(reno.window(), 20_000, "slow start doubles in a round");
        reno.on_congestion(
            now,
            &Congestion {
                signal: Signal::Loss,
                lost: 1000,
                in_flight: 19_000,
                min_rtt: Duration::ZERO,
            },
        );
        assert_eq!(reno.window(), 10_000);
        for _ in 0..10 {
            reno.on_ack(now, &ack(1000));
        }
        assert_eq!(reno.window(), 11_000, "one segment a round");
        reno.on_timeout(now, 5_000);
        assert_eq!((reno.window(), reno.threshold), (1000, 5_500));
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut reno = Reno::new(&[], &Setup::default()).unwrap();
        let idle = Ack {
            bytes: 1448,
            ..Ack::default()
        };
        reno.on_ack(Instant::ZERO, &idle);
        assert_eq!(reno.window(), Setup::default().initial_window);
    }
}
