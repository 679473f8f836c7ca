//! First packets: a name look-up, a handshake, a key that was pressed.
//!
//! A connection cannot begin without them, and they are small. So the first kilobyte of a flow that
//! was silent goes before everything else, even before established flows in a hold; but no more
//! than a sixteenth of all bytes does, so that nothing is gained by having many flows.

use crate::list::{List, NIL, Nodes};

/// The first bytes of a flow are so many.
const FIRST: u32 = 1024;
/// One in so many bytes may be of first packets.
const SHARE: i64 = 16;
/// And so many at once: two full packets.
const SAVED: i64 = 2 * 1514;

/// A flow's first packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Begun {
    /// Bytes that arrived since the flow was silent.
    bytes: u32,
    /// Number of packets at the head of its queue that are first ones.
    waiting: u32,
}

/// The flows whose first packets wait.
#[derive(Debug)]
pub(super) struct Firsts {
    list: List,
    nodes: Nodes,
    credit: i64,
}

impl Firsts {
    /// Of `flows` none.
    pub(super) fn new(flows: usize) -> Self {
        Firsts {
            list: List::default(),
            nodes: Nodes::with_len(flows),
            credit: SAVED,
        }
    }

    /// Accounts for an arriving packet of `len` bytes of `flow`, whose backlog was `before`; the
    /// flow was `silent` or not.
    pub(super) fn came(
        &mut self,
        (flow, begun): (usize, &mut Begun),
        silent: bool,
        len: u32,
        before: u32,
    ) {
        if silent {
            begun.bytes = 0;
        }
        begun.bytes = begun.bytes.saturating_add(len);
        // Behind others it is none: the queue of a flow keeps its order.
        if begun.bytes > FIRST || before != begun.waiting {
            return;
        }
        if begun.waiting == 0 {
            self.nodes.push_back(&mut self.list, flow as u32);
        }
        begun.waiting += 1;
    }

    /// `packets` left the head of the queue of `flow`.
    pub(super) fn left(&mut self, (flow, begun): (usize, &mut Begun), packets: u32) {
        if begun.waiting == 0 {
            return;
        }
        begun.waiting = begun.waiting.saturating_sub(packets);
        if begun.waiting == 0 {
            self.nodes.remove(&mut self.list, flow as u32);
        }
    }

    /// The flow whose first packet is sent now, if any.
    pub(super) fn next(&self) -> Option<usize> {
        let head = self.list.head();
        (head != NIL && self.credit > 0).then_some(head as usize)
    }

    /// A packet of `len` bytes leaves, as a `first` one or not.
    pub(super) fn sent(&mut self, len: u32, first: bool) {
        let len = i64::from(len);
        let spent = if first { len } else { 0 };
        self.credit = (self.credit + len / SHARE - spent).min(SAVED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kilobyte_of_a_flow_that_was_silent() {
        let (mut firsts, mut begun) = (Firsts::new(2), Begun::default());
        for before in 0..3 {
            firsts.came((0, &mut begun), false, 500, before);
        }
        assert_eq!((begun.waiting, firsts.next()), (2, Some(0)));
        firsts.left((0, &mut begun), 1);
        assert_eq!(firsts.next(), Some(0));
        firsts.left((0, &mut begun), 1);
        assert_eq!(firsts.next(), None, "the third is none");
        // Silence begins it again, but not behind a packet that still waits.
        firsts.came((0, &mut begun), true, 100, 1);
        assert_eq!(firsts.next(), None);
        firsts.came((0, &mut begun), true, 100, 0);
        assert_eq!(firsts.next(), Some(0));
        firsts.left((0, &mut begun), 3);
        assert_eq!(firsts.next(), None);
    }

    /// 3028 bytes are saved; then a packet of 100 bytes for every 1600.
    #[test]
    fn they_are_no_more_than_a_sixteenth() {
        let (mut firsts, mut begun) = (Firsts::new(1), Begun::default());
        firsts.came((0, &mut begun), true, 100, 0);
        let mut sent = 0;
        while firsts.next().is_some() {
            firsts.sent(100, true);
            sent += 1;
        }
        assert_eq!(sent, 33, "each earns 6 of its own 100");
        for _ in 0..160 {
            firsts.sent(1600, false);
            if firsts.next().is_some() {
                firsts.sent(100, true);
                sent += 1;
            }
        }
        assert!((33 + 158..=33 + 172).contains(&sent), "{sent}");
    }
}
