//! A controller's pings: traffic entries beside the scenario's, over the links before the followed one.

use super::{entry, ping_name};
use autorate::PingAnswer;
use measure::PacketId;
use scenario::{Link, Reflectors, Traffic, Via};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::random::Stream;
use units::{Duration, FlowId, Instant, Refusal};
use workload::page::Page;
use workload::{BuildError, Kind, Library, LibraryError, TrafficId};

/// IP length of a ping and of its answer, as fping sends them.
const BYTES: u64 = 84;

/// All pings of a run.
#[derive(Debug)]
pub struct Pings {
    /// The number of the scenario's own traffic entries.
    own: usize,
    seed: u64,
    /// By entry, from `own` on.
    reflectors: Vec<Reflector>,
    flows: BTreeMap<FlowId, usize>,
}

/// What answers.
#[derive(Debug)]
struct Reflector {
    /// Whose pings it answers.
    follower: usize,
    number: u8,
    faults: Reflectors,
    chance: Stream,
    /// When the request that it answers next was sent.
    request: Option<Instant>,
    /// Pings and answers that are under way, by number: when the ping was sent, and whether this is it.
    under_way: BTreeMap<u64, (Instant, bool)>,
}

impl Pings {
    /// None yet, beside a scenario's `own` traffic entries.
    pub fn new(own: usize, seed: u64) -> Self {
        Pings {
            own,
            seed,
            reflectors: Vec::new(),
            flows: BTreeMap::new(),
        }
    }

    /// Whether a traffic entry is one of these.
    pub fn has(&self, entry: u16) -> bool {
        usize::from(entry) >= self.own
    }

    /// The pings of a follower, over the links `before` its own: an entry for each of its reflectors.
    ///
    /// # Errors
    /// If the workload refuses its settings.
    pub fn add(
        &mut self,
        follower: usize,
        before: &[Link],
        link: &str,
        faults: &Reflectors,
    ) -> Result<Vec<Traffic>, Refusal> {
        let mut entries = Vec::new();
        let wires = before.iter().map(|link| &link.wire);
        let wires = wires.map(|wire| wire.rtt + wire.delay * 2);
        let rtt = wires.fold(Duration::ZERO, |sum, rtt| sum + rtt);
        let links: Vec<u16> = if faults.blind {
            Vec::new()
        } else {
            (0..before.len() as u16).collect()
        };
        for number in 0..faults.number {
            let name = ping_name(link, number);
            self.reflectors.push(Reflector {
                follower,
                number: number as u8,
                faults: faults.clone(),
                chance: Stream::new(self.seed, &name),
                request: None,
                under_way: BTreeMap::new(),
            });
            let at = Duration::ZERO;
            let start = faults
                .interval
                .scale(u64::from(number), u64::from(faults.number));
            entries.push(Traffic {
                start,
                rtt: Some(rtt),
                via: vec![Via {
                    at,
                    links: links.clone(),
                }],
                ..entry(name, beat(faults.interval)?)
            });
        }
        Ok(entries)
    }

    /// A flow starts: whether it is one of pings.
    pub fn start(&mut self, flow: FlowId, entry: TrafficId) -> bool {
        let place = usize::from(entry.0).checked_sub(self.own);
        self.flows.extend(place.map(|place| (flow, place)));
        place.is_some()
    }

    /// Whether a flow is one of pings.
    pub fn is_flow(&self, flow: FlowId) -> bool {
        self.flows.contains_key(&flow)
    }

    /// Whether a packet is a ping or an answer.
    pub fn is_one(&self, packet: PacketId) -> bool {
        packet.flow.is_some_and(|flow| self.is_flow(flow))
    }

    fn reflector(&mut self, packet: PacketId) -> Option<&mut Reflector> {
        let place = *self.flows.get(&packet.flow?)?;
        self.reflectors.get_mut(place)
    }

    /// A ping or an answer leaves.
    pub fn sent(&mut self, now: Instant, packet: PacketId, up: bool) {
        let Some(reflector) = self.reflector(packet) else {
            return;
        };
        let asked = if up {
            Some(now)
        } else {
            reflector.request.take()
        };
        let asked = asked.map(|at| (packet.number, (at, up)));
        reflector.under_way.extend(asked);
        // Those that a queue dropped.
        while reflector.under_way.len() > MOST {
            reflector.under_way.pop_first();
        }
    }

    /// A ping reaches its reflector; or an answer its controller, whose number it is.
    pub fn arrived(&mut self, now: Instant, packet: PacketId) -> Option<(usize, PingAnswer)> {
        let reflector = self.reflector(packet)?;
        let (asked, up) = reflector.under_way.remove(&packet.number)?;
        if up {
            reflector.request = Some(asked);
            return None;
        }
        let answer = reflector.answer(now, asked)?;
        Some((reflector.follower, answer))
    }
}

/// More pings are not under way at a time: 10 s of the fastest beat.
const MOST: usize = 1000;

impl Reflector {
    fn answer(&mut self, now: Instant, asked: Instant) -> Option<PingAnswer> {
        let faults = &self.faults;
        let noise = self.chance.exponential(faults.noise.as_secs_f64());
        let lie = self.chance.unit() * faults.lie.as_secs_f64();
        let lost = self.chance.unit() < faults.loss.0;
        let vanished = faults.vanish > Duration::ZERO && asked >= Instant::ZERO + faults.vanish;
        (!lost && !vanished).then(|| PingAnswer {
            reflector: self.number,
            round_trip: now.since(asked) + Duration::from_secs_f64(noise + lie),
        })
    }
}

/// Datagrams at a beat, each answered by one as long.
fn beat(interval: Duration) -> Result<Kind, Refusal> {
    let rate = BYTES * 8 * 1_000_000_000 / interval.as_nanos();
    let settings = [
        ("rate", format!("{rate}bit")),
        ("packet", format!("{BYTES}B")),
        ("answer", format!("{BYTES}B")),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value));
    let entry = workload::udp::ENTRY;
    let workload = (entry.build)(&settings, &NoPages).map_err(|error| match error {
        BuildError::Param(refusal) => refusal,
        BuildError::Library { error, .. } => Refusal::new(error.message),
    })?;
    Ok(Kind { entry, workload })
}

/// Pings load no pages.
struct NoPages;

impl Library for NoPages {
    fn pages(&self, source: &str) -> Result<Vec<Arc<Page>>, LibraryError> {
        Err(LibraryError {
            file: None,
            message: format!("{source}: there are no pages here"),
            help: "name none".to_owned(),
        })
    }
}
