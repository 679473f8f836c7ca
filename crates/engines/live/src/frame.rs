//! Packets of a TUN device, and the fields that a discipline needs.

use core::hash::{BuildHasher, Hash};
use core::net::{IpAddr, SocketAddr};
use etherparse::checksum::Sum16BitWords;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use qdisc::{Hosts, Packet};
use units::{Ecn, FlowId};

/// Bytes of the header before each packet: `struct virtio_net_hdr`, linux/virtio_net.h.
pub const VNET: usize = 10;

/// `VIRTIO_NET_HDR_GSO_NONE`.
const WHOLE: u8 = 0;
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
pub const NEEDS_CHECKSUM: u8 = 1;

/// A packet as it arrived, behind the header of the TUN device, which has the work left to do: to
/// finish a checksum, to cut it into segments. It is handed on unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame(Vec<u8>);

/// The fields read from a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes that its segments have on a wire, IP headers included.
    pub len: u32,
    /// Salted hash of its addresses, ports and protocol; of a fragment, without ports.
    pub hash: u32,
    /// Salted hashes of its addresses.
    pub hosts: Hosts,
    /// Source and destination ports; zeros if it has none, and for a fragment.
    pub ports: (u16, u16),
    /// The Differentiated Services code point.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
}

/// Where a packet comes from and goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameEnds {
    /// The sender; port 0 if it has none, and of a fragment.
    pub source: SocketAddr,
    /// The receiver, likewise.
    pub destination: SocketAddr,
    /// The protocol above IP, by IANA's number.
    pub protocol: u8,
    /// The byte with DSCP and ECN.
    pub tos: u8,
}

impl FrameEnds {
    /// Of an IP packet, which may be cut off behind its ports; none if it is no valid one.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let sliced = LaxSlicedPacket::from_ip(packet).ok()?;
        let (from, to, tos, protocol, fragmented): (IpAddr, IpAddr, u8, u8, bool) =
            match sliced.net? {
                LaxNetSlice::Ipv4(ip) => {
                    let header = ip.header();
                    (
                        header.source_addr().into(),
                        header.destination_addr().into(),
                        header.slice()[1],
                        ip.payload_ip_number().0,
                        ip.is_payload_fragmented(),
                    )
                }
                LaxNetSlice::Ipv6(ip) => (
                    ip.header().source_addr().into(),
                    ip.header().destination_addr().into(),
                    ip.header().traffic_class(),
                    ip.payload().ip_number.0,
                    ip.is_payload_fragmented(),
                ),
                LaxNetSlice::Arp(_) => return None,
            };
        let ports = match sliced.transport {
            Some(TransportSlice::Tcp(tcp)) if !fragmented => {
                (tcp.source_port(), tcp.destination_port())
            }
            Some(TransportSlice::Udp(udp)) if !fragmented => {
                (udp.source_port(), udp.destination_port())
            }
            _ => (0, 0),
        };
        Some(FrameEnds {
            source: SocketAddr::new(from, ports.0),
            destination: SocketAddr::new(to, ports.1),
            protocol,
            tos,
        })
    }
}

/// Bytes of a packet's headers up to its transport's, of which at least these are there; none if it has none
/// that is known.
pub fn headers(packet: &[u8]) -> Option<u32> {
    let sliced = LaxSlicedPacket::from_ip(packet).ok()?;
    let behind = match sliced.transport? {
        TransportSlice::Tcp(tcp) => tcp.payload().len(),
        TransportSlice::Udp(udp) => udp.payload().len(),
        _ => return None,
    };
    u32::try_from(packet.len() - behind).ok()
}

impl Frame {
    /// A frame from the contents of a buffer read from a device: the header and a packet.
    pub fn new(bytes: Vec<u8>) -> Self {
        Frame(bytes)
    }

    /// The bytes to write to a device.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The buffer, for the next packet.
    pub fn into_buffer(self) -> Vec<u8> {
        self.0
    }

    /// The IP packet, whose last checksum and cut into segments may be left to a device.
    pub fn packet(&self) -> &[u8] {
        self.0.get(VNET..).unwrap_or_default()
    }

    /// Where it comes from and goes to; none if it is no valid IP packet.
    pub fn ends(&self) -> Option<FrameEnds> {
        FrameEnds::of(self.packet())
    }

    /// Whether it is for one host: a kernel sends others by itself, such as IPv6's solicitation of routers.
    pub fn is_unicast(&self) -> bool {
        let packet = self.packet();
        let first = |place: usize| packet.get(place).copied();
        // The destination's first byte: RFC 791, 3.1; RFC 8200, 3.
        match first(0).map(|byte| byte >> 4) {
            Some(4) => first(16).is_some_and(|byte| byte < 224),
            Some(6) => first(24).is_some_and(|byte| byte != 0xff),
            _ => false,
        }
    }

