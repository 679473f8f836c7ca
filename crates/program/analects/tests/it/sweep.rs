//! `analects sweep`: the grid, its figures, and refusals.

use crate::common::{Folder, text};
use serde_json::Value;

/// A call, and a transfer that disturbs it.
const SCENARIO: &str = r#"name = "small"
duration = "3s"
disciplines = ["pfifo", "confucius"]

[link]
rate = "5mbit"
rtt = "40ms"

[[traffic]]
name = "call"
kind = "call"

[[traffic]]
name = "bulk"
kind = "bulk"
start = "1s"
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("s.toml", SCENARIO);
    folder
}

fn sweep(folder: &Folder, args: &[&str]) -> String {
    let args: Vec<&str> = ["sweep", "s.toml"].iter().chain(args).copied().collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

fn json(folder: &Folder, command: &[&str]) -> Value {
    let output = folder.analects(command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const BUFFERS: &[&str] = &["--over", "link.buffer=10p,40p,160p"];

#[test]
fn a_line_for_each_discipline_and_a_column_for_each_value() {
    let folder = folder("sweep-table");
    let table = sweep(&folder, BUFFERS);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1], "one run each, so no intervals");
    assert_eq!(lines[2], "mean stall, s");
    let words = |line: &'_ str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let head = "case link.buffer 10p link.buffer 40p link.buffer 160p";
    assert_eq!(words(lines[4]).join(" "), head);
    for (line, name) in lines[5..].iter().zip(["pfifo", "confucius"]) {
        assert_eq!((words(line).len(), words(line)[0].as_str()), (4, name));
    }
    assert_eq!(lines.len(), 7);
    // Another axis has rows of its own.
    let args = [BUFFERS, &["--over", "link.rtt=20ms,60ms"]].concat();
    let table = sweep(&folder, &args);
    assert_eq!(table.matches("link.rtt 60ms").count(), 2, "{table}");
}

/// Each point is the result of a run with these settings.
#[test]
fn a_point_is_the_run_of_its_settings() {
    let folder = folder("sweep-points");
    let args = [
        &["sweep", "s.toml", "--format", "json", "--seed", "7"],
        BUFFERS,
        &[
            "--over",
            "link.rtt=20ms,60ms",
            "--over",
            "disciplines.confucius.doubling=100ms,1s",
        ],
        &["--metric", "frame_max:call", "--against", "drops"],
    ];
    let all = json(&folder, &args.concat());
    let points = all["points"].as_array().unwrap();
    assert_eq!(points.len(), 3 * 2 * 2 * 2);
    let mut seen = Vec::new();
    for point in points {
        let at = |axis: usize| point["at"][axis].as_str().unwrap();
        let discipline = match point["discipline"].as_str().unwrap() {
            "confucius" => format!("confucius,doubling={}", at(2)),
            other => other.to_owned(),
        };
        let [buffer, rtt] =
            [("buffer", 0), ("rtt", 1)].map(|(key, axis)| format!("link.{key}={}", at(axis)));
        let args = [
            "run",
            "s.toml",
            "--seed",
            "7",
            "--format",
            "json",
            "--set",
            &buffer,
            "--set",
            &rtt,
            "-d",
            &discipline,
        ];
        let result = &json(&folder, &args)["results"][0];
        let max = &result["calls"][0]["frame_delay_ms"]["max"];
        assert_eq!(&point["value"]["value"], max, "{point}");
        let drops = result["links"][0]["drops"].as_f64();
        assert_eq!(point["against"]["value"].as_f64(), drops, "{point}");
        seen.push(max.to_string());
    }
    // The settings make a difference, the discipline's too.
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 12, "{seen:?}");
}

