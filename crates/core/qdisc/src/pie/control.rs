//! PIE's control, written once, over any queue.
//!
//! Follows the decisions of Linux's `include/net/pie.h` and `sch_pie.c`: time in ticks of 64 ns,
//! probabilities as fractions of 2^56, updates every `tupdate` that are made up for at the next
//! call. Two things differ. A probability ends at 1 (RFC 8033, section 4.2); Linux's check for
//! overflow is from when 1 was 2^64, and lets it rise to 256. A mark starts the accumulated
//! probability again, as a drop does; in Linux, a mark that came because it reached 8.5 leaves it
//! there, and every packet after it is marked.

use crate::{Ecn, Packet};
use units::random::Stream;
use units::{Duration, Instant};

/// The probability 1 (`MAX_PROB`).
const ONE: u64 = u64::MAX >> 8;
/// Nanoseconds to ticks: the kernel's `PSCHED_SHIFT`.
const TICK_SHIFT: u32 = 6;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> TICK_SHIFT;
/// How long a burst may last before the first drop (RFC 8033, 5.2).
const BURST: u64 = ticks(Duration::from_millis(150));
/// Delays above this are fought harder (`pie_calculate_probability`).
const HIGH_DELAY: u64 = ticks(Duration::from_millis(250));
/// A full-sized packet on Ethernet, header included (`psched_mtu`), bytes.
const MTU: u64 = 1514;
/// Bytes in the queue from which on the departure rate can be measured (`QUEUE_THRESHOLD`).
const RATE_THRESHOLD: u64 = 16_384;
/// Binary places of the departure rate, bytes per tick (`PIE_SCALE`).
const RATE_SHIFT: u32 = 8;
/// Most updates in a row to make up for, a minute of the default. An empty queue's probability falls
/// from 1 to 0 in 206 with the defaults, and then nothing changes. A queue that stands still for
/// longer is as it was after so many.
const ENOUGH: u64 = 4096;

const fn ticks(span: Duration) -> u64 {
    span.as_nanos() >> TICK_SHIFT
}

/// Ticks from `earlier` to `later`, each rounded down on its own as the kernel's clock does.
fn ticks_between(earlier: Instant, later: Instant) -> u64 {
    (later.as_nanos() >> TICK_SHIFT).saturating_sub(earlier.as_nanos() >> TICK_SHIFT)
}

/// Parameters of a [`Pie`]. Shared by all flows of a discipline.
#[derive(Debug, Clone, Copy)]
pub struct PieConfig {
    /// Acceptable standing queue delay.
    pub target: Duration,
    /// Weight of the delay's distance from the target, in sixteenths of 1 Hz.
    pub alpha: u32,
    /// Weight of the delay's change, in sixteenths of 1 Hz.
    pub beta: u32,
    /// Whether small packets are dropped less often, by their size.
    pub bytemode: bool,
    /// Whether the delay is the backlog over a measured departure rate (RFC 8033, 5.1) instead of
    /// how long the last packet waited.
    pub dq_rate_estimator: bool,
    /// Up to this probability, in percent, packets are marked if they allow it.
    pub mark_up_to: Option<u32>,
}

/// The decision about an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieVerdict {
    /// Queue it.
    Pass,
    /// Mark it and queue it.
    Mark,
    /// Drop it.
    Drop,
}

/// The state of one controlled queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Pie {
    probability: u64,
    /// Probability added up since the last drop: none below 0.85, certain at 8.5 (RFC 8033, 5.4).
    accumulated: u64,
    /// The current delay, and that at the last update, ticks.
    delay: u64,
    old_delay: u64,
    /// The rest of the burst allowance, ticks.
    burst: u64,
    /// When the last packet left, or when measuring the departure rate started.
    since: Option<Instant>,
    /// Bytes that left since measuring started; none while not measuring.
    departed: Option<u64>,
    /// Departure rate, bytes per tick as a fraction of 2^8; zero before the first measurement.
    rate: u64,
    /// Updates so far.
    updates: u64,
}

impl Default for Pie {
    fn default() -> Self {
        Pie {
            probability: 0,
            accumulated: 0,
            delay: 0,
            old_delay: 0,
            burst: BURST,
            since: None,
            departed: None,
            rate: 0,
            updates: 0,
        }
    }
}

impl Pie {
    /// Makes up for updates until there were `fired` of them. While they were due, `backlog` bytes
    /// waited. Must be called before any other change of the queue.
    #[inline]
    pub fn catch_up(&mut self, config: &PieConfig, fired: u64, backlog: u64) {
        if self.updates < fired {
            self.catch_up_from(config, fired, backlog);
        }
    }

    fn catch_up_from(&mut self, config: &PieConfig, fired: u64, backlog: u64) {
        for _ in 0..(fired - self.updates).min(ENOUGH) {
            let before = (self.probability, self.delay, self.old_delay);
            self.update(config, backlog);
            if before == (self.probability, self.delay, self.old_delay) {
                break;
            }
        }
        self.updates = fired;
    }

    /// Updates are counted from zero again: the timer has changed.
    pub fn restart_count(&mut self) {
        self.updates = 0;
    }