    /// Its header; none if it is no valid IP packet.
    pub fn header(&self, salt: &impl BuildHasher) -> Option<Header> {
        Header::of(self.packet(), self.wire_len()?, salt)
    }

    /// The bytes of its segments on a wire: each has the headers.
    pub fn wire_len(&self) -> Option<u32> {
        let all = u32::try_from(self.packet().len()).ok()?;
        if all == 0 {
            return None;
        }
        let field = |at: usize| u32::from(u16::from_ne_bytes([self.0[at], self.0[at + 1]]));
        let (kind, headers, segment) = (self.0[1], field(2), field(4));
        if kind == WHOLE || segment == 0 || headers >= all {
            return Some(all);
        }
        let segments = (all - headers).div_ceil(segment);
        Some(all + (segments - 1) * headers)
    }

    /// The packet with the checksum that was left to a device: the Internet checksum (RFC 1071) from a place
    /// to the end, to which the field already adds the pseudo-header's.
    pub fn finished(&self) -> Vec<u8> {
        let mut packet = self.packet().to_vec();
        let field = |at: usize| usize::from(u16::from_ne_bytes([self.0[at], self.0[at + 1]]));
        if self.0.len() < VNET || self.0[0] & NEEDS_CHECKSUM == 0 {
            return packet;
        }
        let (start, offset) = (field(6), field(8));
        let Some(part) = packet.get(start..) else {
            return packet;
        };
        // Zero would say that there is none: RFC 768.
        let sum = Sum16BitWords::new().add_slice(part);
        let sum = sum.to_ones_complement_with_no_zero().to_ne_bytes();
        if let Some(place) = packet.get_mut(start + offset..start + offset + 2) {
            place.copy_from_slice(&sum);
        }
        packet
    }

    /// Sets Congestion Experienced, in a packet whose header was read; whether it was not set before.
    pub fn mark(&mut self) -> bool {
        let Some(packet) = self.0.get_mut(VNET..) else {
            return false;
        };
        match packet.first().map(|first| first >> 4) {
            Some(4) if packet.len() >= 20 => {
                let old = u16::from_be_bytes([packet[0], packet[1]]);
                packet[1] |= 3;
                let new = u16::from_be_bytes([packet[0], packet[1]]);
                let sum = u16::from_be_bytes([packet[10], packet[11]]);
                let sum = updated(sum, old, new).to_be_bytes();
                packet[10..12].copy_from_slice(&sum);
                new != old
            }
            // The traffic class begins with the low half of the first byte.
            Some(6) if packet.len() >= 40 => {
                let old = packet[1];
                packet[1] |= 0x30;
                packet[1] != old
            }
            _ => false,
        }
    }
}

/// A checksum after one of its words changed: RFC 1624, equation 3.
pub fn updated(sum: u16, old: u16, new: u16) -> u16 {
    let mut all = u32::from(!sum) + u32::from(!old) + u32::from(new);
    while all > 0xffff {
        all = (all & 0xffff) + (all >> 16);
    }
    !(all as u16)
}

impl Header {
    /// Of an IP packet of which at least the ports are there, and that has `len` bytes on a wire; none if
    /// it is no valid one.
    pub fn of(packet: &[u8], len: u32, salt: &impl BuildHasher) -> Option<Self> {
        let FrameEnds {
            source,
            destination,
            protocol,
            tos,
        } = FrameEnds::of(packet)?;
        let (from, to) = (source.ip(), destination.ip());
        let ports = (source.port(), destination.port());
        let hash = |value: &dyn Fn(&mut dyn core::hash::Hasher)| {
            let mut hasher = salt.build_hasher();
            value(&mut hasher);
            core::hash::Hasher::finish(&hasher) as u32
        };
        Some(Header {
            len,
            hash: hash(&|mut hasher| (from, to, protocol, ports).hash(&mut hasher)),
            hosts: Hosts::new(
                hash(&|mut hasher| from.hash(&mut hasher)),
                hash(&|mut hasher| to.hash(&mut hasher)),
            ),
            ports,
            dscp: tos >> 2,
            ecn: Ecn::of_tos(tos),
        })
    }

