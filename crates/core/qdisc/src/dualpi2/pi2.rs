//! PI2: the controller of both queues, and the meaning of its probability for each.
//!
//! The integers of Linux's `sch_dualpi2.c`: probabilities are fractions of 2^32, gains are per 64 ns.
//! Where Linux's 32 bits would wrap (delays above four seconds at the largest gains), this ends at
//! 0 or 1.

use crate::periodic::Periodic;
use crate::pie::PieVerdict;
use units::random::Stream;
use units::{Duration, Instant};

/// The probability 1 (`MAX_PROB`).
const ONE: u32 = u32::MAX;
/// The unit to which alpha and beta are rounded, parts of 1 Hz (`ALPHA_BETA_SHIFT`).
const PARTS: f64 = 256.0;
/// Most updates in a row to make up for, a minute of the default. An empty queue's probability falls
/// from 1 to 0 in 417 with the defaults.
const ENOUGH: u64 = 4096;

/// Parameters of a [`Pi2`], in its own units.
#[derive(Debug, Clone, Copy)]
pub struct Pi2Config {
    /// Nanoseconds.
    target: u64,
    /// Probability per 64 ns.
    alpha: u32,
    beta: u32,
    /// k: how much more often the low-latency queue is marked (RFC 9332, section 2.1).
    coupling: u32,
    drop_on_overload: bool,
}

impl Pi2Config {
    /// A configuration from parameters; `alpha` and `beta` in Hz.
    pub fn new(
        target: Duration,
        (alpha, beta): (f64, f64),
        coupling: u32,
        drop_on_overload: bool,
    ) -> Self {
        // `dualpi2_scale_alpha_beta`.
        let scaled = |hertz: f64| {
            let parts = (hertz * PARTS + 0.5) as u64;
            (((parts * u64::from(ONE)) >> 2) / 1_000_000_000) as u32
        };
        Pi2Config {
            target: target.as_nanos(),
            alpha: scaled(alpha),
            beta: scaled(beta),
            coupling: coupling.max(1),
            drop_on_overload,
        }
    }

    /// Where probabilities end. Without drops, the low-latency queue's 100 % is the end, so that
    /// classic senders keep their share.
    fn most(&self) -> u32 {
        if self.drop_on_overload {
            ONE
        } else {
            ONE / self.coupling
        }
    }
}

/// The two queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// For senders that understand frequent marks.
    LowLatency,
    /// For all others.
    Classic,
}

/// The controller's state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pi2 {
    /// The base probability, p'.
    probability: u32,
    /// The delay at the last update, nanoseconds.
    last_delay: u64,
    /// Updates so far.
    updates: u64,
}

impl Pi2 {
    /// Makes up for updates until there were as many as `timer` has `fired`. While they were due,
    /// the packet that waited longest had arrived at `oldest`. Must be called before any other
    /// change of the queues.
    pub fn catch_up(
        &mut self,
        config: &Pi2Config,
        timer: &Periodic,
        fired: u64,
        oldest: Option<Instant>,
    ) {
        if self.updates >= fired {
            return;
        }
        let delay_at = |index| oldest.map_or(0, |oldest| timer.at(index).since(oldest).as_nanos());
        for index in self.updates..fired.min(self.updates.saturating_add(ENOUGH)) {
            let before = self.probability;
            let delay = delay_at(index);
            self.update(config, delay);
            let full = self.probability == config.most() && delay > config.target;
            let empty = self.probability == before && oldest.is_none();
            if full || empty {
                break;
            }
        }
        self.last_delay = delay_at(fired - 1);
        self.updates = fired;
    }

    /// Updates are counted from zero again: the timer has changed.
    pub fn restart_count(&mut self) {
        self.updates = 0;
    }

    /// One update, while the packet that waits longest has waited for `delay` nanoseconds
    /// (`calculate_probability`).
    fn update(&mut self, config: &Pi2Config, delay: u64) {
        let distance = |from: u64| i128::from(delay) - i128::from(from);
        let delta = distance(config.target) * i128::from(config.alpha)
            + distance(self.last_delay) * i128::from(config.beta);
        // Towards zero in both directions, as `__scale_delta` divides its argument without sign.
        let probability = i128::from(self.probability) + delta / 64;
        self.probability = probability.clamp(0, i128::from(config.most())) as u32;
        self.last_delay = delay;
    }

