//! The rule for one direction.

use super::busy::Busy;
use super::favour::Favour;
use super::memory::{CapacitySample, Memory, SLOT};
use super::recent::Recent;
use crate::achieved::Achieved;
use crate::{Decision, Told, Why};
use units::{Duration, Instant, Rate};

/// A wait from which there is a queue, in s: stamps tick in ms, and a packet or two always wait.
const QUEUE: f64 = 0.006;
/// How much of the measured capacity is used while there is a queue, and how much of the usual one.
const KEEP: f64 = 0.85;
/// A queue is to be empty in about this time, in s; but at least so much of the capacity is used.
const EMPTY: f64 = 0.6;
const DEEPEST: f64 = 0.5;
/// How fast the rate grows, as parts a second: back to what is known to be carried, and beyond that.
const BACK: f64 = 1.5;
const BEYOND: f64 = 0.1;
/// Growth beyond what is known is faster the longer there is no queue: so many times after `SOON` s.
const FASTER: f64 = 3.0;
const SOON: f64 = 2.0;
/// A line that carries more than `ANOTHER` times the usual for `LONG` s, by its rate or by what its queues tell, is
/// another line.
const ANOTHER: f64 = 1.3;
const LONG: f64 = 4.0;
/// The rate is used if so much of it is; and what passes tells of the line if so much of it does.
const USED: f64 = 0.75;
const TELLS: f64 = 0.5;
/// The least and the greatest rate, bit/s.
const LEAST: f64 = 300e3;
const GREATEST: f64 = 10e9;
/// Rates are of the last 100 ms.
const ACHIEVED: Duration = Duration::from_millis(100);
/// After so long without stamps, in s, pings count.
const UNSTAMPED: f64 = 1.0;

/// Follows one direction.
#[derive(Debug)]
pub struct DrainFollower {
    below: f64,
    rate: f64,
    why: Why,
    achieved: Achieved,
    stamped: Recent,
    pinged: Recent,
    /// When a packet with stamps last told something, and when a ping did, in s.
    last_stamp: f64,
    last_ping: f64,
    busy: Busy,
    memory: Memory,
    /// For how long the rate was used without a queue, in s.
    clear: f64,
    /// And for how long since a queue told that the line is as it was.
    since_usual: f64,
    /// What the line carried in its last queue, bit/s, until the rate is back and used.
    dip: Option<f64>,
    asked: f64,
    sampled: f64,
    /// What the line is not below most of the time, bit/s.
    usual: Option<f64>,
}

impl DrainFollower {
    /// Nothing is known.
    pub fn new(favour: Favour, start: Rate) -> Self {
        DrainFollower {
            below: favour.below(),
            rate: start.as_bits() as f64,
            why: Why::Start,
            achieved: Achieved::new(ACHIEVED),
            stamped: Recent::default(),
            pinged: Recent::default(),
            last_stamp: f64::NEG_INFINITY,
            last_ping: f64::NEG_INFINITY,
            busy: Busy::default(),
            memory: Memory::new(favour.remembered()),
            clear: 0.0,
            since_usual: 0.0,
            dip: None,
            asked: 0.0,
            sampled: 0.0,
            usual: None,
        }
    }

    /// A packet left the shaper.
    pub fn shaped(&mut self, now: Instant, bytes: u32) {
        self.achieved.passed(now, bytes);
    }

    /// A packet passed the line whose wait is not known.
    pub fn passed(&mut self, bytes: u32) {
        self.busy.passed(bytes);
    }

    /// A packet left the line at `left`, where it had waited for `wait`; in s.
    pub fn left_line(&mut self, now: f64, left: f64, wait: f64, bytes: u32) {
        if self.told(now) != Told::Stamps {
            self.busy = Busy::default();
        }
        self.last_stamp = now;
        self.stamped.add(now, wait);
        self.drained(now, left, wait, bytes);
    }

    /// A ping returned, that had waited for `wait` s.
    pub fn pinged(&mut self, now: f64, wait: f64) {
        self.last_ping = now;
        self.pinged.add(now, wait);
        if now - self.last_stamp > UNSTAMPED {
            self.drained(now, now, wait, 0);
        }
    }

    fn drained(&mut self, now: f64, left: f64, wait: f64, bytes: u32) {
        let Some((span, bytes)) = self.busy.left(now, left, wait, bytes) else {
            return;
        };
        // An outage is over: it was that slow for as long.
        let slots = (span / SLOT) as usize;
        for _ in 0..slots.min(MOST_SLOTS) {
            self.memory.add(CapacitySample::Exactly(bytes * 8.0 / span));
        }
    }

    /// How long packets wait in the line now, in s, if that is known.
    pub fn wait(&mut self, now: f64) -> Option<f64> {
        self.stamped.least(now)
    }

