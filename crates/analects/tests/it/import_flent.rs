//! `analects import flent`: files that can be worked out by hand, files that are none, and our own.

use crate::common::{Folder, text};
use serde_json::{Value, json};

/// A run of flent of 40 s: two downloads of 6 and 3 Mbit/s, an upload of 2, and a ping of 20 ms, from 30 on.
fn file() -> Value {
    let points = |value: f64| -> Vec<Value> { (0..200).map(|_| json!(value)).collect() };
    let mut pings = points(30.0);
    pings[60] = json!(20.0);
    pings[61] = Value::Null;
    json!({
        "version": 4,
        "metadata": { "NAME": "rrul", "TITLE": "by hand", "SERIES_META": {} },
        "x_values": (1..=200).map(|step| f64::from(step) * 0.2).collect::<Vec<_>>(),
        "results": {
            "TCP download BE": points(6.0),
            "TCP download BK": points(3.0),
            "TCP download sum": points(9.0),
            "TCP download avg": points(4.5),
            "TCP upload BE": points(2.0),
            "TCP upload sum": points(2.0),
            "TCP totals": points(11.0),
            "Ping (ms) ICMP": pings,
            "Ping (ms) avg": points(1.0),
        },
        "raw_values": {},
    })
}

fn import(folder: &Folder, file: &Value, args: &[&str]) -> (Option<i32>, String, String) {
    folder.write("run.flent.gz", file.to_string());
    let output = folder.analects(&[&["import", "flent", "run.flent.gz"], args].concat());
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| text(bytes));
    (output.status.code(), out, err)
}

#[test]
fn a_run_worked_out_by_hand() {
    let folder = Folder::new("import-flent-by-hand");
    let (code, told, _) = import(&folder, &file(), &[]);
    assert_eq!(code, Some(0));
    let scenario: toml::Table = told.parse().unwrap();
    // 9 and 2 Mbit/s of payload, with 52 bytes of headers for each 1448.
    let rate = |of: &toml::Value| of["rate"].as_str().unwrap().to_owned();
    let (link, traffic) = (&scenario["link"], scenario["traffic"].as_array().unwrap());
    assert_eq!(rate(link), "9.323mbit");
    assert_eq!(rate(&link["up"]), "2.072mbit");
    assert_eq!(link["rtt"].as_str(), Some("20.0ms"));
    assert_eq!(scenario["duration"].as_str(), Some("40s"));
    let entries: Vec<(&str, Option<i64>, Option<&str>)> = traffic
        .iter()
        .map(|entry| {
            let direction = entry.get("direction").and_then(toml::Value::as_str);
            let count = entry.get("count").and_then(toml::Value::as_integer);
            (entry["name"].as_str().unwrap(), count, direction)
        })
        .collect();
    let ought = [
        ("download", Some(2), Some("down")),
        ("upload", Some(1), Some("up")),
        ("ping", None, None),
    ];
    assert_eq!(entries, ought);
    assert!(told.contains("30.0 ms in the median, 30.0 at the 99th percentile"));
}

#[test]
fn rates_of_the_command_line_go_before_those_of_the_run() {
    let folder = Folder::new("import-flent-rates");
    let (_, told, _) = import(&folder, &file(), &["--down", "50mbit", "--up", "10mbit"]);
    let scenario: toml::Table = told.parse().unwrap();
    assert_eq!(scenario["link"]["rate"].as_str(), Some("50mbit"));
    assert_eq!(scenario["link"]["up"]["rate"].as_str(), Some("10mbit"));
}

