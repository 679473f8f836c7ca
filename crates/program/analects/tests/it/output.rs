//! Output for other programs: JSON, CSV, and the folder of `--out`.

use crate::common::{Folder, text};
use serde_json::Value;

/// A call, a page that ends and one that does not, a transfer that ends and one that does not.
const SCENARIO: &str = r#"name = "all kinds"
duration = "3s"
disciplines = ["fq_codel,target=4ms", "pfifo"]

[link]
rate = "10mbit"
rtt = "40ms"

[link.up]
rate = "2mbit"

[[traffic]]
name = "call"
kind = "call"

[[traffic]]
name = "page"
kind = "page"
source = "page.har"
interval = "2900ms"

[[traffic]]
name = "short"
kind = "bulk"
size = "10kB"
count = 2

[[traffic]]
name = "long"
kind = "bulk"
"#;

/// One request over HTTP/2, of 50 kB.
const HAR: &str = r#"{"log": {"entries": [{"startedDateTime": "2024-01-01T00:00:00Z", "time": 10,
"request": {"url": "https://example.org/"}, "response": {"status": 200, "bodySize": 50000}}]}}"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("s.toml", SCENARIO);
    folder.write("page.har", HAR);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> String {
    let args: Vec<&str> = ["run", "s.toml"].iter().chain(args).copied().collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // What was understood of traces is said, and nothing else.
    let said = text(&output.stderr);
    let other = said.lines().find(|line| !line.contains(" Mbit/s, from "));
    assert_eq!(other, None, "{said}");
    text(&output.stdout)
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

/// Whether `value` has all the keys in `names`.
fn has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(
            keys(value).contains(name),
            "{name} is not among {:?}",
            keys(value)
        );
    }
}

#[test]
fn the_document_has_the_names_that_others_rely_on() {
    let folder = folder("json-names");
    let json: Value = serde_json::from_str(&run(&folder, &["--format", "json"])).unwrap();
    assert_eq!(keys(&json), ["engine", "results", "scenario", "version"]);
    let version = json["version"].as_str().unwrap();
    assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
    assert_eq!(json["engine"], "sim");
    assert_eq!(json["scenario"]["link"]["rate"], "10mbit");
    assert_eq!(
        json["scenario"]["traffic"][0]["fps"], 30,
        "defaults are written out"
    );
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["discipline"], "fq_codel,target=4ms");
    for result in results {
        let names = [
            "discipline",
            "seed",
            "variant",
            "calls",
            "pages",
            "flows",
            "links",
            "jfi",
            "notes",
        ];
        has(result, &names);
    }
}

#[test]
fn each_kind_of_entry_has_its_figures() {
    let folder = folder("json-figures");
    let json: Value = serde_json::from_str(&run(&folder, &["--format", "json"])).unwrap();
    let result = &json["results"][0];
    let call = &result["calls"][0];
    has(
        call,
        &[
            "name",
            "control",
            "stall_s",
            "frames",
            "frames_late",
            "frames_lost",
        ],
    );
    has(
        call,
        &[
            "frame_delay_ms",
            "low_fps_events",
            "freezes",
            "goodput_mbps",
        ],
    );
    assert_eq!(keys(&call["frame_delay_ms"]), ["max", "p50", "p95", "p99"]);
    assert_eq!(keys(&call["sojourn_ms"]), ["max", "p50", "p95", "p99"]);
    let page = &result["pages"][0];
    has(
        page,
        &[
            "name",
            "plt_ms",
            "requests",
            "bytes",
            "connections",
            "stall_s",
            "frame_max_ms",
        ],
    );
    assert_eq!(
        (&page["requests"], &page["connections"]),
        (&1.into(), &1.into())
    );
    let flow = &result["flows"][0];
    assert_eq!(
        keys(flow),
        [
            "bytes",
            "control",
            "fct_ms",
            "goodput_mbps",
            "name",
            "sojourn_ms"
        ]
    );
    let links = result["links"].as_array().unwrap();
    assert_eq!(
        (&links[0]["name"], &links[1]["name"]),
        (&"link".into(), &"link-up".into())
    );
    has(
        &links[0],
        &[
            "name",
            "utilization",
            "sojourn_ms",
            "drops",
            "marks",
            "packets",
            "occupancy",
            "moves",
            "residence",
        ],
    );
    assert_eq!(keys(&links[0]["sojourn_ms"]), ["max", "mean", "p95"]);
    assert_eq!(
        keys(&links[0]["backlog"]),
        ["max_packets", "mean_bytes", "mean_packets"]
    );
}

