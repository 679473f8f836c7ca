//! A run that is small enough to be written down by hand.

use super::{JsonLines, PacketLog, Pcap, Tap};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use measure::{Event, LinkId, PacketId};
use qdisc::{Class, DropReason, FlowId};
use scenario::{AnyNames, Document, Scenario};
use std::io::{self, Write};
use units::{Duration, Ecn, Instant};
use workload::{Carrier, Event as Application, TrafficId};

fn scenario() -> Scenario {
    let text = r#"
        disciplines = ["pfifo"]
        link = { name = "dsl", rate = "8mbit", up = { rate = "1mbit" } }
        traffic = [
            { name = "get", kind = "bulk", count = 2, dscp = "af41" },
            { name = "call", kind = "call" },
        ]
    "#;
    let document = Document::parse("hand", text).unwrap();
    document.resolve(&AnyNames::default()).unwrap()
}

const DOWN: LinkId = LinkId(0);
const UP: LinkId = LinkId(1);

fn packet(number: u64, flow: Option<u32>, bytes: u32, ecn: Ecn) -> PacketId {
    let flow = flow.map(FlowId);
    PacketId {
        number,
        flow,
        subflow: 0,
        bytes,
        ecn,
    }
}

/// Times in microseconds.
fn events() -> Vec<(u64, Event)> {
    let started = |flow, traffic, carrier| {
        Event::Traffic(Application::FlowStarted {
            flow: FlowId(flow),
            traffic: TrafficId(traffic),
            carrier,
            server: 0,
        })
    };
    let came = |link, packet| Event::Enqueued { link, packet };
    let left = |link, packet, micros| Event::Dequeued {
        link,
        packet,
        sojourn: Duration::from_micros(micros),
    };
    let dropped = |packet, reason| Event::Dropped {
        link: DOWN,
        packet,
        reason,
    };
    let plain = |number, flow, bytes| packet(number, Some(flow), bytes, Ecn::NotCapable);
    let capable = PacketId {
        subflow: 1,
        ..packet(3, Some(1), 1200, Ecn::Ect1)
    };
    let marked = PacketId {
        ecn: Ecn::Ce,
        ..capable
    };
    let nobodys = packet(5, None, 40, Ecn::NotCapable);
    vec![
        (0, started(0, 0, Carrier::Tcp)),
        (0, started(1, 1, Carrier::Media)),
        (0, came(DOWN, plain(1, 0, 1500))),
        (0, left(DOWN, plain(1, 0, 1500), 0)),
        (100, came(DOWN, plain(2, 0, 1500))),
        (200, came(DOWN, capable)),
        (300, came(DOWN, plain(4, 0, 1500))),
        (300, dropped(plain(4, 0, 1500), DropReason::Tail)),
        (1500, left(DOWN, plain(2, 0, 1500), 1400)),
        (1501, dropped(plain(99, 0, 60), DropReason::Overlimit)),
        (
            2_000_000,
            Event::Marked {
                link: DOWN,
                packet: marked,
            },
        ),
        (2_000_000, left(DOWN, marked, 1_999_800)),
        (2_000_000, came(UP, nobodys)),
        (2_000_001, left(UP, nobodys, 1)),
        (
            2_000_001,
            Event::Lost {
                link: UP,
                packet: nobodys,
            },
        ),
        (2_000_002, came(UP, plain(6, 0, 52))),
        (2_000_003, left(UP, plain(6, 0, 52), 1)),
        (2_000_004, came(DOWN, plain(7, 0, 1500))),
        (
            2_000_005,
            Event::Moved {
                link: DOWN,
                flow: FlowId(0),
                from: None,
                to: Class(1),
            },
        ),
    ]
}

fn tell(tap: &mut dyn Tap) {
    for (micros, event) in events() {
        tap.event(Instant::from_nanos(micros * 1000), event);
    }
}

/// The output of a tap for it.
fn written(make: for<'a> fn(&'a Scenario, &'a mut Vec<u8>) -> Box<dyn Tap + 'a>) -> Vec<u8> {
    let (scenario, mut bytes) = (scenario(), Vec::new());
    let mut tap = make(&scenario, &mut bytes);
    tell(&mut *tap);
    tap.finish().unwrap();
    drop(tap);
    bytes
}

/// The address of the server of the scenario's transfers and of its call.
const SERVERS: [&str; 2] = ["10.1.225.197", "10.1.33.202"];

#[test]
fn a_log_has_a_line_for_each_packet_that_left_or_was_dropped() {
    let text = String::from_utf8(written(|s, w| Box::new(PacketLog::new(s, w)))).unwrap();
    let [get, call] = SERVERS;
    let ought = format!(
        "\
in_s,out_s,sojourn_ms,link,packet,flow,carrier,source,destination,size_bytes,ecn,decision,reason
0.000000000,0.000000000,0.000000,dsl,1,get-1,tcp,{get}:1024,10.2.0.1:1024,1500,not-ect,sent,
0.000300000,0.000300000,0.000000,dsl,4,get-1,tcp,{get}:1024,10.2.0.1:1024,1500,not-ect,dropped,tail
0.000100000,0.001500000,1.400000,dsl,2,get-1,tcp,{get}:1024,10.2.0.1:1024,1500,not-ect,sent,
0.001501000,0.001501000,0.000000,dsl,99,get-1,tcp,{get}:1024,10.2.0.1:1024,60,not-ect,dropped,overlimit
0.000200000,2.000000000,1999.800000,dsl,3,call,media,{call}:1025,10.2.0.2:1025,1200,ce,marked,
2.000000000,2.000001000,0.001000,dsl-up,5,,,,,40,not-ect,lost,
2.000002000,2.000003000,0.001000,dsl-up,6,get-1,tcp,10.2.0.1:1024,{get}:1024,52,not-ect,sent,
"
    );
    assert_eq!(text, ought);
}

