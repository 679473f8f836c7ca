//! Sans-I/O applications: calls, web pages, videos, transfers, datagrams.
//!
//! An [`App`] is a state machine: it receives events and answers with actions. It knows nothing of
//! packets; the caller opens the connections and carries the messages. The [`Driver`] runs all
//! applications of a scenario over any engine's [`Sockets`]. A message's content is its
//! [`Message`], which the driver keeps separate from the byte stream.
//!
//! Not for: transports and congestion control, which engines bring.

#![deny(missing_docs)]

pub mod actors;
mod app;
pub mod audio;
pub mod bulk;
pub mod call;
mod carrier;
pub mod conference;
pub mod driver;
pub mod encoder;
mod entry;
mod event;
pub mod generator;
pub mod har;
pub mod ideal;
mod ladder;
mod ledger;
mod library_call;
pub mod page;
mod page_loads;
pub mod registry;
pub mod sizes;
pub mod statistics;
pub mod temporal;
pub mod udp;
mod video;

pub use app::{
    App, AudioFrame, Conditions, ConnId, Datagram, Frame, Input, Message, Output, Report,
};
pub use carrier::Carrier;
pub use driver::{Driver, Sockets};
pub use entry::{
    Build, BuildError, Entry, Figure, Kept, Kind, Library, LibraryError, Preset, Rows, Settled,
    Start, Workload,
};
pub use event::{Event, TrafficId};
pub use ladder::Layers;
pub use page_loads::PageLoads;
pub use registry::Registry;
