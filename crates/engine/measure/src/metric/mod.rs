//! Figures of a run by name.
//!
//! A [`Metric`] describes itself once, next to the code that takes it from a run; tables, reports,
//! sweeps, claims and documentation all read that. A metric takes from a run as many values as
//! there are: one for each call, page load, transfer or queue. A [`Statistic`](crate::Statistic)
//! summarizes them.

pub mod actors;
pub mod answers;
pub mod calls;
mod declared;
pub mod fct_by_size;
mod finished;
pub mod fps;
pub mod lorenz;
pub mod loss_by_index;
mod meter;
mod observed;
pub mod pages;
pub mod photon;
pub mod queues;
pub mod redundancy;
mod registry;
pub mod restored;
pub mod subflows;
pub mod transfers;
pub mod verdicts;
pub mod videos;

pub use declared::{Better, Column, Metric, Range, Take};
pub use meter::{MakeMeter, Meter, found};
pub use observed::Observed;
pub use registry::{Registry, Selection};
