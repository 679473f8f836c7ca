//! The engine on Linux: its own TCP and queue disciplines, in a machine of its own (`machine`) in
//! virtual time, or on this host's kernel.
//!
//! Not for: the traffic inside the machine (`guest`); questions that the simulator can answer
//! faster (`sim`).

#![deny(missing_docs)]

mod chance;
mod disciplines;
mod engine;
mod host;
mod levels;
mod network;
mod packets;
mod plan;
mod rates;
#[cfg(test)]
mod samples;
mod unsupported;
mod written;

pub use engine::{KernelEngine, SetupError};
pub use host::{HostEngine, HostError};
pub use unsupported::unsupported;
