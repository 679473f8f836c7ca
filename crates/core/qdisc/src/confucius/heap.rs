//! A binary heap of flows by the arrival of their oldest packet, from which any flow can leave.
//!
//! A flow is in at most one heap, so that one array of places serves the heaps of all classes and
//! no heap ever holds more entries than there are flows.

use crate::list::NIL;

/// The position of each flow in the heap that holds it, or [`NIL`].
#[derive(Debug)]
pub(super) struct HeapPlaces(Vec<u32>);

impl HeapPlaces {
    /// Places of `flows` flows, none of them in a heap.
    pub(super) fn new(flows: usize) -> Self {
        HeapPlaces(vec![NIL; flows])
    }

    /// Whether `flow` is in a heap.
    pub(super) fn holds(&self, flow: usize) -> bool {
        self.0[flow] != NIL
    }
}

#[derive(Debug, Clone, Copy)]
struct HeapEntry {
    arrival: u64,
    flow: u32,
}

/// The heap of one class.
#[derive(Debug, Default)]
pub(super) struct Heap(Vec<HeapEntry>);

impl Heap {
    /// The earliest arrival and its flow.
    pub(super) fn top(&self) -> Option<(u64, usize)> {
        let entry = self.0.first()?;
        Some((entry.arrival, entry.flow as usize))
    }

    /// Adds `flow`, which is in no heap.
    pub(super) fn push(&mut self, places: &mut HeapPlaces, arrival: u64, flow: usize) {
        self.0.push(HeapEntry {
            arrival,
            flow: flow as u32,
        });
        self.up(places, self.0.len() - 1);
    }

    /// Removes `flow`, which is in this heap.
    pub(super) fn remove(&mut self, places: &mut HeapPlaces, flow: usize) {
        let hole = places.0[flow] as usize;
        places.0[flow] = NIL;
        self.0.swap_remove(hole);
        if hole < self.0.len() {
            let settled = self.up(places, hole);
            self.down(places, settled);
        }
    }

    fn up(&mut self, places: &mut HeapPlaces, mut at: usize) -> usize {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.0[parent].arrival <= self.0[at].arrival {
                break;
            }
            self.0.swap(parent, at);
            places.0[self.0[at].flow as usize] = at as u32;
            at = parent;
        }
        places.0[self.0[at].flow as usize] = at as u32;
        at
    }

    fn down(&mut self, places: &mut HeapPlaces, mut at: usize) {
        loop {
            let left = 2 * at + 1;
            let Some(&first) = self.0.get(left) else {
                break;
            };
            let right_is_earlier = self
                .0
                .get(left + 1)
                .is_some_and(|right| right.arrival < first.arrival);
            let child = left + usize::from(right_is_earlier);
            if self.0[at].arrival <= self.0[child].arrival {
                break;
            }
            self.0.swap(at, child);
            places.0[self.0[at].flow as usize] = at as u32;
            at = child;
        }
        places.0[self.0[at].flow as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_come_out_by_arrival_although_others_left_from_between() {
        let mut places = HeapPlaces::new(16);
        let mut heap = Heap::default();
        // 5·flow mod 16 takes every arrival from 0 to 15 once.
        for flow in 0..16 {
            heap.push(&mut places, (5 * flow as u64) % 16, flow);
        }
        for flow in [3, 0, 13, 6] {
            heap.remove(&mut places, flow);
            assert!(!places.holds(flow));
        }
        let mut found = Vec::new();
        while let Some((arrival, flow)) = heap.top() {
            assert_eq!(arrival, (5 * flow as u64) % 16);
            found.push(arrival);
            heap.remove(&mut places, flow);
        }
        // Without 5·3 = 15, 0, 5·13 = 65 ≡ 1 and 5·6 = 30 ≡ 14.
        assert_eq!(found, (2..14).collect::<Vec<_>>());
    }
}
