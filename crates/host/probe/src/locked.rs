//! A lock whose holders cannot fail.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What `mutex` guards. No code that holds a lock of this crate, or of one above it, can fail: it is never poisoned.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
