//! The host's plan for the guest: one JSON document.
//!
//! The network is a list of commands, made on the host, so that it can be read and tested there.
//! Traffic is the scenario's, written out: parameters as users write them, pages as lists of requests.

use crate::error::{Failure, Tried};
use scenario::{Dscp, Scenario, Traffic};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use transport::media::MediaParams;
use units::param::Value;
use units::{Duration, Rate};
use workload::page::Page;
use workload::{Kind, Library, LibraryError, Registry};

/// All the data that the guest needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Commands that build the network, in order. One that fails ends the run.
    pub commands: Vec<Step>,
    /// The places of sockets.
    pub places: Places,
    /// Delay classes: which priority a socket has for a round trip, nanoseconds.
    pub delays: Vec<Delay>,
    /// Steps of links' rates.
    pub rates: Vec<RateStep>,
    /// The records of packets, if any can be kept.
    pub tap: Option<TapPlan>,
    /// Commands whose output is kept after the run, each with the file's name.
    pub finish: Vec<(String, Vec<String>)>,
    /// The run's seed.
    pub seed: u64,
    /// How long traffic runs.
    pub duration: Duration,
    /// QUIC negotiates ECN; TCP's setting is a sysctl.
    pub ecn: bool,
    /// The traffic entries.
    pub traffic: Vec<PlanEntry>,
}

/// One step of building the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A program with its arguments.
    Run(Vec<String>),
    /// A file under `/proc/sys` of a namespace gets this value.
    Set {
        /// The namespace.
        namespace: String,
        /// The path below `/proc/sys`.
        path: String,
        /// The value written.
        value: String,
    },
}

/// The places of sockets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The namespace of the servers.
    pub net: String,
    /// The namespace of the router.
    pub router: String,
    /// The namespace of the computers at home.
    pub home: String,
}

/// A delay that the network has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Round trip, nanoseconds.
    pub rtt: u64,
    /// Priority of the sockets of servers; a class of the servers' qdisc.
    pub net: u32,
    /// The same at home.
    pub home: u32,
}

/// A link's rate from a moment on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateStep {
    /// When, nanoseconds.
    pub at: u64,
    /// The device in the router's namespace.
    pub device: String,
    /// The class of its `htb`.
    pub class: u32,
    /// Bytes per second.
    pub rate: u64,
    /// Bytes that count in addition to each packet.
    pub overhead: u16,
    /// Bytes that may leave at once.
    pub burst: u32,
}

/// The records of packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapPlan {
    /// The router's devices, in the order of links.
    pub devices: Vec<String>,
    /// The handles of their root qdiscs.
    pub handles: Vec<u32>,
    /// Room for records, KiB, on each processor.
    pub buffer_kib: u64,
    /// The owner of records and probes, if there may be others: a name for C, which tracefs uses
    /// for the probes' group and for an instance.
    pub owner: Option<String>,
}

/// A traffic entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    name: String,
    kind: String,
    settings: Settings,
    session: Settings,
    /// The pages that it loads.
    pages: Vec<Arc<Page>>,
    host: String,
    dscp: u8,
    start: Duration,
    count: u32,
    first: u32,
    stagger: Duration,
    jitter: Duration,
    /// Round trip without queueing and transmission.
    pub rtt: Duration,
    /// The nominal rate of the link in the direction of most of its data.
    pub rate: Rate,
    control: Option<String>,
    up: bool,
}

type Settings = Vec<(String, String)>;

fn owned(values: Vec<(&'static str, String)>) -> Settings {
    let own = |(name, value): (&str, String)| (name.to_owned(), value);
    values.into_iter().map(own).collect()
}

/// The pages that came with the plan, under any name.
struct Carried<'a>(&'a [Arc<Page>]);

impl Library for Carried<'_> {
    fn pages(&self, _: &str) -> Result<Vec<Arc<Page>>, LibraryError> {
        Ok(self.0.to_vec())
    }
}

