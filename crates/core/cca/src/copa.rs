//! `copa`: a target rate that falls with the queueing delay, approached ever faster.
//!
//! Principles: a flow aims to send at 1/(δ·dq) packets a second, dq being the delay that it sees
//! above the least one; it moves its window towards that rate, by more the longer it has moved the
//! same way. Flows then share fairly and keep about 1/δ packets each in the queue. If the queue is
//! never seen empty, a sender that fills buffers must be there, and δ follows additive increase and
//! multiplicative decrease to hold out against it. Not for: paths whose delay varies much for
//! reasons other than queues.
//!
//! V. Arun and H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
//! NSDI 2018. Additions where the paper's steps alone would oscillate or mistake themselves for
//! competition:
//!
//! - the velocity is reset as soon as the wanted direction turns, not at the round's end, as in
//!   Meta's mvfst;
//! - the window never more than doubles or halves in a round trip (`step`);
//! - a queue counts as nearly empty up to half of the packets that the flow aims to keep, and
//!   while the flow itself moves it (`choose_mode`);
//! - a window that the application does not use does not grow (`room`).

use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of Copa.
    pub struct CopaParams {
        /// Weight of delay against rate: a flow keeps about 1/delta packets in the queue.
        delta: f64 = "0.5", range "0.01".."10", source "NSDI 2018, section 2.1";
        /// Compete with senders that fill the buffer, if the queue is never seen empty.
        mode_switching: bool = "yes", source "NSDI 2018, section 2.2";
    }
}

/// `copa` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "copa",
    summary: "a target rate from the queueing delay, low delay and fair",
    about: "The window moves towards the rate 1/(delta x queueing delay), faster the longer it has \
        moved the same way; each flow keeps about 1/delta packets in the queue.\n\nIf the queue is \
        not seen nearly empty for five round trips, delta adapts as Reno's window would, to \
        compete with senders that fill the buffer.\n\nOutside that mode, Copa ignores loss, except \
        for timeouts.\n\nNot for paths whose delay varies for reasons other than queues.",
    source: "Arun and Balakrishnan, NSDI 2018",
    params: CopaParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Copa::new(parts.settings, parts.setup)?)),
};

/// How long the least round trip is remembered (section 2.1).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips over which the greatest round trip is taken (section 2.2).
const MAX_RTT_ROUNDS: u64 = 4;
/// Round trips within which the queue must be seen nearly empty (section 2.2).
const EMPTY_ROUNDS: u64 = 5;
/// Rounds in one direction before the velocity doubles (section 2.1).
const STEADY_ROUNDS: u32 = 3;
/// The authors' least window, in segments.
const MIN_SEGMENTS: f64 = 2.0;

/// Copa's state. Sizes in bytes, as fractions because single steps are below a byte.
#[derive(Debug, Clone)]
pub struct Copa {
    params: CopaParams,
    mss: f64,
    /// The encoder's rate before the first round trip.
    initial_rate: Rate,
    window: f64,
    slow_start: bool,
    /// δ in force: the parameter, or less in competitive mode.
    delta: f64,
    competitive: bool,
    /// When the queue was last seen nearly empty.
    empty_at: Instant,
    velocity: f64,
    direction: WindowDirection,
    /// Rounds for which the direction has been the same.
    steady: u32,
    /// The window when this round began.
    round_window: f64,
    /// Most bytes in flight in this round and in the last one.
    used: [u64; 2],
    rtt_min: Least,
    rtt_standing: Least,
    /// Holds `u64::MAX − rtt`, so that its least is the greatest round trip.
    rtt_max: Least,
}

/// The direction of the window over a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WindowDirection {
    Up,
    Down,
    None,
}

