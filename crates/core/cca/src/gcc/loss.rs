//! The loss-based controller: how much passes without more loss than the path has anyway.
//!
//! libwebrtc's `loss_based_bwe_v2.cc`, in place of the draft's section 6. Packets are gathered in
//! observations of a quarter of a second. A candidate is a bandwidth with an inherent loss; of
//! several the one counts that makes the losses of the last fifteen observations most likely, with
//! a preference for more bandwidth while there is little loss. The result is bounded: by the
//! acknowledged rate, by the current loss, and by the delay-based estimate.

mod model;

use crate::Arrival;
use model::{Channel, LossObservation, Model};
use units::{Duration, Instant};

/// An observation covers this long of sending at least.
const SHORTEST: Duration = Duration::from_millis(250);
/// Number of observations required before any result counts.
const ENOUGH: u64 = 3;
/// The candidates, in current estimates.
const FACTORS: [f64; 3] = [1.02, 1.0, 0.95];
/// While loss limits, no more than this per [`STEP`], in estimates.
const MOST_GROWTH: f64 = 1.3;
const STEP: Duration = Duration::from_millis(300);
/// And no more than this in the acknowledged rate; the second while that is below so many times the
/// rate that is held.
const RAMP_UP: f64 = 1.5;
const RAMP_UP_HELD: f64 = 1.2;
const HELD: f64 = 1.3;
/// A decrease is held for this long, twice as long after each, up to a most.
const HOLD: Duration = Duration::from_millis(300);
const LONGEST_HOLD: Duration = Duration::from_secs(60);
/// Padding follows an increase for this long.
const PADDING: Duration = Duration::from_secs(2);
/// libwebrtc `kCongestionControllerMinBitrate`.
const FLOOR: f64 = 5_000.0;

/// The limit that holds the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateLimit {
    /// The delay, not loss.
    Delay,
    /// Loss, decreasing: padding continues.
    Rising,
    /// Loss.
    Loss,
}

/// A rate that must not be exceeded until a time, after a decrease.
#[derive(Debug, Clone, Copy)]
struct Hold {
    until: Instant,
    /// How long the next one lasts.
    next: Duration,
    rate: f64,
}

impl Default for Hold {
    fn default() -> Self {
        Hold {
            until: Instant::ZERO,
            next: HOLD,
            rate: f64::INFINITY,
        }
    }
}

/// The controller's state. Rates in bit/s.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    bounds: (f64, f64),
    model: Model,
    /// The observation being gathered, and the last packet sent of the one before it.
    partial: LossObservation,
    last_sent: Option<Instant>,
    best: Option<Channel>,
    acknowledged: Option<f64>,
    rate: f64,
    limit: RateLimit,
    hold: Hold,
    /// The rate that padding was begun for, and when.
    padding: Option<(f64, Instant)>,
    /// When the present [`STEP`] began, and its limit.
    step: Option<(Instant, f64)>,
}

impl Loss {
    /// For rates within `bounds`.
    pub fn new(bounds: (f64, f64)) -> Self {
        Loss {
            bounds,
            model: Model::default(),
            partial: LossObservation::default(),
            last_sent: None,
            best: None,
            acknowledged: None,
            rate: 0.0,
            limit: RateLimit::Delay,
            hold: Hold::default(),
            padding: None,
            step: None,
        }
    }

    /// The rate that passes, once there are enough observations.
    pub fn rate(&self) -> Option<f64> {
        (self.best.is_some() && self.model.count() >= ENOUGH).then_some(self.rate)
    }

    /// Returns the limit that holds the rate.
    pub fn limit(&self) -> RateLimit {
        if self.rate().is_some() {
            self.limit
        } else {
            RateLimit::Delay
        }
    }

    /// Sets the acknowledged rate, if known.
    pub fn set_acknowledged(&mut self, rate: Option<f64>) {
        self.acknowledged = rate.or(self.acknowledged);
    }

