//! What a call beside the load has found: its own waits and losses, and what they mean.

use crate::control::frames::ProbeFrames;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Frames beside the load that there have to be at least.
const LEAST: usize = 30;
/// Waits up to this are inside what jitter buffers keep back anyway, for audio and video.
const UNNOTICED: f64 = 30.0;
/// From here on conversations suffer: ITU-T G.114 has 150 ms one way as the limit of what hardly anyone notices, and the
/// path, the encoder and the jitter buffer need the larger part of them.
const STALLS: f64 = 100.0;
/// Losses from this share on are seen and heard, whatever repairs them.
const LOSSY: f64 = 0.02;

/// From this share of late frames on, waits are the sender's own.
const BUSY: f64 = 0.03;

/// A call of 30 small frames a second that was sent beside the load, over a port of its own. Round trips in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Of its frames before the load began, the median; null if too few came back.
    pub alone_ms: Option<f64>,
    /// Of those beside the load, from a second after its beginning, the median.
    pub beside_ms: Option<f64>,
    /// The 95th percentile.
    pub beside_p95_ms: Option<f64>,
    /// Frames beside the load that came back whole.
    pub frames: usize,
    /// The share of its packets beside the load that were lost, 0 to 1.
    pub lost: f64,
    /// Whether the load kept a queue, or met a limit of its rate: if not, the call had nothing to wait for.
    pub filled: bool,
    /// The share of frames that left later than they should, as the sender was busy with other things, 0 to 1.
    pub late: f64,
}

impl Call {
    /// What `frames` show so far; none if no call was begun.
    pub(crate) fn of(frames: &ProbeFrames, filled: bool) -> Option<Self> {
        frames.is_begun().then(|| Call {
            alone_ms: quantile(frames.alone(), 0.5, 5),
            beside_ms: quantile(frames.beside(), 0.5, LEAST),
            beside_p95_ms: quantile(frames.beside(), 0.95, LEAST),
            frames: frames.beside().len(),
            lost: frames.lost_share(),
            filled,
            late: frames.late_share(),
        })
    }

    /// By how much its round trips were longer beside the load than alone: the 95th percentile, ms; none if that was not
    /// measured, or the load did not fill the path.
    pub fn wait_ms(&self) -> Option<f64> {
        let wait = (self.beside_p95_ms? - self.alone_ms?).max(0.0);
        (self.filled && self.late <= BUSY).then_some(wait)
    }

    /// What it means, in words.
    pub fn meaning(&self) -> String {
        let (Some(wait), Some(alone)) = (self.wait_ms(), self.alone_ms) else {
            let why = match self.filled {
                false => "the load did not fill the path, so there was nothing to wait for",
                true if self.late > BUSY => "the machine that sent was too busy to measure it",
                true => "too few packets of the call that was sent came back",
            };
            return format!("unknown: {why}.");
        };
        let what = match () {
            () if wait > STALLS || self.lost > 3.0 * LOSSY => "It would stall",
            () if wait > UNNOTICED || self.lost > LOSSY => "It would be noticed",
            () => "It would hardly be noticed",
        };
        format!(
            "A call beside the load waited up to {wait:.0} ms longer (95 %) than the {alone:.0} ms that it takes alone, \
             and lost {:.1} %. {what}.",
            100.0 * self.lost
        )
    }

    /// Whether every figure is one that can be observed.
    pub(crate) fn is_sound(&self) -> bool {
        let times = [self.alone_ms, self.beside_ms, self.beside_p95_ms];
        let share = |x: f64| (0.0..=1.0).contains(&x);
        share(self.lost)
            && share(self.late)
            && times
                .into_iter()
                .flatten()
                .all(|ms| (0.0..1e9).contains(&ms))
    }
}

/// The quantile of times, in ms; none of fewer than `least`.
fn quantile(times: &[Duration], q: f64, least: usize) -> Option<f64> {
    if times.len() < least {
        return None;
    }
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (q * sorted.len() as f64).ceil() as usize;
    Some(sorted[rank.clamp(1, sorted.len()) - 1].as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(beside_p95_ms: f64, lost: f64) -> Call {
        Call {
            alone_ms: Some(20.0),
            beside_ms: Some(25.0),
            beside_p95_ms: Some(beside_p95_ms),
            frames: 270,
            lost,
            filled: true,
            late: 0.0,
        }
    }

    #[test]
    fn the_words_follow_its_own_waits_and_losses() {
        let says = |call: Call| call.meaning();
        assert!(says(call(24.0, 0.0)).contains("up to 4 ms longer"));
        assert!(says(call(24.0, 0.0)).ends_with("It would hardly be noticed."));
        assert!(says(call(60.0, 0.0)).ends_with("It would be noticed."));
        assert!(says(call(24.0, 0.03)).ends_with("It would be noticed."));
        assert!(says(call(140.0, 0.0)).ends_with("It would stall."));
        assert!(says(call(24.0, 0.1)).ends_with("It would stall."));
        // Alone, others may have been on the path.
        assert!(says(call(12.0, 0.0)).contains("up to 0 ms longer"));
    }

    #[test]
    fn what_was_not_measured_is_unknown() {
        let unfilled = Call {
            filled: false,
            ..call(24.0, 0.0)
        };
        assert!(
            unfilled
                .meaning()
                .starts_with("unknown: the load did not fill")
        );
        let few = Call {
            beside_p95_ms: None,
            ..call(24.0, 0.0)
        };
        assert!(few.meaning().starts_with("unknown: too few packets"));
        let busy = Call {
            late: 0.1,
            ..call(24.0, 0.0)
        };
        assert!(busy.meaning().starts_with("unknown: the machine"));
        assert_eq!([unfilled, few, busy].map(|c| c.wait_ms()), [None; 3]);
    }

    #[test]
    fn quantiles_are_of_the_times() {
        let times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile(&times, 0.5, 60), Some(50.0));
        assert_eq!(quantile(&times, 0.95, 60), Some(95.0));
        assert_eq!(quantile(&times[..59], 0.5, 60), None);
    }
}
