//! Moments as the picture has them.

use units::Instant;

/// Milliseconds since the start with one decimal: finer than any pixel, and short in JSON.
pub fn ms(at: Instant) -> f64 {
    (at.as_nanos() / 100_000) as f64 / 10.0
}
