//! `analects import`: a dump that can be worked out by hand, and dumps that are none. `make test OF=browser`
//! imports what a real Chromium writes.

use crate::common::{Folder, text};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Output;

const SECONDS: usize = 41;

/// A statistic with a sample a second, from noon on.
fn statistic(of: &str, samples: impl Fn(usize) -> Value) -> Value {
    let values: Vec<Value> = (0..SECONDS).map(samples).collect();
    json!({
        "startTime": "2026-01-02T12:00:00.000Z",
        "endTime": format!("2026-01-02T12:00:{:02}.000Z", SECONDS - 1),
        "statsType": of,
        "values": Value::from(values).to_string(),
    })
}

/// 40 s of a call that receives 2 Mbit/s of 25 frames a second and sends 1 of at most 1.5, over 40 ms. From
/// 20 to 24 s round trips take 400 ms; a freeze of 3 s begins, and `falls` sends or receives a quarter.
fn dump(falls: &str) -> Value {
    let bytes = |each: f64, falls: bool| {
        move |second: usize| {
            let slow = if falls { second.clamp(20, 24) - 20 } else { 0 };
            json!((second - slow) as f64 * each + slow as f64 * each / 4.0)
        }
    };
    let trouble = |second: usize| (20..24).contains(&second);
    let rtt = move |second: usize| json!(if trouble(second) { 0.4 } else { 0.04 });
    let frozen =
        |most: f64| move |second: usize| json!((second.clamp(20, 23) - 20) as f64 / 3.0 * most);
    let (sent, got) = ("outbound-rtp", "inbound-rtp");
    let stats = json!({
        "IN1-kind": statistic(got, |_| json!("video")),
        "IN1-bytesReceived": statistic(got, bytes(250e3, falls == "received")),
        "IN1-framesPerSecond": statistic(got, |_| json!(25)),
        "IN1-frameWidth": statistic(got, |_| json!(640)),
        "IN1-frameHeight": statistic(got, |_| json!(360)),
        "IN1-packetsReceived": statistic(got, |second| json!(99 * second)),
        "IN1-packetsLost": statistic(got, |second| json!(second)),
        "IN1-freezeCount": statistic(got, frozen(1.0)),
        "IN1-totalFreezesDuration": statistic(got, frozen(3.0)),
        "IN1-[a-number-of-the-page]": statistic(got, |_| json!("odd")),
        "IN2-kind": statistic(got, |_| json!("audio")),
        "IN2-bytesReceived": statistic(got, bytes(4e3, false)),
        "OUT-1-kind": statistic(sent, |_| json!("video")),
        "OUT-1-bytesSent": statistic(sent, bytes(125e3, falls == "sent")),
        "OUT-1-targetBitrate": statistic(sent, |_| json!(1.5e6)),
        "OUT-1-framesPerSecond": statistic(sent, |_| json!(30)),
        "PAIR-currentRoundTripTime": statistic("candidate-pair", rtt),
    });
    json!({
        "PeerConnections": {
            "1-2": {"url": "https://call.example/", "stats": stats},
            "1-1": {"url": "https://other.example/", "stats": {}},
        },
        "UserAgent": "by hand",
    })
}

fn import(folder: &Folder, args: &[&str]) -> Output {
    let line = ["--down", "20mbit", "--up", "5mbit"];
    let command = ["import", "webrtc-internals", "dump.json"];
    folder.analects(&[&command, &line[..], args].concat())
}

