//! Fair queuing detected from what two subflows sent, what was acknowledged of it, and how long that
//! took.
//!
//! One subflow, the dominant one, sends 6/10 of the rate; they swap after each interval (Bachl,
//! "Fair Queuing Aware Congestion Control", section II.A). Data sent in an interval is followed to
//! its acknowledgement, however late that is: counted by arrival, intervals shorter than the round
//! trip would mix.
//!
//! [`Rule::Shares`] is the paper's, by rates of delivery. [`Rule::Delays`] is ours, by the delays of
//! neighbours, and by trains where no queue stands.
//!
//! Not for: a path without queues, on which neither rule gives a verdict.

use super::dealing::Dealing;
use super::neighbours::{Neighbours, SubflowDelays};
use super::score::{self, Score};
use super::settings::{Rule, Settings, Subflow};
use super::shares::{IntervalOutcome, Recent, Shares};
use super::trains::{EVERY, Trains, TrainsShown};
use super::verdict::{Evidence, Verdict};
use crate::Signal;
use crate::notice::NoticeKind;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Intervals that are followed: as many as can be under way in a round trip of 3 s, and some.
const KEPT: usize = 80;
/// Timed acknowledgements after which an interval of ours ends.
const TIMED: u32 = 30;
/// An interval whose packets are neither acknowledged nor overtaken is given up after this and
/// three round trips.
const GIVEN_UP: Duration = Duration::from_millis(500);
/// A subflow that has sent no data for this long does not hold the other back.
const SILENT: Duration = Duration::from_millis(200);
/// A train leaves only if no verdict was renewed for so long.
const NO_NEWS: Duration = Duration::from_secs(3);
/// And only if no more than this waits, or so many packets.
const NO_QUEUE: (Duration, f64) = (Duration::from_millis(3), 3.0);
/// Where a queue stands and one queue was found, two trains leave one after the other, and then none for
/// so long.
const SELDOM: Duration = Duration::from_secs(4);
/// No path delays packets in order by more than this for another reason than a queue, so that one queue
/// above it is not in doubt: to wait for a train's room costs an application a round trip.
const JITTER: Duration = Duration::from_millis(30);
/// Bytes of a full packet.
const PACKET: u64 = 1500;

/// The bytes sent between two swaps, and their outcome.
#[derive(Debug, Clone)]
struct SwapInterval {
    number: u64,
    start: Instant,
    end: Option<Instant>,
    outcome: IntervalOutcome,
    /// Data sent later has arrived.
    closed: [bool; 2],
    delays: [SubflowDelays; 2],
}

/// The detector.
#[derive(Debug, Clone)]
pub struct Detector {
    settings: Settings,
    /// When the interval that runs began, and when it ends at the latest.
    turn: Option<(Instant, Instant)>,
    dominant: usize,
    number: u64,
    /// Timed acknowledgements since it began.
    timed: u32,
    dealing: Dealing,
    /// When each subflow last sent.
    last_sent: [Option<Instant>; 2],
    /// Intervals whose packets are followed, the oldest first. The one that runs is the last.
    intervals: VecDeque<SwapInterval>,
    /// Memory to use again.
    spare: Vec<[SubflowDelays; 2]>,
    scratch: Vec<f64>,
    recent: Recent,
    score: Score,
    trains: Trains,
    /// A packet's time at the rate of delivery, ms.
    packet: f64,
    /// Evaluations so far.
    evaluated: u64,
    /// The last evaluation, and the last one with a verdict.
    last: Verdict,
    held: Verdict,
    base: Option<Duration>,
    /// Smoothed round trip.
    rtt: Duration,
    /// The train has waited for room.
    gathered: bool,
    /// Only the first subflow sends, but for trains.
    single: bool,
}

impl Detector {
    /// One without observations.
    pub fn new(settings: Settings) -> Self {
        let run = match settings.rule {
            Rule::Shares(_) => 0,
            Rule::Delays { train } => train,
        };
        Detector {
            settings,
            turn: None,
            dominant: 0,
            number: 0,
            timed: 0,
            dealing: Dealing::default(),
            last_sent: [None; 2],
            intervals: VecDeque::with_capacity(KEPT),
            spare: Vec::new(),
            scratch: Vec::new(),
            recent: Recent::default(),
            score: Score::new(),
            trains: Trains::new(run),
            packet: 0.0,
            evaluated: 0,
            last: Verdict::none(Instant::ZERO),
            held: Verdict::none(Instant::ZERO),
            base: None,
            rtt: Duration::ZERO,
            gathered: false,
            single: false,
        }
    }

