//! The way of a call's packets: when each left its sender, entered and left queues, and arrived.

use crate::event::LinkId;
use crate::why::queue::Parts;
use crate::why::wires::Wires;
use qdisc::DropReason;
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Instant};

/// A packet's way.
#[derive(Debug, Clone, Default)]
pub struct Trip {
    /// When its sender gave it out, if the engine says so.
    pub sent: Option<Instant>,
    /// The queues that it came to, in order.
    pub hops: Vec<Hop>,
    /// When it was over.
    pub over: Option<Instant>,
}

/// A queue on a packet's way.
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// Which.
    pub link: LinkId,
    /// When it came.
    pub entered: Instant,
    /// When it left for the wire.
    pub left: Option<Instant>,
}

impl Hop {
    /// How long it waited, or has waited by `now`.
    pub fn wait(&self, now: Instant) -> Duration {
        self.left.unwrap_or(now).since(self.entered)
    }
}

impl Trip {
    /// When it left its sender, as far as was seen.
    pub fn start(&self) -> Option<Instant> {
        self.sent.or(self.hops.first().map(|hop| hop.entered))
    }

    /// The queues of its way.
    pub fn way(&self) -> Vec<LinkId> {
        self.hops.iter().map(|hop| hop.link).collect()
    }

    /// Time behind each queue that it left until the next place, or until `to`.
    pub fn on_wires(&self, to: Instant) -> impl Iterator<Item = (LinkId, Duration)> {
        let nexts = self.hops.iter().skip(1).map(|hop| hop.entered);
        let nexts = nexts.chain([self.over.unwrap_or(to)]);
        let pairs = self.hops.iter().zip(nexts);
        pairs.map(|(hop, next)| (hop.link, next.since(hop.left.unwrap_or(next))))
    }
}

/// The end of a packet that did not arrive.
#[derive(Debug, Clone)]
pub struct Fault {
    /// When.
    pub at: Instant,
    /// Where.
    pub link: LinkId,
    /// Why a queue dropped it; none if the wire behind it lost it.
    pub reason: Option<DropReason>,
    /// What waited in the queue then.
    pub waiting: Parts,
}

/// The packets of a call in one direction: those with its frames, or the answers to them, which are
/// reports, acknowledgements, and requests for packets and key frames.
#[derive(Debug)]
pub struct Trips {
    /// The wires on the way.
    pub wires: Wires,
    /// By number: the order of sending.
    trips: BTreeMap<u64, Trip>,
    /// Those that did not arrive.
    pub faults: VecDeque<Fault>,
    /// The packet that arrived last.
    last: Option<u64>,
    /// The shortest time between a departure from a queue and what comes next.
    least: BTreeMap<LinkId, Duration>,
}

impl Trips {
    /// No packets, on a way over these wires.
    pub fn new(wires: Wires) -> Self {
        Trips {
            wires,
            trips: BTreeMap::new(),
            faults: VecDeque::new(),
            last: None,
            least: BTreeMap::new(),
        }
    }

    /// Whether nothing has been seen of a packet yet.
    pub fn is_first(&self, number: u64) -> bool {
        !self.trips.contains_key(&number)
    }

    /// A packet left its sender.
    pub fn sent(&mut self, now: Instant, number: u64) {
        self.trips.entry(number).or_default().sent = Some(now);
    }

    /// A packet came to a queue.
    pub fn entered(&mut self, now: Instant, number: u64, link: LinkId) {
        let trip = self.trips.entry(number).or_default();
        let before = trip.hops.last().copied();
        trip.hops.push(Hop {
            link,
            entered: now,
            left: None,
        });
        self.passed(before, now);
    }

    /// A packet left the queue that it was in.
    pub fn left(&mut self, now: Instant, number: u64) {
        let hop = self
            .trips
            .get_mut(&number)
            .and_then(|trip| trip.hops.last_mut());
        if let Some(hop) = hop {
            hop.left = Some(now);
        }
    }

    /// A packet reached its receiver.
    pub fn arrived(&mut self, now: Instant, number: u64) {
        let Some(trip) = self.trips.get_mut(&number) else {
            return;
        };
        trip.over = Some(now);
        let before = trip.hops.last().copied();
        self.last = Some(number);
        self.passed(before, now);
    }

