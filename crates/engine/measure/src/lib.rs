//! The results of a run: events, taps, metrics, estimates.
//!
//! An [`Engine`] runs a scenario and reports each [`Event`] to a [`Sink`]. The [`Collector`] turns
//! events into a [`RunResult`], once, the same for every engine. [`metric`] names the figures that
//! results hold; [`Estimate`] is the uncertainty of a figure over several runs.
//!
//! Not for: the scenario to run (`scenario`), the display of results (`report`).

#![deny(missing_docs)]

mod audio;
mod backlog;
pub mod build;
mod cause;
mod classes;
mod cluster;
mod collect;
mod engine;
pub mod estimate;
mod event;
mod figures;
mod flows;
mod freezes;
pub mod interval;
mod link_meter;
mod loads;
pub mod metric;
mod notes;
mod rates;
mod result;
mod run;
mod samples;
mod senders;
mod series;
mod video;
mod waits;
pub mod welch;
pub mod why;

pub use cluster::Units;
pub use collect::Collector;
pub use engine::{BuiltLink, Engine, EngineError, Unsupported};
pub use estimate::{Estimate, Statistic};
pub use event::{Event, LinkId, MediaContent, MediaPart, PacketId, Sink, TrafficId};
pub use flows::flow_name;
pub use result::{
    AudioResult, CallResult, ChildResult, FigureResult, FlowResult, FrameDelay, LimitResult,
    LinkBacklog, LinkResult, MeasuredValue, Note, PacketDelay, PageResult, RateResult, ReasonShare,
    Residence, RunResult, SenderResult, Series, Sojourn, WITHOUT,
};
pub use run::{Taps, run, tapped};
pub use video::quantile;
