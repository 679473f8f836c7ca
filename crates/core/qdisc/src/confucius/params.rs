//! Parameters of Confucius.

use core::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError};

/// The most targets, and so the most classes besides the new flows'.
pub const MAX_TARGETS: usize = 7;

/// Highest target, in percent.
const MAX_PERCENT: u16 = 1000;

/// Buffer targets of the classes of old flows, in percent, increasing; written `10/50/90`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Targets {
    percent: [u16; MAX_TARGETS],
    len: u8,
}

impl Targets {
    /// The targets in percent, one to seven of them.
    pub fn percent(&self) -> &[u16] {
        &self.percent[..usize::from(self.len)]
    }
}

impl Value for Targets {
    const KIND: &'static str = "targets";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let error = || {
            ParseError::new(
                text,
                "one to seven increasing percentages up to 1000, such as 10/50/90",
            )
        };
        let mut targets = Targets {
            percent: [0; MAX_TARGETS],
            len: 0,
        };
        for part in text.trim().split('/') {
            let percent: u16 = part.trim().parse().map_err(|_| error())?;
            let increases = targets.percent().last().is_none_or(|&last| last < percent);
            let len = usize::from(targets.len);
            if len == MAX_TARGETS || percent > MAX_PERCENT || !increases {
                return Err(error());
            }
            targets.percent[len] = percent;
            targets.len += 1;
        }
        Ok(targets)
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, percent) in self.percent().iter().enumerate() {
            let slash = if position == 0 { "" } else { "/" };
            write!(f, "{slash}{percent}")?;
        }
        Ok(())
    }
}

/// The quantity of which a flow's occupancy is a percentage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occupancy {
    /// Of the buffer: the flow's packets against `limit` (figure 8).
    Buffer,
    /// Of a delay: how long the flow makes its class wait, against `scale`.
    Delay,
}

impl Value for Occupancy {
    const KIND: &'static str = "buffer or delay";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "buffer" => Ok(Occupancy::Buffer),
            "delay" => Ok(Occupancy::Delay),
            _ => Err(ParseError::new(text, "buffer or delay")),
        }
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Occupancy::Buffer => "buffer",
            Occupancy::Delay => "delay",
        })
    }
}

units::params! {
    /// Parameters of `confucius`.
    pub struct ConfuciusParams {
        /// Limit of the backlog of all classes together, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device";
        /// Limit of the backlog of all classes together, in bytes.
        memory_limit: Bytes = "32MiB", range "4kB".."1GB", source "Linux fq_codel";
        /// Number of flows that are told apart, rounded up to sets of 8; cannot be changed later.
        flows: u32 = "1024", range "8".."65536", source "RFC 8290, 5.2.3: fq_codel's default";
        /// Bytes that the heaviest class may send in a round.
        quantum: Bytes = "1514B", range "256B".."64kB", source "RFC 8290, 5.2.4: fq_codel's default";
        /// Target occupancy of each class of old flows, in percent.
        targets: Targets = "10/50/90", range "0".."1000", source "the paper, figure 8: the middle of each of its three clusters; decision 0010";
        /// Reference for occupancy: the buffer, as in the paper's figure 8, or a delay, which does
        /// not depend on the buffer's size.
        occupancy: Occupancy = "delay", source "decision 0010";
        /// With occupancy = delay: the delay that counts as 100 %.
        scale: Duration = "100ms", range "1ms".."10s", source "decision 0010";
        /// Time in which the weight of a new flow doubles, 1/lambda in the paper.
        doubling: Duration = "250ms", range "1ms".."60s", source "the paper, section 4.2";
        /// Number of doublings by which a new flow's first weight is below equation (1); 0 as in
        /// the paper.
        head_start: u32 = "0", range "0".."6", source "decision 0011";
        /// Hysteresis of the classification, in percent of a class's occupancy (for one flow's
        /// share of it) or of full occupancy (for a class's length).
        alpha: u32 = "10", range "1".."50", source "the paper, section 5.1";
        /// Time between two examinations of a flow.
        interval: Duration = "100ms", range "1ms".."10s", source "the paper, section 6";
        /// A flow with no packet waiting, arriving or leaving for this long is forgotten.
        idle: Duration = "1s", range "10ms".."1h", source "decision 0010";
        /// Mark packets that waited longer than the target of their class, in percent of `scale`,
        /// if the sender allows it. For packets of new flows, the highest target applies.
        ecn: bool = "no", source "decision 0012";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_as_text() {
        let targets = Targets::parse(" 10/50/90").unwrap();
        assert_eq!(targets.percent(), [10, 50, 90]);
        assert_eq!(targets.to_string(), "10/50/90");
        assert_eq!(Targets::parse("1/2/3/4/5/6/7").unwrap().percent().len(), 7);
        for text in ["", "10/", "10/10", "50/10", "1001", "-1", "1/2/3/4/5/6/7/8"] {
            assert!(Targets::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn defaults_are_written_as_they_are_read() {
        for (name, value) in ConfuciusParams::default().values() {
            let again = ConfuciusParams::parse(&[(name.to_owned(), value)]);
            assert_eq!(again.as_ref(), Ok(&ConfuciusParams::default()), "{name}");
        }
    }
}
