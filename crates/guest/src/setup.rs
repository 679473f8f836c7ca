//! What the plan says of traffic.

use crate::error::{Failure, Tried};
use crate::plan::{Delay, Plan};
use scenario::Traffic;
use transport::Config;
use units::Duration;
use workload::driver::Entry;

/// What the plan says of traffic.
pub struct Setup {
    /// The entries.
    pub traffic: Vec<Traffic>,
    /// The same, as the driver of applications wants it.
    pub entries: Vec<Entry>,
    /// The run's seed.
    pub seed: u64,
    /// QUIC negotiates ECN.
    ecn: bool,
    delays: Vec<Delay>,
}

impl Setup {
    /// Reads the plan.
    pub fn new(plan: &Plan) -> Result<Setup, Failure> {
        let registry = workload::Registry::builtin();
        let read = |entry: &crate::plan::Entry| {
            let traffic = entry.traffic(&registry)?;
            let known = Entry {
                name: traffic.name.clone(),
                kind: traffic.kind.clone(),
                up: traffic.up,
                rtt: entry.rtt,
                rate: entry.rate,
            };
            Ok((traffic, known))
        };
        let read: Result<Vec<_>, Failure> = plan.traffic.iter().map(read).collect();
        let (traffic, entries) = read.tried("the plan")?.into_iter().unzip();
        Ok(Setup {
            traffic,
            entries,
            seed: plan.seed,
            ecn: plan.ecn,
            delays: plan.delays.clone(),
        })
    }

    /// A traffic entry.
    pub fn traffic(&self, entry: u16) -> &Traffic {
        &self.traffic[usize::from(entry)]
    }

    /// What transports that are not the kernel's are told.
    pub fn config(&self) -> Config {
        Config {
            ecn: self.ecn,
            ..Config::linux()
        }
    }

    /// The class of an entry's round trip, which is longer by `extra`.
    pub fn delay(&self, entry: u16, extra: Duration) -> Result<&Delay, Failure> {
        let rtt = self.entries[usize::from(entry)].rtt + extra;
        let found = self.delays.iter().find(|delay| delay.rtt == rtt.as_nanos());
        found.ok_or_else(|| Failure::new("opening a connection", format!("no class has {rtt}")))
    }
}