    /// The share of the rate that is used.
    pub fn load(&mut self, now: Instant) -> f64 {
        self.achieved.rate(now).as_bits() as f64 / self.rate
    }

    /// What knowledge of the line's queue comes from.
    pub fn told(&self, now: f64) -> Told {
        match (now - self.last_stamp, now - self.last_ping) {
            (stamp, _) if stamp <= UNSTAMPED => Told::Stamps,
            (_, ping) if ping <= UNSTAMPED => Told::Pings,
            _ => Told::Nothing,
        }
    }

    /// The rate to set.
    pub fn decide(&mut self, now: Instant) -> Decision {
        let at = now.as_secs_f64();
        let step = (at - self.asked).clamp(0.0, SLOT);
        self.asked = at;
        let told = self.told(at);
        // Pings never say that there is no queue where stamps say that there is one: a line may queue
        // them elsewhere.
        let wait = match told {
            Told::Stamps => self.stamped.least(at),
            Told::Pings => self.pinged.least(at),
            Told::Nothing => None,
        };
        let capacity = self.busy.capacity(at);
        let used = self.load(now);
        let queue = wait.filter(|wait| *wait > QUEUE);
        self.sample(at, wait, capacity, used);
        match (queue, wait) {
            (Some(wait), _) => self.fall(step, wait, capacity),
            (None, Some(_)) => self.rise(step, used),
            (None, None) => self.why = Why::Idle,
        }
        self.rate = self.rate.clamp(LEAST, GREATEST);
        Decision {
            rate: rate_of(self.rate),
            why: self.why,
            told,
        }
    }

    /// Remembers what the line carries, once a slot.
    ///
    /// On the way back from a queue the rate tells of the line only that it is no less: but it is that low
    /// because the line was. Such moments would be lost to the quantile, and dips count for as little as
    /// their queues last. So they count as what the queue told, or what passes by now.
    fn sample(&mut self, at: f64, wait: Option<f64>, capacity: Option<f64>, used: f64) {
        if at - self.sampled < SLOT {
            return;
        }
        self.sampled = at;
        let Some(wait) = wait else { return };
        let passes = used * self.rate;
        let sample = match (wait > QUEUE, capacity, self.dip) {
            (true, Some(capacity), _) => {
                self.dip = Some(capacity);
                CapacitySample::Exactly(capacity)
            }
            (false, _, Some(dip)) => CapacitySample::Exactly(dip.max(passes)),
            (false, _, None) if used > TELLS => CapacitySample::AtLeast(passes),
            _ => return,
        };
        self.memory.add(sample);
        self.usual = self.memory.quantile(self.below);
    }

    /// There is a queue.
    fn fall(&mut self, step: f64, wait: f64, capacity: Option<f64>) {
        self.clear = 0.0;
        let waits = Duration::from_secs_f64(wait);
        let Some(capacity) = capacity else {
            self.why = Why::Waits { wait: waits };
            return;
        };
        self.why = Why::Queue {
            wait: waits,
            capacity: rate_of(capacity),
        };
        let usual = self.usual.unwrap_or(f64::INFINITY);
        if capacity <= ANOTHER * usual {
            self.since_usual = 0.0;
        }
        let keep = (KEEP - (wait - QUEUE) / EMPTY).max(DEEPEST);
        let to = (keep * capacity).min(KEEP * usual);
        if to < self.rate {
            self.rate = to;
        } else {
            self.rate += (to - self.rate) * (step / 0.1).min(1.0);
        }
    }

    /// There is no queue, and `used` of the rate is.
    fn rise(&mut self, step: f64, used: f64) {
        let is_used = used > USED;
        if is_used {
            self.clear += step;
        }
        if used > TELLS {
            self.since_usual += step;
        }
        let passes = used * self.rate;
        if let Some(usual) = self.usual
            && self.since_usual > LONG
            && passes > ANOTHER * usual * KEEP
        {
            self.memory.keep((self.since_usual / SLOT) as usize);
            self.usual = self.memory.quantile(self.below);
        }
        let carried = self.memory.carried();
        let known = self.usual.map_or(carried, |usual| KEEP * usual);
        if self.rate < known {
            self.rate = (self.rate * libm::exp(BACK * step)).min(known);
            self.why = Why::Usual {
                usual: rate_of(known),
            };
        } else if is_used {
            self.dip = None;
            let longer = self.clear / SOON;
            let faster = (BEYOND * (1.0 + FASTER * longer * longer)).min(BACK);
            self.rate *= libm::exp(faster * step);
            self.why = Why::More {
                carried: rate_of(passes),
            };
        } else {
            self.why = Why::Idle;
        }
    }
}

/// A longer outage counts as 10 s of it.
const MOST_SLOTS: usize = 200;

fn rate_of(bits: f64) -> Rate {
    Rate::from_bits(bits as u64)
}
