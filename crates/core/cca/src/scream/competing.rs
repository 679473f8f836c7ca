//! The target of the queueing delay beside flows that fill the buffer (4.2.1.4 of the draft).

use super::ScreamParams;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// A delay is taken so often, so that the long history is ten seconds. The draft does not say.
const EVERY: Duration = Duration::from_millis(50);
/// Delays over which their variance is taken, and their mean.
const LONG: usize = 200;
const SHORT: usize = 50;
/// Below this variance, in squares of the least target, the delay is a standing one.
const STANDING: f64 = 0.2;
/// Above this share of round trips with losses others fill the buffer.
const LOSSY: f64 = 0.002;
/// Weight of the newest round trip in that share (scream: ScreamV2Tx.cpp).
const LOSSES_GAIN: f64 = 0.02;

/// The target, seconds.
#[derive(Debug, Clone)]
pub(super) struct Competing {
    compete: bool,
    least: f64,
    most: f64,
    target: f64,
    /// Delays as parts of the least target, the newest last.
    delays: VecDeque<f64>,
    sampled: Instant,
    /// Share of round trips with losses, and whether this one has some.
    losses: f64,
    lost: bool,
}

impl Competing {
    pub(super) fn new(params: &ScreamParams) -> Self {
        let least = params.target.as_secs_f64();
        Competing {
            compete: params.compete,
            least,
            most: params.target_most.as_secs_f64().max(least),
            target: least,
            delays: VecDeque::with_capacity(LONG),
            sampled: Instant::ZERO,
            losses: 0.0,
            lost: false,
        }
    }

    pub(super) const fn target(&self) -> f64 {
        self.target
    }

    /// A packet was found lost.
    pub(super) fn lost(&mut self) {
        self.lost = true;
    }

    /// A round trip has passed.
    pub(super) fn round(&mut self) {
        let found = if core::mem::take(&mut self.lost) {
            1.0
        } else {
            0.0
        };
        self.losses += (found - self.losses) * LOSSES_GAIN;
    }

    /// Takes a queueing delay, seconds.
    pub(super) fn sample(&mut self, now: Instant, delay: f64) {
        if !self.compete || now.since(self.sampled) < EVERY {
            return;
        }
        self.sampled = now;
        if self.delays.len() == LONG {
            self.delays.pop_front();
        }
        self.delays.push_back(delay / self.least);
        self.adjust();
    }

    fn adjust(&mut self) {
        let count = self.delays.len() as f64;
        let mean = self.delays.iter().sum::<f64>() / count;
        let squares = self
            .delays
            .iter()
            .map(|delay| (delay - mean) * (delay - mean));
        let variance = squares.sum::<f64>() / count;
        let newest = self.delays.iter().rev().take(SHORT);
        let short = newest.sum::<f64>() / count.min(SHORT as f64);
        let wanted = (short + variance.sqrt()) * self.least;
        self.target = if self.losses > LOSSY {
            1.5 * wanted
        } else if variance < STANDING {
            wanted
        } else if wanted < self.least {
            (self.target / 2.0).max(wanted)
        } else {
            self.target * 0.9
        };
        self.target = self.target.clamp(self.least, self.most);
    }
}
