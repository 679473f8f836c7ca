//! Flows that ended: the bytes and the destination of each, from connection tracking.

use crate::Error;
use crate::modules::Modules;
use core::time::Duration;
use netlink_packet_core::{NetlinkMessage, NetlinkPayload, Nla, NlasIterator};
use netlink_packet_netfilter::conntrack::{ConntrackAttribute, ConntrackMessage, IPTuple, Tuple};
use netlink_packet_netfilter::{NetfilterMessage, NetfilterMessageInner};
use rustix::net::netlink::{NETFILTER, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// `NF_NETLINK_CONNTRACK_DESTROY`, linux/netfilter/nfnetlink_compat.h.
const DESTROYED: u32 = 4;
/// `CTA_COUNTERS_ORIG` and `CTA_COUNTERS_REPLY`, linux/netfilter/nfnetlink_conntrack.h.
const COUNTERS: [u16; 2] = [9, 10];
/// `CTA_COUNTERS_BYTES`, of 64 bits in network order.
const BYTES: u16 = 2;
/// `NLA_F_NESTED`, with which the kernel marks both.
const NESTED: u16 = 1 << 15;
/// Size of a buffer for a datagram of the kernel's, which has a page, or as much as its contents
/// need.
const DATAGRAM: usize = 64 << 10;

/// The traffic of one direction of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The destination of its packets, after the translation of addresses.
    pub towards: IpAddr,
    /// Bytes of IP packets.
    pub bytes: u64,
}

/// A flow that ended: the traffic in the direction that opened it, and in the opposite one.
pub type Ended = [Sent; 2];

/// Hears of flows that end, in this network namespace.
#[derive(Debug)]
pub struct EndedFlows {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl EndedFlows {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the kernel has no `nf_conntrack_netlink`, or this is not root.
    pub fn listen() -> Result<Self, Error> {
        let failed = |error: rustix::io::Errno| {
            let part = "nf_conntrack_netlink";
            let remedy = Modules::here().remedy(part, "on OpenWrt kmod-nf-conntrack-netlink");
            let help = format!("it takes root, and {part}: {remedy}");
            Error::failed(format!("conntrack reports nothing: {error}"), help)
        };
        let flags = SocketFlags::CLOEXEC;
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(family, kind, flags, Some(NETFILTER)).map_err(failed)?;
        bind(&socket, &SocketAddrNetlink::new(0, DESTROYED)).map_err(failed)?;
        Ok(EndedFlows {
            socket,
            buffer: vec![0; DATAGRAM],
        })
    }

