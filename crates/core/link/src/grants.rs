//! A radio that delivers at certain moments only, all that came since the last one.

use units::random::Stream;
use units::{Duration, Instant};

/// Moments at which packets get through, as an LTE terminal is granted them, a cable modem by its MAPs,
/// and as Wi-Fi sends aggregates. Their distances are even up to the longest.
#[derive(Debug, Clone)]
pub struct Grants {
    /// Nanoseconds.
    most: u64,
    chance: Stream,
    next: Instant,
}

impl Grants {
    /// At most `most` from one to the next, whose random numbers `name` distinguishes from others with
    /// the same `seed`; none if there is none.
    pub fn new(most: Duration, seed: u64, name: &str) -> Option<Self> {
        (most > Duration::ZERO).then(|| Grants {
            most: most.as_nanos(),
            chance: Stream::new(seed, name),
            next: Instant::ZERO,
        })
    }

    /// When a packet that would arrive `at`, after those before, gets through.
    pub fn delay(&mut self, at: Instant) -> Instant {
        let most = Duration::from_nanos(self.most);
        if at > self.next + most {
            // Where the moments were while nothing came does not matter.
            self.next = at;
        }
        while self.next < at {
            self.next += Duration::from_nanos(1 + self.chance.below(self.most));
        }
        if self.next == at {
            self.next += Duration::from_nanos(self.chance.below(self.most));
        }
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_in_order_in_groups_and_in_time() {
        let most = Duration::from_millis(20);
        let mut grants = Grants::new(most, 1, "test").unwrap();
        let (mut last, mut groups, mut late) = (Instant::ZERO, 0, Duration::ZERO);
        for number in 0..10_000 {
            let at = Instant::from_nanos(number * 1_000_000);
            let arrives = grants.delay(at);
            assert!(arrives >= last && arrives >= at && arrives <= at + most);
            groups += u32::from(arrives > last);
            late = late.max(arrives.since(at));
            last = arrives;
        }
        // 10 s, one every 10 ms on average.
        assert!((900..1100).contains(&groups), "{groups}");
        assert!(late > Duration::from_millis(19), "{late}");
        let later = last + Duration::from_secs(3600);
        assert!(grants.delay(later) <= later + most);
    }
}
