//! Files that are written during runs: their contents agree with the results.

use crate::common::{Folder, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All events that a run can contain: marks, drops, losses, an uplink, every carrier.
const SCENARIO: &str = r#"name = "all"
duration = "3s"
disciplines = ["fq_codel", "pfifo"]
ecn = true

[link]
name = "dsl"
rate = "4mbit"
rtt = "40ms"
buffer = "30p"
loss = "0.5%"

[link.up]
rate = "1mbit"

[[traffic]]
name = "call"
kind = "call"
dscp = "ef"

[[traffic]]
name = "page"
kind = "page"
source = "generated:2"
interval = "1s"

[[traffic]]
name = "bulk"
kind = "bulk"
count = 3

[[traffic]]
name = "beat"
kind = "udp"
rate = "300kbit"
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("s.toml", SCENARIO);
    folder
}

/// The output of a run.
fn run(folder: &Folder, args: &[&str]) -> String {
    let args: Vec<&str> = ["run", "s.toml"].iter().chain(args).copied().collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

/// The results of a run.
fn results(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let mut document: Value = serde_json::from_str(&run(folder, &args)).unwrap();
    let Value::Array(results) = document["results"].take() else {
        panic!("{document}")
    };
    results
}

fn read(folder: &Folder, name: &str) -> Vec<u8> {
    let path = folder.0.join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

type Line = BTreeMap<String, String>;

/// The lines of a log, by column.
fn log(folder: &Folder, name: &str) -> Vec<Line> {
    let mut reader = csv::Reader::from_path(folder.0.join(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// How many lines of a link have one of these values in a column.
fn count(lines: &[Line], link: &Value, column: &str, values: &[&str]) -> u64 {
    let of = lines.iter().filter(|line| line["link"] == *link);
    of.filter(|line| values.contains(&line[column].as_str()))
        .count() as u64
}

/// Whether a log has as many packets as a result counts.
fn agree(lines: &[Line], result: &Value) {
    let links = result["links"].as_array().unwrap();
    for link in links {
        let count = |column, values: &[&str]| count(lines, &link["name"], column, values);
        assert_eq!(
            count("decision", &["sent", "marked", "lost"]),
            link["packets"]
        );
        assert_eq!(count("decision", &["dropped"]), link["drops"]);
        // There is one queue in each direction, so that no packet is marked twice.
        assert_eq!(count("ecn", &["ce"]), link["marks"]);
        assert_eq!(
            count("decision", &["lost"]),
            link["lost"].as_u64().unwrap_or(0)
        );
    }
    let names = links.iter().map(|link| link["name"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(
        lines
            .iter()
            .all(|line| names.contains(&line["link"].as_str()))
    );
}

#[test]
fn a_log_has_a_line_for_each_packet_that_results_count() {
    let folder = folder("recording-log");
    for discipline in ["fq_codel", "pfifo"] {
        let result = &results(&folder, &["-d", discipline, "--log", "l.csv"])[0];
        let lines = log(&folder, "l.csv");
        agree(&lines, result);
        let sum = |what| lines.iter().filter(|line| line["decision"] == what).count();
        let some = ["sent", "dropped", "lost"].map(sum);
        assert!(
            some.iter().all(|count| *count > 0),
            "{discipline}: {some:?}"
        );
        assert_eq!(sum("marked") > 0, discipline == "fq_codel");
        for line in &lines {
            let number = |column: &str| line[column].parse::<f64>().unwrap();
            let waited = (number("out_s") - number("in_s")) * 1e3;
            assert!((number("sojourn_ms") - waited).abs() < 1e-6, "{line:?}");
            assert_eq!(line["reason"].is_empty(), line["decision"] != "dropped");
        }
        let carriers = ["tcp", "media", "udp"].map(|carrier| {
            let of = lines.iter().filter(|line| line["carrier"] == carrier);
            of.map(|line| line["flow"].as_str()).max().unwrap()
        });
        assert_eq!((carriers[1], carriers[2]), ("call", "beat"));
    }
}

#[test]
fn a_transfer_by_hand() {
    let folder = Folder::new("recording-by-hand");
    let scenario = r#"
        duration = "1s"
        noise = "0s"
        disciplines = ["pfifo"]
        link = { rate = "8mbit", rtt = "40ms" }
        traffic = [{ name = "bulk", kind = "bulk", size = "2000B" }]
    "#;
    folder.write("s.toml", scenario);
    run(&folder, &["--log", "l.csv"]);
    // A byte takes 1 us. SYN; after a round trip the last part of the handshake and 2000 bytes of
    // data, one packet behind another; headers have 52 bytes, those of a SYN 60.
    let columns = ["in_s", "out_s", "sojourn_ms", "packet", "size_bytes"];
    let lines = log(&folder, "l.csv");
    let lines = lines
        .iter()
        .map(|line| columns.map(|column| line[column].as_str()));
    let ought = [
        ["0.000000000", "0.000000000", "0.000000", "1", "60"],
        ["0.040060000", "0.040060000", "0.000000", "3", "52"],
        ["0.040060000", "0.040112000", "0.052000", "4", "1500"],
        ["0.040060000", "0.041612000", "1.552000", "5", "604"],
    ];
    assert_eq!(lines.collect::<Vec<_>>(), ought);
}

#[test]
fn results_are_the_same_with_and_without() {
    let folder = folder("recording-same");
    let plain = run(&folder, &["--format", "json"]);
    let taps = [
        "--log",
        "l.csv",
        "--pcap",
        "p.pcap",
        "--events",
        "e.jsonl",
        "--flent",
        "f.flent.gz",
    ];
    for count in 0..taps.len() / 2 {
        let one = &taps[2 * count..2 * count + 2];
        assert_eq!(run(&folder, &[one, &["--format", "json"]].concat()), plain);
    }
    assert_eq!(
        run(&folder, &[&taps, &["--format", "json"][..]].concat()),
        plain
    );
}

/// A packet of a capture, in the form of RFC 791: nanoseconds, the captured bytes, its length.
struct Captured<'a> {
    at: u64,
    bytes: &'a [u8],
    length: u32,
}

/// Reads a capture: the format of tcpdump.org's pcap-savefile(5).
fn captured(file: &[u8]) -> Vec<Captured<'_>> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), word(20)), (0xa1b2_3c4d, 101));
    let (mut at, mut packets) = (24, Vec::new());
    while at < file.len() {
        let there = word(at + 8) as usize;
        packets.push(Captured {
            at: u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4)),
            bytes: &file[at + 16..at + 16 + there],
            length: word(at + 12),
        });
        at += 16 + there;
    }
    packets
}

#[test]
fn a_capture_has_each_packet_that_left() {
    let folder = folder("recording-pcap");
    let args = ["-d", "fq_codel", "--log", "l.csv", "--pcap", "p.pcap"];
    run(&folder, &args);
    let file = read(&folder, "p.pcap");
    let packets = captured(&file);
    let mut lines = log(&folder, "l.csv");
    lines.retain(|line| line["decision"] != "dropped");
    assert_eq!(packets.len(), lines.len());
    for (packet, line) in packets.iter().zip(&lines) {
        let ip = packet.bytes;
        let seconds = format!(
            "{}.{:09}",
            packet.at / 1_000_000_000,
            packet.at % 1_000_000_000
        );
        assert_eq!(seconds, line["out_s"]);
        assert_eq!(packet.length.to_string(), line["size_bytes"]);
        let half = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
        assert_eq!((ip[0], u32::from(half(2))), (0x45, packet.length));
        let sum: u32 = (0..10).map(|place| u32::from(half(2 * place))).sum();
        assert_eq!(
            (sum & 0xffff) + (sum >> 16),
            0xffff,
            "the header's checksum"
        );
        let ecn = ["not-ect", "ect1", "ect0", "ce"][usize::from(ip[1] & 3)];
        assert_eq!(ecn, line["ecn"]);
        assert_eq!(ip[1] >> 2, if line["flow"] == "call" { 46 } else { 0 });
        let (protocol, header) = match line["carrier"].as_str() {
            "tcp" => (6, 52),
            // What the call sends is RTP; its feedback is not.
            "media" if line["link"] == "dsl" => (17, 40),
            _ => (17, 28),
        };
        assert_eq!((ip[9], ip.len()), (protocol, header));
        let end = |at: usize, port| {
            let [a, b, c, d] = [ip[at], ip[at + 1], ip[at + 2], ip[at + 3]];
            format!("{a}.{b}.{c}.{d}:{}", half(port))
        };
        let ends = [end(12, 20), end(16, 22)];
        assert_eq!(ends, [line["source"].clone(), line["destination"].clone()]);
        let up = line["link"] == "dsl-up";
        assert!(ends[usize::from(up)].starts_with("10.1."));
        assert_eq!(ip[8], if up { 254 } else { 255 });
    }
}

#[test]
fn events_sum_up_to_results() {
    let folder = folder("recording-events");
    let result = &results(&folder, &["-d", "fq_codel", "--events", "e.jsonl"])[0];
    let text = text(&read(&folder, "e.jsonl"));
    let events: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert!(events.is_sorted_by_key(|event| event["time_ns"].as_u64().unwrap()));
    let all = |event: &str, key: &str, of: &Value| -> Vec<&Value> {
        let those = events.iter().filter(|found| found["event"] == event);
        those.filter(|found| found[key] == *of).collect()
    };
    for link in result["links"].as_array().unwrap() {
        let count = |event| all(event, "link", &link["name"]).len() as u64;
        assert_eq!(count("dequeued"), link["packets"]);
        assert_eq!(count("dropped"), link["drops"]);
        assert_eq!(count("marked"), link["marks"]);
        assert_eq!(count("lost"), link["lost"].as_u64().unwrap_or(0));
    }
    for flow in result["flows"].as_array().unwrap() {
        let started = all("flow_started", "name", &flow["name"]);
        assert_eq!(started.len(), 1, "{flow}");
        let delivered = all("delivered", "flow", &started[0]["flow"]);
        let bytes: u64 = delivered
            .iter()
            .map(|event| event["bytes"].as_u64().unwrap())
            .sum();
        assert_eq!(bytes, flow["bytes"]);
    }
    let page = &Value::from("page");
    for load in result["pages"].as_array().unwrap() {
        let done = all("request_done", "traffic", page);
        let done = done.iter().filter(|event| event["load"] == load["load"]);
        let bytes = done.clone().map(|event| event["bytes"].as_u64().unwrap());
        assert_eq!(done.clone().count() as u64, load["requests"]);
        assert_eq!(bytes.sum::<u64>(), load["bytes"]);
    }
    assert!(!all("frame_sent", "traffic", &Value::from("call")).is_empty());
    assert!(!all("observed", "traffic", &Value::from("beat")).is_empty());
}

/// Names of files in a folder that begin with `start`.
fn files(folder: &Folder, start: &str) -> Vec<String> {
    let entries = std::fs::read_dir(&folder.0).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(start)).collect();
    names.sort();
    names
}

#[test]
fn several_runs_have_a_file_each() {
    let folder = folder("recording-several");
    let args = ["-d", "fq_codel,target=8ms", "-d", "pfifo", "--repeat", "2"];
    let more = ["--without", "page", "--log", "./l.csv", "--pcap", "capture"];
    let results = results(&folder, &[&args[..], &more].concat());
    let names = files(&folder, "l");
    let run = |name: &str| format!("{name}.csv");
    let ought = [
        "l-000-fq_codel-target-8ms-seed1",
        "l-001-fq_codel-target-8ms-seed1",
        "l-002-fq_codel-target-8ms-seed2",
        "l-003-fq_codel-target-8ms-seed2",
        "l-004-pfifo-seed1",
        "l-005-pfifo-seed1",
        "l-006-pfifo-seed2",
        "l-007-pfifo-seed2",
    ];
    assert_eq!(names, ought.map(run));
    for (name, result) in names.iter().zip(&results) {
        let lines = log(&folder, name);
        agree(&lines, result);
        let left_out = result["variant"]["without"] == "page";
        let page = lines.iter().any(|line| line["flow"].starts_with("page"));
        assert_eq!(page, !left_out, "{name}");
    }
    assert_eq!(files(&folder, "capture").len(), 8);
    assert!(files(&folder, "capture").contains(&"capture-004-pfifo-seed1".to_owned()));
}

#[test]
fn a_run_that_is_kept_is_made_again_to_be_written_down() {
    let folder = folder("recording-kept");
    let store = ["--store", "store", "-d", "pfifo"];
    let first = run(&folder, &store);
    let second = run(&folder, &[&store[..], &["--log", "l.csv"]].concat());
    assert_eq!(first, second);
    let whole = read(&folder, "l.csv");
    // Existing files are overwritten, as reports are.
    folder.write("l.csv", "x".repeat(10 << 20));
    run(&folder, &[&store[..], &["--log", "l.csv"]].concat());
    assert!(read(&folder, "l.csv") == whole);
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_runs() {
    let folder = folder("recording-refused");
    folder.write("kept.html", "kept");
    std::os::unix::fs::symlink("kept.html", folder.0.join("link")).unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&["--log", "."], ". cannot be written: Is a directory"),
        (
            &["--flent", "f.gz"],
            "--flent f.gz: expected a name that ends in .flent.gz",
        ),
        (
            &["--pcap", "none/p.pcap"],
            "none/p.pcap cannot be written: No such file",
        ),
        (
            &["--events", "s.toml/e"],
            "s.toml/e cannot be written: Not a directory",
        ),
        (
            &["--events", "-"],
            "--events -: the results are printed there",
        ),
        (
            &["--log", "./s.toml"],
            "--log ./s.toml: that is s.toml, which is named",
        ),
        (
            &["--log", "a", "--pcap", "./a"],
            "--pcap ./a: that is a, which is named",
        ),
        (
            &["--report", "kept.html", "--events", "link"],
            "--events link: that is kept.html",
        ),
        (
            &["-d", "fq", "-d", "red", "--log", "none/l"],
            "none/l-000-fq-seed1 cannot be",
        ),
    ];
    for (args, says) in cases {
        let all = if args[0] == "-d" {
            &[][..]
        } else {
            &["-d", "pfifo"]
        };
        let args = [&["run", "s.toml"], all, args].concat();
        let output = folder.analects(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let message = text(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(message.contains(says), "{args:?}: {message}");
        assert_eq!(text(&output.stdout), "");
    }
    assert_eq!(text(&read(&folder, "s.toml")), SCENARIO);
    assert_eq!(text(&read(&folder, "kept.html")), "kept");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_no_result() {
    let folder = folder("recording-full");
    let plain = run(&folder, &["-d", "pfifo"]);
    let args = [
        "run",
        "s.toml",
        "-d",
        "pfifo",
        "--log",
        "l.csv",
        "--events",
        "/dev/full",
    ];
    let output = folder.analects(&args);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), plain);
    let message = text(&output.stderr);
    assert!(
        message.contains("/dev/full is not complete: No space left"),
        "{message}"
    );
    assert!(!log(&folder, "l.csv").is_empty());
}

#[test]
fn the_guide_names_all_that_files_hold() {
    let folder = folder("recording-guide");
    run(
        &folder,
        &["-d", "confucius", "--log", "l.csv", "--events", "e.jsonl"],
    );
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/guide-researcher.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let named = |name: &str| assert!(guide.contains(&format!("`{name}`")), "no word about {name}");
    log(&folder, "l.csv")[0]
        .keys()
        .for_each(|column| named(column));
    let mut names = BTreeSet::new();
    for line in text(&read(&folder, "e.jsonl")).lines() {
        let event: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        names.insert(event["event"].as_str().unwrap().to_owned());
        names.extend(event.into_keys());
    }
    names.iter().for_each(|name| named(name));
}

#[test]
#[ignore = "needs `make kernel-engine`"]
fn linux_s_packets_are_written_down_as_the_simulator_s_are() {
    let folder = folder("recording-kernel");
    let set = [
        "--set",
        "link.loss=0",
        "-d",
        "fq_codel",
        "--engine",
        "kernel",
    ];
    let files = ["--log", "l.csv", "--pcap", "p.pcap"];
    let result = &results(&folder, &[&set[..], &files].concat())[0];
    let lines = log(&folder, "l.csv");
    agree(&lines, result);
    let left = lines.iter().filter(|line| line["decision"] != "dropped");
    assert_eq!(captured(&read(&folder, "p.pcap")).len(), left.count());
}

#[test]
fn flent_s_rates_sum_up_to_results() {
    let folder = folder("recording-flent");
    let args = ["-d", "fq_codel", "-d", "pfifo", "--flent", "f.flent.gz"];
    let results = results(&folder, &args);
    for (place, discipline) in ["fq_codel", "pfifo"].into_iter().enumerate() {
        let file = read(
            &folder,
            &format!("f-{place:03}-{discipline}-seed1.flent.gz"),
        );
        let told: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&file[..])).unwrap();
        let step = told["metadata"]["STEP_SIZE"].as_f64().unwrap();
        let meta = told["metadata"]["SERIES_META"].as_object().unwrap();
        for flow in results[place]["flows"].as_array().unwrap() {
            let (name, _) = meta
                .iter()
                .find(|(_, meta)| meta["ANALECTS_FLOW"] == flow["name"])
                .unwrap();
            let points = told["results"][name].as_array().unwrap();
            let megabits: f64 = points
                .iter()
                .map(|point| point.as_f64().unwrap() * step)
                .sum();
            let bytes = flow["bytes"].as_f64().unwrap();
            assert!(
                (megabits * 1e6 / 8.0 - bytes).abs() < 1.0,
                "{name}: {megabits} Mbit, {bytes} bytes"
            );
        }
    }
}
