//! The paper's rule: the dominant subflow's share of the rate of delivery.
//!
//! Fair queues deliver the same of both subflows, one queue in proportion to what was sent. It needs
//! a queue that lasts: the subflow that was dominant before has to have packets waiting.

use crate::notice::NoticeKind;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// The paper's rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// How many intervals are taken together.
    pub intervals: usize,
    /// Fair queuing if the share delivered is below, 0.5 to [`dominant`](super::Settings::dominant).
    pub fair_below: f64,
    /// No verdict if the share of the bytes sent is below this.
    pub sent_at_least: f64,
}

/// What became of the bytes sent in an interval, by subflow.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntervalOutcome {
    pub(super) dominant: usize,
    pub(super) sent: [u64; 2],
    pub(super) delivered: [u64; 2],
    /// When the first and the last of it was acknowledged.
    pub(super) acked: [Option<(Instant, Instant)>; 2],
}

/// What an interval adds: by role, the dominant subflow first.
#[derive(Debug, Clone, Copy)]
struct Sum {
    sent: [u64; 2],
    delivered: [u64; 2],
    time: [Duration; 2],
}

/// The last intervals.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent(VecDeque<Sum>);

/// The dominant subflow's shares.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DominantShares {
    /// Of the bytes sent.
    pub(super) sent: f64,
    /// Of the rate of delivery.
    pub(super) delivered: f64,
}

impl Recent {
    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// One more interval, and the shares if there are enough. A subflow's rate is the bytes that it
    /// sent in its intervals over the time from the first to the last acknowledgement of them, as in
    /// the author's program: if a queue builds up, that takes longer than the interval.
    pub(super) fn add(
        &mut self,
        interval: &IntervalOutcome,
        rule: &Shares,
    ) -> Option<DominantShares> {
        let sides = [interval.dominant, 1 - interval.dominant];
        self.0.push_back(Sum {
            sent: sides.map(|side| interval.sent[side]),
            delivered: sides.map(|side| interval.delivered[side]),
            time: sides.map(|side| {
                let (first, last) = interval.acked[side].unwrap_or_default();
                last.since(first)
            }),
        });
        if self.0.len() > rule.intervals {
            self.0.pop_front();
        }
        (self.0.len() == rule.intervals).then(|| self.shares())
    }

    fn shares(&self) -> DominantShares {
        let sum = |of: fn(&Sum) -> [f64; 2]| {
            self.0
                .iter()
                .map(of)
                .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
        };
        let share = |[of, other]: [f64; 2]| if of > 0.0 { of / (of + other) } else { 0.0 };
        let [bytes, time] = [
            sum(|sum| sum.delivered.map(|bytes| bytes as f64)),
            sum(|sum| sum.time.map(|time| time.as_secs_f64())),
        ];
        DominantShares {
            sent: share(sum(|sum| sum.sent.map(|bytes| bytes as f64))),
            delivered: share([0, 1].map(|role| bytes[role] / time[role].max(1e-9))),
        }
    }
}

impl Shares {
    /// A verdict, with the distance from another one: 0 to 1. The dominant subflow is to send `most`.
    pub(super) fn verdict(&self, found: DominantShares, most: f64) -> (NoticeKind, f64) {
        if found.sent < self.sent_at_least {
            return (NoticeKind::Unknown, 0.0);
        }
        let distance = (found.delivered - self.fair_below).abs() / (most - self.fair_below);
        if found.delivered < self.fair_below {
            (NoticeKind::Fair, distance.min(1.0))
        } else {
            (NoticeKind::Shared, distance.min(1.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dominant_subflow_that_sent_too_little_tells_nothing() {
        let rule = Shares {
            intervals: 4,
            fair_below: 0.55,
            sent_at_least: 0.575,
        };
        let verdict = |sent, delivered| rule.verdict(DominantShares { sent, delivered }, 0.6);
        assert_eq!(verdict(0.56, 0.5).0, NoticeKind::Unknown);
        assert_eq!(verdict(0.6, 0.549).0, NoticeKind::Fair);
        assert_eq!(verdict(0.6, 0.551).0, NoticeKind::Shared);
        assert_eq!(verdict(0.6, 0.5), (NoticeKind::Fair, 1.0));
    }
}
