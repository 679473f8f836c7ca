//! Deficit-weighted round robin between the classes.
//!
//! A class may send while its deficit is not negative, one packet in turn, and pays the packet's
//! length. If no class with packets may send, every class is given the credit of as many rounds as
//! the first of them needs; in a round the heaviest class is given `quantum` and the others in
//! proportion. So a class that owes nothing waits for one packet of each other class, and shares
//! are right within a packet. A class without packets keeps no credit, but keeps its debt until its
//! last flow leaves it or all classes are empty.

use super::MAX_CLASSES;

/// Deficits count 2^-10 bytes, so that a small weight is not rounded away.
const FRACTION: u32 = 10;

/// The most that a class may owe: no device sends more at once.
const MAX_DEBT: i64 = 1 << (24 + FRACTION);

/// The scheduler.
#[derive(Debug, Default)]
pub(super) struct Dwrr {
    deficit: [i64; MAX_CLASSES],
    turn: usize,
    /// Classes with packets at the last pick.
    last: ClassSet,
}

/// A set of classes, a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClassSet(u8);

const _: () = assert!(MAX_CLASSES == 8, "one bit of a u8 for each class");

impl ClassSet {
    pub(super) fn insert(&mut self, class: usize) {
        self.0 |= 1 << class;
    }

    pub(super) fn remove(&mut self, class: usize) {
        self.0 &= !(1 << class);
    }

    pub(super) const fn contains(self, class: usize) -> bool {
        self.0 >> class & 1 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn without(self, others: ClassSet) -> ClassSet {
        ClassSet(self.0 & !others.0)
    }

    /// Its classes, from `first` upwards and then from 0.
    pub(super) fn from(self, first: usize) -> impl Iterator<Item = usize> {
        let mut rest = self.0.rotate_right(first as u32);
        core::iter::from_fn(move || {
            let class = (rest != 0).then_some((first + rest.trailing_zeros() as usize) % 8)?;
            rest &= rest - 1;
            Some(class)
        })
    }
}

impl Dwrr {
    /// The class that sends next among those that are `backlogged`.
    pub(super) fn pick(
        &mut self,
        backlogged: ClassSet,
        weights: &[u64; MAX_CLASSES],
        quantum: u64,
    ) -> Option<usize> {
        // Only classes that had packets at the last pick can have credit.
        for class in self.last.without(backlogged).from(0) {
            self.deficit[class] = self.deficit[class].min(0);
        }
        self.last = backlogged;
        let class = match self.in_turn(backlogged) {
            Some(class) => class,
            None => {
                self.refill(backlogged, weights, quantum)?;
                self.in_turn(backlogged)?
            }
        };
        self.turn = (class + 1) % MAX_CLASSES;
        Some(class)
    }

    /// `class` sent `len` bytes.
    pub(super) fn charge(&mut self, class: usize, len: u32) {
        let deficit = self.deficit[class] - (i64::from(len) << FRACTION);
        self.deficit[class] = deficit.max(-MAX_DEBT);
    }

    /// `class`, which was picked, could not send: its turn comes again.
    pub(super) fn retry(&mut self, class: usize) {
        self.turn = class;
    }

    /// Forgives the debt of `class` when its last flow has left it.
    pub(super) fn forgive(&mut self, class: usize) {
        self.deficit[class] = 0;
    }

    /// Clears all credits and debts when no packets are queued.
    pub(super) fn forgive_all(&mut self) {
        self.deficit = [0; MAX_CLASSES];
    }

    fn in_turn(&self, backlogged: ClassSet) -> Option<usize> {
        backlogged
            .from(self.turn)
            .find(|&class| self.deficit[class] >= 0)
    }

