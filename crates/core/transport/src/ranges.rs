//! Sets of byte ranges: data that a receiver holds out of order, data that a sender knows to be
//! held.

use std::collections::VecDeque;

/// Disjoint ranges `start..end`, ascending, none touching the next.
#[derive(Debug, Clone, Default)]
pub struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    /// No ranges.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `start..end` and calls `new` for each part that was not in the set.
    pub fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // Data that arrives in order needs no search.
        match self.0.back_mut() {
            Some(last) if last.1 > start => {}
            Some(last) if last.1 == start => {
                last.1 = end;
                return new(start, end);
            }
            _ => {
                self.0.push_back((start, end));
                return new(start, end);
            }
        }
        // The first range that ends at or after `start` is the first that can touch it.
        let first = self.0.partition_point(|&(_, range_end)| range_end < start);
        let mut last = first;
        let (mut low, mut high) = (start, end);
        let mut covered = start;
        while let Some(&(range_start, range_end)) = self.0.get(last) {
            if range_start > end {
                break;
            }
            if covered < range_start {
                new(covered, range_start);
            }
            covered = covered.max(range_end);
            low = low.min(range_start);
            high = high.max(range_end);
            last += 1;
        }
        if covered < end {
            new(covered, end);
        }
        if last == first {
            self.0.insert(first, (low, high));
        } else {
            self.0[first] = (low, high);
            self.0.drain(first + 1..last);
        }
    }

    /// Forgets everything below `limit`; returns the end of the range that begins at or below it,
    /// if one does: the end of the contiguous data from `limit` on.
    pub fn advance(&mut self, limit: u64) -> Option<u64> {
        let mut end = None;
        while let Some(&(start, range_end)) = self.0.front() {
            if start > limit {
                break;
            }
            end = Some(range_end).filter(|&e| e > limit).or(end);
            self.0.pop_front();
        }
        end
    }

    /// Forgets the part below `limit`, keeping the part above it.
    pub fn trim(&mut self, limit: u64) {
        while let Some(range) = self.0.front_mut() {
            if range.1 <= limit {
                self.0.pop_front();
            } else {
                range.0 = range.0.max(limit);
                return;
            }
        }
    }

    /// Removes up to `most` numbers from the front of the lowest range.
    pub fn take_front(&mut self, most: u64) -> Option<(u64, u64)> {
        let &(start, end) = self.0.front()?;
        let end = end.min(start.saturating_add(most));
        self.trim(end);
        Some((start, end))
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.0.front().copied()
    }

    /// The highest range.
    pub fn last(&self) -> Option<(u64, u64)> {
        self.0.back().copied()
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The range that holds `at`.
    #[inline]
    pub fn containing(&self, at: u64) -> Option<(u64, u64)> {
        if self.0.is_empty() {
            return None;
        }
        let index = self.0.partition_point(|&(_, end)| end <= at);
        self.0.get(index).copied().filter(|&(start, _)| start <= at)
    }

    /// The ranges, from the highest down.
    pub fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(ranges: &mut Ranges, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        ranges.insert(start, end, |a, b| parts.push((a, b)));
        parts
    }

    #[test]
    fn only_new_parts_are_named_and_ranges_merge() {
        let mut ranges = Ranges::default();
        assert_eq!(insert(&mut ranges, 10, 20), [(10, 20)]);
        assert_eq!(insert(&mut ranges, 30, 40), [(30, 40)]);
        assert_eq!(insert(&mut ranges, 10, 20), []);
        assert_eq!(insert(&mut ranges, 5, 35), [(5, 10), (20, 30)]);
        assert_eq!(ranges.descending().collect::<Vec<_>>(), [(5, 40)]);
        assert_eq!(insert(&mut ranges, 40, 41), [(40, 41)]);
        assert_eq!(ranges.containing(40), Some((5, 41)));
        assert_eq!(ranges.containing(41), None);
    }

    #[test]
    fn advancing_returns_what_is_contiguous() {
        let mut ranges = Ranges::default();
        insert(&mut ranges, 10, 20);
        insert(&mut ranges, 30, 40);
        assert_eq!(ranges.advance(5), None);
        assert_eq!(ranges.advance(10), Some(20));
        assert_eq!(ranges.advance(35), Some(40));
        assert!(ranges.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn like_a_set_of_bytes(
            inserts in proptest::collection::vec((0u64..60, 0u64..12), 1..30),
        ) {
            let mut ranges = Ranges::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (start, len) in inserts {
                let mut fresh = Vec::new();
                ranges.insert(start, start + len, |a, b| fresh.extend(a..b));
                let expected: Vec<u64> =
                    (start..start + len).filter(|byte| !bytes.contains(byte)).collect();
                proptest::prop_assert_eq!(fresh, expected);
                bytes.extend(start..start + len);
                for byte in 0..80 {
                    let held = ranges.containing(byte).is_some();
                    proptest::prop_assert_eq!(held, bytes.contains(&byte));
                }
            }
        }
    }
}
