//! What one way took and what the other, by two clocks.

/// The header in which a server of ours says what its clock, which no other knows, was when a small object was asked for,
/// in us.
pub const CLOCK: &str = "analects-clock";

/// How long a request took there, and its answer back, in ms, but for what the two clocks are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// Back.
    pub down: f64,
    /// There.
    pub up: f64,
}

impl Apart {
    /// The least of both.
    pub fn least(self, other: Apart) -> Apart {
        Apart {
            down: self.down.min(other.down),
            up: self.up.min(other.up),
        }
    }
}
