//! The flows that are heavy hitters.

use units::{Duration, Instant};

/// Chains of the table (`HH_FLOWS_CNT`).
const CHAINS: usize = 1024;

/// A heavy hitter.
#[derive(Debug, Clone, Copy)]
pub struct Heavy {
    hash: u32,
    /// The arrival of its last packet.
    hit: Instant,
    /// The number of its last packet among those of the heavy bucket.
    last: u64,
    /// The number of the packet of the other bucket that has to leave before its own.
    pub after: u64,
}

impl Heavy {
    /// Its packet `number` of the heavy bucket arrives.
    pub fn hit(&mut self, now: Instant, number: u64) {
        self.hit = now;
        self.last = number;
    }
}

/// The condition under which a heavy hitter becomes an ordinary flow again: silence, and no packets
/// queued.
#[derive(Debug, Clone, Copy)]
pub struct Expiry {
    /// The time.
    pub now: Instant,
    /// The silence after which a heavy hitter expires.
    pub timeout: Duration,
    /// How many packets have left the heavy bucket.
    pub left: u64,
}

impl Expiry {
    fn of(self, heavy: &Heavy) -> bool {
        self.now.since(heavy.hit) > self.timeout && heavy.last <= self.left
    }
}

/// All heavy hitters, in chains by hash.
#[derive(Debug)]
pub struct Table {
    chains: Vec<Vec<Heavy>>,
    /// With those that have expired and are still in their chains.
    count: u32,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            chains: vec![Vec::new(); CHAINS],
            count: 0,
        }
    }
}

impl Table {
    /// The heavy hitter of this hash, if it is one. Expired ones of its chain are taken out on the
    /// way, except at the end of the chain (`seek_list`).
    pub fn seek(&mut self, hash: u32, expiry: Expiry) -> Option<&mut Heavy> {
        let chain = &mut self.chains[hash as usize % CHAINS];
        let mut at = 0;
        while let Some(heavy) = chain.get(at) {
            if expiry.of(heavy) {
                if at + 1 == chain.len() {
                    return None;
                }
                chain.remove(at);
                self.count -= 1;
            } else if heavy.hash == hash {
                return chain.get_mut(at);
            } else {
                at += 1;
            }
        }
        None
    }

    /// Makes a flow a heavy hitter, in place of an expired one of its chain or as one more; `None`
    /// if there are `limit` already, expired ones of other chains among them (`alloc_new_hh`).
    pub fn insert(
        &mut self,
        hash: u32,
        after: u64,
        limit: u32,
        expiry: Expiry,
    ) -> Option<&mut Heavy> {
        let chain = &mut self.chains[hash as usize % CHAINS];
        let heavy = Heavy {
            hash,
            hit: expiry.now,
            last: 0,
            after,
        };
        if let Some(at) = chain.iter().position(|old| expiry.of(old)) {
            chain[at] = heavy;
            return chain.get_mut(at);
        }
        if self.count >= limit {
            return None;
        }
        self.count += 1;
        chain.push(heavy);
        chain.last_mut()
    }

    /// The heavy hitter of this hash, expired or not.
    pub fn get(&self, hash: u32) -> Option<&Heavy> {
        let chain = &self.chains[hash as usize % CHAINS];
        chain.iter().find(|heavy| heavy.hash == hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Expiry {
        Expiry {
            now: Instant::ZERO + Duration::from_millis(ms),
            timeout: Duration::from_secs(1),
            left: 10,
        }
    }

    /// Hashes 5, 1029 and 2053 are in one chain, 6 in another.
    #[test]
    fn expired_ones_make_room_in_their_chain() {
        let mut table = Table::default();
        assert!(table.insert(5, 0, 2, at(0)).is_some());
        assert!(table.insert(1029, 0, 2, at(500)).is_some());
        assert!(table.insert(6, 0, 2, at(1000)).is_none());
        assert!(table.seek(5, at(1000)).is_some());
        assert!(table.seek(5, at(1001)).is_none());
        // That one was taken out: there is room for one in any chain.
        assert!(table.insert(6, 0, 2, at(1001)).is_some());
        // 1029 has expired, but is the end of its chain, and only there is room.
        assert!(table.seek(1029, at(1501)).is_none());
        assert!(table.insert(7, 0, 2, at(1501)).is_none());
        assert!(table.insert(2053, 0, 2, at(1501)).is_some());
        assert!(table.get(1029).is_none());
    }

    #[test]
    fn a_flow_whose_packets_wait_does_not_expire() {
        let mut table = Table::default();
        let now = Instant::ZERO;
        table.insert(5, 0, 2, at(0)).unwrap().hit(now, 11);
        assert!(table.seek(5, at(9_999)).is_some());
        let left = Expiry {
            left: 11,
            ..at(9_999)
        };
        assert!(table.seek(5, left).is_none());
    }
}
