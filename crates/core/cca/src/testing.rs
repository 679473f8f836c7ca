//! Shared parts of the controls' tests: moments, a sender's setup, and the events it reports to a
//! control.

use crate::{Ack, Congestion, Setup, Signal};
use units::{Duration, Instant};

/// Segments, bytes.
pub const MSS: u64 = 1000;

/// A sender of such segments that starts with ten.
pub fn setup() -> Setup {
    Setup {
        mss: MSS,
        initial_window: 10 * MSS,
        ..Setup::default()
    }
}

/// Settings as a control takes them.
pub fn settings(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    settings.iter().map(owned).collect()
}

/// A moment, in milliseconds.
pub fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// One of 20 segments in flight was lost.
pub const LOSS: Congestion = Congestion {
    signal: Signal::Loss,
    lost: MSS,
    in_flight: 20 * MSS,
    min_rtt: Duration::ZERO,
};

/// An acknowledgement of one segment, of a sender that the window limits.
pub fn ack(rtt: Duration, newest_sent: Instant) -> Ack {
    Ack {
        bytes: MSS,
        rtt: Some(rtt),
        newest_sent,
        window_limited: true,
        ..Ack::default()
    }
}
