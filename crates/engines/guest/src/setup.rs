//! The plan's settings of traffic.

use crate::error::{Failure, Tried};
use crate::plan::{self, Delay};
use crate::socket::Marking;
use scenario::Traffic;
use transport::{Config, Endpoint};
use units::{Duration, FlowId, Instant, Refusal};
use workload::driver::{OpenedFlow, TrafficEntry};

/// The plan's settings of traffic.
pub struct GuestSetup {
    /// The entries.
    pub traffic: Vec<Traffic>,
    /// The same, as the driver of applications needs it.
    pub entries: Vec<TrafficEntry>,
    /// The run's seed.
    pub seed: u64,
    /// QUIC negotiates ECN.
    ecn: bool,
    delays: Delays,
    /// Makes the ends of calls, if they are not this project's own.
    pub sessions: Option<Sessions>,
}

/// Makes both ends of a call of an entry, the sender first.
pub type Sessions = Box<dyn Fn(Instant, &Traffic) -> Result<[Endpoint; 2], Refusal>>;

/// The component that delays packets: how it learns the delay.
pub enum Delays {
    /// By the priority of a socket, which is the class of a round trip.
    Classes(Vec<Delay>),
    /// It is called before a flow begins, with its number and its round trip.
    Told(Box<dyn Fn(FlowId, Duration) + Send>),
}

impl GuestSetup {
    /// Reads the entries of a plan.
    pub fn new(
        entries: &[plan::PlanEntry],
        seed: u64,
        ecn: bool,
        delays: Delays,
    ) -> Result<GuestSetup, Failure> {
        let registry = workload::Registry::builtin();
        let read = |entry: &plan::PlanEntry| {
            let traffic = entry.traffic(&registry)?;
            let known = TrafficEntry {
                name: traffic.name.clone(),
                kind: traffic.kind.clone(),
                first: traffic.first,
                up: traffic.up,
                rtt: entry.rtt,
                rate: entry.rate,
            };
            Ok((traffic, known))
        };
        let read: Result<Vec<_>, Failure> = entries.iter().map(read).collect();
        let (traffic, entries) = read.tried("the plan")?.into_iter().unzip();
        Ok(GuestSetup {
            traffic,
            entries,
            seed,
            ecn,
            delays,
            sessions: None,
        })
    }

    /// A traffic entry.
    pub fn traffic(&self, entry: u16) -> &Traffic {
        &self.traffic[usize::from(entry)]
    }

    /// The configuration of transports that are not the kernel's.
    pub fn config(&self) -> Config {
        Config {
            ecn: self.ecn,
            ..Config::linux()
        }
    }

    /// The markings of a flow's packets: those of its end at home, and of its server's.
    pub fn markings(&self, flow: &OpenedFlow) -> Result<[Marking; 2], Failure> {
        let tos = self.traffic(flow.entry).dscp.bits() << 2;
        let rtt = self.entries[usize::from(flow.entry)].rtt + flow.extra_rtt;
        let (home, net) = match &self.delays {
            Delays::Told(tell) => {
                tell(flow.flow, rtt);
                (0, 0)
            }
            Delays::Classes(delays) => {
                let found = delays.iter().find(|delay| delay.rtt == rtt.as_nanos());
                let missing =
                    || Failure::new("opening a connection", format!("no class has {rtt}"));
                found
                    .map(|delay| (delay.home, delay.net))
                    .ok_or_else(missing)?
            }
        };
        Ok([home, net].map(|priority| Marking { priority, tos }))
    }
}
