//! Forward error correction of video: packets that are the XOR of others, so that a receiver who misses
//! one of these has it back without asking.
//!
//! The packets are FlexFEC's (RFC 8627) with rows of interleaved parts; when they are sent, and how many,
//! is libwebrtc's rule for calls that also ask for what is missing (`VCMNackFecMethod`,
//! `UlpfecGenerator`), with one simplification in [`plan`]. Audio has none.

mod block;
mod decoder;
mod loss;
mod plan;
mod sender;

pub use decoder::FecDecoder;
pub use sender::FecSender;

/// Most parts of which packets of FEC are made together (libwebrtc `kUlpfecMaxMediaPackets`).
const MOST_PARTS: usize = 48;

#[cfg(test)]
mod tests {
    use super::block::Block;
    use super::plan::FecPlan;
    use super::*;
    use crate::media::tests::part;
    use std::collections::VecDeque;

    const LEN: u32 = 1_258;
    const OVERHEAD: u32 = 58;

    /// Of `frames` frames of `parts` parts and `packets` packets of FEC, each packet lost with `percent`:
    /// the share of parts that are neither received nor restored.
    fn residual(frames: u64, parts: u32, packets: u32, percent: u64) -> f64 {
        let planned = f64::from(packets) / f64::from(parts);
        let plan = FecPlan {
            delta: planned,
            key: planned,
            frames: 1,
        };
        let (mut block, mut decoder) = (Block::new(), FecDecoder::default());
        let mut chance = units::random::Stream::new(u64::from(parts) * 100 + percent, "losses");
        let (mut out, mut here) = (VecDeque::new(), 0);
        for frame in 0..frames {
            for index in 0..parts {
                let part = part(frame * u64::from(parts) + u64::from(index), parts);
                block.sent(&part, LEN, OVERHEAD, || plan, &mut out);
                if chance.below(100) >= percent {
                    decoder.part(&part, LEN - OVERHEAD);
                    here += 1;
                }
            }
            assert_eq!(out.len(), packets as usize);
            for (packet, _) in out.drain(..) {
                if chance.below(100) >= percent {
                    decoder.packet(&packet);
                }
            }
            here += core::iter::from_fn(|| decoder.restore()).count();
        }
        1.0 - here as f64 / (frames * u64::from(parts)) as f64
    }

    /// A part in a row of n stays lost if it is, and another of the row or the row's packet, too:
    /// p (1 − (1 − p)^n).
    #[test]
    fn random_losses_are_as_rare_as_the_formula_says() {
        const FRAMES: u64 = 20_000;
        for (parts, packets, percent) in [(5, 1, 5), (4, 4, 10), (10, 2, 10), (12, 3, 20)] {
            let p = percent as f64 / 100.0;
            let row = f64::from(parts / packets);
            let expected = p * (1.0 - libm::pow(1.0 - p, row));
            let found = residual(FRAMES, parts, packets, percent);
            // Rows are independent, parts of one are not: an interval of four deviations of rows that are
            // lost as a whole.
            let rows = (FRAMES * u64::from(packets)) as f64;
            let most = 4.0 * (expected * (1.0 - expected) / rows).sqrt();
            assert!((found - expected).abs() < most, "{found}, not {expected}");
        }
    }
}
