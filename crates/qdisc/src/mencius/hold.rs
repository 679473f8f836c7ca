//! The hold: how long established flows of a host wait at most, and what that may cost the others.

use units::{Duration, Instant};

/// Bytes that are saved up, at most.
const MOST: i64 = 64 << 10;
/// The bound rises for so long, …
const RISE: Duration = Duration::from_millis(400);
/// … and stays for so long before what waits is drained.
const STAY: Duration = Duration::from_millis(150);
/// Without anyone waiting for so long, an episode is over.
const REST: Duration = Duration::from_millis(200);
/// Whoever came less than this ago is new.
const NEW: Duration = Duration::from_secs(1);

/// How the hold behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The most that a held packet waits.
    pub(super) most: Duration,
    /// Of its host's bytes established flows may take this many of 256 whenever they wait.
    pub(super) part: i64,
    /// In this time the least share of the others doubles.
    pub(super) doubling: Duration,
}

impl Rules {
    pub(super) fn low(&self) -> Duration {
        self.most / 4
    }
}

/// The hold of a host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Since when and until when, lately, someone waited.
    episode: Option<Instant>,
    waited: Instant,
    /// When the newest flow came.
    pub(super) birth: Instant,
    /// Bytes that established flows may take at any time.
    entitled: i64,
    /// Bytes that they are ahead of their bound against the others.
    ahead: i64,
    /// For how long others have been held back; falls when they are not.
    age: Duration,
    aged: Instant,
    /// When the bound began to rise; none while what waits is drained.
    rising: Option<Instant>,
    protecting: bool,
}

impl Hold {
    pub(super) fn new(now: Instant) -> Self {
        Hold {
            episode: None,
            waited: now,
            birth: now,
            entitled: MOST,
            ahead: 0,
            age: Duration::ZERO,
            aged: now,
            rising: Some(now),
            protecting: false,
        }
    }

    /// Whether an episode is on.
    pub(super) fn is_on(&self) -> bool {
        self.episode.is_some()
    }

    /// Whether a packet of an established flow that waited for `wait` goes before all others of its
    /// host, where `others` compete with `own` established flows.
    pub(super) fn serves(
        &mut self,
        now: Instant,
        wait: Duration,
        rules: &Rules,
        (own, others): (u32, u32),
    ) -> bool {
        let low = rules.low();
        if wait >= low {
            if self.episode.is_none() {
                self.episode = Some(now);
                self.ahead = 0;
                self.rising = Some(now);
                self.aged = now;
                self.protecting = now.since(self.birth) <= NEW;
            }
            self.waited = now;
        } else if self.episode.is_some() && now.since(self.waited) > REST {
            self.episode = None;
        }
        self.grow_older(now);
        if wait < low {
            if self.rising.is_none() {
                self.rising = Some(now);
            }
            return false;
        }
        if self.entitled > 0 {
            return true;
        }
        if now.since(self.birth) <= NEW && !self.protecting {
            self.protecting = true;
        }
        if !self.protecting {
            return false;
        }
        if self.others_share(rules) >= 256 * i64::from(others.max(1)) / i64::from(own.max(1)) {
            self.protecting = false;
            return false;
        }
        self.ahead <= MOST && wait >= self.bound(now, rules)
    }

    fn grow_older(&mut self, now: Instant) {
        let span = now.since(self.aged);
        self.aged = now;
        self.age = match self.episode.is_some() && self.protecting {
            true => (self.age + span).min(Duration::from_secs(10)),
            false => self.age.saturating_sub(span),
        };
    }

    /// Bytes that others get for 256 of established flows, at least.
    fn others_share(&self, rules: &Rules) -> i64 {
        let doublings = (self.age.as_nanos() << 8) / rules.doubling.as_nanos().max(1);
        let (whole, part) = ((doublings >> 8).min(20), doublings & 255);
        // 1/16, with straight lines between powers of two.
        ((16_i64 << whole) * (256 + part as i64)) >> 8
    }

    fn bound(&mut self, now: Instant, rules: &Rules) -> Duration {
        let low = rules.low();
        let Some(start) = self.rising else {
            return low;
        };
        let span = now.since(start);
        if span > RISE + STAY {
            self.rising = None;
            return low;
        }
        let above = rules.most.saturating_sub(low);
        low + above * span.min(RISE).as_nanos() / RISE.as_nanos()
    }

    /// A packet of `len` bytes leaves while others wait too.
    pub(super) fn sent(&mut self, len: u32, established: bool, rules: &Rules) {
        let len = i64::from(len);
        let earned = len * rules.part / 256;
        let spent = if established { len } else { 0 };
        self.entitled = (self.entitled + earned - spent).clamp(-1514, MOST);
        if self.episode.is_some() {
            self.ahead += match established {
                true => len * self.others_share(rules) / 256,
                false => -len,
            };
            self.ahead = self.ahead.clamp(-MOST, 4 * MOST);
        }
    }
}
