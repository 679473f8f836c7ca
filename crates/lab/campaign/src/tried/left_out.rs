//! What can be left out of a scenario to try a cause.

use core::fmt;
use link::Capacity;
use measure::why::{Behind, Cause, CauseKind, Whose};
use scenario::{Choice, Link, Scenario, Traffic};
use units::{Duration, Rate};

/// What a link carries that is never short.
const AMPLE: Rate = Rate::from_bits(10_000_000_000);
/// A round trip above this may be a cause by itself.
const FAR: Duration = Duration::from_millis(200);
/// The discipline that drops what exceeds a rate.
const POLICER: &str = "policer";

/// A part of a scenario that may make a call stall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// Traffic entries, by name.
    Traffic(Vec<String>),
    /// What a link's wire loses.
    Loss(String),
    /// What makes some packets late on a link's wire.
    Jitter(String),
    /// The device behind a link's queues.
    Device(String),
    /// That the capacity at a queue varies.
    Dips(String),
    /// The limit on the rate at a queue.
    Limit(String),
    /// That a queue's link is slower than what comes.
    Shortage(String),
    /// The line of the call's own sender.
    Access,
    /// The round trip.
    Distance,
    /// Several of these.
    Together(Vec<LeftOut>),
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::Traffic(names) => f.write_str(&names.join(" and ")),
            LeftOut::Loss(link) => write!(f, "the losses of {link}"),
            LeftOut::Jitter(link) => write!(f, "the jitter of {link}"),
            LeftOut::Device(link) => write!(f, "the device of {link}"),
            LeftOut::Dips(queue) => write!(f, "the dips of {queue}"),
            LeftOut::Limit(queue) => write!(f, "the limit on the rate at {queue}"),
            LeftOut::Shortage(queue) => write!(f, "the limits of {queue} (as a link of {AMPLE})"),
            LeftOut::Access => f.write_str("its sender’s own slow line"),
            LeftOut::Distance => f.write_str("the distance"),
            LeftOut::Together(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::to_string).collect();
                f.write_str(&parts.join(" together with "))
            }
        }
    }
}

impl LeftOut {
    /// What to leave out to try a cause, in this order until one changes the stall; nothing if the cause
    /// is the call's own.
    pub fn of(cause: &Cause, scenario: &Scenario) -> Vec<Self> {
        let queue = cause.queue.clone().unwrap_or_default();
        let link = || queue.strip_suffix("-up").unwrap_or(&queue).to_owned();
        match cause.kind {
            CauseKind::Queue => of_queue(cause, scenario, &queue),
            CauseKind::Dip => vec![LeftOut::Dips(queue)],
            CauseKind::Device => vec![LeftOut::Device(link())],
            CauseKind::Jitter => vec![LeftOut::Jitter(link())],
            CauseKind::Loss => vec![LeftOut::Loss(link())],
            CauseKind::Policing => vec![LeftOut::Limit(queue)],
            CauseKind::Access => vec![LeftOut::Access],
            CauseKind::Distance => vec![LeftOut::Distance],
            CauseKind::Sender | CauseKind::Unknown => Vec::new(),
        }
    }

    /// Everything in a scenario that might make `call` stall, with the cause that it would then be.
    pub fn all(scenario: &Scenario, call: &str) -> Vec<(Self, Cause)> {
        let Some(call) = scenario.traffic.iter().find(|of| of.name == call) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for other in scenario.traffic.iter().filter(|of| of.name != call.name) {
            if let Some((queue, back)) = meets(scenario, call, other) {
                let cause = Cause {
                    back,
                    behind: vec![behind(call, other)],
                    ..Cause::of(CauseKind::Queue, Some(name(scenario, queue)))
                };
                all.push((LeftOut::Traffic(vec![other.name.clone()]), cause));
            }
        }
        for up in [call.up, !call.up] {
            for queue in queues(scenario, call, up) {
                let of = of_link(scenario, queue).into_iter();
                all.extend(of.map(|(left_out, cause)| {
                    let back = up != call.up;
                    (left_out, Cause { back, ..cause })
                }));
            }
        }
        if call.access.is_some() {
            all.push((LeftOut::Access, Cause::of(CauseKind::Access, None)));
        }
        if scenario.paths(call).iter().any(|path| path.rtt >= FAR) {
            all.push((LeftOut::Distance, Cause::of(CauseKind::Distance, None)));
        }
        all
    }