impl Copa {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = CopaParams::parse(settings)?;
        Ok(Copa {
            mss: setup.mss as f64,
            initial_rate: setup.initial_rate,
            window: setup.initial_window as f64,
            slow_start: true,
            delta: params.delta,
            params,
            competitive: false,
            empty_at: Instant::ZERO,
            velocity: 1.0,
            direction: WindowDirection::None,
            steady: 0,
            round_window: setup.initial_window as f64,
            used: [0; 2],
            rtt_min: Least::default(),
            rtt_standing: Least::default(),
            rtt_max: Least::default(),
        })
    }

    /// Takes a round trip sample into the three filters.
    fn sample(&mut self, now: Instant, rtt: Duration, srtt: Duration) {
        let ns = rtt.as_nanos();
        self.rtt_min.push(now, ns, MIN_RTT_WINDOW);
        self.rtt_standing.push(now, ns, srtt / 2);
        self.rtt_max.push(now, u64::MAX - ns, srtt * MAX_RTT_ROUNDS);
    }

    /// RTTstanding and the queueing delay above RTTmin, in nanoseconds, once there is a sample.
    fn delays(&self) -> Option<(u64, u64)> {
        let standing = self.rtt_standing.get()?;
        Some((standing, standing.saturating_sub(self.rtt_min.get()?)))
    }

    /// Section 2.2: a queue that is not seen nearly empty for five round trips is being filled by
    /// another sender. The paper's "nearly empty" is a tenth of the swing of the round trip, which
    /// on a slow link is less than one packet and never seen; so half of the packets that the flow
    /// aims to keep in the queue are allowed for. And it speaks of flows near their target: in slow
    /// start, and while the velocity grows, a flow takes longer to drain its own packets.
    fn choose_mode(&mut self, now: Instant, standing: u64, queueing: u64, srtt: Duration) {
        let (Some(min), Some(flipped)) = (self.rtt_min.get(), self.rtt_max.get()) else {
            return;
        };
        let swing = ((u64::MAX - flipped).saturating_sub(min)) as f64;
        let packet = standing as f64 * self.mss / self.window;
        let slack = 0.1 * swing + packet / (2.0 * self.params.delta);
        let moving = self.slow_start || self.velocity > 1.0;
        if queueing as f64 <= slack || (moving && !self.competitive) {
            self.empty_at = now;
        }
        let competitive =
            self.params.mode_switching && now.since(self.empty_at) > srtt * EMPTY_ROUNDS;
        if !competitive {
            self.delta = self.params.delta;
        }
        self.competitive = competitive;
    }

    /// A round trip has passed: the velocity doubles after three in one direction (section 2.1),
    /// and 1/δ grows by one in competitive mode (section 2.2).
    fn on_round(&mut self, in_recovery: bool) {
        let direction = if self.window > self.round_window {
            WindowDirection::Up
        } else if self.window < self.round_window {
            WindowDirection::Down
        } else {
            WindowDirection::None
        };
        if direction == self.direction && direction != WindowDirection::None {
            self.steady += 1;
            if self.steady >= STEADY_ROUNDS {
                self.velocity *= 2.0;
            }
        } else {
            self.turn(direction);
        }
        self.round_window = self.window;
        self.used = [0, self.used[0]];
        if self.competitive && !in_recovery {
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
        }
    }

    fn turn(&mut self, direction: WindowDirection) {
        self.direction = direction;
        self.steady = 0;
        self.velocity = 1.0;
        self.round_window = self.window;
    }

    /// How far the window may grow. An application that sends less than the window sees no queue,
    /// which would let the window grow without bound: it may reach twice the largest number in
    /// flight in this round and the last, so that slow start can still double.
    fn room(&self) -> f64 {
        let used = self.used[0].max(self.used[1]) as f64;
        (2.0 * used - self.window).max(0.0)
    }

    /// Moves the window towards the target rate for `acked` bytes (section 2.1, steps 2 and 3).
    fn step(&mut self, acked: f64, standing: u64, queueing: u64) {
        // rate ≤ target: cwnd/RTTstanding ≤ mss/(δ·dq), without dividing by a dq of zero.
        let below = self.window * self.delta * queueing as f64 <= self.mss * standing as f64;
        if self.slow_start && below {
            self.window += acked.min(self.room());
            return;
        }
        self.slow_start = false;
        let (wanted, other) = if below {
            (WindowDirection::Up, WindowDirection::Down)
        } else {
            (WindowDirection::Down, WindowDirection::Up)
        };
        if self.direction == other && self.velocity > 1.0 {
            // A velocity gathered the other way would overshoot.
            self.turn(wanted);
        }
        // v/(δ·cwnd) packets for each acknowledged one. Over a round of cwnd₀ packets that makes
        // cwnd² = cwnd₀² ± 2·cwnd₀·v/δ: 3/2 or 3/8 of cwnd₀ for v/δ double or halve the window.
        let most = self.round_window / self.mss * if below { 1.5 } else { 0.375 };
        let speed = (self.velocity / self.delta).min(most);
        let change = speed * self.mss * acked / self.window;
        if below {
            self.window += change.min(self.room());
        } else {
            self.window = (self.window - change).max(MIN_SEGMENTS * self.mss);
        }
    }
}

