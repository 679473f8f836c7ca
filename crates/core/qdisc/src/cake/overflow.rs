//! The longest queue, for when the buffer is full (`overflow_heap`).
//!
//! A binary heap of all queues by their backlog. It costs nothing as long as nothing is dropped: it
//! is built at the first overflow, then kept in order for the next 65 535 packets that leave, and
//! for as many again after each further overflow.

/// Packets that leave before the heap is given up (`overflow_timeout`).
const KEPT: u32 = 65_535;

/// Queues by backlog.
#[derive(Debug)]
pub(super) struct Longest {
    heap: Vec<u16>,
    /// The position of each queue in the heap.
    places: Vec<u16>,
    /// Packets that may leave before the heap is given up; 0 while it is in no order.
    left: u32,
}

impl Longest {
    /// A heap of `queues` queues, 65 536 at most.
    pub(super) fn new(queues: usize) -> Self {
        Longest {
            heap: (0..queues).map(|queue| queue as u16).collect(),
            places: (0..queues).map(|queue| queue as u16).collect(),
            left: 0,
        }
    }

    /// The queue with the largest backlog.
    pub(super) fn top(&mut self, backlog: impl Fn(usize) -> u64) -> usize {
        if self.left == 0 {
            for at in (0..self.heap.len() / 2).rev() {
                self.down(at, &backlog);
            }
        }
        self.left = KEPT;
        self.heap[0].into()
    }

    /// A packet joined `queue`.
    pub(super) fn grown(&mut self, queue: usize, backlog: impl Fn(usize) -> u64) {
        if self.left > 0 {
            let mut at = usize::from(self.places[queue]);
            while at > 0 {
                let parent = (at - 1) / 2;
                if backlog(self.heap[at].into()) <= backlog(self.heap[parent].into()) {
                    break;
                }
                self.swap(at, parent);
                at = parent;
            }
        }
    }

    /// A packet left `queue`, or was dropped from it.
    pub(super) fn shrunk(&mut self, queue: usize, backlog: impl Fn(usize) -> u64) {
        if self.left > 0 {
            self.down(self.places[queue].into(), &backlog);
        }
    }

    /// A packet was sent.
    pub(super) fn sent(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    fn down(&mut self, mut at: usize, backlog: &impl Fn(usize) -> u64) {
        loop {
            let mut largest = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len()
                    && backlog(self.heap[child].into()) > backlog(self.heap[largest].into())
                {
                    largest = child;
                }
            }
            if largest == at {
                return;
            }
            self.swap(at, largest);
            at = largest;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[usize::from(self.heap[a])] = a as u16;
        self.places[usize::from(self.heap[b])] = b as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Stream;

    #[test]
    fn the_longest_of_many_queues_that_come_and_go() {
        let mut chance = Stream::new(1, "overflow");
        let mut bytes = vec![0u64; 100];
        let mut longest = Longest::new(bytes.len());
        for round in 0..200_000 {
            let queue = chance.below(100) as usize;
            if chance.below(2) == 0 {
                bytes[queue] += chance.below(2000);
                longest.grown(queue, |n| bytes[n]);
            } else {
                bytes[queue] -= chance.below(bytes[queue] + 1);
                longest.shrunk(queue, |n| bytes[n]);
                longest.sent();
            }
            // Often enough that it is kept, and once with a pause in which it is given up.
            if round % 1000 == 0 && !(10_000..180_000).contains(&round) {
                let top = longest.top(|n| bytes[n]);
                assert_eq!(Some(&bytes[top]), bytes.iter().max(), "round {round}");
            }
        }
    }
}
