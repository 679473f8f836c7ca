//! The bottleneck of a path, as a state machine.
//!
//! A [`Link`] is a discipline and the wire behind it: its capacity ([`Capacity`], constant or a
//! [`Trace`]), the bytes that it adds to each packet, the ring of its device, its delay, and random
//! effects on packets ([`Chance`]). It has no clock: a simulator, a live link, a gateway or a pacer
//! passes it the time.
//!
//! Not for: sources and destinations of packets, which are the caller's responsibility.

#![deny(missing_docs)]

mod capacity;
mod chance;
mod grants;
mod jitter;
mod link;
pub mod trace;

pub use capacity::Capacity;
pub use chance::{Chance, gilbert};
pub use jitter::Jitter;
pub use link::{Departure, Line, Link};
pub use trace::Trace;
