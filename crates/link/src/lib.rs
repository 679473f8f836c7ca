//! The bottleneck of a path, as a state machine.
//!
//! Not for: where packets come from and go to, and what time it is: whoever runs a link says.

#![deny(missing_docs)]

mod capacity;
pub mod trace;

pub use capacity::Capacity;
pub use trace::Trace;
