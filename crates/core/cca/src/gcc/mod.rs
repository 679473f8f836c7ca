//! `gcc`: Google Congestion Control, the control of WebRTC calls.
//!
//! Principles: the receiver's arrival times show a queue that grows before packets are lost; the
//! rate is lowered to slightly less than the arrival rate when the delay rises, and raised
//! multiplicatively far from the link's capacity, additively near it. A second controller looks at
//! loss, and the lesser rate counts. Short bursts of padding find free capacity at once. Not for:
//! transports without arrival times.
//!
//! The behaviour of libwebrtc (`modules/congestion_controller/goog_cc`) today, with the figures of
//! its code, which are Chrome's without field trials; it grew out of draft-ietf-rmcat-gcc-02.
//! `make witness` runs libwebrtc's own next to this one, and `tests/it/witness.rs` replays its
//! records. Not implemented: the congestion window, which only has frames dropped, and the estimate
//! of the link's state by Chrome's closed component. decisions/0021 lists the differences and the
//! reasons.

mod aimd;
mod alr;
mod cluster;
mod delay;
mod detector;
mod groups;
mod kalman;
pub mod library;
mod loss;
mod probe;
mod target;
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
use detector::PathUsage;
use loss::RateLimit;
use probe::Prober;
use target::Target;
use throughput::Throughput;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of GCC.
    pub struct GccParams {
        /// Method that estimates the trend of the delay: trendline, as in libwebrtc, or kalman, as
        /// in the draft.
        estimator: Estimator = "trendline", source "libwebrtc, trendline_estimator.cc";
        /// Probe for free capacity with padding.
        probing: bool = "yes", source "libwebrtc, probe_controller.cc";
        /// Probe every five seconds while the encoder leaves the estimate unused. Chrome does for
        /// a shared screen, not for a camera.
        alr_probing: bool = "no", source "libwebrtc, RateControlSettings::UseAlrProbing";
        /// Probe once after every large drop; otherwise only if the encoder left the estimate
        /// unused before it.
        rapid_recovery: bool = "no", source "libwebrtc, WebRTC-BweRapidRecoveryExperiment";
        /// Length of the bursts that leave at once, as time at the pacing rate; 0 spaces every
        /// packet.
        burst: Duration = "40ms", range "0ms".."1s", source "Chrome, rtc_peer_connection_handler.cc pacer_burst_interval";
    }
}

/// `gcc` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "gcc",
    summary: "Google Congestion Control, as in WebRTC calls",
    about: "The trend of the delay between groups of packets shows whether a queue grows. If it \
        does, the rate falls to 0.85 of the rate that arrives. Otherwise the rate grows by 8 % a \
        second, or by a packet per response time near the capacity found before. A second \
        controller judges which bandwidth makes the recent losses most likely, and the lower of \
        the two rates applies.\n\nBursts of padding probe for free capacity at the start, and \
        after large drops if the encoder left the rate unused. Beyond 5 Mbit/s, a session is \
        assumed to have negotiated its encoder's highest rate as its maximum; without a maximum, \
        Chrome probes no further.\n\nNeeds the arrival time of every packet, so it serves media \
        sessions only.",
    source: "libwebrtc goog_cc; draft-ietf-rmcat-gcc-02",
    params: GccParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Gcc::new(parts.settings, parts.setup)?)),
};

/// Time between calls of the timer (libwebrtc, `GetProcessInterval`).
const PROCESS: Duration = Duration::from_millis(25);
/// The timer rests if no packets were sent for this long.
const REST: Duration = Duration::from_secs(10);
/// The pacer sends this much faster than the encoder produces, as a fraction
/// (`kStrictPacingMultiplier`).
const PACING: (u64, u64) = (11, 10);
/// A probe's result is at least this part of the acknowledged rate
/// (`kProbeDropThroughputFraction`).
const PROBE_FLOOR: f64 = 0.85;
/// How long the application-limited region still counts after its end (`kAlrEndedTimeout`).
const ALR_ENDED: Duration = Duration::from_secs(3);
/// Receiver reports bring a round trip this often.
const RTT_INTERVAL: Duration = Duration::from_secs(1);
/// Probing ends here if no maximum was negotiated (`kDefaultMaxProbingBitrate`), bit/s.
const PROBED: f64 = 5e6;
/// The greatest rate if no maximum was negotiated (`kDefaultMaxBitrate`), bit/s.
const MOST: f64 = 1e9;

