//! What is known of the path: a score that each pair of intervals moves, and a verdict by it.
//!
//! Two successive intervals are taken together, because the roles swap between them: what the two
//! paths differ by, for whatever reason, counts once with each sign. What is left is what follows
//! the roles, and only queues of their own do that.

use super::neighbours::{IntervalHalf, Neighbours, median};
use crate::notice::NoticeKind;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Pairs that a half needs.
const PAIRS: u32 = 3;
/// The score stays within this.
const MOST: f64 = 6.0;
/// A verdict needs this much.
const ENOUGH: f64 = 3.0;
/// What was known fades with this, from one observation to the next.
const FADES: Duration = Duration::from_secs(30);
/// One observation moves the score by at most this up, and by one down.
const UP: f64 = 2.0;
/// A difference below this is none, ms; also below this part of a packet's time, and below so many
/// standard deviations of a mean.
const LEAST: f64 = 0.3;
const LEAST_PACKETS: f64 = 0.75;
const LEAST_NOISE: f64 = 2.0;
/// The part of the queue that has to differ for queues of their own. Half of it is too little for
/// one queue.
const DIFFERS: f64 = 0.4;
/// A queue stands out of what delays move by from half to half, and of a pair's noise, by so much.
const STANDS_OUT: f64 = 6.0;
const ABOVE_NOISE: f64 = 5.0;
/// Linux's `fq` sends in order of arrival while no more than 8 packets wait, so a queue up to this
/// says little, packets.
const SHORT: f64 = 10.0;
const LITTLE: f64 = 0.1;
/// Equal delays count for nothing for so long after a train has shown fair queuing: they may have
/// another cause than one queue, such as a radio's retransmissions.
const TRUSTED: Duration = Duration::from_secs(10);
/// Halves whose changes tell how restless delays are.
const HALVES: usize = 21;
/// The base of a subflow's delay is the least mean of a half in six to seven of these.
const BUCKET: Duration = Duration::from_secs(5);
const BUCKETS: usize = 7;

/// What an observation was: all in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Observation {
    /// By how much the dominant subflow waited longer in both roles.
    pub(super) difference: f64,
    /// The queue: the longer of both.
    pub(super) queue: f64,
}

/// An interval whose packets are accounted for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredInterval {
    /// Number in the order of time.
    pub(super) number: u64,
    /// Place of the dominant subflow.
    pub(super) dominant: usize,
    /// A packet's time at the rate of delivery, ms.
    pub(super) packet: f64,
    /// Difference that a whole exchange of the two queues shows while both have packets, ms.
    pub(super) swing: f64,
    /// Neighbours.
    pub(super) neighbours: Neighbours,
}

/// The least mean delay of a half, by time.
#[derive(Debug, Clone, Default)]
struct Base(VecDeque<(u64, f64)>);

impl Base {
    fn note(&mut self, now: Instant, delay: f64) {
        let bucket = now.as_nanos() / BUCKET.as_nanos();
        match self.0.back_mut() {
            Some((at, least)) if *at == bucket => *least = least.min(delay),
            _ => self.0.push_back((bucket, delay)),
        }
        if self.0.len() > BUCKETS {
            self.0.pop_front();
        }
    }

    fn get(&self) -> f64 {
        self.0
            .iter()
            .map(|&(_, least)| least)
            .fold(f64::MAX, f64::min)
    }
}

/// The score, and the verdict by it.
#[derive(Debug, Clone)]
pub(super) struct Score {
    sum: f64,
    moved: Instant,
    kind: NoticeKind,
    /// When evidence last agreed with the verdict.
    renewed: Instant,
    /// When evidence last was for fair queuing.
    fair: Instant,
    last: Observation,
    /// Number and raw difference of the interval before.
    before: Option<(u64, f64)>,
    /// The interval in which a mark was last echoed.
    marked: u64,
    /// Until when a train's finding outweighs equal delays.
    trusted: Instant,
    bases: [Base; 2],
    halves: VecDeque<f64>,
    scratch: Vec<f64>,
}