impl PlanEntry {
    /// The guest's entry for `traffic` in `scenario`.
    pub fn of(traffic: &Traffic, scenario: &Scenario) -> PlanEntry {
        let control = traffic.control.as_ref();
        PlanEntry {
            name: traffic.name.clone(),
            kind: traffic.kind.name().to_owned(),
            settings: owned(traffic.kind.workload.values()),
            session: owned(traffic.session.values()),
            pages: traffic.kind.workload.pages().to_vec(),
            host: traffic.host.clone(),
            dscp: traffic.dscp.bits(),
            start: traffic.start,
            count: traffic.count,
            first: traffic.first,
            stagger: traffic.stagger,
            jitter: traffic.jitter,
            rtt: scenario.paths(traffic)[0].rtt,
            rate: scenario.first_rate(traffic),
            control: control.map(ToString::to_string),
            up: traffic.up,
        }
    }

    /// The entry as scenarios have it.
    ///
    /// # Errors
    /// If a parameter or page is refused, which a plan that was made from a scenario never is.
    pub fn traffic(&self, registry: &Registry) -> Result<Traffic, Failure> {
        let what = format!("entry {:?} of the plan", self.name);
        let entry = registry.get(&self.kind).copied();
        let entry = entry.ok_or_else(|| Failure::new(&what, format!("no kind {:?}", self.kind)))?;
        let workload = (entry.build)(&self.settings, &Carried(&self.pages)).tried(&what)?;
        Ok(Traffic {
            name: self.name.clone(),
            kind: Kind { entry, workload },
            host: self.host.clone(),
            dscp: Dscp::parse(&self.dscp.to_string()).tried(&what)?,
            start: self.start,
            count: self.count,
            first: self.first,
            stagger: self.stagger,
            jitter: self.jitter,
            rtt: Some(self.rtt),
            via: Vec::new(),
            access: None,
            preset: None,
            control: self
                .control
                .as_ref()
                .map(|text| text.parse().tried(&what))
                .transpose()?,
            session: MediaParams::parse(&self.session).tried(&what)?,
            up: self.up,
            // The guest measures nothing.
            stall_threshold: Duration::ZERO,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};

    const SCENARIO: &str = r#"
        disciplines = ["pfifo"]
        link = { rate = "8mbit", rtt = "37.5ms" }
        traffic = [
            { name = "call", kind = "call", control = "copa,delta=0.25", dscp = "ef", fps = 25, session = { payload = 1111 } },
            { name = "bulk", kind = "bulk", size = "1.234567MB", count = 3, stagger = "10us", jitter = "3ms", direction = "up", rtt = "7ms" },
            { name = "page", kind = "page", source = "generated:3", think_scale = 0.3, host = "tv", start = "1s" },
            { name = "flood", kind = "udp", pattern = "bursts", turns = true, count = 2, own_hosts = true },
        ]
    "#;

    #[test]
    fn traffic_comes_out_as_it_went_in() {
        let names = AnyNames::default();
        let document = Document::parse("test", SCENARIO).unwrap();
        let scenario = document.resolve(&names).unwrap();
        for traffic in &scenario.traffic {
            let entry = PlanEntry::of(traffic, &scenario);
            let text = serde_json::to_string(&entry).unwrap();
            let read: PlanEntry = serde_json::from_str(&text).unwrap();
            // Addresses of pages are of the survey's, not of a run's, concern; a preset's values
            // are written out.
            let rtt = Some(scenario.paths(traffic)[0].rtt);
            let expected = Traffic {
                rtt,
                preset: None,
                stall_threshold: Duration::ZERO,
                ..traffic.clone()
            };
            assert_eq!(read.traffic(&Registry::builtin()).unwrap(), expected);
        }
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused() {
        let bad = r#"{"name":"x","kind":"bulk","settings":[["size","much"]],"session":[],"pages":[],
            "host":"x","dscp":0,"start":0,"count":1,"first":0,"stagger":0,"jitter":0,"rtt":0,"rate":0,
            "control":"cubic","up":false}"#;
        let entry: PlanEntry = serde_json::from_str(bad).unwrap();
        let failure = entry.traffic(&Registry::builtin()).unwrap_err().to_string();
        assert!(failure.contains("entry \"x\" of the plan") && failure.contains("size"));
    }
}
