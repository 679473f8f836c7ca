//! Trains: packets of one subflow and then as many of the other, back to back, where no queue
//! stands that delays could show.
//!
//! One queue delivers the first run before the second. Fair queues take turns, so that packets of
//! the second run overtake those of the first. A path whose subflows differ in length does that too,
//! in one of the two orders: so two trains in turn have to show it, and the lesser counts. Long trains
//! that built up a queue and arrived in order, in both orders, are evidence for one queue. Short ones are
//! none: Linux's `fq` sends the first 8 packets in order of arrival, and a new flow's first 10 at once.
//!
//! Where a queue stands, a train has to fit into the window: the flow first sends nothing until there is
//! room. In excess of the window it would overflow a full queue.

use units::{Duration, Instant};

/// From one train to the next at least; two round trips if that is longer.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// A train is long if it has at most this part of the packets of a round trip: Linux's `fq` lets packets
/// overtake only with more than 8 in the queue.
const CHEAP: f64 = 0.1;
/// Or if it takes no longer than this to arrive, by the one before it.
const QUICK: Duration = Duration::from_millis(55);
/// Where a queue stands, none leaves that has more.
const DEAR: f64 = 0.7;
/// From one packet of a train to the next at most: there was nothing else to send.
const TOGETHER: Duration = Duration::from_millis(5);
/// Pairs of packets, one of each run, that a train has to have.
const PAIRS: usize = 20;
/// The share of pairs that has to arrive in the other order: Linux's `fq` lets 4 to 8 % of two runs of
/// 24 full packets do that, one queue none.
const OVERTAKEN: f64 = 0.04;
/// And so many pairs at least.
const OVERTAKEN_PAIRS: usize = 3;
/// Above this share of pairs, in both orders, the second run arrived before the first, which queues that
/// take turns do not cause: about a half is the most. A receiver that lies about times may.
pub const TURNED: f64 = 0.9;
/// A train is in order if no larger share does.
const IN_ORDER: f64 = 0.01;
/// And tells that of one queue only if each run has so many packets.
const LONG: u32 = 24;
/// The bottleneck has to take so many times as long for it as the sender, or no queue stood.
const SLOWER: u64 = 4;

/// A train that lost so many packets was too long for the path: behind a policer, or a buffer of few
/// packets. Fewer are chance, and losses in a queue of its own are worth what they show.
const CUT: u32 = 3;
/// None leaves then for so long, twice as long after the next one that is cut, and so on.
const RESTS: [Duration; 2] = [Duration::from_secs(8), Duration::from_secs(256)];

/// One train.
#[derive(Debug, Clone)]
struct SentTrain {
    first: usize,
    /// Packets sent, and those lost.
    sent: u32,
    lost: u32,
    from: Instant,
    to: Instant,
    /// When each run's packets were seen to arrive.
    arrivals: [Vec<Instant>; 2],
}

/// What two trains in turn have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrainsShown {
    /// Packets of the second run overtook the first: queues of their own.
    Overtaking,
    /// None did, although both runs waited: one queue.
    Order,
}

/// Pairs of packets, one of each run of a train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairs {
    /// Those in which the second run's packet arrived first.
    pub reversed: usize,
    /// All of them, 20 at least.
    pub all: usize,
}

impl Pairs {
    /// The share of those in which the second run's packet arrived first, 0 to 1.
    pub fn share(self) -> f64 {
        self.reversed as f64 / self.all as f64
    }
}

/// How one train arrived.
#[derive(Debug, Clone, Copy)]
struct Arrived {
    /// The pairs in the other order, and all.
    overtaken: Pairs,
    /// It was long, and its packets waited for each other.
    queued: bool,
}

