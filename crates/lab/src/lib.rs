//! Comparisons and reports over any engine.
//!
//! A [`Plan`] names the runs; [`run`] runs them, in parallel across runs and never inside one;
//! [`Summary`] puts one line under each discipline; [`export`] writes what others read.

#![deny(missing_docs)]

mod estimate;
pub mod export;
pub mod metric;
pub mod pages;
mod plan;
pub mod report;
pub mod reproduce;
mod summary;
pub mod theory;

pub use estimate::{Estimate, Statistic};
pub use plan::{Plan, Progress, Run, WITHOUT, run};
pub use summary::{Mean, Summary, summarize};
