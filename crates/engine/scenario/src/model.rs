//! A scenario, resolved: every file read, every unit parsed, every default filled in.

use crate::dscp::Dscp;
use crate::files::Incomplete;
use crate::read::words;
use crate::reflectors::Reflectors;
use crate::wire::Wire;
use core::fmt;
use link::Capacity;
use qdisc::Limit;
use transport::media::MediaParams;
use units::param::Value;
use units::random::Stream;
use units::{Bytes, Choice, Duration, ParseError, Rate, Refusal};
use workload::Kind;

/// The scenario to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its subject, in a sentence.
    pub summary: String,
    /// How long it runs.
    pub duration: Duration,
    /// Events before this are not measured.
    pub warmup: Duration,
    /// The operating system whose transport settings end hosts have.
    pub stack: Stack,
    /// TCP and QUIC negotiate ECN (RFC 3168).
    pub ecn: bool,
    /// TCP is paced also under controls that name no rate.
    pub pacing: bool,
    /// The first queue of a packet's way is on its sender's own computer, and TCP holds back
    /// packets that would wait in it for more than a millisecond (Linux: TCP small queues).
    pub small_queues: bool,
    /// Receivers of TCP and QUIC acknowledge at the latest after so many full packets.
    pub ack_every: u32,
    /// Room that receivers of TCP and QUIC grant.
    pub receive_window: Bytes,
    /// How often results note what senders are at, if they do.
    pub senders: Option<Duration>,
    /// Each packet leaves its sender up to so much later than it would, in order.
    pub noise: Duration,
    /// A frame later than this is late, where its entry and the entry's preset name no other threshold
    /// (190 ms, ITU-T G.1070 as the Confucius paper has it).
    pub stall_threshold: Duration,
    /// Round trip of all traffic, without queueing and transmission.
    pub rtt: Duration,
    /// Links from the internet towards the home, in order.
    pub links: Vec<Link>,
    /// The traffic entries.
    pub traffic: Vec<Traffic>,
    /// The disciplines to compare.
    pub disciplines: Vec<Choice>,
    /// Metrics that follow the run themselves and are asked for.
    pub metrics: Vec<String>,
    /// The recorded pages' files that are not replayed as a whole.
    pub incomplete: Vec<Incomplete>,
}

impl Scenario {
    /// The disciplines to compare, and those that links have of their own.
    pub fn every_discipline(&self) -> impl Iterator<Item = &Choice> {
        let of_links = self.links.iter().flat_map(|link| {
            let up = link.up.as_ref().and_then(|up| up.discipline.as_ref());
            link.discipline.iter().chain(up)
        });
        self.disciplines.iter().chain(of_links)
    }
}

/// A way through a scenario's links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// From when on.
    pub at: Duration,
    /// The links, by their places, towards the home.
    pub links: Vec<u16>,
    /// Round trip without queueing and transmission.
    pub rtt: Duration,
    /// The part of one way that links take themselves.
    pub delay: Duration,
}

impl Scenario {
    /// The paths of a traffic entry's packets, the first from the start on.
    pub fn paths(&self, traffic: &Traffic) -> Vec<Path> {
        let all = Via {
            at: Duration::ZERO,
            links: (0..self.links.len() as u16).collect(),
        };
        let vias = match traffic.via.as_slice() {
            [] => core::slice::from_ref(&all),
            some => some,
        };
        let path = |via: &Via| {
            let links = || via.links.iter().map(|link| &self.links[usize::from(*link)]);
            let sum =
                |of: fn(&Link) -> Duration| links().map(of).fold(Duration::ZERO, |a, b| a + b);
            let delay = sum(|link| link.wire.delay);
            let own = sum(|link| link.wire.rtt) + delay * 2;
            Path {
                at: via.at,
                links: via.links.clone(),
                rtt: traffic.rtt.unwrap_or(own),
                delay,
            }
        };
        vias.iter().map(path).collect()
    }

    /// The nominal rate of the first link that most of a traffic entry's data passes.
    pub fn first_rate(&self, traffic: &Traffic) -> Rate {
        let path = &self.paths(traffic)[0];
        let links = path
            .links
            .iter()
            .map(|link| &self.links[usize::from(*link)]);
        let capacity = if traffic.up {
            links
                .rev()
                .find_map(|link| Some(&link.up.as_ref()?.capacity))
        } else {
            links.map(|link| &link.capacity).next()
        };
        capacity.map(Capacity::nominal).unwrap_or_default()
    }

    /// The queues that a packet on a path over `links` passes in the direction `up`, as results number
    /// queues: the links of the scenario in order, then their uplinks, the one nearest to the home
    /// first.
    pub fn queues(&self, links: &[u16], up: bool) -> Vec<u16> {
        if !up {
            return links.to_vec();
        }
        let mut next = self.links.len() as u16;
        let mut queues = Vec::new();
        for (place, link) in self.links.iter().enumerate().rev() {
            let place = place as u16;
            if link.up.is_some() {
                if links.contains(&place) {
                    queues.push(next);
                }
                next += 1;
            }
        }
        queues
    }

    /// The entry of the first link whose rate is followed, and why an engine that follows none cannot
    /// run it.
    pub fn followed(&self) -> Option<(String, Refusal)> {
        let link = self.links.iter().find(|link| link.follow.is_some())?;
        let refusal = Refusal::new("only the engine sim follows a link's rate");
        let refusal = refusal.with_help("choose it with --engine sim, or leave autorate out");
        Some((format!("link.{}.autorate", link.name), refusal))
    }

