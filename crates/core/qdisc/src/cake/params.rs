//! Parameters of `cake`, under the names that `tc` shows.

use crate::registry::Home;
use crate::shaper::{Atm, Bandwidth, Overhead};
use std::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError};

units::params! {
    /// Parameters of `cake`.
    pub struct CakeParams {
        /// The shaper's rate, or unlimited: packets then leave whenever the link takes them.
        bandwidth: Bandwidth = "unlimited", source "Linux sch_cake.c";
        /// Priority tins: besteffort, precedence, diffserv3, diffserv4 or diffserv8.
        diffserv: Diffserv = "diffserv3", source "Linux sch_cake.c";
        /// Units that share the link: flowblind, srchost, dsthost, hosts, flows, dual-srchost,
        /// dual-dsthost or triple-isolate. A scenario's link knows on which side the home's computers
        /// are: its default is dual-srchost where they send, dual-dsthost where they receive.
        flowmode: FlowMode = "triple-isolate", source "Linux sch_cake.c; tc-cake(8): dual-srchost, dual-dsthost";
        /// Cobalt's interval; its target is a twentieth of it. Both grow if a full-sized packet
        /// takes long.
        rtt: Duration = "100ms", range "1us".."1h", source "tc-cake(8): internet";
        /// Count drops against the bandwidth, and allow a longer queue the more flows there are:
        /// for shaping behind the bottleneck.
        ingress: bool = "no", source "tc-cake(8): egress";
        /// Bytes that the link behind the shaper adds to each packet.
        overhead: Overhead = "0", range "-64".."256", source "tc-cake(8)";
        /// Smallest number of bytes that a packet takes on the link behind the shaper.
        mpu: u32 = "0", range "0".."256", source "tc-cake(8)";
        /// Framing of that link: noatm, atm (cells of 48 bytes in 53) or ptm (64 bytes in 65).
        atm: Atm = "noatm", source "tc-cake(8)";
        /// Limit of the backlog, in bytes, or auto: four times bandwidth times rtt, from 4 MiB to
        /// 15.5 MB.
        memlimit: MemLimit = "auto", source "Linux sch_cake.c, cake_reconfigure";
    }
}

/// Declares an enumeration whose values are written as in `tc-cake(8)`.
macro_rules! keywords {
    (
        $(#[$meta:meta])*
        pub enum $name:ident, $kind:literal, $expected:literal {$(
            $(#[$doc:meta])* $variant:ident = $text:literal,
        )*}
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
        pub enum $name {$( $(#[$doc])* $variant, )*}

        impl Value for $name {
            const KIND: &'static str = $kind;
            fn parse(text: &str) -> Result<Self, ParseError> {
                match text.trim() {
                    $( $text => Ok($name::$variant), )*
                    _ => Err(ParseError::new(text, $expected)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $( $name::$variant => $text, )* })
            }
        }
    };
}

keywords! {
    /// The division into priority tins.
    pub enum Diffserv, "tins", "besteffort, precedence, diffserv3, diffserv4 or diffserv8" {
        /// One tin.
        BestEffort = "besteffort",
        /// Eight tins by the first three bits of the code point.
        Precedence = "precedence",
        /// Three tins: background, best effort, low latency.
        Diffserv3 = "diffserv3",
        /// Four tins: as three, and one for streaming.
        Diffserv4 = "diffserv4",
        /// Eight tins.
        Diffserv8 = "diffserv8",
    }
}

keywords! {
    /// Between whom the link is shared.
    pub enum FlowMode, "flow mode",
        "flowblind, srchost, dsthost, hosts, flows, dual-srchost, dual-dsthost or triple-isolate" {
        /// No isolation: one queue for each tin.
        FlowBlind = "flowblind",
        /// Sending hosts.
        SrcHost = "srchost",
        /// Receiving hosts.
        DstHost = "dsthost",
        /// Pairs of hosts.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Sending hosts, and then their flows.
        DualSrcHost = "dual-srchost",
        /// Receiving hosts, and then their flows.
        DualDstHost = "dual-dsthost",
        /// Hosts on both sides, and then their flows.
        TripleIsolate = "triple-isolate",
    }
}

/// The home's computers share the link first, as tc-cake(8) recommends behind NAT.
impl From<Home> for FlowMode {
    fn from(home: Home) -> Self {
        match home {
            Home::Senders => FlowMode::DualSrcHost,
            Home::Receivers => FlowMode::DualDstHost,
        }
    }
}

impl FlowMode {
    /// The kernel's bits: source 1, destination 2, flows 4.
    const fn bits(self) -> u8 {
        match self {
            FlowMode::FlowBlind => 0,
            FlowMode::SrcHost => 1,
            FlowMode::DstHost => 2,
            FlowMode::Hosts => 3,
            FlowMode::Flows => 4,
            FlowMode::DualSrcHost => 5,
            FlowMode::DualDstHost => 6,
            FlowMode::TripleIsolate => 7,
        }
    }

    /// Queues are by source.
    pub(super) const fn source(self) -> bool {
        self.bits() & 1 != 0
    }

    /// Queues are by destination.
    pub(super) const fn destination(self) -> bool {
        self.bits() & 2 != 0
    }

    /// Queues are by flow, and not by host.
    pub(super) const fn flows(self) -> bool {
        self.bits() & 4 != 0
    }

    /// Flows of one source share its part of the link.
    pub(super) const fn fair_to_sources(self) -> bool {
        self.flows() && self.source()
    }

    /// Flows of one destination share its part of the link.
    pub(super) const fn fair_to_destinations(self) -> bool {
        self.flows() && self.destination()
    }
}

/// A limit on the backlog, or none set by the user.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MemLimit(pub Option<Bytes>);

impl Value for MemLimit {
    const KIND: &'static str = "size or auto";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "auto" {
            return Ok(MemLimit(None));
        }
        let bytes: Option<Bytes> = text.parse().ok();
        bytes
            .filter(|bytes| (1..=u64::from(u32::MAX)).contains(&bytes.get()))
            .map(|bytes| MemLimit(Some(bytes)))
            .ok_or_else(|| ParseError::new(text, "auto, or a size from 1B to 4GB"))
    }
}

impl fmt::Display for MemLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => bytes.fmt(f),
            None => f.write_str("auto"),
        }
    }
}

