//! From the first bytes of a packet to what a controller is told of it.

use autorate::{SeenPacket, Stamps};

const TCP: u8 = 6;
const LEAST_TCP: usize = 20;
const IPV6: usize = 40;
/// Kinds of TCP options: the end, one byte of nothing, SACK (RFC 2018, 3), time stamps (RFC 7323, 3.2).
const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK: u8 = 5;
const TIMES: u8 = 8;

/// The packet that begins with `bytes`, its IP header first; none if that is no IP header.
pub fn packet(bytes: &[u8]) -> Option<SeenPacket> {
    let (length, tcp, addresses) = match bytes.first()? >> 4 {
        4 => v4(bytes)?,
        6 => v6(bytes)?,
        _ => return None,
    };
    let stamps = tcp.and_then(|at| stamps(bytes.get(at..)?, addresses, length.checked_sub(at)?));
    let bytes = u32::try_from(length).ok()?;
    Some(SeenPacket { bytes, stamps })
}

/// A packet's length, where its TCP header begins if it has one, and its addresses.
type Ip<'a> = (usize, Option<usize>, [&'a [u8]; 2]);

fn v4(bytes: &[u8]) -> Option<Ip<'_>> {
    let header = usize::from(bytes[0] & 0xf) * 4;
    let length = usize::from(short(bytes, 2)?);
    let fragment = short(bytes, 6)? & 0x1fff != 0;
    let tcp = *bytes.get(9)? == TCP && !fragment && header >= 20;
    let addresses = [bytes.get(12..16)?, bytes.get(16..20)?];
    Some((length, tcp.then_some(header), addresses))
}

/// Packets with extension headers are not TCP here.
fn v6(bytes: &[u8]) -> Option<Ip<'_>> {
    let length = IPV6 + usize::from(short(bytes, 4)?);
    let tcp = *bytes.get(6)? == TCP;
    let addresses = [
        bytes.get(8..24).unwrap_or_default(),
        bytes.get(24..40).unwrap_or_default(),
    ];
    Some((length, tcp.then_some(IPV6), addresses))
}

/// The stamps of a segment, `length` bytes long, whose header `tcp` begins with.
fn stamps(tcp: &[u8], addresses: [&[u8]; 2], length: usize) -> Option<Stamps> {
    let offset = usize::from(tcp.get(12)? >> 4) * 4;
    let options = tcp.get(LEAST_TCP..offset)?;
    let payload = u32::try_from(length.checked_sub(offset)?).ok()?;
    let (mut times, mut has) = (None, long(tcp, 8)?);
    for (kind, value) in Options(options) {
        match kind {
            TIMES => times = Some((long(value, 0)?, long(value, 4)?)),
            SACK => has = long(value, 4)?,
            _ => (),
        }
    }
    let (value, echo) = times?;
    Some(Stamps {
        flow: flow([(addresses[0], &tcp[..2]), (addresses[1], &tcp[2..4])]),
        value,
        echo,
        end: long(tcp, 4)?.wrapping_add(payload),
        has,
    })
}

/// Kinds and values, up to the end or the first that is none.
struct Options<'a>(&'a [u8]);

impl<'a> Iterator for Options<'a> {
    type Item = (u8, &'a [u8]);
    fn next(&mut self) -> Option<Self::Item> {
        while let Some((&NOTHING, rest)) = self.0.split_first() {
            self.0 = rest;
        }
        let kind = *self.0.first().filter(|kind| **kind != END)?;
        let length = usize::from(*self.0.get(1)?);
        let value = self.0.get(2..length)?;
        self.0 = &self.0[length..];
        Some((kind, value))
    }
}

/// The same number in both directions: FNV-1a over the ends in their order.
fn flow(mut ends: [(&[u8], &[u8]); 2]) -> u32 {
    ends.sort_unstable();
    let bytes = ends.iter().flat_map(|(address, port)| [*address, *port]);
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.flatten().fold(0x811c_9dc5, step)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A segment with time stamps 7 and 9, and with a SACK block if told.
    fn tcp(ports: [u16; 2], sack: bool) -> Vec<u8> {
        let mut tcp = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
        tcp.extend(1000u32.to_be_bytes());
        tcp.extend(5000u32.to_be_bytes());
        let words = if sack { 11 } else { 8 };
        tcp.extend([words << 4, 0x10, 1, 0, 0, 0, 0, 0]);
        tcp.extend([1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9]);
        if sack {
            tcp.extend([1, 1, 5, 10]);
            tcp.extend(8000u32.to_be_bytes());
            tcp.extend(9000u32.to_be_bytes());
        }
        tcp
    }

    fn in_v4(length: u16, ends: [u8; 2], tcp: &[u8]) -> Vec<u8> {
        let [high, low] = length.to_be_bytes();
        let mut bytes = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0];
        for end in ends {
            bytes.extend([10, 0, 0, end]);
        }
        bytes.extend(tcp);
        bytes
    }

    fn in_v6(payload: u16, tcp: &[u8]) -> Vec<u8> {
        let [high, low] = payload.to_be_bytes();
        let mut bytes = vec![0x60, 0, 0, 0, high, low, 6, 64];
        bytes.extend([1; 16]);
        bytes.extend([2; 16]);
        bytes.extend(tcp);
        bytes
    }

    #[test]
    fn both_directions_of_a_connection_are_one_flow() {
        let data = packet(&in_v4(1500, [1, 2], &tcp([443, 5000], false))).unwrap();
        let stamps = data.stamps.unwrap();
        assert_eq!(data.bytes, 1500);
        assert_eq!((stamps.value, stamps.echo), (7, 9));
        assert_eq!((stamps.end, stamps.has), (1000 + 1448, 5000));
        let back = packet(&in_v4(64, [2, 1], &tcp([5000, 443], true))).unwrap();
        let back = back.stamps.unwrap();
        assert_eq!((back.flow, back.has), (stamps.flow, 9000));
        let other = packet(&in_v4(52, [2, 1], &tcp([5001, 443], false))).unwrap();
        assert_ne!(other.stamps.unwrap().flow, stamps.flow);
        let six = packet(&in_v6(1032, &tcp([443, 5000], false))).unwrap();
        assert_eq!((six.bytes, six.stamps.unwrap().end), (1072, 2000));
    }

    #[test]
    fn what_is_cut_or_no_tcp_has_its_length_alone() {
        let whole = in_v4(1500, [1, 2], &tcp([443, 5000], false));
        let cut = packet(&whole[..20]).unwrap();
        assert_eq!((cut.bytes, cut.stamps), (1500, None));
        let mut fragment = whole.clone();
        fragment[7] = 5;
        assert_eq!(packet(&fragment).unwrap().stamps, None);
        let six = packet(&in_v6(100, &[])[..20]).unwrap();
        assert_eq!((six.bytes, six.stamps), (140, None));
        assert_eq!(packet(&[]), None);
        assert_eq!(packet(&[0x10; 60]), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(noise in prop::collection::vec(any::<u8>(), 0..140), six: bool, at in 0usize..200, with: u8) {
            packet(&noise);
            let tcp = tcp([443, 5000], true);
            let mut good = if six { in_v6(300, &tcp) } else { in_v4(300, [1, 2], &tcp) };
            let place = at % good.len();
            good[place] = with;
            packet(&good);
            packet(&good[..place]);
        }
    }
}
