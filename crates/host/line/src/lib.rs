//! Measures a line from one of its ends, over HTTP/2 against a server of draft-ietf-ippm-responsiveness: what it
//! carries each way, how long packets wait while it is full, on the connections that fill it and beside them, and how
//! many round trips a minute are left (RPM). And is such a server.
//!
//! [`client`] measures, [`server`] answers, and has a [`page`] by which a browser measures. What is reckoned from their samples is pure: [`course`] of the rate,
//! [`rpm`], [`stable`], [`losses`], [`waits`], [`queue`], and [`measured`], the result in words.
//!
//! Not for: which discipline manages the queue (`probe`), or what would help (`analects measure --compare`).

#![deny(missing_docs)]

mod answer;
mod apart;
mod arrived;
mod body;
mod call;
pub mod carried;
mod certificate;
pub mod client;
pub mod config;
mod connection;
pub mod course;
mod direction;
mod grants;
pub mod losses;
pub mod measured;
mod one_way;
pub mod page;
mod problem;
pub mod queue;
pub mod rpm;
pub mod server;
pub mod stable;
mod tls;
pub mod waits;
mod way;

pub use probe::{Pin, Trust};
pub use problem::Problem;
pub use tls::Trusted;
