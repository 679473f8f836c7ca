//! Commands that check what papers claim, by experiments and by theory.

#[cfg(feature = "host")]
pub mod agree;
pub mod bound;
pub mod evaluate;
pub mod jobs;
pub mod pilot;
pub mod reproduce;
pub mod threshold;