/// Paths of all null fields, with entries named as in notes.
fn nulls(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(path.to_owned()),
        Value::Array(items) => {
            for item in items {
                let name = item["name"].as_str().unwrap_or_default();
                let load = item["load"].as_u64().map(|load| format!(".{load}"));
                nulls(
                    item,
                    &format!("{path}.{name}{}", load.unwrap_or_default()),
                    found,
                );
            }
        }
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                nulls(inner, &path, found);
            }
        }
        _ => {}
    }
}

#[test]
fn what_is_null_has_a_note() {
    let folder = folder("json-notes");
    // All kinds of null: no transfer ends in half a round trip, and a frame that was just sent has
    // no delay yet.
    let cases: [&[&str]; 3] = [
        &[],
        &["--set", "link.rtt=20s"],
        &["--set", "traffic.call.start=2990ms"],
    ];
    let mut all = Vec::new();
    for args in cases {
        let args: Vec<&str> = args.iter().chain(&["--format", "json"]).copied().collect();
        let json: Value = serde_json::from_str(&run(&folder, &args)).unwrap();
        for result in json["results"].as_array().unwrap() {
            let mut found = Vec::new();
            nulls(result, "", &mut found);
            let notes = result["notes"].as_array().unwrap();
            for path in &found {
                let about = |note: &Value| {
                    let about = note["about"].as_str().unwrap();
                    path == about || path.starts_with(&format!("{about}."))
                };
                assert!(notes.iter().any(about), "{path} has no note: {notes:?}");
            }
            assert!(
                notes
                    .iter()
                    .all(|note| !note["text"].as_str().unwrap().is_empty())
            );
            all.extend(found);
        }
    }
    for path in [
        "flows.long.fct_ms",
        "pages.page.0.plt_ms",
        "calls.call.frame_delay_ms.p50",
    ] {
        assert!(
            all.iter().any(|found| found == path),
            "{path} is not among {all:?}"
        );
    }
}

/// Splits a line of CSV (RFC 4180).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn csv_is_a_table_of_numbers() {
    let folder = folder("csv");
    let csv = run(
        &folder,
        &["--format", "csv", "--repeat", "2", "--set", "link.rtt=50ms"],
    );
    let mut lines = csv.lines().map(fields);
    let head = [
        "discipline",
        "seed",
        "variant",
        "of",
        "name",
        "figure",
        "value",
        "invalid",
    ];
    assert_eq!(lines.next().unwrap(), head);
    let mut figures = 0;
    for line in lines {
        assert_eq!(line.len(), head.len(), "{line:?}");
        assert!(
            line[6].is_empty() || line[6].parse::<f64>().is_ok(),
            "{line:?}"
        );
        assert!(["1", "2"].contains(&line[1].as_str()));
        assert_eq!(line[2], "link.rtt=50ms");
        figures += usize::from(line[5] == "stall_s" && line[3] == "calls");
    }
    assert_eq!(figures, 4, "two disciplines, two seeds");
}

#[test]
fn csv_has_a_line_for_each_flow_and_class() {
    let folder = folder("csv-classes");
    let csv = run(
        &folder,
        &["--format", "csv", "-d", "confucius", "-d", "pfifo"],
    );
    let value = |discipline: &str, figure: &str| {
        let line = csv.lines().map(fields).find(|line| {
            let names = [&line[0], &line[3], &line[4], &line[5]];
            names == [discipline, "links", "link", figure]
        });
        line.map(|line| line[6].clone())
    };
    let share = |class| value("confucius", &format!("residence.call.{class}"));
    let shares = ["new", "1", "2", "3"].map(|class| share(class).unwrap());
    let sum: f64 = shares
        .iter()
        .map(|share| share.parse::<f64>().unwrap())
        .sum();
    assert!((0.9..1.0 + 1e-9).contains(&sum), "{shares:?}");
    assert!(value("confucius", "residence.long.1").is_some());
    assert!(
        value("confucius", "residence.short-1.1").is_none(),
        "it ends"
    );
    assert!(value("confucius", "moves").unwrap().parse::<u64>().is_ok());
    assert_eq!(value("pfifo", "moves").as_deref(), Some(""));
}

