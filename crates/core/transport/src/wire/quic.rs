//! The contents of a QUIC datagram, and its length.

use arrayvec::ArrayVec;

/// Length of the UDP payload of a full datagram (as Chrome and quiche send it over IPv4).
pub const DATAGRAM: u32 = 1350;
/// IPv4 and UDP headers.
pub const IP_UDP: u32 = 28;
/// Short header: flags 1, connection id 8, packet number 2; authentication tag 16.
const SHORT: u32 = 27;
/// The additional bytes of a long header: version 4, connection ids 2 + 8, token 1, length 2.
const LONG: u32 = 17;
/// Head of a STREAM or CRYPTO frame: type 1, stream 2, offset 4, length 2.
const FRAME: u32 = 9;
/// ACK frame: type 1, largest 4, delay 2, count 1, first range 1.
const ACK: u32 = 9;
/// Gap and length of another range.
const RANGE: u32 = 2;
/// ECN counts of an ACK frame.
const ECN_COUNTS: u32 = 6;
/// Most frames in a packet.
pub const MAX_FRAMES: usize = 16;
/// Most ranges in an acknowledgement.
pub const MAX_RANGES: usize = 32;
/// The stream of the handshake's bytes.
pub const CRYPTO: u32 = u32::MAX;

/// A datagram with one QUIC packet, without content. One space of packet numbers stands for the
/// three of RFC 9000, 12.3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuicPacket {
    /// The subflow that it belongs to, which has packet numbers of its own (multipath QUIC).
    pub path: u8,
    /// Its number.
    pub number: u64,
    /// Bytes of streams.
    pub frames: QuicFrames,
    /// The arrivals at its sender.
    pub ack: Option<Ack>,
    /// It asks for an acknowledgement although it carries no data.
    pub ping: bool,
    /// It belongs to the handshake and has a long header.
    pub long: bool,
}

impl QuicPacket {
    /// An acknowledgement has to be sent for it (RFC 9000, 13.2).
    pub fn is_eliciting(&self) -> bool {
        self.ping || !self.frames.is_empty()
    }

    /// Length of the UDP payload, without padding.
    pub fn wire_len(&self) -> u32 {
        let ack = self.ack.as_ref().map_or(0, Ack::len);
        let frames: u32 = self.frames.iter().map(|frame| FRAME + frame.len).sum();
        header(self.long) + ack + frames + u32::from(self.ping)
    }

    /// Bytes of a stream that one more frame can carry in a datagram of `limit` bytes.
    pub fn room(&self, limit: u32) -> u32 {
        limit.saturating_sub(self.wire_len() + FRAME)
    }
}

const fn header(long: bool) -> u32 {
    if long { SHORT + LONG } else { SHORT }
}

/// A STREAM or CRYPTO frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuicFrame {
    /// The offset of its first byte in the stream.
    pub offset: u64,
    /// Which stream; the handshake's bytes are in one of their own.
    pub stream: u32,
    /// How many bytes.
    pub len: u32,
}

/// The frames of a packet. The first is inline: most packets have one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuicFrames {
    /// Empty if its length is zero.
    first: QuicFrame,
    more: Option<Box<ArrayVec<QuicFrame, { MAX_FRAMES - 1 }>>>,
}

impl QuicFrames {
    /// Adds a frame of at least one byte; false if there is no room for another.
    pub fn push(&mut self, frame: QuicFrame) -> bool {
        if self.first.len == 0 {
            self.first = frame;
            return true;
        }
        self.more.get_or_insert_default().try_push(frame).is_ok()
    }

    /// The frames in order.
    pub fn iter(&self) -> impl Iterator<Item = &QuicFrame> {
        let first = Some(&self.first).filter(|frame| frame.len > 0);
        first
            .into_iter()
            .chain(self.more.iter().flat_map(|more| more.iter()))
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.first.len == 0
    }

    /// There is no room for another.
    pub fn is_full(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.is_full())
    }
}

