//! Members by backlog, to a factor of two: lists by the binary logarithm of their bytes.
//!
//! Finding the fattest flow by looking at all of them (`fq_codel`) takes too long with 65,536; a heap
//! (`cake`) costs every packet its way through it. Here a packet mostly stays within a power of two.

use crate::list::{List, NIL, Nodes};

const CLASSES: usize = 16;
/// Up to 2 kB are one class.
const SMALLEST: u32 = 11;

/// Members by their bytes.
#[derive(Debug, Default)]
pub(super) struct BySize {
    lists: [List; CLASSES],
    /// A bit for each list that is not empty.
    used: u32,
}

fn class(bytes: u64) -> Option<usize> {
    let log = bytes.checked_ilog2()?;
    Some((log.saturating_sub(SMALLEST - 1) as usize).min(CLASSES - 1))
}

/// With the highest binary digit of the smallest class, unless there are none.
const fn ranked(bytes: u64) -> u64 {
    bytes | ((bytes != 0) as u64) << (SMALLEST - 1)
}

impl BySize {
    /// Updates `member`, whose backlog was `before` bytes and is now `after`.
    // In place: a packet mostly stays within a power of two.
    #[inline]
    pub(super) fn update(&mut self, nodes: &mut Nodes, member: usize, before: u64, after: u64) {
        let (from, to) = (ranked(before), ranked(after));
        // Numbers with the same highest digit, and no others, differ by less than either.
        if from ^ to > from.min(to) {
            self.move_member(nodes, member, before, after);
        }
    }

    #[inline(never)]
    fn move_member(&mut self, nodes: &mut Nodes, member: usize, before: u64, after: u64) {
        let (from, to) = (class(before), class(after));
        if from == to {
            return;
        }
        if let Some(from) = from {
            nodes.remove(&mut self.lists[from], member as u32);
            if self.lists[from].head() == NIL {
                self.used &= !(1 << from);
            }
        }
        if let Some(to) = to {
            nodes.push_back(&mut self.lists[to], member as u32);
            self.used |= 1 << to;
        }
    }

    /// A member whose backlog is at least half that of any other, up to 64 MB.
    pub(super) fn largest(&self) -> Option<usize> {
        let class = self.used.checked_ilog2()?;
        Some(self.lists[class as usize].head() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn nobody_has_more_than_twice_what_the_largest_has() {
        let mut random = Stream::new(1, "by_size");
        let (mut by_size, mut nodes) = (BySize::default(), Nodes::with_len(50));
        let mut bytes = [0_u64; 50];
        for _ in 0..20_000 {
            let member = random.below(50) as usize;
            let most = 1 << random.below(26);
            let after = random.below(3).min(1) * random.below(most);
            by_size.update(&mut nodes, member, bytes[member], after);
            bytes[member] = after;
            let most = bytes.iter().max().copied().unwrap_or(0);
            match by_size.largest() {
                Some(largest) => assert!(bytes[largest] * 2 > most || most < 2048, "{bytes:?}"),
                None => assert_eq!(most, 0),
            }
        }
    }
}
