//! Who is in the household, what they want, and what is left for this host.

use super::message::{HouseholdMessage, PEERS};
use std::collections::BTreeMap;
use units::{Duration, Instant, Rate};

/// A member of which nothing fresh came for so long is gone.
pub(super) const LAPSE: Duration = Duration::from_secs(1);
/// A message is fresh if its sender had heard one of this host's last messages, so many of them.
const RECENT: u64 = 5;

/// The members, as this host knows them.
#[derive(Debug)]
pub(super) struct Members {
    own: u64,
    /// Messages sent.
    number: u64,
    others: BTreeMap<u64, Other>,
}

#[derive(Debug, Clone, Copy)]
struct Other {
    /// Of the newest message that was heard.
    number: u64,
    heard: Instant,
    /// When one last came that is no repetition of an old one, and what was wanted then.
    fresh: Option<(Instant, Rate)>,
}

impl Other {
    fn demand(&self, now: Instant) -> Option<Rate> {
        let (when, demand) = self.fresh?;
        (now.since(when) < LAPSE).then_some(demand)
    }
}

impl Members {
    /// Nobody but this host, whose number nobody else has.
    pub(super) fn new(own: u64) -> Self {
        Members {
            own,
            number: 0,
            others: BTreeMap::new(),
        }
    }

    /// The next message to the others.
    pub(super) fn next(&mut self, now: Instant, demand: Rate) -> HouseholdMessage {
        self.forget(now);
        self.number += 1;
        HouseholdMessage {
            sender: self.own,
            number: self.number,
            demand,
            heard: (self.others.iter().map(|(other, of)| (*other, of.number))).collect(),
        }
    }

    /// A message of somebody who has the key came.
    pub(super) fn hear(&mut self, now: Instant, message: &HouseholdMessage) {
        if message.sender == self.own {
            return;
        }
        self.forget(now);
        if !self.others.contains_key(&message.sender) && !self.has_room() {
            return;
        }
        let other = self.others.entry(message.sender).or_insert(Other {
            number: 0,
            heard: now,
            fresh: None,
        });
        if message.number <= other.number {
            return;
        }
        (other.number, other.heard) = (message.number, now);
        let oldest = self.number.saturating_sub(RECENT);
        let own = message.heard.iter().filter(|(peer, _)| *peer == self.own);
        if own
            .into_iter()
            .any(|(_, number)| (oldest + 1..=self.number).contains(number))
        {
            other.fresh = Some((now, message.demand));
        }
    }

    /// Others that are there.
    pub(super) fn count(&self, now: Instant) -> usize {
        let demands = self.others.values().filter_map(|other| other.demand(now));
        demands.count()
    }

    /// What this host may take of `total`: what is left when the others that want less than their fair share
    /// have it, in equal parts for the rest. Never less than `total` over all members, whatever they say.
    pub(super) fn share(&self, now: Instant, total: Rate) -> Rate {
        let demands = self.others.values().filter_map(|other| other.demand(now));
        let mut demands: Vec<u64> = demands.map(Rate::as_bits).collect();
        demands.sort_unstable();
        let (mut left, mut sharing) = (total.as_bits(), demands.len() as u64 + 1);
        for demand in demands {
            if demand > left / sharing {
                break;
            }
            left -= demand;
            sharing -= 1;
        }
        Rate::from_bits(left / sharing)
    }

    /// Room for one more: at need, that of one which has shown nothing fresh.
    fn has_room(&mut self) -> bool {
        if self.others.len() < PEERS {
            return true;
        }
        let stale = self
            .others
            .iter()
            .filter(|(_, other)| other.fresh.is_none());
        let oldest = stale
            .min_by_key(|(_, other)| other.heard)
            .map(|(other, _)| *other);
        oldest.is_some_and(|oldest| self.others.remove(&oldest).is_some())
    }

