//! RED's arithmetic: the average, the thresholds, and when to act.
//!
//! The integers of Linux's `include/net/red.h`: the average is a fixed-point number with `wlog`
//! binary places, probabilities are fractions of 2^32. The computation of `tc` from a user's
//! numbers (iproute2 `tc/tc_red.c`) is in [`RedConfig::new`].

use super::RedParams;
use units::random::Stream;
use units::{Duration, Instant, Refusal};

/// One hundredth, as a fraction of 2^32 (`RED_ONE_PERCENT`).
const ONE_PERCENT: u32 = 42_949_673;
/// Between these, the adaptive algorithm moves the probability (`MAX_P_MIN`, `MAX_P_MAX`).
const LEAST_PROBABILITY: u32 = ONE_PERCENT;
const MOST_PROBABILITY: u32 = 50 * ONE_PERCENT;
/// Cells of the table of idle times (`RED_STAB_SIZE`).
const CELLS: usize = 256;

/// Parameters of RED, in its own units.
#[derive(Debug, Clone)]
pub struct RedConfig {
    /// Bytes, shifted by `wlog`.
    min: u64,
    max: u64,
    /// `max - min` in bytes, at least 1.
    delta: u32,
    wlog: u32,
    /// The average that the adaptive algorithm leaves alone, bytes.
    target: (u64, u64),
    /// `probability`, where the adaptive algorithm starts.
    probability: u32,
    gentle: bool,
    /// Idle time in cells of `2^cell_log` microseconds, and the shift of the average after so many
    /// of them.
    cell_log: u32,
    shifts: [u8; CELLS],
}

impl RedConfig {
    /// From parameters, as `tc` does it.
    ///
    /// # Errors
    /// If parameters do not go together.
    pub fn new(params: &RedParams) -> Result<Self, Refusal> {
        let (min, max) = (params.min.get(), params.max.get());
        if max < min {
            return Err(conflict("parameter max is below min"));
        }
        let wlog = weight_log(min, params.burst, params.avpkt.get()).ok_or_else(|| {
            conflict("parameter burst is too small: it has to cover min, in packets of avpkt")
        })?;
        // The kernel's `red_check_params`.
        if max << wlog >= 1 << 31 {
            return Err(conflict(
                "parameter burst is too large for max: the average would need more than 31 bits",
            ));
        }
        let sent = params.bandwidth.time_for(params.avpkt.get());
        let (cell_log, shifts) = idle_table(wlog, sent).ok_or_else(|| {
            conflict("parameter bandwidth is too small: the average would decay for hours")
        })?;
        let delta = (max - min).max(1);
        Ok(RedConfig {
            min: min << wlog,
            max: max << wlog,
            delta: delta as u32,
            wlog,
            target: (min + delta / 5 * 2, min + delta / 5 * 3),
            // `as` saturates: a probability of 1 is 2^32 - 1.
            probability: (params.probability * 4_294_967_296.0) as u32,
            gentle: params.gentle,
            cell_log,
            shifts,
        })
    }

    /// The average after an idle time: as if so many small packets had met an empty queue. Linux
    /// shifts by a natural logarithm that `tc` computed, so that the average decays by halves
    /// instead of by e.
    fn decayed(&self, average: u64, idle: Duration) -> u64 {
        let longest = (CELLS as u64 - 1) << self.cell_log;
        let idle = idle.as_micros().min(longest);
        let shift = self.shifts[(idle >> self.cell_log) as usize];
        if shift > 0 {
            return average >> shift;
        }
        // The first cells, where the table is too coarse: linear, down to half.
        let gone = (u128::from(average) * u128::from(idle)) >> self.cell_log;
        match u64::try_from(gone) {
            Ok(gone) if gone < average >> 1 => average - gone,
            _ => average >> 1,
        }
    }
}

fn conflict(text: &str) -> Refusal {
    Refusal::new(text)
}

/// The averaging weight `W` as its negative logarithm: the smallest with which a burst of `burst`
/// packets into an empty queue leaves the average at `min` (`tc_red_eval_ewma`):
/// `burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W`.
fn weight_log(min: u64, burst: u32, avpkt: u64) -> Option<u32> {
    let allowed = f64::from(burst) + 1.0 - min as f64 / avpkt as f64;
    if allowed < 1.0 {
        return None;
    }
    (1..32).find(|&log| {
        let weight = 1.0 / (1u64 << log) as f64;
        allowed <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight
    })
}

/// The decay of the average while the queue is empty (`tc_red_eval_idle_damping`), if sending a
/// packet takes `sent`: the size of a cell, and the shift for each. Time is in microseconds, as the
/// kernel reads the table; `tc` writes it in ticks of 64 ns, which makes the average of a Linux
/// router decay 15.6 times slower than intended.
fn idle_table(wlog: u32, sent: Duration) -> Option<(u32, [u8; CELLS])> {
    let weight = 1.0 / (1u64 << wlog) as f64;
    let per_us = -libm::log(1.0 - weight) / (sent.as_nanos() as f64 / 1e3);
    let cell_log = (0..32).find(|&log| 31.0 / per_us / ((1u64 << log) as f64) < 512.0)?;
    let mut shifts = [0; CELLS];
    for (cell, shift) in shifts.iter_mut().enumerate() {
        let us = (cell as u64) << cell_log;
        *shift = (us as f64 * per_us).min(31.0) as u8;
    }
    shifts[CELLS - 1] = 31;
    Some((cell_log, shifts))
}

