//! The end points of the engines with real sockets: applications, calls and their servers.
//!
//! One thread, both ends of everything. For the kernel engine a process of its own is started
//! inside a virtual machine (or in namespaces of the host) with a [`Plan`]; an engine that makes
//! the network itself calls [`play`]. With a plan, it runs the commands that build the network,
//! opens sockets in the namespaces of servers and of the home, drives the same state machines as
//! the simulator does, and records the events. As both ends live in one process they share a clock,
//! and the contents of a connection need not be written on the wire: packets have the length and
//! the timing that they should have, and no content.
//!
//! Its cost matters: if instructions are the clock, a copy or an allocation is a delay. So nothing
//! is parsed, formatted or written to disk while traffic runs.
//!
//! Not for: booting a machine, or deciding what to run (`linux`).

#![deny(missing_docs)]

mod agenda;
mod btf;
mod command;
pub mod controls;
mod ends;
mod error;
pub mod log;
mod place;
pub mod plan;
mod ports;
mod rates;
mod run;
mod setup;
mod socket;
mod sockets;
mod stage;
pub mod tap;
mod unsupported;
mod world;

pub use error::Failure;
pub use plan::Plan;
pub use run::{Report, run, run_file};
pub use setup::Sessions;
pub use stage::{Stage, play};
pub use unsupported::{MTU, unsupported};
