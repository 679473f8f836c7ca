//! `gcc`: Google Congestion Control, the control of WebRTC calls.
//!
//! Principles: the receiver's arrival times show a queue that grows before anything is lost; the
//! rate is lowered to a little less than what arrives when the delay rises, and raised
//! multiplicatively far from the link's capacity, additively near it. A second controller looks at
//! loss, and the lesser rate counts. Short bursts of padding find free capacity at once.
//! Not for: transports without arrival times.
//!
//! draft-ietf-rmcat-gcc-02, and what libwebrtc (`modules/congestion_controller/goog_cc`) does where
//! that decides how a call behaves: the trendline estimator, the capacity estimate, probing, the
//! application-limited region, and the fall of the rate when feedback stays away. Of libwebrtc
//! there is no second version of the loss controller and no congestion window.

mod aimd;
mod alr;
mod cluster;
mod delay;
mod detector;
mod groups;
mod kalman;
mod loss;
mod probe;
mod throughput;
mod trendline;

#[cfg(test)]
mod tests;

pub use delay::Estimator;

use crate::{Ack, Arrival, Congestion, Control, ControlEntry, Feedback, Probe, Setup};
use aimd::Aimd;
use alr::Alr;
use cluster::Clusters;
use delay::Delay;
use detector::Usage;
use loss::Loss;
use probe::Prober;
use throughput::Throughput;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// What GCC can be told.
    pub struct GccParams {
        /// How the trend of the delay is estimated: trendline, as libwebrtc does, or kalman, as
        /// the draft says.
        estimator: Estimator = "trendline", source "libwebrtc, trendline_estimator.cc";
        /// Probe for free capacity with padding.
        probing: bool = "yes", source "libwebrtc, probe_controller.cc";
        /// Probe every five seconds while the encoder leaves the estimate unused.
        alr_probing: bool = "yes", source "libwebrtc, StreamsConfig::requests_alr_probing";
        /// Probe once after every large drop; otherwise only where the encoder left the estimate
        /// unused before it.
        rapid_recovery: bool = "yes", source "libwebrtc, WebRTC-BweRapidRecoveryExperiment";
    }
}

/// `gcc` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "gcc",
    summary: "Google Congestion Control, as in WebRTC calls",
    about: "The trend of the delay between groups of packets tells whether a queue grows; then the \
        rate falls to 0.85 of what arrives. Otherwise it grows by 8 % a second, or by a packet per \
        response time near the capacity found before. Above 10 % loss, a second rate falls too, \
        and the lesser one counts.\n\nBursts of padding probe for free capacity at the start, after \
        large drops, and while the encoder leaves the rate unused.\n\nNeeds the arrival time of \
        every packet, so it serves media sessions only.",
    source: "draft-ietf-rmcat-gcc-02, libwebrtc goog_cc",
    params: GccParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Gcc::new(parts.settings, parts.setup)?)),
};

/// Time between calls of the timer (libwebrtc, `GetProcessInterval`).
const PROCESS: Duration = Duration::from_millis(25);
/// The timer rests when nothing was sent for this long.
const REST: Duration = Duration::from_secs(10);
/// The pacer sends this much faster than the encoder produces, as a fraction
/// (`kDefaultPaceMultiplier`).
const PACING: (u64, u64) = (5, 2);
/// A probe's result is not taken for less than this part of what arrives
/// (`kProbeDropThroughputFraction`).
const PROBE_FLOOR: f64 = 0.85;
/// A round trip, with the wait for feedback, beyond which the rate falls, by how much, and how
/// often (`RttBasedBackoff`).
const BACKOFF_RTT: Duration = Duration::from_secs(3);
const BACKOFF: f64 = 0.8;
const BACKOFF_INTERVAL: Duration = Duration::from_secs(1);
/// How long the application-limited region still counts after its end (`kAlrEndedTimeout`).
const ALR_ENDED: Duration = Duration::from_secs(3);

