//! Campaigns: many runs, planned, made and kept.
//!
//! A [`Grid`] says what is run. [`Grid::plan`] makes [jobs](job) of it, [`run`](run()) makes the jobs, and
//! a [`Store`] keeps their results, for any number of processes.
//!
//! Not for: running a scenario (`sim`, `linux`, `live`); judging results (`reproduce`).

#![deny(missing_docs)]

mod case;
mod error;
pub mod job;
mod longest;
mod plan;
mod progress;
mod run;
pub mod store;
mod trace;
pub mod tried;

pub use case::{Case, Settings};
pub use error::Error;
pub use job::{Description, Job, Listener};
pub use plan::{Cell, Grid, SETTING};
pub use progress::Progress;
pub use run::{Keeping, run, work};
pub use store::Store;
pub use trace::Trace;
