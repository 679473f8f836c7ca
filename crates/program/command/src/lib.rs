//! What the commands of all programs share: refusals, files that are written, tables, and what is printed.
//!
//! Not for: commands (`router`, `analects`); the contents of a table.

#![deny(missing_docs)]

pub mod cells;
pub mod files;
#[cfg(feature = "host")]
mod on_host;
mod outcome;
mod printed;
mod refused;

pub use outcome::{ended, usage};
pub use printed::print;
pub use refused::Refused;