    /// Swaps the subflows if the interval is over; true if it was. Must be called before each
    /// packet is sent, with the smoothed round trip.
    pub fn advance(&mut self, now: Instant, rtt: Duration) -> bool {
        self.rtt = rtt;
        if self.trains.is_running() {
            return false;
        }
        match self.turn {
            Some((start, end)) => {
                let enough = self.settings.is_ours()
                    && self.timed >= TIMED
                    && now >= start + self.settings.shortest;
                if now < end && !enough {
                    return false;
                }
                self.dominant = 1 - self.dominant;
            }
            None => self.dominant = 0,
        }
        let length = if self.settings.is_ours() {
            self.settings.longest
        } else {
            rtt.min(self.settings.longest).max(self.settings.shortest)
        };
        self.turn = Some((now, now + length));
        self.timed = 0;
        self.dealing.restart();
        if let Some(last) = self.intervals.back_mut() {
            last.end = Some(now);
        }
        self.open(now);
        self.close(now, rtt);
        true
    }

    /// The subflow that sends more now.
    pub fn dominant(&self) -> Subflow {
        Subflow::BOTH[self.dominant]
    }

    /// The share of the rate that `subflow` is to have now.
    pub fn share(&self, subflow: Subflow) -> f64 {
        if subflow == self.dominant() {
            self.settings.dominant
        } else {
            1.0 - self.settings.dominant
        }
    }

    /// Both subflows begin to send: for the next 200 ms neither counts as one that sends nothing.
    pub fn begin(&mut self, now: Instant) {
        self.last_sent = [Some(now); 2];
    }

    /// Whether the next packet may be one of `subflow`: to be asked before each. A subflow that sends
    /// nothing for 200 ms does not hold the other back.
    pub fn permits(&self, subflow: Subflow) -> bool {
        let side = subflow as usize;
        if let Some(turn) = self.trains.turn() {
            return turn == side;
        }
        let [own, other] = [side, 1 - side].map(|side| self.last_sent[side]);
        let last = own.max(other).unwrap_or(Instant::ZERO);
        match other {
            _ if self.trains.is_waiting() => false,
            _ if self.single => subflow == Subflow::A,
            Some(other) if last.since(other) < SILENT => {
                let share = self.share(subflow);
                self.dealing
                    .permits(self.settings.deal, self.dominant, side, share)
            }
            _ => true,
        }
    }

    /// Sends on the first subflow alone from now on, or on both: under fair queuing two subflows get two
    /// shares. Trains go on, and keep the verdict fresh where the discipline lets them overtake.
    pub fn set_single(&mut self, single: bool) {
        self.single = single;
    }

    /// Whether the next packets are to leave at once, as a train.
    pub fn is_train(&self) -> bool {
        self.trains.is_running()
    }

    /// Whether the train may exceed the window, because nothing waits on the path.
    pub fn may_exceed(&self) -> bool {
        self.trains.is_running() && !self.gathered
    }

    /// There is room in the window for so many packets, and perhaps nothing in flight: to be told after
    /// each acknowledgement. Where a queue stands, trains wait for room.
    pub fn room(&mut self, now: Instant, packets: u64, empty: bool) {
        self.trains.room(now, packets, empty, self.rtt);
    }

    /// A loss or a mark has reduced the rate. Shares that were sent before have no meaning then;
    /// delays still do.
    pub fn congested(&mut self, signal: Signal) {
        self.forget();
        if signal == Signal::Mark {
            self.score.marked(self.number);
        }
    }

    /// A packet that left at `sent_at` was lost.
    pub fn lost(&mut self, sent_at: Instant) {
        self.trains.lost(sent_at);
    }

