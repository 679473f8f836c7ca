//! Where packets of the load were lost: when the queue was full, or at any length of it.

use crate::carried::{Look, median};
use crate::waits::Lengths;
use serde::Serialize;

/// The parts of a full queue's length at which counts of losses are parted. `probe` has the second, too
/// (docs/decisions/0070-probe.md): what is lost below it was not lost by a full buffer.
const PARTS: [f64; 3] = [0.3, 0.6, 0.8];
/// Losses below which nothing follows from where they are.
const FEW: u64 = 5;
/// A share of losses that a wire of which TCP is to make use has not, and a queue that keeps itself short does.
const MUCH: f64 = 0.02;
/// A full queue loses more than so many times what one does that is half full, if that is not the queue's own doing.
const STEEP: f64 = 10.0;
/// Standard deviations that chance is not believed to reach: one time in a hundred.
const CHANCE: f64 = 2.3;
/// The same for what is said of a share, either way: nine times in ten it lies in between.
const EITHER_WAY: f64 = 1.645;
/// Packets that passed, of which a share is told.
const ENOUGH: u64 = 500;

/// When a queue drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Drops {
    /// When it is full.
    Full,
    /// Before it is full, to stay short, as CoDel and PIE do.
    Early,
    /// What is above a rate, without a queue.
    Policed,
}

/// What a wire loses of packets by itself, as a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WireLoss {
    /// What was seen.
    pub share: f64,
    /// It is less with the odds of one in twenty.
    pub least: f64,
    /// It is more with the same odds.
    pub most: f64,
    /// Packets that it was seen of.
    #[serde(skip)]
    packets: u64,
}

impl WireLoss {
    /// The share that lies so many standard deviations from what was seen (Wilson's score interval).
    pub fn at(&self, deviations: f64) -> f64 {
        wilson(self.share, self.packets as f64, deviations)
    }

    /// What both tell of one wire.
    pub fn and(self, other: WireLoss) -> WireLoss {
        let packets = self.packets + other.packets;
        let lost = self.share * self.packets as f64 + other.share * other.packets as f64;
        WireLoss::seen(lost / packets as f64, packets)
    }

    fn of(part: LossesByLength) -> Option<Self> {
        let told = part.passed >= ENOUGH || part.lost >= FEW;
        told.then(|| WireLoss::seen(part.share(), part.passed.max(1)))
    }

    /// That `share` of so many `packets` was lost.
    pub fn seen(share: f64, packets: u64) -> Self {
        let of = |deviations| wilson(share, packets as f64, deviations);
        WireLoss {
            share,
            least: of(-EITHER_WAY),
            most: of(EITHER_WAY),
            packets,
        }
    }
}

fn wilson(share: f64, packets: f64, deviations: f64) -> f64 {
    let square = deviations * deviations / packets;
    let spread = share * (1.0 - share) / packets + square / packets / 4.0;
    let bound = share + square / 2.0 + deviations * spread.max(0.0).sqrt();
    (bound / (1.0 + square)).clamp(0.0, 1.0)
}

/// Packets at some lengths of the queue, and the losses among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LossesByLength {
    passed: u64,
    lost: u64,
}

impl LossesByLength {
    fn and(self, other: LossesByLength) -> LossesByLength {
        LossesByLength {
            passed: self.passed + other.passed,
            lost: self.lost + other.lost,
        }
    }

    fn share(self) -> f64 {
        self.lost as f64 / self.passed.max(self.lost).max(1) as f64
    }

    /// Whether more was lost than chance makes of the share that `other` has.
    fn loses_more_than(self, other: LossesByLength) -> bool {
        // Half of one that the other may have lost.
        let share = (other.lost as f64 + 0.5) / (other.passed as f64 + 1.0);
        let expected = share * self.passed.max(self.lost) as f64;
        self.lost as f64 - 0.5 > expected + CHANCE * expected.sqrt()
    }
}

/// What follows of a queue and its wire from losses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LossesTold {
    pub(crate) drops: Option<Drops>,
    pub(crate) wire: Option<WireLoss>,
    /// The share of all packets, at any length.
    pub(crate) share: f64,
    pub(crate) lost: u64,
    /// How long the queue was where a full one dropped, in bytes of the load: the median.
    pub(crate) dropped_at: Option<f64>,
}

/// What follows for one queue of all flows, whose length was `full` bytes of the load when the line was.
pub(crate) fn told(looks: &[Look], lengths: &Lengths, full: f64) -> LossesTold {
    let mut parts = [LossesByLength::default(); 4];
    let mut dropped = Vec::new();
    for look in looks {
        let Some(length) = lengths.by(look.at) else {
            continue;
        };
        let place = PARTS.iter().filter(|part| length >= **part * full).count();
        if place == PARTS.len() && look.lost > 0 {
            dropped.push(length);
        }
        parts[place] = parts[place].and(LossesByLength {
            passed: look.passed,
            lost: look.lost,
        });
    }
    let [low, middle, near, high] = parts;
    let below = low.and(middle);
    let all = below.and(near).and(high);
    let drops = drops(low, middle, high);
    LossesTold {
        drops,
        // A queue that drops by itself hides what the wire does.
        wire: (drops != Some(Drops::Early))
            .then(|| WireLoss::of(below))
            .flatten(),
        share: all.share(),
        lost: all.lost,
        dropped_at: median(dropped),
    }
}

