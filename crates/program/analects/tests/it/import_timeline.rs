//! What `analects import webrtc-internals` finds in a dump, and when: dumps with the times of their samples and
//! causes that the test put there.

use crate::common::{Folder, text};
use serde_json::{Map, Value, json};

/// The call begins at noon of 2026-01-02.
const NOON: i64 = 1_767_355_200_000;

/// A dump in the making: the seconds at which the page took samples, and statistics.
struct Dump {
    seconds: Vec<usize>,
    stats: Map<String, Value>,
    log: Value,
}

/// The sum of `each` over the seconds before one.
fn sum(each: impl Fn(usize) -> f64) -> impl Fn(usize) -> Value {
    move |second| json!((0..second).map(&each).sum::<f64>())
}

impl Dump {
    /// Of a call that takes 2 Mbit/s of 25 frames a second each way in 250 packets, over 20 ms.
    fn new(seconds: impl Iterator<Item = usize>) -> Self {
        let mut dump = Dump {
            seconds: seconds.collect(),
            stats: Map::new(),
            log: json!([]),
        };
        for (report, of) in [("IN", "inbound-rtp"), ("OUT", "outbound-rtp")] {
            dump.set(of, report, "kind", |_| json!("video"));
            dump.set(of, report, "nackCount", |_| json!(0));
            dump.set(of, report, "pliCount", |_| json!(0));
        }
        dump.set("inbound-rtp", "IN", "bytesReceived", sum(|_| 250e3));
        dump.set("inbound-rtp", "IN", "packetsReceived", sum(|_| 250.0));
        dump.set("inbound-rtp", "IN", "packetsLost", |_| json!(0));
        dump.set("inbound-rtp", "IN", "framesReceived", sum(|_| 25.0));
        dump.set("outbound-rtp", "OUT", "bytesSent", sum(|_| 250e3));
        dump.set("outbound-rtp", "OUT", "packetsSent", sum(|_| 250.0));
        dump.set("outbound-rtp", "OUT", "framesEncoded", sum(|_| 25.0));
        dump.set("outbound-rtp", "OUT", "mediaSourceId", |_| json!("CAM"));
        dump.set("outbound-rtp", "OUT", "qualityLimitationReason", |_| {
            json!("none")
        });
        dump.set("media-source", "CAM", "kind", |_| json!("video"));
        dump.set("media-source", "CAM", "frames", sum(|_| 25.0));
        dump.set("remote-inbound-rtp", "FAR", "kind", |_| json!("video"));
        dump.set("remote-inbound-rtp", "FAR", "packetsLost", |_| json!(0));
        dump.set("transport", "T", "bytesReceived", sum(|_| 255e3));
        dump.set("transport", "T", "selectedCandidatePairId", |_| json!("P"));
        dump.set("candidate-pair", "P", "currentRoundTripTime", |_| {
            json!(0.02)
        });
        dump.set("candidate-pair", "P", "localCandidateId", |_| json!("L"));
        dump.set("candidate-pair", "P", "remoteCandidateId", |_| json!("R"));
        dump.set("local-candidate", "L", "candidateType", |_| json!("host"));
        dump.set("local-candidate", "L", "address", |_| json!("192.0.2.77"));
        dump.set("remote-candidate", "R", "candidateType", |_| json!("srflx"));
        dump
    }

    /// A statistic of a report, and the report's times.
    fn set(&mut self, of: &str, report: &str, name: &str, value: impl Fn(usize) -> Value) {
        let values: Vec<Value> = self.seconds.iter().map(|second| value(*second)).collect();
        let stamps = self
            .seconds
            .iter()
            .map(|second| json!(NOON as f64 + 1e3 * *second as f64 + 0.3));
        let stamps: Vec<Value> = stamps.collect();
        let at =
            |second: usize| format!("2026-01-02T12:{:02}:{:02}.000Z", second / 60, second % 60);
        let statistic = |values: Vec<Value>| {
            json!({
                "startTime": at(self.seconds[0]),
                "endTime": at(*self.seconds.last().unwrap()),
                "statsType": of,
                "values": Value::from(values).to_string(),
            })
        };
        let (values, stamps) = (statistic(values), statistic(stamps));
        self.stats.insert(format!("{report}-{name}"), values);
        self.stats.insert(format!("{report}-timestamp"), stamps);
    }