fn imported(folder: &Folder, args: &[&str]) -> String {
    let output = import(folder, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The timeline, where the scenario is what is printed.
    let is_written = args.contains(&"--out");
    assert_eq!(text(&output.stderr).is_empty(), is_written);
    text(&output.stdout)
}

fn refused(folder: &Folder, args: &[&str], words: &[&str]) {
    let output = import(folder, args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in:\n{said}");
    }
}

/// The tables of a scenario's traffic.
fn traffic(scenario: &str) -> Vec<toml::Table> {
    let scenario: toml::Table = scenario.parse().unwrap();
    let entries = scenario["traffic"].as_array().unwrap().iter();
    entries
        .map(|entry| entry.as_table().unwrap().clone())
        .collect()
}

#[test]
fn a_call_worked_out_by_hand() {
    let folder = Folder::new("import-by-hand");
    folder.write("dump.json", dump("received").to_string());
    let scenario = imported(&folder, &[]);
    for line in [
        "duration = \"40s\"",
        "rtt = \"40.0ms\"",
        "rate = \"20mbit\"",
        "rate = \"5mbit\"",
    ] {
        assert!(scenario.contains(line), "no {line:?} in:\n{scenario}");
    }
    // 36 s of 2 Mbit/s and 4 of a quarter: 1.85. One of a hundred packets was lost.
    assert!(
        scenario.contains("1.85 Mbit/s on average, 1.0 % of packets lost; frozen for 3.0 s"),
        "{scenario}"
    );
    let entries = traffic(&scenario);
    let of = |entry: usize, key: &str| entries[entry][key].to_string();
    assert_eq!(of(0, "max_rate"), "\"2000kbit\"");
    assert_eq!(
        (of(0, "fps"), of(0, "audio")),
        ("25".into(), "\"32kbit\"".into())
    );
    assert_eq!(of(0, "direction"), "\"down\"");
    assert_eq!(
        (of(1, "max_rate"), of(1, "audio")),
        ("\"1500kbit\"".into(), "\"off\"".into())
    );
    assert_eq!(of(1, "direction"), "\"up\"");
    // 20 Mbit/s for four seconds.
    assert_eq!(
        (of(2, "start"), of(2, "size")),
        ("\"20s\"".into(), "\"10000000B\"".into())
    );
    assert_eq!(of(2, "direction"), "\"down\"");
    assert_eq!(entries.len(), 3);
}

#[test]
fn trouble_where_what_is_sent_falls_is_of_that_direction() {
    let folder = Folder::new("import-up");
    folder.write("dump.json", dump("sent").to_string());
    let entries = traffic(&imported(&folder, &[]));
    // 5 Mbit/s for four seconds.
    assert_eq!(entries[2]["direction"].as_str(), Some("up"));
    assert_eq!(entries[2]["size"].as_str(), Some("2500000B"));
}

/// A browser counts a freeze, and all of its time, when the next frame is shown. Where the round trip says that
/// nothing waited, nothing filled the line.
#[test]
fn a_freeze_is_told_since_it_began_and_no_transfer_is_invented() {
    let folder = Folder::new("import-freeze");
    let mut dump = dump("received");
    let stats = &mut dump["PeerConnections"]["1-2"]["stats"];
    let set = |of: &str, samples: &dyn Fn(usize) -> Value| statistic(of, samples);
    stats["PAIR-currentRoundTripTime"] = set("candidate-pair", &|_| json!(0.04));
    stats["IN1-totalFreezesDuration"] = set("inbound-rtp", &|second| {
        json!(if second < 30 { 0.0 } else { 6.0 })
    });
    folder.write("dump.json", dump.to_string());
    let said = imported(&folder, &["--out", "call.toml"]);
    // It ended in the second before the sample of 30 s: from 24 to 30.
    let row = said.lines().find(|line| line.contains("freeze  ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().take(3).collect();
    assert_eq!(cells, ["24.0", "30.0", "freeze"]);
    assert_eq!(traffic(&imported(&folder, &[])).len(), 2);
}

#[test]
fn a_compressed_dump_is_written_and_runs() {
    let folder = Folder::new("import-compressed");
    let level = flate2::Compression::default();
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), level);
    compressed
        .write_all(dump("received").to_string().as_bytes())
        .unwrap();
    folder.write("dump.json", compressed.finish().unwrap());
    let said = imported(&folder, &["--out", "call.toml"]);
    for words in [
        "1-2",
        "40 s",
        "What the dump knows",
        "up to 400 ms, the shortest is 40",
        "another connection",
        "640x360",
        "call.toml",
    ] {
        assert!(said.contains(words), "no {words:?} in:\n{said}");
    }
    let row = said
        .lines()
        .find(|line| line.trim_start().starts_with("received"))
        .unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        cells,
        ["received", "640x360", "25", "1.85", "1.0", "1", "3.0"]
    );
    let command = said
        .lines()
        .find(|line| line.starts_with("analects run"))
        .unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let output = folder.analects(&[&words[..], &["-d", "pfifo", "--format", "json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let rate = results["results"][0]["calls"][0]["goodput_mbps"]
        .as_f64()
        .unwrap();
    assert!((0.5..2.0).contains(&rate), "{rate}");
}

#[test]
fn a_part_of_a_call() {
    let folder = Folder::new("import-part");
    folder.write("dump.json", dump("received").to_string());
    // The trouble from 20 s on is in it, and some seconds before that.
    let scenario = imported(&folder, &["--for", "12s"]);
    assert!(scenario.contains("from 17 to 29 s"), "{scenario}");
    assert_eq!(traffic(&scenario)[2]["start"].as_str(), Some("3s"));
    let scenario = imported(&folder, &["--for", "10s", "--from", "5s"]);
    assert!(scenario.contains("from 5 to 15 s"), "{scenario}");
    assert_eq!(traffic(&scenario).len(), 2);
    refused(
        &folder,
        &["--from", "39s"],
        &["--from 39s", "the call has 40 s"],
    );
    refused(
        &folder,
        &["--for", "9s"],
        &["'9s' for '--for <TIME>'", "10s to 1h"],
    );
    refused(
        &folder,
        &["--connection", "7"],
        &["--connection 7", "1-1, 1-2"],
    );
    refused(
        &folder,
        &["--connection", "1-1"],
        &["1-1", "no two seconds of video or sound"],
    );
    refused(&folder, &["--out", "dump.json"], &["dump.json"]);
    refused(
        &folder,
        &["--out", "no/such/call.toml"],
        &["no/such/call.toml"],
    );
}

#[test]
fn dumps_that_are_none() {
    let folder = Folder::new("import-wrong");
    refused(&folder, &[], &["dump.json", "no such file"]);
    folder.write("dump.json", "{\n \"log\": {}\n}");
    refused(&folder, &[], &["dump.json", "line 3", "PeerConnections"]);
    for (text, words) in [
        ("RTCStatsDump\n{}", ["line 2", "expected 3"]),
        ("RTCStatsDump", ["line 2", "expected 3"]),
        (
            "RTCStatsDump\n{\"fileFormat\": 2}\n",
            ["fileFormat 2", "expected 3"],
        ),
        (
            "RTCStatsDump\n{\"fileFormat\": 3}\n\n[\"g\", ",
            ["line 4", "expected an event"],
        ),
        (
            "RTCStatsDump\n{\"fileFormat\": 3}\n7\n[]\n[\"g\",\"1\",{\"t\":1},2]",
            ["connection 1", "no two seconds"],
        ),
    ] {
        folder.write("dump.json", text);
        refused(&folder, &[], &words);
    }
    folder.write("dump.json", "<div id=\"content\"></div>");
    refused(&folder, &[], &["about:webrtc of Firefox", "totals"]);
    folder.write("dump.json", [0x1f, 0x8b, 8, 0, 1, 2]);
    refused(&folder, &[], &["dump.json"]);
    folder.write("dump.json", "\u{feff}{\"PeerConnections\": {}}");
    refused(&folder, &[], &["it has no connection"]);
    let output = folder.analects(&[
        "import",
        "webrtc-internals",
        "dump.json",
        "--down",
        "fast",
        "--up",
        "5mbit",
    ]);
    assert!(text(&output.stderr).contains("'fast' for '--down <RATE>'"));
}

/// 40 s of sound alone, 50 packets a second of 120 B each way; one of a hundred is lost on the way here.
fn of_sound(named: bool) -> Value {
    let reports = if named {
        ["IT01A111", "OT01A222", "CPx_y"]
    } else {
        // Without types, as older versions wrote them.
        [
            "RTCInboundRTPAudioStream_111",
            "RTCOutboundRTPAudioStream_222",
            "RTCIceCandidatePair_x",
        ]
    };
    let types = if named {
        ["inbound-rtp", "outbound-rtp", "candidate-pair"]
    } else {
        [""; 3]
    };
    let [[got, sent, pair], [got_type, sent_type, pair_type]] = [reports, types];
    let stats = json!({
        format!("{got}-kind"): statistic(got_type, |_| json!("audio")),
        format!("{got}-bytesReceived"): statistic(got_type, |second| json!(6000 * second)),
        format!("{got}-packetsReceived"): statistic(got_type, |second| json!(50 * second)),
        format!("{got}-packetsLost"): statistic(got_type, |second| json!(second as f64 * 50.0 / 99.0)),
        format!("{sent}-kind"): statistic(sent_type, |_| json!("audio")),
        format!("{sent}-bytesSent"): statistic(sent_type, |second| json!(6000 * second)),
        format!("{sent}-packetsSent"): statistic(sent_type, |second| json!(50 * second)),
        format!("{pair}-currentRoundTripTime"): statistic(pair_type, |_| json!(0.03)),
    });
    json!({ "PeerConnections": { "1-1": { "url": "https://call.example/", "stats": stats } } })
}

#[test]
fn a_call_of_sound_alone() {
    let folder = Folder::new("import-sound");
    for named in [true, false] {
        folder.write("dump.json", of_sound(named).to_string());
        let scenario = imported(&folder, &[]);
        assert!(scenario.contains("rtt = \"30.0ms\""), "{scenario}");
        assert!(
            scenario.contains("50.0 packets/s of 120 B, 1.0 % lost"),
            "{scenario}"
        );
        let entries = traffic(&scenario);
        // 120 B and 50 of headers, 50 times a second.
        let of = |entry: &toml::Table| {
            ["name", "kind", "direction", "rate", "packet"]
                .map(|key| entry[key].as_str().unwrap().to_owned())
        };
        assert_eq!(
            of(&entries[0]),
            ["sound-received", "udp", "down", "68.000kbit", "170B"]
        );
        assert_eq!(
            of(&entries[1]),
            ["sound-sent", "udp", "up", "68.000kbit", "170B"]
        );
        assert_eq!(entries.len(), 2);
    }
    // The same where there is a camera that is off.
    let mut off = of_sound(true);
    let stats = &mut off["PeerConnections"]["1-1"]["stats"];
    stats["OT01V333-kind"] = statistic("outbound-rtp", |_| json!("video"));
    stats["OT01V333-bytesSent"] = statistic("outbound-rtp", |_| json!(0));
    folder.write("dump.json", off.to_string());
    assert!(imported(&folder, &[]).contains("sound alone"));
    let said = imported(&folder, &["--out", "call.toml"]);
    assert!(
        said.contains("sound received") && said.contains("0.048"),
        "{said}"
    );
    let command = said
        .lines()
        .find(|line| line.starts_with("analects run"))
        .unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let output = folder.analects(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A connection with pictures goes before one of sound alone, and that before one of neither.
#[test]
fn the_connection_with_most_is_chosen() {
    let folder = Folder::new("import-chosen");
    let mut both = dump("received");
    let sound = of_sound(true)["PeerConnections"]["1-1"].take();
    both["PeerConnections"]["9-9"] = sound.clone();
    folder.write("dump.json", both.to_string());
    assert!(imported(&folder, &[]).contains("kind = \"call\""));
    both["PeerConnections"]["1-2"]["stats"] = json!({});
    folder.write("dump.json", both.to_string());
    assert!(imported(&folder, &[]).contains("sound alone"));
}

#[test]
fn a_dump_of_the_old_form_is_named() {
    let folder = Folder::new("import-legacy");
    let stats = json!({
        "ssrc_333_recv-googFrameRateReceived": statistic("", |_| json!("30")),
        "ssrc_333_recv-bytesReceived": statistic("", |second| json!((second * 150_000).to_string())),
        "bweforvideo-googActualEncBitrate": statistic("", |_| json!("0")),
    });
    let dump = json!({ "PeerConnections": { "1-1": { "stats": stats } } });
    folder.write("dump.json", dump.to_string());
    refused(
        &folder,
        &[],
        &["old form, of Chrome before 122", "record the call again"],
    );
    // Versions between wrote both: those of W3C are read.
    let mut both = of_sound(true);
    both["PeerConnections"]["1-1"]["stats"]["ssrc_1_recv-googRtt"] = statistic("", |_| json!("30"));
    folder.write("dump.json", both.to_string());
    assert!(imported(&folder, &[]).contains("sound alone"));
}

/// Numbers, times and texts that no browser writes give a scenario that runs, or a refusal.
#[test]
fn hostile_statistics() {
    let folder = Folder::new("import-hostile");
    let set = |name: &str, key: &str, value: Value| {
        let mut dump = dump("received");
        let stats = &mut dump["PeerConnections"]["1-2"]["stats"];
        if stats[name].is_null() {
            let of = match name.split_once('-').unwrap().0 {
                "IN1" => "inbound-rtp",
                "OUT" => "outbound-rtp",
                "T" => "transport",
                _ => "media-source",
            };
            stats[name] = statistic(of, |second| json!(second));
        }
        stats[name][key] = value;
        folder.write("dump.json", dump.to_string());
        let output = import(&folder, &["--out", "call.toml"]);
        let said = text(&output.stderr);
        match output.status.code() {
            Some(2) => assert!(said.contains("dump.json"), "{said}"),
            Some(0) => {
                let run = ["run", "call.toml", "-d", "pfifo", "--set", "duration=1s"];
                let output = folder.analects(&run);
                assert!(output.status.success(), "{name}: {}", text(&output.stderr));
            }
            other => panic!("{name}: {other:?}: {said}"),
        }
    };
    for values in [
        "[1e308, 1e308]",
        "[0, 1e300]",
        "[-5, -1]",
        "[\"a\"]",
        "[[[]]]",
        "{",
        "[]",
        "[1e999]",
        "[{\"cpu\": -1}, {\"cpu\": 1e300}, {}]",
        "[1767355200000, 1767355200000, 1767355240000, 5]",
    ] {
        for name in [
            "IN1-bytesReceived",
            "IN1-framesPerSecond",
            "IN1-frameWidth",
            "IN1-packetsLost",
            "OUT-1-targetBitrate",
            "PAIR-currentRoundTripTime",
            "IN1-totalFreezesDuration",
            "IN1-timestamp",
            "OUT-1-qualityLimitationReason",
            "OUT-1-qualityLimitationDurations",
            "OUT-1-rid",
            "T-selectedCandidatePairId",
            "CAM-frames",
        ] {
            set(name, "values", json!(values));
        }
    }
    for time in [
        "yesterday",
        "-009999-01-01T00:00:00Z",
        "9999-12-30T00:00:00Z",
        "",
    ] {
        set("IN1-bytesReceived", "startTime", json!(time));
        set("IN1-bytesReceived", "endTime", json!(time));
        set("PAIR-currentRoundTripTime", "endTime", json!(time));
    }
    set("IN1-bytesReceived", "values", json!(5));
    for log in [
        json!(5),
        json!([{ "value": "{\"kind\": \"video\", \"transceiverIndex\": -1}" }, {}]),
        json!([{ "value": "{\"kind\": \"video\", \"transceiverIndex\": 0, \"sender\": {\"encodings\": \
            [{\"maxBitrate\": 1e300}, 7]}}" }]),
    ] {
        let mut dump = dump("received");
        dump["PeerConnections"]["1-2"]["updateLog"] = log;
        folder.write("dump.json", dump.to_string());
        imported(&folder, &[]);
    }
}