/// GCC's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub struct Gcc {
    params: GccParams,
    /// The encoder's most.
    most: f64,
    delay: Delay,
    aimd: Aimd,
    throughput: Throughput,
    target: Target,
    alr: Alr,
    prober: Prober,
    clusters: Clusters,
    /// The round trip of the last second, and when it was taken.
    rtt: Option<(Duration, Instant)>,
    /// The values last given to encoder, pacer and prober.
    told: ReportedValues,
    last_sent: Option<Instant>,
    next_process: Option<Instant>,
    /// Arrivals of one feedback in order of arrival; kept to keep its memory.
    received: Vec<(Instant, Arrival)>,
}

/// The values that are reported when one of them changes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ReportedValues {
    rate: f64,
    limit: RateLimit,
    rtt: Option<(Duration, Instant)>,
}

/// The effect of feedback on the delay-based rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// Unchanged: no information, or overuse whose answer has yet to show.
    Not,
    Lowered,
    Probed,
    /// The normal course without overuse.
    Along,
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
        let most = bits(setup.media_bounds.1).max(least);
        let start = bits(setup.initial_rate).clamp(least, most);
        let negotiated = most > PROBED;
        let probed = if negotiated { most } else { PROBED };
        let highest = if negotiated { most } else { MOST };
        Ok(Gcc {
            delay: Delay::new(params.estimator),
            params,
            most,
            aimd: Aimd::new(start, least),
            throughput: Throughput::default(),
            target: Target::new(start, (least, highest)),
            alr: Alr::new(start),
            // Twice the encoder's most leaves room for bursts; more would be of no use.
            prober: Prober::new(start, probed.min(2.0 * most)),
            clusters: Clusters::default(),
            rtt: None,
            told: ReportedValues {
                rate: start,
                limit: RateLimit::Delay,
                rtt: None,
            },
            last_sent: None,
            next_process: None,
            received: Vec::new(),
        })
    }

    /// The rate for the encoder.
    fn encoder_rate(&self) -> Rate {
        Rate::from_bits(self.told.rate.min(self.most) as u64)
    }

    /// The round trip of the feedback that is being taken: the shortest, less the wait for the
    /// newest packet. Once a second it is taken for that of a receiver report.
    fn take_round_trip(&mut self, now: Instant) {
        let Some(&(newest, _)) = self.received.last() else {
            return;
        };
        let rtts = self
            .received
            .iter()
            .map(|&(at, arrival)| now.since(arrival.sent).saturating_sub(newest.since(at)));
        let rtt = rtts.min().unwrap_or(Duration::ZERO);
        self.target.on_heard(now, rtt);
        let due = |(_, at)| now.since(at) >= RTT_INTERVAL;
        if rtt > Duration::ZERO && self.rtt.is_none_or(due) {
            self.rtt = Some((rtt, now));
            self.aimd.set_rtt(rtt);
        }
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
            recovered |= before == PathUsage::Under && self.delay.usage() == PathUsage::Normal;
        }
        self.throughput.trim();
        (probed, recovered)
    }

    /// Moves the delay-based rate (libwebrtc, `DelayBasedBwe::MaybeUpdateEstimate`).
    fn move_rate(&mut self, now: Instant, measured: Option<f64>, probed: Option<f64>) -> Moved {
        let usage = self.delay.usage();
        let moved = match (usage, measured, probed) {
            (PathUsage::Over, Some(rate), _) if !self.aimd.may_decrease(now, rate) => Moved::Not,
            (PathUsage::Over, Some(_), _) => {
                self.aimd.update(now, usage, measured);
                Moved::Lowered
            }
            (PathUsage::Over, None, _) => {
                self.aimd.halve(now);
                Moved::Lowered
            }
            (_, _, Some(probed)) => {
                // A result far below the acknowledged rate cannot be right, but may drain a queue.
                let floor = measured.map_or(0.0, |rate| PROBE_FLOOR * rate);
                self.aimd.set(now, probed.max(floor.min(self.aimd.rate())));
                Moved::Probed
            }
            _ => {
                self.aimd.update(now, usage, measured);
                Moved::Along
            }
        };
        match moved {
            Moved::Not => {}
            Moved::Probed => self.target.set_probed(self.aimd.rate()),
            Moved::Lowered | Moved::Along => self.target.set_delay(self.aimd.rate()),
        }
        moved
    }

    /// Reports the rate to the others if any part of it is new.
    fn tell(&mut self, now: Instant) {
        let rate = self.target.rate();
        let news = ReportedValues {
            rate,
            limit: self.target.limit(),
            rtt: self.rtt,
        };
        if news == self.told {
            return;
        }
        self.told = news;
        self.alr.set_estimate(rate);
        let blocked = self.delay.usage() != PathUsage::Normal
            || self.target.limit() != RateLimit::Delay
            || self.target.is_silent();
        self.prober.set_estimate(now, rate, blocked);
    }
}

