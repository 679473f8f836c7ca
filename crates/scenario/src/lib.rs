//! What to run and what came of it.
//!
//! A [`Scenario`] describes links, traffic and the disciplines to compare. An [`Engine`] runs it
//! and tells a [`Sink`] what happens, [`Event`] by event. The [`Collector`] turns events into a
//! [`RunResult`], once, the same for every engine.

#![deny(missing_docs)]

mod backlog;
mod capacity;
mod classes;
mod collect;
mod complete;
mod document;
mod dscp;
mod engine;
mod error;
mod event;
pub mod files;
mod link_meter;
mod model;
mod notes;
mod resolve;
mod result;
mod section;
pub mod trace;
mod video;
mod waits;

pub use collect::Collector;
pub use document::Document;
pub use dscp::Dscp;
pub use engine::{BuiltLink, Engine, EngineError, Unsupported, run};
pub use error::{ScenarioError, printable};
pub use event::{Event, LinkId, Sink, TrafficId};
pub use model::{Buffer, Capacity, Choice, Kind, Link, Scenario, Stack, Traffic, Uplink};
pub use resolve::{Judge, Names};
pub use result::{
    CallResult, FlowResult, FrameDelay, LinkBacklog, LinkResult, Note, PacketDelay, PageResult,
    Residence, RunResult, Series, Sojourn,
};
pub use trace::Trace;
pub use video::quantile;
