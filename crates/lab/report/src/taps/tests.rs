//! A run that is small enough to be written down by hand.

use super::{Flent, JsonLines, PacketLog, Pcap, WritingTap};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use measure::{Event, LinkId, MediaContent, MediaPart, PacketId, Sink as _};
use qdisc::{Class, DropReason, FlowId};
use scenario::{AnyNames, Document, Scenario};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
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

fn tell(tap: &mut dyn WritingTap) {
    for (micros, event) in events() {
        tap.event(Instant::from_nanos(micros * 1000), &event);
    }
}

/// The output of a tap for it.
fn written(make: for<'a> fn(&'a Scenario, &'a mut Vec<u8>) -> Box<dyn WritingTap + 'a>) -> Vec<u8> {
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
        let taps: [Box<dyn WritingTap + '_>; 3] = [
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

/// What flent reads of a run with these events, at times in milliseconds.
fn flent(traffic: &str, events: &[(u64, Application)]) -> Value {
    let text = format!(
        "name = \"hand\"\nduration = \"10s\"\ndisciplines = [\"pfifo\"]\nlink = {{ rate = \"8mbit\" }}\ntraffic = [{traffic}]"
    );
    let document = Document::parse("hand", &text).unwrap();
    let scenario = document.resolve(&AnyNames::default()).unwrap();
    let mut bytes = Vec::new();
    let mut tap = Flent::new(&scenario, "hand seed 1".to_owned(), &mut bytes);
    for (millis, event) in events {
        let now = Instant::from_nanos(millis * 1_000_000);
        tap.event(now, &Event::Traffic(*event));
    }
    tap.finish().unwrap();
    drop(tap);
    let mut text = String::new();
    let mut file = flate2::read::GzDecoder::new(&bytes[..]);
    file.read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn flow(flow: u32, traffic: u16, carrier: Carrier) -> Application {
    Application::FlowStarted {
        flow: FlowId(flow),
        traffic: TrafficId(traffic),
        carrier,
        server: 0,
    }
}

fn delivered(flow: u32, bytes: u64) -> Application {
    let flow = FlowId(flow);
    Application::Delivered { flow, bytes }
}

fn answered(traffic: u16, value: f64) -> Application {
    Application::Observed {
        traffic: TrafficId(traffic),
        figure: 1,
        value,
        began: Instant::ZERO,
    }
}

#[test]
fn flent_gets_rates_and_pings() {
    let traffic = r#"
        { name = "get", kind = "bulk", count = 2 },
        { name = "put", kind = "bulk", direction = "up" },
        { name = "web", kind = "page" },
        { name = "call", kind = "call" },
        { name = "beat", kind = "udp", answer = "60B" },
        { name = "far", kind = "udp", answer = "60B" },
    "#;
    let told = flent(
        traffic,
        &[
            (0, flow(0, 0, Carrier::Tcp)),
            (0, flow(1, 0, Carrier::Tcp)),
            (0, flow(2, 1, Carrier::Tcp)),
            (0, flow(3, 2, Carrier::Quic)),
            (0, flow(4, 2, Carrier::Quic)),
            (0, flow(5, 3, Carrier::Media)),
            // In a step of 200 ms 25000 B are 1 Mbit/s.
            (100, delivered(0, 25_000)),
            (150, delivered(1, 50_000)),
            (150, delivered(3, 25_000)),
            (199, delivered(4, 25_000)),
            (200, delivered(2, 12_500)),
            (210, answered(4, 30.0)),
            (220, answered(4, 50.0)),
            (230, answered(5, 100.0)),
            (399, delivered(5, 25_000)),
            (450, delivered(0, 25_000)),
            (460, answered(9, 1.0)),
        ],
    );
    assert_eq!(told["version"], 4);
    assert_eq!(told["metadata"]["NAME"], "rrul_be_nflows");
    assert_eq!(told["metadata"]["TITLE"], "hand seed 1");
    assert_eq!(told["metadata"]["LOCAL_HOST"], "analects");
    assert_eq!(told["metadata"]["HOST"], "hand");
    let streams = json!({ "upload_streams": 1, "download_streams": 3 });
    assert_eq!(told["metadata"]["TEST_PARAMETERS"], streams);
    let near = |value: f64| move |found: &Value| (found.as_f64().unwrap() - value).abs() < 1e-9;
    for (place, x) in [0.2, 0.4, 0.6].into_iter().enumerate() {
        assert!(near(x)(&told["x_values"][place]), "{}", told["x_values"]);
    }
    let series = [
        ("TCP download BE::1", json!([1.0, 0.0, 1.0])),
        ("TCP download BE::2", json!([2.0, 0.0, 0.0])),
        ("TCP download BE::3", json!([2.0, 0.0, 0.0])),
        ("TCP download sum", json!([5.0, 0.0, 1.0])),
        ("TCP download avg", json!([5.0 / 3.0, 0.0, 1.0 / 3.0])),
        ("TCP upload BE::1", json!([0.0, 0.5, 0.0])),
        ("TCP upload sum", json!([0.0, 0.5, 0.0])),
        ("TCP upload avg", json!([0.0, 0.5, 0.0])),
        ("TCP totals", json!([5.0, 0.5, 1.0])),
        ("Ping (ms) UDP BE", json!([null, 40.0, null])),
        ("Ping (ms) UDP far", json!([null, 100.0, null])),
        ("Ping (ms) avg", json!([null, 70.0, null])),
        ("call", json!([0.0, 1.0, 0.0])),
    ];
    let results = told["results"].as_object().unwrap();
    assert_eq!(results.len(), series.len(), "{:?}", results.keys());
    for (name, ought) in series {
        for (found, ought) in results[name]
            .as_array()
            .unwrap()
            .iter()
            .zip(ought.as_array().unwrap())
        {
            match ought.as_f64() {
                Some(ought) => assert!(near(ought)(found), "{name}: {found}, expected {ought}"),
                None => assert!(found.is_null(), "{name}: {found}"),
            }
        }
    }
    let raw = told["raw_values"].as_object().unwrap();
    assert_eq!(raw.len(), 7, "measured, no sums: {:?}", raw.keys());
    let pings = raw["Ping (ms) UDP BE"].as_array().unwrap();
    assert!(near(0.4)(&pings[0]["t"]) && near(40.0)(&pings[0]["val"]));
    assert_eq!(pings.len(), 1);
    let meta = &told["metadata"]["SERIES_META"];
    assert_eq!(meta["TCP download BE::2"]["ANALECTS_FLOW"], "get-2");
    assert_eq!(meta["TCP download BE::3"]["ANALECTS_FLOW"], "web");
    assert_eq!(meta["Ping (ms) UDP BE"]["UNITS"], "ms");
}

#[test]
fn flent_tells_some_flows_apart_and_sums_up_the_rest() {
    let all: Vec<(u64, Application)> = (0..100)
        .flat_map(|n| [(0, flow(n, 0, Carrier::Tcp)), (100, delivered(n, 25_000))])
        .collect();
    let told = flent(r#"{ name = "get", kind = "bulk", count = 100 }"#, &all);
    let results = &told["results"];
    assert_eq!(told["metadata"]["TEST_PARAMETERS"]["download_streams"], 65);
    assert!((results["TCP download BE::65"][0].as_f64().unwrap() - 36.0).abs() < 1e-9);
    assert!((results["TCP download sum"][0].as_f64().unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn flent_s_steps_are_longer_in_a_long_run_and_none_in_an_empty_one() {
    let told = flent(r#"{ name = "get", kind = "bulk" }"#, &[]);
    assert_eq!(told["x_values"], json!([]));
    assert_eq!(told["results"]["TCP totals"], json!([]));
}

#[test]
fn media_have_rtp_headers_in_a_capture() {
    let scenario = scenario();
    let mut bytes = Vec::new();
    let mut tap = Pcap::new(&scenario, &mut bytes);
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    tap.event(at(0), &Event::Traffic(flow(5, 1, Carrier::Media)));
    let (call, frame) = (TrafficId(1), 7);
    tap.event(
        at(100),
        &Event::Traffic(Application::FrameSent { call, frame }),
    );
    let video = |sequence, last| MediaContent::Video {
        sequence,
        frame: 7,
        last,
    };
    let contents = [
        (1, video(65_535, false)),
        (2, video(65_536, true)),
        (
            3,
            MediaContent::Audio {
                frame: 3,
                copied: 0,
            },
        ),
        (4, MediaContent::Padding),
        (5, MediaContent::Fec),
    ];
    for (number, content) in contents {
        let packet = packet(number, Some(5), 1200, Ecn::NotCapable);
        let part = MediaPart { stream: 0, content };
        tap.event(at(110), &Event::Media { packet, part });
        for link in [DOWN, UP] {
            let sojourn = Duration::ZERO;
            tap.event(
                at(120),
                &Event::Dequeued {
                    link,
                    packet,
                    sojourn,
                },
            );
        }
        tap.event(at(130), &Event::Arrived { packet });
        // Another packet of this number would be none of this one's.
        let sojourn = Duration::ZERO;
        tap.event(
            at(140),
            &Event::Dequeued {
                link: DOWN,
                packet,
                sojourn,
            },
        );
    }
    tap.finish().unwrap();
    drop(tap);
    let (mut at, mut headers) = (24, Vec::new());
    while at < bytes.len() {
        let there = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        headers.push(bytes[at + 16 + 28..at + 16 + there].to_vec());
        at += 16 + there;
    }
    assert_eq!(headers.len(), 15);
    let source = |of: u8| [0, 0, 5, of];
    // 100 ms are 9000 ticks of 90 kHz, three frames of audio 2880 of 48.
    let ought = [
        [&[0x80, 96, 0xff, 0xff, 0, 0, 0x23, 0x28][..], &source(0)].concat(),
        [&[0x80, 96 | 0x80, 0, 0, 0, 0, 0x23, 0x28][..], &source(0)].concat(),
        [&[0x80, 111, 0, 3, 0, 0, 0x0b, 0x40][..], &source(0x80)].concat(),
        [&[0x80, 97, 0, 1, 0, 0, 0, 0][..], &source(0xc0)].concat(),
        [&[0x80, 98, 0, 1, 0, 0, 0, 0][..], &source(160)].concat(),
    ];
    for (place, ought) in ought.into_iter().enumerate() {
        assert_eq!(
            headers[3 * place..3 * place + 3],
            [ought.clone(), ought, Vec::new()]
        );
    }
}
