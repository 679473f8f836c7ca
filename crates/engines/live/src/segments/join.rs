//! Joining, as a device's receive offload does: segments of a TCP connection that are handed on at once, one behind
//! another and with the same headers, are one packet that is still to be cut.

use super::{CHECKSUM, CWR, FIN, FLAGS, PSH, RST, SYN, TCP, URG, WHOLE, fit, get, place};
use crate::frame::{Frame, NEEDS_CHECKSUM, VNET};
use core::ops::Range;

/// Connections whose packets wait for more.
const MOST: usize = 8;
/// Bytes of a packet, at most: IP's length says no more than 65,535.
const LONGEST: usize = 65_000;
/// TCP in IP's header.
const PROTOCOL: u8 = 6;

/// Packets that wait for more of theirs.
#[derive(Debug, Default)]
pub struct Joined(Vec<SegmentTrain>);

impl Joined {
    /// Takes a packet, and hands on what has to be before it, in order: of a connection, and of all if it can be joined to
    /// nothing. Returns a packet whose buffer is free.
    pub fn add(&mut self, frame: Frame, hand_on: &mut impl FnMut(Frame)) -> Option<Frame> {
        let Some(segment) = JoinableSegment::of(&frame) else {
            self.end(hand_on);
            hand_on(frame);
            return None;
        };
        let mut trains = self.0.iter_mut();
        let train = trains.find(|train| train.is_of(&segment));
        if let Some(train) = train {
            if train.takes(&segment) {
                train.append(&segment);
                return Some(frame);
            }
            let next = SegmentTrain::new(segment.shape, frame);
            hand_on(core::mem::replace(train, next).frame());
            return None;
        }
        let next = SegmentTrain::new(segment.shape, frame);
        if self.0.len() == MOST {
            self.end(hand_on);
        }
        self.0.push(next);
        None
    }

    /// Hands on all.
    pub fn end(&mut self, hand_on: &mut impl FnMut(Frame)) {
        self.0.drain(..).map(SegmentTrain::frame).for_each(hand_on);
    }
}

/// A packet that can be joined to others.
struct JoinableSegment<'a> {
    packet: &'a [u8],
    shape: Shape,
}

/// Where the transport's header begins in a packet, and the bytes of all headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    transport: usize,
    headers: usize,
}

impl<'a> JoinableSegment<'a> {
    fn of(frame: &'a Frame) -> Option<Self> {
        let (bytes, packet) = (frame.bytes(), frame.packet());
        // IPv4 without options, all of a packet; or IPv6 without headers in between.
        let transport = match packet.first()? {
            0x45 if packet.len() > 40 => {
                let whole = packet[6] & 0x3f == 0 && packet[7] == 0;
                let length = usize::from(get(packet, 2)) == packet.len();
                (whole && length && packet[9] == PROTOCOL).then_some(20)?
            }
            0x60..=0x6f if packet.len() > 60 => {
                let length = usize::from(get(packet, 4)) + 40 == packet.len();
                (length && packet[6] == PROTOCOL).then_some(40)?
            }
            _ => return None,
        };
        let own = usize::from(packet[transport + 12] >> 4) * 4;
        let headers = transport + own;
        let begins = u16::from_ne_bytes([bytes[6], bytes[7]]);
        let left = bytes[0] & NEEDS_CHECKSUM != 0 && usize::from(begins) == transport;
        let plain = packet[transport + FLAGS] & (SYN | RST | URG | CWR) == 0;
        let whole = bytes[1] == WHOLE && own >= 20 && packet.len() > headers;
        (left && plain && whole).then_some(JoinableSegment {
            packet,
            shape: Shape { transport, headers },
        })
    }

    fn header(&self) -> &[u8] {
        &self.packet[self.shape.transport..self.shape.headers]
    }

    fn data(&self) -> &[u8] {
        &self.packet[self.shape.headers..]
    }
}

/// Segments one behind another.
#[derive(Debug)]
struct SegmentTrain {
    /// The headers of the first, and the data of all.
    bytes: Vec<u8>,
    shape: Shape,
    /// Bytes of the first packet, and of each but the last without headers.
    first: usize,
    segment: usize,
    /// The place of the next in the stream.
    next: u32,
    /// The last ends a message, or the connection, or is short.
    ends: bool,
}

impl SegmentTrain {
    fn new(shape: Shape, frame: Frame) -> Self {
        let packet = frame.packet();
        let (segment, header) = (packet.len() - shape.headers, &packet[shape.transport..]);
        SegmentTrain {
            shape,
            first: packet.len(),
            segment,
            next: place(header).wrapping_add(segment as u32),
            ends: header[FLAGS] & (FIN | PSH) != 0,
            bytes: frame.into_buffer(),
        }
    }

    fn packet(&self) -> &[u8] {
        &self.bytes[VNET..]
    }

    /// Whether all these parts of its first packet are those of another.
    fn has(&self, other: &JoinableSegment<'_>, parts: &[Range<usize>]) -> bool {
        let (own, other) = (self.packet(), other.packet);
        let mut parts = parts.iter().cloned();
        parts.all(|part| own[part.clone()] == other[part])
    }