    /// The packet as a discipline sees it.
    pub fn around<P: Default>(self, payload: P) -> Packet<P> {
        Packet {
            len: self.len,
            flow: FlowId(self.hash),
            hash: self.hash,
            hosts: self.hosts,
            dscp: self.dscp,
            ecn: self.ecn,
            payload,
            ..Packet::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::BuildHasherDefault;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;
    use std::hash::DefaultHasher;

    type Salt = BuildHasherDefault<DefaultHasher>;

    fn frame(packet: &[u8]) -> Frame {
        Frame([&[0; VNET], packet].concat())
    }

    fn tcp(version: u8, port: u16) -> Vec<u8> {
        let builder = match version {
            4 => PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            _ => PacketBuilder::ipv6([1; 16], [2; 16], 64),
        };
        let mut bytes = Vec::new();
        let builder = builder.tcp(port, 443, 1, 1000);
        builder.write(&mut bytes, &[7; 100]).unwrap();
        bytes
    }

    #[test]
    fn packets_for_all_are_not_for_one() {
        for version in [4, 6] {
            let mut packet = tcp(version, 80);
            assert!(frame(&packet).is_unicast());
            packet[if version == 4 { 16 } else { 24 }] = 0xff;
            assert!(!frame(&packet).is_unicast());
        }
        assert!(!frame(&[]).is_unicast() && !frame(&[0x45]).is_unicast());
    }

    fn header(packet: &[u8]) -> Option<Header> {
        frame(packet).header(&Salt::default())
    }

    #[test]
    fn flows_are_told_apart_and_hosts_are_not() {
        for version in [4, 6] {
            let (one, other) = (tcp(version, 1), tcp(version, 2));
            let (one, other) = (header(&one).unwrap(), header(&other).unwrap());
            assert_ne!(one.hash, other.hash);
            assert_eq!(one.hosts, other.hosts);
            assert_ne!(one.hosts.source, one.hosts.destination);
            assert_eq!(one.len, if version == 4 { 140 } else { 160 });
        }
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for version in [4, 6] {
            let mut packet = tcp(version, 1);
            // ECT(0).
            match version {
                4 => {
                    packet[1] = 2;
                    let header = etherparse::Ipv4HeaderSlice::from_slice(&packet).unwrap();
                    let sum = header.to_header().calc_header_checksum();
                    packet[10..12].copy_from_slice(&sum.to_be_bytes());
                }
                _ => packet[1] = 0x20,
            }
            let mut frame = frame(&packet);
            assert_eq!(frame.header(&Salt::default()).unwrap().ecn, Ecn::Ect0);
            assert!(frame.mark() && !frame.mark());
            assert_eq!(frame.header(&Salt::default()).unwrap().ecn, Ecn::Ce);
            if version == 4 {
                let header = etherparse::Ipv4HeaderSlice::from_slice(frame.packet()).unwrap();
                let sum = header.to_header().calc_header_checksum();
                assert_eq!(header.header_checksum(), sum);
            }
        }
    }

    /// As a kernel leaves it: the field has the pseudo-header's sum.
    #[test]
    fn a_checksum_that_was_left_to_a_device_is_finished() {
        let packet = tcp(4, 1);
        let whole = u16::from_be_bytes([packet[36], packet[37]]);
        let mut left = frame(&packet);
        // 10.0.0.1 and 10.0.0.2 in words, the protocol, and 120 bytes of TCP.
        let sum: u16 = 0x0a00 + 1 + 0x0a00 + 2 + 6 + 120;
        left.0[VNET + 36..VNET + 38].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(left.finished(), left.packet(), "nothing was left to do");
        left.0[0] = NEEDS_CHECKSUM;
        left.0[6..8].copy_from_slice(&20u16.to_ne_bytes());
        left.0[8..10].copy_from_slice(&16u16.to_ne_bytes());
        let finished = left.finished();
        assert_eq!(u16::from_be_bytes([finished[36], finished[37]]), whole);
        assert_eq!(finished, packet);
        // A place that is not there.
        left.0[6..8].copy_from_slice(&9999u16.to_ne_bytes());
        assert_eq!(left.finished(), left.packet());
    }

    #[test]
    fn segments_have_headers_each() {
        let mut frame = frame(&tcp(4, 1));
        // VIRTIO_NET_HDR_GSO_TCPV4, headers of 40 bytes, segments of 30.
        frame.0[1] = 1;
        frame.0[2..4].copy_from_slice(&40u16.to_ne_bytes());
        frame.0[4..6].copy_from_slice(&30u16.to_ne_bytes());
        assert_eq!(frame.header(&Salt::default()).unwrap().len, 140 + 3 * 40);
    }

    #[test]
    fn what_is_no_packet_has_no_header() {
        for bad in [&[][..], &[0x45], &[0; 60], &[0x60; 20]] {
            assert_eq!(header(bad), None, "{bad:?}");
        }
        assert_eq!(Frame::new(vec![0; 3]).header(&Salt::default()), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), first in 0..3) {
            if let Some(byte) = bytes.get_mut(VNET) {
                *byte = [0x45, 0x60, *byte][first as usize];
            }
            let mut frame = Frame::new(bytes);
            let header = frame.header(&Salt::default());
            prop_assert!(header.is_none_or(|header| header.len < 1 << 24));
            frame.mark();
            prop_assert_eq!(frame.finished().len(), frame.packet().len());
        }
    }
}
