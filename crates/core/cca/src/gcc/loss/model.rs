//! How likely the losses of the last observations are over a channel.
//!
//! libwebrtc's `loss_based_bwe_v2.cc`: `GetObjective`, `NewtonsMethodUpdate`,
//! `CalculateAverageReportedByteLossRatio`, with its default configuration.

/// Observations remembered.
const WINDOW: usize = 15;
/// Weight of one that is older by one.
const AGING: f64 = 0.9;
/// Least of the loss that a path has anyway, and the first guess.
const LEAST_INHERENT: f64 = 1e-3;
const FIRST_INHERENT: f64 = 0.01;
/// Most of it: this, and this rate, bit/s, in bandwidths.
const MOST_INHERENT: f64 = 0.05;
const BALANCE: f64 = 100_000.0;
/// How much of Newton's step is taken.
const NEWTON: f64 = 0.75;
/// Preference for bandwidth, in kbit/s and in its logarithm, up to this loss, where it turns.
const BIAS: f64 = 0.0002;
const LOG_BIAS: f64 = 0.02;
const BIAS_LOSS: f64 = 0.2;
const BIAS_SMOOTHING: f64 = 0.002;
/// A worst observation that was sent at so many medians is no outlier.
const SUDDEN: f64 = 2.0;
/// Probabilities stay this far from zero and one.
const CERTAIN: f64 = 1e-6;

/// Bytes sent in some time, and how fast, bit/s.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossObservation {
    pub bytes: f64,
    pub lost: f64,
    pub rate: f64,
}

impl LossObservation {
    fn loss(&self) -> f64 {
        if self.bytes > 0.0 {
            self.lost / self.bytes
        } else {
            0.0
        }
    }
}

/// The assumed properties of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Channel {
    /// The rate that passes, bit/s.
    pub bandwidth: f64,
    /// Share that is lost at any rate of sending.
    pub inherent: f64,
}

impl Channel {
    pub fn new(bandwidth: f64) -> Self {
        Channel {
            bandwidth,
            inherent: FIRST_INHERENT,
        }
    }

    /// Share that is lost at `rate`.
    fn loss(&self, rate: f64) -> f64 {
        let inherent = self.inherent.clamp(0.0, 1.0);
        let excess = (rate - self.bandwidth).max(0.0) / rate.max(1.0);
        (inherent + (1.0 - inherent) * excess).clamp(CERTAIN, 1.0 - CERTAIN)
    }

    fn feasible(self) -> Self {
        let most = if self.bandwidth > 0.0 {
            (MOST_INHERENT + BALANCE / self.bandwidth).min(1.0)
        } else {
            1.0
        };
        Channel {
            inherent: self.inherent.max(LEAST_INHERENT).min(most),
            ..self
        }
    }
}

/// The last observations.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    observations: [LossObservation; WINDOW],
    count: u64,
    average: f64,
}

impl Model {
    pub fn push(&mut self, observation: LossObservation) {
        self.observations[(self.count % WINDOW as u64) as usize] = observation;
        self.count += 1;
        self.average = self.typical_loss();
    }

    /// Observations so far, forgotten ones included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The share that was lost, of late.
    pub fn average_loss(&self) -> f64 {
        self.average
    }

    /// The highest allowed rate while so much is lost, at most `most`, bit/s.
    pub fn upper(&self, most: f64) -> f64 {
        if self.average > MOST_INHERENT {
            BALANCE / (self.average - MOST_INHERENT)
        } else {
            most
        }
    }

    /// Observations with their weights, the newest first.
    fn weighted(&self) -> impl Iterator<Item = (f64, &LossObservation)> {
        let known = self.count.min(WINDOW as u64);
        let mut weight = 1.0 / AGING;
        (1..=known).map(move |age| {
            weight *= AGING;
            let index = ((self.count - age) % WINDOW as u64) as usize;
            (weight, &self.observations[index])
        })
    }

    /// The share of bytes that were lost, without the best and the worst observation: a single
    /// spike means little. A worst one that came with a sudden rate means much, though.
    fn typical_loss(&self) -> f64 {
        let (mut bytes, mut lost) = (0.0, 0.0);
        let (mut best, mut worst) = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        let mut worst_rate = 0.0;
        // In the order in which they are kept: of several that are equal the first counts.
        for index in 0..self.count.min(WINDOW as u64) {
            let age = (self.count - 1 - index) % WINDOW as u64;
            let weight = libm::pow(AGING, age as f64);
            let observation = &self.observations[index as usize];
            let loss = observation.loss();
            let part = (loss, weight * observation.bytes, weight * observation.lost);
            bytes += part.1;
            lost += part.2;
            if self.count > 3 {
                if loss > worst.0 {
                    worst = part;
                    worst_rate = observation.rate;
                }
                if loss < best.0 {
                    best = part;
                }
            }
        }
        let rest = bytes - best.1 - worst.1;
        if SUDDEN * self.median_rate() <= worst_rate || rest <= 0.0 {
            return if bytes > 0.0 { lost / bytes } else { 0.0 };
        }
        (lost - best.2 - worst.2) / rest
    }

