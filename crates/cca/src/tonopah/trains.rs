//! Trains: packets of one subflow and then as many of the other, back to back, where no queue
//! stands that delays could show.
//!
//! One queue delivers the first run before the second. Fair queues take turns, so that packets of
//! the second run overtake those of the first. A path whose subflows differ in length does that too,
//! in one of the two orders: so two trains in turn have to show it, and the lesser counts. Trains
//! are never evidence for one queue: disciplines that put new flows first serve an idle subflow's
//! run in order.
//!
//! Where a queue stands, a train has to fit into the window: the flow first sends nothing until there is
//! room. In excess of the window it would overflow a full queue.

use units::{Duration, Instant};

/// From one train to the next at least; two round trips if that is longer.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// A train is long if it has at most this part of the packets of a round trip: Linux's `fq` lets packets
/// overtake only with more than 8 in the queue.
const CHEAP: f64 = 0.1;
/// Or if the one before it took no longer than this to arrive.
const QUICK: Duration = Duration::from_millis(10);
/// Where a queue stands, none leaves that has more.
const DEAR: f64 = 0.7;
/// From one packet of a train to the next at most: there was nothing else to send.
const TOGETHER: Duration = Duration::from_millis(5);
/// Pairs of packets, one of each run, that a train has to have.
const PAIRS: usize = 20;
/// The share of pairs that has to arrive in the other order.
const OVERTAKEN: f64 = 0.1;

/// One train.
#[derive(Debug, Clone)]
struct Train {
    first: usize,
    /// Packets sent.
    sent: u32,
    from: Instant,
    to: Instant,
    /// When each run's packets were seen to arrive.
    arrivals: [Vec<Instant>; 2],
}

/// The trains of a flow.
#[derive(Debug, Clone)]
pub(super) struct Trains {
    /// Packets in a run; none at all at zero.
    least: u32,
    /// And in those of the next train, or the one that is sent.
    run: u32,
    now: Option<Train>,
    /// Since when a train waits for room in the window.
    waits: Option<Instant>,
    next: Instant,
    /// The subflow that went first last time.
    first: usize,
    /// The share of the last train, if the next one can be taken together with it.
    before: Option<f64>,
    /// Trains since the last pause.
    judged: u32,
    /// The last train passed within [`QUICK`].
    was_quick: bool,
}

impl Trains {
    /// Runs of `run` packets.
    pub(super) fn new(run: u32) -> Self {
        Trains {
            least: run,
            run,
            now: None,
            waits: None,
            next: Instant::ZERO,
            first: 1,
            before: None,
            judged: 0,
            was_quick: false,
        }
    }

    /// Whether the last train is to be judged, and another may begin.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.least > 0 && now >= self.next && !self.is_running() && !self.is_waiting()
    }

    /// A train begins, with the other subflow first than last time.
    pub(super) fn begin(&mut self, now: Instant, rtt: Duration) {
        self.first = 1 - self.first;
        self.next = now + EVERY.max(rtt * 2);
        self.now = Some(Train {
            first: self.first,
            sent: 0,
            from: now,
            to: now,
            arrivals: Default::default(),
        });
    }

    /// A train begins as soon as there is room.
    pub(super) fn wait(&mut self, now: Instant) {
        self.waits = Some(now);
    }

    /// Whether a train waits for room: nothing else is to be sent.
    pub(super) fn is_waiting(&self) -> bool {
        self.waits.is_some()
    }

    /// There is room for so many packets in the window, and perhaps nothing in flight. A train that has
    /// waited for a round trip, or does not fit at all, is given up.
    pub(super) fn room(&mut self, now: Instant, packets: u64, empty: bool, rtt: Duration) {
        if self.is_running() && self.is_late(now) {
            self.stop();
        }
        let Some(since) = self.waits else {
            return;
        };
        if packets >= 2 * u64::from(self.run) {
            self.waits = None;
            self.begin(now, rtt);
        } else if empty || now >= since + rtt {
            self.waits = None;
            self.skip(now, EVERY);
        }
    }

    /// Chooses the length of the next train, for a flow that sends so many packets in a round trip: the
    /// least one, or twice that where it is cheap. False if even that is too dear.
    pub(super) fn fit(&mut self, packets: f64) -> bool {
        let part = |run: u32| f64::from(2 * run) / packets;
        self.run = match self.was_quick || part(2 * self.least) <= CHEAP {
            true => 2 * self.least,
            false => self.least,
        };
        part(self.run) <= DEAR
    }

    /// Whether two trains have followed each other.
    pub(super) fn is_pair(&self) -> bool {
        self.judged >= 2
    }

    /// None begins before `pause` is over, and the next is the first of two again.
    pub(super) fn skip(&mut self, now: Instant, pause: Duration) {
        self.next = now + pause;
        self.before = None;
        self.judged = 0;
    }

    /// The subflow whose turn it is in a train.
    pub(super) fn turn(&self) -> Option<usize> {
        let train = self.now.as_ref()?;
        match train.sent {
            sent if sent < self.run => Some(train.first),
            sent if sent < 2 * self.run => Some(1 - train.first),
            _ => None,
        }
    }

    /// Whether a train is being sent.
    pub(super) fn is_running(&self) -> bool {
        self.turn().is_some()
    }

    /// A packet of `side` leaves; true if it is part of a train. One that leaves late ends the train.
    pub(super) fn sent(&mut self, now: Instant, side: usize) -> bool {
        if self.turn() != Some(side) {
            return false;
        }
        if self.is_late(now) {
            self.stop();
            return false;
        }
        if let Some(train) = &mut self.now {
            train.sent += 1;
            train.to = now;
        }
        true
    }

    fn is_late(&self, now: Instant) -> bool {
        let late = |train: &Train| now.since(train.to) > TOGETHER;
        self.now.as_ref().is_some_and(late)
    }

    /// Gives up the train that is being sent.
    fn stop(&mut self) {
        self.now = None;
        self.before = None;
    }

    /// Whether a packet that left at `sent_at` is part of the last train.
    pub(super) fn includes(&self, sent_at: Instant) -> bool {
        let within = |train: &Train| (train.from..=train.to).contains(&sent_at);
        self.now.as_ref().is_some_and(within)
    }

    /// A packet of the last train arrived, as far as its round trip tells.
    pub(super) fn arrived(&mut self, side: usize, at: Instant) {
        if let Some(train) = &mut self.now
            && train.arrivals[side].len() < self.run as usize
        {
            train.arrivals[side].push(at);
        }
    }

    /// The last train is over: whether it and the one before say fair queuing.
    pub(super) fn judge(&mut self) -> bool {
        let Some(train) = self.now.take() else {
            return false;
        };
        let share = overtaken(
            &train.arrivals[train.first],
            &train.arrivals[1 - train.first],
        );
        let arrivals = || train.arrivals.iter().flatten().copied();
        self.was_quick = match (arrivals().min(), arrivals().max()) {
            (Some(first), Some(last)) => last.since(first) <= QUICK,
            _ => false,
        };
        let before = core::mem::replace(&mut self.before, share);
        self.judged += 1;
        matches!((before, share), (Some(a), Some(b)) if a.min(b) >= OVERTAKEN)
    }
}

