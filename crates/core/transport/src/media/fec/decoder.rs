//! The receiver's side: which parts can be had back.

use crate::media::{FecPacket, Fragment};
use std::collections::VecDeque;

/// Parts that are remembered, and packets of FEC that wait for theirs (libwebrtc
/// `kMaxMediaPackets`, four times, and `kMaxFecPackets`).
const KEPT: u64 = 192;
const WAITING: usize = 48;
/// A part so far ahead is invalid: after it all others would be too old. No call has so many parts, and a
/// smaller number would end FEC for good after a long outage at a high rate.
const FARTHEST: u64 = 1 << 32;

/// The newest parts of a stream, and the packets of FEC that may be of use.
#[derive(Debug, Default)]
pub struct FecDecoder {
    /// RTP sequence number of the first of `parts`.
    base: u64,
    /// The parts that are here, and their bytes.
    parts: VecDeque<Option<(Fragment, u32)>>,
    waiting: VecDeque<FecPacket>,
}

impl FecDecoder {
    /// A part of `bytes`, headers apart, is here.
    pub fn part(&mut self, part: &Fragment, bytes: u32) {
        let end = part.rtp.saturating_add(1);
        let ahead = end.saturating_sub(self.base);
        if ahead > FARTHEST {
            return;
        }
        if ahead > 2 * KEPT {
            self.parts.clear();
            self.base = end.saturating_sub(KEPT);
        }
        let Some(place) = part.rtp.checked_sub(self.base) else {
            return;
        };
        let place = place as usize;
        if place >= self.parts.len() {
            self.parts.resize(place + 1, None);
        }
        self.parts[place] = Some((*part, bytes));
        while self.parts.len() as u64 > KEPT {
            self.parts.pop_front();
            self.base += 1;
        }
    }

    /// A packet of FEC is here.
    pub fn packet(&mut self, packet: &FecPacket) {
        self.waiting.push_back(*packet);
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
        }
    }

    /// A part that can be had back, and its bytes; from then on it is here. To be called until there is
    /// none: each may be the last that another packet lacks.
    pub fn restore(&mut self) -> Option<(Fragment, u32)> {
        let mut place = 0;
        while let Some(packet) = self.waiting.get(place) {
            match self.missing(packet) {
                Lack::One(rtp) => {
                    let packet = self.waiting.remove(place)?;
                    let (part, bytes) = self.rest(&packet, rtp);
                    self.part(&part, bytes);
                    return Some((part, bytes));
                }
                Lack::Several => place += 1,
                Lack::Nothing => {
                    self.waiting.remove(place);
                }
            }
        }
        None
    }

    fn get(&self, rtp: u64) -> Option<&(Fragment, u32)> {
        let place = rtp.checked_sub(self.base)?;
        self.parts.get(place as usize)?.as_ref()
    }

    fn missing(&self, packet: &FecPacket) -> Lack {
        if packet.first < self.base {
            // Too old to know.
            return Lack::Nothing;
        }
        let mut missing = packet.covers().filter(|rtp| self.get(*rtp).is_none());
        match (missing.next(), missing.next()) {
            (None, _) => Lack::Nothing,
            (Some(rtp), None) => Lack::One(rtp),
            (Some(_), Some(_)) => Lack::Several,
        }
    }

    /// What remains of a packet when all parts that are here are taken out of it.
    fn rest(&self, packet: &FecPacket, rtp: u64) -> (Fragment, u32) {
        let mut sum = packet.sum;
        for (part, bytes) in packet.covers().filter_map(|rtp| self.get(rtp)) {
            sum.add(part, *bytes);
        }
        sum.part(packet.stream, rtp)
    }
}

/// What a packet of FEC lacks.
enum Lack {
    /// Nothing: it is of no use.
    Nothing,
    /// The part that it gives back.
    One(u64),
    /// Several parts.
    Several,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::{PartSum, tests};

