//! Fair queuing detected from the bytes that two subflows sent, the bytes that arrived, and their
//! delays.
//!
//! One subflow, the dominant one, sends 6/10 of the rate; they swap each `max(50, min(100, rtt))`
//! ms (Bachl, "Fair Queuing Aware Congestion Control", section II.A). Data sent in an interval is
//! followed to its acknowledgement, however late that is: counted by arrival, intervals shorter
//! than the round trip would mix.
//!
//! [`Rule::Shares`] is the paper's: fair queues deliver the same of both, one queue in proportion
//! to the bytes sent. It needs a queue that lasts: the subflow that was dominant before has to have
//! packets waiting. [`Rule::Delays`] is ours: in one queue, packets of both subflows that leave
//! together take equally long; if each has its own, they do not. That shows as soon as one packet
//! waits.
//!
//! Not for: a path without queues, on which neither rule gives a verdict.

use super::delays::{Bin, Delays, QUARTERS};
use crate::notice::Kind;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Intervals that are kept: as many as can be under way in a round trip of 3 s, and those before that
/// are evaluated.
const KEPT: usize = 80;

/// One of the two subflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subflow {
    /// The first: dominant in the first interval.
    A,
    /// The second.
    B,
}

impl Subflow {
    /// Both.
    pub const BOTH: [Subflow; 2] = [Subflow::A, Subflow::B];

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Subflow::A => Subflow::B,
            Subflow::B => Subflow::A,
        }
    }
}

/// How a verdict is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// By the dominant subflow's share of the delivery rate (section II.A).
    Shares {
        /// Fair queuing if it is below, 0.5 to [`Settings::dominant`].
        fair_below: f64,
        /// No verdict if its share of the bytes sent is below this.
        sent_at_least: f64,
    },
    /// By the difference between the delays of both.
    Delays {
        /// Fair queuing if that varies by so much, and by so many packets' time at the rate of
        /// delivery.
        fair_above: (Duration, u64),
        /// One queue if it varies by less although so much waits.
        shared_above: (Duration, u64),
    },
}

/// The settings of the detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The dominant subflow's share of the rate, above 0.5 and below 1.
    pub dominant: f64,
    /// The shortest interval.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
    /// How many intervals are evaluated, from 1 to 32.
    pub intervals: usize,
    /// How a verdict is found.
    pub rule: Rule,
    /// How long a verdict holds while no new one is possible.
    pub hold: Duration,
}

impl Settings {
    /// Those of the paper's section II.A.
    pub fn paper() -> Self {
        Settings {
            dominant: 0.6,
            shortest: Duration::from_millis(50),
            longest: Duration::from_millis(100),
            intervals: 4,
            rule: Rule::Shares {
                fair_below: 0.55,
                sent_at_least: 0.575,
            },
            hold: Duration::from_secs(1),
        }
    }

    /// The paper's with intervals of 50 ms (section III.D.1).
    pub fn fixed() -> Self {
        Settings {
            longest: Duration::from_millis(50),
            ..Settings::paper()
        }
    }
}

impl Default for Settings {
    /// Ours.
    fn default() -> Self {
        Settings {
            intervals: 8,
            rule: Rule::Delays {
                fair_above: (Duration::from_millis(1), 1),
                shared_above: (Duration::from_millis(2), 4),
            },
            hold: Duration::from_secs(10),
            ..Settings::paper()
        }
    }
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The verdict.
    pub kind: Kind,
    /// The distance of the figure from the one that would change the verdict: 0 to 1.
    pub confidence: f64,
    /// The dominant subflow's share of the bytes sent, 0 to 1.
    pub sent: f64,
    /// Its share of the rate of delivery, 0 to 1.
    pub delivered: f64,
    /// How much the difference between the subflows' delays varies.
    pub spread: Duration,
    /// When it was found.
    pub at: Instant,
}

impl Verdict {
    const fn none(at: Instant) -> Self {
        Verdict {
            kind: Kind::Unknown,
            confidence: 0.0,
            sent: 0.0,
            delivered: 0.0,
            spread: Duration::ZERO,
            at,
        }
    }
}

/// The dominant subflow from a given time on, and for how long.
#[derive(Debug, Clone, Copy)]
struct Turn {
    start: Instant,
    length: Duration,
    dominant: usize,
}