    /// A packet of `bytes` left `now`.
    pub fn sent(&mut self, now: Instant, subflow: Subflow, bytes: u64) {
        let side = subflow as usize;
        self.last_sent[side] = Some(now);
        if self.trains.is_due(now) {
            self.next_train(now);
        }
        if self.trains.sent(now, side) {
            return;
        }
        self.dealing.sent(side, bytes);
        if let Some(last) = self.intervals.back_mut() {
            last.outcome.sent[side] += bytes;
        }
    }

    /// `bytes` that left at `sent_at` were acknowledged `now`. The round trip of the newest packet that
    /// an acknowledgement names goes to [`delayed`](Self::delayed).
    pub fn acked(&mut self, now: Instant, subflow: Subflow, bytes: u64, sent_at: Instant) {
        let side = subflow as usize;
        let Some(place) = self.place(sent_at) else {
            return;
        };
        if !self.trains.includes(sent_at) {
            let interval = &mut self.intervals[place].outcome;
            interval.delivered[side] += bytes;
            let first = interval.acked[side].map_or(now, |(first, _)| first);
            interval.acked[side] = Some((first, now));
        }
        for earlier in self.intervals.iter_mut().take(place) {
            earlier.closed[side] = true;
        }
        while self.intervals.front().is_some_and(SwapInterval::is_closed) {
            self.evaluate_first(now);
        }
    }

    /// A packet that left at `sent_at` took `delay` for the round trip, without the time for which
    /// its receiver held the acknowledgement back.
    pub fn delayed(&mut self, subflow: Subflow, sent_at: Instant, delay: Duration) {
        self.timed += 1;
        self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        let side = subflow as usize;
        if self.trains.includes(sent_at) {
            self.trains.arrived(side, sent_at + delay);
        } else if let Some(place) = self.place(sent_at) {
            self.intervals[place].delays[side].add(sent_at, delay);
        }
    }

    /// Forgets the bytes sent so far: the rate has just changed, and shares that were sent before have
    /// no meaning. Delays still do. The verdict holds.
    pub fn forget(&mut self) {
        if !self.settings.is_ours() {
            self.recent.clear();
            self.intervals.clear();
        }
    }

    /// The verdict at `now`: the last evaluation, or an earlier finding, for as long as it holds.
    pub fn verdict(&self, now: Instant) -> Verdict {
        if self.last.kind == NoticeKind::Unknown && now.since(self.held.at) <= self.settings.hold {
            return self.held;
        }
        if now.since(self.last.at) <= self.settings.hold {
            self.last
        } else {
            Verdict::none(self.last.at)
        }
    }

    /// The last evaluation, and the number of evaluations.
    pub fn evaluation(&self) -> (u64, Verdict) {
        (self.evaluated, self.last)
    }

    /// When there was last evidence for fair queuing.
    pub fn last_fair(&self) -> Instant {
        self.score.last_fair()
    }

    /// A packet's time at the rate of delivery; zero before it is known.
    pub fn packet_time(&self) -> Duration {
        Duration::from_secs_f64(self.packet / 1e3)
    }

    fn open(&mut self, now: Instant) {
        if self.intervals.len() == KEPT
            && let Some(oldest) = self.intervals.pop_front()
        {
            self.recycle(oldest);
        }
        self.number += 1;
        self.intervals.push_back(SwapInterval {
            number: self.number,
            start: now,
            end: None,
            outcome: IntervalOutcome {
                dominant: self.dominant,
                sent: [0; 2],
                delivered: [0; 2],
                acked: [None; 2],
            },
            closed: [false; 2],
            delays: self.spare.pop().unwrap_or_default(),
        });
    }

    fn recycle(&mut self, interval: SwapInterval) {
        let mut delays = interval.delays;
        delays.iter_mut().for_each(SubflowDelays::clear);
        self.spare.push(delays);
    }

    /// Judges intervals that end now, and those that wait for too long.
    fn close(&mut self, now: Instant, rtt: Duration) {
        let patience = rtt * 3 + GIVEN_UP;
        let late = |interval: &SwapInterval| interval.end.is_some_and(|end| now > end + patience);
        while self.intervals.front().is_some_and(late) {
            self.evaluate_first(now);
        }
    }

    fn place(&self, sent_at: Instant) -> Option<usize> {
        self.intervals.iter().rposition(|i| i.start <= sent_at)
    }

