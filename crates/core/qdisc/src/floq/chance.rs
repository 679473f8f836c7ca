//! Chance, by a generator that the kernel can have too: SplitMix64 (G. Steele, D. Lea and C. Flood,
//! "Fast splittable pseudorandom number generators", OOPSLA 2014).
//!
//! It needs 64 bits only, and seeds that are near each other draw unlike numbers. The streams of
//! `units::random` multiply 128 bits, which processors of routers have to do piece by piece.

/// A seeded generator.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    /// The numbers drawn depend on `seed` alone.
    pub(super) const fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// The next 32 bits.
    pub(super) const fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 32) as u32
    }

    /// Draws with this probability, a fraction of 2^32. Nothing is drawn for probability 0.
    pub(super) const fn happens(&mut self, probability: u64) -> bool {
        probability > 0 && (self.bits() as u64) < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The high halves of the numbers that the authors' `splitmix64.c` draws from the seed 1234567.
    #[test]
    fn draws_what_its_authors_draw() {
        let mut chance = Chance::new(1_234_567);
        let drawn: [u32; 3] = std::array::from_fn(|_| chance.bits());
        let full = [
            6_457_827_717_110_365_317_u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, full.map(|bits| (bits >> 32) as u32));
    }

    #[test]
    fn what_cannot_be_is_not_drawn_and_what_must_be_happens() {
        let (mut drawn, mut spared) = (Chance::new(7), Chance::new(7));
        assert!(!spared.happens(0));
        assert!(spared.happens(1 << 32));
        drawn.bits();
        assert_eq!(drawn.bits(), spared.bits());
    }
}
