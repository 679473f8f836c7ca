//! Parameters of `mencius`.

use crate::Hosts;
use crate::registry::Home;
use crate::shaper::{Atm, Bandwidth, Overhead};
use units::param::Value;
use units::{Bytes, Duration, ParseError};

units::params! {
    /// Parameters of `mencius`. None of them has to be known by whoever uses it.
    pub struct MenciusParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "10240", range "1".."1000000", source "Linux sch_fq_codel.c";
        /// Limit of the backlog, in bytes.
        memory_limit: Bytes = "32MiB", range "4kB".."1GB", source "Linux sch_fq_codel.c";
        /// Number of flows that are told apart, and of an eighth as many hosts. Fixed once there is a
        /// queue.
        flows: u32 = "4096", range "8".."65536", source "decision 0015";
        /// Addresses that stand for hosts, which should be those of the home: the senders' (source),
        /// the receivers' (destination), or no addresses (none): then only flows share the link. A
        /// scenario's link knows its side.
        hosts: HomeSide = "none", source "tc-cake(8): dual-srchost, dual-dsthost, flows";
        /// Bytes that a flow may send before the next flow's turn, and a host before the next
        /// host's.
        quantum: u32 = "1514", range "256".."65536", source "RFC 8290, 5.2.4";
        /// Acceptable standing delay of a flow: this, or the time of four full packets if that is
        /// longer.
        target: Duration = "20ms", range "1us".."10s", source "decision 0015";
        /// Time for which the delay may stay above the target before the first packet is dropped or
        /// marked.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8289, 4.2";
        /// Mark instead of dropping if the packet allows it.
        ecn: bool = "yes", source "RFC 8290, 5.2.6";
        /// Time that a packet of a settled flow waits before other flows are held back for it.
        min_wait: Duration = "20ms", range "1ms".."1s", source "decision 0015", formerly "low";
        /// Longest time that such a packet waits while other flows are held back. At least `min_wait`.
        max_wait: Duration = "80ms", range "1ms".."1s", source "decision 0015", formerly "hold";
        /// Time in which the permitted wait rises from `min_wait` to `max_wait`.
        rise: Duration = "400ms", range "1ms".."10s", source "decision 0015";
        /// Time in which the smallest share of other flows, compared with settled ones,
        /// doubles.
        doubling: Duration = "3s", range "10ms".."1min", source "decision 0015";
        /// Share of what their host sends, in parts of 256, that settled flows may take
        /// whenever they wait.
        settled_share: u32 = "128", range "0".."256", source "decision 0015", formerly "part";
        /// The rate at which packets leave, or unlimited: packets then leave whenever the link
        /// takes them.
        bandwidth: Bandwidth = "unlimited", source "tc-cake(8)";
        /// Bytes that the link behind the shaper adds to each packet, if there is a bandwidth.
        overhead: Overhead = "0", range "-64".."256", source "tc-cake(8)";
        /// Smallest number of bytes that a packet takes on that link.
        mpu: u32 = "0", range "0".."256", source "tc-cake(8)";
        /// Framing of that link: noatm, atm (cells of 48 bytes in 53) or ptm (64 bytes in 65).
        framing: Atm = "noatm", source "tc-cake(8)";
        /// For shaping behind the bottleneck, where downloads are settled, too: signal settled
        /// flows above `target`, and count packets that the AQM drops against the bandwidth.
        ingress: bool = "no", source "tc-cake(8): egress; decision 0015";
    }
}

/// Which of a packet's addresses is the home's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum HomeSide {
    /// No side: flows alone share the link.
    None,
    /// The receiver's: a downlink.
    Destination,
    /// The sender's: an uplink.
    Source,
}

impl HomeSide {
    /// The hash that stands for the host of a packet, and whether it may become another one.
    pub(super) const fn host(self, hosts: Hosts) -> (u32, bool) {
        match self {
            HomeSide::None => (0, false),
            HomeSide::Destination => (hosts.destination, hosts.provisional),
            HomeSide::Source => (hosts.source, hosts.provisional),
        }
    }
}

impl From<Home> for HomeSide {
    fn from(home: Home) -> Self {
        match home {
            Home::Senders => HomeSide::Source,
            Home::Receivers => HomeSide::Destination,
        }
    }
}

impl Value for HomeSide {
    const KIND: &'static str = "none, destination or source";

    fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "none" => Ok(HomeSide::None),
            "destination" => Ok(HomeSide::Destination),
            "source" => Ok(HomeSide::Source),
            _ => Err(ParseError::new(text, Self::KIND)),
        }
    }
}

impl core::fmt::Display for HomeSide {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            HomeSide::None => "none",
            HomeSide::Destination => "destination",
            HomeSide::Source => "source",
        })
    }
}
