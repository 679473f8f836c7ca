//! What a TCP segment says.

use units::Instant;

/// A TCP segment without its content. Sequence numbers are 64 bits wide and start at 0 with the
/// SYN, so that the first byte of data is number 1 and nothing ever wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// Number of the first byte.
    pub seq: u64,
    /// The next byte that the sender of this segment expects.
    pub ack: u64,
    /// When this segment was sent (RFC 7323, TSval).
    pub sent: Instant,
    /// `sent` of the segment that this one echoes (RFC 7323, TSecr).
    pub echo: Instant,
    /// Bytes of data.
    pub len: u32,
    /// Bytes beyond `ack` that may be sent.
    pub window: u32,
    /// What arrived beyond `ack`.
    pub sack: Sack,
    /// Flags.
    pub flags: Flags,
}

impl Segment {
    /// The byte after the last one.
    pub fn end(&self) -> u64 {
        self.seq.saturating_add(u64::from(self.len))
    }
}

/// The flags that matter here. Every segment but the first SYN carries ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Opens the connection.
    pub syn: bool,
    /// `ack` means something.
    pub ack: bool,
    /// Congestion Experienced is echoed; on a SYN, ECN is offered or accepted (RFC 3168).
    pub ece: bool,
    /// The window was reduced; on a SYN, ECN is offered.
    pub cwr: bool,
    /// The segment that this acknowledges had arrived before (RFC 2883; the block itself is not
    /// carried).
    pub duplicate: bool,
}

/// Most blocks that fit beside timestamps (RFC 2018, section 3).
pub const MAX_BLOCKS: usize = 3;

/// Up to three SACK blocks, as distances from the segment's `ack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sack {
    blocks: [(u32, u32); MAX_BLOCKS],
    count: u8,
}

impl Sack {
    /// Adds the block from `start` to `end` to a segment that acknowledges `ack`. A block that is
    /// too far away to be written down, or too many, is left out: the sender learns of it later.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let near = |at: u64| at.checked_sub(ack).and_then(|gap| u32::try_from(gap).ok());
        let (Some(start), Some(end)) = (near(start), near(end)) else {
            return;
        };
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (start, end);
            self.count += 1;
        }
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks as sequence numbers, the newest first.
    pub fn blocks(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks.iter().take(self.len()).map(move |block| {
            (
                ack.saturating_add(u64::from(block.0)),
                ack.saturating_add(u64::from(block.1)),
            )
        })
    }

    /// Length of the option with its padding, bytes; `extra` blocks are carried beside these.
    pub fn option_len(&self, extra: usize) -> u32 {
        match (self.len() + extra).min(MAX_BLOCKS) {
            0 => 0,
            count => 4 + 8 * count as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 96);
    }

    #[test]
    fn three_blocks_and_no_more() {
        let mut sack = Sack::default();
        for start in [500, 300, 100, 700] {
            sack.push(50, start, start + 10);
        }
        assert_eq!(
            sack.blocks(50).collect::<Vec<_>>(),
            [(500, 510), (300, 310), (100, 110)]
        );
        assert_eq!(sack.option_len(0), 28, "NOP, NOP, kind, length, 3 × 8");
        assert_eq!(sack.option_len(1), 28, "no room for a fourth");
        assert_eq!(Sack::default().option_len(1), 12);
    }

    #[test]
    fn blocks_out_of_reach_are_left_out() {
        let mut sack = Sack::default();
        sack.push(1000, 999, 1001);
        sack.push(1000, 1001, 1 << 40);
        assert!(sack.is_empty());
    }
}
