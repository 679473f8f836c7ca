//! Which side of the link the home is on.
//!
//! A home has a few addresses, and the world that it talks to has many. So the side with fewer
//! addresses seen lately is the home's. They are counted by their hashes in a bitmap, which tells
//! dozens apart; no more is needed. A router that knows its side can set it ([`Side`]).

use super::params::Side;
use crate::Hosts;
use units::{Duration, Instant};

/// Hashes seen in this span and in the one before count.
const SPAN: Duration = Duration::from_secs(30);
const WORDS: usize = 4;

/// Addresses that were seen, each a bit.
#[derive(Debug, Clone, Copy, Default)]
struct Seen([u64; WORDS]);

impl Seen {
    fn insert(&mut self, hash: u32) {
        let bit = hash as usize % (64 * WORDS);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Bits that are set here or in `other`.
    fn count(&self, other: &Seen) -> u32 {
        let both = self.0.iter().zip(&other.0);
        both.map(|(one, other)| (one | other).count_ones()).sum()
    }
}

/// The addresses of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    sources: [Seen; 2],
    destinations: [Seen; 2],
    since: Instant,
    /// The home's side as far as it is known.
    home: Side,
}

impl Sides {
    pub(super) fn new(now: Instant) -> Self {
        Sides {
            sources: [Seen::default(); 2],
            destinations: [Seen::default(); 2],
            since: now,
            home: Side::Destination,
        }
    }

    /// A flow between `hosts` begins `now`. The home's side stays if it is `fixed`.
    pub(super) fn note(&mut self, now: Instant, hosts: Hosts, fixed: bool) {
        if now.since(self.since) >= SPAN {
            self.since = now;
            for seen in [&mut self.sources, &mut self.destinations] {
                *seen = [Seen::default(), seen[0]];
            }
        }
        self.sources[0].insert(hosts.source);
        self.destinations[0].insert(hosts.destination);
        if fixed {
            return;
        }
        let count = |[new, old]: &[Seen; 2]| new.count(old);
        let (sources, destinations) = (count(&self.sources), count(&self.destinations));
        // Equal numbers on both sides have no effect.
        if sources < destinations {
            self.home = Side::Source;
        } else if destinations < sources {
            self.home = Side::Destination;
        }
    }

    /// The hash that stands for the home's end of `hosts`, if the home is configured to be on
    /// `side`.
    pub(super) fn host(&self, side: Side, hosts: Hosts) -> u32 {
        let side = match side {
            Side::Auto => self.home,
            told => told,
        };
        match side {
            Side::Source => hosts.source,
            Side::Destination => hosts.destination,
            Side::Auto | Side::None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    fn hosts(source: u32, destination: u32) -> Hosts {
        Hosts {
            source,
            destination,
        }
    }

    #[test]
    fn the_home_is_where_fewer_addresses_are() {
        let mut sides = Sides::new(ms(0));
        for server in 0..12 {
            sides.note(ms(0), hosts(100 + server, server % 3), false);
        }
        assert_eq!(sides.host(Side::Auto, hosts(107, 1)), 1, "a downlink");
        let mut sides = Sides::new(ms(0));
        for server in 0..12 {
            sides.note(ms(0), hosts(server % 3, 100 + server), false);
        }
        assert_eq!(sides.host(Side::Auto, hosts(1, 107)), 1, "an uplink");
        assert_eq!(sides.host(Side::Destination, hosts(1, 107)), 107);
        assert_eq!(sides.host(Side::None, hosts(1, 107)), 0);
    }

    /// Twelve senders to one receiver; from 40 s on one sender to twelve receivers. At 59 s the first
    /// twelve still count, at 61 s they do not.
    #[test]
    fn what_was_seen_long_ago_does_not_count() {
        let mut sides = Sides::new(ms(0));
        for other in 0..12 {
            sides.note(ms(0), hosts(100 + other, 1), false);
        }
        for other in 0..12 {
            sides.note(ms(40_000), hosts(2, 200 + other), false);
        }
        sides.note(ms(59_000), hosts(2, 200), false);
        assert_eq!(sides.host(Side::Auto, hosts(2, 200)), 200);
        sides.note(ms(70_001), hosts(2, 200), false);
        assert_eq!(sides.host(Side::Auto, hosts(2, 200)), 2);
    }
}