/// A control with a setting is a value, and each metric has a table, lines and a figure of its own.
#[test]
fn several_metrics_over_values_with_settings() {
    let folder = folder("sweep-metrics");
    let args = [
        "--over",
        "traffic.bulk.control=bbr,bbr,version=3",
        "--metric",
        "stall",
        "--metric",
        "bulk_rate",
        "-d",
        "pfifo",
    ];
    let table = sweep(&folder, &args);
    let shown = |what: &str| table.lines().any(|line| line.starts_with(what));
    assert!(
        shown("mean stall, s") && shown("mean bulk_rate, Mbit/s"),
        "{table}"
    );
    assert_eq!(table.matches("bbr,version=3").count(), 2, "{table}");
    let json = sweep(&folder, &[&args[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["others"][0]["name"], "bulk_rate");
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    for (point, control) in points.iter().zip(["bbr", "bbr,version=3"]) {
        assert_eq!(point["at"][0], control);
        let set = format!("traffic.bulk.control={control}");
        let run = [
            "run", "s.toml", "-d", "pfifo", "--format", "json", "--repeat", "1",
        ];
        let run = self::json(&folder, &[&run[..], &["--set", &set]].concat());
        let rate = &run["results"][0]["flows"][0]["goodput_mbps"];
        assert_eq!(&point["others"][0]["value"], rate);
    }
    let csv = sweep(&folder, &[&args[..], &["--format", "csv"]].concat());
    assert_eq!(csv.lines().count(), 1 + 2 * 2, "{csv}");
}

#[test]
fn the_same_whatever_runs_at_a_time() {
    let folder = folder("sweep-jobs");
    let args = [BUFFERS, &["--format", "json", "--repeat", "5"]].concat();
    let one = sweep(&folder, &[&args[..], &["--jobs", "1"]].concat());
    assert_eq!(one, sweep(&folder, &[&args[..], &["--jobs", "5"]].concat()));
    let json: Value = serde_json::from_str(&one).unwrap();
    assert!(json["points"][0]["value"]["ci95"].is_array());
}

/// The effect of the transfer: the stall of the run with it less that of the run without.
#[test]
fn control_runs_stand_beside_their_runs() {
    let folder = folder("sweep-control");
    let page = "\n[[traffic]]\nname = \"page\"\nkind = \"page\"\nsource = \"generated:1\"\nstart = \"1s\"\n";
    folder.write("s.toml", SCENARIO.to_owned() + page);
    let args = [
        &["sweep", "s.toml", "--format", "json", "--repeat", "2"],
        BUFFERS,
    ];
    let args = [
        &args.concat()[..],
        &["--metric", "caused", "--without", "page"],
    ]
    .concat();
    let points = json(&folder, &args);
    for (place, buffer) in ["10p", "40p", "160p"].iter().enumerate() {
        let set = format!("link.buffer={buffer}");
        let args = [
            "run",
            "s.toml",
            "--format",
            "json",
            "--repeat",
            "2",
            "-d",
            "pfifo",
            "--set",
            &set,
            "--without",
            "page",
        ];
        let results = &json(&folder, &args)["results"];
        let stall = |at: usize| results[at]["calls"][0]["stall_s"].as_f64().unwrap();
        let loads = |at: usize| results[at]["pages"].as_array().unwrap().len() as f64;
        let caused = |at: usize| 1e3 * (stall(at + 1) - stall(at)) / loads(at + 1);
        let ought = f64::midpoint(caused(0), caused(2));
        let is = points["points"][2 * place]["value"]["value"]
            .as_f64()
            .unwrap();
        assert!((is - ought).abs() < 1e-6, "{buffer}: {is} {ought}");
    }
}

/// 8 kB in 40 ms are 1.6 Mbit/s: a note, not a doubt, at the point where it is so.
#[test]
fn a_limit_that_is_not_the_networks_is_noted() {
    let folder = folder("sweep-limits");
    let args = ["-d", "pfifo", "--over", "receive_window=8kB,1MB"];
    let more = ["--format", "json", "--report", "r.html"];
    let json: Value = serde_json::from_str(&sweep(&folder, &[args, more].concat())).unwrap();
    let limit = &json["points"][0]["limits"][0];
    assert_eq!(
        (&limit["name"], &limit["by"]),
        (&"bulk".into(), &"receiver".into())
    );
    assert!(
        limit["seed"].is_u64() && limit["share"].as_f64().unwrap() > 0.5,
        "{limit}"
    );
    assert!(json["points"][1]["limits"].is_null(), "{json}");
    let note = "not the network's limit: pfifo, receive_window 8kB, ";
    let page = std::fs::read_to_string(folder.0.join("r.html")).unwrap();
    assert!(page.contains(&format!("<p>{note}")), "{page}");
    assert!(!page.contains("<strong>not"), "{page}");
    let table = sweep(&folder, &args);
    assert_eq!(table.matches(note).count(), 1, "{table}");
}

#[test]
fn csv_and_the_page_hold_every_point() {
    let folder = folder("sweep-csv");
    let more = [
        "--format",
        "csv",
        "--report",
        "r.html",
        "--statistic",
        "above:100",
    ];
    let args = [
        BUFFERS,
        &more,
        &["--metric", "frame_max", "-d", "confucius,doubling=1s"],
    ]
    .concat();
    let csv = sweep(&folder, &args);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "discipline,link.buffer,metric,statistic,unit,value,low,high,invalid"
    );
    assert_eq!(lines.len(), 4);
    // One call: the share of calls is all or nothing.
    for (line, buffer) in lines[1..].iter().zip(["10p", "40p", "160p"]) {
        let head = format!("\"confucius,doubling=1s\",{buffer},frame_max,above:100,%,");
        let rest = line.strip_prefix(&head).unwrap_or_else(|| panic!("{line}"));
        assert!(matches!(rest, "0,,," | "100,,,"), "{line}");
    }
    let page = std::fs::read_to_string(folder.0.join("r.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("160p"), "{page}");
    // No data for the metric asked for: no value.
    let csv = sweep(
        &folder,
        &[
            "--over",
            "link.rtt=9ms",
            "--metric",
            "plt",
            "--format",
            "csv",
        ],
    );
    assert!(csv.ends_with("confucius,9ms,plt,mean,ms,,,,\n"), "{csv}");
}

/// Arguments after `sweep s.toml`, and the expected parts of the message.
const REFUSED: &[(&[&str], &[&str])] = &[
    (&[], &["--over"]),
    (
        &["--over", "link.rtt"],
        &["--over link.rtt: there are no values", "0.5bdp,1bdp"],
    ),
    (&["--over", "link.rtt="], &["a value is empty", "comma"]),
    (&["--over", "link.rtt=1ms,,2ms"], &["a value is empty"]),
    (&["--over", "link.rtt=1ms,1ms"], &["1ms is there twice"]),
    (
        &["--over", "link.rtt=1ms", "--over", "link.rtt=2ms"],
        &["varies already"],
    ),
    (&["--over", "=1ms"], &["leads nowhere"]),
    (&["--over", "link.rrt=1ms"], &["rrt", "rtt"]),
    (&["--over", "link.rtt=1ms,soon"], &["link.rtt", "soon"]),
    (
        &["--over", "traffic.page.start=1s"],
        &["leads nowhere", "call"],
    ),
    (&["--over", "disciplines=pfifo,sfq"], &["--discipline"]),
    (
        &["--over", "disciplines.confucius=1"],
        &["a key is missing"],
    ),
    (
        &["--over", "disciplines.codel.target=1ms"],
        &["no such discipline is compared", "pfifo; confucius"],
    ),
    (
        &["--over", "disciplines.confucius.doubbling=1s"],
        &["doubbling", "doubling"],
    ),
    (
        &[
            "--over",
            "disciplines.confucius.doubling=1s",
            "-d",
            "confucius,doubling=2s",
        ],
        &["sets it already"],
    ),
    (
        &["--over", "link.rtt=1ms", "-d", "pfifo", "-d", "pfifo"],
        &["pfifo stands here twice"],
    ),
    (
        &["--over", "link.rtt=1ms", "--metric", "stalls"],
        &["no metric \"stalls\"", "page_stall"],
    ),
    (
        &["--over", "link.rtt=1ms", "--against", "delay"],
        &["--against", "no metric \"delay\""],
    ),
    (
        &["--over", "link.rtt=1ms", "--metric", "stall:cal"],
        &[
            "stall:cal: there is no traffic or link \"cal\"",
            "call, bulk, link",
        ],
    ),
    (
        &["--over", "link.rtt=1ms", "--metric", "caused"],
        &["--without"],
    ),
    (
        &["--over", "link.rtt=1ms", "--without", "page"],
        &["--without page", "call, bulk"],
    ),
    (
        &["--over", "link.rtt=1ms", "--statistic", "median"],
        &["\"median\" is no statistic", "p95"],
    ),
    (
        &["--over", "link.rtt=1ms", "--statistic", "above:nan"],
        &["\"above:nan\" is no statistic"],
    ),
    (
        &[
            "--over",
            "link.rtt=1ms,2ms,3ms,4ms,5ms,6ms",
            "--repeat",
            "100000",
        ],
        &["1200000 runs are more than 1000000"],
    ),
    (
        &["--over", "link.rtt=1ms", "--report", "none/r.html"],
        &["none/r.html cannot be written"],
    ),
];

#[test]
fn wrong_sweeps() {
    let folder = folder("wrong-sweeps");
    let words = |text: &str| -> String {
        let words = text.split_whitespace().filter(|word| *word != "|");
        words.collect()
    };
    for (args, says) in REFUSED {
        let args: Vec<&str> = ["sweep", "s.toml"].iter().chain(*args).copied().collect();
        let output = folder.analects(&args);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
        for part in *says {
            assert!(
                words(&message).contains(&words(part)),
                "{part:?}: {message}"
            );
        }
    }
}

#[test]
fn metrics_are_listed_with_their_units() {
    let folder = Folder::new("list-metrics");
    let list = text(&folder.analects(&["list", "metrics"]).stdout);
    for metric in measure::metric::Registry::builtin().iter() {
        let line = list
            .lines()
            .find(|line| line.split(' ').next() == Some(metric.name));
        assert!(
            line.is_some_and(|line| line.contains(metric.unit)),
            "{list}"
        );
    }
    assert!(list.lines().all(|line| line.len() <= 100), "{list}");
}
