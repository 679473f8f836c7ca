//! The quick form's measurement: two trains, and no load before, between or after them.
//!
//! A train is 44 packets of one subflow and then 44 of the other, back to back; the second train has
//! the other order. One queue delivers the first run before the second. Fair queues take turns, so
//! that packets of the second run overtake. Where the two paths differ in length, they do in one of
//! the two orders only, so both trains have to show it.
//!
//! Packets that stay in order prove nothing: a discipline that serves new flows first, or that keeps
//! the order of a short queue, delivers a train as one queue does. So this never says *one queue*.
//!
//! Not for: a path that others keep busy. Their packets in between make the order a matter of chance.

use cca::tonopah::{Pairs, Subflow, TURNED, overtaken};
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Duration, Instant, Rate};

/// Packets of each run. Linux's `fq` sends in order of arrival while no more than 8 packets wait, and
/// then 15 kB of a new flow at once: of 24 packets of 1200 bytes 4 to 13 % of the pairs overtake, of 44
/// small ones 15 to 33 %.
pub(crate) const RUN: usize = 44;
/// The trains.
const TRAINS: usize = 2;
/// The share of pairs that has to arrive in the other order.
const OVERTAKEN: f64 = 0.1;
/// If a train's first packet waits for longer than this, or than so many packets take, others fill
/// the path.
const BUSY: (Duration, u64) = (Duration::from_millis(3), 4);
/// A train's packets have so many bytes of filler; smaller ones are acknowledgements and messages. More than
/// half a packet, or two would leave in one.
pub(crate) const FILLED: usize = 620;

/// What two trains show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainsFinding {
    /// Packets of the second run overtook the first, whichever subflow was first: fair queuing.
    Overtaken,
    /// They stayed in order: one queue, or a discipline that shows nothing while it is idle.
    InOrder,
    /// They overtook in one of the two orders only: the two paths differ in length, or chance.
    OneWay,
    /// The whole second run came first, in both orders. No queue does that: something on the way, or
    /// the peer, holds packets back.
    Overturned,
    /// The first packet waited already: others fill the path.
    Busy,
    /// Too few packets came back in time.
    Few,
}

impl fmt::Display for TrainsFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrainsFinding::Overtaken => {
                "packets of the second of two runs overtook the first, whichever subflow was first"
            }
            TrainsFinding::InOrder => {
                "packets of two runs stayed in order: one queue, or a discipline that shows nothing \
                 while it is idle"
            }
            TrainsFinding::OneWay => {
                "packets overtook in one of two orders only: the two ports' ways differ in length, \
                 or it was chance"
            }
            TrainsFinding::Overturned => {
                "each second run came before all of the first, which no queue does: something holds \
                 packets back"
            }
            TrainsFinding::Busy => "others fill the path, and their packets hide the order of ours",
            TrainsFinding::Few => "too few packets came back in time",
        })
    }
}

/// The result of the quick form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overtaking {
    /// What both show.
    pub finding: TrainsFinding,
    /// The share of pairs, a packet of each run, that arrived in the other order, for each train; null if
    /// fewer than 20 came back. 0 to 1.
    pub shares: [Option<f64>; TRAINS],
}

impl Overtaking {
    /// Whether the shares are possible.
    pub(crate) fn is_sound(&self) -> bool {
        let share = |x: &f64| (0.0..=1.0).contains(x);
        self.shares.iter().flatten().all(share)
    }
}

/// One train.
#[derive(Debug, Clone)]
struct Train {
    first: Subflow,
    /// Packets sent, and those that are neither acknowledged nor lost.
    sent: usize,
    open: usize,
    from: Instant,
    /// When each run's packets were seen to arrive.
    arrivals: [Vec<Instant>; 2],
    /// Bytes delivered.
    delivered: u64,
    /// The round trip of the first packet that was timed, and the bytes delivered by then.
    begun: Option<(Duration, u64)>,
}

/// The trains of a probe, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trains {
    trains: Vec<Train>,
    /// There is no time for the second.
    is_late: bool,
    /// Each subflow's smallest round trip, of any packet.
    bases: [Option<Duration>; 2],
}

