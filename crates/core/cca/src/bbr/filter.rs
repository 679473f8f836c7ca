//! The state that BBR keeps of the path: the highest rate of the last rounds, whether the pipe is
//! full, and how much acknowledgements bunch.

use crate::{Ack, RateSample};
use std::collections::VecDeque;
use units::{Duration, Instant, Rate};

/// The highest rate of the last [`WINDOW`](Self::WINDOW) rounds, and of this one.
///
/// Nothing expires until a new sample comes, so that an idle sender keeps its estimate. Exact,
/// where Linux keeps the best three.
#[derive(Debug, Clone)]
pub(super) struct MaxRate {
    /// Round and rate: later rounds, lower rates. At most one entry a round.
    samples: VecDeque<(u64, Rate)>,
}

impl MaxRate {
    /// The gain cycle's eight phases and two more (`bbr_bw_rtts`).
    pub(super) const WINDOW: u64 = 10;

    pub(super) fn new() -> Self {
        MaxRate {
            samples: VecDeque::with_capacity(Self::WINDOW as usize + 2),
        }
    }

    /// The highest rate; zero before the first sample.
    pub(super) fn get(&self) -> Rate {
        self.samples
            .front()
            .map_or(Rate::default(), |entry| entry.1)
    }

    pub(super) fn add(&mut self, round: u64, rate: Rate) {
        while self.samples.back().is_some_and(|entry| entry.1 <= rate) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|entry| entry.0 < round) {
            self.samples.push_back((round, rate));
        }
        while let Some(&(oldest, _)) = self.samples.front()
            && oldest + Self::WINDOW < round
        {
            self.samples.pop_front();
        }
    }
}

/// Whether start-up has filled the pipe: three rounds without a quarter more (draft, 4.3.2.2).
#[derive(Debug, Clone, Default)]
pub(super) struct FullPipe {
    pub(super) reached: bool,
    rate: Rate,
    rounds: u32,
}

impl FullPipe {
    /// A round that the application did not limit ends with the highest rate at `rate`.
    pub(super) fn on_round(&mut self, rate: Rate) {
        if rate >= self.rate.scale(5, 4) {
            self.rate = rate;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.reached || self.rounds >= 3;
    }

    /// Looks for growth anew, after a timeout (Linux `bbr_set_state`).
    pub(super) fn forget_rate(&mut self) {
        self.rate = Rate::default();
    }

    /// Forgets all samples, and looks for growth beyond `rate`.
    pub(super) fn restart(&mut self, rate: Rate) {
        *self = FullPipe {
            rate,
            ..FullPipe::default()
        };
    }
}

/// The packets that ProbeRtt held back, by the bytes delivered when they left: their samples say
/// nothing about the path.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldBack(Option<(u64, u64)>);

impl HeldBack {
    /// Holding back begins.
    pub(super) fn start(&mut self, ack: &Ack) {
        self.0 = Some((ack.delivered, ack.delivered));
    }

    /// It continues.
    pub(super) fn extend(&mut self, ack: &Ack) {
        if let Some((_, to)) = &mut self.0 {
            *to = ack.delivered + ack.in_flight;
        }
    }

    pub(super) fn covers(&self, sample: &RateSample) -> bool {
        self.0
            .is_some_and(|(from, to)| (from..=to).contains(&sample.prior_delivered))
    }
}

/// How much more is acknowledged at once than the estimated rate explains: the window allows for
/// it, so that the sender does not stop between bunches. The highest of the last five to ten
/// rounds (Linux `bbr_update_ack_aggregation`; not in the draft).
#[derive(Debug, Clone)]
pub(super) struct Aggregation {
    /// Rounds that one of the two slots covers.
    pub(super) slot_rounds: u32,
    epoch: Instant,
    acked: u64,
    highest: [u64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    /// Rounds of a slot in steady state (`bbr_extra_acked_win_rtts`).
    pub(super) const SLOT_ROUNDS: u32 = 5;
    /// The most that is allowed for, as time at the estimated rate (`bbr_extra_acked_max_us`).
    const MOST: Duration = Duration::from_millis(100);

    pub(super) fn new() -> Self {
        Aggregation {
            slot_rounds: Self::SLOT_ROUNDS,
            epoch: Instant::ZERO,
            acked: 0,
            highest: [0; 2],
            slot: 0,
            rounds: 0,
        }
    }

    /// Measures anew from `now` on.
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.acked = 0;
    }

    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        acked: u64,
        rate: Rate,
        window: u64,
        round_start: bool,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= self.slot_rounds {
                self.rounds = 0;
                self.slot = 1 - self.slot;
                self.highest[self.slot] = 0;
            }
        }
        let mut expected = rate.bytes_in(now.since(self.epoch));
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked += acked;
        let extra = (self.acked - expected).min(window);
        let slot = &mut self.highest[self.slot];
        *slot = (*slot).max(extra);
    }

    /// Bytes to add to the window.
    pub(super) fn extra(&self, rate: Rate) -> u64 {
        self.highest[0]
            .max(self.highest[1])
            .min(rate.bytes_in(Self::MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bits(mbit * 1_000_000)
    }

    /// 9 from round 1 stays until round 11 is sampled; 5 from round 2 until round 12.
    #[test]
    fn a_maximum_lasts_ten_rounds_and_falls_to_the_next_best() {
        let mut max = MaxRate::new();
        assert_eq!(max.get(), Rate::from_bits(0));
        max.add(1, mbit(9));
        max.add(1, mbit(8));
        max.add(2, mbit(5));
        max.add(9, mbit(3));
        max.add(11, mbit(2));
        assert_eq!(max.get(), mbit(9));
        max.add(12, mbit(1));
        assert_eq!(max.get(), mbit(5));
        max.add(13, mbit(1));
        assert_eq!(max.get(), mbit(3));
        max.add(13, mbit(4));
        assert_eq!(max.get(), mbit(4));
        for round in 14..200 {
            max.add(round, Rate::from_bits(200 - round));
            assert!(max.samples.len() as u64 <= MaxRate::WINDOW + 1);
        }
    }

    /// 8, 10 (a quarter more), 12 (less than 12.5), 12, 12: the third without makes it full.
    #[test]
    fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
        let mut full = FullPipe::default();
        let reached: Vec<bool> = [8, 10, 12, 12, 12]
            .into_iter()
            .map(|rate| {
                full.on_round(mbit(rate));
                full.reached
            })
            .collect();
        assert_eq!(reached, [false, false, false, false, true]);
    }

    /// At 8 Mbit/s, 1000 B a millisecond, bunches of 5000 B every 5 ms: each finds the earlier ones
    /// explained by the rate and starts an epoch, in which it is 5000 B ahead itself.
    #[test]
    fn a_bunch_is_what_the_rate_does_not_explain() {
        let mut aggregation = Aggregation::new();
        for bunch in 1..=4 {
            let now = Instant::ZERO + Duration::from_millis(5 * bunch);
            for _ in 0..5 {
                aggregation.on_ack(now, 1000, mbit(8), 50_000, false);
            }
        }
        assert_eq!(aggregation.extra(mbit(8)), 5_000);
        // 100 ms at 0.24 Mbit/s are 3000 B.
        assert_eq!(aggregation.extra(Rate::from_bits(240_000)), 3_000);
        // After ten rounds of single packets both slots have forgotten the bunches.
        for round in 1..=10 {
            let now = Instant::ZERO + Duration::from_secs(round);
            aggregation.on_ack(now, 1000, mbit(8), 50_000, true);
        }
        assert_eq!(aggregation.extra(mbit(8)), 1_000);
    }
}
