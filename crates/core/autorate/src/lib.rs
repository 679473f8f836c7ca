//! Controllers that find a shaper's rate and follow the line behind it.
//!
//! A shaper that stands beside a modem cannot see the modem's queue. A [`Controller`] is told what
//! a router sees: packets that pass, with the time stamps of TCP, and answers to its own pings
//! ([`Signal`]). It returns a rate for each way, with its reason in words ([`Decision`]). It has no
//! clock, does no I/O, and allocates nothing per packet.
//!
//! Not for: setting a rate (`sim`, a daemon); looking at packets; the shaper itself (`qdisc`, the
//! kernel).

#![deny(missing_docs)]

mod achieved;
mod cake_autorate;
mod constant;
mod controller;
mod decision;
mod drain;
mod entry;
mod registry;
mod signal;
mod way;

pub use controller::Controller;
pub use decision::{Decision, Told, Why};
pub use entry::Entry;
pub use registry::Registry;
pub use signal::{PingAnswer, SeenPacket, Signal, Stamps};
pub use way::{Way, Ways};
