//! The flows of a `mencius` in the kernel, which lists them as its classes.

use crate::rtnetlink::{Answer, Question, ask, socket};
use crate::{Device, Error};
use core::time::Duration;
use netlink_packet_core::{NLM_F_DUMP, NetlinkMessage, NetlinkPayload, NlasIterator};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2, TcXstats};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

/// The kernel's datagrams of a list have at most as much (`netlink_dump`).
const DATAGRAM: usize = 64 << 10;
/// RTM_NEWTCLASS and RTM_GETTCLASS.
const CLASS: u16 = 40;
const GET_CLASS: u16 = 42;
/// The kind of the qdisc whose classes are known.
const KIND: &str = "mencius";
/// The nest of a flow's figures, and the figures in it: kernel/mencius/pkt_sched_mencius.h.
const FLOW: u16 = 6;
const HOST: u16 = 2;
const ESTABLISHED: u16 = 3;
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
    /// For how long it has been established; none if it is not.
    pub established: Option<Duration>,
    /// How long its packets waited, a moving average.
    pub delay: Duration,
    /// How long its oldest packet has waited.
    pub wait: Duration,
}

/// The flows of all `mencius` on `device`, in the order of their classes.
///
/// # Errors
/// If the kernel does not list the classes.
pub fn flows(device: &Device) -> Result<Vec<Flow>, Error> {
    let failed = |error: Errno| {
        let message = format!("the kernel does not list the classes of {device}: {error}");
        Error::failed(message, "`ip link` lists the devices")
    };
    let index = device.index()?;
    let socket = socket().map_err(failed)?;
    ask(&socket, NLM_F_DUMP, question(index)).map_err(failed)?;
    let (mut buffer, mut flows) = (vec![0; DATAGRAM], Vec::new());
    loop {
        let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::empty()).map_err(failed)?;
        if let Some(ended) = read(&buffer[..length], &mut flows) {
            ended.map_err(failed)?;
            return Ok(flows);
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

/// The flows of a datagram, and how the list ends, if it does. What cannot be read ends it, too.
fn read(mut datagram: &[u8], flows: &mut Vec<Flow>) -> Option<Result<(), Errno>> {
    while !datagram.is_empty() {
        let Ok(message) = NetlinkMessage::<Answer<TcMessage, CLASS>>::deserialize(datagram) else {
            return Some(Err(Errno::BADMSG));
        };
        match message.payload {
            NetlinkPayload::Done(_) => return Some(Ok(())),
            NetlinkPayload::Error(error) => {
                return Some(Err(Errno::from_raw_os_error(-error.raw_code())));
            }
            NetlinkPayload::InnerMessage(Answer(Some(class))) => flows.extend(flow(&class)),
            _ => (),
        }
        // Messages begin at multiples of four (netlink(7)).
        let length = (message.header.length as usize).next_multiple_of(4).max(4);
        datagram = datagram.get(length..).unwrap_or_default();
    }
    None
}

/// The flow of a class; none if it is of another kind, or a computer.
fn flow(class: &TcMessage) -> Option<Flow> {
    let of_kind =
        |attribute: &TcAttribute| matches!(attribute, TcAttribute::Kind(kind) if kind == KIND);
    if !class.attributes.iter().any(of_kind) {
        return None;
    }
    let mut flow = Flow {
        qdisc: class.header.handle.major,
        class: class.header.handle.minor,
        ..Flow::default()
    };
    let mut is_flow = false;
    let stats = class
        .attributes
        .iter()
        .filter_map(|attribute| match attribute {
            TcAttribute::Stats2(stats) => Some(stats),
            _ => None,
        });
    for stat in stats.flatten() {
        match stat {
            TcStats2::Basic(basic) => (flow.bytes, flow.packets) = (basic.bytes, basic.packets),
            TcStats2::Queue(queue) => (flow.drops, flow.qlen) = (queue.drops, queue.qlen),
            TcStats2::App(TcXstats::Other(figures)) => is_flow |= own(figures, &mut flow),
            _ => (),
        }
    }
    is_flow.then_some(flow)
}

/// Takes over the qdisc's own figures; whether they are of a flow.
fn own(figures: &[u8], flow: &mut Flow) -> bool {
    let nest = attributes(figures).find(|(kind, _)| *kind == FLOW);
    let Some((_, nest)) = nest else {
        return false;
    };
    for (kind, value) in attributes(&nest) {
        let Ok(value) = <[u8; 4]>::try_from(&value[..]).map(u32::from_ne_bytes) else {
            continue;
        };
        let micros = Duration::from_micros(u64::from(value));
        match kind {
            // Its minor number.
            HOST => flow.host = (value & 0xffff) as u16,
            ESTABLISHED if value > 0 => {
                flow.established = Some(Duration::from_millis(u64::from(value)))
            }
            WAIT => flow.wait = micros,
            DELAY => flow.delay = micros,
            MARKS => flow.marks = value,
            _ => (),
        }
    }
    true
}

/// Numbers and values of attributes, up to the first that is none.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, Vec<u8>)> + '_ {
    let all = NlasIterator::new(bytes).map_while(Result::ok);
    all.map(|attribute| (attribute.kind() & !FLAGS, attribute.value().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::{DefaultNla, DoneMessage, Emitable, NetlinkHeader};
    use netlink_packet_route::RouteNetlinkMessage;
    use netlink_packet_route::tc::{TcStatsBasic, TcStatsQueue};
    use proptest::prelude::*;

    fn packed(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let attributes = attributes.iter();
        let attributes: Vec<DefaultNla> = attributes
            .map(|(kind, value)| DefaultNla::new(*kind, value.clone()))
            .collect();
        let mut bytes = vec![0; attributes.as_slice().buffer_len()];
        attributes.as_slice().emit(&mut bytes);
        bytes
    }

    fn number(kind: u16, value: u32) -> (u16, Vec<u8>) {
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

    fn figures() -> Vec<u8> {
        let inner = [
            number(HOST, 0x0010_0159),
            number(ESTABLISHED, 32_000),
            number(WAIT, 400),
            number(DELAY, 1355),
            number(MARKS, 3),
        ];
        packed(&[(FLOW | 1 << 15, packed(&inner))])
    }

    #[test]
    fn flows_are_read_and_other_classes_passed_over() {
        let host = packed(&[number(2, 5), number(3, 1)]);
        let datagrams = [
            class("htb", 1, Vec::new()),
            class(KIND, 0x159, host),
            class(KIND, 0x2e9, figures()),
        ];
        let datagram: Vec<u8> = datagrams
            .into_iter()
            .flat_map(|of| bytes(of.into()))
            .collect();
        let mut flows = Vec::new();
        assert_eq!(read(&datagram, &mut flows), None);
        let ought = Flow {
            qdisc: 0x10,
            class: 0x2e9,
            host: 0x159,
            bytes: 5_000_000_000,
            packets: 3_400_000,
            drops: 7,
            marks: 3,
            qlen: 2,
            established: Some(Duration::from_secs(32)),
            delay: Duration::from_micros(1355),
            wait: Duration::from_micros(400),
        };
        assert_eq!(flows, [ought]);
        let done = bytes(NetlinkPayload::Done(DoneMessage::default()));
        assert_eq!(read(&done, &mut flows), Some(Ok(())));
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
        assert_eq!(place("TCA_MENCIUS_HOST_UNSPEC", "TCA_MENCIUS_FLOW"), FLOW);
        for (name, number) in [
            ("HOST", HOST),
            ("ESTABLISHED", ESTABLISHED),
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
    fn a_device_without_classes_has_no_flows() {
        assert_eq!(flows(&"lo".parse().unwrap()).unwrap(), []);
    }

    proptest! {
        #[test]
        fn nothing_that_comes_makes_it_panic(noise in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..200, with: u8) {
            let mut flows = Vec::new();
            read(&noise, &mut flows);
            let mut good = bytes(class(KIND, 9, figures()).into());
            let place = at % good.len();
            good[place] = with;
            read(&good, &mut flows);
            own(&noise, &mut Flow::default());
        }
    }
}
