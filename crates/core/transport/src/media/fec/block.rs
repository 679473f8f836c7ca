//! The parts of a stream that are protected together, and the packets of FEC made of them (libwebrtc
//! `UlpfecGenerator`).
//!
//! The packets are made at the end of a frame: once there are enough parts that rounding up to whole
//! packets costs little, or after as many frames as the plan allows. Of `m` packets each covers every
//! `m`-th part, so that neighbours' losses fall to different ones.

use super::MOST_PARTS;
use super::plan::FecPlan;
use crate::media::{FecPacket, Fragment, PartSum};
use std::collections::VecDeque;

/// More packets of FEC for each part than were planned by less than this is little
/// (`kMaxExcessOverhead`).
const EXCESS: f64 = 50.0 / 256.0;
/// With much protection (`kHighProtectionThreshold`) there are at least so many parts
/// (`kMinMediaPackets`); one more where frames have this many (`kMinMediaPacketsAdaptationThreshold`).
const MUCH: f64 = 80.0 / 255.0;
const LEAST_PARTS: usize = 4;
const PARTS_OF_LARGE: usize = 2;
/// What a packet of FEC has beyond the longest one that it covers: its own extension 8, CSRC 4, FEC header
/// 12 (RFC 8627, 4.2.2) with a mask of 15 bits, of 46 or of 110.
const HEADERS: [(usize, u32); 2] = [(15, 24), (46, 28)];
const LONGEST_HEADERS: u32 = 36;

/// Parts that have been sent and are not protected yet.
#[derive(Debug)]
pub struct Block {
    /// The first ones, with their lengths on the wire.
    parts: Vec<(Fragment, u32)>,
    frames: u32,
    key: bool,
}

impl Block {
    /// Nothing has been sent.
    pub fn new() -> Self {
        Block {
            parts: Vec::with_capacity(MOST_PARTS),
            frames: 0,
            key: false,
        }
    }

    /// A part of `len` bytes on the wire, `overhead` of these headers, was sent for the first time. The
    /// packets of FEC that this makes, and their lengths, are appended to `out`. The `plan` is asked for at the
    /// end of a frame.
    pub fn sent(
        &mut self,
        part: &Fragment,
        len: u32,
        overhead: u32,
        plan: impl FnOnce() -> FecPlan,
        out: &mut VecDeque<(FecPacket, u32)>,
    ) {
        if self.parts.len() < MOST_PARTS {
            self.parts.push((*part, len));
        }
        self.key |= part.key;
        if part.index + 1 < part.count {
            return;
        }
        self.frames += 1;
        let plan = plan();
        let planned = if self.key { plan.key } else { plan.delta };
        let packets = self.packets(planned);
        if packets > 0 && self.frames < plan.frames && !self.is_enough(planned, packets) {
            return;
        }
        for place in 0..packets {
            out.push_back(self.packet(place, packets, overhead));
        }
        self.parts.clear();
        (self.frames, self.key) = (0, false);
    }

    /// How many packets of FEC the parts have (`NumFecPackets`).
    fn packets(&self, planned: f64) -> usize {
        let parts = self.parts.len();
        let packets = (parts as f64 * planned + 0.5) as usize;
        packets.clamp(usize::from(planned > 0.0), parts)
    }

    fn is_enough(&self, planned: f64, packets: usize) -> bool {
        let parts = self.parts.len();
        let large = parts >= PARTS_OF_LARGE * self.frames as usize;
        let least = if planned > MUCH { LEAST_PARTS } else { 1 };
        let excess = packets as f64 / parts as f64 - planned;
        excess < EXCESS && parts >= least + usize::from(large)
    }

    /// The packet of FEC at `place` among `packets`.
    fn packet(&self, place: usize, packets: usize, overhead: u32) -> (FecPacket, u32) {
        let covered = self.parts[place..].iter().step_by(packets);
        let mut sum = PartSum::default();
        let (mut count, mut longest) = (0, 0);
        for (part, len) in covered {
            sum.add(part, len - overhead);
            count += 1;
            longest = longest.max(*len);
        }
        let (first, _) = self.parts[place];
        let packet = FecPacket {
            stream: first.stream,
            first: first.rtp,
            step: packets as u8,
            count,
            sum,
        };
        let span = packets * usize::from(count - 1) + 1;
        let header = HEADERS.iter().find(|(bits, _)| span <= *bits);
        (
            packet,
            longest + header.map_or(LONGEST_HEADERS, |(_, bytes)| *bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tests::part;

    const OVERHEAD: u32 = 58;

    /// Sends frames of so many parts, each part 100 bytes longer than the one before from 1000 on, under a
    /// plan. What each packet of FEC covers, its length, and after which part it was made.
    fn made(frames: &[u32], planned: f64, most_frames: u32) -> Vec<(u64, Vec<u64>, u32)> {
        let plan = FecPlan {
            delta: planned,
            key: planned,
            frames: most_frames,
        };
        let (mut block, mut out, mut rtp) = (Block::new(), VecDeque::new(), 0);
        let mut made = Vec::new();
        for (frame, &count) in (0..).zip(frames) {
            for index in 0..count {
                let part = Fragment {
                    rtp,
                    frame,
                    index,
                    key: frame == 0,
                    ..part(0, count)
                };
                block.sent(&part, 1_000 + 100 * index, OVERHEAD, || plan, &mut out);
                let packets = out.drain(..).map(|(packet, len)| {
                    let (first, step) = (packet.first, u64::from(packet.step));
                    let covers = (0..u64::from(packet.count)).map(|n| first + n * step);
                    (rtp, covers.collect(), len)
                });
                made.extend(packets);
                rtp += 1;
            }
        }
        made
    }

    #[test]
    fn every_second_part_of_a_frame() {
        // 5 · 0.4 = 2.
        let expected = [(4, vec![0, 2, 4], 1_424), (4, vec![1, 3], 1_324)];
        assert_eq!(made(&[5], 0.4, 6), expected);
    }

    #[test]
    fn small_frames_are_protected_together() {
        // A packet for one, two or three parts is 0.75, 0.25 or 0.08 more than a quarter.
        assert_eq!(made(&[1; 4], 0.25, 6), [(2, vec![0, 1, 2], 1_024)]);
        // After two frames at the latest.
        let expected = [(1, vec![0, 1], 1_024), (3, vec![2, 3], 1_024)];
        assert_eq!(made(&[1; 4], 0.25, 2), expected);
        // With much protection at least four, and five of frames with two parts.
        assert_eq!(made(&[1; 4], 0.5, 6).len(), 2);
        assert_eq!(made(&[2; 2], 0.5, 6), []);
        assert_eq!(made(&[2; 3], 0.5, 6).len(), 3);
    }

    #[test]
    fn without_a_plan_nothing_is_made_nor_kept() {
        assert_eq!(made(&[3, 3, 3], 0.0, 6), []);
    }

    #[test]
    fn of_a_large_frame_the_first_parts_are_covered() {
        let made = made(&[60], 0.02, 1);
        // One packet: 48 · 0.02 = 0.96. Its mask has 110 bits.
        let (_, covers, len) = &made[0];
        assert_eq!((made.len(), covers.len()), (1, 48));
        assert_eq!(*len, 1_000 + 4_700 + LONGEST_HEADERS);
    }
}
