//! A link with any of our disciplines, in user space, for real packets.
//!
//! A command runs in a network namespace of its own, whose only way out is a TUN device. Its
//! packets are read by this process, pass a [`link::Link`], and are written to a second TUN device
//! on the near side; and the other way round. [`LinkWay`] is one direction, which has no clock and no
//! device; [`Frame`] a packet; [`run`] combines them. [`LiveEngine`] runs scenarios in the same
//! way: their applications over this host's sockets, their links here. [`Gates`] has links between
//! queues of netfilter's and the network, and [`Household`] lets those of several hosts share a rate.
//!
//! Not for: the actions of applications (`guest`), the comparison of disciplines (`reproduce`), or
//! changing a host's queues (`netcfg`).

#![deny(missing_docs)]

mod clock;
mod devices;
mod engine;
mod error;
mod far;
mod forward;
mod frame;
mod gate;
mod household;
mod inside;
mod internet;
mod lateness;
mod may;
mod names;
mod nfqueue;
mod prompt;
mod run;
mod segments;
mod signals;
mod spare;
mod taken;
mod tap;
mod user;
mod warden;
mod way;
mod wire;

pub use engine::LiveEngine;
pub use error::{Error, FarFailed};
pub use far::{Ended, FAR};
pub use frame::{Frame, FrameEnds, Header, VNET};
pub use gate::{Gate, Gates, Standing, Tally};
pub use household::{Household, Turn};
pub use lateness::Lateness;
pub use prompt::SchedulerPolicy;
pub use run::{Done, Setup, run};
pub use taken::Known;
pub use tap::{Fate, Gone, QueueState, SharedTap, Tap, TapDirection};
pub use user::FarSide;
pub use way::{LinkWay, WayCounts};
