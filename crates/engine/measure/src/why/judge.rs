//! The judgement on one late frame: which part of its way took longest, and what happened there.

use crate::event::LinkId;
use crate::why::queue::{Entry, Parts, QueuePast};
use crate::why::trip::{Fault, Trip, Trips};
use qdisc::DropReason;
use units::{Duration, Instant};

/// A loss this long before a frame still holds it up: a repair takes round trips, or a timer.
const REPAIR: Duration = Duration::from_secs(1);
/// A control that was slowed down this long before a frame may still hold it up.
const RECOVERY: Duration = Duration::from_secs(2);
/// Waits below this do not slow a control down.
const SLIGHT: Duration = Duration::from_millis(20);

/// The part of its way that made a frame late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPart {
    /// A wait in a queue, or drops by it.
    Queue(LinkId),
    /// The device behind a queue.
    Device(LinkId),
    /// The wire behind a queue, which delivered some packets later than others.
    Jitter(LinkId),
    /// The wire behind a queue, which lost packets.
    Wire(LinkId),
    /// A limit on the rate, without a queue.
    Limit(LinkId),
    /// The sender's own line.
    Access,
    /// The sender itself, which held packets back.
    Sender,
    /// The way as such.
    Distance,
    /// None that was observed.
    Unknown,
}

/// What was found about a late frame.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Where.
    pub place: PathPart,
    /// How long it waited there.
    pub wait: Duration,
    /// Packets of the call that did not get further, in the time that was looked at.
    pub failed: u64,
    /// What left the queue meanwhile, or waited in it when it dropped packets.
    pub parts: Parts,
    /// The rate at which packets left the queue meanwhile, bytes per second; none without a wait in it.
    pub carried: Option<f64>,
    /// The queues on the way, in order.
    pub way: Vec<LinkId>,
    /// It happened to answers, not to what carries frames.
    pub back: bool,
}

impl Finding {
    /// A finding of a place alone.
    pub fn at(place: PathPart, wait: Duration) -> Self {
        Finding {
            place,
            wait,
            failed: 0,
            parts: Parts::new(),
            carried: None,
            way: Vec::new(),
            back: false,
        }
    }

    /// The entry that most of the bytes belong to.
    pub fn most(&self) -> Option<Entry> {
        let most = self.parts.iter().max_by_key(|(_, (bytes, _))| *bytes);
        most.map(|(of, _)| *of)
    }
}

/// The evidence: the packets of the call, and the queues.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The call's packets with frames.
    pub trips: &'a Trips,
    /// The answers to them.
    pub answers: &'a Trips,
    /// All queues.
    pub queues: &'a [QueuePast],
}