    fn part(rtp: u64) -> Fragment {
        Fragment {
            stream: 3,
            layer: (rtp % 3) as u8,
            back: (rtp % 5) as u8,
            timestamp: 3_000_u32.wrapping_mul((rtp / 4) as u32),
            ..tests::part(rtp, 4)
        }
    }

    fn bytes(rtp: u64) -> u32 {
        1_000 + 7 * rtp as u32
    }

    fn fec(first: u64, step: u8, count: u8) -> FecPacket {
        let mut packet = FecPacket {
            stream: 3,
            first,
            step,
            count,
            sum: PartSum::default(),
        };
        for rtp in packet.covers() {
            packet.sum.add(&part(rtp), bytes(rtp));
        }
        packet
    }

    fn here(decoder: &mut FecDecoder, parts: &[u64]) {
        for &rtp in parts {
            decoder.part(&part(rtp), bytes(rtp));
        }
    }

    #[test]
    fn one_missing_part_comes_back_as_it_was() {
        for missing in 0..8 {
            let mut decoder = FecDecoder::default();
            let parts: Vec<_> = (0..8).filter(|rtp| *rtp != missing).collect();
            here(&mut decoder, &parts);
            assert_eq!(decoder.restore(), None);
            decoder.packet(&fec(0, 2, 4));
            decoder.packet(&fec(1, 2, 4));
            assert_eq!(decoder.restore(), Some((part(missing), bytes(missing))));
            assert_eq!(decoder.restore(), None);
            assert!(decoder.waiting.is_empty(), "the other is of no use");
        }
    }

    #[test]
    fn a_late_part_helps_a_packet_that_lacked_two() {
        let mut decoder = FecDecoder::default();
        here(&mut decoder, &[0, 1, 4]);
        // 0, 2, 4 and 1, 2, 3: only the first lacks one, and with it the second does.
        decoder.packet(&fec(1, 1, 3));
        decoder.packet(&fec(0, 2, 3));
        assert_eq!(decoder.restore().map(|(part, _)| part.rtp), Some(2));
        assert_eq!(decoder.restore().map(|(part, _)| part.rtp), Some(3));
        let mut decoder = FecDecoder::default();
        decoder.packet(&fec(0, 1, 3));
        here(&mut decoder, &[0]);
        assert_eq!(decoder.restore(), None);
        here(&mut decoder, &[2]);
        assert_eq!(decoder.restore().map(|(part, _)| part.rtp), Some(1));
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut decoder = FecDecoder::default();
        here(&mut decoder, &[0]);
        decoder.packet(&fec(0, 1, 2));
        let later: Vec<_> = (2..300).collect();
        here(&mut decoder, &later);
        assert_eq!(decoder.restore(), None);
        assert_eq!(
            (decoder.parts.len() as u64, decoder.waiting.len()),
            (KEPT, 0)
        );
    }

    #[test]
    fn nonsense_does_no_harm() {
        let mut decoder = FecDecoder::default();
        for (first, step, count) in [(0, 0, 0), (0, 0, 9), (u64::MAX, 255, 255), (5, 1, 255)] {
            decoder.packet(&FecPacket {
                stream: 0,
                first,
                step,
                count,
                sum: PartSum::default(),
            });
            while decoder.restore().is_some() {}
        }
        for far in [FARTHEST, u64::MAX / 2, u64::MAX] {
            decoder.part(&part(far), 1);
        }
        assert!(decoder.parts.is_empty(), "ignored");
        here(&mut decoder, &[3, 5]);
        decoder.packet(&fec(3, 1, 3));
        assert_eq!(decoder.restore(), Some((part(4), bytes(4))));
        // A long gap, and a part before it.
        here(&mut decoder, &[100_000, 100_002, 6]);
        decoder.packet(&fec(100_000, 1, 3));
        assert_eq!(decoder.restore(), Some((part(100_001), bytes(100_001))));
        assert_eq!(decoder.parts.len() as u64, KEPT);
    }
}