/// The trains of a flow.
#[derive(Debug, Clone)]
pub(super) struct Trains {
    /// Packets in a run; none at all at zero.
    least: u32,
    /// And in those of the next train, or the one that is sent.
    run: u32,
    now: Option<SentTrain>,
    /// Since when a train waits for room in the window.
    waits: Option<Instant>,
    next: Instant,
    /// The subflow that went first last time.
    first: usize,
    /// The last train, if the next one can be taken together with it.
    before: Option<Arrived>,
    /// Trains since the last pause.
    judged: u32,
    /// By the last train, one of twice the least length passes within [`QUICK`].
    is_quick: bool,
    /// Trains that were cut, since the last one that was not.
    cuts: u32,
    /// The last one was, and the rest after it has not begun.
    is_cut: bool,
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
            is_quick: false,
            cuts: 0,
            is_cut: false,
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
        self.now = Some(SentTrain {
            first: self.first,
            sent: 0,
            lost: 0,
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
        self.run = if self.is_quick || part(2 * self.least) <= CHEAP {
            2 * self.least
        } else {
            self.least
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
        let late = |train: &SentTrain| now.since(train.to) > TOGETHER;
        self.now.as_ref().is_some_and(late)
    }

    /// Gives up the train that is being sent.
    fn stop(&mut self) {
        self.now = None;
        self.before = None;
    }

    /// Whether a packet that left at `sent_at` is part of the last train.
    pub(super) fn includes(&self, sent_at: Instant) -> bool {
        let within = |train: &SentTrain| (train.from..=train.to).contains(&sent_at);
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

    /// A packet that left at `sent_at` was lost.
    pub(super) fn lost(&mut self, sent_at: Instant) {
        if self.includes(sent_at)
            && let Some(train) = &mut self.now
        {
            train.lost += 1;
        }
    }

    /// For how long no other may leave after the last one, if it was cut. Asked once for each.
    pub(super) fn rest(&mut self) -> Option<Duration> {
        let [first, longest] = RESTS;
        let doubled = 1 << (self.cuts.max(1) - 1).min(16);
        core::mem::take(&mut self.is_cut).then_some(longest.min(first * doubled))
    }

    /// The last train is over: what it and the one before have shown.
    pub(super) fn judge(&mut self) -> Option<TrainsShown> {
        let train = self.now.take()?;
        let passed = train.passed();
        let twice = u64::from(2 * self.least);
        let quick = |passed: Duration| passed.scale(twice, u64::from(self.run)) <= QUICK;
        self.is_quick = passed.is_some_and(quick);
        let arrived = train.arrived(passed);
        let overtaken = |train: &Arrived| {
            train.overtaken.share() >= OVERTAKEN && train.overtaken.reversed >= OVERTAKEN_PAIRS
        };
        self.is_cut = train.lost >= CUT && !arrived.as_ref().is_some_and(overtaken);
        self.cuts = if self.is_cut { self.cuts + 1 } else { 0 };
        let before = core::mem::replace(&mut self.before, arrived);
        self.judged += 1;
        let both = [before?, arrived?];
        if both.iter().all(|train| train.overtaken.share() > TURNED) {
            return None;
        }
        if both.iter().all(overtaken) {
            return Some(TrainsShown::Overtaking);
        }
        let in_order = |train: &Arrived| train.queued && train.overtaken.share() <= IN_ORDER;
        both.iter().all(in_order).then_some(TrainsShown::Order)
    }
}

impl SentTrain {
    /// From the first to the last arrival.
    fn passed(&self) -> Option<Duration> {
        let arrivals = || self.arrivals.iter().flatten();
        Some(arrivals().max()?.since(*arrivals().min()?))
    }

    fn arrived(&self, passed: Option<Duration>) -> Option<Arrived> {
        let sides = [self.first, 1 - self.first].map(|side| &self.arrivals[side]);
        let long = self.sent >= 2 * LONG;
        let slowed = passed.is_some_and(|passed| passed > self.to.since(self.from) * SLOWER);
        Some(Arrived {
            overtaken: overtaken(sides[0], sides[1])?,
            queued: long && slowed,
        })
    }
}

/// The pairs of a train whose runs arrived at these times; none if there are fewer than 20. The last of the
/// first run and the first of the second are left out: one acknowledgement that was held back is no queue.
pub fn overtaken(first: &[Instant], second: &[Instant]) -> Option<Pairs> {
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
    let all = first.len() * second.len();
    let reversed = |a: &Instant| second.iter().filter(|b| *b < a).count();
    let reversed = first.iter().map(reversed).sum();
    (all >= PAIRS).then_some(Pairs { reversed, all })
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
        assert_eq!(trains.judge(), None, "the first of two");
        train(&mut trains, 1, fair);
        assert_eq!(trains.judge(), Some(TrainsShown::Overtaking));
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
            assert_eq!(trains.judge(), None);
        }
    }

    #[test]
    fn a_path_that_cuts_trains_gets_fewer() {
        let mut trains = Trains::new(6);
        let mut rest_after = |second, lost| {
            train(&mut trains, second, |place| place);
            (0..lost).for_each(|_| trains.lost(at(1000 * second)));
            trains.judge();
            (trains.rest(), trains.rest())
        };
        let seconds = |s| (Some(Duration::from_secs(s)), None);
        assert_eq!(rest_after(0, 2), (None, None), "chance");
        assert_eq!(rest_after(1, 3), seconds(8));
        assert_eq!(rest_after(2, 6), seconds(16));
        assert_eq!(rest_after(3, 0), (None, None));
        assert_eq!(rest_after(4, 6), seconds(8));
        (5..10).for_each(|second| assert!(rest_after(second, 6).0.is_some()));
        assert_eq!(rest_after(10, 6), seconds(256));
        assert_eq!(rest_after(100, 6), seconds(256));
        train(&mut trains, 101, |place| 2 * (place % 6) + place / 6);
        (0..6).for_each(|_| trains.lost(at(101_000)));
        trains.judge();
        assert_eq!(trains.rest(), None, "it showed queues of their own");
    }

    #[test]
    fn losses_of_others_cut_no_train() {
        let mut trains = Trains::new(6);
        train(&mut trains, 1, |place| place);
        (0..6).for_each(|_| trains.lost(at(999)));
        trains.judge();
        assert_eq!(trains.rest(), None);
    }

    #[test]
    fn trains_that_are_turned_round_show_nothing() {
        let mut trains = Trains::new(12);
        for second in 0..4 {
            train(&mut trains, second, |place| 23 - place);
            assert_eq!(trains.judge(), None);
        }
    }

    #[test]
    fn long_trains_in_order_had_one_queue() {
        let long = |arrives: fn(u64) -> u64| {
            let mut trains = Trains::new(24);
            let second = |second| {
                train(&mut trains, second, arrives);
                trains.judge()
            };
            [0, 1].map(second)
        };
        assert_eq!(long(|place| place), [None, Some(TrainsShown::Order)]);
        // One packet is overtaken by one, and one that is left out by more: below a hundredth of pairs.
        let late = |place| if place >= 22 { 25 } else { place };
        assert_eq!(long(late), [None, Some(TrainsShown::Order)]);
        // Between a hundredth and what fair queues show.
        let doubtful = |place| match place {
            19 | 20 => place + 14,
            place => place,
        };
        assert_eq!(long(doubtful), [None, None]);
        assert_eq!(long(|_| 0), [None, None], "nothing waited");
    }

    #[test]
    fn short_trains_in_order_show_nothing() {
        let mut trains = Trains::new(12);
        for second in 0..4 {
            train(&mut trains, second, |place| place);
            assert_eq!(trains.judge(), None);
        }
    }

    #[test]
    fn a_train_alone_or_with_few_arrivals_says_nothing() {
        let mut trains = Trains::new(6);
        train(&mut trains, 0, |place| 2 * (place % 6) + place / 6);
        trains.judge();
        trains.skip(at(1000), EVERY);
        train(&mut trains, 2, |place| 2 * (place % 6) + place / 6);
        assert_eq!(trains.judge(), None, "the one before was not its neighbour");
        assert_eq!(overtaken(&[at(1); 5], &[at(0); 5]), None, "16 pairs");
        let pairs = |reversed| Pairs { reversed, all: 20 };
        assert_eq!(overtaken(&[at(1); 6], &[at(0); 5]), Some(pairs(20)));
        let held = [at(1), at(2), at(3), at(4), at(5), at(99)];
        let held = overtaken(&held, &[at(7); 5]);
        assert_eq!(held, Some(pairs(0)), "one held back");
    }

    #[test]
    fn a_train_that_stops_is_none() {
        let mut trains = Trains::new(6);
        trains.begin(at(0), Duration::ZERO);
        assert!(!trains.sent(at(0), 1), "not its turn");
        assert!(trains.sent(at(0), 0) && trains.sent(at(5), 0));
        assert!(!trains.sent(at(11), 0) && !trains.is_running());
        assert_eq!(trains.judge(), None);
    }

    #[test]
    fn without_a_length_there_are_none() {
        assert!(!Trains::new(0).is_due(at(10_000)));
    }
}
