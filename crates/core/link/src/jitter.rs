//! Packets that come later than they would, and in order.

use units::random::Stream;
use units::{Duration, Instant};

/// Delays by chance that keep the order.
#[derive(Debug, Clone)]
pub struct Jitter {
    /// Nanoseconds.
    most: u64,
    chance: Stream,
    /// The arrival of the last packet.
    last: Instant,
}

impl Jitter {
    /// Up to `most` for each packet, whose random numbers `name` distinguishes from others with the
    /// same `seed`; none if there is none.
    pub fn new(most: Duration, seed: u64, name: &str) -> Option<Self> {
        (most > Duration::ZERO).then(|| Jitter {
            most: most.as_nanos(),
            chance: Stream::new(seed, name),
            last: Instant::ZERO,
        })
    }

    /// The arrival of a packet that would arrive `at`.
    pub fn delay(&mut self, at: Instant) -> Instant {
        let late = Duration::from_nanos(self.chance.below(self.most + 1));
        self.last = self.last.max(at + late);
        self.last
    }
}
