//! Two levels of a discipline: which packets are young, which old, and how a queue learns of it.
//!
//! A table of nftables maps the bytes that a flow has sent to the priority of its packets, and a
//! queue uses that: G. Moschini, "Integrating CoDel and Age-Based Scheduling" (thesis, Ca' Foscari,
//! 2025), sections 4.3 and 4.4. Decision 0061 has the differences and their reasons.

use crate::{Command, Device};
use core::fmt;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// Bytes that a flow can have sent and still be young: 1 B to 1 TB, as the simulator's `2lps` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Threshold(u64);

const MOST: u64 = 1_000_000_000_000;

/// A threshold that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are outside 1 to {MOST}")]
pub struct BadThreshold(u64);

impl Threshold {
    /// Bytes.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Threshold {
    type Error = BadThreshold;
    fn try_from(bytes: u64) -> Result<Self, BadThreshold> {
        if (1..=MOST).contains(&bytes) {
            Ok(Threshold(bytes))
        } else {
            Err(BadThreshold(bytes))
        }
    }
}

impl TryFrom<Bytes> for Threshold {
    type Error = BadThreshold;
    fn try_from(bytes: Bytes) -> Result<Self, BadThreshold> {
        bytes.get().try_into()
    }
}

impl From<Threshold> for u64 {
    fn from(threshold: Threshold) -> u64 {
        threshold.0
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// How a queue tells the levels apart: the meaning of a priority there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The bands of a `prio` at the root.
    Root,
    /// The bands of a `prio` in the class of an `htb`.
    Class,
    /// The tins of a `cake` with `diffserv3` at the root: best effort, and bulk.
    Tins,
    /// Bands of `pfifo_fast`: the one of ordinary packets, and the one below.
    Fast,
}

impl Split {
    /// Priorities of young and of old packets.
    pub fn priorities(self) -> [&'static str; 2] {
        match self {
            Split::Root => ["a1:1", "a1:2"],
            Split::Class => ["b1:1", "b1:2"],
            // The number of a tin, from the lowest: net/sched/sch_cake.c, cake_select_tin().
            Split::Tins => ["a1:2", "a1:1"],
            // The last four bits are looked up, net/sched/sch_generic.c, sch_default_prio2band. Not
            // a1:0: with its own handle, htb lets a packet pass unshaped.
            Split::Fast => ["b1:0", "b1:2"],
        }
    }
}

/// The prefix of the names of our tables.
pub(crate) const PREFIX: &str = "analects-2lps-";

/// The table of nftables that gives the packets that leave by one device their priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeTable {
    /// Up to which a flow is young.
    pub threshold: Threshold,
    /// The meaning of priorities.
    pub split: Split,
}

impl AgeTable {
    /// The name of the table for `device`.
    pub fn name(device: &Device) -> String {
        format!("{PREFIX}{device}")
    }

    /// Makes it, all in one transaction.
    ///
    /// The age of a packet's flow is the number of bytes sent in the packet's own direction, the
    /// packet included: the bytes that passed this queue. Packets unknown to conntrack, such as
    /// ARP, keep their priority, and so is young.
    pub fn command(&self, device: &Device) -> Command {
        let name = AgeTable::name(device);
        let elements = self.elements();
        let mut script = format!(
            "create table inet {name}\n\
             add map inet {name} ages {{ typeof ct original bytes : meta priority; \
             flags interval; elements = {elements}; }}\n\
             add chain inet {name} age\n\
             add rule inet {name} age ct direction original meta priority set ct original bytes map @ages\n\
             add rule inet {name} age ct direction reply meta priority set ct reply bytes map @ages\n"
        );
        for hook in ["output", "forward"] {
            script += &format!(
                "add chain inet {name} {hook} {{ type filter hook {hook} priority filter; policy accept; }}\n\
                 add rule inet {name} {hook} oifname \"{device}\" goto age\n"
            );
        }
        Command::nft(script)
    }

    /// Gives the table of `device` this threshold, in one transaction: each packet is classified by
    /// the one or the other.
    pub fn swap(&self, device: &Device) -> Command {
        let name = AgeTable::name(device);
        let elements = self.elements();
        Command::nft(format!(
            "flush map inet {name} ages\nadd element inet {name} ages {elements}\n"
        ))
    }

    /// Takes the table of `device` away.
    pub fn delete(device: &Device) -> Command {
        Command::nft(format!("delete table inet {}", AgeTable::name(device)))
    }

    fn elements(&self) -> String {
        let (last, [young, old]) = (self.threshold.get(), self.split.priorities());
        let next = last + 1;
        format!("{{ 0-{last} : {young}, {next}-{} : {old} }}", u64::MAX)
    }
}

/// The threshold in the output of `nft list map` for a table of ours: the end of the range from 0.
pub(crate) fn printed_threshold(text: &str) -> Option<u64> {
    let (_, elements) = text.split_once("elements = {")?;
    let range = elements.split_whitespace().next()?;
    range.strip_prefix("0-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eth0() -> Device {
        "eth0".parse().unwrap()
    }

    fn table(split: Split) -> AgeTable {
        AgeTable {
            threshold: 6_331_208.try_into().unwrap(),
            split,
        }
    }

    #[test]
    fn a_table_is_one_transaction() {
        assert_eq!(
            table(Split::Root).command(&eth0()).to_string(),
            "nft '\n\
             create table inet analects-2lps-eth0\n\
             add map inet analects-2lps-eth0 ages { typeof ct original bytes : meta priority; flags interval; \
             elements = { 0-6331208 : a1:1, 6331209-18446744073709551615 : a1:2 }; }\n\
             add chain inet analects-2lps-eth0 age\n\
             add rule inet analects-2lps-eth0 age ct direction original meta priority set ct original bytes map @ages\n\
             add rule inet analects-2lps-eth0 age ct direction reply meta priority set ct reply bytes map @ages\n\
             add chain inet analects-2lps-eth0 output { type filter hook output priority filter; policy accept; }\n\
             add rule inet analects-2lps-eth0 output oifname \"eth0\" goto age\n\
             add chain inet analects-2lps-eth0 forward { type filter hook forward priority filter; policy accept; }\n\
             add rule inet analects-2lps-eth0 forward oifname \"eth0\" goto age\n\
             '"
        );
        assert_eq!(
            table(Split::Tins).swap(&eth0()).to_string(),
            "nft '\n\
             flush map inet analects-2lps-eth0 ages\n\
             add element inet analects-2lps-eth0 ages \
             { 0-6331208 : a1:2, 6331209-18446744073709551615 : a1:1 }\n\
             '"
        );
    }

    #[test]
    fn a_threshold_as_nft_prints_it() {
        let text = "table inet analects-2lps-v0 {\n\tmap ages {\n\t\ttypeof ct original bytes : meta priority\n\
            \t\tflags interval\n\
            \t\telements = { 0-6331208 : b1:1, 6331209-18446744073709551615 : b1:2 }\n\t}\n}\n";
        assert_eq!(printed_threshold(text), Some(6_331_208));
        for bad in [
            "",
            "elements = {",
            "elements = { }",
            "elements = { 5-9 : b1:1 }",
        ] {
            assert_eq!(printed_threshold(bad), None, "{bad}");
        }
    }

    #[test]
    fn thresholds_have_limits() {
        for bad in [0, MOST + 1] {
            let error = Threshold::try_from(bad).unwrap_err().to_string();
            assert_eq!(error, format!("{bad} bytes are outside 1 to 1000000000000"));
        }
        assert_eq!(Threshold::try_from(MOST).unwrap().get(), MOST);
    }
}