/// A record of a capture: seconds, nanoseconds, bytes that are there, true length.
fn records(pcap: &[u8]) -> Vec<(u32, u32, &[u8], u32)> {
    let word = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    let head: Vec<u32> = (0..6).map(|place| word(4 * place)).collect();
    assert_eq!(head, [0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 52, 101]);
    let (mut at, mut records) = (24, Vec::new());
    while at < pcap.len() {
        let (there, data) = (word(at + 8) as usize, at + 16);
        records.push((
            word(at),
            word(at + 4),
            &pcap[data..data + there],
            word(at + 12),
        ));
        at = data + there;
    }
    records
}

#[test]
fn a_capture_has_what_left() {
    let pcap = written(|s, w| Box::new(Pcap::new(s, w)));
    let records = records(&pcap);
    let times: Vec<_> = records.iter().map(|r| (r.0, r.1, r.2.len(), r.3)).collect();
    let ought = [
        (0, 0, 52, 1500),
        (0, 1_500_000, 52, 1500),
        (2, 0, 28, 1200),
        (2, 1000, 20, 40),
        (2, 3000, 52, 52),
    ];
    assert_eq!(times, ought);
    let mut shown = Vec::new();
    for (_, _, bytes, length) in records {
        let sliced = LaxSlicedPacket::from_ip(bytes).unwrap();
        let Some(LaxNetSlice::Ipv4(ip)) = sliced.net else {
            panic!("{sliced:?}")
        };
        let ip = ip.header();
        assert_eq!(u32::from(ip.total_len()), length);
        assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
        let transport = match sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => {
                let ports = (tcp.source_port(), tcp.destination_port());
                format!("tcp {ports:?} seq {}", tcp.sequence_number())
            }
            Some(TransportSlice::Udp(udp)) => {
                let ports = (udp.source_port(), udp.destination_port());
                format!("udp {ports:?} length {}", udp.length())
            }
            _ => format!("protocol {}", ip.protocol().0),
        };
        let (from, to) = (ip.source_addr(), ip.destination_addr());
        let marks = (
            ip.dcp().value(),
            ip.ecn().value(),
            ip.ttl(),
            ip.identification(),
        );
        shown.push(format!("{from} {to} {marks:?} {transport}"));
    }
    let [get, call] = SERVERS;
    let ought = [
        format!("{get} 10.2.0.1 (34, 0, 255, 1) tcp (1024, 1024) seq 0"),
        format!("{get} 10.2.0.1 (34, 0, 255, 2) tcp (1024, 1024) seq 1448"),
        format!("{call} 10.2.0.2 (0, 3, 255, 3) udp (1025, 1025) length 1180"),
        "0.0.0.0 0.0.0.0 (0, 0, 254, 5) protocol 253".to_owned(),
        format!("10.2.0.1 {get} (34, 0, 254, 6) tcp (1024, 1024) seq 0"),
    ];
    assert_eq!(shown, ought);
}

#[test]
fn each_event_is_a_line_of_json() {
    let text = String::from_utf8(written(|s, w| Box::new(JsonLines::new(s, w)))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), events().len());
    let [get, _] = SERVERS;
    let started = format!(
        r#"{{"time_ns":0,"event":"flow_started","flow":0,"name":"get-1","traffic":"get","carrier":"tcp","home":"10.2.0.1:1024","server":"{get}:1024"}}"#
    );
    assert_eq!(lines[0], started);
    let of = r#""link":"dsl","packet":3,"flow":1,"subflow":1,"bytes":1200"#;
    for (place, ought) in [
        (5, format!(r#"{{"time_ns":200000,"event":"enqueued",{of},"ecn":"ect1"}}"#)),
        (10, format!(r#"{{"time_ns":2000000000,"event":"marked",{of},"ecn":"ce"}}"#)),
        (
            11,
            format!(r#"{{"time_ns":2000000000,"event":"dequeued",{of},"ecn":"ce","sojourn_ns":1999800000}}"#),
        ),
        (
            12,
            r#"{"time_ns":2000000000,"event":"enqueued","link":"dsl-up","packet":5,"flow":null,"bytes":40,"ecn":"not-ect"}"#.to_owned(),
        ),
        (
            18,
            r#"{"time_ns":2000005000,"event":"moved","link":"dsl","flow":0,"from":null,"to":1}"#.to_owned(),
        ),
    ] {
        assert_eq!(lines[place], ought);
    }
}

/// A disk that is full after so many bytes.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or_else(|| io::Error::other("the disk is full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_is_kept_until_the_end() {
    let scenario = scenario();
    for room in [0, 100, 50_000] {
        let taps: [Box<dyn Tap + '_>; 3] = [
            Box::new(PacketLog::new(&scenario, Disk(room))),
            Box::new(Pcap::new(&scenario, Disk(room))),
            Box::new(JsonLines::new(&scenario, Disk(room))),
        ];
        for mut tap in taps {
            // More than the buffers hold.
            for _ in 0..200 {
                tell(&mut *tap);
            }
            assert_eq!(tap.finish().unwrap_err().to_string(), "the disk is full");
        }
    }
}
