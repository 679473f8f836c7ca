//! What a sender's own machine does to the times at which its packets leave.

use units::random::Stream;
use units::{Duration, Instant};

/// Packets leave up to so much later than they would, in order.
#[derive(Debug, Clone)]
pub struct Noise {
    /// Nanoseconds.
    most: u64,
    chance: Stream,
    /// When the last packet left.
    last: Instant,
}

impl Noise {
    /// That of the sender called `name`; none where there is none.
    pub fn new(most: Duration, seed: u64, name: &str) -> Option<Self> {
        (most > Duration::ZERO).then(|| Noise {
            most: most.as_nanos(),
            chance: Stream::new(seed, &format!("noise {name}")),
            last: Instant::ZERO,
        })
    }

    /// When a packet leaves that would `at`.
    pub fn leaves(&mut self, at: Instant) -> Instant {
        let late = Duration::from_nanos(self.chance.below(self.most + 1));
        self.last = self.last.max(at + late);
        self.last
    }
}
