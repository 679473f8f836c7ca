//! Cutting, as a kernel does (`tcp_gso_segment`, `__udp_gso_segment`). The last checksum is left to a device as before.

use super::{CHECKSUM, CWR, FIN, FLAGS, PSH, TCP, UDP, WHOLE, cover, fit, get, place, put};
use crate::frame::{Frame, NEEDS_CHECKSUM, VNET};
use crate::spare::Spare;

/// In `gso_type` beside what it is: CWR is the first segment's alone.
const ECN: u8 = 0x80;

/// A packet, and how much of it was cut off.
pub struct Cut<'a> {
    frame: &'a [u8],
    /// Where the transport's header begins in the packet, and the bytes of all headers.
    transport: usize,
    headers: usize,
    tcp: bool,
    /// Bytes of a segment without headers.
    segment: usize,
    /// The same of what was cut off.
    done: usize,
}

impl<'a> Cut<'a> {
    /// None of it is cut off. None if it is a segment, or is not left to a device in the way that Linux does.
    pub fn new(frame: &'a Frame) -> Option<Self> {
        let (bytes, packet) = (frame.bytes(), frame.packet());
        let field = |at: usize| {
            let field = bytes.get(at..at + 2)?;
            Some(usize::from(u16::from_ne_bytes([field[0], field[1]])))
        };
        let (segment, transport) = (field(4)?, field(6)?);
        let tcp = TCP.contains(&(bytes[1] & !ECN));
        let own = if tcp {
            usize::from(packet.get(transport + 12)? >> 4) * 4
        } else {
            8
        };
        let headers = transport + own;
        let left = bytes[0] & NEEDS_CHECKSUM != 0 && (tcp || bytes[1] == UDP) && segment > 0;
        if !left || headers + segment >= packet.len() {
            return None;
        }
        let ip = if packet[0] >> 4 == 6 { 40 } else { 20 };
        let there = transport >= ip && own >= if tcp { 20 } else { 8 };
        (there && field(8)? == checksum(tcp)).then_some(Cut {
            frame: bytes,
            transport,
            headers,
            tcp,
            segment,
            done: 0,
        })
    }

    /// The next segment, in a buffer of these; none after the last.
    pub fn next(&mut self, spare: &mut Spare) -> Option<Frame> {
        let begin = VNET + self.headers;
        let (start, all) = (self.done, self.frame.len() - begin);
        let end = (start + self.segment).min(all);
        if start == end {
            return None;
        }
        self.done = end;
        let mut buffer = spare.take();
        buffer.clear();
        buffer.extend_from_slice(&self.frame[..begin]);
        buffer.extend_from_slice(&self.frame[begin + start..begin + end]);
        buffer[1] = WHOLE;
        buffer[4..6].fill(0);
        let packet = &mut buffer[VNET..];
        let old = self.frame.len() - VNET;
        fit(packet, old, self.transport, checksum(self.tcp));
        if packet[0] >> 4 == 4 {
            let number = get(packet, 4).wrapping_add((start / self.segment) as u16);
            cover(packet, 4, number);
        }
        let length = (packet.len() - self.transport) as u16;
        let header = &mut packet[self.transport..];
        if !self.tcp {
            put(header, 4, length);
            return Some(Frame::new(buffer));
        }
        let place = place(header).wrapping_add(start as u32);
        header[4..8].copy_from_slice(&place.to_be_bytes());
        if end < all {
            header[FLAGS] &= !(FIN | PSH);
        }
        if start > 0 {
            header[FLAGS] &= !CWR;
        }
        Some(Frame::new(buffer))
    }
}

/// Where the checksum is in the transport's header.
const fn checksum(tcp: bool) -> usize {
    if tcp { CHECKSUM } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::tests::{SEGMENT, left, pseudo, segments};

    #[test]
    fn segments_are_packets_that_carry_the_same() {
        for (version, tcp) in [(4, true), (6, true), (4, false), (6, false)] {
            let mut whole = left(version, tcp);
            let transport = if version == 4 { 20 } else { 40 };
            let headers = transport + if tcp { 20 } else { 8 };
            if tcp {
                let mut bytes = whole.into_buffer();
                bytes[1] |= ECN;
                bytes[VNET + transport + FLAGS] |= CWR | FIN;
                whole = Frame::new(bytes);
            }
            let (mut carried, found) = (Vec::new(), segments(&whole));
            assert_eq!(found.len(), 10);
            for (number, segment) in found.iter().enumerate() {
                let packet = segment.packet();
                assert!(etherparse::SlicedPacket::from_ip(packet).is_ok());
                assert_eq!(segment.wire_len(), Some(packet.len() as u32));
                if version == 4 {
                    let header = etherparse::Ipv4HeaderSlice::from_slice(packet).unwrap();
                    let sum = header.to_header().calc_header_checksum();
                    assert_eq!(header.header_checksum(), sum, "{version} {tcp}");
                    assert_eq!(usize::from(header.identification()), number);
                }
                let header = &packet[transport..];
                assert_eq!(get(header, checksum(tcp)), pseudo(packet, transport, tcp));
                if tcp {
                    let expected = (u32::MAX - 300).wrapping_add(carried.len() as u32);
                    assert_eq!(place(header), expected);
                    let flags = header[FLAGS];
                    assert_eq!(flags & (FIN | PSH) != 0, number == 9);
                    assert_eq!(flags & CWR != 0, number == 0);
                }
                assert!(packet.len() <= headers + SEGMENT);
                carried.extend_from_slice(&packet[headers..]);
            }
            assert_eq!(carried, whole.packet()[headers..]);
        }
    }

    #[test]
    fn what_is_no_such_packet_stays_whole() {
        let whole = left(4, true);
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.bytes().to_vec();
            bytes[at] = byte;
            Frame::new(bytes)
        };
        let none = |frame: &Frame| Cut::new(frame).is_none();
        assert!(!none(&whole));
        // Without a checksum to finish, of one segment, with places that are not there.
        assert!(none(&with(0, 0)) && none(&with(1, WHOLE)) && none(&with(5, 4)));
        assert!(none(&with(6, 0)) && none(&with(7, 9)) && none(&with(8, 30)));
        assert!(none(&with(VNET + 32, 0x10)) && none(&with(VNET, 0x60)));
        assert!(none(&Frame::new(Vec::new())) && none(&Frame::new(vec![1; VNET])));
    }
}
