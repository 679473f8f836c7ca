//! The rule of cake-autorate, from its documentation and its documented defaults.
//!
//! Principles: pings to several reflectors; half of a round trip is the delay of each way. Late answers
//! (most of a short window) mean bufferbloat, and lower the rate by a share; a rate that is used while
//! answers are in time grows by a share for each answer; one that is not used returns to its base.
//! Least, base and greatest rate are the user's to know.
//!
//! Not here: sleep while nothing is sent, and the exchange of bad reflectors for others on a list.

use crate::achieved::Achieved;
use crate::{Controller, Decision, Entry, Signal, Told, Way, Ways, Why};
use units::{Duration, Instant, Rate};

units::params! {
    /// Parameters of `cake-autorate`.
    pub struct CakeAutorateParams {
        /// Least rate towards the home.
        min_down: Rate = "5mbit", range "10kbit".."1000gbit", source "defaults.sh: min_dl_shaper_rate_kbps";
        /// Rate towards the home while it is hardly used.
        base_down: Rate = "20mbit", range "10kbit".."1000gbit", source "defaults.sh: base_dl_shaper_rate_kbps";
        /// Greatest rate towards the home.
        max_down: Rate = "80mbit", range "10kbit".."1000gbit", source "defaults.sh: max_dl_shaper_rate_kbps";
        /// Least rate away from the home.
        min_up: Rate = "5mbit", range "10kbit".."1000gbit", source "defaults.sh: min_ul_shaper_rate_kbps";
        /// Rate away from the home while it is hardly used.
        base_up: Rate = "20mbit", range "10kbit".."1000gbit", source "defaults.sh: base_ul_shaper_rate_kbps";
        /// Greatest rate away from the home.
        max_up: Rate = "35mbit", range "10kbit".."1000gbit", source "defaults.sh: max_ul_shaper_rate_kbps";
        /// Mean delay beyond the baseline up to which the rate grows fastest.
        grow_below: Duration = "10ms", range "0ms".."10s", source "defaults.sh: avg_owd_delta_max_adjust_up_thr_ms";
        /// Delay beyond the baseline from which an answer is late.
        late: Duration = "30ms", range "0ms".."10s", source "defaults.sh: owd_delta_delay_thr_ms";
        /// Mean delay beyond the baseline from which the rate falls fastest.
        fall_above: Duration = "60ms", range "0ms".."10s", source "defaults.sh: avg_owd_delta_max_adjust_down_thr_ms";
    }
}

/// `cake-autorate` for the registry.
pub const ENTRY: Entry = Entry {
    name: "cake-autorate",
    summary: "cake-autorate's rule: pings, and rates between a least and a greatest that are told",
    about: "What people use today, as what to beat. Six reflectors are pinged in turn, 20 times a second \
        in all. Three late answers of the last six lower the rate, by 1 to 25 % each 300 ms; a rate that \
        is used to 75 % grows by up to 4 % an answer; one that is not used goes back to its base by 1 % a \
        second.\n\nNot modelled: its sleep while the line is idle, and its exchange of bad reflectors.",
    source: "github.com/lynxthecat/cake-autorate, README.md and defaults.sh at 94238be",
    params: CakeAutorateParams::SPECS,
    build: |settings| {
        let params = CakeAutorateParams::parse(settings)?;
        check(&params)?;
        Ok(Box::new(CakeAutorate::new(&params)))
    },
};

fn check(params: &CakeAutorateParams) -> Result<(), units::Refusal> {
    let ordered = params.grow_below <= params.late && params.late <= params.fall_above;
    let rates = [
        ("down", params.min_down, params.base_down, params.max_down),
        ("up", params.min_up, params.base_up, params.max_up),
    ];
    for (way, min, base, max) in rates {
        if min > base || base > max {
            let message = format!("{way}: {min}, {base}, {max} are not in order");
            let help = format!("write min_{way} ≤ base_{way} ≤ max_{way}");
            return Err(units::Refusal::new(message).with_help(help));
        }
    }
    if ordered {
        Ok(())
    } else {
        let refusal = units::Refusal::new("the three delays are not in order");
        Err(refusal.with_help("write grow_below ≤ late ≤ fall_above"))
    }
}

/// Answers in the window, and how many late ones are bufferbloat (defaults.sh:
/// bufferbloat_detection_window, bufferbloat_detection_thr).
const WINDOW: usize = 6;
const LATE: usize = 3;
/// How fast the baseline of delays rises and falls (alpha_baseline_increase, alpha_baseline_decrease).
const RISES: f64 = 0.001;
const FALLS: f64 = 0.9;
/// A rate that is used (high_load_thr).
const USED: f64 = 0.75;
/// Factors (shaper_rate_min_adjust_down_bufferbloat and those after it).
const FALL: (f64, f64) = (0.99, 0.75);
const GROW: f64 = 1.04;
const BACK: f64 = 0.01;
/// bufferbloat_refractory_period_ms, decay_refractory_period_ms.
const AFTER_LATE: Duration = Duration::from_millis(300);
const AFTER_BACK: Duration = Duration::from_millis(1000);
/// monitor_achieved_rates_interval_ms.
const ACHIEVED: Duration = Duration::from_millis(200);
/// global_ping_response_timeout_s.
const SILENT: Duration = Duration::from_secs(10);
/// A full packet, whose time on the wire is added to all thresholds, in bits.
const PACKET: f64 = 12_000.0;
/// More reflectors are told apart by their number's remainder.
const REFLECTORS: usize = 32;

