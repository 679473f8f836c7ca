//! Why a run in the guest failed.

use std::fmt::Display;

/// An operation that failed, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tried}: {reason}")]
pub struct Failure {
    /// The operation.
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

/// Names the operation of an error.
pub trait Tried<T> {
    /// The same, with a [`Failure`] that names the operation.
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