    fn median_rate(&self) -> f64 {
        let known = self.count.min(WINDOW as u64) as usize;
        let mut rates = self.observations.map(|observation| observation.rate);
        let rates = &mut rates[..known];
        rates.sort_by(f64::total_cmp);
        match known {
            0 => 0.0,
            _ if known.is_multiple_of(2) => (rates[known / 2 - 1] + rates[known / 2]) / 2.0,
            _ => rates[known / 2],
        }
    }

    /// The channel with an inherent loss one step closer to the likeliest.
    pub fn fitted(&self, channel: Channel) -> Channel {
        let channel = channel.feasible();
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.weighted() {
            let loss = channel.loss(observation.rate);
            let lost = observation.lost / 1000.0;
            let arrived = (observation.bytes - observation.lost) / 1000.0;
            first += weight * (lost / loss - arrived / (1.0 - loss));
            second -= weight * (lost / (loss * loss) + arrived / ((1.0 - loss) * (1.0 - loss)));
        }
        if second >= 0.0 {
            second = -CERTAIN;
        }
        Channel {
            inherent: channel.inherent - NEWTON * first / second,
            ..channel
        }
        .feasible()
    }

    /// The likelihood of the observations over `channel`, plus a preference for its bandwidth.
    pub fn likelihood(&self, channel: Channel) -> f64 {
        // libwebrtc takes whole kbit/s, which decides between candidates at low rates.
        let kbit = libm::round(channel.bandwidth / 1000.0);
        let welcome = self.bias(BIAS) * kbit + self.bias(LOG_BIAS) * libm::log(1.0 + kbit);
        let terms = self.weighted().map(|(weight, observation)| {
            let loss = channel.loss(observation.rate);
            let lost = observation.lost / 1000.0;
            let all = observation.bytes / 1000.0;
            let likely = lost * libm::log(loss) + (all - lost) * libm::log(1.0 - loss);
            weight * (likely + welcome * all)
        });
        terms.sum()
    }

    /// The preference for bandwidth: nearly whole below [`BIAS_LOSS`], an aversion above.
    fn bias(&self, whole: f64) -> f64 {
        let below = BIAS_LOSS - self.average;
        whole * below / (BIAS_SMOOTHING + below.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(observations: &[(f64, f64, f64)]) -> Model {
        let mut model = Model::default();
        for &(bytes, lost, rate) in observations {
            model.push(LossObservation { bytes, lost, rate });
        }
        model
    }

    #[test]
    fn a_single_spike_does_not_count_unless_more_was_sent() {
        let quiet = (10_000.0, 0.0, 1e6);
        // Half of one observation: it is the worst, and left out.
        let spike = model(&[quiet, quiet, quiet, (10_000.0, 5_000.0, 1e6), quiet]);
        assert_eq!(spike.average_loss(), 0.0);
        // At twice the median rate it counts: 0.9 of 5 kB in (1 + 0.9 + … + 0.9⁴) of 10 kB.
        let sudden = model(&[quiet, quiet, quiet, (10_000.0, 5_000.0, 2e6), quiet]);
        let weights = 1.0 + 0.9 + 0.81 + 0.729 + 0.6561;
        assert!((sudden.average_loss() - 0.45 / weights).abs() < 1e-12);
    }

    #[test]
    fn the_upper_bound_begins_beyond_five_percent() {
        let lossy = |lost| model(&[(10_000.0, lost, 1e6); 3]);
        assert_eq!(lossy(400.0).upper(1e9), 1e9);
        // 100 kbit/s over 0.25 − 0.05.
        assert!((lossy(2_500.0).upper(1e9) - 5e5).abs() < 1e-3);
    }

    #[test]
    fn loss_of_what_is_too_much_beats_loss_anyway() {
        // A quarter of 1 Mbit/s lost: 750 kbit/s pass.
        let model = model(&[(31_250.0, 7_812.5, 1e6); 15]);
        let likelihood = |bandwidth| {
            let channel = model.fitted(Channel::new(bandwidth));
            model.likelihood(channel)
        };
        assert!(likelihood(7.5e5) > likelihood(1e6));
        assert!(likelihood(7.5e5) > likelihood(4e5));
        // Five percent may be the path's own.
        let fitted = model.fitted(Channel::new(1e6));
        assert!(fitted.inherent <= MOST_INHERENT + BALANCE / 1e6);
    }
}