/// An ACK frame (RFC 9000, 19.3). The first range is inline: without losses there is no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ack {
    /// The largest packet number that arrived.
    pub largest: u64,
    /// Further ranges: packets missing before the last range, and in the range.
    more: Option<Box<ArrayVec<(u32, u32), { MAX_RANGES - 1 }>>>,
    /// How many numbers the first range has.
    pub first: u32,
    /// For how long the largest one's acknowledgement was held back, microseconds.
    pub delay: u32,
    /// Packets that arrived with Congestion Experienced.
    pub marks: u32,
}

impl Ack {
    /// The acknowledgement of `ranges`, `start..end` from the highest down: as many as fit.
    pub fn new(ranges: impl Iterator<Item = (u64, u64)>, delay: u32, marks: u32) -> Option<Self> {
        let mut ack: Option<Ack> = None;
        let mut above = 0;
        for (start, end) in ranges.take(MAX_RANGES) {
            let count = u32::try_from(end - start).unwrap_or(u32::MAX);
            match &mut ack {
                None => {
                    ack = Some(Ack {
                        largest: end - 1,
                        more: None,
                        first: count,
                        delay,
                        marks,
                    });
                }
                Some(ack) => {
                    let gap = u32::try_from(above - end).unwrap_or(u32::MAX);
                    let more = ack.more.get_or_insert_default();
                    if more.try_push((gap, count)).is_err() {
                        break;
                    }
                }
            }
            above = end - u64::from(count);
        }
        ack
    }

    /// The ranges `start..end`, from the highest down.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let end = self.largest.saturating_add(1);
        let start = end.saturating_sub(u64::from(self.first));
        let mut below = start;
        let more = self.more.iter().flat_map(|more| more.iter());
        let rest = more.map(move |&(gap, count)| {
            let end = below.saturating_sub(u64::from(gap));
            below = end.saturating_sub(u64::from(count));
            (below, end)
        });
        core::iter::once((start, end)).chain(rest)
    }

    fn len(&self) -> u32 {
        let more = self.more.as_ref().map_or(0, |more| more.len() as u32);
        let marks = if self.marks > 0 { ECN_COUNTS } else { 0 };
        ACK + RANGE * more + marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert!(size_of::<QuicPacket>() <= 88);
    }

    #[test]
    fn ranges_survive_the_wire() {
        let ranges = [(90, 100), (50, 89), (0, 7)];
        let ack = Ack::new(ranges.into_iter(), 5, 0).unwrap();
        assert_eq!(ack.largest, 99);
        assert_eq!(ack.ranges().collect::<Vec<_>>(), ranges);
        assert_eq!(ack.len(), ACK + 2 * RANGE);
        assert_eq!(Ack::new([].into_iter(), 0, 0), None);
        let many = (0..100).rev().map(|range| (10 * range, 10 * range + 1));
        assert_eq!(Ack::new(many, 0, 0).unwrap().ranges().count(), MAX_RANGES);
    }

    #[test]
    fn a_hostile_acknowledgement_stays_within_the_numbers() {
        let ack = Ack {
            largest: 3,
            first: 100,
            ..Ack::default()
        };
        assert_eq!(ack.ranges().collect::<Vec<_>>(), [(0, 4)]);
    }

    #[test]
    fn lengths_by_hand() {
        let mut packet = QuicPacket {
            path: 0,
            number: 0,
            frames: QuicFrames::default(),
            ack: None,
            ping: false,
            long: false,
        };
        assert_eq!(packet.wire_len(), 27);
        assert_eq!(packet.room(DATAGRAM), 1350 - 27 - 9);
        for stream in 0..3 {
            assert!(packet.frames.push(QuicFrame {
                offset: 0,
                stream,
                len: 100
            }));
        }
        assert_eq!(packet.wire_len(), 27 + 3 * 109);
        packet.long = true;
        packet.ack = Ack::new([(0, 2)].into_iter(), 0, 0);
        assert_eq!(packet.wire_len(), 44 + 9 + 3 * 109);
    }
}
