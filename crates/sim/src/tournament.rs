//! The least of many keys that change one at a time.

/// Keys that compete in one node. Eight take one level for the lanes of a usual scenario, and three
/// for those of hundreds of servers.
const WIDTH: usize = 8;

/// What competes: a moment, and a number that decides between equal moments.
pub type Key = (u64, u64);

/// Greater than any other key: nobody competes from this leaf.
pub const ABSENT: Key = (u64::MAX, u64::MAX);

/// A tournament: the leaves of a tree hold a key each, and the least of the keys in a node goes up
/// to the next. A change costs the comparisons of one node on each level, and stops where it
/// decides nothing.
#[derive(Debug)]
pub struct Tournament {
    /// The root first; below node `n` are `WIDTH` nodes from `WIDTH * n + 1` on.
    nodes: Vec<Node>,
    /// The first of the nodes that hold leaves.
    lowest: usize,
    least: Key,
}

/// The moments apart from the numbers, which are hardly ever looked at.
#[derive(Debug, Clone, Copy)]
struct Node {
    moments: [u64; WIDTH],
    numbers: [u64; WIDTH],
}

const EMPTY: Node = Node {
    moments: [ABSENT.0; WIDTH],
    numbers: [ABSENT.1; WIDTH],
};

impl Node {
    fn get(&self, slot: usize) -> Key {
        (self.moments[slot], self.numbers[slot])
    }

    fn set(&mut self, slot: usize, key: Key) {
        (self.moments[slot], self.numbers[slot]) = key;
    }

    fn least(&self) -> Key {
        let (mut moment, mut number) = self.get(0);
        for slot in 1..WIDTH {
            let other = self.moments[slot];
            if other < moment || (other == moment && self.numbers[slot] < number) {
                (moment, number) = (other, self.numbers[slot]);
            }
        }
        (moment, number)
    }
}

impl Default for Tournament {
    fn default() -> Self {
        Tournament {
            nodes: vec![EMPTY],
            lowest: 0,
            least: ABSENT,
        }
    }
}

impl Tournament {
    /// Makes room for leaves below this number.
    pub fn reserve(&mut self, leaves: usize) {
        while (self.nodes.len() - self.lowest) * WIDTH < leaves {
            let had = self.nodes.split_off(self.lowest);
            self.lowest = self.lowest * WIDTH + 1;
            self.nodes.clear();
            self.nodes.resize(self.lowest * WIDTH + 1, EMPTY);
            for (place, node) in had.iter().enumerate() {
                for slot in 0..WIDTH {
                    self.set(place * WIDTH + slot, node.get(slot));
                }
            }
        }
    }

    /// The least key; [`ABSENT`] if there is none.
    #[inline]
    pub fn least(&self) -> Key {
        self.least
    }

    /// Puts a key below the present one, or an equal one, into a leaf: where it does not win, nothing
    /// above changes.
    #[inline]
    pub fn lower(&mut self, leaf: usize, key: Key) {
        let (mut place, mut slot) = (self.lowest + leaf / WIDTH, leaf % WIDTH);
        loop {
            self.nodes[place].set(slot, key);
            if place == 0 {
                self.least = self.least.min(key);
                return;
            }
            (place, slot) = ((place - 1) / WIDTH, (place - 1) % WIDTH);
            if self.nodes[place].get(slot) <= key {
                return;
            }
        }
    }

    /// Replaces the key of a leaf.
    #[inline]
    pub fn set(&mut self, leaf: usize, key: Key) {
        let (mut place, mut slot) = (self.lowest + leaf / WIDTH, leaf % WIDTH);
        let mut least = key;
        loop {
            let node = &mut self.nodes[place];
            node.set(slot, least);
            least = node.least();
            if place == 0 {
                self.least = least;
                return;
            }
            (place, slot) = ((place - 1) / WIDTH, (place - 1) % WIDTH);
            if self.nodes[place].get(slot) == least {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_is_that_of_a_list(
            changes in proptest::collection::vec((0usize..600, 0u64..9, 0u64..9), 1..300),
        ) {
            let (mut tournament, mut list) = (Tournament::default(), Vec::new());
            prop_assert_eq!(tournament.least(), ABSENT);
            for (leaf, moment, number) in changes {
                if list.len() <= leaf {
                    list.resize(leaf + 1, ABSENT);
                    tournament.reserve(leaf + 1);
                }
                let key = if moment == 0 { ABSENT } else { (moment, number) };
                if key <= list[leaf] {
                    tournament.lower(leaf, key);
                } else {
                    tournament.set(leaf, key);
                }
                list[leaf] = key;
                prop_assert_eq!(tournament.least(), *list.iter().min().unwrap());
            }
        }
    }
}
