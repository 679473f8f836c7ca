//! What a TCP segment says.

/// A segment's header. Sequence numbers are absolute 64-bit offsets into the stream: they do not
/// wrap, and SYN and FIN take no room in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// Offset of the first byte.
    pub seq: u64,
    /// Everything below this offset has arrived.
    pub ack: u64,
    /// Ranges that arrived above `ack`, the most recent first (RFC 2018); unused ones are empty.
    pub sacks: [(u64, u64); MAX_SACKS],
    /// Payload in bytes.
    pub len: u32,
    /// What kind of segment it is.
    pub kind: Kind,
    /// Congestion Experienced is echoed (RFC 3168).
    pub ece: bool,
    /// The sender has reduced its window (RFC 3168).
    pub cwr: bool,
    /// This acknowledges a segment that had already arrived (in place of RFC 2883's first block).
    pub duplicate: bool,
}

/// With timestamps, an option field has room for three blocks.
pub const MAX_SACKS: usize = 3;

/// Kinds of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Opens.
    Syn,
    /// Answers a SYN.
    SynAck,
    /// Everything else.
    #[default]
    Ack,
}
