//! Links whose rate is followed: what their controllers see, and what they decide.
//!
//! A controller sees what a router sees: packets at its own link, with the time stamps of TCP, and
//! answers to its own pings. [`Watch`] makes that of a run's events; the world asks for rates.

mod pings;
mod stamps;
mod watch;

pub use watch::Watch;

use autorate::{Controller, Decision, SeenPacket, Signal, Way};
use measure::{LinkId, PacketId};
use pings::Pings;
use scenario::{Follow, Scenario, Traffic};
use stamps::Clocks;
use std::cell::RefCell;
use std::rc::Rc;
use units::{Duration, Instant, Rate, Refusal};

/// How often controllers are asked.
pub const BEAT: Duration = Duration::from_millis(5);

/// A rate closer to the last than this part of it is not set: a daemon would not, either.
const STEP: u64 = 100;

/// The followed links of a run, shared by what listens to it and what drives it.
pub type Shared = Rc<RefCell<Followers>>;

/// The followed links of a run.
pub struct Followers {
    followers: Vec<Follower>,
    clocks: Clocks,
    pings: Pings,
}

/// What follows a link.
struct Follower {
    controller: Box<dyn Controller>,
    ways: Vec<Followed>,
}

/// A direction of a followed link.
struct Followed {
    way: Way,
    queue: LinkId,
    /// What its port can carry.
    port: Rate,
    /// The last decision that was told.
    last: Option<Decision>,
}

/// Those of `scenario`, with the entries of their pings added to it; none if there are none.
///
/// # Errors
/// If a controller is refused.
pub fn followers(
    registry: &autorate::Registry,
    scenario: &Scenario,
    seed: u64,
) -> Result<Option<(Scenario, Shared)>, Refusal> {
    let own = scenario.traffic.len();
    let mut with_pings = scenario.clone();
    let mut pings = Pings::new(own, seed);
    let mut followers = Vec::new();
    for (place, link) in (0..).zip(&scenario.links) {
        let Some(Follow {
            controller,
            reflectors,
        }) = &link.follow
        else {
            continue;
        };
        let before = &scenario.links[..usize::from(place)];
        let entries = pings.add(followers.len(), before, &link.name, reflectors)?;
        with_pings.traffic.extend(entries);
        followers.push(Follower {
            controller: registry.build(controller)?,
            ways: ways(scenario, place),
        });
    }
    if followers.is_empty() {
        return Ok(None);
    }
    let followers = Followers {
        followers,
        clocks: Clocks::new(seed),
        pings,
    };
    Ok(Some((with_pings, Rc::new(RefCell::new(followers)))))
}

/// The directions of the link at `place`, as queues.
fn ways(scenario: &Scenario, place: u16) -> Vec<Followed> {
    let link = &scenario.links[usize::from(place)];
    let up = scenario.queues(&[place], true);
    let up = up.first().copied().zip(link.up.as_ref());
    let down = (Way::Down, place, link.capacity.nominal());
    let up = up.map(|(queue, up)| (Way::Up, queue, up.capacity.nominal()));
    let followed = |(way, queue, port)| Followed {
        way,
        queue: LinkId(queue),
        port,
        last: None,
    };
    core::iter::once(down).chain(up).map(followed).collect()
}

impl Followers {
    /// Whether a traffic entry consists of pings.
    fn is_ping(&self, entry: u16) -> bool {
        self.pings.has(entry)
    }

    /// What a packet at a queue is to the link's controller, if it is followed: `came` to the queue,
    /// or left it.
    fn at_queue(&mut self, now: Instant, queue: LinkId, packet: PacketId, came: bool) {
        let packet = SeenPacket {
            bytes: packet.bytes,
            stamps: self.clocks.stamps(packet.number),
        };
        for follower in &mut self.followers {
            let Some(way) = follower.ways.iter().find(|way| way.queue == queue) else {
                continue;
            };
            let signal = match (came, way.way) {
                (true, Way::Down) => Signal::Came(packet),
                // What waits to leave the home is not on the line yet.
                (true, Way::Up) => continue,
                (false, way) => Signal::Shaped(way, packet),
            };
            follower.controller.tell(now, &signal);
        }
    }

    /// A packet reached its end.
    fn arrived(&mut self, now: Instant, packet: PacketId) {
        self.clocks.arrived(packet);
        if let Some((follower, answer)) = self.pings.arrived(now, packet) {
            let controller = &mut self.followers[follower].controller;
            controller.tell(now, &Signal::Answered(answer));
        }
    }

    /// Asks all controllers; the decisions that are other than the last ones, and whether the rate
    /// is another.
    pub fn decide(&mut self, now: Instant) -> Vec<(LinkId, Decision, bool)> {
        let mut news = Vec::new();
        for follower in &mut self.followers {
            let decisions = follower.controller.decide(now);
            for followed in &mut follower.ways {
                let decision = followed.capped(decisions[followed.way]);
                let last = followed.last;
                let moved = last.is_none_or(|last| differ(last.rate, decision.rate));
                let rate = match last {
                    Some(last) if !moved => last.rate,
                    _ => decision.rate,
                };
                let reason = last.is_none_or(|last| last.why.name() != decision.why.name());
                if moved || reason {
                    let decision = Decision { rate, ..decision };
                    followed.last = Some(decision);
                    news.push((followed.queue, decision, moved));
                }
            }
        }
        news
    }
}

impl Followed {
    /// A decision within what the port can carry.
    fn capped(&self, decision: Decision) -> Decision {
        Decision {
            rate: decision.rate.min(self.port),
            ..decision
        }
    }
}

fn differ(last: Rate, rate: Rate) -> bool {
    last.as_bits().abs_diff(rate.as_bits()) * STEP > last.as_bits()
}

/// A name for the entry of a link's pings that no scenario can give.
fn ping_name(link: &str, reflector: u32) -> String {
    format!("{link}: pings {reflector}")
}

/// A traffic entry like the scenario's, for pings: see [`Pings::add`].
fn entry(name: String, kind: workload::Kind) -> Traffic {
    Traffic {
        host: name.clone(),
        name,
        kind,
        dscp: scenario::Dscp::default(),
        start: Duration::ZERO,
        count: 1,
        first: 0,
        stagger: Duration::ZERO,
        jitter: Duration::ZERO,
        rtt: None,
        via: Vec::new(),
        access: None,
        control: None,
        preset: None,
        session: transport::media::MediaParams::default(),
        // Those that answer send most.
        up: false,
        stall_threshold: Duration::ZERO,
    }
}
