//! The computers and the flows of a `mencius` in the kernel, which lists them as its classes.

use crate::rtnetlink::{NetlinkAnswer, Question, ask, socket};
use crate::{Device, Error};
use core::net::IpAddr;
use core::time::Duration;
use netlink_packet_core::{NLM_F_DUMP, NetlinkMessage, NetlinkPayload, NlasIterator};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2, TcXstats};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::Serialize;

/// The kernel's datagrams of a list have at most as much (`netlink_dump`).
const DATAGRAM: usize = 64 << 10;
/// RTM_NEWTCLASS and RTM_GETTCLASS.
const CLASS: u16 = 40;
const GET_CLASS: u16 = 42;
/// The kind of the qdisc whose classes are known.
const KIND: &str = "mencius";
/// The nests of the figures of a computer and of a flow: kernel/mencius/pkt_sched_mencius.h.
const COMPUTER: u16 = 25;
const FLOW: u16 = 26;
/// The figures of a computer, in its nest.
const FLOWS: u16 = 2;
const ADDRESS: u16 = 6;
const HOST_MARKS: u16 = 7;
const HOST_WAIT: u16 = 8;
const AHEAD: u16 = 9;
const AGE: u16 = 10;
/// The figures of a flow, in its nest.
const HOST: u16 = 2;
const SETTLED: u16 = 3;
const WAIT: u16 = 4;
const DELAY: u16 = 5;
const MARKS: u16 = 6;
/// `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`: no part of an attribute's number.
const FLAGS: u16 = 0b11 << 14;

/// A flow, and what it has had since the kernel knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flow {
    /// The number of its qdisc, the part of a handle before the colon.
    pub qdisc: u16,
    /// The number of its class, after the colon: its place in the table. Another flow may have it later.
    pub class: u16,
    /// The class of its computer.
    pub host: u16,
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u32,
    /// Packets that were dropped.
    pub drops: u32,
    /// Packets that were marked.
    pub marks: u32,
    /// Packets that wait.
    pub qlen: u32,
    /// For how long it has been settled; none if it is not.
    pub settled: Option<Duration>,
    /// How long its packets waited, a moving average.
    pub delay: Duration,
    /// How long its oldest packet has waited.
    pub wait: Duration,
}

/// A computer, and what it has had since the kernel knows it. After 20 s without a packet it is
/// forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Computer {
    /// The number of its qdisc, the part of a handle before the colon.
    #[serde(skip)]
    pub qdisc: u16,
    /// The number of its class, after the colon: its place in the table. Another may have it later.
    pub class: u16,
    /// Its address, before NAT where the kernel knows it; none where hosts are not told apart, where
    /// a packet had none, of computers for which there was no room, and of older modules.
    pub address: Option<IpAddr>,
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u32,
    /// Packets that were dropped.
    pub drops: u32,
    /// Packets that were marked.
    pub marks: u32,
    /// Packets that wait.
    pub qlen: u32,
    /// Its flows that are known.
    pub flows: u32,
    /// About one in twenty of its packets waited longer; in microseconds.
    pub wait_us: u32,
    /// Of the bytes, those of settled flows that went ahead of others.
    pub ahead_bytes: u64,
    /// For how long it has been known, in milliseconds.
    pub age_ms: u32,
}

/// The classes of all `mencius` on a device, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes {
    /// The computers.
    pub computers: Vec<Computer>,
    /// The flows.
    pub flows: Vec<Flow>,
}

/// The classes of all `mencius` on `device`.
///
/// # Errors
/// If the kernel does not list them.
pub fn classes(device: &Device) -> Result<Classes, Error> {
    let failed = |error: Errno| {
        let message = format!("the kernel does not list the classes of {device}: {error}");
        Error::failed(message, "`ip link` lists the devices")
    };
    let index = device.index()?;
    let socket = socket().map_err(failed)?;
    ask(&socket, NLM_F_DUMP, question(index)).map_err(failed)?;
    let (mut buffer, mut classes) = (vec![0; DATAGRAM], Classes::default());
    loop {
        let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::empty()).map_err(failed)?;
        if let Some(ended) = read(&buffer[..length], &mut classes) {
            ended.map_err(failed)?;
            return Ok(classes);
        }
    }
}

