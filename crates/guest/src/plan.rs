//! What the host tells the guest: one JSON document.
//!
//! The network is a list of commands, made on the host, so that it can be read and tested there.
//! Traffic is the scenario's, written out: parameters as users write them, pages as lists of requests.

use crate::error::{Failure, Tried};
use scenario::{Dscp, Kind, Traffic};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use transport::media::MediaParams;
use units::param::Value;
use units::{Bytes, Duration, Rate};
use workload::bulk::BulkParams;
use workload::call::CallParams;
use workload::page::{After, Origin, Page, PageParams, Protocol, Request};

/// Everything that the guest has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Commands that build the network, in order. One that fails ends the run.
    pub commands: Vec<Step>,
    /// Where sockets are made.
    pub places: Places,
    /// Delay classes: which priority a socket has for a round trip, nanoseconds.
    pub delays: Vec<Delay>,
    /// Steps of links' rates.
    pub rates: Vec<RateStep>,
    /// What is recorded of packets, if anything can be.
    pub tap: Option<TapPlan>,
    /// Commands whose output is kept after the run, each with the file's name.
    pub finish: Vec<(String, Vec<String>)>,
    /// The run's seed.
    pub seed: u64,
    /// How long traffic runs, nanoseconds.
    pub duration: u64,
    /// The scenario's round trip, nanoseconds.
    pub rtt: u64,
    /// QUIC negotiates ECN; TCP is told by a sysctl.
    pub ecn: bool,
    /// Who sends what.
    pub traffic: Vec<Entry>,
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
        /// What is written.
        value: String,
    },
}

/// Where sockets are made.
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
    /// Bytes that count beside each packet.
    pub overhead: u16,
    /// Bytes that may leave at once.
    pub burst: u32,
}

/// What is recorded of packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapPlan {
    /// The router's devices, in the order of links.
    pub devices: Vec<String>,
    /// The handles of their root qdiscs.
    pub handles: Vec<u32>,
    /// Room for records, KiB, on each processor.
    pub buffer_kib: u64,
    /// Whose records and probes they are, where others may have some: a name for C, which tracefs
    /// takes for the probes' group and for an instance.
    pub owner: Option<String>,
}

/// A traffic entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    name: String,
    kind: EntryKind,
    host: String,
    dscp: u8,
    start: u64,
    count: u32,
    stagger: u64,
    jitter: u64,
    rtt: Option<u64>,
    control: String,
    up: bool,
}

