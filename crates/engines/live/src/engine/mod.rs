//! The engine `live`: a scenario's applications over this host's sockets, in real time, and its link in
//! this process.
//!
//! Two network namespaces, one for servers and one for computers at home, have a TUN device each;
//! packets from one of them go through our own link to the other. All of it is held by this process
//! and disappears with it, however it ends.

#[cfg(feature = "webrtc")]
mod calls;
#[cfg(not(feature = "webrtc"))]
#[path = "no_calls.rs"]
mod calls;
mod carrier;
mod network;
mod place;

use crate::Error;
use crate::clock::Clock;
use carrier::Carrier;
use guest::Stage;
use measure::{BuiltLink, Engine, EngineError, Event, Sink, Unsupported, build};
use network::{Network, Parcel, RoundTrips};
use place::{Namespace, Side};
use qdisc::{Env, Registry};
use scenario::{Choice, Scenario};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::{scope, spawn};
use units::{Duration, Instant, Refusal};

/// The engine. Its runs are one at a time: they would share the processors.
#[derive(Default)]
pub struct LiveEngine {
    running: Mutex<()>,
}

/// A thread of ours does not panic; if it does, so does the run.
const JOINED: &str = "a thread of the engine ends by itself";

impl Engine for LiveEngine {
    fn name(&self) -> &'static str {
        "live"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        let mut found = guest::unsupported(scenario);
        let mut refuse = |entry: &str, refusal: Refusal| {
            let entry = entry.to_owned();
            found.push(Unsupported { entry, refusal });
        };
        if scenario.links.len() != 1 {
            refuse(
                "links",
                Refusal::new("there is one bottleneck, not a chain of them"),
            );
        }
        for (entry, refusal) in calls::refused(scenario) {
            refuse(&entry, refusal);
        }
        let registry = Registry::<Parcel>::builtin();
        for choice in &scenario.disciplines {
            if let Err(refusal) = registry.build(choice, &Env::default()) {
                refuse("disciplines", refusal);
            }
        }
        found
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        if let Some(unsupported) = self.check(scenario).into_iter().next() {
            return Err(unsupported.into());
        }
        let built = build::links(&Registry::builtin(), scenario, discipline, seed)?;
        let round_trips = RoundTrips::new();
        let own_delay = scenario.links[0].wire.delay;
        let network = Network::new(built.links, own_delay, round_trips.clone());
        let alone = self.running.lock();
        let ran = run(scenario, seed, network, round_trips);
        drop(alone);
        let mut ran = ran.map_err(|error| EngineError {
            entry: "engine live".to_owned(),
            refusal: Refusal::new(error.message).with_help(error.help),
        })?;
        ran.events.sort_by_key(|(now, _)| *now);
        let end = Instant::ZERO + scenario.duration;
        for (now, event) in ran.events.into_iter().take_while(|(now, _)| *now < end) {
            sink.event(now, &event);
        }
        let mut described = built.described;
        for (link, described) in ran.links.iter().zip(&mut described) {
            described.children = link.queue().children();
            described.remarks.push(("engine", ran.remark.clone()));
            described.doubt.clone_from(&ran.doubt);
        }
        Ok(described)
    }
}

/// The outcome of a run.
struct Ran {
    events: Vec<(Instant, Event)>,
    links: Vec<link::Link<Parcel>>,
    remark: String,
    doubt: Option<String>,
}

/// The shortest round trip of the traffic, which lateness changes the most.
fn shortest(scenario: &Scenario) -> Duration {
    let own = scenario.traffic.iter().filter_map(|entry| entry.rtt);
    own.fold(scenario.rtt, Duration::min)
}

fn run(
    scenario: &Scenario,
    seed: u64,
    network: Network,
    round_trips: RoundTrips,
) -> Result<Ran, Error> {
    let ecn = scenario.ecn;
    // Each in a thread of its own, which is in the namespace then.
    let make = |side| {
        spawn(move || Namespace::make(side, ecn))
            .join()
            .expect(JOINED)
    };
    let (net, home) = (make(Side::Net)?, make(Side::Home)?);
    let clock = Clock::start();
    let stage = Stage {
        net: net.namespace,
        home: home.namespace,
        origin: clock.origin(),
        opened: Box::new(move |flow, rtt| round_trips.set(flow, rtt)),
    };
    let carrier = Carrier::new(clock, network, net.tun, home.tun)?;
    let stop = AtomicBool::new(false);
    scope(|scope| {
        let carrying = scope.spawn(|| carrier.carry(&stop));
        let playing = scope.spawn(|| calls::play(scenario, seed, stage));
        let played = playing.join().expect(JOINED);
        stop.store(true, core::sync::atomic::Ordering::Release);
        let carried = carrying.join().expect(JOINED)?;
        let log = played.map_err(|message| Error::new(message, "begin again"))?;
        let (remark, doubt) = (carried.remark(), carried.doubt(shortest(scenario)));
        let (packets, links) = carried.network.end();
        let told = log.events().map(|(now, said)| (now, Event::from(said)));
        let mut events: Vec<_> = told.collect();
        events.extend(packets);
        Ok(Ran {
            events,
            links,
            remark,
            doubt,
        })
    })
}
