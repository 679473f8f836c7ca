//! The favour of a host: for how much of its own part of the link others may have its turns.
//!
//! Calls of other hosts, which need a moment to slow down when it comes, have turns of it beyond what they
//! pay back with their own: at most [`MOST`] of its part at once, and a sixteenth of the time. So
//! whatever others do, however many they are, in any time `t` a host has its turns for
//! `15 / 16 t - MOST`.

use units::{Duration, Instant};

/// The largest favour.
const MOST: Duration = Duration::from_secs(2);
/// It grows by one in so many ns.
const GROWS: u64 = 16;

/// A host's favour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Favour {
    /// ns; below 0 if the last packet took more than there was.
    left: i64,
    at: Instant,
}

impl Favour {
    /// Of a host that begins `now`.
    pub(super) const fn new(now: Instant) -> Self {
        Favour {
            left: MOST.as_nanos() as i64,
            at: now,
        }
    }

    /// A packet of another host that takes `time` of this one's part goes in its turn.
    pub(super) fn spend(&mut self, now: Instant, time: Duration) {
        self.grow(now);
        self.left = self.left.saturating_sub_unsigned(time.as_nanos());
    }

    /// Whether nothing is left of it.
    pub(super) fn is_spent(&mut self, now: Instant) -> bool {
        self.grow(now);
        self.left <= 0
    }

    fn grow(&mut self, now: Instant) {
        let grown = now.since(self.at).as_nanos() / GROWS;
        self.left = self.left.saturating_add_unsigned(grown);
        self.left = self.left.min(MOST.as_nanos() as i64);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    #[test]
    fn two_seconds_at_once_and_a_sixteenth_of_the_time() {
        let time = Duration::from_millis;
        let mut favour = Favour::new(ms(0));
        favour.spend(ms(0), time(1999));
        assert!(!favour.is_spent(ms(0)));
        favour.spend(ms(0), time(5));
        assert!(favour.is_spent(ms(0)));
        assert!(favour.is_spent(ms(64)), "4 ms were too many");
        favour.spend(ms(160), time(5));
        assert!(!favour.is_spent(ms(160)));
        favour.spend(ms(100_000), time(2000));
        assert!(
            favour.is_spent(ms(100_000)),
            "no more than that is saved up"
        );
    }
}
