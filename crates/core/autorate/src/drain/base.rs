//! What a delay is without a queue: the least of the last while.

/// How long a least value holds at least, in s; at most twice that. Long enough for a queue to have been
/// empty once, short enough for a path that is longer now.
const WINDOW: f64 = 15.0;

/// The least of the last 15 to 30 s.
#[derive(Debug, Clone, Copy, Default)]
pub struct Base {
    /// The least of this window, and of the one before.
    now: Option<f64>,
    before: Option<f64>,
    since: f64,
}

impl Base {
    /// A base that is known at `now`.
    pub fn at(now: f64, value: f64) -> Self {
        Base {
            now: Some(value),
            before: None,
            since: now,
        }
    }

    /// How far `value` is above the least, itself included; in its unit.
    pub fn above(&mut self, now: f64, value: f64) -> f64 {
        if now - self.since > WINDOW {
            self.before = self.now.filter(|_| now - self.since < 2.0 * WINDOW);
            self.now = None;
            self.since = now;
        }
        let least = self.now.map_or(value, |least| least.min(value));
        self.now = Some(least);
        value - self.before.map_or(least, |before| before.min(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_path_becomes_the_base_within_two_windows() {
        let mut base = Base::default();
        assert_eq!(base.above(1.0, 5.0), 0.0);
        assert_eq!(base.above(2.0, 7.0), 2.0);
        let late: Vec<f64> = (3..40).map(|s| base.above(f64::from(s), 7.0)).collect();
        assert_eq!((late[0], late[36]), (2.0, 0.0));
        // After an hour nothing of before holds.
        assert_eq!(base.above(3640.0, 9.0), 0.0);
    }
}
