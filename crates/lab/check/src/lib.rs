//! A test of somebody's own call: the file that declares it, limits and when they are decided, and causes.
//!
//! A [`Check`] is read from a file: an application, conditions of a link, and a [`Limit`] for each figure of its calls.
//! What the application tells of a call becomes [samples](Samples) and a value for each limit, values of several runs a
//! [verdict](decide), and the link's log of packets the [causes](cause) of what was missed. All of it is text in, text
//! out.
//!
//! Not for: links, and the application's processes (`analects check` makes both); simulations.

#![deny(missing_docs)]

mod baseline;
pub mod cause;
pub mod decide;
mod figure;
mod file;
mod junit;
mod lane;
mod limit;
mod log;
mod outcome;
mod page;
mod samples;
mod trouble;
mod worse;

pub use baseline::Baseline;
pub use figure::{CheckFigure, FIGURES, Told, Unit};
pub use file::{Application, Beside, Check, Condition, LEAST_SECONDS, Media, Near};
pub use junit::junit;
pub use lane::Lane;
pub use limit::Limit;
pub use log::{LoggedPacket, packets};
pub use outcome::{Because, Judged, Outcome, Run, TriedLimit, Verdict, needs_runs};
pub use page::{Example, faults, page, said};
pub use samples::{OutputLine, Sample, Samples};
pub use trouble::troubles;
pub use worse::{Worse, worse};