impl Control for Gcc {
    fn on_sent(&mut self, now: Instant, bytes: u64, _in_flight: u64) {
        self.last_sent = Some(now);
        self.target.on_sent(now);
        self.alr.on_sent(now, bytes);
        self.tell(now);
        self.next_process.get_or_insert(now + PROCESS);
    }

    /// Does nothing: arrivals carry more information.
    fn on_ack(&mut self, _now: Instant, _ack: &Ack) {}

    /// Does nothing: arrivals carry more information.
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
        self.take_round_trip(now);
        let limited = self.alr.on_report(now);
        let (mut moved, mut ended, mut probed) = (Moved::Not, false, None);
        if !self.received.is_empty() {
            (probed, ended) = self.take_arrivals(now);
        }
        let measured = self.throughput.rate();
        if !self.received.is_empty() {
            moved = self.move_rate(now, measured, probed);
        }
        self.target.on_report(now, arrivals, measured, limited);
        // If the delay-based rate did not move, the next packet shows the change by loss.
        if moved != Moved::Not {
            self.tell(now);
        }
        let wanted = self.params.rapid_recovery || self.alr.recent(now, ALR_ENDED);
        if ended && moved == Moved::Along && wanted {
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
        self.next_process = self.last_sent.is_some_and(active).then_some(now + PROCESS);
        self.target.update(now);
        self.tell(now);
        let limited = self.alr.since().filter(|_| self.params.alr_probing);
        self.prober.process(now, limited);
    }

    /// No limit: GCC limits the rate only.
    fn window(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_bits(self.told.rate as u64);
        Some(rate.scale(PACING.0, PACING.1))
    }

    fn pacing_burst(&self) -> Duration {
        self.params.burst
    }

    fn padding_rate(&self) -> Rate {
        match self.told.limit {
            RateLimit::Rising => Rate::from_bits(self.told.rate as u64),
            RateLimit::Delay | RateLimit::Loss => Rate::default(),
        }
    }

    fn media_rate(&self, _srtt: Duration) -> Rate {
        self.encoder_rate()
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

/// `later − earlier` in milliseconds, possibly negative.
fn signed_ms(earlier: Instant, later: Instant) -> f64 {
    // Exact: instants of a run are less than 292 years apart.
    let ns = later.as_nanos().wrapping_sub(earlier.as_nanos()) as i64;
    ns as f64 / 1e6
}