/// The decision about an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Queue it.
    Pass,
    /// Mark or drop it, by chance (`RED_PROB_MARK`).
    Early,
    /// Mark or drop it: the average is above the maximum (`RED_HARD_MARK`).
    Forced,
}

/// RED's state.
#[derive(Debug, Clone)]
pub struct Red {
    /// Bytes, shifted by `wlog`.
    average: u64,
    /// Since when the queue is empty.
    idle: Option<Instant>,
    /// Packets since the last early mark; none before the average reached the minimum.
    count: Option<u64>,
    /// The value that `count` times the average above the minimum has to reach for the next mark,
    /// bytes.
    due: u64,
    /// The probability at the maximum; moved by the adaptive algorithm.
    probability: u32,
    /// Probability per byte of average above the minimum.
    slope: u32,
}

impl Red {
    /// As it starts (`red_set_vars`, `red_set_parms`).
    pub fn new(config: &RedConfig) -> Self {
        Red {
            average: 0,
            idle: None,
            count: None,
            due: 0,
            probability: config.probability,
            slope: (config.probability / config.delta).max(1),
        }
    }

    /// The link asked, and the queue is empty.
    pub fn starts_idling(&mut self, now: Instant) {
        self.idle.get_or_insert(now);
    }

    /// A packet arrives `now` where `backlog` bytes wait.
    pub fn arrival(
        &mut self,
        now: Instant,
        config: &RedConfig,
        backlog: u64,
        random: &mut Stream,
    ) -> Action {
        self.average = match self.idle.take() {
            Some(since) => config.decayed(self.average, now.since(since)),
            // average += W (backlog - average).
            None => self.average - (self.average >> config.wlog) + backlog,
        };
        if self.average < config.min {
            self.count = None;
            return Action::Pass;
        }
        let Some(excess) = self.excess(config) else {
            self.count = None;
            return Action::Forced;
        };
        let Some(count) = self.count else {
            self.count = Some(0);
            self.due = self.draw(random);
            return Action::Pass;
        };
        self.count = Some(count + 1);
        if excess.saturating_mul(count + 1) < self.due {
            return Action::Pass;
        }
        self.count = Some(0);
        self.due = self.draw(random);
        Action::Early
    }

    /// Bytes of average above the minimum; none if every packet is to be marked. The gentle variant
    /// continues up to twice the maximum, where the probability is 1 (S. Floyd, "Recommendation on
    /// using the gentle_ variant of RED", 2000).
    fn excess(&self, config: &RedConfig) -> Option<u64> {
        if self.average < config.max {
            return Some((self.average - config.min) >> config.wlog);
        }
        let above = (self.average - config.max) >> config.wlog;
        let max = config.max >> config.wlog;
        if !config.gentle || above >= max {
            return None;
        }
        let (delta, slope) = (u64::from(config.delta), u64::from(self.slope));
        let rest = (1u64 << 32).saturating_sub(delta * slope) / slope;
        Some(delta + rest * above / max)
    }

    /// A uniform number of 32 bits, over the slope (`red_random`).
    fn draw(&self, random: &mut Stream) -> u64 {
        (random.bits() >> 32) / u64::from(self.slope)
    }

    /// One step of the adaptive algorithm, at the time `at` (`red_adaptative_algo`; S. Floyd, R.
    /// Gummadi, S. Shenker, "Adaptive RED", 2001): the probability rises by a hundredth or a
    /// quarter while the average is above its target, and falls by a tenth while below.
    pub fn adapt(&mut self, at: Instant, config: &RedConfig) {
        let average = match self.idle {
            Some(since) => config.decayed(self.average, at.since(since)),
            None => self.average,
        } >> config.wlog;
        let (low, high) = config.target;
        if average > high && self.probability <= MOST_PROBABILITY {
            self.probability += ONE_PERCENT.min(self.probability / 4);
        } else if average < low && self.probability >= LEAST_PROBABILITY {
            self.probability = self.probability / 10 * 9;
        }
        let half = config.delta / 2;
        self.slope = (self.probability.saturating_add(half) / config.delta).max(1);
    }
}

#[cfg(test)]
impl Red {
    /// The average, shifted by the weight.
    pub fn average(&self) -> u64 {
        self.average
    }

    /// The probability at the maximum, as a fraction of 2^32.
    pub fn probability(&self) -> u32 {
        self.probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Rate};

    fn config(change: impl Fn(&mut RedParams)) -> RedConfig {
        let mut params = RedParams::default();
        change(&mut params);
        RedConfig::new(&params).unwrap()
    }

