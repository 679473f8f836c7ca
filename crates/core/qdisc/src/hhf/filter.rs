//! The multi-stage filter: which flows sent much, in a fixed amount of memory.
//!
//! C. Estan and G. Varghese, "New Directions in Traffic Measurement and Accounting", SIGCOMM 2002,
//! section 3.2, with conservative update (section 3.3.2). A flow has one counter in each of four
//! arrays and shares each with others; the smallest of them is at least the bytes of the flow, and
//! rarely much more.

use units::{Duration, Instant};

/// Arrays (`HHF_ARRAYS_CNT`).
const STAGES: usize = 4;
/// Bits that choose a counter of an array (`HHF_BIT_MASK_LEN`).
const BITS: u32 = 10;

/// Four arrays of 1024 counters.
#[derive(Debug)]
pub struct Filter {
    counters: Vec<Counter>,
    /// Counters of earlier rounds count as zero: Linux clears bits for that.
    round: u64,
    round_began: Instant,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    bytes: u32,
    round: u64,
    /// The last packet that was counted here, of any round.
    last: u64,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            counters: vec![Counter::default(); STAGES << BITS],
            round: 1,
            round_began: Instant::ZERO,
        }
    }
}

impl Filter {
    /// Resets to zero if the last reset was more than `timeout` ago.
    pub fn refresh(&mut self, now: Instant, timeout: Duration) {
        if now.since(self.round_began) > timeout {
            self.round += 1;
            self.round_began = now;
        }
    }

    /// Bytes that the flow of `hash` sent in this round, with `len` more; perhaps fewer.
    pub fn estimate(&self, hash: u32, len: u32) -> u32 {
        let bytes = |counter: Counter| {
            if counter.round == self.round {
                counter.bytes.saturating_add(len)
            } else {
                len
            }
        };
        self.smallest(hash, bytes)
    }

    /// Raises the counters of `hash` to `bytes`, those that are lower.
    pub fn raise(&mut self, hash: u32, bytes: u32) {
        for place in places(hash) {
            let counter = &mut self.counters[place];
            if counter.round != self.round {
                counter.round = self.round;
                counter.bytes = 0;
            }
            counter.bytes = counter.bytes.max(bytes);
        }
    }

    /// Notes that the flow of `hash` sent the packet with this number; numbers increase.
    pub fn note(&mut self, hash: u32, number: u64) {
        for place in places(hash) {
            self.counters[place].last = number;
        }
    }

    /// The number of the flow's last packet, or a higher one; 0 if it sent none.
    pub fn last(&self, hash: u32) -> u64 {
        self.smallest(hash, |counter| counter.last)
    }

    fn smallest<T: Ord>(&self, hash: u32, what: impl Fn(Counter) -> T) -> T {
        let [a, b, c, d] = places(hash).map(|place| what(self.counters[place]));
        a.min(b).min(c).min(d)
    }
}

/// The positions of a flow's counters: chosen by three parts of ten bits of the hash, and by these
/// and the two bits left over, all combined by exclusive or.
fn places(hash: u32) -> [usize; STAGES] {
    let part = |stage: u32| (hash >> (stage * BITS)) as usize & ((1 << BITS) - 1);
    let parts = [part(0), part(1), part(2)];
    let rest = (hash >> (3 * BITS)) as usize;
    let array = |stage: usize, part: usize| (stage << BITS) + part;
    [
        array(0, parts[0]),
        array(1, parts[1]),
        array(2, parts[2]),
        array(3, parts[0] ^ parts[1] ^ parts[2] ^ rest),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts 1, 2, 3 and the bits 3; 1 ^ 2 ^ 3 ^ 3 = 3.
    #[test]
    fn four_places() {
        let hash = 3 << 30 | 3 << 20 | 2 << 10 | 1;
        assert_eq!(places(hash), [1, 1024 + 2, 2048 + 3, 3072 + 3]);
        assert!(places(u32::MAX).into_iter().all(|place| place < 4096));
    }

    /// A has parts 1, 0, 0, so that its counters are 1, 0, 0, 1; B has 1, 5, 0 and 4: it shares the
    /// first and the third. A's 2000 bytes are not B's: two of B's counters have seen none. B's 500
    /// then raise only these two, and A's next packet finds 2000 in all of its own.
    #[test]
    fn shared_counters_are_raised_conservatively() {
        let (a, b) = (1, 5 << 10 | 1);
        let mut filter = Filter::default();
        for _ in 0..2 {
            let bytes = filter.estimate(a, 1000);
            filter.raise(a, bytes);
        }
        assert_eq!(filter.estimate(b, 500), 500);
        filter.raise(b, 500);
        assert_eq!(filter.estimate(a, 1000), 3000);
        assert_eq!(filter.estimate(b, 500), 1000);
    }

    #[test]
    fn rounds_start_from_zero() {
        let mut filter = Filter::default();
        let timeout = Duration::from_millis(40);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        filter.refresh(at(1000), timeout);
        filter.raise(7, 900);
        filter.note(7, 3);
        filter.refresh(at(1040), timeout);
        assert_eq!(filter.estimate(7, 100), 1000);
        filter.refresh(at(1041), timeout);
        assert_eq!(filter.estimate(7, 100), 100);
        assert_eq!(filter.last(7), 3, "packets are not forgotten");
        assert_eq!(filter.last(8), 0);
    }
}
