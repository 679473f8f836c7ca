//! Priority tins: the mapping of code points to tins, and the share of each tin.
//!
//! A tin has a threshold, a part of the bandwidth. Below it, packets of a tin of higher priority go
//! first; above it, tins share by their deadlines (shaped) or quanta (not shaped). The tables are
//! those of Linux's `cake_config_*`.

use super::params::Diffserv;

/// The parameters of a tin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// Its threshold in bytes per second, 0 if the bandwidth is unlimited.
    pub(super) rate: u64,
    /// Bytes that it may send in a round if nothing is shaped.
    pub(super) quantum: i64,
}

impl Diffserv {
    /// The shares of the tins, in the order of their priority, at `rate` bytes per second.
    pub(super) fn shares(self, rate: u64) -> Vec<Share> {
        let part = |shift: u32| Share {
            rate: rate >> shift,
            quantum: 1024 >> shift,
        };
        match self {
            Diffserv::BestEffort => vec![Share {
                rate,
                quantum: 65_535,
            }],
            // Best effort, background, and the others above them.
            Diffserv::Diffserv3 => [0, 4, 2].map(part).to_vec(),
            Diffserv::Diffserv4 => [0, 4, 1, 2].map(part).to_vec(),
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let first = Share { rate, quantum: 256 };
                let next = |share: &Share| {
                    Some(Share {
                        rate: (share.rate * 7) >> 3,
                        quantum: (share.quantum * 7) >> 3,
                    })
                };
                core::iter::successors(Some(first), next).take(8).collect()
            }
        }
    }

    /// The tin of a band, from 1 on: that many from the lowest priority (Linux `cake_select_tin`).
    /// None if there is no such tin.
    pub(super) const fn of_band(self, band: u8) -> Option<usize> {
        let in_order: &[usize] = match self {
            Diffserv::BestEffort => &[0],
            Diffserv::Diffserv3 => &[1, 0, 2],
            Diffserv::Diffserv4 => &[1, 0, 2, 3],
            Diffserv::Precedence | Diffserv::Diffserv8 => &[0, 1, 2, 3, 4, 5, 6, 7],
        };
        if band == 0 || band as usize > in_order.len() {
            return None;
        }
        Some(in_order[band as usize - 1])
    }

    /// The tin of a code point; above 63, that of best effort.
    pub(super) const fn tin(self, dscp: u8) -> usize {
        match self {
            Diffserv::BestEffort => 0,
            Diffserv::Precedence => {
                if dscp < 64 {
                    (dscp >> 3) as usize
                } else {
                    0
                }
            }
            Diffserv::Diffserv3 => match dscp {
                LE | CS1 => 1,
                TOS4 | VA | EF | CS6 | CS7 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp {
                LE | CS1 => 1,
                TOS4 | CS2 | AF21 | AF22 | AF23 | CS3 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43 => {
                    2
                }
                CS4 | CS5 | VA | EF | CS6 | CS7 => 3,
                _ => 0,
            },
            Diffserv::Diffserv8 => match dscp {
                LE => 0,
                TOS2 | CS1 | AF11 | AF12 | AF13 => 1,
                CS3 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43 => 3,
                TOS4 | AF21 | AF22 | AF23 => 4,
                CS2 => 5,
                CS4 | CS5 | VA | EF => 6,
                CS6 | CS7 => 7,
                _ => 2,
            },
        }
    }
}

const LE: u8 = 1;
/// High throughput in the earlier type of service (RFC 1349).
const TOS2: u8 = 2;
/// Low delay there.
const TOS4: u8 = 4;
const CS1: u8 = 8;
const AF11: u8 = 10;
const AF12: u8 = 12;
const AF13: u8 = 14;
const CS2: u8 = 16;
const AF21: u8 = 18;
const AF22: u8 = 20;
const AF23: u8 = 22;
const CS3: u8 = 24;
const AF31: u8 = 26;
const AF32: u8 = 28;
const AF33: u8 = 30;
const CS4: u8 = 32;
const AF41: u8 = 34;
const AF42: u8 = 36;
const AF43: u8 = 38;
const CS5: u8 = 40;
const VA: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_count_from_the_lowest_priority() {
        let bulk_and_best = |mode: Diffserv| [0, 1, 2, 4, 9].map(|band| mode.of_band(band));
        let three = [None, Some(1), Some(0), None, None];
        assert_eq!(bulk_and_best(Diffserv::Diffserv3), three);
        let one = [None, Some(0), None, None, None];
        assert_eq!(bulk_and_best(Diffserv::BestEffort), one);
        let eight = [None, Some(0), Some(1), Some(3), None];
        assert_eq!(bulk_and_best(Diffserv::Diffserv8), eight);
    }

    #[test]
    fn calls_go_before_and_background_behind() {
        let tins = |mode: Diffserv| [CS1, 0, AF41, CS5, EF, CS6].map(|dscp| mode.tin(dscp));
        assert_eq!(tins(Diffserv::BestEffort), [0, 0, 0, 0, 0, 0]);
        assert_eq!(tins(Diffserv::Precedence), [1, 0, 4, 5, 5, 6]);
        assert_eq!(tins(Diffserv::Diffserv3), [1, 0, 0, 0, 2, 2]);
        assert_eq!(tins(Diffserv::Diffserv4), [1, 0, 2, 3, 3, 3]);
        assert_eq!(tins(Diffserv::Diffserv8), [1, 2, 3, 6, 6, 7]);
    }

    #[test]
    fn every_code_point_has_a_tin() {
        for mode in [
            Diffserv::BestEffort,
            Diffserv::Precedence,
            Diffserv::Diffserv3,
            Diffserv::Diffserv4,
            Diffserv::Diffserv8,
        ] {
            let tins = mode.shares(0).len();
            assert!((0..=255).all(|dscp| mode.tin(dscp) < tins), "{mode}");
        }
    }

    #[test]
    fn thresholds_and_quanta() {
        // tc-cake(8), its example at 100 Mbit/s (12.5 MB/s): background 6.25 Mbit/s, voice 25 Mbit/s.
        let share = |rate, quantum| Share { rate, quantum };
        assert_eq!(
            Diffserv::Diffserv3.shares(12_500_000),
            [
                share(12_500_000, 1024),
                share(781_250, 64),
                share(3_125_000, 256)
            ]
        );
        let video = Diffserv::Diffserv4.shares(12_500_000)[2];
        assert_eq!(video, share(6_250_000, 512));
        // Each of eight gets 7/8 of the one before, rounded down: 256, 224, 196, 171, 149, 130, …
        let quanta: Vec<i64> = (Diffserv::Diffserv8.shares(0).iter())
            .map(|share| share.quantum)
            .collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
    }
}
