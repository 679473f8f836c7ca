//! Packets that go first: the first ones of a flow, and those of a sparse flow.
//!
//! A connection cannot begin without a name look-up and a handshake, and they are small. So the
//! first kilobyte of a flow that was silent goes before everything else, even before settled
//! flows in a hold; and so do later packets of a flow that sends little, such as a game. Of either
//! kind no more than a part of all bytes goes first, so that nothing is gained by having many flows.

use super::settling::GAP;
use crate::list::{List, NIL, Nodes};
use units::Duration;

/// The first bytes of a flow are so many, and a later packet of a sparse flow has no more.
const FIRST: u32 = 1024;
/// So many bytes of a sparse flow may come at once: what a flow sends at random comes together now and then.
const BATCH: u32 = 2048;
/// A sparse flow sends at most a byte in 2^16 ns, 122 kbit/s.
const SPARSE: u32 = 16;
/// One in so many bytes may be of each kind.
const SHARE: [i64; KINDS] = [16, 4];
/// And so many at once: two full packets.
const SAVED: i64 = 2 * 1514;

/// The first packets of flows, and the packets of sparse flows.
const KINDS: usize = 2;

/// The packets of a flow that go first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SparseFlow {
    /// Bytes that arrived since the flow was silent.
    bytes: u32,
    /// Bytes of later packets that went first, less those that time has paid for.
    spent: u32,
    /// Number of packets at the head of its queue that go first.
    waiting: u32,
    /// The kind of the first of them.
    kind: usize,
}

/// The flows whose packets go first.
#[derive(Debug)]
pub(super) struct Sparse {
    lists: [List; KINDS],
    nodes: Nodes,
    credits: [i64; KINDS],
}

/// A packet that arrives.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrivedPacket {
    /// Time since the one before it of its flow.
    pub(super) pause: Duration,
    pub(super) len: u32,
    /// Packets of its flow that wait.
    pub(super) before: u32,
    /// Whether its host may send any before its turns.
    pub(super) may: bool,
}

impl SparseFlow {
    /// The kind of an arriving packet, if it is small enough to go first.
    fn kind_of(&mut self, came: ArrivedPacket) -> Option<usize> {
        if came.pause > GAP {
            *self = SparseFlow {
                waiting: self.waiting,
                kind: self.kind,
                ..SparseFlow::default()
            };
        }
        self.bytes = self.bytes.saturating_add(came.len);
        if self.bytes <= FIRST {
            return Some(0);
        }
        let paid = u32::try_from(came.pause.as_nanos() >> SPARSE).unwrap_or(u32::MAX);
        self.spent = self.spent.saturating_sub(paid);
        if came.len > FIRST || came.len > BATCH - self.spent {
            return None;
        }
        self.spent += came.len;
        Some(1)
    }
}

impl Sparse {
    /// Of `flows` none.
    pub(super) fn new(flows: usize) -> Self {
        Sparse {
            lists: [List::default(); KINDS],
            nodes: Nodes::with_len(flows),
            credits: [SAVED; KINDS],
        }
    }

    /// Accounts for an arriving packet of `flow`.
    #[inline]
    pub(super) fn came(&mut self, (number, flow): (usize, &mut SparseFlow), came: ArrivedPacket) {
        let Some(kind) = flow.kind_of(came) else {
            return;
        };
        // Behind others it does not: the queue of a flow keeps its order.
        if !came.may || came.before != flow.waiting {
            return;
        }
        if flow.waiting == 0 {
            flow.kind = kind;
            self.nodes.push_back(&mut self.lists[kind], number as u32);
        }
        flow.waiting += 1;
    }

    /// `packets` left the head of the queue of `flow`.
    #[inline]
    pub(super) fn left(&mut self, (number, flow): (usize, &mut SparseFlow), packets: u32) {
        if flow.waiting == 0 {
            return;
        }
        flow.waiting = flow.waiting.saturating_sub(packets);
        if flow.waiting == 0 {
            self.nodes.remove(&mut self.lists[flow.kind], number as u32);
        }
    }

