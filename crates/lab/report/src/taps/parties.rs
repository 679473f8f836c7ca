//! The ends of flows: names and addresses of the numbers in events.

use measure::{LinkId, flow_name};
use scenario::{Scenario, Traffic, addresses};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use units::{Ecn, FlowId};
use workload::{Carrier, TrafficId};

/// The links of a scenario, and the flows that have started.
pub struct Parties<'a> {
    scenario: &'a Scenario,
    /// Names of queues, in the order of [`LinkId`].
    links: Vec<String>,
    /// Flows so far, by traffic entry.
    started: Vec<u32>,
    flows: BTreeMap<FlowId, Party<'a>>,
}

/// A flow.
#[derive(Clone, Copy)]
pub struct Party<'a> {
    /// The number of its traffic entry.
    pub id: TrafficId,
    /// Its traffic entry.
    pub entry: &'a Traffic,
    /// Its number among the entry's, from 1.
    number: u32,
    /// Its carrier.
    pub carrier: Carrier,
    /// Its end at home.
    pub home: SocketAddrV4,
    /// The other one.
    pub server: SocketAddrV4,
}

impl Party<'_> {
    /// Its name in results.
    pub fn name(&self) -> String {
        flow_name(self.entry, self.number)
    }
}

impl<'a> Parties<'a> {
    /// Without flows.
    pub fn new(scenario: &'a Scenario) -> Self {
        let down = scenario.links.iter().map(|link| link.name.clone());
        let up = scenario.links.iter().rev();
        let up = up.filter(|link| link.up.is_some());
        let up = up.map(|link| format!("{}-up", link.name));
        Parties {
            links: down.chain(up).collect(),
            started: vec![0; scenario.traffic.len()],
            flows: BTreeMap::new(),
            scenario,
        }
    }

    /// Takes note of a flow that starts.
    pub fn start(&mut self, event: &workload::Event) {
        let workload::Event::FlowStarted {
            flow,
            traffic,
            carrier,
            server,
        } = *event
        else {
            return;
        };
        let Some(entry) = self.entry(traffic) else {
            return;
        };
        let started = &mut self.started[usize::from(traffic.0)];
        *started += 1;
        let at = |host: Ipv4Addr| SocketAddrV4::new(host, addresses::port(flow));
        let party = Party {
            id: traffic,
            entry,
            number: *started,
            carrier,
            home: at(addresses::home(&self.scenario.traffic, traffic.0)),
            server: at(addresses::server(entry, server)),
        };
        self.flows.insert(flow, party);
    }

    /// The traffic entry of this number.
    pub fn entry(&self, traffic: TrafficId) -> Option<&'a Traffic> {
        self.scenario.traffic.get(usize::from(traffic.0))
    }

    /// The flow of this number, if it has started.
    pub fn flow(&self, flow: Option<FlowId>) -> Option<&Party<'a>> {
        self.flows.get(&flow?)
    }

    /// The name of a queue.
    pub fn link(&self, link: LinkId) -> &str {
        let name = self.links.get(usize::from(link.0));
        name.map_or("", String::as_str)
    }

    /// Source and destination of a flow's packets at a queue.
    pub fn ends(&self, link: LinkId, party: &Party<'_>) -> [SocketAddrV4; 2] {
        if usize::from(link.0) < self.scenario.links.len() {
            [party.server, party.home]
        } else {
            [party.home, party.server]
        }
    }
}

/// The name of an ECN field in files.
pub const fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotCapable => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}
