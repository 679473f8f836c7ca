//! What the line carried over the last time under load.
//!
//! A queue tells what the line carries; without one, only that it carries at least what passed. Counting
//! queues alone would count dips alone, since a queue stands mostly in dips. So a moment without a queue
//! counts as a capacity of at least what passed: Kaplan and Meier's estimate (J. Am. Stat. Assoc. 53,
//! 1958) of a quantile from values of which some are only known to be larger.

use std::collections::VecDeque;

/// How much time a sample stands for, in s.
pub const SLOT: f64 = 0.05;

/// Bins of capacity: twelve an octave, 6 % each, from 50 kbit/s to 13 Gbit/s.
const BINS: usize = 216;
const LEAST: f64 = 50e3;
const PER_OCTAVE: f64 = 12.0;

/// A capacity, in bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CapacitySample {
    /// This, as a queue told.
    Exactly(f64),
    /// At least this.
    AtLeast(f64),
}

/// The last samples, oldest first.
#[derive(Debug)]
pub struct Memory {
    most: usize,
    samples: VecDeque<(u8, bool)>,
    /// How many of each bin are exact, and how many are not.
    exact: [u16; BINS],
    at_least: [u16; BINS],
}

fn bin(capacity: f64) -> u8 {
    let octaves = libm::log2(capacity.max(LEAST) / LEAST);
    ((octaves * PER_OCTAVE) as usize).min(BINS - 1) as u8
}

/// The middle of a bin.
fn value(bin: usize) -> f64 {
    LEAST * libm::exp2((bin as f64 + 0.5) / PER_OCTAVE)
}

impl Memory {
    /// Remembers `seconds` under load, at most an hour.
    pub fn new(seconds: f64) -> Self {
        let most = (seconds.min(3600.0) / SLOT) as usize;
        Memory {
            most: most.min(usize::from(u16::MAX)),
            samples: VecDeque::with_capacity(most + 1),
            exact: [0; BINS],
            at_least: [0; BINS],
        }
    }

    /// A sample, for one slot of time.
    pub fn add(&mut self, sample: CapacitySample) {
        let (bin, exact) = match sample {
            CapacitySample::Exactly(capacity) => (bin(capacity), true),
            CapacitySample::AtLeast(capacity) => (bin(capacity), false),
        };
        self.samples.push_back((bin, exact));
        *self.count(bin, exact) += 1;
        self.keep(self.most);
    }

    fn count(&mut self, bin: u8, exact: bool) -> &mut u16 {
        if exact {
            &mut self.exact[usize::from(bin)]
        } else {
            &mut self.at_least[usize::from(bin)]
        }
    }

    /// Forgets all but the last `samples`.
    pub fn keep(&mut self, samples: usize) {
        while self.samples.len() > samples {
            if let Some((bin, exact)) = self.samples.pop_front() {
                *self.count(bin, exact) -= 1;
            }
        }
    }

    /// The capacity that the line is below for the share `below` of the time; none if it is not known to
    /// be for as long.
    pub fn quantile(&self, below: f64) -> Option<f64> {
        let mut at_risk = self.samples.len() as f64;
        let mut survive = 1.0;
        for bin in 0..BINS {
            let (exact, more) = (f64::from(self.exact[bin]), f64::from(self.at_least[bin]));
            if exact > 0.0 {
                survive *= 1.0 - exact / at_risk;
                if survive <= 1.0 - below {
                    return Some(value(bin));
                }
            }
            at_risk -= exact + more;
        }
        None
    }

    /// The most that passed without a queue, or that a queue told; 0 if nothing is known.
    pub fn carried(&self) -> f64 {
        let some = |bin: &usize| self.exact[*bin] > 0 || self.at_least[*bin] > 0;
        (0..BINS).rev().find(some).map_or(0.0, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memory(samples: &[(u32, CapacitySample)]) -> Memory {
        let mut memory = Memory::new(20.0);
        for (times, sample) in samples {
            for _ in 0..*times {
                memory.add(*sample);
            }
        }
        memory
    }

    #[test]
    fn rare_dips_do_not_become_what_is_usual() {
        use CapacitySample::{AtLeast, Exactly};
        // All that was measured is a dip, for a tenth of the time.
        let rare = memory(&[(40, Exactly(3e6)), (360, AtLeast(20e6))]);
        assert_eq!(rare.quantile(0.25), None);
        assert!(
            rare.quantile(0.1)
                .is_some_and(|q| (q / 3e6 - 1.0).abs() < 0.06)
        );
        assert!((rare.carried() / 20e6 - 1.0).abs() < 0.06);
        // For half of the time.
        let often = memory(&[(200, Exactly(3e6)), (200, AtLeast(20e6))]);
        assert!(
            often
                .quantile(0.25)
                .is_some_and(|q| (q / 3e6 - 1.0).abs() < 0.06)
        );
        // What passed at less than the dips' rate says nothing of them.
        let blind = memory(&[(300, AtLeast(1e6)), (100, Exactly(9e6))]);
        assert!(
            blind
                .quantile(0.1)
                .is_some_and(|q| (q / 9e6 - 1.0).abs() < 0.06)
        );
    }

    proptest! {
        /// With exact samples only it is the quantile itself, to a bin; and what is older is forgotten.
        #[test]
        fn exact_samples_have_their_quantile(
            mut values in proptest::collection::vec(1e5..1e9, 1..300),
            below in 0.01..0.99,
        ) {
            let mut memory = Memory::new(15.0);
            for _ in 0..300 {
                memory.add(CapacitySample::Exactly(2e9));
            }
            for value in &values {
                memory.add(CapacitySample::Exactly(*value));
            }
            memory.keep(values.len());
            values.sort_by(f64::total_cmp);
            let place = libm::ceil(below * values.len() as f64 - 1e-9) as usize;
            let ought = values[place.clamp(1, values.len()) - 1];
            let is = memory.quantile(below).unwrap();
            prop_assert!((is / ought - 1.0).abs() < 0.07, "{} {}", is, ought);
        }

        /// A larger share is never a lower capacity.
        #[test]
        fn quantiles_rise(samples in proptest::collection::vec((1e5..1e9, any::<bool>()), 0..400)) {
            let mut memory = Memory::new(20.0);
            for (value, exact) in samples {
                memory.add(if exact { CapacitySample::Exactly(value) } else { CapacitySample::AtLeast(value) });
            }
            let shares = [0.1, 0.25, 0.5, 0.75];
            let found = shares.map(|below| memory.quantile(below).unwrap_or(f64::INFINITY));
            prop_assert!(found.is_sorted(), "{:?}", found);
        }
    }
}
