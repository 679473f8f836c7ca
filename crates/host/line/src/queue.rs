//! What kind of queue a way has, from everything that was seen of it.

use crate::carried::median;
use crate::direction::Loaded;
use crate::losses::{Drops, LossesTold, told};
use crate::waits::{Lengths, Waits, passed};
use probe::report::Management;
use serde::Serialize;

/// Waits below this are noise of the hosts, in ms.
const NOISE: f64 = 4.0;
/// Packets that are before any other: one that is being sent, and one of another flow.
const AHEAD: f64 = 2.0;
/// A packet, in bytes.
const PACKET: f64 = 1500.0;
/// A wait that a call notices, in ms.
const FELT: f64 = 30.0;
/// What a policer drops at least, as a share, before it is called one; and losses.
const POLICED: f64 = 0.005;
const FEW: u64 = 5;
/// More connections carry more over a wire that loses, and as much through a policer: the part of its last rate that it
/// has with half of them.
const FLAT: f64 = 0.9;

/// A queue that is so many times as long as it mostly was where it dropped is a host that was busy.
const OUTLIER: f64 = 1.2;

/// What the line seems to have for a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// One for all, and long.
    Long,
    /// One that is kept short, or is small.
    Short,
    /// One of its own for each flow.
    Fair,
    /// None: what is above a rate is dropped.
    Policed,
}

/// What was found of a way's queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) queue: Queue,
    pub(crate) isolated: Option<bool>,
    pub(crate) told: LossesTold,
    /// The longest queue that counts, in bytes of the load.
    pub(crate) longest: Option<f64>,
}

/// What is known of a way before its queue is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The idle line's round trip, in ms.
    pub(crate) idle: f64,
    /// Its rate, in Mbit/s.
    pub(crate) mbit: f64,
    /// Waits beside the load, and on its connections.
    pub(crate) beside: Option<Waits>,
    pub(crate) on: Option<Waits>,
    pub(crate) probed: Option<Management>,
}

impl Found {
    /// Whether a long queue lost something, and it does not show why.
    pub(crate) fn unclear(&self) -> bool {
        let told = &self.told;
        self.queue == Queue::Long && told.lost > 0 && told.drops.is_none() && told.wire.is_none()
    }
}

/// What follows from what was seen of a way.
pub(crate) fn found(loaded: &Loaded, known: &Known) -> Found {
    let handshakes = passed(loaded, 0.0);
    let lengths = Lengths::of(&handshakes, known.idle, &loaded.course);
    let full = lengths.full(loaded.course.end() / 2.0);
    let mut told = told(&loaded.looks, &lengths, full);
    let dropped_at = told.dropped_at.filter(|_| told.drops == Some(Drops::Full));
    let most = dropped_at.map_or(f64::INFINITY, |at| OUTLIER * at);
    let isolated = known
        .beside
        .and_then(|beside| isolated(beside, known.on?, known.mbit));
    let policed = policed(loaded, known, &told);
    let fair = match known.probed {
        Some(Management::FairQueuing) => true,
        Some(Management::SharedFifo | Management::Aqm) => false,
        Some(Management::Unknown) | None => isolated == Some(true) && !policed,
    };
    let felt = known.beside.is_some_and(|waits| waits.p95 >= FELT);
    let queue = match () {
        () if fair => Queue::Fair,
        () if policed => Queue::Policed,
        () if told.drops == Some(Drops::Early) => Queue::Short,
        () if felt => Queue::Long,
        () => Queue::Short,
    };
    match queue {
        // How long the queues of others are says nothing of where the load's were.
        Queue::Fair => (told.drops, told.wire) = (None, None),
        Queue::Policed => (told.drops, told.wire) = (Some(Drops::Policed), None),
        Queue::Long | Queue::Short => {}
    }
    Found {
        queue,
        isolated: isolated.filter(|_| !policed),
        told,
        longest: lengths.longest().map(|longest| longest.min(most)),
    }
}

/// What passes without any wait, in ms, on a line of `mbit` Mbit/s.
fn little(mbit: f64) -> f64 {
    NOISE + AHEAD * PACKET * 8e-3 / mbit
}

