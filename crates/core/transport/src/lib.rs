//! Sans-I/O transports: TCP, QUIC's shape, and media sessions.
//!
//! A transport is a state machine: packets and timers go in, packets and events come out, and every
//! call takes `now`. No bytes are carried, only their numbers: the caller keeps the content
//! separately (a simulator), or writes real bytes (a socket).
//!
//! After any call, drive an end point until it is quiet: [`Connection::transmit`] until it returns
//! nothing, [`Connection::event`] until it returns nothing, then look at
//! [`Connection::next_timer`].
//!
//! Not for: deciding how fast to send (`cca`); the meaning of the bytes (`workload`).

#![deny(missing_docs)]

mod config;
mod connection;
mod delivery;
pub mod endpoint;
mod flight;
mod limits;
mod loss;
pub mod media;
mod pacing;
pub mod quic;
mod ranges;
mod recovery;
mod rtt;
pub mod tcp;
mod usage;
mod wire;

pub use config::Config;
pub use connection::{Connection, Event, SenderState, Stats};
pub use endpoint::Endpoint;
pub use limits::{SenderLimit, SenderLimits};
pub use wire::{Datagram, Transmit, Wire};
