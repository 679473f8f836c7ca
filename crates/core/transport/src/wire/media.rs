//! The contents of a media session's packets, and the size of its feedback on the wire.

use units::{Duration, Instant};

/// A packet from the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaPacket {
    /// Transport-wide sequence number: one more for every packet, sent for the first time or
    /// again.
    pub sequence: u64,
    /// Length in bytes, IP header included.
    pub len: u32,
    /// The sender's smoothed round trip, zero before the first sample (RTCP XR DLRR, RFC 3611).
    pub rtt: Duration,
    /// Its contents.
    pub content: Content,
}

/// The contents of a packet from the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Padding that is not played: it fills a probe.
    Padding,
    /// A part of a frame of video.
    Video(Fragment),
    /// A frame of audio.
    Audio(AudioFrames),
    /// Forward error correction.
    Fec(FecPacket),
}

/// A whole frame of audio, and copies of frames before it (RFC 2198).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioFrames {
    /// The number of the frame.
    pub id: u64,
    /// How many frames before it are in the packet, too.
    pub earlier: u8,
    /// Bytes of these copies, and of the headers that tell the frames apart.
    pub copied: u32,
}

/// A part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Which of the session's streams of video it belongs to (RTP's SSRC).
    pub stream: u8,
    /// RTP sequence number: one more for every part of the stream; a retransmission keeps it (RFC
    /// 4588's OSN).
    pub rtp: u64,
    /// The frame, counted from 0 in its stream.
    pub frame: u64,
    /// Which part, counted from 0.
    pub index: u32,
    /// How many parts the frame has.
    pub count: u32,
    /// The frame depends on no other.
    pub key: bool,
    /// Its temporal layer, from 0, the base (AV1's dependency descriptor).
    pub layer: u8,
    /// In a stream with temporal layers, how many frames before it that is on which it depends; 0 in one
    /// without, where it depends on the one before.
    pub back: u8,
    /// When the sender was given the frame, in ticks of 90 kHz (RTP's time stamp); it begins anew
    /// after 13 hours.
    pub timestamp: u32,
}

/// A packet of forward error correction: the sum of parts of a stream (RFC 8627).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FecPacket {
    /// The stream.
    pub stream: u8,
    /// RTP sequence number of the first part.
    pub first: u64,
    /// How far each further part is from the one before.
    pub step: u8,
    /// How many parts there are.
    pub count: u8,
    /// Their sum.
    pub sum: PartSum,
}

impl FecPacket {
    /// RTP sequence numbers of the parts.
    pub fn covers(&self) -> impl Iterator<Item = u64> + use<> {
        let (first, step) = (self.first, u64::from(self.step));
        (0..u64::from(self.count)).map_while(move |number| first.checked_add(number * step))
    }
}

/// What parts of frames are about, XORed: with all but one of the parts the sum is that one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartSum {
    frame: u64,
    index: u32,
    count: u32,
    timestamp: u32,
    bytes: u32,
    key: bool,
    layer: u8,
    back: u8,
}

impl PartSum {
    /// Adds a part of `bytes`, headers apart, or takes it out again.
    pub fn add(&mut self, part: &Fragment, bytes: u32) {
        self.frame ^= part.frame;
        self.index ^= part.index;
        self.count ^= part.count;
        self.timestamp ^= part.timestamp;
        self.bytes ^= bytes;
        self.key ^= part.key;
        self.layer ^= part.layer;
        self.back ^= part.back;
    }

    /// The part that remains, and its bytes.
    pub fn part(&self, stream: u8, rtp: u64) -> (Fragment, u32) {
        let part = Fragment {
            stream,
            rtp,
            frame: self.frame,
            index: self.index,
            count: self.count,
            key: self.key,
            layer: self.layer,
            back: self.back,
            timestamp: self.timestamp,
        };
        (part, self.bytes)
    }
}

/// A packet from the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feedback {
    /// Which packets arrived.
    Acks(Acks),
    /// When packets arrived.
    Arrivals(Box<Arrivals>),
    /// RTP sequence numbers that are missing.
    Nack {
        /// In which stream.
        stream: u8,
        /// Which, in order.
        missing: Box<[u64]>,
    },
    /// A part arrived.
    Part {
        /// Its stream.
        stream: u8,
        /// Its RTP sequence number.
        rtp: u64,
    },
    /// Only a key frame of this stream helps (RFC 4585's picture loss indication).
    KeyFrame(u8),
}