    /// The table in the comment of `include/net/red.h`: with a minimum of 32 packets, bursts of 33, 35,
    /// 39, ... 101 packets are where weights of 2^-1, 2^-2, ... 2^-7 end, give or take one. With the
    /// default minimum of 5, 2^-9 is for 48 to 65.
    #[test]
    fn the_weight_lets_a_burst_pass() {
        let bursts = [33, 35, 39, 46, 57, 75, 101];
        for (burst, log) in bursts.into_iter().zip(1..) {
            let weight = |burst| weight_log(32 * 1500, burst, 1500);
            assert_eq!(
                (weight(burst - 1), weight(burst + 1)),
                (Some(log), Some(log + 1))
            );
        }
        let weight = |burst| weight_log(5 * 1500, burst, 1500);
        assert_eq!([47, 48, 55, 65, 66].map(weight), [8, 9, 9, 9, 10].map(Some));
        assert_eq!(weight_log(32 * 1500, 31, 1500), None);
    }

    /// 1500 B in 1200 us; a weight of 1/2 is ln 2 per packet, 31 times that are 53 668 us, and
    /// cells of 2^7 us the first to make fewer than 512. Cell 13 is 0.961 and still linear, 14 is
    /// 1.035, 28 is 2.07. In the first cell, 50 us take 50/128 away.
    #[test]
    fn the_average_decays_by_the_table() {
        let config = config(|params| {
            params.min = Bytes::new(1500);
            params.burst = 1;
            params.bandwidth = Rate::from_bits(10_000_000);
        });
        assert_eq!((config.wlog, config.cell_log), (1, 7));
        let after = |us| config.decayed(6400, Duration::from_micros(us));
        assert_eq!([0, 50, 127].map(after), [6400, 3900, 3200]);
        assert_eq!(
            [1791, 1792, 3583, 3584].map(after),
            [3200, 3200, 3200, 1600]
        );
        assert_eq!(config.decayed(6400, Duration::MAX), 0);
    }

    /// 2 % of 2^32 is 85 899 345; a quarter more each time until 4 %, then a hundredth more; from
    /// above 50 % it stays. Down, a tenth less each time, dropping the part below ten; from below 1
    /// % it stays.
    #[test]
    fn the_adaptive_algorithm_moves_the_probability() {
        let config = config(|_| ());
        let mut red = Red::new(&config);
        let step = |red: &mut Red, average: u64| {
            red.average = average << config.wlog;
            red.adapt(Instant::ZERO, &config);
            red.probability
        };
        // The target is from 7500 + 2/5 15000 to 7500 + 3/5 15000.
        assert_eq!(step(&mut red, 13_500), 85_899_345);
        assert_eq!(step(&mut red, 16_500), 85_899_345);
        assert_eq!(step(&mut red, 16_501), 107_374_181);
        assert_eq!(step(&mut red, 16_501), 134_217_726);
        assert_eq!(red.slope, 8948, "134217726 / 15000 is 8947.8");
        assert_eq!(step(&mut red, 13_499), 120_795_948);
        for _ in 0..ENOUGH {
            step(&mut red, 20_000);
        }
        assert_eq!(red.probability / ONE_PERCENT, 50);
        for _ in 0..ENOUGH {
            step(&mut red, 0);
        }
        assert!(red.probability < ONE_PERCENT && red.probability > ONE_PERCENT / 10 * 8);
    }

    use super::super::ENOUGH;

    /// 1 in 10000 up to 50 % and 100 % down to 1 % take less than [`ENOUGH`] updates.
    #[test]
    fn enough_updates_are_enough() {
        for (start, average) in [(0.0001, 20_000u64), (1.0, 0)] {
            let config = config(|params| params.probability = start);
            let mut red = Red::new(&config);
            red.average = average << config.wlog;
            (0..ENOUGH).for_each(|_| red.adapt(Instant::ZERO, &config));
            let after = red.probability;
            red.adapt(Instant::ZERO, &config);
            assert_eq!(red.probability, after);
        }
    }

    /// At the maximum, all of `max - min`, probability 0.02; at one and a half times, halfway from
    /// there to 1; at twice, all packets.
    #[test]
    fn the_gentle_variant_goes_on_to_twice_the_maximum() {
        let gentle = config(|params| params.gentle = true);
        let mut red = Red::new(&gentle);
        let mut probability = |average: u64| {
            red.average = average << gentle.wlog;
            let excess = red.excess(&gentle)?;
            Some((excess * u64::from(red.slope)) as f64 / 4_294_967_296.0)
        };
        for (average, expected) in [(15_000, 0.01), (22_500, 0.02), (33_750, 0.51)] {
            let found = probability(average).unwrap();
            assert!((found - expected).abs() < 1e-4, "{average}: {found}");
        }
        assert_eq!(probability(45_000), None);
        red.average = 22_500 << gentle.wlog;
        assert_eq!(red.excess(&config(|_| ())), None, "and Linux's stops");
    }
}