fn question(index: u32) -> Question<TcMessage> {
    let mut of = TcMessage::default();
    of.header.index = index.cast_signed();
    of.header.handle = TcHandle::UNSPEC;
    Question {
        kind: GET_CLASS,
        of,
    }
}

/// The classes of a datagram, and how the list ends, if it does. What cannot be read ends it, too.
fn read(mut datagram: &[u8], classes: &mut Classes) -> Option<Result<(), Errno>> {
    while !datagram.is_empty() {
        let Ok(message) = NetlinkMessage::<NetlinkAnswer<TcMessage, CLASS>>::deserialize(datagram)
        else {
            return Some(Err(Errno::BADMSG));
        };
        match message.payload {
            NetlinkPayload::Done(_) => return Some(Ok(())),
            NetlinkPayload::Error(error) => {
                return Some(Err(Errno::from_raw_os_error(-error.raw_code())));
            }
            NetlinkPayload::InnerMessage(NetlinkAnswer(Some(class))) => take(&class, classes),
            _ => (),
        }
        // Messages begin at multiples of four (netlink(7)).
        let length = (message.header.length as usize).next_multiple_of(4).max(4);
        datagram = datagram.get(length..).unwrap_or_default();
    }
    None
}

/// Takes over a class, if it is one of `mencius`.
fn take(class: &TcMessage, classes: &mut Classes) {
    let of_kind =
        |attribute: &TcAttribute| matches!(attribute, TcAttribute::Kind(kind) if kind == KIND);
    if !class.attributes.iter().any(of_kind) {
        return;
    }
    let handle = class.header.handle;
    let (mut sent, mut queued, mut own) = ((0, 0), (0, 0), None);
    let stats = class
        .attributes
        .iter()
        .filter_map(|attribute| match attribute {
            TcAttribute::Stats2(stats) => Some(stats),
            _ => None,
        });
    for stat in stats.flatten() {
        match stat {
            TcStats2::Basic(basic) => sent = (basic.bytes, basic.packets),
            TcStats2::Queue(queue) => queued = (queue.drops, queue.qlen),
            TcStats2::App(TcXstats::Other(figures)) => own = Some(figures),
            _ => (),
        }
    }
    let Some(own) = own else { return };
    let ((bytes, packets), (drops, qlen)) = (sent, queued);
    let nest = |number| attributes(own).find(|(kind, _)| *kind == number);
    if let Some((_, nest)) = nest(FLOW) {
        let flow = Flow {
            qdisc: handle.major,
            class: handle.minor,
            bytes,
            packets,
            drops,
            qlen,
            ..Flow::default()
        };
        classes.flows.push(flow.with(&nest));
    } else if let Some((_, nest)) = nest(COMPUTER) {
        let computer = Computer {
            qdisc: handle.major,
            class: handle.minor,
            bytes,
            packets,
            drops,
            qlen,
            ..Computer::default()
        };
        classes.computers.push(computer.with(&nest));
    }
}

impl Flow {
    /// The same with the qdisc's own figures.
    fn with(mut self, figures: &[u8]) -> Self {
        for (kind, value) in attributes(figures) {
            let Some(value) = number(&value) else {
                continue;
            };
            let micros = Duration::from_micros(u64::from(value));
            match kind {
                // Its minor number.
                HOST => self.host = (value & 0xffff) as u16,
                SETTLED if value > 0 => {
                    self.settled = Some(Duration::from_millis(u64::from(value)));
                }
                WAIT => self.wait = micros,
                DELAY => self.delay = micros,
                MARKS => self.marks = value,
                _ => (),
            }
        }
        self
    }
}

