//! Numbers and names in sentences.

pub use measure::why::time;

/// Longer names are cut if there is little room.
pub const SHORT_NAME: usize = 32;