/// The bytes sent between two swaps, and their outcome.
#[derive(Debug, Clone, Copy)]
struct Interval {
    turn: Turn,
    sent: [u64; 2],
    delivered: [u64; 2],
    /// When the first and the last of it was acknowledged.
    acked: [Option<(Instant, Instant)>; 2],
    /// Data sent later has arrived.
    closed: [bool; 2],
    bins: [[Bin; 2]; QUARTERS],
}

/// The detector.
#[derive(Debug, Clone)]
pub struct Detector {
    settings: Settings,
    /// The interval that runs.
    turn: Option<Turn>,
    /// Intervals whose packets are followed, the oldest first. The one that runs is among them,
    /// unless data was forgotten since it began.
    intervals: VecDeque<Interval>,
    /// Number of intervals whose outcome is complete, so far.
    evaluated: u64,
    /// The last evaluation, and the last one with a verdict.
    last: Verdict,
    held: Verdict,
    base: Option<Duration>,
}

impl Detector {
    /// One without observations.
    pub fn new(settings: Settings) -> Self {
        Detector {
            settings,
            turn: None,
            intervals: VecDeque::with_capacity(KEPT),
            evaluated: 0,
            last: Verdict::none(Instant::ZERO),
            held: Verdict::none(Instant::ZERO),
            base: None,
        }
    }

    /// Swaps the subflows if the interval is over; true if it was. Must be called before each
    /// packet is sent, with the smoothed round trip.
    pub fn advance(&mut self, now: Instant, rtt: Duration) -> bool {
        let length = rtt.min(self.settings.longest).max(self.settings.shortest);
        let dominant = match self.turn {
            Some(turn) if now.since(turn.start) < turn.length => return false,
            Some(turn) => 1 - turn.dominant,
            None => 0,
        };
        let turn = Turn {
            start: now,
            length,
            dominant,
        };
        self.turn = Some(turn);
        if self.intervals.len() == KEPT {
            self.intervals.pop_front();
        }
        self.intervals.push_back(Interval {
            turn,
            sent: [0; 2],
            delivered: [0; 2],
            acked: [None; 2],
            closed: [false; 2],
            bins: Default::default(),
        });
        true
    }

    /// The subflow that sends more now.
    pub fn dominant(&self) -> Subflow {
        Subflow::BOTH[self.turn.map_or(0, |turn| turn.dominant)]
    }

    /// The share of the rate that `subflow` is to have now.
    pub fn share(&self, subflow: Subflow) -> f64 {
        match subflow == self.dominant() {
            true => self.settings.dominant,
            false => 1.0 - self.settings.dominant,
        }
    }

    /// A packet of `bytes` left.
    pub fn sent(&mut self, subflow: Subflow, bytes: u64) {
        // The last one is the current one, or there is none.
        if let Some(last) = self.intervals.back_mut() {
            last.sent[subflow as usize] += bytes;
        }
    }

    /// `bytes` that left at `sent_at` were acknowledged `now`. The round trip of the newest packet that
    /// an acknowledgement names goes to [`delayed`](Self::delayed).
    pub fn acked(&mut self, now: Instant, subflow: Subflow, bytes: u64, sent_at: Instant) {
        let Some(place) = self.place(sent_at) else {
            return;
        };
        let side = subflow as usize;
        let interval = &mut self.intervals[place];
        interval.delivered[side] += bytes;
        let first = interval.acked[side].map_or(now, |(first, _)| first);
        interval.acked[side] = Some((first, now));
        let before = self.closed();
        for earlier in self.intervals.iter_mut().take(place) {
            earlier.closed[side] = true;
        }
        if self.closed() > before {
            self.evaluate(now);
        }
    }

    /// A packet that left at `sent_at` took `delay` for the round trip, without the time for which
    /// its receiver held the acknowledgement back.
    pub fn delayed(&mut self, subflow: Subflow, sent_at: Instant, delay: Duration) {
        self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        let Some(place) = self.place(sent_at) else {
            return;
        };
        let interval = &mut self.intervals[place];
        let passed = sent_at.since(interval.turn.start).as_nanos() * QUARTERS as u64;
        let quarter = (passed / interval.turn.length.as_nanos().max(1)).min(QUARTERS as u64 - 1);
        interval.bins[quarter as usize][subflow as usize].add(delay);
    }

    /// Forgets the bytes sent so far, and in the current interval: the rate has just changed. The
    /// verdict holds.
    pub fn forget(&mut self) {
        self.intervals.clear();
    }

    /// A loss or a mark has reduced the rate. Shares that were sent before have no meaning then;
    /// delays still do.
    pub fn congested(&mut self) {
        if let Rule::Shares { .. } = self.settings.rule {
            self.forget();
        }
    }