    fn refill(
        &mut self,
        backlogged: ClassSet,
        weights: &[u64; MAX_CLASSES],
        quantum: u64,
    ) -> Option<()> {
        let waiting = || backlogged.from(0);
        let heaviest = waiting().map(|class| weights[class]).max()?.max(1);
        let credit = |class: usize| {
            let credit = (quantum << FRACTION) * weights[class] / heaviest;
            credit.max(1) as i64
        };
        let rounds = waiting()
            .map(|class| {
                let credit = credit(class);
                (credit - 1 - self.deficit[class]) / credit
            })
            .min()?;
        for (class, deficit) in self.deficit.iter_mut().enumerate() {
            let waits = backlogged.contains(class);
            if waits || *deficit < 0 {
                let sum = deficit.saturating_add(credit(class).saturating_mul(rounds));
                *deficit = if waits { sum } else { sum.min(0) };
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that the classes send in `packets` packets of the given lengths, always backlogged.
    fn serve(weights: &[u64], lens: &[u32], packets: u32) -> Vec<u64> {
        let mut dwrr = Dwrr::default();
        let mut all = [0; MAX_CLASSES];
        all[..weights.len()].copy_from_slice(weights);
        let backlogged = ClassSet(((1_u32 << weights.len()) - 1) as u8);
        let mut sent = vec![0; weights.len()];
        for _ in 0..packets {
            let class = dwrr.pick(backlogged, &all, 1514).unwrap();
            dwrr.charge(class, lens[class]);
            sent[class] += u64::from(lens[class]);
        }
        sent
    }

    #[test]
    fn bytes_go_by_weight_whatever_the_packets_lengths() {
        // 1:1 with packets of 1500 and 100 bytes: 16 packets carry 1500 + 15 · 100 bytes.
        let sent = serve(&[128, 128], &[1500, 100], 16_000);
        assert!(sent[0].abs_diff(1_500_000) <= 3000, "{sent:?}");
        assert!(sent[1].abs_diff(1_500_000) <= 3000, "{sent:?}");
        // 12:1 and 1000:1.
        let sent = serve(&[1536, 128], &[1500, 1500], 13_000);
        assert!(sent[1].abs_diff(1500 * 1000) <= 3000, "{sent:?}");
        let sent = serve(&[128_000, 128], &[1500, 1500], 100_100);
        assert!(sent[1].abs_diff(1500 * 100) <= 3000, "{sent:?}");
    }

    #[test]
    fn a_class_without_debt_waits_for_one_packet_of_each_other() {
        let mut dwrr = Dwrr::default();
        let weights = [128; MAX_CLASSES];
        let mut backlogged = ClassSet(0xFF);
        backlogged.remove(0);
        for _ in 0..1000 {
            let class = dwrr.pick(backlogged, &weights, 1514).unwrap();
            dwrr.charge(class, 1500);
        }
        backlogged.insert(0);
        let mut waited = 0;
        while dwrr.pick(backlogged, &weights, 1514) != Some(0) {
            waited += 1;
        }
        assert!(waited < MAX_CLASSES, "{waited}");
    }

    #[test]
    fn no_credit_is_saved_and_no_debt_forgotten() {
        let mut dwrr = Dwrr::default();
        let weights: [u64; MAX_CLASSES] = core::array::from_fn(|class| [128, 1280][class.min(1)]);
        let only = |class: usize| ClassSet(1 << class);
        let both = ClassSet(0b11);
        // Class 1 sends alone for long; class 0 has no more credit afterwards than before.
        for _ in 0..100 {
            assert_eq!(dwrr.pick(only(1), &weights, 1500), Some(1));
            dwrr.charge(1, 1500);
        }
        // Class 0 sends a packet and then has none: it owes 1500 bytes at 150 a round, which it
        // pays while class 1 sends ten packets.
        assert_eq!(dwrr.pick(both, &weights, 1500), Some(0));
        dwrr.charge(0, 1500);
        for _ in 0..5 {
            assert_eq!(dwrr.pick(only(1), &weights, 1500), Some(1));
            dwrr.charge(1, 1500);
        }
        let mut before = 0;
        while dwrr.pick(both, &weights, 1500) == Some(1) {
            dwrr.charge(1, 1500);
            before += 1;
        }
        assert!((4..=6).contains(&before), "{before}");
    }

    #[test]
    fn debts_are_forgiven() {
        let weights = [128; MAX_CLASSES];
        let both = ClassSet(0b11);
        // Class 0 sends 65,000 bytes; 44 packets of class 1 have as many.
        let served = |forgive: &dyn Fn(&mut Dwrr)| {
            let mut dwrr = Dwrr::default();
            assert_eq!(dwrr.pick(both, &weights, 1500), Some(0));
            dwrr.charge(0, 65_000);
            forgive(&mut dwrr);
            let mut before = 0;
            while dwrr.pick(both, &weights, 1500) == Some(1) {
                dwrr.charge(1, 1500);
                before += 1;
            }
            before
        };
        assert_eq!(served(&|_| ()), 44);
        assert_eq!(served(&|dwrr| dwrr.forgive(1)), 44);
        assert_eq!(served(&|dwrr| dwrr.forgive(0)), 1);
        assert_eq!(served(&Dwrr::forgive_all), 1);
    }
}