type Settings = Vec<(String, String)>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum EntryKind {
    Call(Settings, Settings),
    Page(Settings, Vec<WrittenPage>),
    Bulk(Settings),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenPage {
    name: String,
    /// Secure, host, port, version of HTTP.
    origins: Vec<(bool, String, u16, u8)>,
    requests: Vec<WrittenRequest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenRequest {
    origin: u32,
    request: u64,
    response: u64,
    think: u64,
    delay: u64,
    /// The request that it waits for, and whether for all of it.
    after: Option<(u32, bool)>,
}

fn owned(values: Vec<(&'static str, String)>) -> Settings {
    let own = |(name, value): (&str, String)| (name.to_owned(), value);
    values.into_iter().map(own).collect()
}

impl From<&Traffic> for Entry {
    fn from(traffic: &Traffic) -> Entry {
        let kind = match &traffic.kind {
            Kind::Call(call, media) => EntryKind::Call(owned(call.values()), owned(media.values())),
            Kind::Page { params, pages } => EntryKind::Page(
                owned(params.values()),
                pages
                    .iter()
                    .map(|page| WrittenPage::from(&**page))
                    .collect(),
            ),
            Kind::Bulk(params) => EntryKind::Bulk(owned(params.values())),
        };
        Entry {
            name: traffic.name.clone(),
            kind,
            host: traffic.host.clone(),
            dscp: traffic.dscp.bits(),
            start: traffic.start.as_nanos(),
            count: traffic.count,
            stagger: traffic.stagger.as_nanos(),
            jitter: traffic.jitter.as_nanos(),
            rtt: traffic.rtt.map(Duration::as_nanos),
            control: traffic.control.to_string(),
            up: traffic.up,
        }
    }
}

impl Entry {
    /// The entry as scenarios have it.
    ///
    /// # Errors
    /// If a parameter or page is refused, which a plan that was made from a scenario never is.
    pub fn traffic(&self) -> Result<Traffic, Failure> {
        let what = format!("entry {:?} of the plan", self.name);
        let kind = match &self.kind {
            EntryKind::Call(call, media) => Kind::Call(
                CallParams::parse(call).tried(&what)?,
                MediaParams::parse(media).tried(&what)?,
            ),
            EntryKind::Page(params, pages) => Kind::Page {
                params: PageParams::parse(params).tried(&what)?,
                pages: pages
                    .iter()
                    .map(|page| page.page().map(Arc::new))
                    .collect::<Result<_, _>>()
                    .tried(&what)?,
            },
            EntryKind::Bulk(params) => Kind::Bulk(BulkParams::parse(params).tried(&what)?),
        };
        Ok(Traffic {
            name: self.name.clone(),
            kind,
            host: self.host.clone(),
            dscp: Dscp::parse(&self.dscp.to_string()).tried(&what)?,
            start: Duration::from_nanos(self.start),
            count: self.count,
            stagger: Duration::from_nanos(self.stagger),
            jitter: Duration::from_nanos(self.jitter),
            rtt: self.rtt.map(Duration::from_nanos),
            access: None::<Rate>,
            control: self.control.parse().tried(&what)?,
            up: self.up,
        })
    }
}

impl From<&Page> for WrittenPage {
    fn from(page: &Page) -> WrittenPage {
        let origin = |origin: &Origin| {
            let protocol = match origin.protocol {
                Protocol::H1 => 1,
                Protocol::H2 => 2,
                Protocol::H3 => 3,
            };
            (origin.secure, origin.host.clone(), origin.port, protocol)
        };
        let request = |request: &Request| WrittenRequest {
            origin: request.origin,
            request: request.request.get(),
            response: request.response.get(),
            think: request.think.as_nanos(),
            delay: request.delay.as_nanos(),
            after: match request.after {
                After::Navigation => None,
                After::FirstPart(parent) => Some((parent, false)),
                After::Done(parent) => Some((parent, true)),
            },
        };
        WrittenPage {
            name: page.name().to_owned(),
            origins: page.origins().iter().map(origin).collect(),
            requests: page.requests().iter().map(request).collect(),
        }
    }
}

impl WrittenPage {
    fn page(&self) -> Result<Page, workload::page::PageError> {
        let origin = |(secure, host, port, protocol): &(bool, String, u16, u8)| Origin {
            secure: *secure,
            host: host.clone(),
            port: *port,
            protocol: match protocol {
                1 => Protocol::H1,
                2 => Protocol::H2,
                _ => Protocol::H3,
            },
        };
        let request = |request: &WrittenRequest| Request {
            origin: request.origin,
            request: Bytes::new(request.request),
            response: Bytes::new(request.response),
            think: Duration::from_nanos(request.think),
            delay: Duration::from_nanos(request.delay),
            after: match request.after {
                None => After::Navigation,
                Some((parent, false)) => After::FirstPart(parent),
                Some((parent, true)) => After::Done(parent),
            },
        };
        let origins = self.origins.iter().map(origin).collect();
        let requests = self.requests.iter().map(request).collect();
        Page::new(&self.name, origins, requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Document, Names};

    const SCENARIO: &str = r#"
        disciplines = ["pfifo"]
        link = { rate = "8mbit", rtt = "37.5ms" }
        traffic = [
            { name = "call", kind = "call", control = "copa,delta=0.25", dscp = "ef", fps = 25, session = { payload = 1111 } },
            { name = "bulk", kind = "bulk", size = "1.234567MB", count = 3, stagger = "10us", jitter = "3ms", direction = "up", rtt = "7ms" },
            { name = "page", kind = "page", source = "generated:3", think_scale = 0.3, host = "tv", start = "1s" },
        ]
    "#;

    #[test]
    fn traffic_comes_out_as_it_went_in() {
        let names = Names {
            discipline: &|_| Ok(()),
            control: &|_| Ok(()),
        };
        let document = Document::parse("test", SCENARIO).unwrap();
        let scenario = document.resolve(&names).unwrap();
        for traffic in &scenario.traffic {
            let entry = Entry::from(traffic);
            let text = serde_json::to_string(&entry).unwrap();
            let read: Entry = serde_json::from_str(&text).unwrap();
            // Addresses of pages are of the survey's, not of a run's, concern.
            assert_eq!(read.traffic().unwrap(), *traffic);
        }
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused() {
        let bad = r#"{"name":"x","kind":{"Bulk":[["size","much"]]},"host":"x","dscp":0,"start":0,
            "count":1,"stagger":0,"jitter":0,"rtt":null,"control":"cubic","up":false}"#;
        let entry: Entry = serde_json::from_str(bad).unwrap();
        let failure = entry.traffic().unwrap_err().to_string();
        assert!(failure.contains("entry \"x\" of the plan") && failure.contains("size"));
    }
}
