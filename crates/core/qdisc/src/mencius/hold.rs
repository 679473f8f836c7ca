//! The hold: how long settled flows wait at most, and the bound on its cost to others.
//!
//! When many flows begin at once, fair shares would cut a call to a fraction of its rate, and its
//! queue would grow until its congestion control has followed, which takes seconds. The hold lets
//! the queue grow only as far and as fast as is needed to be noticed:
//!
//! 1. Settled flows are *entitled* to a part of the bytes. While they keep to it, they do not
//!    wait longer than `min_wait`.
//! 2. For more than that, if another flow has come within the last second: the wait may rise from
//!    `min_wait` to `max_wait` in `rise`, stays there for a moment, is let down again, and so on. A wait
//!    that stands tells a congestion control that follows delay nothing, one that rises does, each
//!    time.
//! 3. The cost to the others has a bound: they get at least a sixteenth of what settled flows
//!    get, twice that after `doubling`, and so on up to an *edge*. There it stays, so that no
//!    further step surprises a congestion control.
//!
//! Within a host the edge is the fair share of the others, at most 160 bytes per 256. Between hosts
//! there is no part, and the edge is three quarters of fair shares.

use units::{Duration, Instant};

/// Bytes that are saved up or owed at most.
const SAVED: i64 = 64 << 10;
/// The debt is at most a full packet.
const OWED: i64 = 1514;
/// For so long the wait stays at its highest.
const STAY: Duration = Duration::from_millis(150);
/// The hold is over when no packets have waited for so long.
const REST: Duration = Duration::from_millis(200);
/// A flow that came less than this ago is new.
const NEW: Duration = Duration::from_secs(1);
/// Bytes of others per 256 bytes of settled flows, at first.
const FIRST: i64 = 16;
/// Number of doublings after which nothing changes.
const DOUBLINGS: u64 = 20;
/// A hold's age is capped at this, so that the effect of a long one is forgotten within as much.
const OLDEST: Duration = Duration::from_secs(30);

/// How the hold behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct HoldRules {
    /// Other flows are not held back for waits below this.
    pub(super) min_wait: Duration,
    /// Only those are that have waited for so long themselves.
    pub(super) stands: Duration,
    /// The most that a settled flow waits while others are held back.
    pub(super) max_wait: Duration,
    /// In this time the wait rises from `min_wait` to `max_wait`.
    pub(super) rise: Duration,
    /// Of all bytes settled flows may take this many of 256 whenever they wait.
    pub(super) settled_share: i64,
    /// In this time the least share of the others doubles.
    pub(super) doubling: Duration,
    /// Final share of the others: so many of 256 parts of their fair share, ...
    pub(super) of_fair: i64,
    /// ... and no more than so many bytes per 256 of settled flows.
    pub(super) edge: i64,
}

/// The number of competitors: hosts or flows with packets queued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Backlogged {
    /// Settled ones.
    pub(super) settled: u32,
    /// All others.
    pub(super) others: u32,
}

/// The hold for the settled flows of a host, or of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Whether packets wait, or did just now.
    on: bool,
    /// When packets waited last.
    waited: Instant,
    /// When the newest flow came.
    pub(super) birth: Instant,
    /// Bytes that settled flows may take at any time.
    entitled: i64,
    /// Bytes taken by settled flows beyond the limit that the others' share sets.
    ahead: i64,
    /// For how long others have been held back; falls when they are not.
    age: Duration,
    aged: Instant,
    /// When the wait began to rise.
    rising: Instant,
    /// Whether the others' share still grows.
    yielding: bool,
    /// The final value: bytes per 256 of settled flows.
    edge: i64,
}

impl Hold {
    /// No packets wait.
    pub(super) fn new(now: Instant) -> Self {
        Hold {
            on: false,
            waited: now,
            birth: now,
            entitled: SAVED,
            ahead: 0,
            age: Duration::ZERO,
            aged: now,
            rising: now,
            yielding: false,
            edge: 256,
        }
    }

    /// Whether the wait of settled flows is caused by others.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Whether a packet of a settled flow, the one that has waited longest and for `wait`, may have
    /// a turn of others.
    pub(super) fn serves(
        &mut self,
        now: Instant,
        wait: Duration,
        rules: &HoldRules,
        backlogged: Backlogged,
    ) -> bool {
        let waits = wait >= rules.min_wait;
        self.note(now, waits);
        self.grow_older(now);
        if !waits {
            return false;
        }
        self.entitled > 0 || self.yields(now, rules, backlogged) && wait >= self.bound(now, rules)
    }

    /// No flow can be held back: the wait of settled flows is their own doing.
    pub(super) fn rests(&mut self, now: Instant) {
        self.note(now, false);
        self.grow_older(now);
    }

    fn note(&mut self, now: Instant, waits: bool) {
        if waits {
            if !self.on {
                self.on = true;
                self.ahead = 0;
                self.aged = now;
                self.yielding = false;
            }
            self.waited = now;
        } else if now.since(self.waited) > REST {
            self.on = false;
        }
    }

    fn grow_older(&mut self, now: Instant) {
        let span = now.since(self.aged);
        self.aged = now;
        self.age = if self.on && self.yielding {
            (self.age + span).min(OLDEST)
        } else {
            self.age.saturating_sub(span)
        };
    }

    /// Whether settled flows may have more than their part.
    fn yields(&mut self, now: Instant, rules: &HoldRules, backlogged: Backlogged) -> bool {
        self.yielding |= now.since(self.birth) <= NEW;
        let fair = rules.of_fair * i64::from(backlogged.others.max(1))
            / i64::from(backlogged.settled.max(1));
        self.edge = fair.min(rules.edge);
        self.yielding &= self.grown_share(rules) < self.edge;
        self.ahead <= SAVED
    }