    /// As rtcstats writes it: reports by their time, of which only what has changed, and short forms of names.
    fn rtcstats(&self) -> String {
        let number = |name: &str| match name {
            "kind" => "11".to_owned(),
            "packetsReceived" => "14".to_owned(),
            "bytesSent" => "80".to_owned(),
            "currentRoundTripTime" => "152".to_owned(),
            other => other.to_owned(),
        };
        let mut lines = vec![
            "RTCStatsDump".to_owned(),
            json!({"fileFormat": 3}).to_string(),
        ];
        lines.push(json!(["create", null, {"a camera": "of no connection"}, NOON]).to_string());
        lines.push(json!([39, "1-1", {}, "https://call.example/", 1.5]).to_string());
        let mut before: Map<String, Value> = Map::new();
        for place in 0..self.seconds.len() {
            let mut reports = json!({});
            for (name, statistic) in &self.stats {
                let (report, name) = name.split_once('-').unwrap();
                let values = statistic["values"].as_str().unwrap();
                let values: Vec<Value> = serde_json::from_str(values).unwrap();
                let of = match statistic["statsType"].as_str().unwrap() {
                    "outbound-rtp" => json!(2),
                    of => json!(of),
                };
                reports[report]["type"] = of;
                if name == "timestamp" {
                    reports["t"] = values[place].clone();
                } else {
                    reports[report][number(name)] = values[place].clone();
                }
            }
            let now = reports.as_object().unwrap().clone();
            let mut changed = now.clone();
            for (id, report) in &mut changed {
                if let (Some(report), Some(before)) = (report.as_object_mut(), before.get(id)) {
                    report.retain(|name, value| before[name.as_str()] != *value);
                }
            }
            changed.retain(|_, report| report != &json!({}));
            before = now;
            lines.push(json!(["g", "1-1", changed, 1000.25]).to_string());
        }
        lines.join("\n") + "\n"
    }

    /// What the program prints, and the scenario and the page that it writes.
    fn imported(&self, name: &str) -> (String, String, String) {
        let dump = json!({ "PeerConnections": { "1-1": {
            "url": "https://call.example/", "stats": self.stats, "updateLog": self.log,
        }}});
        imported(name, dump.to_string())
    }
}