    /// The scenario without it; none if it has no such thing.
    pub fn apply(&self, scenario: &Scenario, call: &str) -> Option<Scenario> {
        let mut changed = scenario.clone();
        match self {
            LeftOut::Traffic(names) => changed.traffic.retain(|of| !names.contains(&of.name)),
            LeftOut::Loss(link) => wire(&mut changed, link)?.loss = scenario::Share(0.0),
            LeftOut::Jitter(link) => {
                let wire = wire(&mut changed, link)?;
                (wire.jitter, wire.grants) = (Duration::ZERO, Duration::ZERO);
            }
            LeftOut::Device(link) => wire(&mut changed, link)?.device = 0,
            LeftOut::Dips(queue) => {
                let capacity = capacity(&mut changed, queue)?;
                if let Capacity::Trace(trace) = capacity {
                    *capacity = Capacity::Constant(trace.range().1);
                }
            }
            LeftOut::Shortage(queue) => {
                *capacity(&mut changed, queue)? = Capacity::Constant(AMPLE);
            }
            LeftOut::Limit(queue) => {
                let fifo = Some(Choice::plain("pfifo"));
                match link(&mut changed, queue)? {
                    (link, false) => link.discipline = fifo,
                    (link, true) => link.up.as_mut()?.discipline = fifo,
                }
            }
            LeftOut::Access => of(&mut changed, call)?.access = None,
            LeftOut::Distance => {
                of(&mut changed, call)?.rtt = None;
                for link in &mut changed.links {
                    (link.wire.rtt, link.wire.delay) = (Duration::ZERO, Duration::ZERO);
                }
            }
            LeftOut::Together(parts) => {
                for part in parts {
                    changed = part.apply(&changed, call)?;
                }
            }
        }
        (changed != *scenario).then_some(changed)
    }
}

/// A queue that fills with the packets of others: each of them, the one with most first, then all. A queue
/// that fills with the call's alone: that the link is not faster.
fn of_queue(cause: &Cause, scenario: &Scenario, queue: &str) -> Vec<LeftOut> {
    let others = cause.behind.iter().filter(|of| of.whose != Whose::Own);
    let seen: Vec<String> = others
        .map(|of| of.name.clone())
        .filter(|name| scenario.traffic.iter().any(|of| of.name == *name))
        .collect();
    let mut tries: Vec<Vec<String>> = seen.iter().map(|name| vec![name.clone()]).collect();
    if seen.len() > 1 {
        tries.push(seen);
    }
    let tries = tries.into_iter().map(LeftOut::Traffic);
    tries.chain([LeftOut::Shortage(queue.to_owned())]).collect()
}

/// The parts of a queue's link that may make a call stall.
fn of_link(scenario: &Scenario, queue: u16) -> Vec<(LeftOut, Cause)> {
    let name = name(scenario, queue);
    let Some((link, up)) = place(scenario, queue) else {
        return Vec::new();
    };
    let (capacity, discipline) = match link.up.as_ref().filter(|_| up) {
        Some(up) => (&up.capacity, &up.discipline),
        None => (&link.capacity, &link.discipline),
    };
    let wire = &link.wire;
    let parts = [
        (
            wire.loss.0 > 0.0,
            LeftOut::Loss(link.name.clone()),
            CauseKind::Loss,
        ),
        (
            wire.jitter.max(wire.grants) > Duration::ZERO,
            LeftOut::Jitter(link.name.clone()),
            CauseKind::Jitter,
        ),
        (
            wire.device > 0,
            LeftOut::Device(link.name.clone()),
            CauseKind::Device,
        ),
        (
            matches!(capacity, Capacity::Trace(_)),
            LeftOut::Dips(name.clone()),
            CauseKind::Dip,
        ),
        (
            discipline.as_ref().is_some_and(|of| of.name == POLICER),
            LeftOut::Limit(name.clone()),
            CauseKind::Policing,
        ),
        (true, LeftOut::Shortage(name.clone()), CauseKind::Queue),
    ];
    let there = parts.into_iter().filter(|(there, ..)| *there);
    there
        .map(|(_, left_out, kind)| (left_out, Cause::of(kind, Some(name.clone()))))
        .collect()
}