/// What `run --flent` writes becomes a scenario much like the one it is of.
#[test]
fn our_own_file_comes_back() {
    let folder = Folder::new("import-flent-own");
    let scenario = r#"
        duration = "30s"
        disciplines = ["fq_codel"]
        link = { rate = "20mbit", rtt = "40ms", up = { rate = "5mbit" } }
        traffic = [
            { name = "down", kind = "bulk", count = 3 },
            { name = "up", kind = "bulk", direction = "up" },
            { name = "beat", kind = "udp", rate = "2.4kbit", packet = "60B", answer = "60B" },
        ]
    "#;
    folder.write("s.toml", scenario);
    let run = folder.analects(&["run", "s.toml", "--repeat", "1", "--flent", "r.flent.gz"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let args = ["import", "flent", "r.flent.gz", "--out", "back.toml"];
    let told = folder.analects(&args);
    assert!(told.status.success(), "{}", text(&told.stderr));
    assert!(
        text(&told.stdout).contains("analects run back.toml"),
        "{}",
        text(&told.stdout)
    );
    let back = std::fs::read_to_string(folder.0.join("back.toml")).unwrap();
    let table: toml::Table = back.parse().unwrap();
    let link = &table["link"];
    let within = |of: &toml::Value, least: &str, most: &str| {
        let [found, least, most] =
            [of.as_str().unwrap(), least, most].map(|text| text.parse::<units::Rate>().unwrap());
        assert!((least..most).contains(&found), "{back}");
    };
    within(&link["rate"], "18.5mbit", "20.5mbit");
    within(&link["up"]["rate"], "4.4mbit", "5.2mbit");
    let rtt: units::Duration = link["rtt"].as_str().unwrap().parse().unwrap();
    assert!((40..44).contains(&rtt.as_millis()), "{back}");
    assert_eq!(table["traffic"][0]["count"].as_integer(), Some(3));
    let columns = "bulk_rate,answer_p99:ping";
    let again = [
        "run",
        "back.toml",
        "-d",
        "fq_codel",
        "--repeat",
        "1",
        "--columns",
        columns,
    ];
    let again = folder.analects(&again);
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new("import-flent-wrong");
    let refused = |file: &Value, words: &str| {
        let (code, _, said) = import(&folder, file, &[]);
        assert_eq!(code, Some(2), "{said}");
        let flat = said.replace(['\n', '|'], " ");
        let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "no {words:?} in:\n{said}");
    };
    refused(&json!({ "log": {} }), "missing field");
    refused(&json!([1]), "expected metadata, x_values and results");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = file();
        change(&mut file);
        file
    };
    let without = |words: &'static str| {
        changed(&move |file: &mut Value| {
            let results = file["results"].as_object_mut().unwrap();
            results.retain(|name, _| !name.starts_with(words));
        })
    };
    refused(
        &without("Ping"),
        "it has no pings, only TCP download BE, TCP download BK",
    );
    refused(&without("TCP"), "it has no transfers, only Ping (ms) ICMP");
    refused(
        &changed(&|file| file["x_values"] = json!([0.2, 0.4])),
        "it has 0 s, expected 10",
    );
    refused(
        &changed(&|file| file["x_values"] = json!([1e300])),
        "expected 10 to 3600",
    );
    let (code, _, said) = import(&folder, &file(), &["--down", "fast"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--down fast"), "{said}");
}

/// Numbers and names that no flent writes give a scenario that runs, or a refusal.
#[test]
fn hostile_files() {
    let folder = Folder::new("import-flent-hostile");
    let try_one = |change: &dyn Fn(&mut Value)| {
        let mut file = file();
        change(&mut file);
        let (code, _, said) = import(&folder, &file, &["--out", "back.toml"]);
        match code {
            Some(2) => assert!(said.contains("run.flent.gz"), "{said}"),
            Some(0) => {
                let short = ["--set", "duration=1s", "--set", "warmup=0s"];
                let run = [
                    &["run", "back.toml", "-d", "pfifo", "--repeat", "1"],
                    &short[..],
                ];
                let output = folder.analects(&run.concat());
                assert!(output.status.success(), "{}", text(&output.stderr));
            }
            other => panic!("{other:?}: {said}"),
        }
    };
    for value in [
        json!(1e308),
        json!(-1e308),
        json!(0),
        json!(1e-300),
        Value::Null,
    ] {
        for name in ["TCP download BE", "TCP upload BE", "Ping (ms) ICMP"] {
            try_one(&|file| file["results"][name] = json!(vec![value.clone(); 200]));
            try_one(&|file| file["results"][name] = json!([value.clone()]));
        }
        try_one(&|file| file["x_values"] = json!(vec![value.clone(); 200]));
        try_one(&|file| file["x_values"][199] = value.clone());
    }
    try_one(&|file| file["metadata"]["NAME"] = json!("\"\n[link]\nrate = \"1kbit\""));
    try_one(&|file| file["metadata"]["TITLE"] = json!("\u{1b}[2J"));
    try_one(&|file| {
        for number in 0..3000 {
            file["results"][format!("TCP download BE::{number}")] = json!(vec![1.0; 200]);
        }
    });
}
