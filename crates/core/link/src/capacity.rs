//! The capacity of a link.

use crate::trace::Trace;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// The capacity of a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Capacity {
    /// Always the same rate.
    Constant(Rate),
    /// A recorded capacity, repeated when it ends, or steps from one rate to another.
    Trace(Arc<Trace>),
}

impl Capacity {
    /// The rate used for a buffer in bandwidth-delay products: the mean of a recorded capacity, and
    /// the first rate of steps.
    pub fn nominal(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Trace(trace) => trace.nominal(),
        }
    }

    /// When the last of `bytes` has been sent if the first leaves at `start`.
    #[inline]
    pub fn finish(&self, start: Instant, bytes: u64) -> Instant {
        match self {
            Capacity::Constant(rate) => start + rate.time_for(bytes),
            Capacity::Trace(trace) => trace.finish(start, bytes),
        }
    }

    /// Bytes that it could carry from `from` until `until`, both counted from the start.
    pub fn bytes_between(&self, from: Duration, until: Duration) -> f64 {
        match self {
            Capacity::Constant(rate) => {
                rate.as_bits() as f64 / 8.0 * until.saturating_sub(from).as_secs_f64()
            }
            Capacity::Trace(trace) => {
                let carried = |span| trace.capacity_until(Instant::ZERO + span);
                carried(until) - carried(from)
            }
        }
    }
}