/// A full-sized packet on Ethernet, header included (`psched_mtu`), bytes.
pub(super) const MTU: u64 = 1514;
/// Number of packets of that size that may wait if no limit is set (`cake_init`).
const MOST_PACKETS: u64 = 10_240;

impl CakeParams {
    /// Cobalt's target, before tins adjust it to their rates (`q_cake.c`).
    pub(super) fn target(&self) -> Duration {
        (self.rtt / 20).max(Duration::from_micros(1))
    }

    /// Bytes that may wait (`cake_reconfigure`).
    pub(super) fn limit(&self) -> u64 {
        let most = MOST_PACKETS * MTU;
        match (self.memlimit.0, self.bandwidth.0) {
            (Some(bytes), _) => bytes.get(),
            (None, None) => most,
            (None, Some(rate)) => (rate.bytes_in(self.rtt))
                .saturating_mul(4)
                .clamp(4 << 20, most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(settings: &[(&str, &str)]) -> CakeParams {
        let owned: Vec<_> = (settings.iter())
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        CakeParams::parse(&owned).unwrap()
    }

    #[test]
    fn how_much_may_wait() {
        // 10 240 packets of 1514 B are 15 503 360 B, if the rate is unknown.
        assert_eq!(params(&[]).limit(), 15_503_360);
        // 20 Mbit/s × 100 ms = 250 kB, four times that is 1 MB: raised to 4 MiB.
        assert_eq!(params(&[("bandwidth", "20mbit")]).limit(), 4_194_304);
        // 200 Mbit/s × 100 ms × 4 = 10 MB.
        assert_eq!(params(&[("bandwidth", "200mbit")]).limit(), 10_000_000);
        assert_eq!(params(&[("bandwidth", "1gbit")]).limit(), 15_503_360);
        // Values set by the user are taken as they are.
        let said = params(&[("bandwidth", "20mbit"), ("memlimit", "40kB")]);
        assert_eq!(said.limit(), 40_000);
    }

    #[test]
    fn targets_are_a_twentieth_of_the_round_trip() {
        assert_eq!(params(&[]).target(), Duration::from_millis(5));
        let metro = params(&[("rtt", "10ms")]);
        assert_eq!(metro.target(), Duration::from_micros(500));
        let shortest = params(&[("rtt", "1us")]);
        assert_eq!(shortest.target(), Duration::from_micros(1));
    }

    #[test]
    fn what_is_written_is_what_is_shown() {
        for (name, value) in [
            ("bandwidth", "20mbit"),
            ("bandwidth", "unlimited"),
            ("diffserv", "precedence"),
            ("flowmode", "dual-dsthost"),
            ("overhead", "-4"),
            ("atm", "ptm"),
            ("memlimit", "4MB"),
            ("memlimit", "auto"),
        ] {
            let shown = params(&[(name, value)]).values();
            assert!(shown.contains(&(name, value.to_owned())), "{shown:?}");
        }
        for (name, value) in [
            ("bandwidth", "1kbit"),
            ("diffserv", "diffserv5"),
            ("flowmode", "triple"),
            ("overhead", "257"),
            ("memlimit", "0B"),
        ] {
            let setting = [(name.to_owned(), value.to_owned())];
            assert!(CakeParams::parse(&setting).is_err(), "{name} {value}");
        }
    }
}