    /// A packet was dropped or lost.
    pub fn failed(&mut self, number: u64, fault: Fault) {
        if let Some(trip) = self.trips.get_mut(&number) {
            trip.over = Some(fault.at);
        }
        self.faults.push_back(fault);
    }

    fn passed(&mut self, hop: Option<Hop>, now: Instant) {
        if let Some(hop) = hop
            && let Some(left) = hop.left
        {
            let least = self.least.entry(hop.link).or_insert(Duration::MAX);
            *least = (*least).min(now.since(left));
        }
    }

    /// The shortest time that it took from a queue to what comes next. On a wire with jitter, of packets
    /// that stay in order, all of those that were seen may have come late.
    pub fn least(&self, link: LinkId) -> Duration {
        let seen = self.least.get(&link).copied().unwrap_or(Duration::ZERO);
        if self.wires.jitter(link) > Duration::ZERO {
            seen.min(self.wires.delay(link))
        } else {
            seen
        }
    }

    /// The packet with which a frame was complete `now`: the one that arrived last. Where an engine
    /// does not tell of arrivals, the last one that had left all queues the time of the `quickest`
    /// frame before.
    pub fn completing(&self, now: Instant, quickest: Duration) -> Option<&Trip> {
        if let Some(last) = self.last {
            return self.trips.get(&last);
        }
        let gone = |trip: &&Trip| {
            let left = trip.hops.last().and_then(|hop| hop.left);
            left.is_some_and(|left| left + quickest <= now)
        };
        self.trips.values().rev().find(gone)
    }

    /// The longest wait of packets that were in a queue from one moment to another.
    pub fn longest(&self, from: Instant, to: Instant) -> Option<(&Trip, Hop)> {
        let within = |hop: &Hop| hop.entered <= to && hop.left.is_none_or(|left| left >= from);
        let hops = self.trips.values().flat_map(|trip| {
            let hops = trip.hops.iter().filter(|hop| within(hop));
            // A packet that was dropped did not wait until now.
            let open = |hop: &&Hop| hop.left.is_some() || trip.over.is_none();
            hops.filter(open).map(move |hop| (trip, *hop))
        });
        hops.max_by_key(|(_, hop)| hop.wait(to))
    }

    /// The longest time, beyond the shortest, that packets of this time spent behind a queue.
    pub fn longest_behind(&self, from: Instant, to: Instant) -> Option<(&Trip, LinkId, Duration)> {
        let within = |trip: &&Trip| {
            trip.start().is_some_and(|start| start <= to) && trip.over.is_none_or(|at| at >= from)
        };
        let late = self.trips.values().filter(within).flat_map(|trip| {
            let behind = trip.on_wires(to);
            behind.map(move |(link, span)| (trip, link, span.saturating_sub(self.least(link))))
        });
        late.max_by_key(|(_, _, late)| *late)
    }

    /// The longest time that a packet which was sent in this time took to its first queue.
    pub fn longest_access(&self, from: Instant, to: Instant) -> Duration {
        let starts = self.trips.values().filter_map(|trip| {
            let entered = trip.hops.first()?.entered;
            Some((trip.sent?, entered))
        });
        let within = starts.filter(|(sent, entered)| *sent <= to && *entered >= from);
        within
            .map(|(sent, entered)| entered.since(sent))
            .max()
            .unwrap_or_default()
    }

    /// Forgets packets that were over before `at`.
    pub fn forget(&mut self, at: Instant) {
        let last = self.last;
        while let Some(first) = self.trips.first_entry() {
            let over = |trip: &Trip| match (trip.over, trip.hops.last()) {
                (Some(over), _) => over < at,
                // Of an engine that does not tell of arrivals, or on the wire for long.
                (
                    None,
                    Some(Hop {
                        left: Some(left), ..
                    }),
                ) => *left + LONGEST < at,
                _ => false,
            };
            if Some(*first.key()) == last || !over(first.get()) {
                break;
            }
            first.remove();
        }
        while self.faults.front().is_some_and(|fault| fault.at < at) {
            self.faults.pop_front();
        }
    }
}

/// No packet is followed on a wire for longer.
const LONGEST: Duration = Duration::from_secs(10);
