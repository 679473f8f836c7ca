//! The core of the Python package: the simulator, its registry, its results and the store.
//!
//! What has a shape crosses the border as JSON, or as lists of one kind; frames, plots and campaigns are
//! Python's (`analects/`). A refusal becomes `analects.Refused`, with the words of the program `analects`.
//!
//! Not for: decisions of its own: what a word means, and what a run gives, is the crates' below.

mod describe;
mod jobs;
mod own;
mod plan;
mod refused;
mod results;
mod run;
mod simulator;

use pyo3::prelude::*;

/// The module `analects._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::describe::{describe, experiments};
    #[pymodule_export]
    use super::jobs::{list_jobs, make, missing, stored};
    #[pymodule_export]
    use super::own::Held;
    #[pymodule_export]
    use super::results::{Results, Series, compare, estimated, least_p, student, told_together};
    #[pymodule_export]
    use super::run::{register, run};
}