    /// Decides about an arriving `packet`, before which `backlog` bytes wait (`pie_drop_early` and
    /// its caller).
    pub fn arrival<P>(
        &mut self,
        config: &PieConfig,
        packet: &Packet<P>,
        backlog: u64,
        random: &mut Stream,
    ) -> PieVerdict {
        if !self.drop_early(config, u64::from(packet.len), backlog, random) {
            return PieVerdict::Pass;
        }
        self.accumulated = 0;
        let marks = config
            .mark_up_to
            .is_some_and(|percent| self.probability <= ONE / 100 * u64::from(percent));
        match packet.ecn {
            Ecn::NotCapable => PieVerdict::Drop,
            _ if marks => PieVerdict::Mark,
            _ => PieVerdict::Drop,
        }
    }

    /// An arriving packet found no room.
    pub fn refused(&mut self) {
        self.accumulated = 0;
    }

    fn drop_early(
        &mut self,
        config: &PieConfig,
        len: u64,
        backlog: u64,
        random: &mut Stream,
    ) -> bool {
        let low = self.delay < ticks(config.target) / 2 && self.probability < ONE / 5;
        if self.burst > 0 || low || backlog < 2 * MTU {
            return false;
        }
        let probability = if config.bytemode && len <= MTU {
            self.probability / MTU * len
        } else {
            self.probability
        };
        if probability == 0 {
            self.accumulated = 0;
        }
        self.accumulated = self.accumulated.saturating_add(probability);
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        self.accumulated >= ONE / 2 * 17 || random.bits() >> 8 < probability
    }

    /// `packet` leaves `now`, and `backlog` bytes stay (`pie_process_dequeue`).
    pub fn departure<P>(
        &mut self,
        now: Instant,
        config: &PieConfig,
        packet: &Packet<P>,
        backlog: u64,
    ) {
        let elapsed = if config.dq_rate_estimator {
            self.measure_rate(now, u64::from(packet.len), backlog)
        } else {
            self.delay = match backlog {
                0 => 0,
                _ => ticks_between(packet.arrived, now),
            };
            let last = self.since.replace(now);
            last.map_or(0, |last| ticks_between(last, now))
        };
        self.burst = self.burst.saturating_sub(elapsed);
    }

    /// Measures how fast a standing queue leaves; the time that a finished measurement took, or
    /// zero.
    fn measure_rate(&mut self, now: Instant, len: u64, backlog: u64) -> u64 {
        let stands = backlog >= RATE_THRESHOLD;
        if stands && self.departed.is_none() {
            self.since = Some(now);
            self.departed = Some(0);
        }
        let (Some(departed), Some(since)) = (self.departed, self.since) else {
            return 0;
        };
        let departed = departed + len;
        self.departed = Some(departed);
        let elapsed = ticks_between(since, now);
        if departed < RATE_THRESHOLD || elapsed == 0 {
            return 0;
        }
        let rate = (departed << RATE_SHIFT) / elapsed;
        self.rate = match self.rate {
            0 => rate,
            old => old - (old >> 3) + (rate >> 3),
        };
        self.since = Some(now);
        self.departed = stands.then_some(0);
        elapsed
    }

    /// One update of the probability (`pie_calculate_probability`).
    fn update(&mut self, config: &PieConfig, backlog: u64) {
        let (delay, old_delay) = if config.dq_rate_estimator {
            (
                (backlog << RATE_SHIFT).checked_div(self.rate).unwrap_or(0),
                self.delay,
            )
        } else {
            (self.delay, self.old_delay)
        };
        let target = ticks(config.target);
        let (alpha, beta) = self.gains(config);
        let mut delta = alpha * distance(delay, target) + beta * distance(delay, old_delay);
        // No more than 2 % at a time, unless the delay is high: then 2 % more.
        let step = i128::from(ONE / 50);
        if delta > step && self.probability >= ONE / 10 {
            delta = step;
        }
        if delay > HIGH_DELAY {
            delta += step;
        }
        let probability = i128::from(self.probability) + delta;
        self.probability = probability.clamp(0, i128::from(ONE)) as u64;
        if delay == 0 && old_delay == 0 && backlog == 0 {
            self.probability -= self.probability / 64;
        }
        self.delay = delay;
        self.old_delay = if config.dq_rate_estimator {
            old_delay
        } else {
            delay
        };
        let low = delay < target / 2 && old_delay < target / 2;
        if low && self.probability == 0 && (!config.dq_rate_estimator || self.rate > 0) {
            // The congestion is over (`pie_vars_init`): the next burst may pass again.
            self.burst = BURST;
            self.since = None;
            self.accumulated = 0;
            self.departed = None;
            self.rate = 0;
        }
    }

    /// Alpha and beta per tick, smaller where the probability is (RFC 8033, 5.2: "auto-tuning").
    fn gains(&self, config: &PieConfig) -> (i128, i128) {
        let scaled = |gain: u32| (u64::from(gain) * (ONE / TICKS_PER_SECOND)) >> 4;
        let below = |part: u64| self.probability < ONE / part;
        let mut shift = 0;
        if below(10) {
            let powers = [100, 1_000, 10_000, 100_000, 1_000_000];
            let smaller = powers.into_iter().take_while(|&part| below(part)).count();
            shift = 1 + 2 * smaller as u32;
        }
        let shifted = |gain| i128::from(scaled(gain) >> shift);
        (shifted(config.alpha), shifted(config.beta))
    }
}

/// Ticks from `to` to `from`, below zero if `from` is less.
fn distance(from: u64, to: u64) -> i128 {
    i128::from(from) - i128::from(to)
}

#[cfg(test)]
impl Pie {
    /// The probability as a number, for the tests of disciplines.
    pub fn probability(&self) -> f64 {
        self.probability as f64 / ONE as f64
    }
}

#[cfg(test)]
mod tests;