/// The share of pairs in which the second run's packet arrived before the first run's. The last of the
/// first run and the first of the second are left out: one acknowledgement that was held back is no
/// queue.
fn overtaken(first: &[Instant], second: &[Instant]) -> Option<f64> {
    let last = first.iter().max()?;
    let earliest = second.iter().min()?;
    let without = |times: &[Instant], out: Instant| {
        let place = times.iter().position(|&at| at == out);
        let kept = times
            .iter()
            .enumerate()
            .filter(move |&(at, _)| Some(at) != place);
        kept.map(|(_, &at)| at).collect::<Vec<_>>()
    };
    let [first, second] = [without(first, *last), without(second, *earliest)];
    let pairs = first.len() * second.len();
    let reversed = |a: &Instant| second.iter().filter(|b| *b < a).count();
    let reversed: usize = first.iter().map(reversed).sum();
    (pairs >= PAIRS).then(|| reversed as f64 / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Sends a train of 6 and 6 at `second`, and says when each packet arrives, by its place.
    fn train(trains: &mut Trains, second: u64, arrives: impl Fn(u64) -> u64) {
        let now = at(1000 * second);
        assert!(trains.is_due(now));
        trains.begin(now, Duration::ZERO);
        let mut sides = Vec::new();
        while let Some(side) = trains.turn() {
            assert!(trains.sent(now, side));
            sides.push(side);
        }
        assert!(trains.includes(now) && !trains.sent(now, 0));
        for (place, side) in sides.into_iter().enumerate() {
            trains.arrived(side, at(1000 * second + arrives(place as u64)));
        }
    }

    #[test]
    fn what_overtakes_in_both_orders_has_queues_of_its_own() {
        let fair = |place: u64| 2 * (place % 6) + place / 6;
        let mut trains = Trains::new(6);
        train(&mut trains, 0, fair);
        assert!(!trains.judge(), "the first of two");
        train(&mut trains, 1, fair);
        assert!(trains.judge());
    }

    #[test]
    fn a_longer_way_overtakes_in_one_order_only() {
        let mut trains = Trains::new(6);
        for second in 0..4 {
            // The first subflow is on a way longer by 20 ms.
            let one = |place: u64| {
                place
                    + if (place / 6 + second).is_multiple_of(2) {
                        20
                    } else {
                        0
                    }
            };
            train(&mut trains, second, one);
            assert!(!trains.judge());
        }
    }

    #[test]
    fn a_train_alone_or_with_few_arrivals_says_nothing() {
        let mut trains = Trains::new(6);
        train(&mut trains, 0, |place| 2 * (place % 6) + place / 6);
        trains.judge();
        trains.skip(at(1000), EVERY);
        train(&mut trains, 2, |place| 2 * (place % 6) + place / 6);
        assert!(!trains.judge(), "the one before was not its neighbour");
        assert_eq!(overtaken(&[at(1); 5], &[at(0); 5]), None, "16 pairs");
        assert_eq!(overtaken(&[at(1); 6], &[at(0); 5]), Some(1.0));
        let held = [at(1), at(2), at(3), at(4), at(5), at(99)];
        assert_eq!(overtaken(&held, &[at(7); 6]), Some(0.0), "one held back");
    }

    #[test]
    fn a_train_that_stops_is_none() {
        let mut trains = Trains::new(6);
        trains.begin(at(0), Duration::ZERO);
        assert!(!trains.sent(at(0), 1), "not its turn");
        assert!(trains.sent(at(0), 0) && trains.sent(at(5), 0));
        assert!(!trains.sent(at(11), 0) && !trains.is_running());
        assert!(!trains.judge());
    }

    #[test]
    fn without_a_length_there_are_none() {
        assert!(!Trains::new(0).is_due(at(10_000)));
    }
}
