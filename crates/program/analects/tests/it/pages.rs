//! `analects pages`: figures that can be worked out by hand, and the generator's sites compared
//! with published ones.

use crate::common::{Folder, text};
use serde_json::Value;

fn pages(folder: &Folder, args: &[&str]) -> String {
    let args: Vec<&str> = ["pages"].iter().chain(args).copied().collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_str(&pages(folder, &args)).unwrap()
}

/// A document, and eight images that start when it is complete, all of 5 kB. The images come from
/// the document's server at `version`.
fn har(version: &str) -> String {
    let entry = |number: u32| {
        let start = if number == 0 { "00.000" } else { "00.010" };
        format!(
            r#"{{"startedDateTime": "2024-01-01T00:00:{start}Z", "time": 10,
            "request": {{"url": "https://a.example/{number}", "httpVersion": "{version}"}},
            "response": {{"status": 200, "headersSize": 0, "bodySize": 5000}},
            "serverIPAddress": "192.0.2.1"}}"#
        )
    };
    let entries: Vec<String> = (0..9).map(entry).collect();
    format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","))
}

#[test]
fn two_pages_worked_out_by_hand() {
    let folder = Folder::new("pages-by-hand");
    std::fs::create_dir(folder.0.join("two")).unwrap();
    folder.write("two/six.har", har("HTTP/1.1"));
    folder.write("two/one.har", har("h3"));
    let document = json(&folder, &["two"]);
    assert_eq!(document["rate_mbps"], 1000.0);
    assert_eq!(document["rtt_ms"], 40.0);
    let survey = &document["survey"];
    assert_eq!(survey["incomplete"], 0);
    let [one, six] = [0, 1].map(|index| &survey["sites"][index]);
    assert_eq!((&one["name"], &six["name"]), (&"one".into(), &"six".into()));
    // HTTP/1: the document comes 120 ms after navigation (TCP, TLS, request). The first image then
    // takes its connection, and comes at 160; five more connections are opened, on which TLS comes
    // at 200 ms, as the second image does on the first: six flows within 10 ms. From 200 ms on
    // requests are outstanding on all six: two of eight images are sent on the first connection at
    // 120 and 160, another one at 200, the others on the five.
    for (figure, h1, h3) in [
        ("active", 6, 1),
        ("in_use", 6, 1),
        ("open", 6, 1),
        ("connections", 6, 1),
        ("connection_limit", 6, 1),
        ("requests", 9, 9),
        ("origins", 1, 1),
        ("addresses", 1, 1),
        ("page_bytes", 45_000, 45_000),
    ] {
        assert_eq!(six[figure], h1, "{figure}");
        assert_eq!(one[figure], h3, "{figure}");
        assert_eq!(survey["figures"][figure]["max"], f64::from(h1), "{figure}");
    }
    let answers = &survey["figures"]["request_bytes"];
    assert_eq!(
        (&answers["min"], &answers["max"]),
        (&5e3.into(), &5e3.into())
    );
    // 5 kB, without the 3.5 kB of TLS, on the least used of six; 9 · 5 kB over QUIC.
    let flows = &survey["figures"]["flow_bytes"];
    assert_eq!((&flows["count"], &flows["max"]), (&7.into(), &45e3.into()));
    assert_eq!(flows["min"], 5_000.0);
    let versions = &survey["versions"];
    for by in ["websites", "requests"] {
        let each = if by == "websites" { 1 } else { 9 };
        assert_eq!(versions[by]["h1"], each);
        assert_eq!(versions[by]["h2"], 0);
        assert_eq!(versions[by]["h3"], each);
    }
    assert_eq!(document["top"][0]["name"], "six");
    assert_eq!(document["top"].as_array().unwrap().len(), 2);
    assert_eq!(document["published"]["active.p50"], 8.0);
}

