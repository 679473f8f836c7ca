//! The interface of a controller.

use crate::{Decision, Signal, Ways};
use units::Instant;

/// Follows a line in both directions.
///
/// The moments that it is given never run backwards. It may be asked at any time; a caller asks every
/// 5 to 100 ms, since what is seen is worth most at once.
pub trait Controller: Send {
    /// Something was seen.
    fn tell(&mut self, now: Instant, signal: &Signal);

    /// The rates to set.
    fn decide(&mut self, now: Instant) -> Ways<Decision>;
}
