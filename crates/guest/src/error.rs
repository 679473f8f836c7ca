//! Why a run in the guest failed.

use std::fmt::Display;

/// What was tried, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tried}: {reason}")]
pub struct Failure {
    /// What was tried.
    pub tried: String,
    /// Why it failed.
    pub reason: String,
}

impl Failure {
    /// `tried` failed because of `reason`.
    pub fn new(tried: impl Into<String>, reason: impl Display) -> Self {
        Failure {
            tried: tried.into(),
            reason: reason.to_string(),
        }
    }
}

/// Names what was tried.
pub trait Tried<T> {
    /// The same, with a [`Failure`] that names what was tried.
    ///
    /// # Errors
    /// As before.
    fn tried(self, what: &str) -> Result<T, Failure>;
}

impl<T, E: Display> Tried<T> for Result<T, E> {
    fn tried(self, what: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(what, error))
    }
}
