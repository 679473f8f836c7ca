//! From arrivals to a verdict: groups, the estimator of the trend, the detector.

use super::detector::{PathUsage, TrendDetector};
use super::groups::Groups;
use super::kalman::Kalman;
use super::trendline::{GAIN, Trendline};
use core::fmt;
use units::param::Value;
use units::{Duration, Instant, ParseError};

/// Feedback that pauses for this long is no continuation of the earlier feedback (libwebrtc,
/// `kStreamTimeOut`).
const PAUSE: Duration = Duration::from_secs(2);
/// The trend counts in full after this many groups (libwebrtc, `kMinNumDeltas`).
const GROUPS_FOR_TRUST: u32 = 60;

/// How the delay's trend is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Estimator {
    /// A line through the last twenty groups, as libwebrtc does.
    Trendline,
    /// The draft's Kalman filter.
    Kalman,
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Estimator::Trendline => "trendline",
            Estimator::Kalman => "kalman",
        })
    }
}

impl Value for Estimator {
    const KIND: &'static str = "trendline or kalman";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "trendline" => Ok(Estimator::Trendline),
            "kalman" => Ok(Estimator::Kalman),
            _ => Err(ParseError::new(text, Self::KIND)),
        }
    }
}

/// The delay-based half of the control, up to the verdict.
#[derive(Debug, Clone)]
pub(super) struct Delay {
    estimator: Estimator,
    groups: Groups,
    trendline: Trendline,
    kalman: Kalman,
    /// Number of differences, up to the limit that matters.
    count: u32,
    detector: TrendDetector,
    last: Option<Instant>,
}

impl Delay {
    pub fn new(estimator: Estimator) -> Self {
        Delay {
            estimator,
            groups: Groups::default(),
            trendline: Trendline::default(),
            kalman: Kalman::default(),
            count: 0,
            detector: TrendDetector::default(),
            last: None,
        }
    }

    /// The path's state after the packets so far.
    pub fn usage(&self) -> PathUsage {
        self.detector.usage()
    }

    /// A packet arrived, in order of arrival; `now` is the sender's time.
    pub fn add(&mut self, now: Instant, sent: Instant, received: Instant) {
        if self.last.is_some_and(|last| now.since(last) > PAUSE) {
            *self = Delay::new(self.estimator);
        }
        self.last = Some(now);
        let Some(delta) = self.groups.add(sent, received) else {
            return;
        };
        self.count = (self.count + 1).min(GROUPS_FOR_TRUST);
        let at = whole_ms(received);
        let trend = match self.estimator {
            Estimator::Trendline => GAIN * self.trendline.update(&delta, at),
            Estimator::Kalman => self.kalman.update(&delta),
        };
        if self.count >= 2 {
            let weight = f64::from(self.count);
            self.detector.update(trend, weight, delta.sent, at);
        }
    }
}

/// libwebrtc hands arrivals to the estimator in whole milliseconds.
fn whole_ms(at: Instant) -> Instant {
    const MS: u64 = 1_000_000;
    Instant::from_nanos(at.as_nanos().saturating_add(MS / 2) / MS * MS)
}