/// A full buffer drops at one length. A wire loses the same share at any; and a queue that is kept short loses more, the
/// longer it is.
fn drops(low: LossesByLength, middle: LossesByLength, high: LossesByLength) -> Option<Drops> {
    let below = low.and(middle);
    let much = below.lost >= FEW && below.share() >= MUCH;
    let rises = middle.lost >= FEW - 1
        && middle.loses_more_than(low)
        && middle.share() * STEEP >= high.share();
    match () {
        () if much || rises => Some(Drops::Early),
        () if high.loses_more_than(below) => Some(Drops::Full),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Course;
    use crate::direction::{Sample, TimeKind};

    /// A queue that grows to 200 ms and falls to nothing about each second for nine seconds, and loses so many of 1000
    /// packets at each of its lengths.
    fn seen(lost_at: impl Fn(f64) -> f64) -> LossesTold {
        let length = |at: f64| 200.0 * (at % 970.0) / 970.0;
        let every = |step: usize| (0..9000).step_by(step).map(|at| at as f64);
        let handshakes: Vec<Sample> = every(10)
            .map(|at| Sample {
                kind: TimeKind::Tcp,
                at,
                ms: 20.0 + length(at),
            })
            .collect();
        let mut due = 0.0;
        let looks: Vec<Look> = every(10)
            .map(|at| {
                due += lost_at(length(at)) / 100.0;
                let lost = due as u64;
                due -= lost as f64;
                Look {
                    at,
                    passed: 10,
                    lost,
                    own: None,
                }
            })
            .collect();
        let mut course = Course::default();
        // A kB each ms.
        every(10).for_each(|at| course.push(at, at as u64 * 1000));
        told(&looks, &Lengths::of(&handshakes, 20.0, &course), 190e3)
    }

    #[test]
    fn a_full_buffer_drops_at_one_length() {
        let full = |length| if length > 180.0 { 50.0 } else { 0.0 };
        let told = seen(full);
        assert_eq!(told.drops, Some(Drops::Full));
        assert!(
            told.dropped_at
                .is_some_and(|at| (180e3..200e3).contains(&at))
        );
        let wire = told.wire.unwrap();
        assert_eq!((wire.share, wire.least), (0.0, 0.0));
        assert!(wire.most < 0.001, "{wire:?}");
    }

    #[test]
    fn a_wire_loses_at_any_length() {
        let told = seen(|_| 5.0);
        assert_eq!(told.drops, None);
        let wire = told.wire.unwrap();
        assert!(wire.least < 0.005 && wire.most > 0.005, "{wire:?}");
        assert!((wire.share - 0.005).abs() < 0.001, "{wire:?}");
        let both = seen(|length| if length > 180.0 { 80.0 } else { 5.0 });
        assert_eq!(both.drops, Some(Drops::Full));
        assert!((both.wire.unwrap().share - 0.005).abs() < 0.001);
    }

    #[test]
    fn what_is_kept_short_drops_more_the_longer_it_is() {
        // As CoDel does under sixteen connections: nothing below its target, and then more and more.
        let kept = |length: f64| if length < 30.0 { 0.0 } else { length / 5.0 };
        assert_eq!(seen(kept).drops, Some(Drops::Early));
        assert_eq!(seen(kept).wire, None);
        // As PIE does, which drops by chance even when its queue has just gone.
        assert_eq!(seen(|_| 60.0).drops, Some(Drops::Early));
    }

    #[test]
    fn nothing_follows_from_nothing() {
        assert_eq!(seen(|_| 0.0).drops, None);
        let none = told(&[], &Lengths::of(&[], 0.0, &Course::default()), 0.0);
        assert_eq!(none, LossesTold::default());
    }

    #[test]
    fn a_share_lies_within_its_bounds() {
        let wire = WireLoss::of(LossesByLength {
            passed: 2000,
            lost: 10,
        });
        let wire = wire.unwrap();
        let bounds = [-EITHER_WAY, 0.0, EITHER_WAY].map(|at| wire.at(at));
        assert!(bounds[0] < bounds[1] && bounds[1] < bounds[2], "{bounds:?}");
        assert!((bounds[0] - 0.003).abs() < 0.0005 && (bounds[2] - 0.0083).abs() < 0.0005);
        let few = LossesByLength {
            passed: 400,
            lost: 2,
        };
        assert_eq!(WireLoss::of(few), None);
    }
}
