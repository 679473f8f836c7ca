//! PIE's control, written once, over any queue.
//!
//! It takes the decisions of Linux's `include/net/pie.h` and `sch_pie.c`: time in ticks of 64 ns,
//! probabilities as fractions of 2^56, updates every `tupdate` that are made up for at the next call.
//! Two things differ. A probability ends at 1 (RFC 8033, section 4.2); Linux's check for overflow
//! is from when 1 was 2^64, and lets it go to 256. A mark starts the accumulated probability again,
//! as a drop does; in Linux, a mark that came because it reached 8.5 leaves it there, and every
//! packet after it is marked.

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

/// What a [`Pie`] aims at. Shared by all flows of a discipline.
#[derive(Debug, Clone, Copy)]
pub struct Config {
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
    /// Up to which probability, in percent, packets are marked where they allow it.
    pub mark_up_to: Option<u32>,
}

/// What is to be done with an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
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
    /// The delay, and what it was at the last update, ticks.
    delay: u64,
    old_delay: u64,
    /// What is left of the burst allowance, ticks.
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
    /// waited. To be called before anything else in the queue changes.
    #[inline]
    pub fn catch_up(&mut self, config: &Config, fired: u64, backlog: u64) {
        if self.updates < fired {
            self.catch_up_from(config, fired, backlog);
        }
    }

    fn catch_up_from(&mut self, config: &Config, fired: u64, backlog: u64) {
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
        config: &Config,
        packet: &Packet<P>,
        backlog: u64,
        random: &mut Stream,
    ) -> Verdict {
        if !self.drop_early(config, u64::from(packet.len), backlog, random) {
            return Verdict::Pass;
        }
        self.accumulated = 0;
        let marks = config
            .mark_up_to
            .is_some_and(|percent| self.probability <= ONE / 100 * u64::from(percent));
        match packet.ecn {
            Ecn::NotCapable => Verdict::Drop,
            _ if marks => Verdict::Mark,
            _ => Verdict::Drop,
        }
    }

    /// An arriving packet found no room.
    pub fn refused(&mut self) {
        self.accumulated = 0;
    }

    fn drop_early(&mut self, config: &Config, len: u64, backlog: u64, random: &mut Stream) -> bool {
        let low = self.delay < ticks(config.target) / 2 && self.probability < ONE / 5;
        if self.burst > 0 || low || backlog < 2 * MTU {
            return false;
        }
        let probability = match config.bytemode && len <= MTU {
            true => self.probability / MTU * len,
            false => self.probability,
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
        config: &Config,
        packet: &Packet<P>,
        backlog: u64,
    ) {
        let elapsed = match config.dq_rate_estimator {
            true => self.measure_rate(now, u64::from(packet.len), backlog),
            false => {
                self.delay = match backlog {
                    0 => 0,
                    _ => ticks_between(packet.arrived, now),
                };
                let last = self.since.replace(now);
                last.map_or(0, |last| ticks_between(last, now))
            }
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
    fn update(&mut self, config: &Config, backlog: u64) {
        let (delay, old_delay) = match config.dq_rate_estimator {
            true => (
                (backlog << RATE_SHIFT).checked_div(self.rate).unwrap_or(0),
                self.delay,
            ),
            false => (self.delay, self.old_delay),
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
        self.old_delay = match config.dq_rate_estimator {
            true => old_delay,
            false => delay,
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
    fn gains(&self, config: &Config) -> (i128, i128) {
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

/// Ticks from `to` to `from`, below zero where `from` is less.
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
mod tests {
    use super::*;
    use crate::{FlowId, Label};

    const CONFIG: Config = Config {
        target: Duration::from_millis(15),
        alpha: 2,
        beta: 20,
        bytemode: false,
        dq_rate_estimator: false,
        mark_up_to: None,
    };
    const ESTIMATOR: Config = Config {
        dq_rate_estimator: true,
        ..CONFIG
    };
    const MS: u64 = ticks(Duration::from_millis(1));
    const BACKLOG: u64 = 100_000;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn packet(len: u32, ecn: Ecn, arrived: Instant) -> Packet<()> {
        Packet {
            len,
            flow: FlowId(0),
            hash: 0,
            ecn,
            label: Label::None,
            arrived,
            payload: (),
            ..Packet::default()
        }
    }

    /// 2^56 - 1 over 15 625 000 ticks a second is 4 611 686 018; alpha is 2/16 of that, 576 460 752, and
    /// beta 20/16, 5 764 607 522. Targets and delays in ticks: 15 ms are 234 375.
    ///
    /// - 30 ms, before 0, at probability 0: alpha / 2 / 4^5 = 281 474, beta 2 814 749;
    ///   281 474 * 234 375 + 2 814 749 * 468 750 = 1 385 384 062 500, or 1.9e-5.
    /// - 30 ms again, below 1e-4: alpha / 2 / 4^3 = 4 503 599; times 234 375 is 1 055 531 015 625.
    /// - 40 ms, still below 1e-4: beta is 45 035 996;
    ///   4 503 599 * 390 625 + 45 035 996 * 156 250 = 8 796 092 734 375.
    /// - 0 ms with packets waiting, now below 1e-3: alpha / 2 / 4^2 = 18 014 398, beta 180 143 985; minus
    ///   18 014 398 * 234 375 and minus 180 143 985 * 625 000: below zero.
    #[test]
    fn the_probability_follows_the_delay() {
        let mut pie = Pie::default();
        let mut after = |ms: u64| {
            pie.delay = ms * MS;
            pie.update(&CONFIG, BACKLOG);
            pie.probability
        };
        assert_eq!(after(30), 1_385_384_062_500);
        assert_eq!(after(30), 1_385_384_062_500 + 1_055_531_015_625);
        assert_eq!(after(40), 2_440_915_078_125 + 8_796_092_734_375);
        assert_eq!(after(0), 0);
    }

    /// At 20 %, 100 ms after 0 would add 5 764 607 522 * 1 562 500, an eighth of 1; it is 2 %. At 251 ms,
    /// above 250, 2 % more. And 1 is where it ends.
    #[test]
    fn large_steps_are_bounded_and_high_delays_are_not() {
        let mut pie = Pie {
            probability: ONE / 5,
            ..Pie::default()
        };
        pie.delay = 100 * MS;
        pie.update(&CONFIG, BACKLOG);
        assert_eq!(pie.probability, ONE / 5 + ONE / 50);
        pie.delay = 251 * MS;
        pie.update(&CONFIG, BACKLOG);
        assert_eq!(pie.probability, ONE / 5 + 3 * (ONE / 50));
        for _ in 0..100 {
            pie.delay += 10 * MS;
            pie.update(&CONFIG, BACKLOG);
        }
        assert_eq!(pie.probability, ONE);
    }

    /// An empty queue: at 20 %, minus alpha times the target, 576 460 752 * 234 375, and of the rest
    /// minus 1/64. In the end it is as new, and one update or a million more change nothing.
    #[test]
    fn an_empty_queue_forgets() {
        let mut pie = Pie {
            probability: ONE / 5,
            burst: 0,
            ..Pie::default()
        };
        pie.update(&CONFIG, 0);
        let less = ONE / 5 - 576_460_752 * 234_375;
        assert_eq!(pie.probability, less - less / 64);
        pie.probability = ONE;
        pie.catch_up(&CONFIG, 204, 0);
        assert_ne!(pie.probability, 0);
        pie.catch_up(&CONFIG, 206, 0);
        let new = Pie {
            updates: 206,
            ..Pie::default()
        };
        assert_eq!(pie, new);
        pie.catch_up(&CONFIG, 1 << 60, 0);
        pie.updates = new.updates;
        assert_eq!(pie, new);
    }

    /// 5 departures 40 ms apart: the time between them is 160 ms, 10 more than the allowance.
    #[test]
    fn a_burst_passes() {
        let (mut pie, mut random) = (Pie::default(), Stream::new(1, "test"));
        pie.probability = ONE;
        let full = packet(1500, Ecn::NotCapable, at(0));
        let mut verdicts = Vec::new();
        for n in 1..=5 {
            verdicts.push(pie.arrival(&CONFIG, &full, BACKLOG, &mut random));
            pie.departure(at(40 * n), &CONFIG, &full, BACKLOG);
        }
        verdicts.push(pie.arrival(&CONFIG, &full, BACKLOG, &mut random));
        assert_eq!(verdicts[..5], [Verdict::Pass; 5]);
        assert_eq!(verdicts[5], Verdict::Drop);
        let few = pie.arrival(&CONFIG, &full, 2 * MTU - 1, &mut random);
        assert_eq!(few, Verdict::Pass, "less than two packets wait");
    }

    fn in_trouble(probability: u64) -> Pie {
        Pie {
            probability,
            delay: 20 * MS,
            burst: 0,
            ..Pie::default()
        }
    }

    /// At 1 %: none of 84 packets after a drop, and one of 851 for certain (850 and a rounding).
    /// Without these bounds the mean would be 100; the first 84 come on top.
    #[test]
    fn drops_are_derandomised() {
        let (mut pie, mut random) = (in_trouble(ONE / 100), Stream::new(1, "test"));
        let full = packet(1500, Ecn::NotCapable, at(0));
        let mut gaps = vec![0];
        for _ in 0..500_000 {
            *gaps.last_mut().unwrap() += 1;
            if pie.arrival(&CONFIG, &full, BACKLOG, &mut random) == Verdict::Drop {
                gaps.push(0);
            }
        }
        gaps.pop();
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert_eq!(gaps.iter().min(), Some(&85));
        assert!(gaps.iter().all(|&gap| gap <= 851));
        assert!((mean - 184.0).abs() < 6.0, "{mean}");
    }

    /// At the 8.5th part certain, marks included; and then from the start again.
    #[test]
    fn a_certain_mark_is_one_mark() {
        let (mut pie, mut random) = (in_trouble(ONE / 100), Stream::new(1, "test"));
        let config = Config {
            mark_up_to: Some(10),
            ..CONFIG
        };
        pie.accumulated = ONE / 2 * 17;
        let capable = packet(1500, Ecn::Ect0, at(0));
        let mut verdict = || pie.arrival(&config, &capable, BACKLOG, &mut random);
        assert_eq!([verdict(), verdict()], [Verdict::Mark, Verdict::Pass]);
    }

    #[test]
    fn marks_end_at_the_tenth() {
        let mut random = Stream::new(1, "test");
        let config = Config {
            mark_up_to: Some(10),
            ..CONFIG
        };
        for (config, probability, ecn, expected) in [
            (config, ONE / 100 * 10, Ecn::Ect0, Verdict::Mark),
            (config, ONE / 100 * 10 + 1, Ecn::Ect0, Verdict::Drop),
            (config, ONE / 100 * 10, Ecn::NotCapable, Verdict::Drop),
            (CONFIG, ONE / 100 * 10, Ecn::Ect0, Verdict::Drop),
        ] {
            let mut pie = in_trouble(probability);
            pie.accumulated = ONE * 9;
            let packet = packet(1500, ecn, at(0));
            let verdict = pie.arrival(&config, &packet, BACKLOG, &mut random);
            assert_eq!(verdict, expected, "{probability} {ecn:?}");
        }
    }

    /// At 50 % of full packets, 151 B or a tenth of 1514 have 5 %: 17 of them come to 0.85.
    #[test]
    fn in_bytemode_small_packets_are_spared() {
        let mut random = Stream::new(1, "test");
        let config = Config {
            bytemode: true,
            ..CONFIG
        };
        let mut pie = in_trouble(ONE / 2);
        let small = packet(151, Ecn::NotCapable, at(0));
        for _ in 0..17 {
            let verdict = pie.arrival(&config, &small, BACKLOG, &mut random);
            assert_eq!(verdict, Verdict::Pass);
        }
        assert_eq!(pie.accumulated / (ONE / 1000), 847, "17 * 0.5 * 151 / 1514");
    }

    /// 1500 B every millisecond, 15 625 ticks, with more than 16 384 B left: measuring starts with the
    /// first departure, and after 11 of them (16 500 B, 10 ms) the rate is
    /// 16 500 * 256 / 156 250 = 27.03. The backlog of 100 000 B is then 100 000 * 256 / 27 = 948 148 ticks,
    /// 60.7 ms, of which the link will need 66.7: the rate is a coarse number.
    #[test]
    fn the_departure_rate_is_measured() {
        let mut pie = Pie::default();
        for ms in 1..=11 {
            assert_eq!(pie.rate, 0);
            let full = packet(1500, Ecn::NotCapable, at(0));
            pie.departure(at(ms), &ESTIMATOR, &full, BACKLOG);
        }
        assert_eq!((pie.rate, pie.departed), (27, Some(0)));
        assert_eq!(pie.burst, 140 * MS);
        pie.update(&ESTIMATOR, BACKLOG);
        assert_eq!((pie.delay, pie.old_delay), (948_148, 0));
    }
}
