//! Numbers of a HAR file, of which those that cannot be are none.

use super::node::Leaf;
use crate::page::{MAX_BYTES, MAX_WAIT};
use units::Duration;

/// A number; WebPageTest writes some as text.
pub(super) fn number(leaf: &Leaf) -> Option<f64> {
    match leaf {
        Leaf::Number(number) => Some(*number),
        Leaf::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A size in bytes; none if it is below zero or more than an answer can have. Chrome subtracts the
/// headers from the bytes received, and writes -197 if none were.
pub(super) fn size(leaf: &Leaf) -> Option<u64> {
    let size = number(leaf).filter(|size| (0.0..=MAX_BYTES.get() as f64).contains(size));
    size.map(|size| size as u64)
}

/// A time in milliseconds; none if it is below zero or more than a day. Chrome's and Safari's can
/// be negative if two clocks were read.
pub(super) fn time(leaf: &Leaf) -> Option<Duration> {
    let ms = number(leaf).filter(|ms| (0.0..=MAX_WAIT.as_millis_f64()).contains(ms));
    ms.map(|ms| Duration::from_secs_f64(ms / 1e3))
}
