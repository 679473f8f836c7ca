//! Parameters of `mencius`.

use crate::shaper::{Atm, Bandwidth, Overhead};
use units::param::Value;
use units::{Bytes, Duration, ParseError};

units::params! {
    /// Parameters of `mencius`. None of them has to be known by whoever uses it.
    pub struct MenciusParams {
        /// Packets that may wait.
        limit: u32 = "10240", range "1".."1000000", source "Linux sch_fq_codel.c";
        /// Bytes of packets that may wait.
        memory_limit: Bytes = "32MiB", range "4kB".."1GB", source "Linux sch_fq_codel.c";
        /// Flows that are told apart, and a quarter as many hosts. Fixed once there is a queue.
        flows: u32 = "1024", range "8".."65536", source "RFC 8290, 5.2.5";
        /// Whose addresses stand for hosts: the senders', the receivers', nobody's, or whichever are
        /// fewer.
        hosts: Side = "auto", source "ours";
        /// Bytes that a flow may send before it is the next one's turn, and a host.
        quantum: u32 = "1514", range "256".."65536", source "RFC 8290, 5.2.4";
        /// What packets of a flow may wait for good: this, or the time of four full packets.
        target: Duration = "20ms", range "1us".."10s", source "decision 0015";
        /// How long they may wait for longer before the first is dropped or marked.
        interval: Duration = "100ms", range "1us".."100s", source "RFC 8289, 4.2";
        /// Mark instead of dropping where the packet allows it.
        ecn: bool = "yes", source "RFC 8290, 5.2.6";
        /// What a packet of an established flow waits before others are held back for it.
        low: Duration = "20ms", range "1ms".."1s", source "decision 0015";
        /// The most that it waits while others are held back. At least `low`.
        hold: Duration = "100ms", range "1ms".."1s", source "decision 0015";
        /// In this time the wait is let rise from `low` to `hold`.
        rise: Duration = "400ms", range "1ms".."10s", source "decision 0015";
        /// In this time the least that others get beside established flows doubles.
        doubling: Duration = "3s", range "10ms".."1min", source "decision 0015";
        /// Parts of 256 of what its host sends that established flows may take whenever they wait.
        part: u32 = "128", range "0".."256", source "decision 0015";
        /// The rate at which packets leave, or unlimited: then whenever the link takes them.
        bandwidth: Bandwidth = "unlimited", source "tc-cake(8)";
        /// Bytes that the link behind adds to each packet, where there is a bandwidth.
        overhead: Overhead = "0", range "-64".."256", source "tc-cake(8)";
        /// The least that a packet takes of that link, bytes.
        mpu: u32 = "0", range "0".."256", source "tc-cake(8)";
        /// How that link cuts packets: noatm, atm (cells of 48 bytes in 53) or ptm (64 bytes in 65).
        framing: Atm = "noatm", source "tc-cake(8)";
        /// What the AQM drops counts against the bandwidth too: for shaping behind the bottleneck.
        ingress: bool = "no", source "tc-cake(8): egress";
    }
}

/// Which of a packet's addresses is the home's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Side {
    /// The side with fewer addresses seen lately.
    Auto,
    /// The receiver's: a downlink.
    Destination,
    /// The sender's: an uplink.
    Source,
    /// No side: flows alone share the link.
    None,
}

impl Value for Side {
    const KIND: &'static str = "auto, destination, source or none";

    fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "auto" => Ok(Side::Auto),
            "destination" => Ok(Side::Destination),
            "source" => Ok(Side::Source),
            "none" => Ok(Side::None),
            _ => Err(ParseError::new(text, Self::KIND)),
        }
    }
}

impl core::fmt::Display for Side {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Side::Auto => "auto",
            Side::Destination => "destination",
            Side::Source => "source",
            Side::None => "none",
        })
    }
}