impl Trains {
    /// Begins the next train, if the last one is over and there is to be another. One that would not be
    /// back by `until`, since the last one would not, is left out.
    pub(crate) fn begin(&mut self, now: Instant, until: Instant) -> bool {
        if !self.is_idle() || self.is_over() {
            return false;
        }
        if let Some(last) = self.trains.last()
            && now + now.since(last.from) > until
        {
            self.is_late = true;
            return false;
        }
        let first = Subflow::BOTH[self.trains.len() % 2];
        self.trains.push(Train {
            first,
            sent: 0,
            open: 0,
            from: now,
            arrivals: Default::default(),
            delivered: 0,
            begun: None,
        });
        true
    }

    /// Whether all trains are accounted for, or time is too short for the next.
    pub(crate) fn is_over(&self) -> bool {
        self.is_late || self.trains.len() == TRAINS && self.is_idle()
    }

    /// The subflow whose packet is next, while a train leaves.
    pub(crate) fn turn(&self) -> Option<Subflow> {
        let train = self.trains.last()?;
        match train.sent {
            sent if sent < RUN => Some(train.first),
            sent if sent < 2 * RUN => Some(train.first.other()),
            _ => None,
        }
    }

    /// A packet left.
    pub(crate) fn sent(&mut self, subflow: Subflow, bytes: u64) {
        if bytes < FILLED as u64 || self.turn() != Some(subflow) {
            return;
        }
        if let Some(train) = self.trains.last_mut() {
            train.sent += 1;
            train.open += 1;
        }
    }

    /// A packet that left at `sent` was acknowledged, or is lost.
    pub(crate) fn settled(&mut self, sent: Instant, bytes: u64, arrived: bool) {
        if let Some(train) = self.train_of(sent, bytes) {
            train.open = train.open.saturating_sub(1);
            train.delivered += if arrived { bytes } else { 0 };
        }
    }

    /// The newest packet that an acknowledgement names left at `sent`, and took `rtt`.
    pub(crate) fn timed(&mut self, subflow: Subflow, sent: Instant, bytes: u64, rtt: Duration) {
        let base = &mut self.bases[subflow as usize];
        *base = Some(base.map_or(rtt, |base| base.min(rtt)));
        if let Some(train) = self.train_of(sent, bytes) {
            train.begun.get_or_insert((rtt, train.delivered));
            train.arrivals[subflow as usize].push(sent + rtt);
        }
    }

    /// What was seen so far.
    pub(crate) fn result(&self) -> Overtaking {
        let share = |place: usize| self.trains.get(place).and_then(Train::overtaken);
        let shares = [share(0), share(1)];
        let finding = match shares {
            [Some(a), Some(b)] if a.min(b) > TURNED => TrainsFinding::Overturned,
            [Some(a), Some(b)] if a.min(b) >= OVERTAKEN => TrainsFinding::Overtaken,
            [Some(_), Some(_)] if self.trains.iter().any(|t| t.waited(self.bases)) => {
                TrainsFinding::Busy
            }
            [Some(a), Some(b)] if a.max(b) >= OVERTAKEN => TrainsFinding::OneWay,
            [Some(_), Some(_)] => TrainsFinding::InOrder,
            _ => TrainsFinding::Few,
        };
        Overtaking { finding, shares }
    }

    /// The rate at which the last train arrived, from its first timed packet to its last.
    pub(crate) fn rate(&self) -> Rate {
        let rate = self.trains.iter().rev().find_map(Train::rate);
        rate.unwrap_or(Rate::from_bits(0))
    }

    fn is_idle(&self) -> bool {
        let accounted = |train: &Train| train.sent == 2 * RUN && train.open == 0;
        self.trains.last().is_none_or(accounted)
    }

    fn train_of(&mut self, sent: Instant, bytes: u64) -> Option<&mut Train> {
        let mut newest_first = self.trains.iter_mut().rev();
        let train = newest_first.find(|train| sent >= train.from)?;
        (bytes >= FILLED as u64).then_some(train)
    }
}

impl Train {
    /// The first packet that was timed and the last.
    fn ends(&self) -> Option<(Instant, Instant)> {
        let arrivals = || self.arrivals.iter().flatten().copied();
        Some((arrivals().min()?, arrivals().max()?))
    }

    fn rate(&self) -> Option<Rate> {
        let ((first, last), (_, before)) = (self.ends()?, self.begun?);
        (last > first).then(|| Rate::from_bytes_over(self.delivered - before, last.since(first)))
    }

