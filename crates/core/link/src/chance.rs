//! Random effects on a wire: loss, in bursts or not, and jitter.

use crate::Jitter;
use crate::grants::Grants;
use units::random::Stream;
use units::{Duration, Instant};

/// Two states; in one of them everything is lost (E. N. Gilbert, Bell System Technical Journal 39,
/// 1960, without losses in the other), and delays that keep the order.
#[derive(Debug, Clone)]
pub struct Chance {
    /// The probability that a packet behind one that arrived is lost, and that one behind a lost
    /// one arrives.
    begins: f64,
    ends: f64,
    losing: bool,
    loss: Stream,
    jitter: Option<Jitter>,
    grants: Option<Grants>,
}

/// The probabilities that a burst of losses begins at a packet, and that it ends at one: of all
/// packets a `share` is lost, from 0 to below 1, `burst` in a row on average, from 1. If losses
/// cannot be both so many and in so short bursts, bursts are longer.
pub fn gilbert(share: f64, burst: f64) -> (f64, f64) {
    // The share of time in a state is how often it begins, times how long it lasts.
    let ends = 1.0 / burst;
    ((ends * share / (1.0 - share)).min(1.0), ends)
}

impl Chance {
    /// A wire that loses the `share` of all packets, from 0 to below 1, `burst` in a row on
    /// average, and on which each packet takes up to `jitter` longer; `name` distinguishes its
    /// streams of random numbers from others with the same `seed`.
    pub fn new(share: f64, burst: f64, jitter: Duration, seed: u64, name: &str) -> Self {
        // Independent losses begin and continue with the same probability.
        let (begins, ends) = if burst <= 1.0 {
            (share, 1.0 - share)
        } else {
            gilbert(share, burst)
        };
        Chance {
            begins,
            ends,
            losing: false,
            loss: Stream::new(seed, &format!("loss {name}")),
            jitter: Jitter::new(jitter, seed, &format!("jitter {name}")),
            grants: None,
        }
    }

    /// The same, for a radio that delivers at certain moments only, at most `apart` from each other.
    #[must_use]
    pub fn granted(self, apart: Duration, seed: u64, name: &str) -> Self {
        Chance {
            grants: Grants::new(apart, seed, &format!("grants {name}")),
            ..self
        }
    }

    /// The arrival of a packet that would arrive `at`; never if it is lost.
    pub fn arrives(&mut self, at: Instant) -> Option<Instant> {
        if self.begins > 0.0 {
            let changes = if self.losing { self.ends } else { self.begins };
            self.losing ^= self.loss.unit() < changes;
        }
        if self.losing {
            return None;
        }
        let at = match &mut self.jitter {
            Some(jitter) => jitter.delay(at),
            None => at,
        };
        Some(match &mut self.grants {
            Some(grants) => grants.delay(at),
            None => at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u64 = 100_000;

    /// The share of packets that are lost, and how many in a row.
    fn lost(share: f64, burst: f64) -> (f64, f64) {
        let mut chance = Chance::new(share, burst, Duration::ZERO, 1, "test");
        let (mut lost, mut bursts, mut before) = (0.0, 0.0, false);
        for number in 0..PACKETS {
            let losing = chance.arrives(Instant::from_nanos(number)).is_none();
            lost += f64::from(u8::from(losing));
            bursts += f64::from(u8::from(losing && !before));
            before = losing;
        }
        (lost / PACKETS as f64, lost / bursts)
    }

    #[test]
    fn losses_are_as_many_and_as_long_as_is_said() {
        // Independent ones come in rows of 1 / (1 - share).
        for (share, burst, row) in [(0.1, 1.0, 1.0 / 0.9), (0.1, 4.0, 4.0), (0.01, 8.0, 8.0)] {
            let (found, length) = lost(share, burst);
            assert!(
                (found / share - 1.0).abs() < 0.15,
                "{share} {burst}: {found}"
            );
            assert!(
                (length / row - 1.0).abs() < 0.1,
                "{share} {burst}: {length}"
            );
        }
        assert_eq!(lost(0.0, 5.0).0, 0.0);
    }

    #[test]
    fn jitter_keeps_the_order_and_its_bounds() {
        let span = Duration::from_millis(5);
        let mut chance = Chance::new(0.0, 1.0, span, 1, "test");
        let (mut last, mut most) = (Instant::ZERO, Duration::ZERO);
        for number in 0..10_000 {
            let at = Instant::from_nanos(number * 1_000_000);
            let arrives = chance.arrives(at).unwrap();
            assert!(arrives >= last && arrives <= at + span);
            (last, most) = (arrives, most.max(arrives.since(at)));
        }
        assert!(most > Duration::from_micros(4900), "{most}");
    }
}
