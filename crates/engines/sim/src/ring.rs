//! A queue that is sorted by nature, in a ring whose size is a power of two: in and out in a few
//! instructions each.

/// Sorted by key; things with equal keys stay in the order in which they came.
#[derive(Debug)]
pub struct Ring<K, T> {
    slots: Vec<(K, T)>,
    /// How many went in and out so far.
    came: usize,
    went: usize,
}

/// How many a thing may overtake.
const OVERTAKES: usize = 8;

impl<K, T> Default for Ring<K, T> {
    fn default() -> Self {
        Ring {
            slots: Vec::new(),
            came: 0,
            went: 0,
        }
    }
}

impl<K: Copy + Ord, T: Copy> Ring<K, T> {
    /// The place of the thing with this number.
    fn place(&self, number: usize) -> usize {
        number & self.slots.len().wrapping_sub(1)
    }

    fn len(&self) -> usize {
        self.came.wrapping_sub(self.went)
    }

    fn key(&self, number: usize) -> K {
        self.slots[self.place(number)].0
    }

    /// Inserts a thing behind those whose keys do not exceed its own; not if it would be the first of
    /// several, or before more than a few.
    #[inline(never)]
    pub fn overtake(&mut self, key: K, thing: T) -> bool {
        let furthest = self.len().min(OVERTAKES);
        if furthest == 0 || key < self.key(self.came.wrapping_sub(furthest)) {
            return false;
        }
        let mut at = self.came;
        self.append(key, thing);
        while key < self.key(at.wrapping_sub(1)) {
            let place = self.place(at);
            at = at.wrapping_sub(1);
            self.slots[place] = self.slots[self.place(at)];
        }
        let place = self.place(at);
        self.slots[place] = (key, thing);
        true
    }

    /// Appends a thing whose key no other exceeds.
    #[inline]
    pub fn append(&mut self, key: K, thing: T) {
        if self.len() == self.slots.len() {
            self.grow((key, thing));
        }
        let place = self.place(self.came);
        self.slots[place] = (key, thing);
        self.came = self.came.wrapping_add(1);
    }

    /// Twice the room; new places hold `any` until something is put there.
    #[cold]
    fn grow(&mut self, any: (K, T)) {
        let old = core::mem::take(&mut self.slots);
        let size = (2 * old.len()).max(8);
        self.slots.resize(size, any);
        let mask = old.len().wrapping_sub(1);
        for number in 0..old.len() {
            let number = self.went.wrapping_add(number);
            self.slots[number & (size - 1)] = old[number & mask];
        }
    }

    /// Takes the first thing.
    #[inline]
    pub fn pop(&mut self) -> Option<(K, T)> {
        if self.came == self.went {
            return None;
        }
        let first = self.slots[self.place(self.went)];
        self.went = self.went.wrapping_add(1);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is inserted comes out by key, and at equal keys in the order of insertion.
        #[test]
        fn like_a_sorted_list(
            steps in proptest::collection::vec(
                (proptest::bool::weighted(0.55), 0usize..30), 1..500,
            ),
        ) {
            let (mut ring, mut list) = (Ring::default(), Vec::<(usize, usize)>::new());
            for (number, (push, back)) in steps.into_iter().enumerate() {
                if !push {
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(ring.pop(), first);
                    continue;
                }
                let key = (number + 30).saturating_sub(back);
                let place = list.partition_point(|&(other, _)| other <= key);
                if place == list.len() && back % 2 == 0 {
                    ring.append(key, number);
                } else {
                    let inserted = place > 0 && list.len() - place < OVERTAKES;
                    prop_assert_eq!(ring.overtake(key, number), inserted);
                    if !inserted {
                        continue;
                    }
                }
                list.insert(place, (key, number));
            }
            prop_assert!(std::iter::from_fn(|| ring.pop()).eq(list));
        }
    }
}
