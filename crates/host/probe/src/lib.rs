//! Determines the queue management of a path: fair queuing or one queue for all, found with two
//! subflows of multipath QUIC; and what a call waits beside a load.
//!
//! Two ports of a client talk with one port of a server, so that a fair queue sees two flows. The
//! sender gives one of them 6/10 of its rate and the other 4/10, in turns ([`control`]), and sees
//! from the delays of neighbours whether they wait in one queue (`cca::tonopah`). Round trips, losses
//! and marks show the rest ([`depth`]). From a third port a [`call`] is sent beside them, and what is
//! said of calls rests on its waits alone. The quick form sends two trains instead ([`trains`]).
//!
//! [`node`] is an end point without sockets and clock: [`real`] gives it both, the tests simulated
//! links in virtual time.
//!
//! Not for: measuring how fast a path is (it stops at the server's limits), or a queue that is not
//! the bottleneck.

#![deny(missing_docs)]

pub mod call;
pub mod control;
pub mod depth;
mod farewell;
pub mod identity;
pub mod limits;
mod locked;
mod message;
mod news;
pub mod node;
pub mod order;
mod problem;
pub mod real;
pub mod report;
mod session;
pub mod trains;

pub use identity::{Identity, KeyShown, Pin, Trust, verifier};
pub use locked::locked;
pub use problem::Problem;
pub use report::Report;
