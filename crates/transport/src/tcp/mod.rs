//! TCP.

mod segment;

pub use segment::{Flags, MAX_BLOCKS, Sack, Segment};