    /// The flow whose packet goes first now, if any, and of what kind.
    pub(super) fn next(&self) -> Option<(usize, usize)> {
        (0..KINDS).find_map(|kind| {
            let head = self.lists[kind].head();
            (head != NIL && self.credits[kind] > 0).then_some((head as usize, kind))
        })
    }

    /// A packet of `len` bytes leaves, of a `kind` that goes first or of none.
    pub(super) fn sent(&mut self, len: u32, first: Option<usize>) {
        let len = i64::from(len);
        for (kind, (credit, share)) in self.credits.iter_mut().zip(SHARE).enumerate() {
            let spent = if first == Some(kind) { len } else { 0 };
            *credit = (*credit + len / share).min(SAVED) - spent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(pause: u64, len: u32, before: u32) -> ArrivedPacket {
        ArrivedPacket {
            pause: Duration::from_millis(pause),
            len,
            before,
            may: true,
        }
    }

    #[test]
    fn the_first_kilobyte_of_a_flow_that_was_silent() {
        let (mut sparse, mut flow) = (Sparse::new(2), SparseFlow::default());
        for before in 0..3 {
            sparse.came((0, &mut flow), came(0, 500, before));
        }
        assert_eq!((flow.waiting, sparse.next()), (3, Some((0, 0))));
        for before in 3..8 {
            sparse.came((0, &mut flow), came(0, 500, before));
        }
        assert_eq!(
            flow.waiting, 6,
            "two of the first, and 2 kB as of a sparse flow"
        );
        sparse.left((0, &mut flow), 5);
        assert_eq!(sparse.next(), Some((0, 0)));
        sparse.left((0, &mut flow), 1);
        assert_eq!(sparse.next(), None, "the seventh is none");
        // Silence begins it again, but not behind a packet that still waits.
        sparse.came((0, &mut flow), came(300, 100, 1));
        assert_eq!(sparse.next(), None);
        sparse.came((0, &mut flow), came(300, 100, 0));
        assert_eq!(sparse.next(), Some((0, 0)));
        sparse.left((0, &mut flow), 3);
        assert_eq!(sparse.next(), None);
    }

    /// 100 bytes every 20 ms are 40 kbit/s: all go first. Every 5 ms they are 160: no more do than
    /// 122 kbit/s are, and 2 kB. A packet of more than 1 kB never does, nor uses what they may.
    #[test]
    fn the_packets_of_a_flow_that_sends_little() {
        let (mut sparse, mut flow) = (Sparse::new(1), SparseFlow::default());
        let mut first = |pause, len| {
            sparse.came((0, &mut flow), came(pause, len, 0));
            let found = sparse.next().is_some();
            sparse.left((0, &mut flow), 1);
            found
        };
        assert!((0..500).all(|_| first(20, 100)));
        let found = (0..4000).filter(|_| first(5, 100)).count();
        assert!((3050..3090).contains(&found), "{found} of 4000");
        assert!((0..100).all(|_| !first(100, 1025)));
        assert!((0..20).all(|_| first(0, 100)), "2 kB");
        assert!(!first(0, 100));
    }

    /// 3028 bytes are saved; then a packet of 100 bytes for every 1600, or for every 400.
    #[test]
    fn they_are_no_more_than_a_part() {
        for (kind, per) in [(0, 1600), (1, 400)] {
            let (mut sparse, mut flow) = (Sparse::new(1), SparseFlow::default());
            flow.bytes = FIRST * kind;
            let came = came(100, 100, 0);
            sparse.came((0, &mut flow), came);
            let kind = kind as usize;
            assert_eq!(sparse.next(), Some((0, kind)));
            let saved = SAVED / (100 - 100 / SHARE[kind]) + 1;
            for _ in 0..saved {
                assert!(sparse.next().is_some());
                sparse.sent(100, Some(kind));
            }
            assert_eq!(sparse.next(), None);
            let mut sent = 0;
            for _ in 0..160 {
                sparse.sent(per, None);
                if sparse.next().is_some() {
                    sparse.sent(100, Some(kind));
                    sent += 1;
                }
            }
            assert!((158..=160).contains(&sent), "{sent} of kind {kind}");
        }
    }
}