    /// The transport settings of all end hosts.
    pub fn transport(&self) -> transport::Config {
        transport::Config {
            ecn: self.ecn,
            pacing: self.pacing,
            small_queues: self.small_queues,
            ack_every: self.ack_every,
            receive_window: self.receive_window.get(),
            ..self.stack.config()
        }
    }
}

words! {
    /// The operating system whose transport settings end hosts have.
    Stack, "stack", "\"linux\", \"ns3\" or \"webrtc\"":
    /// Linux: 200 ms minimum RTO, RACK-TLP.
    Linux = "linux";
    /// ns-3.37: 1 s minimum RTO, duplicate acknowledgements.
    Ns3 = "ns3";
    /// Linux's, and calls over a real WebRTC stack, which only the engine `live` has.
    WebRtc = "webrtc";
}

impl Stack {
    /// Why an engine without a real WebRTC stack cannot run it.
    pub fn needs_webrtc(self) -> Option<Refusal> {
        let refusal = || Refusal::new("only the engine live has a real WebRTC stack");
        (self == Stack::WebRtc)
            .then(|| refusal().with_help("choose it with --engine live, or leave stack out"))
    }

    /// Its settings.
    pub fn config(self) -> transport::Config {
        match self {
            Stack::Linux | Stack::WebRtc => transport::Config::linux(),
            Stack::Ns3 => transport::Config::ns3(),
        }
    }
}

/// A link towards the home, and its counterpart in the other direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// What its wire does to packets.
    pub wire: Wire,
    /// What it can carry.
    pub capacity: Capacity,
    /// The room that its owner gave the queue; the discipline's own default otherwise.
    pub buffer: Option<Buffer>,
    /// Its own discipline; the one under test otherwise.
    pub discipline: Option<Choice>,
    /// The other direction; without it, that direction only delays.
    pub up: Option<Uplink>,
    /// What follows its rate, in both directions; without it the rate is the link's own.
    pub follow: Option<Follow>,
}

impl Link {
    /// A wire that does nothing to packets, and no other direction: for options to fill.
    pub fn unlimited(name: &str) -> Self {
        Link {
            name: name.to_owned(),
            wire: Wire::default(),
            capacity: Capacity::Unlimited,
            buffer: None,
            discipline: None,
            up: None,
            follow: None,
        }
    }
}

/// What finds a link's rate: the link's own is then the most that its port can carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Follow {
    /// The controller.
    pub controller: Choice,
    /// What answers its pings.
    pub reflectors: Reflectors,
}

/// The direction away from the home.
#[derive(Debug, Clone, PartialEq)]
pub struct Uplink {
    /// Its capacity.
    pub capacity: Capacity,
    /// The room of its queue; the discipline's own default otherwise.
    pub buffer: Option<Buffer>,
    /// Its own discipline; the one under test otherwise.
    pub discipline: Option<Choice>,
}

/// Room for packets.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Buffer {
    /// In packets.
    Packets(u32),
    /// In bytes.
    Bytes(u64),
    /// In thousandths of nominal rate times round trip.
    MilliBdp(u64),
}

impl Buffer {
    /// The buffer as a limit, for a link of `rate` on a path of `rtt`.
    pub fn limit(self, rate: Rate, rtt: Duration) -> Limit {
        match self {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::MilliBdp(thousandths) => {
                Limit::Bytes((rate.bytes_in(rtt).saturating_mul(thousandths) / 1000).max(1500))
            }
        }
    }
}

/// An entry of the scenario's traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The computer in the house that it runs on: entries with the same name share one.
    pub host: String,
    /// The code point that its packets carry, in both directions.
    pub dscp: Dscp,
    /// When it starts.
    pub start: Duration,
    /// How many of the same there are.
    pub count: u32,
    /// The place of the first of them among those that are written as one entry, from 0.
    pub first: u32,
    /// How much later each of them starts than the one before.
    pub stagger: Duration,
    /// Each starts up to this much later than that; the seed decides how much.
    pub jitter: Duration,
    /// Its round trip, if it differs from the scenario's.
    pub rtt: Option<Duration>,
    /// The links that its packets pass from a time on; all of them, in a row, if empty.
    pub via: Vec<Via>,
    /// The sender's own link, if it matters: bursts leave at this rate.
    pub access: Option<Rate>,
    /// The congestion control of the end that sends most; none if nothing is controlled.
    pub control: Option<Choice>,
    /// The settings that it began from, if the workload has them.
    pub preset: Option<&'static str>,
    /// The media session that carries it, if any.
    pub session: MediaParams,
    /// It sends away from the home.
    pub up: bool,
    /// Its frames later than this are late, if it has frames.
    pub stall_threshold: Duration,
}

/// A path from a time on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Via {
    /// From when on.
    pub at: Duration,
    /// The links, by their places, towards the home.
    pub links: Vec<u16>,
}

impl Traffic {
    /// When each of them starts in the run of `seed`.
    pub fn starts(&self, seed: u64) -> impl Iterator<Item = Duration> {
        let mut chance = Stream::new(seed, &format!("{} start", self.name));
        (0..self.count).map(move |number| {
            let late = chance.below(self.jitter.as_nanos());
            self.start + self.stagger * u64::from(number) + Duration::from_nanos(late)
        })
    }
}
