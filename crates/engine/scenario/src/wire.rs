//! What the wire behind a link does to packets: the keys of `[link]` beside its capacity and its queue.

use core::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError};

units::params! {
    /// What a wire does to packets.
    pub struct Wire {
        /// Round trip that the wire adds, behind the last link of a path.
        rtt: Duration = "0s", range "0s".."60s", source "ours";
        /// Bytes on the wire for every packet, in addition to the IP packet: PPPoE over ATM adds
        /// some 40.
        overhead: Bytes = "0B", range "0B".."1000B", source "ours";
        /// Number of packets that the device takes from the discipline ahead of time, behind the
        /// packet that it is sending, as a driver's ring does. They count as sent: no discipline
        /// drops or reorders them.
        device: u32 = "0", range "0".."10000", source "ours";
        /// Delay of a packet behind this link, in each direction, before the next link sees it.
        delay: Duration = "0s", range "0s".."60s", source "ours";
        /// Largest extra delay of a packet behind the link; packets stay in order.
        jitter: Duration = "0s", range "0s".."60s", source "ours";
        /// Longest time between two moments at which the wire delivers, all that came since: a radio's
        /// grants or aggregates. Packets stay in order.
        grants: Duration = "0s", range "0s".."1s", source "ours";
        /// Share of packets that the wire loses, in each direction.
        loss: Share = "0", source "ours";
        /// Average number of consecutive packets that are lost; 1 for independent losses. Longer
        /// bursts are outages, which a trace can contain.
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