    /// Whether others were on the path when it began.
    fn waited(&self, bases: [Option<Duration>; 2]) -> bool {
        let base = bases[self.first as usize];
        let (Some((wait, _)), Some(base), Some((first, last))) = (self.begun, base, self.ends())
        else {
            return false;
        };
        let packet = last.since(first) / (2 * RUN as u64);
        wait.saturating_sub(base) > BUSY.0.max(packet * BUSY.1)
    }

    /// The share of pairs that arrived in the other order.
    fn overtaken(&self) -> Option<f64> {
        let [first, second] = [self.first, self.first.other()].map(|s| &self.arrivals[s as usize]);
        overtaken(first, second).map(Pairs::share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Sends a train at `start`; its packets arrive by `arrives`, told the place and the subflow.
    fn train(trains: &mut Trains, start: u64, arrives: impl Fn(u64, Subflow) -> u64) {
        assert!(trains.begin(at(start), at(9000)));
        let mut sides = Vec::new();
        while let Some(side) = trains.turn() {
            trains.sent(side, 1200);
            sides.push(side);
        }
        assert!(!trains.begin(at(start), at(9000)), "one after the other");
        for (place, &side) in sides.iter().enumerate() {
            let rtt = Duration::from_millis(arrives(place as u64, side));
            trains.settled(at(start), 1200, true);
            trains.timed(side, at(start), 1200, rtt);
        }
    }

    /// Two trains over paths of which the first takes `base`, the second 20 ms.
    fn over(base: u64, arrives: impl Fn(u64, Subflow) -> u64) -> Overtaking {
        let mut trains = Trains::default();
        trains.timed(Subflow::A, at(0), 100, Duration::from_millis(base));
        trains.timed(Subflow::B, at(0), 100, Duration::from_millis(20));
        train(&mut trains, 1000, &arrives);
        assert!(!trains.is_over());
        train(&mut trains, 2000, &arrives);
        assert!(trains.is_over() && !trains.begin(at(3000), at(9000)));
        trains.result()
    }

    fn both(arrives: impl Fn(u64, Subflow) -> u64) -> Overtaking {
        over(20, arrives)
    }

    #[test]
    fn turns_overtake_and_one_queue_does_not() {
        let run = RUN as u64;
        let turns = |place: u64, _| 21 + 2 * (place % run) + place / run;
        assert_eq!(both(turns).finding, TrainsFinding::Overtaken);
        let found = both(|place, _| 21 + place);
        assert_eq!(found.finding, TrainsFinding::InOrder);
        assert_eq!(found.shares, [Some(0.0); 2]);
    }

    #[test]
    fn a_longer_way_is_no_queue_of_its_own() {
        let longer = |place: u64, side| 21 + place + if side == Subflow::A { 40 } else { 0 };
        assert_eq!(over(60, longer).finding, TrainsFinding::OneWay);
    }

    #[test]
    fn who_turns_the_whole_order_round_is_not_believed() {
        let held = |place: u64, _| 21 + place + if place < RUN as u64 { 120 } else { 0 };
        assert_eq!(both(held).finding, TrainsFinding::Overturned);
    }

    #[test]
    fn a_busy_path_is_seen() {
        assert_eq!(both(|place, _| 41 + place).finding, TrainsFinding::Busy);
    }

    #[test]
    fn few_packets_say_nothing() {
        let mut trains = Trains::default();
        assert_eq!(trains.result().finding, TrainsFinding::Few);
        trains.begin(at(0), at(9));
        while let Some(side) = trains.turn() {
            trains.sent(side, 50);
            trains.sent(side, 1200);
        }
        for _ in 0..2 * RUN {
            trains.settled(at(0), 1200, false);
        }
        assert!(trains.begin(at(1), at(9)), "lost packets are accounted for");
        assert_eq!(trains.result().finding, TrainsFinding::Few);
        assert_eq!(trains.rate().as_bits(), 0);
    }

    #[test]
    fn a_train_that_would_be_late_is_left_out() {
        let mut trains = Trains::default();
        train(&mut trains, 0, |place, _| 20 + place);
        assert!(!trains.begin(at(70), at(139)) && trains.is_over());
        assert_eq!(trains.result().finding, TrainsFinding::Few);
    }

    #[test]
    fn the_rate_is_that_of_the_arrivals() {
        let mut trains = Trains::default();
        train(&mut trains, 0, |place, _| 20 + place);
        // A packet of 1200 bytes a millisecond.
        assert_eq!(trains.rate().as_bits(), 9_600_000);
    }
}
