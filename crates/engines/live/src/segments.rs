//! Packets that are still to be cut into segments: cut here, and segments joined to such again.
//!
//! In between each is a packet of its own to the queue, and one read and one write carry many.

mod cut;
mod join;

pub use cut::Cut;
pub use join::Joined;

use crate::frame::updated;

/// What is to be cut, `gso_type` in linux/virtio_net.h: nothing, TCP over IPv4 and over IPv6, and UDP.
const WHOLE: u8 = 0;
const TCP: [u8; 2] = [1, 4];
const UDP: u8 = 5;

/// Flags of TCP (RFC 9293, 3.1; RFC 3168, 6.1).
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const URG: u8 = 0x20;
const CWR: u8 = 0x80;
/// Where they are in its header, and its checksum.
const FLAGS: usize = 13;
const CHECKSUM: usize = 16;

/// Gives a packet of `old` bytes that has another size now its lengths, and the checksums that cover them: IP's, and the
/// pseudo-header's at `checksum` of the header at `transport`, which is the sum itself and not the complement.
fn fit(packet: &mut [u8], old: usize, transport: usize, checksum: usize) {
    // A packet has no more bytes than a length's field can say.
    let length = packet.len() as u16;
    if packet[0] >> 4 == 6 {
        put(packet, 4, length - 40);
    } else {
        cover(packet, 2, length);
    }
    let (old, new) = ((old - transport) as u16, length - transport as u16);
    let header = &mut packet[transport..];
    let sum = !updated(!get(header, checksum), old, new);
    put(header, checksum, sum);
}

/// Sets a field of IPv4's header, and its checksum.
fn cover(packet: &mut [u8], at: usize, value: u16) {
    let sum = updated(get(packet, 10), get(packet, at), value);
    put(packet, 10, sum);
    put(packet, at, value);
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The place of a TCP packet in its stream.
fn place(header: &[u8]) -> u32 {
    u32::from_be_bytes([header[4], header[5], header[6], header[7]])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::frame::{Frame, NEEDS_CHECKSUM, VNET};
    use crate::spare::Spare;
    use etherparse::PacketBuilder;
    use etherparse::checksum::Sum16BitWords;

    pub const SEGMENT: usize = 100;
    /// Nine segments and a half.
    const PAYLOAD: usize = 950;

    /// As a kernel leaves it: the checksum's field has the pseudo-header's sum.
    pub(crate) fn left(version: u8, tcp: bool) -> Frame {
        let payload: Vec<u8> = (0..PAYLOAD).map(|byte| byte as u8).collect();
        let ip = match version {
            4 => PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
            _ => PacketBuilder::ipv6([1; 16], [2; 16], 64),
        };
        let mut packet = Vec::new();
        let transport = if version == 4 { 20 } else { 40 };
        let (headers, checksum) = if tcp {
            let builder = ip.tcp(1, 2, u32::MAX - 300, 1000).ack(7).psh();
            builder.write(&mut packet, &payload).unwrap();
            (transport + 20, CHECKSUM)
        } else {
            ip.udp(1, 2).write(&mut packet, &payload).unwrap();
            (transport + 8, 6)
        };
        let sum = pseudo(&packet, transport, tcp);
        put(&mut packet[transport..], checksum, sum);
        let mut bytes = vec![0; VNET];
        bytes[0] = NEEDS_CHECKSUM;
        bytes[1] = match (tcp, version) {
            (false, _) => UDP,
            (true, 4) => TCP[0],
            (true, _) => TCP[1],
        };
        for (at, field) in [(2, headers), (4, SEGMENT), (6, transport), (8, checksum)] {
            bytes[at..at + 2].copy_from_slice(&(field as u16).to_ne_bytes());
        }
        bytes.extend(packet);
        Frame::new(bytes)
    }

    /// The folded sum of a packet's pseudo-header: RFC 9293, 3.1; RFC 8200, 8.1.
    pub(super) fn pseudo(packet: &[u8], transport: usize, tcp: bool) -> u16 {
        let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
        let length = (packet.len() - transport) as u16;
        let sum = Sum16BitWords::new().add_slice(&packet[addresses]);
        let sum = sum
            .add_2bytes([0, if tcp { 6 } else { 17 }])
            .add_2bytes(length.to_be_bytes());
        !u16::from_be(sum.ones_complement())
    }

    pub(super) fn segments(frame: &Frame) -> Vec<Frame> {
        let (mut cut, mut spare) = (Cut::new(frame).unwrap(), Spare::default());
        spare.put(Frame::new(vec![9; 3]));
        core::iter::from_fn(|| cut.next(&mut spare)).collect()
    }
}
