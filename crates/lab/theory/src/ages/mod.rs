//! Flows served by age: the mean time that transfers take under processor sharing and under two levels
//! of it, and the threshold between them.
//!
//! A link serves transfers of random size that come at random (M/G/1). Under processor sharing all
//! share it evenly. Under two-level processor sharing those that have had at most a threshold go
//! first, and share among themselves; the others share the rest (the thesis on age-based
//! scheduling, sections 3.2.3 and 3.3). [`Sizes`] is the size of transfers, [`Phases`] is their
//! distribution in a form that the model can be solved for, [`TwoLevels`] the solution, and
//! [`optimum`] the best threshold. [`least_attained`] is the order that levels without end come to.
//! [`closed_loop`] is processor sharing between so many actors who
//! think between transfers, [`Actors`] are the same followed one by one, under two levels too.
//!
//! Not for: the behaviour of TCP. Flows have no round trips here, and share at once.

mod actors;
mod attained;
#[cfg(test)]
mod integral;
mod levels;
mod phases;
mod sizes;
mod solve;
#[cfg(test)]
mod tests;

pub use actors::{Actors, closed_loop};
pub use attained::least_attained;
pub use levels::{Optimum, TwoLevels, optimum};
pub use phases::{Phase, Phases};
pub use sizes::Sizes;