    fn forget(&mut self, now: Instant) {
        self.others
            .retain(|_, other| now.since(other.heard) < LAPSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Rate = Rate::from_bits(u64::MAX);

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bits(mbit * 1_000_000)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// All tell all others what they want, twice: after that they know each other.
    fn told(now: Instant, members: &mut [Members], demands: &[Rate]) {
        for _ in 0..2 {
            for from in 0..members.len() {
                let message = members[from].next(now, demands[from]);
                for to in members.iter_mut() {
                    to.hear(now, &message);
                }
            }
        }
    }

    fn household(count: u64) -> Vec<Members> {
        (1..=count).map(Members::new).collect()
    }

    #[test]
    fn one_alone_has_all() {
        assert_eq!(Members::new(1).share(at(0), mbit(20)), mbit(20));
    }

    #[test]
    fn who_wants_little_leaves_the_rest() {
        let mut members = household(3);
        told(at(0), &mut members, &[mbit(2), ALL, ALL]);
        let shares = |members: &[Members]| -> Vec<u64> {
            let shares = members.iter().map(|one| one.share(at(0), mbit(20)));
            shares.map(|share| share.as_bits() / 1000).collect()
        };
        // The first may begin with a third at once, though it wants less now.
        assert_eq!(shares(&members), [6_666, 9_000, 9_000]);
        told(at(0), &mut members, &[mbit(2), mbit(3), ALL]);
        assert_eq!(shares(&members), [8_500, 9_000, 15_000]);
    }

    #[test]
    fn who_is_gone_leaves_all_within_a_second() {
        let mut members = household(2);
        told(at(0), &mut members, &[ALL, ALL]);
        assert_eq!(members[0].share(at(999), mbit(20)), mbit(10));
        assert_eq!(members[0].share(at(1000), mbit(20)), mbit(20));
        assert_eq!(
            (members[0].count(at(999)), members[0].count(at(1000))),
            (1, 0)
        );
    }

    /// Somebody without the key sends again what was recorded: from this run, and from one before.
    #[test]
    fn an_old_message_counts_for_nothing() {
        let (mut here, mut there) = (Members::new(1), Members::new(2));
        there.hear(at(0), &here.next(at(0), ALL));
        let old = there.next(at(0), ALL);
        here.hear(at(0), &old);
        assert_eq!(here.share(at(500), mbit(20)), mbit(10), "it was fresh");
        for ms in (0..5000).step_by(200) {
            here.next(at(ms), ALL);
            here.hear(at(ms), &old);
        }
        assert_eq!(here.share(at(5000), mbit(20)), mbit(20));
        let mut again = Members::new(3);
        again.next(at(0), ALL);
        again.hear(at(0), &old);
        assert_eq!(again.share(at(0), mbit(20)), mbit(20));
    }

    /// A message whose number is of the future, and its own.
    #[test]
    fn what_was_never_sent_proves_nothing() {
        let mut here = Members::new(1);
        here.next(at(0), ALL);
        let forged = |sender, number| HouseholdMessage {
            sender,
            number: 1,
            demand: ALL,
            heard: vec![(1, number)],
        };
        here.hear(at(0), &forged(2, 0));
        here.hear(at(0), &forged(3, 2));
        here.hear(at(0), &forged(1, 1));
        assert_eq!(here.count(at(0)), 0);
        here.hear(at(0), &forged(4, 1));
        assert_eq!(here.count(at(0)), 1);
    }

    /// More than a household has: who was there stays, and those that show nothing fresh make room.
    #[test]
    fn there_is_room_for_so_many() {
        let mut here = Members::new(0);
        let stranger = |sender, heard: bool| HouseholdMessage {
            sender,
            number: 1,
            demand: ALL,
            heard: if heard { vec![(0, 1)] } else { Vec::new() },
        };
        here.next(at(0), ALL);
        for sender in 1..=1000 {
            here.hear(at(0), &stranger(sender, false));
        }
        assert_eq!((here.others.len(), here.count(at(0))), (PEERS, 0));
        for sender in 2001..=2100 {
            here.hear(at(0), &stranger(sender, true));
        }
        assert_eq!(here.count(at(0)), PEERS);
        assert_eq!(here.next(at(0), ALL).heard.len(), PEERS);
    }

    proptest! {
        /// Whatever the others say, this host has its fair part; and if all tell the truth, the line is not
        /// asked for more than it carries.
        #[test]
        fn nobody_takes_the_fair_part_of_another(
            demands in prop::collection::vec(prop_oneof![Just(u64::MAX), 0..40_000_000u64], 1..12),
        ) {
            let total = mbit(20);
            let mut members = household(demands.len() as u64);
            let demands: Vec<Rate> = demands.into_iter().map(Rate::from_bits).collect();
            told(at(0), &mut members, &demands);
            let shares: Vec<u64> = members.iter().map(|one| one.share(at(0), total).as_bits()).collect();
            prop_assert!(shares.iter().all(|share| *share >= total.as_bits() / demands.len() as u64));
            let taken = shares.iter().zip(&demands).map(|(share, demand)| (*share).min(demand.as_bits()));
            prop_assert!(taken.sum::<u64>() <= total.as_bits());
        }
    }
}
