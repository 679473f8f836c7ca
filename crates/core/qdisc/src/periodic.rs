//! A kernel timer without a timer: how often it would have fired by now.
//!
//! Between two calls nothing in a discipline changes, so that updates which are due may as well be
//! made up for at the next call, each with the time at which it was due.

use units::{Duration, Instant};

/// When a discipline's timer fires. It starts with the first call, a discipline being built without
/// knowing the time.
#[derive(Debug, Clone)]
pub struct Periodic {
    /// From the first call to the first firing.
    delay: Duration,
    period: Duration,
    first: Option<Instant>,
}

impl Periodic {
    /// A timer that fires `delay` after the first call, and then every `period`.
    pub fn new(delay: Duration, period: Duration) -> Self {
        Periodic {
            delay,
            period,
            first: None,
        }
    }

    /// How often it has fired by `now`, counting one that is due right now.
    #[inline]
    pub fn fired(&mut self, now: Instant) -> u64 {
        let first = *self.first.get_or_insert(now + self.delay);
        if now < first {
            return 0;
        }
        1 + now.since(first).as_nanos() / self.period.as_nanos().max(1)
    }

    /// When it fires for the time numbered `index`, from 0.
    pub fn at(&self, index: u64) -> Instant {
        self.first.unwrap_or(Instant::NEVER) + self.period * index
    }

    /// Sets another period from `now` on. The next firing stays where it is, and is number 0.
    pub fn change(&mut self, now: Instant, period: Duration) {
        let next = self.fired(now);
        self.first = Some(self.at(next));
        self.period = period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// First called at 100 ms: fires at 600, 615, 630; then, every 20 ms from 631 on, at 645, 665.
    #[test]
    fn firings_are_counted_from_the_first_call() {
        let ms = Duration::from_millis;
        let mut timer = Periodic::new(ms(500), ms(15));
        let fired = [100, 599, 600, 614, 615, 630].map(|now| timer.fired(at(now)));
        assert_eq!(fired, [0, 0, 1, 1, 2, 3]);
        assert_eq!(timer.at(2), at(630));
        timer.change(at(631), ms(20));
        let fired = [644, 645, 664, 665].map(|now| timer.fired(at(now)));
        assert_eq!(fired, [0, 1, 1, 2]);
    }

    #[test]
    fn the_end_of_time() {
        let mut timer = Periodic::new(Duration::MAX, Duration::ZERO);
        assert_eq!(timer.fired(at(0)), 0);
        assert_eq!(timer.fired(Instant::NEVER), 1);
        assert_eq!(timer.at(u64::MAX), Instant::NEVER);
    }
}
