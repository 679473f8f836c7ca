//! Time, sizes and rates as newtypes; parameters that are declared once; choices by name; seeded
//! random streams.
//!
//! All crates above this one use these types, so that a millisecond is never a microsecond and a
//! bit is never a byte. All of them are integers: two runs of one seed agree to the byte.
//!
//! Text forms are accepted in any letter case: `40ms`, `1.5s`, `20mbit`, `375kB`, `64KiB`.
//!
//! Not for: packets, flows or links.

#![deny(missing_docs)]

mod bytes;
pub mod choice;
mod ecn;
mod flow;
pub mod param;
pub mod random;
mod rate;
mod ratio;
mod refusal;
mod text;
mod time;

pub use bytes::Bytes;
pub use choice::Choice;
pub use ecn::Ecn;
pub use flow::FlowId;
pub use rate::Rate;
pub use refusal::Refusal;
pub use text::ParseError;
pub use time::{Duration, Instant};