impl Evidence<'_> {
    /// The finding on a frame that was handed over at `from` and complete at `to` with the packet
    /// `last`; or that was skipped at `to`, without such a packet.
    pub fn judge(&self, from: Instant, to: Instant, last: Option<&Trip>) -> Finding {
        match last {
            Some(trip) => self.along(from, to, trip),
            None => self.held(from, to),
        }
    }

    /// The longest part of the way of the packet with which the frame was complete.
    fn along(&self, from: Instant, to: Instant, trip: &Trip) -> Finding {
        let start = trip.start().unwrap_or(to);
        let entered = trip.hops.first().map_or(start, |hop| hop.entered);
        let held = start.since(from);
        let access = entered.since(start);
        let on_wires = trip.on_wires(to);
        let behind = on_wires.map(|(link, span)| {
            let late = span.saturating_sub(self.trips.least(link));
            (behind(self.trips, link), late)
        });
        let waits = trip.hops.iter();
        let waits = waits.map(|hop| (PathPart::Queue(hop.link), hop.wait(to)));
        let own = [(PathPart::Sender, held), (PathPart::Access, access)];
        let parts = waits.chain(behind).chain(own);
        // Of equal parts the first.
        let longest = parts.reduce(|longest, part| if part.1 > longest.1 { part } else { longest });
        let (place, wait) = longest.unwrap_or((PathPart::Unknown, Duration::ZERO));
        let far = trip.on_wires(to).fold(Duration::ZERO, |sum, (link, _)| {
            sum + self.trips.least(link)
        });
        let mut finding = match place {
            _ if far > wait => Finding::at(PathPart::Distance, far),
            PathPart::Sender => self.held(from, start),
            PathPart::Queue(link) => {
                let hop = trip.hops.iter().find(|hop| hop.link == link);
                let (entered, left) =
                    hop.map_or((from, to), |hop| (hop.entered, hop.left.unwrap_or(to)));
                self.in_queue(link, entered, left)
            }
            place => Finding::at(place, wait),
        };
        if finding.way.is_empty() {
            finding.way = trip.way();
        }
        finding
    }

    /// A wait in a queue.
    fn in_queue(&self, link: LinkId, entered: Instant, left: Instant) -> Finding {
        let queue = self.queues.get(usize::from(link.0));
        let parts = queue
            .map(|queue| queue.between(entered, left))
            .unwrap_or_default();
        let bytes: u64 = parts.values().map(|(bytes, _)| bytes).sum();
        let wait = left.since(entered);
        let carried = bytes as f64 / wait.as_secs_f64();
        Finding {
            parts,
            carried: (wait > Duration::ZERO).then_some(carried),
            ..Finding::at(PathPart::Queue(link), wait)
        }
    }

    /// The reason why its sender had not given the frame's last packet out, from one moment to another:
    /// answers that came late, losses that it repaired, or else a wait that slowed its control down before.
    fn held(&self, from: Instant, to: Instant) -> Finding {
        let held = to.since(from);
        let lost = of_faults(self.trips, from - REPAIR, to, held);
        let waited = self.waited(self.trips, from, to);
        let answers = self.waited(self.answers, from, to).map(answered);
        if let Some(lost) = lost {
            // A repair takes as long as the request for it.
            return match answers {
                Some(answers) if answers.wait >= SLIGHT.max(held / 2) => Finding {
                    failed: lost.failed,
                    ..answers
                },
                _ => with_drops(lost, waited),
            };
        }
        let access = self.trips.longest_access(from - RECOVERY, to);
        let longest = waited.into_iter().chain(answers);
        let longest = longest.reduce(|a, b| if b.wait > a.wait { b } else { a });
        let longest = longest.filter(|longest| longest.wait >= SLIGHT.max(access));
        let unanswered = || of_faults(self.answers, from - RECOVERY, to, held);
        let unanswered = || unanswered().map(|lost| answered(with_drops(lost, None)));
        match longest.or_else(unanswered) {
            Some(finding) => finding,
            None if access >= SLIGHT => Finding::at(PathPart::Access, access),
            None => Finding::at(PathPart::Sender, held),
        }
    }

    /// The longest wait in a queue or behind one, in one direction, that may have slowed the control down
    /// from one moment to another.
    fn waited(&self, trips: &Trips, from: Instant, to: Instant) -> Option<Finding> {
        let from = from - RECOVERY;
        let in_queue = trips.longest(from, to).map(|(trip, hop)| Finding {
            way: trip.way(),
            ..self.in_queue(hop.link, hop.entered, hop.left.unwrap_or(to))
        });
        let behind = trips
            .longest_behind(from, to)
            .map(|(trip, link, late)| Finding {
                way: trip.way(),
                ..Finding::at(behind(trips, link), late)
            });
        let both = in_queue.into_iter().chain(behind);
        both.reduce(|queue, behind| {
            if behind.wait > queue.wait {
                behind
            } else {
                queue
            }
        })
    }
}

/// What makes packets late behind a queue.
fn behind(trips: &Trips, link: LinkId) -> PathPart {
    if trips.wires.jitter(link) > Duration::ZERO {
        PathPart::Jitter(link)
    } else {
        PathPart::Device(link)
    }
}

/// A finding of answers.
fn answered(finding: Finding) -> Finding {
    Finding {
        back: true,
        ..finding
    }
}

/// What is known of packets that failed, and of the longest wait before.
fn with_drops(lost: Finding, waited: Option<Finding>) -> Finding {
    match (lost.place, waited) {
        // A queue that dropped some: the wait of the others.
        (PathPart::Queue(_), Some(waited))
            if waited.place == lost.place && waited.wait >= SLIGHT =>
        {
            Finding {
                failed: lost.failed,
                ..waited
            }
        }
        (PathPart::Queue(_), waited) => Finding {
            wait: Duration::ZERO,
            way: waited.map(|waited| waited.way).unwrap_or_default(),
            ..lost
        },
        _ => lost,
    }
}

fn place_of(fault: &Fault) -> PathPart {
    match fault.reason {
        None => PathPart::Wire(fault.link),
        Some(DropReason::Rate) => PathPart::Limit(fault.link),
        Some(_) => PathPart::Queue(fault.link),
    }
}

/// The place where most packets of one direction failed in some time.
fn of_faults(trips: &Trips, from: Instant, to: Instant, held: Duration) -> Option<Finding> {
    let faults = trips.faults.iter();
    let faults: Vec<&Fault> = faults.filter(|of| (from..=to).contains(&of.at)).collect();
    // There are few places, and there may be thousands of faults.
    let mut counts: Vec<(PathPart, u64)> = Vec::new();
    for fault in &faults {
        let place = place_of(fault);
        match counts.iter_mut().find(|(known, _)| *known == place) {
            Some((_, count)) => *count += 1,
            None => counts.push((place, 1)),
        }
    }
    let count = |place: PathPart| {
        let found = counts.iter().find(|(known, _)| *known == place);
        found.map_or(0, |(_, count)| *count)
    };
    let worst = faults.iter().max_by_key(|fault| count(place_of(fault)))?;
    let place = place_of(worst);
    let of_place = faults.iter().filter(|fault| place_of(fault) == place);
    let fullest =
        of_place.max_by_key(|fault| fault.waiting.values().map(|part| part.0).sum::<u64>());
    Some(Finding {
        failed: count(place),
        parts: fullest
            .map(|fault| fault.waiting.clone())
            .unwrap_or_default(),
        ..Finding::at(place, held)
    })
}
