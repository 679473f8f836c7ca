//! What the wire behind a link does to packets: the keys of `[link]` beside its capacity and its queue.

use core::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError};

units::params! {
    /// What a wire does to packets.
    pub struct Wire {
        /// Round trip without queues; those of all links add up. Transmission comes on top of it.
        rtt: Duration = "0s", range "0s".."60s", source "ours";
        /// Bytes on the wire beside each IP packet, in both directions. PPPoE over ATM adds some 40.
        overhead: Bytes = "0B", range "0B".."1000B", source "ours";
        /// Packets that the device takes early, as a driver's ring does. They wait behind the one that it is
        /// sending, and count as sent: no discipline drops or reorders them.
        device: u32 = "0", range "0".."10000", source "ours";
        /// One way behind this link: what the next link sees. In both directions: it adds twice to the round trip.
        delay: Duration = "0s", range "0s".."60s", source "ours";
        /// Up to so much longer behind this link, in order, by chance.
        jitter: Duration = "0s", range "0s".."60s", source "ours";
        /// It delivers in groups, at most so far apart, as a radio does. The wire delivers at random moments only, all
        /// packets that came since, in order: grants of LTE, MAPs of cable, aggregates of Wi-Fi.
        grants: Duration = "0s", range "0s".."1s", source "ours";
        /// Share of packets that the wire loses, in each direction. It is written as `0.1%` or `0.001`.
        loss: Share = "0", source "ours";
        /// How many packets in a row are lost, on average. With `1` losses are independent. Longer bursts are
        /// outages, which a trace can contain.
        loss_burst: f64 = "1", range "1".."1000", source "Gilbert, Bell System Technical Journal 39, 1960";
    }
}

impl Wire {
    /// Bytes on the wire beside each IP packet.
    pub fn overhead(&self) -> u32 {
        // The declared range is below 2^32.
        self.overhead.get() as u32
    }
}

/// A share of a whole, from 0 to below 1, which is written as `0.1%` or `0.001`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Value for Share {
    const KIND: &'static str = "share";

    fn parse(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let (number, whole) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let share = number.parse::<f64>().ok().map(|number| number / whole);
        share
            .filter(|share| (0.0..1.0).contains(share))
            .map(Share)
            .ok_or_else(|| ParseError::new(text, "a share such as 0.1% or 0.001, below 1"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