    /// The verdict at `now`: the last evaluation, or an earlier finding, for as long as it holds.
    pub fn verdict(&self, now: Instant) -> Verdict {
        if self.last.kind == Kind::Unknown && now.since(self.held.at) <= self.settings.hold {
            return self.held;
        }
        match now.since(self.last.at) <= self.settings.hold {
            true => self.last,
            false => Verdict::none(self.last.at),
        }
    }

    /// The last evaluation, and the number of evaluations.
    pub fn evaluation(&self) -> (u64, Verdict) {
        (self.evaluated, self.last)
    }

    fn place(&self, sent_at: Instant) -> Option<usize> {
        self.intervals.iter().rposition(|i| i.turn.start <= sent_at)
    }

    fn closed(&self) -> usize {
        let closed = |interval: &&Interval| interval.closed == [true; 2];
        self.intervals.iter().filter(closed).count()
    }

    fn evaluate(&mut self, now: Instant) {
        self.evaluated += 1;
        self.last = self.evaluation_at(now);
        if self.last.kind != Kind::Unknown {
            self.held = self.last;
        }
    }

    fn evaluation_at(&self, now: Instant) -> Verdict {
        let wanted = self.settings.intervals;
        let known = self.intervals.iter().rev();
        let known = known.filter(|interval| interval.closed == [true; 2]);
        let closed = known.take(wanted);
        let (sent, delivered) = shares(closed.clone());
        let delays = Delays::of(closed.clone().flat_map(|interval| &interval.bins));
        let (kind, confidence) = match (closed.clone().count() < wanted, self.settings.rule) {
            (true, _) => (Kind::Unknown, 0.0),
            (
                false,
                Rule::Shares {
                    fair_below,
                    sent_at_least,
                },
            ) => by_shares(
                sent,
                delivered,
                sent_at_least,
                fair_below,
                self.settings.dominant,
            ),
            (
                false,
                Rule::Delays {
                    fair_above,
                    shared_above,
                },
            ) => {
                let packet = packet_time(closed);
                let above = |(least, packets): (Duration, u64)| least.max(packet * packets);
                let base = self.base.unwrap_or_default();
                delays.verdict(base, above(fair_above), above(shared_above))
            }
        };
        Verdict {
            kind,
            confidence,
            sent,
            delivered,
            spread: delays.spread(),
            at: now,
        }
    }
}

/// The paper's rule, for a dominant subflow that sent and was delivered so much.
fn by_shares(sent: f64, delivered: f64, least: f64, fair_below: f64, most: f64) -> (Kind, f64) {
    if sent < least {
        return (Kind::Unknown, 0.0);
    }
    let distance = (delivered - fair_below).abs() / (most - fair_below);
    match delivered < fair_below {
        true => (Kind::Fair, distance.min(1.0)),
        false => (Kind::Shared, distance.min(1.0)),
    }
}

/// The dominant subflow's shares of the bytes sent and of the rate of delivery. Each subflow's rate
/// is the bytes it sent in its intervals over the time from the first to the last acknowledgement
/// of them, as in the author's program: if a queue builds up, that takes longer than the interval.
fn shares<'a>(intervals: impl Iterator<Item = &'a Interval>) -> (f64, f64) {
    let (mut sent, mut bytes, mut time) = ([0; 2], [0; 2], [Duration::ZERO; 2]);
    for interval in intervals {
        let sides = [interval.turn.dominant, 1 - interval.turn.dominant];
        for (role, side) in sides.into_iter().enumerate() {
            sent[role] += interval.sent[side];
            bytes[role] += interval.delivered[side];
            let (first, last) = interval.acked[side].unwrap_or_default();
            time[role] += last.since(first);
        }
    }
    let share = |[of, other]: [f64; 2]| if of > 0.0 { of / (of + other) } else { 0.0 };
    let rate = |role: usize| bytes[role] as f64 / time[role].as_secs_f64().max(1e-9);
    (
        share(sent.map(|bytes| bytes as f64)),
        share([rate(0), rate(1)]),
    )
}

/// How long a full packet takes at the rate at which both subflows' bytes were delivered.
fn packet_time<'a>(intervals: impl Iterator<Item = &'a Interval>) -> Duration {
    const PACKET: u64 = 1500;
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for interval in intervals {
        bytes += interval.delivered[0] + interval.delivered[1];
        time += interval.turn.length;
    }
    time.scale(PACKET, bytes.max(PACKET))
}

#[cfg(test)]
mod tests;
