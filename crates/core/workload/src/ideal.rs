//! The part of a page's load time that is not the link's.

use serde::{Deserialize, Serialize};
use units::Duration;

/// Load times of a page over networks without bytes' time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ideal {
    /// Over a network without round trips either: servers think, the browser works, requests wait for
    /// each other and for free connections.
    pub servers: Duration,
    /// The same with the round trips to the servers, those of handshakes included.
    pub round_trips: Duration,
}
