//! What can go wrong in a call.

use std::cell::RefCell;
use std::rc::Rc;
use str0m::RtcError;

/// Why a call cannot be made, or broke down.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("str0m: {0}")]
pub struct Error(String);

impl Error {
    pub(crate) fn new(what: impl ToString) -> Self {
        Error(what.to_string())
    }
}

impl From<RtcError> for Error {
    fn from(error: RtcError) -> Self {
        Error::new(error)
    }
}

/// The first failure of any call; a call that failed sends nothing more.
#[derive(Debug, Clone, Default)]
pub struct Failure(Rc<RefCell<Option<Error>>>);

impl Failure {
    /// What it is, if there was one.
    pub fn get(&self) -> Option<Error> {
        self.0.borrow().clone()
    }

    pub(crate) fn set(&self, error: Error) {
        self.0.borrow_mut().get_or_insert(error);
    }
}
