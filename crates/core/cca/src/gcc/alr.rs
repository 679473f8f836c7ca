//! The application-limited region (ALR): the encoder produces less than the estimate.
//!
//! libwebrtc's `alr_detector.cc` and `interval_budget.cc`: a budget of half a second fills at a
//! share of the estimate and is emptied by the bytes sent; the region begins and ends at levels of
//! it. These figures come from the settings of an experiment with screen sharing
//! (`alr_experiment.cc`), which apply to all calls; those in `alr_detector.h` are never used.

use units::{Duration, Instant};

/// Part of the estimate that the budget fills at.
const USAGE: f64 = 0.8;
/// The budget holds the bytes of this time.
const WINDOW: f64 = 0.5;
/// Fill levels at which the region begins and ends.
const START: f64 = 0.4;
const STOP: f64 = -0.6;

/// The detector's state.
#[derive(Debug, Clone)]
pub(super) struct Alr {
    /// Bytes per second that fill the budget.
    fill: f64,
    /// Bytes, from minus to plus [`WINDOW`]'s worth.
    budget: f64,
    last: Option<Instant>,
    since: Option<Instant>,
    /// Whether it lasted at the last report, and the report that found it over.
    lasted: bool,
    ended: Option<Instant>,
}

impl Alr {
    pub fn new(estimate: f64) -> Self {
        let mut alr = Alr {
            fill: 0.0,
            budget: 0.0,
            last: None,
            since: None,
            lasted: false,
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
        let gained = self.fill * whole_ms(now.since(last));
        self.budget = (self.budget + gained).min(most);
        if self.budget > START * most && self.since.is_none() {
            self.since = Some(now);
        } else if self.budget < STOP * most {
            self.since = None;
        }
    }

    /// Since when the region lasts, if it does.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// A report arrives: checks whether the region lasts.
    pub fn on_report(&mut self, now: Instant) -> bool {
        let lasts = self.since.is_some();
        if self.lasted && !lasts {
            self.ended = Some(now);
        }
        self.lasted = lasts;
        lasts
    }

    /// Whether the region lasts, or was found to have ended less than `span` ago.
    pub fn recent(&self, now: Instant, span: Duration) -> bool {
        self.since.is_some() || self.ended.is_some_and(|at| now.since(at) < span)
    }
}

/// libwebrtc fills the budget for whole milliseconds, so that packets spaced by less than a half
/// never fill it. In seconds.
fn whole_ms(span: Duration) -> f64 {
    (span + Duration::from_micros(500)).as_millis() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_when_little_is_sent_and_ends_when_much_is() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        // 1 Mbit/s fills 100 000 B/s; the budget holds 50 000 B and begins the region at 20 000 B.
        let mut alr = Alr::new(1e6);
        // 250 kbit/s: 31 250 B/s leave 68 750 B/s: after 291 ms.
        let mut began = None;
        for step in 0..100 {
            alr.on_sent(at(10 * step), 312);
            began = began.or(alr.since());
        }
        let began = began.unwrap();
        assert!((at(290)..=at(310)).contains(&began), "{began}");
        // 2 Mbit/s: 250 000 B/s take 150 000 B/s: from 50 000 B to below −30 000 B in 533 ms.
        let mut ended = None;
        assert!(alr.on_report(at(990)));
        for step in 100..200 {
            alr.on_sent(at(10 * step), 2500);
            if alr.since().is_none() && ended.is_none() {
                ended = Some(10 * step);
            }
        }
        assert!((1520..=1540).contains(&ended.unwrap()), "{ended:?}");
        assert!(!alr.recent(at(1990), Duration::from_secs(3)));
        assert!(!alr.on_report(at(2000)));
        assert!(alr.recent(at(4990), Duration::from_secs(3)));
        assert!(!alr.recent(at(5000), Duration::from_secs(3)));
    }
}