/// Which packets arrived, by transport-wide sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acks {
    /// The largest that arrived.
    pub largest: u64,
    /// Bit `i` is set where `largest − 1 − i` arrived.
    pub before: [u64; 2],
    /// How long the largest waited for this acknowledgement.
    pub delay: Duration,
    /// Bytes with Congestion Experienced so far.
    pub marked: u64,
}

impl Acks {
    /// The ranges that arrived, `start..end`, from the highest down. The largest, which has no bit,
    /// is a range of its own.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let mut map = u128::from(self.before[1]) << 64 | u128::from(self.before[0]);
        let mut below = self.largest;
        let before = core::iter::from_fn(move || {
            if map == 0 {
                return None;
            }
            let gap = map.trailing_zeros();
            let ones = (map >> gap).trailing_ones();
            map = map.checked_shr(gap + ones).unwrap_or(0);
            let end = below.saturating_sub(gap.into());
            below = end.saturating_sub(ones.into());
            Some((below, end))
        });
        core::iter::once((self.largest, self.largest.saturating_add(1))).chain(before)
    }
}

/// When packets arrived, by transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrivals {
    /// The first packet that this speaks of.
    pub base: u64,
    /// Arrival of it and the following ones on the receiver's clock; `None` if missing.
    pub received: Vec<Option<Instant>>,
    /// How long the last of them waited for this report.
    pub delay: Duration,
}

/// IPv4 and UDP headers, and the bytes that SRTCP adds.
const ENVELOPE: u32 = 28 + 10;
/// RTCP feedback header with both SSRCs (RFC 4585, 6.1).
const RTCP: u32 = 12;

impl Feedback {
    /// Length on the wire in bytes, IP header included.
    pub fn wire_len(&self) -> u32 {
        let body = match self {
            // RFC 8888, 3.1, for eight packets: sequence and count 4, reports 16, time stamp 4.
            Feedback::Acks(_) | Feedback::Part { .. } => 24,
            // Transport-wide feedback: fixed part 8, a two-byte chunk for seven packets, a byte
            // for each arrival.
            Feedback::Arrivals(arrivals) => {
                let arrived = arrivals.received.iter().flatten().count();
                8 + 2 * arrivals.received.len().div_ceil(7) as u32 + arrived as u32
            }
            // Four bytes name a packet and any of the 16 after it (RFC 4585, 6.2.1).
            Feedback::Nack { missing, .. } => 4 * nack_blocks(missing),
            Feedback::KeyFrame(_) => 0,
        };
        ENVELOPE + RTCP + body
    }
}

fn nack_blocks(missing: &[u64]) -> u32 {
    let mut blocks = 0;
    let mut end = 0;
    for &rtp in missing {
        if blocks == 0 || rtp > end {
            blocks += 1;
            end = rtp.saturating_add(16);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    #[test]
    fn the_wire_stays_small() {
        assert!(size_of::<Wire>() <= 96, "{}", size_of::<Wire>());
    }

    #[test]
    fn acknowledgements_reach_128_back() {
        let acks = Acks {
            largest: 200,
            before: [0b101, 1 << 63],
            delay: Duration::ZERO,
            marked: 0,
        };
        let arrived: Vec<_> = acks.ranges().collect();
        // The largest, 200 − 1 − 0, 200 − 1 − 2, and 200 − 1 − 127.
        assert_eq!(arrived, [(200, 201), (199, 200), (197, 198), (72, 73)]);
        let ranges = |largest, before| -> Vec<_> {
            let acks = Acks {
                largest,
                before,
                ..acks
            };
            acks.ranges().collect()
        };
        assert_eq!(ranges(200, [u64::MAX; 2]), [(200, 201), (72, 200)]);
        assert_eq!(ranges(200, [0, 0]), [(200, 201)]);
        assert_eq!(
            ranges(1, [0b1011, 0]),
            [(1, 2), (0, 1), (0, 0)],
            "bits for packets before the first mean nothing"
        );
    }

    #[test]
    fn lengths_of_feedback() {
        let nack = |missing: &[u64]| {
            let missing = missing.into();
            Feedback::Nack { stream: 0, missing }.wire_len()
        };
        assert_eq!(Feedback::KeyFrame(0).wire_len(), 50);
        assert_eq!(nack(&[5, 6, 21]), 54, "one block holds 5 to 21");
        assert_eq!(nack(&[5, 22]), 58);
        let arrivals = Arrivals {
            base: 0,
            received: vec![Some(Instant::ZERO), None, Some(Instant::ZERO)],
            delay: Duration::ZERO,
        };
        // 50 + 8 fixed + one chunk of 2 + two arrivals.
        assert_eq!(Feedback::Arrivals(Box::new(arrivals)).wire_len(), 62);
    }
}