impl Score {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Score {
            sum: 0.0,
            moved: Instant::ZERO,
            kind: NoticeKind::Unknown,
            renewed: Instant::ZERO,
            fair: Instant::ZERO,
            last: Observation::default(),
            before: None,
            marked: 0,
            trusted: Instant::ZERO,
            bases: Default::default(),
            halves: VecDeque::with_capacity(HALVES + 1),
            scratch: Vec::with_capacity(HALVES),
        }
    }

    /// The verdict, without regard to its age.
    pub(super) fn kind(&self) -> NoticeKind {
        self.kind
    }

    /// 0 to 1.
    pub(super) fn confidence(&self) -> f64 {
        self.sum.abs() / MOST
    }

    /// When evidence last agreed with the verdict.
    pub(super) fn renewed(&self) -> Instant {
        self.renewed
    }

    /// When evidence last was for fair queuing.
    pub(super) fn last_fair(&self) -> Instant {
        self.fair
    }

    /// The last observation that moved the score.
    pub(super) fn last(&self) -> Observation {
        self.last
    }

    /// The next interval. True if it said something.
    pub(super) fn interval(&mut self, now: Instant, interval: &ScoredInterval) -> bool {
        let [first, second] = interval.neighbours.halves;
        for half in [first, second] {
            if half.n >= PAIRS {
                self.note(now, interval.dominant, &half);
            }
        }
        let before = self.before.take();
        if second.n < PAIRS {
            return false;
        }
        self.before = Some((interval.number, second.difference()));
        let Some((_, difference)) = before.filter(|(number, _)| number + 1 == interval.number)
        else {
            return false;
        };
        let observation = Observation {
            difference: (second.difference() + difference) / 2.0,
            queue: self.queue(interval.dominant, &second),
        };
        let moves = self.weigh(now, interval, &second, observation);
        if moves != 0.0 {
            self.last = observation;
            self.moves(now, moves);
        }
        moves != 0.0
    }

    /// A mark was echoed in interval `number`.
    pub(super) fn marked(&mut self, number: u64) {
        self.marked = number;
    }

    /// A train says fair queuing; the score is at least what a verdict needs.
    pub(super) fn train(&mut self, now: Instant) {
        self.fade(now);
        self.sum = self.sum.max(ENOUGH);
        self.kind = NoticeKind::Fair;
        self.renewed = now;
        self.fair = now;
        self.trusted = now + TRUSTED;
    }

    /// Trains say one queue.
    pub(super) fn in_order(&mut self, now: Instant) {
        if now >= self.trusted {
            self.moves(now, -1.0);
        }
    }

    fn note(&mut self, now: Instant, dominant: usize, half: &IntervalHalf) {
        self.bases[dominant].note(now, half.dominant);
        self.bases[1 - dominant].note(now, half.lesser);
        self.halves.push_back(half.lesser);
        if self.halves.len() > HALVES {
            self.halves.pop_front();
        }
    }

    /// The longer queue of both, each above its own base.
    fn queue(&self, dominant: usize, half: &IntervalHalf) -> f64 {
        let first = half.dominant - self.bases[dominant].get();
        first.max(half.lesser - self.bases[1 - dominant].get())
    }

    /// The median change of a subflow's delay from half to half: jitter is no queue.
    fn restless(&mut self) -> f64 {
        let steps = self.halves.iter().zip(self.halves.iter().skip(1));
        self.scratch.clear();
        self.scratch.extend(steps.map(|(a, b)| (b - a).abs()));
        median(&mut self.scratch)
    }

    /// By how much an observation moves the score: up for queues of their own, down for one.
    fn weigh(
        &mut self,
        now: Instant,
        interval: &ScoredInterval,
        half: &IntervalHalf,
        seen: Observation,
    ) -> f64 {
        let noise = interval.neighbours.noise;
        let least = LEAST
            .max(LEAST_PACKETS * interval.packet)
            .max(LEAST_NOISE * noise / f64::from(half.n).sqrt());
        let Observation { difference, queue } = seen;
        let differs = DIFFERS * queue.min(interval.swing);
        if difference.abs() > least && difference.abs() >= differs {
            let times = difference.abs() / least / 2.0;
            return if difference > 0.0 {
                times.min(UP)
            } else {
                -times.min(1.0)
            };
        }
        let stands = queue
            > least
                .max(STANDS_OUT * self.restless())
                .max(ABOVE_NOISE * noise);
        let visible = queue <= interval.swing || interval.swing > least;
        if stands && visible && difference.abs() < differs / 2.0 && now >= self.trusted {
            // `fq` marks nothing while it sends in order of arrival.
            let marked = self.marked + 1 >= interval.number;
            let tells = marked || queue > SHORT * interval.packet;
            let weight = if tells { 1.0 } else { LITTLE };
            return -(queue / least / 2.0).min(1.0) * weight;
        }
        0.0
    }

    fn fade(&mut self, now: Instant) {
        let age = now.since(self.moved).as_secs_f64();
        self.sum *= libm::exp(-age / FADES.as_secs_f64());
        self.moved = now;
    }

    fn moves(&mut self, now: Instant, by: f64) {
        self.fade(now);
        self.sum = (self.sum + by).clamp(-MOST, MOST);
        let old = self.kind;
        self.kind = match old {
            _ if self.sum >= ENOUGH => NoticeKind::Fair,
            _ if self.sum <= -ENOUGH => NoticeKind::Shared,
            NoticeKind::Fair if self.sum < 0.0 => NoticeKind::Unknown,
            kind => kind,
        };
        if by > 0.0 {
            self.fair = now;
        }
        let agrees = match self.kind {
            NoticeKind::Fair => by > 0.0,
            NoticeKind::Shared => by < 0.0,
            NoticeKind::Unknown => true,
        };
        if agrees || self.kind != old {
            self.renewed = now;
        }
    }
}

#[cfg(test)]
mod tests;