    /// Bytes that others get for 256 of settled flows, at least.
    fn others_share(&self, rules: &HoldRules) -> i64 {
        if self.yielding {
            self.grown_share(rules)
        } else {
            self.edge
        }
    }

    /// [`FIRST`], doubled with age, with straight lines between the doublings.
    fn grown_share(&self, rules: &HoldRules) -> i64 {
        let doublings = (self.age.as_nanos() << 8) / rules.doubling.as_nanos().max(1);
        let (whole, part) = ((doublings >> 8).min(DOUBLINGS), (doublings & 255) as i64);
        ((FIRST << whole) * (256 + part)) >> 8
    }

    /// How long a packet waits before it goes before the others.
    fn bound(&mut self, now: Instant, rules: &HoldRules) -> Duration {
        let span = now.since(self.rising);
        if span > rules.rise + STAY {
            self.rising = now;
            return rules.min_wait;
        }
        let above = rules.max_wait.saturating_sub(rules.min_wait);
        let risen = span.min(rules.rise).as_nanos();
        rules.min_wait + above * risen / rules.rise.as_nanos().max(1)
    }

    /// A packet of `len` bytes leaves while others wait too.
    #[inline]
    pub(super) fn sent(&mut self, len: u32, settled: bool, rules: &HoldRules) {
        let len = i64::from(len);
        let earned = len * rules.settled_share / 256;
        let spent = if settled { len } else { 0 };
        self.entitled = (self.entitled + earned - spent).clamp(-OWED, SAVED);
        if self.on {
            self.ahead += if settled {
                len * self.others_share(rules) / 256
            } else {
                -len
            };
            self.ahead = self.ahead.clamp(-SAVED, 4 * SAVED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    const RULES: HoldRules = HoldRules {
        min_wait: Duration::from_millis(20),
        stands: Duration::from_millis(5),
        max_wait: Duration::from_millis(100),
        rise: Duration::from_millis(400),
        settled_share: 128,
        doubling: Duration::from_secs(3),
        of_fair: 256,
        edge: 160,
    };
    const MANY: Backlogged = Backlogged {
        settled: 1,
        others: 12,
    };

    fn wait(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// 64 kB are saved; each byte of settled flows spends half of itself, so that they last for
    /// 128 kB. Then half of all that others send is theirs.
    #[test]
    fn within_the_part_nobody_waits_longer_than_the_minimum() {
        let mut hold = Hold::new(ms(0));
        hold.birth = ms(0);
        assert!(!hold.serves(ms(5000), wait(19), &RULES, MANY));
        let mut sent = 0;
        while hold.serves(ms(5000), wait(20), &RULES, MANY) {
            hold.sent(1500, true, &RULES);
            sent += 1500;
        }
        assert_eq!(sent / 1500, 2 * SAVED / 1500 + 1, "{sent}");
        for _ in 0..4 {
            hold.sent(1500, false, &RULES);
        }
        // 750 bytes each, less the debt.
        assert!(hold.serves(ms(5000), wait(20), &RULES, MANY));
    }

    /// 80 ms in 400: after 100 ms the bound is 40 ms, after 400 it is 100, and after 550 the minimum again.
    #[test]
    fn above_the_part_the_wait_rises_while_somebody_is_new() {
        let mut hold = Hold::new(ms(0));
        hold.entitled = 0;
        hold.rising = ms(1000);
        hold.birth = ms(1000);
        for (at, below, bound) in [(1100, 39, 40), (1400, 99, 100), (1550, 99, 100)] {
            assert!(!hold.serves(ms(at), wait(below), &RULES, MANY), "{at}");
            assert!(hold.serves(ms(at), wait(bound), &RULES, MANY), "{at}");
        }
        assert!(hold.serves(ms(1551), wait(20), &RULES, MANY));
    }

    /// A sixteenth at first, an eighth after three seconds, then a quarter, and so on to 160 of 256
    /// bytes; for one other of four settled flows to the 64 of a fair share.
    #[test]
    fn what_others_get_doubles_up_to_the_edge() {
        let share = |seconds: u64, backlogged| {
            let mut hold = Hold::new(ms(0));
            hold.birth = ms(0);
            // Packets wait at any time: an episode that does not end.
            for at in (0..=seconds * 1000).step_by(100) {
                hold.serves(ms(at), wait(20), &RULES, backlogged);
                hold.entitled = 0;
            }
            hold.others_share(&RULES)
        };
        let shares = [1, 4, 7, 10, 40].map(|seconds| share(seconds, MANY));
        // The first call spends the savings, and age begins with the second: 0.9 s, 3.9 s, 6.9 s.
        assert_eq!(shares, [20, 41, 83, 160, 160]);
        assert_eq!(
            share(
                40,
                Backlogged {
                    settled: 4,
                    others: 1
                }
            ),
            64
        );
    }

    #[test]
    fn rest_ends_it_and_age_is_forgotten_as_fast_as_it_came() {
        let mut hold = Hold::new(ms(0));
        hold.birth = ms(0);
        for at in (0..=6000).step_by(100) {
            hold.serves(ms(at), wait(20), &RULES, MANY);
            hold.entitled = 0;
        }
        let aged = hold.age;
        assert!(hold.is_on() && aged >= wait(5800));
        hold.serves(ms(6201), wait(0), &RULES, MANY);
        assert!(!hold.is_on());
        hold.serves(ms(6201) + aged, wait(0), &RULES, MANY);
        assert_eq!(hold.age, Duration::ZERO);
    }
}