/// GCC's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub struct Gcc {
    params: GccParams,
    /// The encoder's least and most.
    bounds: (f64, f64),
    delay: Delay,
    aimd: Aimd,
    throughput: Throughput,
    loss: Loss,
    alr: Alr,
    prober: Prober,
    clusters: Clusters,
    feedback: FeedbackWatch,
    next_process: Option<Instant>,
    /// Arrivals of one feedback in order of arrival; kept to keep its memory.
    received: Vec<(Instant, Arrival)>,
}

/// When packets left and feedback came.
#[derive(Debug, Clone, Default)]
struct FeedbackWatch {
    last_sent: Option<Instant>,
    /// The last feedback, or the first packet before there was one.
    last: Option<Instant>,
    /// Round trip of the last feedback, without waiting for it to be sent.
    rtt: Duration,
    /// Smoothed longest round trip of a feedback's packets: how long a change takes to show.
    response: Option<Duration>,
    backed_off: Option<Instant>,
}

impl Gcc {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        let params = GccParams::parse(settings)?;
        let bits = |rate: Rate| rate.as_bits() as f64;
        let least = bits(setup.media_bounds.0);
        let bounds = (least, bits(setup.media_bounds.1).max(least));
        let start = bits(setup.initial_rate).clamp(bounds.0, bounds.1);
        Ok(Gcc {
            delay: Delay::new(params.estimator),
            params,
            bounds,
            aimd: Aimd::new(start, bounds.0),
            throughput: Throughput::default(),
            loss: Loss::default(),
            alr: Alr::new(start),
            prober: Prober::new(start, bounds.1),
            clusters: Clusters::default(),
            feedback: FeedbackWatch::default(),
            next_process: None,
            received: Vec::new(),
        })
    }

    /// The lesser of both controllers' rates, whatever the encoder can produce.
    fn estimate(&self) -> f64 {
        let limit = self.loss.limit().unwrap_or(f64::INFINITY);
        self.aimd.rate().min(limit).max(self.bounds.0)
    }

    /// What the encoder is told.
    fn target(&self) -> Rate {
        Rate::from_bits(self.estimate().min(self.bounds.1) as u64)
    }

    /// Passes the arrivals on; returns a probe's result, and whether overuse has ended.
    fn take_arrivals(&mut self, now: Instant) -> (Option<f64>, bool) {
        let (mut probed, mut recovered) = (None, false);
        for &(received, arrival) in &self.received {
            self.throughput.add(arrival.sent, received, arrival.bytes);
            if let Some(probe) = arrival.probe {
                let result = self
                    .clusters
                    .add(&probe, arrival.sent, received, arrival.bytes);
                probed = result.or(probed);
            }
            let before = self.delay.usage();
            self.delay.add(now, arrival.sent, received);
            recovered |= before == Usage::Under && self.delay.usage() == Usage::Normal;
        }
        (probed, recovered)
    }

    /// Moves the delay-based rate (libwebrtc, `DelayBasedBwe::MaybeUpdateEstimate`).
    fn update_rate(&mut self, now: Instant, probed: Option<f64>) {
        let measured = self.throughput.rate();
        let usage = self.delay.usage();
        match (usage, measured, probed) {
            (Usage::Over, Some(rate), _) => {
                if self.aimd.may_decrease(now, rate) {
                    self.aimd.update(now, usage, measured);
                }
            }
            (Usage::Over, None, _) => self.aimd.halve(now),
            (_, _, Some(probed)) => {
                // A result far below what arrives cannot be right, but may drain a queue.
                let floor = measured.map_or(0.0, |rate| PROBE_FLOOR * rate);
                self.aimd.set(now, probed.max(floor.min(self.aimd.rate())));
                self.throughput.on_probe(now, probed);
                self.loss.lift();
            }
            _ => self.aimd.update(now, usage, measured),
        }
    }

    /// Tells the others about the new estimate.
    fn publish(&mut self, now: Instant) {
        let estimate = self.estimate();
        self.alr.set_estimate(estimate.min(self.bounds.1));
        let blocked = self.delay.usage() != Usage::Normal || self.loss.lossy();
        self.prober.set_estimate(now, estimate, blocked);
    }

    /// Nothing is heard although packets leave: the rate falls by a fifth every second once the
    /// round trip would be three.
    fn back_off(&mut self, now: Instant) {
        let watch = &mut self.feedback;
        let (Some(sent), Some(last)) = (watch.last_sent, watch.last) else {
            return;
        };
        let due = watch
            .backed_off
            .is_none_or(|at| now.since(at) >= BACKOFF_INTERVAL);
        if due && watch.rtt + sent.since(last) > BACKOFF_RTT {
            watch.backed_off = Some(now);
            self.loss.cap(BACKOFF * self.estimate().min(self.bounds.1));
            self.publish(now);
        }
    }
}