#[test]
fn the_folder_holds_everything_and_can_be_run_again() {
    let folder = folder("out");
    let args = [
        "--seed",
        "7",
        "--set",
        "traffic.call.fps=25",
        "--format",
        "json",
    ];
    let first = run(
        &folder,
        &[&args[..], &["--why", "--out", "out", "--report", "r.html"]].concat(),
    );
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert_eq!(read("out/results.json"), first);
    assert!(read("out/results.csv").starts_with("discipline,seed,"));
    assert_eq!(read("out/report.html"), read("r.html"));
    let frames = read("out/plots/frames-call.csv");
    assert!(frames.starts_with("series,mark,part,x,x_low,x_high,y,y_low,y_high\n"));
    assert!(read("out/plots/frames-call.svg").starts_with("<svg xmlns="));
    let plots: Value = serde_json::from_str(&read("out/plots/plots.json")).unwrap();
    assert!(!plots.as_array().unwrap().is_empty() && !read("out/plots/plot.py").is_empty());
    for (run, series) in [
        ("000-fq_codel-target-4ms-seed7", true),
        ("001-pfifo-seed7", true),
    ] {
        for file in ["frames.csv", "share.csv", "sojourn.csv", "classes.csv"] {
            let lines = read(&format!("out/{run}/{file}")).lines().count();
            assert!(
                lines > 1 || file == "classes.csv" || !series,
                "{run}/{file}"
            );
        }
    }
    let scenario = read("out/scenario.toml");
    let heading = scenario.lines().next().unwrap();
    let version = format!("# analects {}", env!("CARGO_PKG_VERSION"));
    assert!(
        heading.starts_with(&version) && heading.contains(", engine sim"),
        "{heading}"
    );
    assert!(scenario.contains("fps = 25\n") && scenario.contains("key_factor = 4\n"));
    assert!(scenario.contains("#   target = 4ms  (set)"));
    // A second run has the same output, except for the settings of the command line.
    folder.write("s.toml", scenario);
    let again = run(&folder, &["--seed", "7", "--format", "json", "--why"]);
    let mut both = [first, again].map(|text| serde_json::from_str::<Value>(&text).unwrap());
    for json in &mut both {
        for result in json["results"].as_array_mut().unwrap() {
            result["variant"] = Value::Null;
        }
    }
    assert_eq!(both[0], both[1]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_however_many_run_at_a_time() {
    let folder = folder("same-bytes");
    let with = |jobs| {
        run(
            &folder,
            &["--format", "json", "--repeat", "3", "--jobs", jobs],
        )
    };
    assert_eq!(with("1"), with("4"));
}

#[test]
fn a_table_has_a_line_for_each_discipline() {
    let folder = folder("table");
    let table = run(&folder, &[]);
    assert!(table.starts_with("all kinds: "), "{table}");
    for name in ["fq_codel,target=4ms", "pfifo"] {
        assert!(
            table
                .lines()
                .any(|line| line.trim_start().starts_with(name)),
            "{table}"
        );
    }
}

#[test]
fn each_trace_of_a_folder_is_a_variant() {
    let folder = folder("variants");
    std::fs::create_dir(folder.0.join("traces")).unwrap();
    folder.write("traces/9.txt", "0 8\n");
    folder.write("traces/10.txt", "0 6\n");
    let args = [
        "--set",
        "link.trace=traces",
        "-d",
        "pfifo",
        "--format",
        "json",
    ];
    let json: Value = serde_json::from_str(&run(&folder, &args)).unwrap();
    let of = |index: usize| json["results"][index]["variant"]["trace"].as_str().unwrap();
    assert_eq!((of(0), of(1)), ("traces/9.txt", "traces/10.txt"));
}

#[test]
fn several_pages_at_once_are_told_apart() {
    let folder = folder("pages");
    let args = [
        "--set",
        "traffic.page.count=3",
        "-d",
        "pfifo",
        "--format",
        "json",
    ];
    let json: Value = serde_json::from_str(&run(&folder, &args)).unwrap();
    let pages = json["results"][0]["pages"].as_array().unwrap();
    for name in ["page-1", "page-2", "page-3"] {
        let first = pages
            .iter()
            .find(|page| page["name"] == name && page["load"] == 0);
        assert_eq!(first.unwrap()["requests"], 1, "{name}");
    }
}

/// The scenario that is written is the whole one, including the traffic that control runs leave
/// out.
#[test]
fn control_runs_leave_nothing_out_of_the_scenario() {
    let folder = folder("whole-scenario");
    run(&folder, &["--out", "plain"]);
    run(&folder, &["--out", "with", "--without", "short"]);
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert_eq!(read("plain/scenario.toml"), read("with/scenario.toml"));
}