    /// Decides about a packet of a queue (`must_drop`). `capable`: it can be marked.
    ///
    /// Classic senders halve on a drop or mark and answer to the square of the probability; the
    /// others answer to every mark a little, and to the probability itself, times the coupling
    /// factor. Once that is above 1, marks do not help, and both are dropped by the square.
    pub fn decide(
        &self,
        config: &Pi2Config,
        which: Which,
        capable: bool,
        random: &mut Stream,
    ) -> PieVerdict {
        let coupled = u64::from(self.probability) * u64::from(config.coupling);
        let overload = coupled > u64::from(ONE);
        let mut roll = |probability: u32| (random.bits() >> 32) as u32 <= probability;
        let mut square = || roll(self.probability) && roll(self.probability);
        match which {
            Which::Classic if !square() => PieVerdict::Pass,
            Which::Classic if overload || !capable => PieVerdict::Drop,
            Which::Classic => PieVerdict::Mark,
            Which::LowLatency if overload => match config.drop_on_overload && square() {
                true => PieVerdict::Drop,
                false if capable => PieVerdict::Mark,
                false => PieVerdict::Pass,
            },
            Which::LowLatency if !roll(coupled as u32) => PieVerdict::Pass,
            Which::LowLatency if capable => PieVerdict::Mark,
            Which::LowLatency => PieVerdict::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn config(drop_on_overload: bool) -> Pi2Config {
        let gains = (0.16, 3.2);
        Pi2Config::new(Duration::from_millis(15), gains, 2, drop_on_overload)
    }

    /// 0.16 Hz are 41/256, times 2^32 - 1 over 4 and a billion: 44. 3.2 Hz are 819/256: 879.
    ///
    /// - 20 ms, before 0: (5 ms * 44 + 20 ms * 879) / 64 = 17 800 000 000 / 64 = 278 125 000, 6.5 %.
    /// - 20 ms again: 220 000 000 / 64 = 3 437 500 more.
    /// - 19 ms: (4 ms * 44 - 1 ms * 879) / 64 = -703 000 000 / 64 = -10 984 375.
    /// - 0 ms: minus (15 ms * 44 + 19 ms * 879) / 64 = 271 265 625.
    #[test]
    fn the_probability_follows_the_delay() {
        let config = config(true);
        assert_eq!((config.alpha, config.beta), (44, 879));
        let mut pi2 = Pi2::default();
        let mut after = |ms: u64| {
            pi2.update(&config, ms * MS);
            pi2.probability
        };
        assert_eq!(after(20), 278_125_000);
        assert_eq!(after(20), 281_562_500);
        assert_eq!(after(19), 270_578_125);
        assert_eq!(after(0), 0, "270578125 is less than 271265625");
        assert_eq!(after(10_000), ONE);
    }

    /// Without drops, classic senders get at most (1/k)² and the others all the marks there are.
    #[test]
    fn without_drops_the_end_is_when_all_of_one_queue_is_marked() {
        let config = config(false);
        let mut pi2 = Pi2::default();
        pi2.update(&config, 10_000 * MS);
        assert_eq!(pi2.probability, ONE / 2);
    }

    /// How often of 100 000 packets each verdict comes, in percent.
    fn verdicts(percent: u32, drops: bool, which: Which, capable: bool) -> [u32; 3] {
        let pi2 = Pi2 {
            probability: ONE / 100 * percent,
            ..Pi2::default()
        };
        let mut random = Stream::new(1, "test");
        let mut counts = [0u32; 3];
        for _ in 0..100_000 {
            let verdict = pi2.decide(&config(drops), which, capable, &mut random);
            counts[verdict as usize] += 1;
        }
        counts.map(|count| (count + 500) / 1000)
    }

    /// Passes, marks and drops. At 30 %: of the one 2 * 30 %, of the other 30 % of 30 %. At 60 %, twice
    /// is more than all: 36 % are dropped of both, marked or not, and the rest of the one is marked.
    #[test]
    fn one_probability_is_coupled_the_other_squared() {
        use Which::{Classic, LowLatency};
        assert_eq!(verdicts(30, true, LowLatency, true), [40, 60, 0]);
        assert_eq!(verdicts(30, true, LowLatency, false), [40, 0, 60]);
        assert_eq!(verdicts(30, true, Classic, true), [91, 9, 0]);
        assert_eq!(verdicts(30, true, Classic, false), [91, 0, 9]);
        assert_eq!(verdicts(60, true, LowLatency, true), [0, 64, 36]);
        assert_eq!(verdicts(60, true, LowLatency, false), [64, 0, 36]);
        assert_eq!(verdicts(60, true, Classic, true), [64, 0, 36]);
        assert_eq!(verdicts(50, false, LowLatency, true), [0, 100, 0]);
        assert_eq!(verdicts(0, true, Classic, true), [100, 0, 0]);
    }

    /// To be asked at every update, or once: the same, for an empty queue, one that stands still, and
    /// one that will only later be above the target. From 1 to 0 by 5 ms * 879 / 64 = 68 671 875 once,
    /// and by 44 * 15 ms / 64 = 10 312 500 each time, is 410 updates.
    #[test]
    fn missed_updates_are_made_up_for() {
        let config = config(true);
        let period = Duration::from_millis(16);
        let after = |probability, oldest, steps: u64, each: u64| {
            let mut timer = Periodic::new(period, period);
            timer.fired(Instant::ZERO);
            let mut pi2 = Pi2 {
                probability,
                last_delay: 5 * MS,
                updates: 0,
            };
            for fired in (1..=steps).filter(|fired| fired % each == 0) {
                pi2.catch_up(&config, &timer, fired, oldest);
            }
            pi2
        };
        for oldest in [
            None,
            Some(Instant::ZERO),
            Some(Instant::from_nanos(90 * MS)),
        ] {
            for steps in [1, 3, 400, 10_000] {
                let (all, once) = (
                    after(ONE, oldest, steps, 1),
                    after(ONE, oldest, steps, steps),
                );
                assert_eq!(all, once, "{oldest:?} {steps}");
            }
        }
        assert_ne!(after(ONE, None, 409, 1).probability, 0);
        assert_eq!(after(ONE, None, 410, 1).probability, 0);
    }
}