/// The time of a load of the page over HTTP/3 on a link of this rate: servers' part, with round
/// trips, and all of it, in milliseconds.
fn parts(folder: &Folder, rate: &str) -> [f64; 3] {
    let scenario = format!(
        "duration = \"5s\"\ndisciplines = [\"pfifo\"]\nlink = {{ rate = \"{rate}\", rtt = \"40ms\" }}\n\
         [[traffic]]\nname = \"page\"\nkind = \"page\"\nsource = \"one.har\"\n"
    );
    folder.write("one.har", har("h3"));
    folder.write("s.toml", scenario);
    let output = folder.analects(&["run", "s.toml", "--seed", "1", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let load = &document["results"][0]["pages"][0];
    ["servers_ms", "round_trips_ms", "plt_ms"].map(|part| load[part].as_f64().unwrap())
}

#[test]
fn a_load_time_says_what_the_link_can_change() {
    let folder = Folder::new("pages-parts");
    // No server thinks. The handshake, the document and the images take a round trip each; and since a
    // window of 12 kB grows to 24, 42 kB of images take two more, which are the link's: on it a
    // sender has to find out what may be under way.
    let [servers, trips, fast] = parts(&folder, "10gbit");
    assert_eq!((servers, trips), (0.0, 120.0));
    assert!((200.0..205.0).contains(&fast), "{fast}");
    // Windows of less than a round trip's 40 kB do not keep 8 Mbit/s busy: in addition to waiting
    // for them, only the document, 5 kB, and the bytes of the last of them take time.
    let [servers, trips, plt] = parts(&folder, "8mbit");
    assert_eq!((servers, trips), (0.0, 120.0));
    assert!((5.0..45.0).contains(&(plt - fast)), "{plt}");

    let columns = ["plt", "plt_servers", "plt_trips", "plt_link", "unfinished"].join(",");
    let output = folder.analects(&["run", "s.toml", "--seed", "1", "--columns", &columns]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let line = table.lines().find(|line| line.contains("pfifo")).unwrap();
    let link = format!("{:.0}", plt - 120.0);
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        cells,
        ["pfifo", &format!("{plt:.0}"), "0", "120", &link, "0.0"]
    );
    let unasked = folder.analects(&["run", "s.toml", "--seed", "1"]);
    assert!(!text(&unasked.stdout).contains("PLT link"));
}

#[test]
fn loads_that_the_end_cuts_off_are_told_and_counted() {
    let folder = Folder::new("pages-cut-off");
    parts(&folder, "8mbit");
    // 45 kB at 10 kbit/s take 36 s; a load that begins in the last two seconds is none.
    for (duration, told) in [("5s", true), ("1900ms", false)] {
        let output = folder.analects(&[
            "run",
            "s.toml",
            "--seed",
            "1",
            "--set",
            "link.rate=10kbit",
            "--set",
            &format!("duration={duration}"),
        ]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let said = table.contains("page loads cut off by the end of a run: pfifo 1\n");
        assert_eq!(said, told, "{table}");
    }
}

/// The page above, with an entry that cannot be read, one that says too little and a `data:` URL.
fn damaged() -> String {
    let odd = r#"{"log": {"entries": [{"time": 1, "time": 2},
        {"request": {"url": "https://a.example/\u001b"}, "response": {}},
        {"request": {"url": "data:,x"}},"#;
    har("h2").replacen(r#"{"log": {"entries": ["#, odd, 1)
}

#[test]
fn what_is_left_out_of_a_file_is_said_once_on_standard_error() {
    let folder = Folder::new("pages-left-out");
    std::fs::create_dir(folder.0.join("two")).unwrap();
    folder.write("two/odd\u{202e}.har", damaged());
    folder.write("two/whole.har", har("h2"));
    let said = "two/odd\\u{202e}.har: 3 of 12 entries are left out: 1 cannot be read, 1 has no \
         startedDateTime that can be read, 1 is a data: URL\n  entries[0] cannot be read; entries[1] \
         https://a.example/\\u{1b} has no startedDateTime that can be read\n";
    let output = folder.analects(&["pages", "two", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), said);
    let document: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(document["survey"]["sites"].as_array().unwrap().len(), 2);
    let requests = &document["survey"]["figures"]["requests"];
    assert_eq!(
        (&requests["min"], &requests["max"]),
        (&9.0.into(), &9.0.into())
    );

    // Two traces, two disciplines, two seeds, and two entries that load the same pages.
    folder.write("1.trace", "0 20\n");
    folder.write("2.trace", "0 10\n");
    let entry =
        |name: &str| format!("[[traffic]]\nname = \"{name}\"\nkind = \"page\"\nsource = \"two\"\n");
    let scenario = format!(
        "duration = \"2s\"\ndisciplines = [\"pfifo\", \"fq_codel\"]\n[link]\ntrace = \"*.trace\"\n{}{}",
        entry("a"),
        entry("b")
    );
    folder.write("s.toml", scenario);
    let args = ["run", "s.toml", "--repeat", "2", "--format", "json"];
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let traces = "./1.trace: 1 s, mean 20 Mbit/s, from 20 to 20\n\
        ./2.trace: 1 s, mean 10 Mbit/s, from 10 to 10\n";
    assert_eq!(text(&output.stderr), format!("{said}{traces}"));
    let document: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(document["results"].as_array().unwrap().len(), 8);
    let over = [
        "sweep",
        "s.toml",
        "--over",
        "warmup=0s,1s",
        "--format",
        "csv",
    ];
    let over = [
        &over[..],
        &["--metric", "utilization", "-s", "link.trace=1.trace"],
    ]
    .concat();
    let output = folder.analects(&over);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = "1.trace: 1 s, mean 20 Mbit/s, from 20 to 20\n";
    assert_eq!(text(&output.stderr), format!("{said}{trace}"));
}

#[test]
fn tables_name_as_many_pages_as_asked_for() {
    let folder = Folder::new("pages-tables");
    folder.write("a\u{202e}.har", har("h2"));
    let lines = |args: &[&str]| pages(&folder, args).lines().count();
    let none = lines(&["generated:3", "--top", "0"]);
    // A blank line, headings, and a page a line; there are only three.
    assert_eq!(lines(&["generated:3", "--top", "2"]), none + 4);
    assert_eq!(lines(&["generated:3", "--top", "50"]), none + 5);
    let table = pages(&folder, &["*.har", "--rate", "100mbit", "--rtt", "20ms"]);
    assert!(table.starts_with("*.har: 1 page loaded alone over 100mbit, round trip 20ms\n"));
    assert!(
        !table.contains('\u{202e}') && table.contains("a\\u{202e}"),
        "{table}"
    );
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// Decision 0031 compares loads over an ideal network of 100 Mbit/s and 20 ms; the simulator's TCP
/// and QUIC agree.
#[test]
fn generated_sites_are_active_as_published() {
    let folder = Folder::new("pages-generated");
    let document = json(&folder, &["--rate", "100mbit", "--rtt", "20ms"]);
    let figures = &document["survey"]["figures"];
    let near = |figure: &str, value: &str, published: f64| {
        let is = figures[figure][value].as_f64().unwrap();
        let off = is / published - 1.0;
        assert!(off.abs() <= 0.15, "{figure}.{value}: {is}, {published}");
    };
    near("active", "p50", 8.0);
    near("active", "p90", 19.0);
    near("active", "mean", 9.0);
    near("connections", "p50", 30.0);
    near("flow_bytes", "p50", 15_000.0);
    assert_eq!(document["survey"]["incomplete"], 0);
}

#[test]
fn one_broken_file_of_a_folder_is_named_and_left_out_unless_that_is_refused() {
    let folder = Folder::new("pages-broken");
    std::fs::create_dir(folder.0.join("two")).unwrap();
    folder.write("two/broken.har", "{");
    let refused = |args: &[&str]| {
        let output = folder.analects(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        text(&output.stderr)
    };
    // It is the only one: no page is left.
    let said = refused(&["pages", "two"]);
    assert!(said.contains("two/broken.har: line 1"), "{said}");
    folder.write("two/whole.har", har("h3"));
    let scenario = r#"
        duration = "5s"
        disciplines = ["pfifo"]
        link = { rate = "20mbit", rtt = "40ms" }
        traffic = [{ name = "page", kind = "page", source = "two" }]
    "#;
    folder.write("s.toml", scenario);
    for command in [&["pages", "two"][..], &["run", "s.toml"]] {
        let output = folder.analects(command);
        assert!(output.status.success(), "{command:?}");
        let said = text(&output.stderr);
        assert!(said.contains("two/broken.har: left out: line 1"), "{said}");
        let said = refused(&[command, &["--strict"]].concat());
        assert!(said.contains("two/broken.har: line 1"), "{said}");
        assert!(said.contains("--strict"), "{said}");
    }
    // A file that is named itself is meant.
    let said = refused(&["pages", "two/broken.har"]);
    assert!(said.contains("broken.har: line 1"), "{said}");
}

/// Compressed by gzip, as sitespeed.io does, or by zlib, as mitmproxy's `.zhar`; and by what is not read.
#[test]
fn compressed_recordings() {
    use std::io::Write;
    let folder = Folder::new("pages-compressed");
    let level = flate2::Compression::default();
    let text = har("h3");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), level);
    gz.write_all(text.as_bytes()).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    zlib.write_all(text.as_bytes()).unwrap();
    folder.write("plain.har", &text);
    folder.write("browsertime.har.gz", gz.finish().unwrap());
    folder.write("flow.zhar", zlib.finish().unwrap());
    let site = |name: &str| json(&folder, &[name])["survey"]["sites"][0].clone();
    let plain = site("plain.har");
    for (file, name) in [("browsertime.har.gz", "browsertime"), ("flow.zhar", "flow")] {
        let mut site = site(file);
        assert_eq!(site["name"], name);
        site["name"] = plain["name"].clone();
        assert_eq!(site, plain);
    }
    folder.write("page.har.zip", b"PK\x03\x04 and so on");
    let output = folder.analects(&["pages", "page.har.zip"]);
    let said = text_of(&output.stderr);
    assert!(
        said.contains("compressed by zip: unpack it first"),
        "{said}"
    );
    let output = folder.analects(&["pages", "~/page.har"]);
    let said = text_of(&output.stderr);
    assert!(said.contains("~ is not replaced here"), "{said}");
}

fn text_of(bytes: &[u8]) -> String {
    text(bytes)
        .replace(['\n', '|'], " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A proxy's recording: three visits ten minutes apart.
#[test]
fn a_recording_without_pages_says_what_it_is() {
    let folder = Folder::new("pages-by-pauses");
    let entry = |minute: u32, number: u32| {
        format!(
            r#"{{"startedDateTime": "2025-03-01T10:{minute:02}:00.{number:03}Z", "time": 50,
            "request": {{"url": "https://site{minute}.example/{number}", "httpVersion": "h2"}},
            "response": {{"status": 200, "content": {{"size": 1000}}}}}}"#
        )
    };
    let entries: Vec<String> = [0, 10, 20]
        .iter()
        .flat_map(|minute| (0..4).map(|number| entry(*minute, number * 50)))
        .collect();
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    folder.write("proxy-long.har", har);
    let output = folder.analects(&["pages", "proxy-long.har", "--format", "json"]);
    let survey: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = (0..3)
        .map(|site| survey["survey"]["sites"][site]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["proxy-long#1", "proxy-long#2", "proxy-long#3"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("names no pages") && said.contains("divide it into 3"),
        "{said}"
    );
}