    /// Waits for at most `most`, and reports flows that ended. A signal ends the wait. If more end
    /// than can be received, some are not reported.
    ///
    /// # Errors
    /// If the kernel reports no more.
    pub fn wait(&mut self, most: Duration, each: &mut dyn FnMut(Ended)) -> Result<(), Error> {
        use rustix::io::Errno;
        let failed = |error: Errno| {
            let message = format!("conntrack stopped reporting: {error}");
            Error::failed(message, "begin again")
        };
        set_socket_timeout(&self.socket, Timeout::Recv, Some(most)).map_err(failed)?;
        match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => {
                read(&self.buffer[..length], each);
                Ok(())
            }
            // It took too long, a signal came, or the socket's buffer was full (netlink(7)).
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The messages of a datagram; those that are not of flows that ended are passed over.
fn read(mut datagram: &[u8], each: &mut dyn FnMut(Ended)) {
    while let Ok(message) = NetlinkMessage::<NetfilterMessage>::deserialize(datagram) {
        let length = message.header.length as usize;
        if let NetlinkPayload::InnerMessage(message) = message.payload
            && let NetfilterMessageInner::Conntrack(ConntrackMessage::Delete(flow)) = message.inner
            && let Some(ended) = ended(&flow)
        {
            each(ended);
        }
        // Messages begin at multiples of four (netlink(7)).
        let Some(rest) = datagram.get(length.next_multiple_of(4).max(4)..) else {
            return;
        };
        datagram = rest;
    }
}

fn ended(flow: &[ConntrackAttribute]) -> Option<Ended> {
    let (mut opened_by, mut answers) = (None, None);
    let mut bytes = [None; 2];
    for attribute in flow {
        match attribute {
            ConntrackAttribute::CtaTupleOrig(tuple) => opened_by = source(tuple),
            ConntrackAttribute::CtaTupleReply(tuple) => answers = source(tuple),
            ConntrackAttribute::Other(other) => {
                let kind = other.kind() & !NESTED;
                if let Some(place) = COUNTERS.iter().position(|counters| *counters == kind) {
                    let mut value = vec![0; other.value_len()];
                    other.emit_value(&mut value);
                    bytes[place] = counted(&value);
                }
            }
            _ => (),
        }
    }
    let sent = |towards, bytes| Sent { towards, bytes };
    Some([sent(answers?, bytes[0]?), sent(opened_by?, bytes[1]?)])
}

fn source(tuple: &[Tuple]) -> Option<IpAddr> {
    let mut addresses = tuple.iter().filter_map(|part| match part {
        Tuple::Ip(addresses) => Some(addresses),
        _ => None,
    });
    addresses.next()?.iter().find_map(|address| match address {
        IPTuple::SourceAddress(address) => Some(*address),
        _ => None,
    })
}

fn counted(counters: &[u8]) -> Option<u64> {
    let mut counters = NlasIterator::new(counters).filter_map(Result::ok);
    let bytes = counters.find(|counter| counter.kind() == BYTES)?;
    Some(u64::from_be_bytes(bytes.value().try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::{DefaultNla, Emitable, NetlinkHeader};
    use netlink_packet_netfilter::{NetfilterHeader, NetfilterProtoFamily};

    fn attribute(kind: u16, packets: u64, bytes: u64) -> ConntrackAttribute {
        let counters = [(1, packets), (BYTES, bytes)];
        let counters = counters.map(|(kind, n)| DefaultNla::new(kind, n.to_be_bytes().to_vec()));
        let mut value = vec![0; counters.as_slice().buffer_len()];
        counters.as_slice().emit(&mut value);
        ConntrackAttribute::Other(DefaultNla::new(kind | NESTED, value))
    }

    fn tuple(from: &str, to: &str) -> Vec<Tuple> {
        let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
        let addresses = [
            IPTuple::SourceAddress(from),
            IPTuple::DestinationAddress(to),
        ];
        vec![Tuple::Ip(addresses.to_vec())]
    }

    /// A download of 5 MB by 192.168.1.2 through a router with the address 198.51.100.7.
    fn download() -> Vec<ConntrackAttribute> {
        vec![
            ConntrackAttribute::CtaTupleOrig(tuple("192.168.1.2", "203.0.113.9")),
            ConntrackAttribute::CtaTupleReply(tuple("203.0.113.9", "198.51.100.7")),
            attribute(9, 1000, 52_000),
            attribute(10, 3400, 5_000_000),
        ]
    }

    fn message(flow: ConntrackMessage) -> Vec<u8> {
        let header = NetfilterHeader::new(NetfilterProtoFamily::IPv4, 0, 0);
        let payload = NetlinkPayload::from(NetfilterMessage::new(header, flow));
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    fn all(datagram: &[u8]) -> Vec<Ended> {
        let mut all = Vec::new();
        read(datagram, &mut |ended| all.push(ended));
        all
    }

    #[test]
    fn each_direction_has_its_bytes_and_where_they_went() {
        let datagram = message(ConntrackMessage::Delete(download()));
        let sent = |towards: &str, bytes| Sent {
            towards: towards.parse().unwrap(),
            bytes,
        };
        let expected = [sent("203.0.113.9", 52_000), sent("192.168.1.2", 5_000_000)];
        assert_eq!(all(&datagram), [expected]);
        assert_eq!(all(&[&datagram[..], &datagram].concat()), [expected; 2]);
    }

    #[test]
    fn what_began_or_is_not_counted_is_passed_over() {
        assert!(all(&message(ConntrackMessage::New(download()))).is_empty());
        let uncounted = download()[..3].to_vec();
        assert!(all(&message(ConntrackMessage::Delete(uncounted))).is_empty());
    }

    #[test]
    fn half_a_datagram_is_no_trouble() {
        let datagram = message(ConntrackMessage::Delete(download()));
        for length in 0..datagram.len() {
            assert!(all(&datagram[..length]).is_empty());
        }
        for place in 0..datagram.len() {
            let mut broken = datagram.clone();
            broken[place] = !broken[place];
            all(&broken);
        }
    }
}