/// Whether what is above a rate is dropped without a queue: neither packets of others nor the load's own wait, much is
/// lost, and more connections do not carry more.
fn policed(loaded: &Loaded, known: &Known, told: &LossesTold) -> bool {
    let end = loaded.course.end();
    let own = loaded.looks.iter().filter(|look| look.at >= end / 2.0);
    let own = median(own.filter_map(|look| look.own).collect());
    let little = little(known.mbit);
    let waits = |median: f64| median - known.idle > little;
    let rate = |part: [f64; 2]| loaded.course.rate(part.map(|at| at * end)).unwrap_or(0.0);
    let flat = rate([0.3, 0.5]) >= FLAT * rate([0.8, 1.0]);
    let much = told.lost >= FEW && told.share >= POLICED;
    let beside = known.beside.is_some_and(|waits| waits.p95 <= little);
    beside && own.is_some_and(|own| !waits(own)) && much && flat
}

/// Whether packets of others pass by those that wait on a line of `mbit` Mbit/s; none where nothing waits.
fn isolated(beside: Waits, on: Waits, mbit: f64) -> Option<bool> {
    let little = little(mbit);
    match beside.median {
        short if short <= little && on.median > FELT.max(3.0 * little) => Some(true),
        short if short <= little => None,
        long if long >= on.median / 2.0 || long >= FELT => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carried::Look;
    use crate::direction::{Sample, TimeKind};

    const IDLE: f64 = 20.0;

    /// Eight seconds of a full line on which handshakes take `beside` ms and the load's packets `own`, whose looks lose
    /// as `lost` says of their moment; what it carries in its last second is `more` of what it did with half the load.
    fn loaded(beside: f64, own: f64, lost: impl Fn(u64) -> u64, more: f64) -> Loaded {
        let mut loaded = Loaded::default();
        let mut bytes = 0.0;
        for step in 1..=800_u64 {
            let at = step as f64 * 10.0;
            bytes += if at > 4500.0 {
                12_500.0 * more
            } else {
                12_500.0
            };
            loaded.course.push(at, bytes as u64);
            loaded.looks.push(Look {
                at,
                passed: 10,
                lost: lost(step),
                own: Some(own),
            });
            if step % 10 == 0 {
                for (kind, ms) in [(TimeKind::Tcp, beside), (TimeKind::Loaded, own + 80.0)] {
                    loaded.samples.push(Sample { kind, at, ms });
                }
            }
        }
        loaded
    }

    fn of(loaded: &Loaded, probed: Option<Management>) -> Found {
        let on: Vec<f64> = loaded.times(TimeKind::Loaded, 0.0);
        let known = Known {
            idle: IDLE,
            mbit: 10.0,
            beside: Waits::of(&loaded.times(TimeKind::Tcp, 0.0), IDLE),
            on: Waits::of(&on, IDLE),
            probed,
        };
        found(loaded, &known)
    }

    fn seldom(step: u64) -> u64 {
        u64::from(step.is_multiple_of(5))
    }

    #[test]
    fn a_policer_drops_and_nobody_waits() {
        let found = of(&loaded(IDLE, IDLE, seldom, 1.0), None);
        assert_eq!((found.queue, found.isolated), (Queue::Policed, None));
        assert_eq!(found.told.drops, Some(Drops::Policed));
    }

    #[test]
    fn fair_queues_lose_as_much_and_their_own_flows_wait() {
        let found = of(&loaded(IDLE, 45.0, seldom, 1.0), None);
        assert_eq!((found.queue, found.isolated), (Queue::Fair, Some(true)));
        assert_eq!((found.told.drops, found.told.wire), (None, None));
        // Trains that overtake each other are no policer's doing, however little the load waits.
        let seen = Some(Management::FairQueuing);
        let found = of(&loaded(IDLE, IDLE, seldom, 1.0), seen);
        assert_eq!(found.queue, Queue::Fair);
    }

    #[test]
    fn a_wire_that_loses_carries_more_on_more_connections() {
        let found = of(&loaded(IDLE, IDLE, seldom, 2.0), None);
        assert_ne!(found.queue, Queue::Policed);
        let nothing = of(&loaded(IDLE, IDLE, |_| 0, 1.0), None);
        assert_ne!(nothing.queue, Queue::Policed);
    }

    #[test]
    fn a_long_queue_that_lost_something_says_what_it_does_not_know() {
        let long = |lost: fn(u64) -> u64| of(&loaded(220.0, 220.0, lost, 1.0), None);
        // All at the length that a full queue has: there is nothing to compare them with.
        let found = long(|step| u64::from(step == 700));
        assert_eq!(found.queue, Queue::Long);
        assert!(found.unclear() && !long(|_| 0).unclear());
    }
}