/// The same of a dump's text.
fn imported(name: &str, dump: String) -> (String, String, String) {
    let folder = Folder::new(&format!("import-timeline-{name}"));
    folder.write("dump.json", dump);
    let command = [
        "import",
        "webrtc-internals",
        "dump.json",
        "--out",
        "call.toml",
    ];
    let line = ["--down", "20mbit", "--up", "5mbit", "--report", "page.html"];
    let output = folder.analects(&[&command[..], &line].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let scenario = std::fs::read_to_string(folder.0.join("call.toml")).unwrap();
    let run = ["run", "call.toml", "-d", "pfifo", "--set", "duration=1s"];
    let ran = folder.analects(&run);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let page = std::fs::read_to_string(folder.0.join("page.html")).unwrap();
    (text(&output.stdout), scenario, page)
}

/// When a cause is told, by the rows of the timeline that name it.
fn times(said: &str, cause: &str) -> Vec<(f64, f64)> {
    let rows = said.lines().filter_map(|line| {
        let mut cells = line.trim_start().splitn(3, ' ');
        let from: f64 = cells.next()?.parse().ok()?;
        let rest = line.trim_start().split_once(' ')?.1.trim_start();
        let (until, rest) = rest.split_once(' ')?;
        let until: f64 = until.parse().ok()?;
        rest.trim_start()
            .starts_with(&format!("{cause}  "))
            .then_some((from, until))
    });
    rows.collect()
}

/// The one time of a cause, which has to be within a second of the truth.
fn at(said: &str, cause: &str, truth: (f64, f64)) {
    let times = times(said, cause);
    let [(from, until)] = times[..] else {
        panic!("{cause}: {times:?} in:\n{said}");
    };
    let near = (from - truth.0).abs() <= 1.0 && (until - truth.1).abs() <= 1.0;
    assert!(near, "{cause}: {from} to {until}, not {truth:?}:\n{said}");
}

fn within(second: usize, from: usize, until: usize) -> f64 {
    f64::from(u8::from((from..until).contains(&second)))
}

#[test]
fn a_spike_stands_where_it_was_and_a_gap_stays_one() {
    // The page slept from 10 to 40 s.
    let seconds = || (0..=60).filter(|second| !(11..40).contains(second));
    let mut dump = Dump::new(seconds());
    dump.set(
        "inbound-rtp",
        "IN",
        "packetsLost",
        sum(|second| within(second, 10, 40)),
    );
    dump.set("candidate-pair", "P", "currentRoundTripTime", |second| {
        json!(if (50..52).contains(&second) {
            0.5
        } else {
            0.02
        })
    });
    let (said, scenario, _) = dump.imported("spike");
    at(&said, "round trip", (50.0, 52.0));
    at(&said, "no samples", (10.0, 40.0));
    assert!(
        said.contains("only sums are known: packetsLost +30"),
        "{said}"
    );
    assert!(scenario.contains("start = \"50s\""), "{scenario}");
    // Bytes of the gap are no burst after it: 2 Mbit/s all the time.
    assert!(scenario.contains("max_rate = \"2000kbit\""), "{scenario}");
    assert!(times(&said, "outage").is_empty(), "{said}");
    assert!(!said.contains("no timestamp series"), "{said}");

    // Without the times, they stand evenly, and that is said.
    dump.stats.retain(|name, _| !name.ends_with("-timestamp"));
    let (said, ..) = dump.imported("even");
    assert!(
        said.contains("3 of 3 reports have no timestamp series"),
        "{said}"
    );
    assert!(times(&said, "no samples").is_empty(), "{said}");
}

#[test]
fn what_the_network_did_is_told_and_becomes_the_line() {
    let mut dump = Dump::new(0..=80);
    let lossy = |second: usize| 20.0 * within(second, 15, 23);
    let out = |second: usize| within(second, 35, 39);
    dump.set(
        "inbound-rtp",
        "IN",
        "packetsLost",
        sum(move |second| lossy(second) + 900.0 * within(second, 39, 40)),
    );
    dump.set(
        "inbound-rtp",
        "IN",
        "packetsReceived",
        sum(move |second| (250.0 - lossy(second)) * (1.0 - out(second))),
    );
    dump.set(
        "transport",
        "T",
        "bytesReceived",
        sum(move |second| 255e3 * (1.0 - out(second))),
    );
    dump.set(
        "remote-inbound-rtp",
        "FAR",
        "packetsLost",
        sum(|second| 700.0 * within(second, 39, 40)),
    );
    let (said, scenario, page) = dump.imported("network");
    at(&said, "loss, received", (15.0, 23.0));
    at(&said, "outage", (35.0, 39.0));
    assert!(times(&said, "loss, sent").is_empty(), "{said}");
    assert!(said.contains("8.0 % of packets"), "{said}");
    let of: toml::Table = scenario.parse().unwrap();
    let link = of["link"].as_table().unwrap();
    let steps = |of: &toml::Table| of["steps"].to_string().replace('"', "");
    assert_eq!(steps(link), "[0s 20mbit, 35.0s 0mbit, 39.0s 20mbit]");
    let up = link["up"].as_table().unwrap();
    assert_eq!(steps(up), "[0s 5mbit, 35.0s 0mbit, 39.0s 5mbit]");
    // 8 % for 8 of 80 s one way, and nothing the other way.
    assert_eq!(link["loss"].as_str(), Some("0.40%"));
    for words in [
        "shortest round trip",
        "packetsLost +160, 8.0 % of packets",
        "Rate of the video",
        "Packets that were lost",
        "Round trip",
        "Frames, all streams together",
        "2026-01-02T12:00:00Z",
    ] {
        assert!(page.contains(words), "no {words:?} in:\n{page}");
    }
    // Nothing waited, so that nothing filled the line.
    assert_eq!(of["traffic"].as_array().unwrap().len(), 2, "{scenario}");
}

/// Of what was sent nothing passed: the other end reports that with its first report after it, and asks then.
#[test]
fn an_outage_of_one_direction_is_told_by_the_other_end() {
    let mut dump = Dump::new(0..=80);
    dump.set(
        "remote-inbound-rtp",
        "FAR",
        "packetsLost",
        sum(|second| 1000.0 * within(second, 39, 40)),
    );
    dump.set(
        "outbound-rtp",
        "OUT",
        "nackCount",
        sum(|second| 50.0 * within(second, 39, 40)),
    );
    // No report came meanwhile, so that its time and its values stand.
    let stamps = |second: usize| {
        if (36..40).contains(&second) {
            35
        } else {
            second
        }
    };
    let clock: Vec<f64> = (0..=80)
        .map(|second| NOON as f64 + 1e3 * stamps(second) as f64 + 0.3)
        .collect();
    dump.stats["FAR-timestamp"]["values"] = json!(Value::from(clock).to_string());
    let (said, scenario, _) = dump.imported("up");
    at(&said, "loss, sent", (35.0, 40.0));
    assert!(said.contains("next to nothing passed"), "{said}");
    let of: toml::Table = scenario.parse().unwrap();
    let link = of["link"].as_table().unwrap();
    assert_eq!(link["rate"].as_str(), Some("20mbit"));
    let steps = link["up"]["steps"].to_string();
    assert_eq!(steps.matches("0mbit").count(), 1, "{steps}");
    assert!(!link.contains_key("loss"), "{scenario}");
}

/// A sample of another time does not make a call of a day, and a mark before the text no other format.
#[test]
fn samples_of_another_time_are_left_out_and_that_is_said() {
    let mut dump = Dump::new(0..=20);
    for of in ["IN", "OUT"] {
        let mut clock: Vec<f64> = (0..=20)
            .map(|second| NOON as f64 + 1e3 * f64::from(second))
            .collect();
        clock[20] = 4_070_908_800_000.0;
        dump.stats[&format!("{of}-timestamp")]["values"] = json!(Value::from(clock).to_string());
        let end = json!("2099-01-01T00:00:00.000Z");
        let names: Vec<String> = dump
            .stats
            .keys()
            .filter(|name| name.starts_with(of))
            .cloned()
            .collect();
        names
            .iter()
            .for_each(|name| dump.stats[name]["endTime"] = end.clone());
    }
    let (said, scenario, _) = dump.imported("2099");
    assert!(said.contains(": 19 s, of which"), "{said}");
    assert!(said.contains("what came behind 19 s"), "{said}");
    assert!(scenario.contains("duration = \"19s\""), "{scenario}");
}

#[test]
fn freezes_are_counted_whole() {
    let mut dump = Dump::new(0..=30);
    // Three freezes: of 0.4 s in the seconds before 11 and 21, and one of 2 s that ends before 26.
    dump.set(
        "inbound-rtp",
        "IN",
        "freezeCount",
        sum(|second| within(second, 10, 11) + within(second, 20, 21) + within(second, 25, 26)),
    );
    dump.set(
        "inbound-rtp",
        "IN",
        "totalFreezesDuration",
        sum(|second| {
            0.4 * (within(second, 10, 11) + within(second, 20, 21)) + 2.0 * within(second, 25, 26)
        }),
    );
    let (said, ..) = dump.imported("freezes");
    assert_eq!(
        times(&said, "freeze"),
        [(10.6, 11.0), (20.6, 21.0), (24.0, 26.0)]
    );
    let short = "freezeCount +1, totalFreezesDuration +0.4 s";
    assert_eq!(said.matches(short).count(), 2, "{said}");
    assert!(
        said.contains("freezeCount +1, totalFreezesDuration +2.0 s"),
        "{said}"
    );
}

#[test]
fn what_the_sender_did_is_told_and_is_not_the_line_s() {
    let mut dump = Dump::new(0..=80);
    let moves = |second: usize| 25.0 * (1.0 - within(second, 60, 68));
    dump.set("media-source", "CAM", "frames", sum(moves));
    dump.set(
        "outbound-rtp",
        "OUT",
        "framesEncoded",
        sum(move |second| moves(second) * (1.0 - 0.6 * within(second, 20, 30))),
    );
    dump.set(
        "outbound-rtp",
        "OUT",
        "qualityLimitationReason",
        |second| match second {
            21..=30 => json!("cpu"),
            41..=50 => json!("bandwidth"),
            _ => json!("none"),
        },
    );
    dump.set(
        "outbound-rtp",
        "OUT",
        "pliCount",
        sum(|second| 2.0 * within(second, 70, 73)),
    );
    let (said, scenario, _) = dump.imported("sender");
    at(&said, "camera", (60.0, 68.0));
    at(&said, "CPU", (20.0, 30.0));
    at(&said, "bandwidth", (40.0, 50.0));
    at(&said, "encoder", (20.0, 30.0));
    at(&said, "key frames", (70.0, 73.0));
    assert!(scenario.contains("rate = \"20mbit\""), "{scenario}");
    assert!(!scenario.contains("loss = "), "{scenario}");
    assert_eq!(scenario.matches("[[traffic]]").count(), 2, "{scenario}");
}

/// As in a dump of Chromium's behind 150 kbit/s from 20 to 26 s: it told of a limit 4 s after its target fell, and left out
/// frames in between.
#[test]
fn a_limit_begins_where_the_target_fell() {
    let mut dump = Dump::new(0..40);
    let is_low = |second: usize| (21..34).contains(&second);
    dump.set("outbound-rtp", "OUT", "targetBitrate", |second| {
        json!(if is_low(second) { 40e3 } else { 1.7e6 })
    });
    dump.set(
        "outbound-rtp",
        "OUT",
        "framesEncoded",
        sum(|second| if is_low(second) { 3.0 } else { 25.0 }),
    );
    dump.set("outbound-rtp", "OUT", "qualityLimitationReason", |second| {
        json!(if (25..34).contains(&second) {
            "bandwidth"
        } else {
            "none"
        })
    });
    let (said, _, _) = dump.imported("target-fell");
    at(&said, "bandwidth", (21.0, 33.0));
    assert!(
        said.contains("targetBitrate fell to less than half"),
        "{said}"
    );
    assert_eq!(times(&said, "encoder"), [], "{said}");
    // With enough to give it is the encoder, whatever limits it.
    dump.set("outbound-rtp", "OUT", "targetBitrate", |_| json!(1.7e6));
    let (said, _, _) = dump.imported("target-stays");
    at(&said, "bandwidth", (24.0, 33.0));
    at(&said, "encoder", (21.0, 34.0));
}

/// A transfer's queue swings; a round trip that was measured once stands in later samples, too.
#[test]
fn a_long_round_trip_ends_when_a_shorter_one_is_measured() {
    let mut dump = Dump::new(0..40);
    let trips = |second: usize| match second {
        20..23 => 0.15,
        23..28 => 0.09,
        _ => 0.02,
    };
    dump.set("candidate-pair", "P", "currentRoundTripTime", |second| {
        json!(trips(second))
    });
    dump.set("candidate-pair", "P", "responsesReceived", |second| {
        json!(if (25..28).contains(&second) {
            25
        } else {
            second
        })
    });
    let (said, _, _) = dump.imported("round-trip-swings");
    let found = times(&said, "round trip");
    assert_eq!(found.len(), 1, "{said}");
    assert!(
        (found[0].0 - 20.0).abs() <= 1.0 && (found[0].1 - 26.0).abs() <= 1.0,
        "{found:?}"
    );
}

#[test]
fn layers_frames_from_the_other_end_and_relays() {
    let mut dump = Dump::new(0..=60);
    for (report, rid) in [("OUT", "h"), ("OUT2", "f"), ("OUT3", "q")] {
        dump.set("outbound-rtp", report, "rid", |_| json!(rid));
        dump.set("outbound-rtp", report, "kind", |_| json!("video"));
    }
    dump.set("outbound-rtp", "OUT2", "bytesSent", |_| json!(0));
    dump.set(
        "outbound-rtp",
        "OUT3",
        "bytesSent",
        sum(|second| 20e3 * (1.0 - within(second, 30, 60))),
    );
    dump.set(
        "inbound-rtp",
        "IN",
        "framesReceived",
        sum(|second| 25.0 * (1.0 - within(second, 10, 15))),
    );
    dump.set("local-candidate", "L2", "candidateType", |_| json!("relay"));
    dump.set("local-candidate", "L2", "relayProtocol", |_| json!("tcp"));
    dump.set("candidate-pair", "P2", "localCandidateId", |_| json!("L2"));
    dump.set("candidate-pair", "P2", "remoteCandidateId", |_| json!("R"));
    dump.set("transport", "T", "selectedCandidatePairId", |second| {
        json!(if (40..50).contains(&second) {
            "P2"
        } else {
            "P"
        })
    });
    // One that the application switched off is no starved one.
    dump.set("outbound-rtp", "OUT4", "kind", |_| json!("video"));
    dump.set("outbound-rtp", "OUT4", "rid", |_| json!("x"));
    dump.set("outbound-rtp", "OUT4", "active", |second| {
        json!(second <= 20)
    });
    dump.set(
        "outbound-rtp",
        "OUT4",
        "bytesSent",
        sum(|second| 20e3 * (1.0 - within(second, 20, 60))),
    );
    let (said, scenario, page) = dump.imported("layers");
    at(&said, "switched off", (20.0, 60.0));
    assert!(
        said.contains("active of outbound-rtp of layer x (rid) is false"),
        "{said}"
    );
    assert_eq!(times(&said, "layer"), [(0.0, 60.0), (30.0, 60.0)], "{said}");
    assert!(said.contains("layer f (rid): bytesSent of outbound-rtp never grows"));
    at(&said, "far camera", (10.0, 15.0));
    at(&said, "relay", (40.0, 49.0));
    assert!(
        said.contains("relay/tcp here, srflx at the other end"),
        "{said}"
    );
    assert!(said.contains("host here, srflx at the other end"), "{said}");
    for hidden in [&said, &scenario, &page] {
        assert!(!hidden.contains("192.0.2.77"), "{hidden}");
    }
    assert!(!page.contains("call.example"), "{page}");
}

#[test]
fn what_the_call_wanted_is_its_settings_or_unknown() {
    let mut dump = Dump::new(0..=20);
    let (_, scenario, _) = dump.imported("unknown");
    assert!(scenario.contains("what it wanted is not known; it reached this"));
    assert!(scenario.contains("what the other end wanted is not known"));
    let encodings = |encodings: Value| {
        let value = json!({
            "kind": "video", "transceiverIndex": 1, "direction": "sendrecv",
            "sender": { "encodings": encodings },
        });
        json!([{ "type": "transceiverAdded", "value": value.to_string() }, { "value": 5 }, 7])
    };
    dump.log = encodings(json!([
        { "active": true, "maxBitrate": 3_000_000 },
        { "active": true, "maxBitrate": 500_000 },
        { "active": false, "maxBitrate": 9_000_000 },
    ]));
    let (_, scenario, _) = dump.imported("settings");
    assert!(scenario.contains("max_rate = \"3500kbit\""), "{scenario}");
    assert!(scenario.contains("maxBitrate of the sender's settings"));
    // Without a limit of its own, libwebrtc's for the picture of the camera, which gives 30 a second.
    dump.log = encodings(json!([{ "active": true }]));
    dump.set("media-source", "CAM", "width", |_| json!(640));
    dump.set("media-source", "CAM", "height", |_| json!(360));
    dump.set("media-source", "CAM", "framesPerSecond", |_| json!(30));
    let (_, scenario, _) = dump.imported("default");
    assert!(scenario.contains("max_rate = \"1700kbit\""), "{scenario}");
    assert!(scenario.contains("fps = 30"), "{scenario}");
    assert!(scenario.contains("unless setParameters"), "{scenario}");
    dump.set("outbound-rtp", "OUT", "targetBitrate", |_| json!(1.7e6));
    let (_, scenario, _) = dump.imported("reached");
    assert!(scenario.contains("which it reached"), "{scenario}");
}

#[test]
fn what_a_dump_lacks_is_said() {
    let mut dump = Dump::new(0..=20);
    let (said, ..) = dump.imported("whole");
    assert_eq!(said.matches("\n- ").count(), 1, "{said}");
    let lacks = ["OUT-quality", "CAM-", "FAR-", "T-"];
    dump.stats
        .retain(|name, _| !lacks.iter().any(|lack| name.starts_with(lack)));
    let (said, ..) = dump.imported("lacks");
    for words in [
        "no qualityLimitationReason",
        "no frames of media-source",
        "no remote-inbound-rtp",
        "no selected candidate-pair",
    ] {
        assert!(said.contains(words), "no {words:?} in:\n{said}");
    }
}

#[test]
fn the_other_format_of_the_same_call_tells_the_same() {
    let mut dump = Dump::new((0..=60).filter(|second| !(11..15).contains(second)));
    dump.set(
        "inbound-rtp",
        "IN",
        "packetsLost",
        sum(|second| 20.0 * within(second, 20, 28)),
    );
    dump.set("candidate-pair", "P", "currentRoundTripTime", |second| {
        json!(if (50..54).contains(&second) {
            0.5
        } else {
            0.02
        })
    });
    dump.set("outbound-rtp", "OUT", "qualityLimitationReason", |second| {
        json!(if (35..40).contains(&second) {
            "cpu"
        } else {
            "none"
        })
    });
    let internals = dump.imported("internals");
    let said = &internals.0;
    for cause in ["loss, received", "round trip", "CPU", "no samples"] {
        assert_eq!(times(said, cause).len(), 1, "{cause}: {said}");
    }
    assert_eq!(imported("rtcstats", dump.rtcstats()), internals);
}