impl Computer {
    /// The same with the qdisc's own figures.
    fn with(mut self, figures: &[u8]) -> Self {
        for (kind, value) in attributes(figures) {
            match (kind, number(&value)) {
                (ADDRESS, _) => self.address = address(&value),
                (AHEAD, _) => {
                    let bytes = <[u8; 8]>::try_from(&value[..]).map(u64::from_ne_bytes);
                    self.ahead_bytes = bytes.unwrap_or_default();
                }
                (FLOWS, Some(value)) => self.flows = value,
                (HOST_MARKS, Some(value)) => self.marks = value,
                (HOST_WAIT, Some(value)) => self.wait_us = value,
                (AGE, Some(value)) => self.age_ms = value,
                _ => (),
            }
        }
        self
    }
}

fn number(value: &[u8]) -> Option<u32> {
    <[u8; 4]>::try_from(value).map(u32::from_ne_bytes).ok()
}

/// An address as it is in a header of IP.
fn address(value: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(value).map(IpAddr::from).ok();
    v4.or_else(|| <[u8; 16]>::try_from(value).map(IpAddr::from).ok())
}

/// Numbers and values of attributes, up to the first that is none.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, Vec<u8>)> + '_ {
    let all = NlasIterator::new(bytes).map_while(Result::ok);
    all.map(|attribute| (attribute.kind() & !FLAGS, attribute.value().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtnetlink;
    use netlink_packet_core::{DefaultNla, DoneMessage, NetlinkHeader};
    use netlink_packet_route::RouteNetlinkMessage;
    use netlink_packet_route::tc::{TcStatsBasic, TcStatsQueue};
    use proptest::prelude::*;

    fn packed(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let attributes = attributes.iter();
        let attributes: Vec<DefaultNla> = attributes
            .map(|(kind, value)| DefaultNla::new(*kind, value.clone()))
            .collect();
        rtnetlink::packed(&attributes)
    }

    fn pair(kind: u16, value: u32) -> (u16, Vec<u8>) {
        (kind, value.to_ne_bytes().to_vec())
    }

    /// A class with the figures `own`, of the qdisc 10:.
    fn class(kind: &str, minor: u16, own: Vec<u8>) -> RouteNetlinkMessage {
        let mut class = TcMessage::default();
        class.header.handle = TcHandle { major: 0x10, minor };
        let mut basic = TcStatsBasic::default();
        (basic.bytes, basic.packets) = (5_000_000_000, 3_400_000);
        let mut queue = TcStatsQueue::default();
        (queue.drops, queue.qlen, queue.backlog) = (7, 2, 3000);
        class.attributes = vec![
            TcAttribute::Kind(kind.to_owned()),
            TcAttribute::Stats2(vec![
                TcStats2::Basic(basic),
                TcStats2::Queue(queue),
                TcStats2::App(TcXstats::Other(own)),
            ]),
        ];
        RouteNetlinkMessage::NewTrafficClass(class)
    }

    fn bytes(payload: NetlinkPayload<RouteNetlinkMessage>) -> Vec<u8> {
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    fn host_figures() -> Vec<u8> {
        let address: core::net::Ipv6Addr = "2001:db8::7".parse().unwrap();
        let inner = [
            pair(FLOWS, 5),
            (ADDRESS, address.octets().to_vec()),
            pair(HOST_MARKS, 4),
            pair(HOST_WAIT, 2500),
            (AHEAD, (1u64 << 33).to_ne_bytes().to_vec()),
            pair(AGE, 60_000),
        ];
        packed(&[(COMPUTER | 1 << 15, packed(&inner))])
    }

    fn figures() -> Vec<u8> {
        let inner = [
            pair(HOST, 0x0010_0159),
            pair(SETTLED, 32_000),
            pair(WAIT, 400),
            pair(DELAY, 1355),
            pair(MARKS, 3),
        ];
        packed(&[(FLOW | 1 << 15, packed(&inner))])
    }

    #[test]
    fn computers_and_flows_are_read_and_other_classes_passed_over() {
        let datagrams = [
            class("htb", 1, Vec::new()),
            class(KIND, 0x159, host_figures()),
            class(
                KIND,
                0x15a,
                packed(&[(COMPUTER, packed(&[pair(FLOWS, 1)]))]),
            ),
            class(KIND, 0x2e9, figures()),
        ];
        let datagram: Vec<u8> = datagrams
            .into_iter()
            .flat_map(|of| bytes(of.into()))
            .collect();
        let mut classes = Classes::default();
        assert_eq!(read(&datagram, &mut classes), None);
        let computer = Computer {
            qdisc: 0x10,
            class: 0x159,
            address: Some("2001:db8::7".parse().unwrap()),
            bytes: 5_000_000_000,
            packets: 3_400_000,
            drops: 7,
            marks: 4,
            qlen: 2,
            flows: 5,
            wait_us: 2500,
            ahead_bytes: 1 << 33,
            age_ms: 60_000,
        };
        let without_more = Computer {
            class: 0x15a,
            address: None,
            marks: 0,
            flows: 1,
            wait_us: 0,
            ahead_bytes: 0,
            age_ms: 0,
            ..computer
        };
        assert_eq!(classes.computers, [computer, without_more]);
        let ought = Flow {
            qdisc: 0x10,
            class: 0x2e9,
            host: 0x159,
            bytes: 5_000_000_000,
            packets: 3_400_000,
            drops: 7,
            marks: 3,
            qlen: 2,
            settled: Some(Duration::from_secs(32)),
            delay: Duration::from_micros(1355),
            wait: Duration::from_micros(400),
        };
        assert_eq!(classes.flows, [ought]);
        let done = bytes(NetlinkPayload::Done(DoneMessage::default()));
        assert_eq!(read(&done, &mut classes), Some(Ok(())));
    }

    #[test]
    fn numbers_are_those_of_the_kernel_s_header() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../kernel/mencius/pkt_sched_mencius.h"
        );
        let header = std::fs::read_to_string(path).unwrap();
        let place = |first: &str, name: &str| {
            let from = &header[header.find(first).unwrap()..];
            let names = from.split([',', '\n']).map(str::trim);
            let names = names.filter(|line| line.starts_with("TCA_MENCIUS_"));
            names.into_iter().position(|found| found == name).unwrap() as u16
        };
        let nest = |name| place("TCA_MENCIUS_STATS_UNSPEC", name);
        assert_eq!(nest("TCA_MENCIUS_STATS_HOST"), COMPUTER);
        assert_eq!(nest("TCA_MENCIUS_STATS_FLOW"), FLOW);
        for (name, number) in [
            ("FLOWS", FLOWS),
            ("ADDRESS", ADDRESS),
            ("MARKS", HOST_MARKS),
            ("WAIT", HOST_WAIT),
            ("AHEAD", AHEAD),
            ("AGE", AGE),
        ] {
            let name = format!("TCA_MENCIUS_HOST_{name}");
            assert_eq!(place("TCA_MENCIUS_HOST_UNSPEC", &name), number, "{name}");
        }
        for (name, number) in [
            ("HOST", HOST),
            ("SETTLED", SETTLED),
            ("WAIT", WAIT),
            ("DELAY", DELAY),
            ("MARKS", MARKS),
        ] {
            let name = format!("TCA_MENCIUS_FLOW_{name}");
            assert_eq!(place("TCA_MENCIUS_FLOW_UNSPEC", &name), number, "{name}");
        }
    }

    /// Linux has the loopback device, which has no classes.
    #[test]
    fn a_device_without_classes_has_none() {
        let none = Classes::default();
        assert_eq!(classes(&"lo".parse().unwrap()).unwrap(), none);
    }

    proptest! {
        #[test]
        fn nothing_that_comes_makes_it_panic(noise in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..200, with: u8) {
            let mut classes = Classes::default();
            read(&noise, &mut classes);
            for own in [figures(), host_figures()] {
                let mut good = bytes(class(KIND, 9, own).into());
                let place = at % good.len();
                good[place] = with;
                read(&good, &mut classes);
            }
            _ = Flow::default().with(&noise);
            _ = Computer::default().with(&noise);
        }
    }
}