impl FeedbackWatch {
    /// Feedback with `received` in order of arrival came.
    fn on_feedback(&mut self, now: Instant, received: &[(Instant, Arrival)]) {
        let Some(&(newest, _)) = received.last() else {
            return;
        };
        let whole = |arrival: &Arrival| now.since(arrival.sent);
        let waited = |at: Instant| newest.since(at);
        let rtts = received
            .iter()
            .map(|(at, arrival)| whole(arrival).saturating_sub(waited(*at)));
        self.rtt = rtts.min().unwrap_or(self.rtt);
        let longest = received.iter().map(|(_, arrival)| whole(arrival)).max();
        let longest = longest.unwrap_or(Duration::ZERO);
        self.response = Some(match self.response {
            None => longest,
            Some(response) => response.scale(7, 8) + longest / 8,
        });
        self.last = Some(now);
    }
}

impl Control for Gcc {
    fn on_sent(&mut self, now: Instant, bytes: u64, _in_flight: u64) {
        self.feedback.last_sent = Some(now);
        self.feedback.last.get_or_insert(now);
        self.alr.on_sent(now, bytes);
        self.next_process.get_or_insert(now + PROCESS);
    }

    /// Does nothing: arrivals tell more.
    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}

    /// Does nothing: arrivals tell more.
    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {}

    /// Does nothing: feedback that stays away is noticed by [`on_timer`](Control::on_timer).
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}

    fn on_arrivals(&mut self, now: Instant, arrivals: &[Arrival]) {
        self.received.clear();
        let arrived = arrivals
            .iter()
            .filter_map(|arrival| Some((arrival.received?, *arrival)));
        self.received.extend(arrived);
        self.received.sort_by_key(|&(received, _)| received);
        self.feedback.on_feedback(now, &self.received);
        if let Some(response) = self.feedback.response {
            self.aimd.set_rtt(response);
        }
        let lost = arrivals.len() - self.received.len();
        let mut recovered = false;
        if !self.received.is_empty() {
            let (probed, ended) = self.take_arrivals(now);
            self.update_rate(now, probed);
            recovered = ended && self.delay.usage() == Usage::Normal;
        }
        self.loss.update(
            now,
            arrivals.len() as u64,
            lost as u64,
            self.aimd.rate().min(self.bounds.1),
            self.feedback.rtt,
        );
        self.publish(now);
        if recovered && (self.params.rapid_recovery || self.alr.recent(now, ALR_ENDED)) {
            self.prober.on_recovery(now);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        self.next_process
    }

    fn on_timer(&mut self, now: Instant) {
        if self.next_process.is_none_or(|at| now < at) {
            return;
        }
        let active = |sent: Instant| now.since(sent) < REST;
        self.next_process = self
            .feedback
            .last_sent
            .is_some_and(active)
            .then_some(now + PROCESS);
        self.back_off(now);
        let limited = self.alr.since().filter(|_| self.params.alr_probing);
        self.prober.process(now, limited);
    }

    /// No limit: GCC limits the rate only.
    fn window(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.target().scale(PACING.0, PACING.1))
    }

    fn media_rate(&self, _srtt: Duration) -> Rate {
        self.target()
    }

    fn take_probe(&mut self, now: Instant) -> Option<Probe> {
        if !self.params.probing {
            return None;
        }
        self.prober.take(now)
    }

    fn uses_prr(&self) -> bool {
        false
    }

    fn feedback(&self) -> Feedback {
        Feedback::Arrivals
    }
}

/// `later − earlier` in milliseconds, negative where that is so.
fn signed_ms(earlier: Instant, later: Instant) -> f64 {
    let ns = i128::from(later.as_nanos()) - i128::from(earlier.as_nanos());
    ns as f64 / 1e6
}