    /// A report, with a delay-based estimate of `delay`; `limited` if the application sends less
    /// than it may.
    pub fn update(&mut self, arrivals: &[Arrival], delay: f64, limited: bool) {
        let Some(now) = self.observe(arrivals) else {
            return;
        };
        let old = match self.best {
            Some(best) => best,
            None if delay.is_finite() => {
                self.rate = delay;
                Channel::new(delay)
            }
            None => return,
        };
        let found = self.search(now, old, delay, limited);
        let found = self.slowed(now, old, found);
        let (lower, upper) = (self.lower(), self.model.upper(self.bounds.1));
        let bounded = found.bandwidth.min(upper).min(delay).max(lower);
        self.best = Some(if bounded < found.bandwidth {
            Channel {
                bandwidth: bounded,
                inherent: 0.0,
            }
        } else {
            Channel {
                bandwidth: found.bandwidth.max(lower),
                ..found
            }
        });
        self.conclude(now, bounded, delay);
    }

    /// Gathers a report; the time of its last packet, if an observation is complete with it.
    fn observe(&mut self, arrivals: &[Arrival]) -> Option<Instant> {
        let first = arrivals.iter().map(|packet| packet.sent).min()?;
        let last = arrivals.iter().map(|packet| packet.sent).max()?;
        for packet in arrivals {
            let bytes = f64::from(packet.bytes);
            self.partial.bytes += bytes;
            if packet.received.is_none() {
                self.partial.lost += bytes;
            }
        }
        let span = last.since(*self.last_sent.get_or_insert(first));
        if span < SHORTEST {
            return None;
        }
        self.last_sent = Some(last);
        let mut observation = core::mem::take(&mut self.partial);
        observation.rate = observation.bytes * 8.0 / span.as_secs_f64();
        self.model.push(observation);
        Some(last)
    }

    /// The likeliest of the candidates; of equal ones the fastest.
    fn search(&self, now: Instant, old: Channel, delay: f64, limited: bool) -> Channel {
        let most = self.most_candidate().max(old.bandwidth);
        let padded = |(_, since): (f64, Instant)| since + PADDING >= now;
        let arriving = self
            .acknowledged
            .filter(|_| !limited || self.padding.is_some_and(padded));
        let delay = Some(delay).filter(|&delay| delay.is_finite() && delay > old.bandwidth);
        let factors = FACTORS.map(|factor| factor * old.bandwidth).into_iter();
        let bandwidths = factors.chain(arriving).chain(delay);
        let mut best = (f64::MIN, old);
        for bandwidth in bandwidths {
            let candidate = self.model.fitted(Channel {
                bandwidth: bandwidth.min(most),
                ..old
            });
            let likelihood = self.model.likelihood(candidate);
            let faster = candidate.bandwidth > best.1.bandwidth;
            if likelihood > best.0 || (likelihood == best.0 && faster) {
                best = (likelihood, candidate);
            }
        }
        best.1
    }

    fn most_candidate(&self) -> f64 {
        match (self.limit, self.step) {
            (RateLimit::Delay, _) | (_, None) => self.bounds.1,
            (_, Some((_, most))) => most,
        }
    }

    /// Limits to the use of the likeliest candidate: more loss than it explains, and growth that is
    /// too fast while loss limits.
    fn slowed(&self, now: Instant, old: Channel, mut found: Channel) -> Channel {
        let grows = found.bandwidth > old.bandwidth;
        if grows && self.model.average_loss() > found.inherent {
            found.bandwidth = old.bandwidth;
        }
        if self.limit == RateLimit::Delay {
            return found;
        }
        if let Some((since, most)) = self.step
            && since + STEP > now
        {
            found.bandwidth = found.bandwidth.min(most);
        }
        if let Some(arriving) = self.acknowledged
            && self.is_rising(old.bandwidth, found.bandwidth)
        {
            let held = self.hold.rate.is_finite() && arriving < HELD * self.hold.rate;
            let factor = if held { RAMP_UP_HELD } else { RAMP_UP };
            found.bandwidth = found.bandwidth.min(factor * arriving).max(old.bandwidth);
            // Padding accompanies growth only: a bit more is growth.
            if self.limit == RateLimit::Loss && found.bandwidth == old.bandwidth {
                found.bandwidth += 1.0;
            }
        }
        found
    }

