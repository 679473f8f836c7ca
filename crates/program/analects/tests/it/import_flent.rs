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

/// A series of 200 points.
fn points(value: f64) -> Value {
    json!(vec![value; 200])
}

/// How many transfers go each way in a scenario, and the line's rates.
fn transfers(scenario: &str) -> Vec<(String, i64, String)> {
    let scenario: toml::Table = scenario.parse().unwrap();
    let entries = scenario["traffic"].as_array().unwrap().iter();
    let entries = entries.filter(|entry| entry["kind"].as_str() == Some("bulk"));
    let link = &scenario["link"];
    entries
        .map(|entry| {
            let rate = match entry["direction"].as_str() {
                Some("up") => &link["up"]["rate"],
                _ => &link["rate"],
            };
            (
                entry["name"].as_str().unwrap().to_owned(),
                entry["count"].as_integer().unwrap(),
                rate.as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn ought(all: &[(&str, i64, &str)]) -> Vec<(String, i64, String)> {
    let owned =
        |(name, count, rate): &(&str, i64, &str)| ((*name).to_owned(), *count, (*rate).to_owned());
    all.iter().map(owned).collect()
}

/// Statistics of sockets beside each upload, and a fairness, whatever the file says of them.
#[test]
fn what_is_no_rate_is_no_transfer() {
    let folder = Folder::new("import-flent-statistics");
    let mut file = file();
    let results = file["results"].as_object_mut().unwrap();
    for flow in ["BE", "BE2", "BE3", "BE4"] {
        results.insert(format!("TCP upload {flow}"), points(2.5));
        for (of, value) in [
            ("tcp_cwnd", 40.0),
            ("tcp_rtt", 35.0),
            ("tcp_delivery_rate", 2.5),
            ("tcp_pacing_rate", 3.1),
        ] {
            results.insert(format!("TCP upload {flow}::{of}"), points(value));
        }
    }
    results.insert("TCP upload fairness".to_owned(), points(0.99));
    results["TCP upload sum"] = points(10.0);
    let (_, told, said) = import(&folder, &file, &[]);
    // 9 and 10 Mbit/s, with 1500 bytes for each 1448.
    let both = ought(&[("download", 2, "9.323mbit"), ("upload", 4, "10.359mbit")]);
    assert_eq!((transfers(&told), &*said), (both.clone(), ""));
    // Files before version 3 call a fairness Mbits/s.
    file["metadata"]["SERIES_META"] = json!({
        "TCP upload fairness": { "UNITS": "Mbits/s" },
        "TCP upload BE": { "UNITS": "Mbits/s", "MEAN_VALUE": 2.5 },
    });
    assert_eq!(transfers(&import(&folder, &file, &[]).1), both);
    // The file's own sum shows that a series is no transfer.
    file["results"]["TCP upload fresh"] = points(30.0);
    let (_, _, said) = import(&folder, &file, &[]);
    assert!(
        said.contains("uploads have 40.00 Mbit/s together, and 10.00 by the file's own sum"),
        "{said}"
    );
}

/// As `tcp_nup` has them: flows with numbers, which take a part of the file's time; the rest of it is
/// empty.
#[test]
fn flows_with_numbers_that_take_a_part_of_the_time() {
    let folder = Folder::new("import-flent-numbers");
    let mut file = file();
    let within = |value: f64, empty: f64| {
        let points = (0..200).map(|step| match step {
            50..=99 => json!(value),
            _ if empty == 0.0 => Value::Null,
            _ => json!(empty),
        });
        Value::from(points.collect::<Vec<_>>())
    };
    let mut results =
        json!({ "Ping (ms) ICMP": points(30.0), "TCP upload sum": within(12.0, 0.0) });
    let mut meta = json!({ "TCP upload sum": { "RUNNER": "SumRunner", "UNITS": "Mbits/s" } });
    for number in 1..=12 {
        let name = format!("TCP upload::{number}");
        results[&name] = within(1.0, 0.0);
        results[format!("{name}::tcp_cwnd")] = within(17.0, 17.0);
        meta[&name] = json!({ "RUNNER": "NetperfDemoRunner", "UNITS": "Mbits/s", "COMMAND": "netperf -t TCP_STREAM" });
        meta[format!("{name}::tcp_cwnd")] = json!({ "RUNNER": "NullRunner" });
    }
    file["results"] = results;
    file["metadata"]["SERIES_META"] = meta;
    let (_, told, said) = import(&folder, &file, &[]);
    assert_eq!(said, "");
    assert_eq!(transfers(&told), ought(&[("upload", 12, "12.431mbit")]));
}

/// As `tcp_nup` with many flows has them: each begins a little later, and has the line alone for most of its time.
/// What the file adds they never had together.
#[test]
fn flows_that_hardly_run_at_once() {
    let folder = Folder::new("import-flent-apart");
    let mut file = file();
    // In fifths of a second: one from 0 to 20 s, the other from 18 to 38 s, on a line of 10 Mbit/s.
    let flow = |begin: usize, end: usize| {
        let rate = |step| match step {
            90..=100 => json!(5.0),
            _ => json!(10.0),
        };
        let point = |step: usize| {
            if (begin..=end).contains(&step) {
                rate(step)
            } else {
                Value::Null
            }
        };
        Value::from((0..200).map(point).collect::<Vec<_>>())
    };
    let both = json!({
        "TCP upload::1": flow(0, 100),
        "TCP upload::2": flow(90, 190),
        "TCP upload sum": points(19.0),
        "Ping (ms) ICMP": points(30.0),
    });
    file["results"] = both.clone();
    let (_, told, said) = import(&folder, &file, &[]);
    assert_eq!(transfers(&told), ought(&[("upload", 2, "10.359mbit")]));
    assert!(
        said.contains(
            "uploads have 10.00 Mbit/s together, and 19.00 by the file's own sum, which adds what each had in \
             its own time: they ran all at once from 18.2 to 20.2 s only"
        ),
        "{said}"
    );
    // netperf reports at uneven times: what lacks between two values is no zero, and counts for as long as it lasts.
    file["results"]["TCP upload::1"][95] = Value::Null;
    assert_eq!(transfers(&import(&folder, &file, &[]).1)[0].2, "10.359mbit");
    // Of those that never meet the whole time counts, in which one of them ran at a time.
    file["results"] = both;
    file["results"]["TCP upload::2"] = flow(101, 190);
    let (_, _, said) = import(&folder, &file, &[]);
    assert!(said.contains("they never ran all at once"), "{said}");
}

/// As tests of congestion controls name them, beside a flood and a call.
#[test]
fn a_direction_from_the_command_and_a_flood_that_is_none() {
    let folder = Folder::new("import-flent-command");
    let mut file = file();
    file["results"] = json!({
        "TCP bbr 1": points(3.0),
        "TCP cubic 2": points(4.0),
        "TCP unknown": points(5.0),
        "UDP upload": points(50.0),
        "VoIP::bitrate": points(73.0),
        "VoIP::delay": points(12.5),
        "Ping (ms) ICMP": vec![Value::Null; 200],
    });
    let ran = |runner: &str, command: &str| json!({ "RUNNER": runner, "UNITS": "Mbits/s", "COMMAND": command });
    file["metadata"]["SERIES_META"] = json!({
        "TCP bbr 1": ran("NetperfDemoRunner", "netperf -P 0 -t TCP_STREAM -l 60"),
        "TCP cubic 2": ran("NetperfDemoRunner", "netperf -P 0 -t TCP_MAERTS -l 60"),
        "UDP upload": ran("IperfCsvRunner", "iperf -u -b 50M"),
    });
    let (_, told, said) = import(&folder, &file, &[]);
    let both = ought(&[("download", 1, "4.144mbit"), ("upload", 1, "3.108mbit")]);
    assert_eq!(transfers(&told), both);
    assert!(
        said.contains("left out, for it is UDP or has no direction: TCP unknown, UDP upload"),
        "{said}"
    );
    // Twice 12.5 ms, since all pings were lost.
    let scenario: toml::Table = told.parse().unwrap();
    assert_eq!(scenario["link"]["rtt"].as_str(), Some("25.0ms"));
    assert!(
        told.contains("The round trip is the shortest delay of the call, doubled"),
        "{told}"
    );
}

#[test]
fn a_round_trip_of_a_run_without_pings() {
    let folder = Folder::new("import-flent-rtt");
    let mut file = file();
    file["results"]
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name.starts_with("TCP"));
    let rtt = |told: &str| {
        let scenario: toml::Table = told.parse().unwrap();
        scenario["link"]["rtt"].as_str().unwrap().to_owned()
    };
    let (_, told, _) = import(&folder, &file, &["--rtt", "20ms"]);
    assert_eq!(rtt(&told), "20.0ms");
    assert!(told.contains("The round trip is not the file's"), "{told}");
    assert!(told.contains("The run has no round trips"), "{told}");
    for (name, value, ought) in [
        ("HTTP latency", 41.0, "41.0ms"),
        ("HTTP latency::2", 39.0, "39.0ms"),
        ("VoIP::delay", 17.0, "34.0ms"),
        ("TCP upload BE::tcp_rtt", 33.0, "33.0ms"),
        ("Ping (ms) UDP EF", 32.0, "32.0ms"),
    ] {
        // Each is nearer to a ping than those before it.
        file["results"][name] = points(value);
        assert_eq!(rtt(&import(&folder, &file, &[]).1), ought, "{name}");
    }
    assert_eq!(rtt(&import(&folder, &file, &["--rtt", "50ms"]).1), "50.0ms");
    for wrong in ["0ms", "20", "1h"] {
        let (code, _, said) = import(&folder, &file, &["--rtt", wrong]);
        assert!(code == Some(2) && said.contains("--rtt"), "{said}");
    }
}

#[test]
fn hosts_at_several_distances_are_told() {
    let folder = Folder::new("import-flent-hosts");
    let mut file = file();
    file["results"]
        .as_object_mut()
        .unwrap()
        .remove("Ping (ms) ICMP");
    file["results"]["Ping (ms) ICMP1 near.example"] = points(10.0);
    file["results"]["Ping (ms) ICMP2 far.example"] = points(200.0);
    let (_, _, said) = import(&folder, &file, &[]);
    assert!(
        said.contains("its hosts are 10.0 to 200.0 ms away; here all are 10.0 ms away"),
        "{said}"
    );
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
        "it has no round trips, only TCP download BE, TCP download BK",
    );
    refused(
        &without("Ping"),
        "help: say the line's round trip, such as --rtt 20ms",
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
    assert!(said.contains("'fast' for '--down <RATE>'"), "{said}");
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