/// The queues that packets of an entry pass, away from the home or towards it.
fn queues(scenario: &Scenario, entry: &Traffic, up: bool) -> Vec<u16> {
    let paths = scenario.paths(entry);
    let mut queues: Vec<u16> = paths
        .iter()
        .flat_map(|path| scenario.queues(&path.links, up))
        .collect();
    queues.sort_unstable();
    queues.dedup();
    queues
}

/// The slowest queue that most of `other`'s packets share with a call, and whether it is on the way back.
fn meets(scenario: &Scenario, call: &Traffic, other: &Traffic) -> Option<(u16, bool)> {
    let theirs = queues(scenario, other, other.up);
    let shared = queues(scenario, call, other.up)
        .into_iter()
        .filter(|queue| theirs.contains(queue));
    let slowest = shared.min_by_key(|queue| {
        place(scenario, *queue).map(|(link, up)| match link.up.as_ref().filter(|_| up) {
            Some(up) => up.capacity.nominal(),
            None => link.capacity.nominal(),
        })
    });
    Some((slowest?, other.up != call.up))
}

fn behind(call: &Traffic, other: &Traffic) -> Behind {
    Behind {
        name: other.name.clone(),
        host: (other.host != other.name).then(|| other.host.clone()),
        whose: if other.host == call.host {
            Whose::Computer
        } else {
            Whose::House
        },
        flows: 0,
        share: 0.0,
    }
}

/// The link of a queue, and whether it is its uplink.
fn place(scenario: &Scenario, queue: u16) -> Option<(&Link, bool)> {
    let links = &scenario.links;
    match links.get(usize::from(queue)) {
        Some(link) => Some((link, false)),
        None => {
            let mut uplinks = links.iter().rev().filter(|link| link.up.is_some());
            let link = uplinks.nth(usize::from(queue) - links.len())?;
            Some((link, true))
        }
    }
}

/// A queue's name, as results have it.
fn name(scenario: &Scenario, queue: u16) -> String {
    match place(scenario, queue) {
        Some((link, true)) => format!("{}-up", link.name),
        Some((link, false)) => link.name.clone(),
        None => String::new(),
    }
}

/// The link of a queue with this name, and whether it is its uplink.
fn link<'a>(scenario: &'a mut Scenario, queue: &str) -> Option<(&'a mut Link, bool)> {
    let is = |link: &Link| {
        if link.name == queue {
            Some(false)
        } else {
            (queue.strip_suffix("-up") == Some(&link.name)).then_some(true)
        }
    };
    let links = scenario.links.iter_mut();
    links
        .filter_map(|link| is(link).map(|up| (link, up)))
        .next()
}

fn wire<'a>(scenario: &'a mut Scenario, name: &str) -> Option<&'a mut scenario::Wire> {
    Some(&mut link(scenario, name)?.0.wire)
}

fn capacity<'a>(scenario: &'a mut Scenario, queue: &str) -> Option<&'a mut Capacity> {
    match link(scenario, queue)? {
        (link, false) => Some(&mut link.capacity),
        (link, true) => Some(&mut link.up.as_mut()?.capacity),
    }
}

fn of<'a>(scenario: &'a mut Scenario, call: &str) -> Option<&'a mut Traffic> {
    scenario.traffic.iter_mut().find(|of| of.name == call)
}
