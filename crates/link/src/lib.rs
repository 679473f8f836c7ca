//! The bottleneck of a path, as a state machine.
//!
//! A [`Link`] is a discipline and the wire behind it: what it can carry ([`Capacity`], constant or a
//! [`Trace`]), what it adds to each packet, the ring of its device, its delay, and what chance does to
//! packets on it ([`Chance`]). It has no clock: a simulator, a live link, a gateway or a pacer tells it what time it is.
//!
//! Not for: where packets come from and where they go, which is for whoever runs it to know.

#![deny(missing_docs)]

mod capacity;
mod chance;
mod jitter;
mod link;
pub mod trace;

pub use capacity::Capacity;
pub use chance::{Chance, gilbert};
pub use jitter::Jitter;
pub use link::{Departure, Line, Link};
pub use trace::Trace;
