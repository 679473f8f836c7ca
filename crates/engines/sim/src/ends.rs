//! End points by number.

use transport::Endpoint;
use units::Instant;

/// One end point.
pub struct End {
    /// Its kind.
    pub kind: Endpoint,
    /// The earliest of its timers in the agenda.
    pub scheduled: Instant,
    /// How often its number was used before: timers of its predecessors are not its own.
    pub generation: u16,
}
