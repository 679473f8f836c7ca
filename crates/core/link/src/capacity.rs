//! The capacity of a link.

use crate::trace::Trace;
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// The capacity of a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Capacity {
    /// Packets take no time.
    Unlimited,
    /// Always the same rate.
    Constant(Rate),
    /// A recorded capacity, repeated when it ends, or steps from one rate to another.
    Trace(Arc<Trace>),
}

/// A constant rate; without one there is no limit.
impl From<Option<Rate>> for Capacity {
    fn from(rate: Option<Rate>) -> Self {
        rate.map_or(Capacity::Unlimited, Capacity::Constant)
    }
}

impl Capacity {
    /// The rate used for a buffer in bandwidth-delay products: the mean of a recorded capacity, and
    /// the first rate of steps; without a limit the highest that there is.
    pub fn nominal(&self) -> Rate {
        match self {
            Capacity::Unlimited => Rate::from_bits(u64::MAX),
            Capacity::Constant(rate) => *rate,
            Capacity::Trace(trace) => trace.nominal(),
        }
    }

    /// When the last of `bytes` has been sent if the first leaves at `start`.
    #[inline]
    pub fn finish(&self, start: Instant, bytes: u64) -> Instant {
        match self {
            Capacity::Unlimited => start,
            Capacity::Constant(rate) => start + rate.time_for(bytes),
            Capacity::Trace(trace) => trace.finish(start, bytes),
        }
    }

    /// Bytes that it could carry from `from` until `until`, both counted from the start; infinite
    /// without a limit.
    pub fn bytes_between(&self, from: Duration, until: Duration) -> f64 {
        match self {
            Capacity::Unlimited => f64::INFINITY,
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