    /// Judges the oldest interval, whose outcome is complete.
    fn evaluate_first(&mut self, now: Instant) {
        let Some(interval) = self.intervals.pop_front() else {
            return;
        };
        match self.settings.rule {
            Rule::Shares(rule) => self.by_shares(now, &interval, &rule),
            Rule::Delays { .. } => self.by_delays(now, &interval),
        }
        self.recycle(interval);
    }

    fn by_shares(&mut self, now: Instant, interval: &SwapInterval, rule: &Shares) {
        let found = self.recent.add(&interval.outcome, rule);
        let (kind, confidence) = found.map_or((NoticeKind::Unknown, 0.0), |found| {
            rule.verdict(found, self.settings.dominant)
        });
        let evidence = found.map_or(Evidence::None, |found| Evidence::Shares {
            sent: found.sent,
            delivered: found.delivered,
        });
        self.found(Verdict {
            kind,
            confidence,
            evidence,
            at: now,
        });
    }

    fn by_delays(&mut self, now: Instant, interval: &SwapInterval) {
        let length = interval.end.unwrap_or(now).since(interval.start);
        let IntervalOutcome {
            dominant,
            delivered,
            ..
        } = interval.outcome;
        let lesser = 1 - dominant;
        let delivered = delivered[0] + delivered[1];
        self.packet = (length.scale(PACKET, delivered.max(PACKET))).as_millis_f64();
        let neighbours = Neighbours::of(
            &interval.delays[dominant],
            &interval.delays[lesser],
            (interval.start, length),
            &mut self.scratch,
        );
        let swing = (self.settings.dominant - 0.5) * length.as_millis_f64();
        let says = self.score.interval(
            now,
            &score::ScoredInterval {
                number: interval.number,
                dominant,
                packet: self.packet,
                swing,
                neighbours,
            },
        );
        if says {
            let last = self.score.last();
            self.scored(Evidence::Delays {
                difference_ms: last.difference,
                queue_ms: last.queue,
            });
        }
    }

    /// The score has moved.
    fn scored(&mut self, evidence: Evidence) {
        self.found(Verdict {
            kind: self.score.kind(),
            confidence: self.score.confidence(),
            evidence,
            at: self.score.renewed(),
        });
    }

    fn found(&mut self, verdict: Verdict) {
        self.evaluated += 1;
        self.last = verdict;
        if verdict.kind != NoticeKind::Unknown {
            self.held = verdict;
        }
    }

    /// Judges the last train, and begins another if there is neither a fresh verdict nor a queue.
    fn next_train(&mut self, now: Instant) {
        match self.trains.judge() {
            Some(TrainsShown::Overtaking) => {
                self.score.train(now);
                self.scored(Evidence::Train);
            }
            Some(TrainsShown::Order) => {
                self.score.in_order(now);
                self.scored(Evidence::Order);
            }
            None => {}
        }
        let known = self.last.kind != NoticeKind::Unknown && now.since(self.last.at) < NO_NEWS;
        let (least, packets) = NO_QUEUE;
        let queue = self.base.map(|base| self.rtt.saturating_sub(base));
        let empty = queue
            .is_some_and(|queue| queue <= least || queue.as_millis_f64() <= packets * self.packet);
        let fits = self
            .trains
            .fit(self.rtt.as_millis_f64() / self.packet.max(1e-3));
        let in_doubt = fits && queue.is_some_and(|queue| queue <= JITTER);
        let doubtful = known && self.last.kind == NoticeKind::Shared && in_doubt;
        let both = self.last_sent.iter().all(Option::is_some);
        self.gathered = doubtful;
        if let Some(rest) = self.trains.rest() {
            return self.trains.skip(now, rest);
        }
        match () {
            () if !both => self.trains.skip(now, EVERY),
            () if (doubtful || self.single) && self.trains.is_pair() => {
                self.trains.skip(now, SELDOM);
            }
            () if doubtful => self.trains.wait(now),
            () if self.single || !known && empty => self.trains.begin(now, self.rtt),
            () => self.trains.skip(now, EVERY),
        }
    }
}

impl SwapInterval {
    fn is_closed(&self) -> bool {
        self.closed == [true; 2]
    }
}

#[cfg(test)]
mod tests;