    /// The lower bound: the acknowledged rate is not too high.
    fn lower(&self) -> f64 {
        self.acknowledged.unwrap_or(0.0).max(self.bounds.0)
    }

    fn is_rising(&self, old: f64, new: f64) -> bool {
        let goes_on = old == new && self.limit == RateLimit::Rising;
        (old < new || goes_on) && self.limit != RateLimit::Delay
    }

    /// Padding lasts for a while after each increase.
    fn may_go_on(&self, now: Instant, rate: f64) -> bool {
        self.limit != RateLimit::Rising
            || self
                .padding
                .is_some_and(|(begun, since)| since + PADDING >= now || begun < rate)
    }

    /// From the bounded estimate to the result.
    fn conclude(&mut self, now: Instant, bounded: f64, delay: f64) {
        let limits = bounded < delay;
        if self.limit == RateLimit::Loss && self.hold.until > now && limits {
            self.hold.rate = self.hold.rate.max(self.lower());
            self.rate = self.hold.rate.min(bounded);
            return;
        }
        let limits = limits && bounded < self.bounds.1;
        if limits && self.is_rising(self.rate, bounded) && self.may_go_on(now, bounded) {
            if self.padding.is_none_or(|(begun, _)| bounded > begun) {
                self.padding = Some((bounded, now));
            }
            self.limit = RateLimit::Rising;
        } else if limits {
            if self.limit != RateLimit::Loss {
                self.hold = Hold {
                    until: now + self.hold.next,
                    next: (self.hold.next * 2).min(LONGEST_HOLD),
                    rate: bounded,
                };
            }
            self.padding = None;
            self.limit = RateLimit::Loss;
        } else {
            self.hold = Hold::default();
            self.padding = None;
            self.limit = RateLimit::Delay;
        }
        self.rate = bounded;
        let over = |(since, _): (Instant, f64)| since + STEP < now;
        if self.limit != RateLimit::Delay && self.step.is_none_or(over) {
            let best = self.best.map_or(bounded, |best| best.bandwidth);
            self.step = Some((now, (MOST_GROWTH * best).max(FLOOR)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// Feeds a second of 100 packets of 1250 B, 1 Mbit/s; one of `every` is lost.
    fn second(loss: &mut Loss, second: u64, every: usize, delay: f64) {
        for quarter in 0..4 {
            let first = 1000 * second + 250 * quarter;
            let arrivals: Vec<_> = (0..25)
                .map(|n| Arrival {
                    sequence: 0,
                    bytes: 1250,
                    sent: at(first + 10 * n as u64),
                    received: (n % every > 0).then(|| at(first)),
                    probe: None,
                })
                .collect();
            loss.update(&arrivals, delay, false);
        }
    }

    #[test]
    fn without_loss_the_delay_limits() {
        let mut loss = Loss::new((1e5, 1e9));
        assert_eq!(loss.rate(), None);
        loss.set_acknowledged(Some(1e6));
        for step in 0..5 {
            second(&mut loss, step, usize::MAX, 1.2e6);
        }
        assert_eq!((loss.rate(), loss.limit()), (Some(1.2e6), RateLimit::Delay));
    }

    #[test]
    fn much_loss_limits_to_what_arrives_and_its_end_lets_rise() {
        let mut loss = Loss::new((1e5, 1e9));
        loss.set_acknowledged(Some(8e5));
        for step in 0..5 {
            second(&mut loss, step, 5, 2e6);
        }
        // A fifth: no more than 100 kbit/s over 0.15, but no less than the acknowledged rate.
        assert_eq!((loss.rate(), loss.limit()), (Some(8e5), RateLimit::Loss));
        loss.set_acknowledged(Some(1e6));
        second(&mut loss, 5, usize::MAX, 2e6);
        let rising = loss.rate().unwrap();
        assert!(
            rising >= 1e6 && loss.limit() != RateLimit::Delay,
            "{rising}"
        );
        for step in 6..20 {
            second(&mut loss, step, usize::MAX, 2e6);
            // The acknowledged rate follows.
            loss.set_acknowledged(loss.rate());
        }
        assert_eq!((loss.rate(), loss.limit()), (Some(2e6), RateLimit::Delay));
    }
}
