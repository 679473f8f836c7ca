//! The contents of a TCP segment.

use units::Instant;

/// A segment's header. Sequence numbers are absolute 64-bit offsets into the stream: they do not
/// wrap, and SYN and FIN take no room in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// Offset of the first byte.
    pub seq: u64,
    /// All bytes below this offset have arrived.
    pub ack: u64,
    /// Ranges that arrived above `ack`, the most recent first (RFC 2018); unused ones are empty.
    pub sacks: [(u64, u64); MAX_SACKS],
    /// When it was sent (RFC 7323, TSval).
    pub sent: Instant,
    /// `sent` of the segment that it echoes (RFC 7323, TSecr).
    pub echo: Instant,
    /// Payload in bytes.
    pub len: u32,
    /// Payload that arrived with Congestion Experienced so far, bytes modulo 2^32, if feedback is
    /// accurate (RFC 9768, 3.2.3, ECEB, which counts modulo 2^24).
    pub ce: u32,
    /// The kind of segment.
    pub kind: SegmentKind,
    /// Congestion Experienced is echoed; on a SYN, ECN is offered, on its answer accepted (RFC 3168).
    pub ece: bool,
    /// On a SYN, accurate feedback is offered, on its answer accepted (RFC 9768, 3.1).
    pub accurate: bool,
    /// The sender has reduced its window; on a SYN, ECN is offered (RFC 3168).
    pub cwr: bool,
    /// This acknowledges a segment that had already arrived (in place of RFC 2883's first block).
    pub duplicate: bool,
}

/// With timestamps, an option field has room for three blocks.
pub const MAX_SACKS: usize = 3;

/// Kinds of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SegmentKind {
    /// Opens.
    Syn,
    /// Answers a SYN.
    SynAck,
    /// All other segments.
    #[default]
    Ack,
}

impl Segment {
    /// Length of the SACK option with its padding, bytes (RFC 2018, section 3; RFC 2883's block
    /// takes one of the three places).
    pub fn sack_len(&self) -> u32 {
        let blocks = self.sacks.iter().filter(|(start, end)| start < end).count();
        match (blocks + usize::from(self.duplicate)).min(MAX_SACKS) {
            0 => 0,
            count => 4 + 8 * count as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_the_sack_option() {
        let mut segment = Segment::default();
        assert_eq!(segment.sack_len(), 0);
        segment.duplicate = true;
        assert_eq!(segment.sack_len(), 12, "NOP, NOP, kind, length, 8");
        segment.sacks = [(10, 20), (30, 40), (50, 60)];
        assert_eq!(segment.sack_len(), 28, "no room for a fourth");
    }
}