    /// Whether it is of the same connection.
    fn is_of(&self, other: &JoinableSegment<'_>) -> bool {
        let Shape { transport, .. } = self.shape;
        let addresses = if transport == 20 { 12..20 } else { 8..40 };
        transport == other.shape.transport
            && self.has(other, &[addresses, transport..transport + 4])
    }

    /// Whether one of the same connection goes on where it ends.
    fn takes(&self, next: &JoinableSegment<'_>) -> bool {
        let Shape { transport, headers } = self.shape;
        let data = next.data().len();
        let fits = data <= self.segment && self.packet().len() + data <= LONGEST;
        if self.ends || self.shape != next.shape || place(next.header()) != self.next || !fits {
            return false;
        }
        // Without lengths, numbers and checksums.
        let ip = if transport == 20 {
            [0..2, 6..10]
        } else {
            [0..4, 6..8]
        };
        let [ack, window, rest] = [8..FLAGS, FLAGS + 1..CHECKSUM, 18..headers - transport]
            .map(|part| transport + part.start..transport + part.end);
        let flags = |packet: &[u8]| packet[transport + FLAGS] & !(FIN | PSH);
        self.has(next, &ip)
            && self.has(next, &[ack, window, rest])
            && flags(self.packet()) == flags(next.packet)
    }

    fn append(&mut self, next: &JoinableSegment<'_>) {
        let data = next.data();
        self.bytes.extend_from_slice(data);
        self.next = self.next.wrapping_add(data.len() as u32);
        let last = next.header()[FLAGS] & (FIN | PSH);
        self.bytes[VNET + self.shape.transport + FLAGS] |= last;
        self.ends = last != 0 || data.len() < self.segment;
    }

    /// A packet that is still to be cut, if there are several.
    fn frame(mut self) -> Frame {
        let Shape { transport, headers } = self.shape;
        if self.packet().len() > self.first {
            let (vnet, packet) = self.bytes.split_at_mut(VNET);
            vnet[1] = TCP[usize::from(transport == 40)];
            vnet[2..4].copy_from_slice(&(headers as u16).to_ne_bytes());
            vnet[4..6].copy_from_slice(&(self.segment as u16).to_ne_bytes());
            fit(packet, self.first, transport, CHECKSUM);
        }
        Frame::new(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::tests::{SEGMENT, left, segments};

    fn joined(frames: Vec<Frame>) -> Vec<Frame> {
        let (mut joined, mut found) = (Joined::default(), Vec::new());
        for frame in frames {
            joined.add(frame, &mut |frame| found.push(frame));
        }
        joined.end(&mut |frame| found.push(frame));
        found
    }

    /// Packets of another connection.
    fn other(frames: &[Frame]) -> Vec<Frame> {
        let port = |frame: &Frame| {
            let mut bytes = frame.bytes().to_vec();
            let transport = usize::from(u16::from_ne_bytes([bytes[6], bytes[7]]));
            bytes[VNET + transport + 1] ^= 0x40;
            Frame::new(bytes)
        };
        frames.iter().map(port).collect()
    }

    #[test]
    fn what_was_cut_is_joined_to_what_it_was() {
        for version in [4, 6] {
            let whole = left(version, true);
            let parts = segments(&whole);
            let one = core::slice::from_ref(&whole);
            assert_eq!(joined(parts.clone()), one);
            // In turn with another connection's, each keeps its own order.
            let both = parts.iter().cloned().zip(other(&parts));
            let both = both.flat_map(|(one, other)| [one, other]).collect();
            assert_eq!(joined(both), [one, &other(one)].concat());
        }
    }

    #[test]
    fn what_does_not_go_on_where_others_end_is_not_joined() {
        let parts = segments(&left(4, true));
        let lengths = |frames: Vec<Frame>| -> Vec<usize> {
            let frames = joined(frames);
            let data = frames.iter().map(|frame| frame.packet().len() - 40);
            data.collect()
        };
        let changed = |place: usize, at: usize| {
            let mut frames = parts.clone();
            let mut bytes = frames[place].bytes().to_vec();
            bytes[VNET + at] ^= 0x10;
            frames[place] = Frame::new(bytes);
            frames
        };
        // One is missing; one comes twice; the last one, which is short, comes first.
        let without = [&parts[..3], &parts[4..]].concat();
        assert_eq!(lengths(without), [3 * SEGMENT, 550]);
        let twice = [&parts[..3], &parts[2..]].concat();
        assert_eq!(lengths(twice), [3 * SEGMENT, 750]);
        let turned = [&parts[9..], &parts[..9]].concat();
        assert_eq!(lengths(turned), [50, 900]);
        // Another byte of traffic class, time to live, acknowledged byte, window: from there on, and for one alone.
        for at in [1, 8, 20 + 11, 20 + 14] {
            assert_eq!(lengths(changed(4, at)), [400, 100, 450], "{at}");
        }
        // What is no such packet stays behind what came before.
        let udp = [&parts[..2], &[left(4, false)], &parts[2..]].concat();
        let found: Vec<bool> = joined(udp)
            .iter()
            .map(|frame| frame.packet()[9] == 6)
            .collect();
        assert_eq!(found, [true, false, true]);
    }
}
