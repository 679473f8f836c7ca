//! Temporal layers: which frames can be lost without harm to others (the modes L1T2 and L1T3 of WebRTC's
//! scalable video coding).
//!
//! In L1T2 every second frame is one on which no other depends. In L1T3 the frames go in fours: the first
//! depends on the first of the four before, the third on the first, and the second and fourth on the one
//! before each (libwebrtc `scalability_structure_full_svc.cc`). The pattern begins anew with a key frame.

use core::fmt;
use units::ParseError;
use units::param::Value;

/// The temporal layers of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Scalability {
    /// None: each frame depends on the one before.
    L1T1,
    /// Two.
    L1T2,
    /// Three.
    L1T3,
}

/// The place of a frame in the pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerPlace {
    /// The layer, from 0, the base. No frame depends on one of a higher layer.
    pub layer: u8,
    /// How many frames before it that is on which it depends; 0 without layers.
    pub back: u8,
    /// How long it is, as a multiple of the mean (libwebrtc `kLayerRateAllocation`: of the rate 60 and 40 %
    /// in two layers, 40, 20 and 40 % in three).
    pub size: f64,
}

const fn place(layer: u8, back: u8, size: f64) -> LayerPlace {
    LayerPlace { layer, back, size }
}

const ONE: [LayerPlace; 1] = [place(0, 0, 1.0)];
const TWO: [LayerPlace; 2] = [place(0, 2, 1.2), place(1, 1, 0.8)];
const THREE: [LayerPlace; 4] = [
    place(0, 4, 1.6),
    place(2, 1, 0.8),
    place(1, 2, 0.8),
    place(2, 1, 0.8),
];

impl Scalability {
    /// The place of the frame that comes so many frames after a key frame.
    pub fn place(self, after_key: u64) -> LayerPlace {
        let pattern: &[LayerPlace] = match self {
            Scalability::L1T1 => &ONE,
            Scalability::L1T2 => &TWO,
            Scalability::L1T3 => &THREE,
        };
        let turn = after_key % pattern.len() as u64;
        pattern[turn as usize]
    }
}

impl fmt::Display for Scalability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scalability::L1T1 => "L1T1",
            Scalability::L1T2 => "L1T2",
            Scalability::L1T3 => "L1T3",
        })
    }
}

impl Value for Scalability {
    const KIND: &'static str = "L1T1, L1T2 or L1T3";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "L1T1" => Ok(Scalability::L1T1),
            "L1T2" => Ok(Scalability::L1T2),
            "L1T3" => Ok(Scalability::L1T3),
            _ => Err(ParseError::new(text, Self::KIND)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_frame_depends_on_a_higher_layer_and_sizes_are_one_on_average() {
        for mode in [Scalability::L1T1, Scalability::L1T2, Scalability::L1T3] {
            assert_eq!(Scalability::parse(&mode.to_string()), Ok(mode));
            let places: Vec<_> = (0..8).map(|after| mode.place(after)).collect();
            let sum: f64 = places.iter().map(|place| place.size).sum();
            assert!((sum - 8.0).abs() < 1e-9, "{mode}: {sum}");
            for (after, of) in places.iter().enumerate().skip(4) {
                let needed = places[after - usize::from(of.back)];
                assert!(needed.layer <= of.layer, "{mode}: {after}");
            }
        }
        let layers: Vec<_> = (0..5)
            .map(|after| Scalability::L1T3.place(after).layer)
            .collect();
        assert_eq!(layers, [0, 2, 1, 2, 0]);
    }
}