struct CakeAutorate {
    ways: Ways<CakeFollower>,
    /// Delay of each reflector without a queue, s.
    baselines: [Option<f64>; REFLECTORS],
    /// The last answer.
    answered: Instant,
    started: bool,
}

struct CakeFollower {
    /// Least, base and greatest, bit/s.
    least: f64,
    base: f64,
    greatest: f64,
    /// Delays that the thresholds are, s: grow fastest below, late, fall fastest above.
    thresholds: (f64, f64, f64),
    rate: f64,
    why: Why,
    achieved: Achieved,
    /// Delays beyond the baseline of the last answers, s.
    window: [f64; WINDOW],
    at: usize,
    last_late: Instant,
    last_back: Instant,
}

impl CakeAutorate {
    fn new(params: &CakeAutorateParams) -> Self {
        let follower = |least: Rate, base: Rate, greatest: Rate| CakeFollower {
            least: least.as_bits() as f64,
            base: base.as_bits() as f64,
            greatest: greatest.as_bits() as f64,
            thresholds: (
                params.grow_below.as_secs_f64(),
                params.late.as_secs_f64(),
                params.fall_above.as_secs_f64(),
            ),
            rate: base.as_bits() as f64,
            why: Why::Start,
            achieved: Achieved::new(ACHIEVED),
            window: [0.0; WINDOW],
            at: 0,
            last_late: Instant::ZERO,
            last_back: Instant::ZERO,
        };
        CakeAutorate {
            ways: Ways {
                down: follower(params.min_down, params.base_down, params.max_down),
                up: follower(params.min_up, params.base_up, params.max_up),
            },
            baselines: [None; REFLECTORS],
            answered: Instant::ZERO,
            started: false,
        }
    }

    fn answered(&mut self, now: Instant, reflector: u8, round_trip: Duration) {
        self.answered = now;
        self.started = true;
        let delay = round_trip.as_secs_f64() / 2.0;
        let baseline = &mut self.baselines[usize::from(reflector) % REFLECTORS];
        let known = *baseline.get_or_insert(delay);
        let alpha = if delay >= known { RISES } else { FALLS };
        let moved = known + alpha * (delay - known);
        *baseline = Some(moved);
        for way in Way::BOTH {
            self.ways[way].answer(now, delay - moved);
        }
    }
}

impl CakeFollower {
    /// An answer came `beyond` later than the baseline, in s.
    fn answer(&mut self, now: Instant, beyond: f64) {
        self.window[self.at] = beyond;
        self.at = (self.at + 1) % WINDOW;
        let on_wire = PACKET / self.rate;
        let (grow, late, fall) = self.thresholds;
        let (grow, late, fall) = (grow + on_wire, late + on_wire, fall + on_wire);
        let mean = self.window.iter().sum::<f64>() / WINDOW as f64;
        let bloat = self.window.iter().filter(|beyond| **beyond > late).count() >= LATE;
        let load = self.achieved.rate(now).as_bits() as f64 / self.rate;
        let rested = now.since(self.last_late) > AFTER_LATE;
        if bloat {
            if rested {
                let share = part(mean - late, fall - late);
                self.rate *= FALL.0 - share * (FALL.0 - FALL.1);
                (self.last_late, self.last_back) = (now, now);
                let beyond = Duration::from_secs_f64(mean.max(0.0));
                self.why = Why::Late { beyond };
            }
        } else if load > USED {
            if rested {
                self.rate *= 1.0 + (GROW - 1.0) * part(late - mean, late - grow);
                self.last_back = now;
                self.why = Why::Used;
            }
        } else if now.since(self.last_back) > AFTER_BACK {
            self.rate = if self.rate > self.base {
                (self.rate * (1.0 - BACK)).max(self.base)
            } else {
                (self.rate * (1.0 + BACK)).min(self.base)
            };
            self.last_back = now;
            self.why = Why::Base;
        }
        self.rate = self.rate.clamp(self.least, self.greatest);
    }

    fn silent(&mut self) {
        self.rate = self.least;
        self.why = Why::Silent;
    }

    fn decision(&self, told: Told) -> Decision {
        Decision {
            rate: Rate::from_bits(self.rate as u64),
            why: self.why,
            told,
        }
    }
}

/// `of` the `whole`, from 0 to 1.
fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (of / whole).clamp(0.0, 1.0)
    } else {
        f64::from(u8::from(of > 0.0))
    }
}

impl Controller for CakeAutorate {
    fn tell(&mut self, now: Instant, signal: &Signal) {
        match *signal {
            Signal::Came(_) => {}
            Signal::Shaped(way, packet) => self.ways[way].achieved.passed(now, packet.bytes),
            Signal::Answered(answer) => self.answered(now, answer.reflector, answer.round_trip),
        }
    }

    fn decide(&mut self, now: Instant) -> Ways<Decision> {
        let silent = now.since(self.answered) > SILENT;
        if silent {
            self.ways.down.silent();
            self.ways.up.silent();
        }
        let told = if self.started && !silent {
            Told::Pings
        } else {
            Told::Nothing
        };
        Ways {
            down: self.ways.down.decision(told),
            up: self.ways.up.decision(told),
        }
    }
}
