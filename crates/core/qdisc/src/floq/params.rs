//! Parameters of `floq`.

use units::param::Value;
use units::{Duration, ParseError};

units::params! {
    /// Parameters of `floq`.
    pub struct FloqParams {
        /// Limit of the backlog, in packets.
        limit: u32 = "1000", range "1".."1000000", source "Linux: tx_queue_len of an Ethernet device";
        /// Reading of the paper: as a whole (reading), equation (1) literally (equation), or
        /// algorithm 1 literally, with its result as the chance of admission (algorithm) or of a
        /// drop (algorithm-drop).
        variant: Variant = "reading", source "ours: the paper contradicts itself";
        /// Percent of `limit` reserved for packets of responsive flows.
        responsive: u32 = "50", range "0".."100", source "FLOQ, IV.B";
        /// Percent of `limit` reserved for packets of unresponsive flows.
        unresponsive: u32 = "30", range "0".."100", source "FLOQ, IV.B";
        /// Percent of `limit` up to which everything is admitted.
        threshold: u32 = "80", range "0".."100", source "FLOQ, VI.A: the final 20 % of the buffer";
        /// Chance of a drop for responsive flows, percent, before it grows with the queue.
        drop_responsive: u32 = "2", range "0".."100", source "FLOQ, IV.B";
        /// Chance of a drop for unresponsive flows, percent, before it grows with the queue.
        drop_unresponsive: u32 = "5", range "0".."100", source "FLOQ, IV.B";
        /// Drop scaling factor in a full buffer.
        g: u32 = "30", range "0".."1000", source "decision 0016: with less, first packets find a full buffer";
        /// Reduction of the drop chance of a responsive flow's initial packets, percent. The
        /// literal readings add it instead, and make sense with 2.
        f_r: u32 = "100", range "0".."100", source "decision 0016: no drop by chance at all";
        /// Number of initial packets, with which a flow establishes itself.
        initial: u32 = "10", range "0".."1000000", source "FLOQ, IV.A";
        /// Number of flows that are told apart. Fixed once there is a queue.
        flows: u32 = "1024", range "8".."65536", source "ours: as fq_codel, RFC 8290, 5.2.5";
        /// A flow that sends nothing for this long is forgotten.
        idle: Duration = "10s", range "100ms".."1h", source "ours: above the 6 s of FLOQ, V.B";
        /// Length of the windows in which a flow's rate is measured.
        window: Duration = "50ms", range "10ms".."10s", source "ours: a round trip of FLOQ, V.A, with its queue";
        /// Number of windows after a drop within which the rate of a responsive flow has to fall.
        windows: u32 = "8", range "1".."100", source "ours: a round trip of 300 ms, and time to see it";
        /// Smallest fall of a rate that counts as a response of its sender, in percent.
        fall: u32 = "10", range "1".."99", source "ours: a third of what CUBIC falls by";
        /// Number of consecutive drops without a fall that make a flow unresponsive.
        strikes: u32 = "3", range "1".."1000", source "ours: one fall may be missed";
        /// Number of consecutive falls that make a flow responsive again; 0 for no way back.
        pardon: u32 = "3", range "0".."1000", source "ours: as strikes; the paper has no way back";
        /// Mark by chance instead of dropping if the packet allows it.
        ecn: bool = "no", source "FLOQ has no marks";
    }
}

/// How the paper's admission policy is read (section IV.B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Variant {
    /// So that text and formulas agree as far as they can.
    Reading,
    /// Equation (1): admitted with probability `F_t(t, ep) * F_d`.
    Equation,
    /// Algorithm 1: its result is the percentage with which a packet is admitted.
    Algorithm,
    /// Algorithm 1: its result is the percentage with which a packet is dropped.
    AlgorithmDrop,
}

impl Variant {
    const ALL: [Variant; 4] = [
        Variant::Reading,
        Variant::Equation,
        Variant::Algorithm,
        Variant::AlgorithmDrop,
    ];

    const fn name(self) -> &'static str {
        match self {
            Variant::Reading => "reading",
            Variant::Equation => "equation",
            Variant::Algorithm => "algorithm",
            Variant::AlgorithmDrop => "algorithm-drop",
        }
    }
}

impl Value for Variant {
    const KIND: &'static str = "variant";

    fn parse(text: &str) -> Result<Self, ParseError> {
        let found = Variant::ALL.into_iter().find(|v| v.name() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "reading, equation, algorithm or algorithm-drop"))
    }
}

impl core::fmt::Display for Variant {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