impl Control for Copa {
    fn on_sent(&mut self, _now: Instant, _bytes: u64, in_flight: u64) {
        self.used[0] = self.used[0].max(in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.used[0] = self.used[0].max(ack.prior_in_flight);
        if let Some(rtt) = ack.rtt {
            self.sample(now, rtt, ack.srtt);
        }
        let Some((standing, queueing)) = self.delays() else {
            return;
        };
        self.choose_mode(now, standing, queueing, ack.srtt);
        if ack.round_start {
            self.on_round(ack.in_recovery);
        }
        self.step(ack.bytes as f64, standing, queueing);
    }

    /// Loss and marks matter in competitive mode only, where 1/δ halves (section 2.2).
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {
        if self.competitive {
            self.delta = (self.delta * 2.0).min(self.params.delta);
        }
    }

    fn on_timeout(&mut self, now: Instant, _in_flight: u64) {
        self.window = MIN_SEGMENTS * self.mss;
        self.round_window = self.window;
        self.slow_start = true;
        self.delta = self.params.delta;
        self.competitive = false;
        self.empty_at = now;
        self.turn(WindowDirection::None);
    }

    fn on_idle_restart(&mut self, now: Instant, _idle: Duration) {
        // The queue was not observed in the meantime.
        self.empty_at = now;
        self.turn(WindowDirection::None);
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    /// 2·cwnd/RTTstanding (section 2.1): no bursts, and the window remains the limit.
    fn pacing_rate(&self) -> Option<Rate> {
        let standing = self.rtt_standing.get()?;
        Some(Rate::from_bytes_over(
            2 * self.window(),
            Duration::from_nanos(standing),
        ))
    }

    fn media_rate(&self, _srtt: Duration) -> Rate {
        self.rtt_standing.get().map_or(self.initial_rate, |round| {
            Rate::from_bytes_over(self.window(), Duration::from_nanos(round))
        })
    }

    fn in_slow_start(&self) -> bool {
        self.slow_start
    }

    fn uses_prr(&self) -> bool {
        false
    }
}

/// The least value over a sliding window of time: values that a later, smaller one outlives are
/// forgotten at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Least {
    /// Rising in both time and value.
    values: VecDeque<(Instant, u64)>,
}

/// A window is remembered in at most this many steps.
const STEPS: u64 = 256;

impl Least {
    pub(crate) fn push(&mut self, now: Instant, value: u64, window: Duration) {
        while self
            .values
            .front()
            .is_some_and(|&(at, _)| now.since(at) > window)
        {
            self.values.pop_front();
        }
        while self.values.back().is_some_and(|&(_, kept)| kept >= value) {
            self.values.pop_back();
        }
        if let Some(&(at, _)) = self.values.back()
            && now.since(at) < window / STEPS
        {
            return;
        }
        self.values.push_back((now, value));
    }

    pub(crate) fn get(&self) -> Option<u64> {
        self.values.front().map(|&(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
