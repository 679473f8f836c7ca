//! The application-limited region (ALR): the encoder produces less than the estimate.
//!
//! libwebrtc's `alr_detector.cc` and `interval_budget.cc`: a budget fills at 65 % of the estimate
//! and is emptied by what is sent; the region begins when it is four fifths full of half a second,
//! and ends when it is half empty.

use units::{Duration, Instant};

/// Part of the estimate that the budget fills at.
const USAGE: f64 = 0.65;
/// The budget holds what this time fills.
const WINDOW: f64 = 0.5;
/// Fill levels at which the region begins and ends.
const START: f64 = 0.8;
const STOP: f64 = 0.5;

/// The detector's state.
#[derive(Debug, Clone)]
pub(super) struct Alr {
    /// Bytes per second that fill the budget.
    fill: f64,
    /// Bytes, from minus to plus [`WINDOW`]'s worth.
    budget: f64,
    last: Option<Instant>,
    since: Option<Instant>,
    ended: Option<Instant>,
}

impl Alr {
    pub fn new(estimate: f64) -> Self {
        let mut alr = Alr {
            fill: 0.0,
            budget: 0.0,
            last: None,
            since: None,
            ended: None,
        };
        alr.set_estimate(estimate);
        alr
    }

    /// The estimate, bit/s.
    pub fn set_estimate(&mut self, estimate: f64) {
        self.fill = USAGE * estimate / 8.0;
        let most = self.fill * WINDOW;
        self.budget = self.budget.clamp(-most, most);
    }

    /// `bytes` were sent.
    pub fn on_sent(&mut self, now: Instant, bytes: u64) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let most = self.fill * WINDOW;
        self.budget = (self.budget - bytes as f64).max(-most);
        let gained = self.fill * now.since(last).as_secs_f64();
        self.budget = (self.budget + gained).min(most);
        if self.budget > START * most && self.since.is_none() {
            self.since = Some(now);
        } else if self.budget < STOP * most && self.since.take().is_some() {
            self.ended = Some(now);
        }
    }

    /// Since when the region lasts, if it does.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Whether the region lasts, or ended less than `span` ago.
    pub fn recent(&self, now: Instant, span: Duration) -> bool {
        self.since.is_some() || self.ended.is_some_and(|at| now.since(at) < span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_when_little_is_sent_and_ends_when_much_is() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        // 1 Mbit/s fills 81 250 B/s; the budget holds 40 625 B and begins the region at 32 500 B.
        let mut alr = Alr::new(1e6);
        // 250 kbit/s: 31 250 B/s leave 50 000 B/s: after more than 650 ms.
        let mut began = None;
        for step in 0..100 {
            alr.on_sent(at(10 * step), 312);
            began = began.or(alr.since());
        }
        let began = began.unwrap();
        assert!((at(640)..=at(670)).contains(&began), "{began}");
        // 1 Mbit/s: 125 000 B/s take 43 750 B/s: from 40 625 B to below 20 312 B in some 465 ms.
        let mut ended = None;
        for step in 100..200 {
            alr.on_sent(at(10 * step), 1250);
            if alr.since().is_none() && ended.is_none() {
                ended = Some(10 * step);
            }
        }
        assert!((1430..=1480).contains(&ended.unwrap()), "{ended:?}");
        assert!(alr.recent(at(1990), Duration::from_secs(3)));
        assert!(!alr.recent(at(5000), Duration::from_secs(3)));
    }
}
