//! Traces as they are read and told, and other forms that `analects import trace` makes traces of.

use crate::common::{Folder, text};
use std::io::Write;

const SCENARIO: &str = "name = \"t\"\nduration = \"3s\"\ndisciplines = [\"pfifo\"]\n\
    [link]\nrate = \"20mbit\"\nrtt = \"40ms\"\n[[traffic]]\nname = \"down\"\nkind = \"bulk\"\n";

fn gz(text: &str) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(text.as_bytes()).unwrap();
    to.finish().unwrap()
}

/// Status, and the words of standard error without its layout.
fn run(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let output = folder.analects(args);
    let said = text(&output.stderr).replace(['\n', '|'], " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code(), said)
}

fn with_trace(folder: &Folder, trace: &str) -> (Option<i32>, String) {
    run(
        folder,
        &["run", "t.toml", "--set", &format!("link.trace={trace}")],
    )
}

/// The same three samples as public data sets write them.
#[test]
fn traces_that_are_read_as_they_are() {
    let folder = Folder::new("trace-forms");
    folder.write("t.toml", SCENARIO);
    for (name, content) in [
        (
            "epoch.txt",
            "1289406399.5 3.1\n1289406400.5 2.4\n1289406401.5 2.9\n",
        ),
        ("header.csv", "time,mbps\n0,3.1\n1,2.4\n2,2.9\n"),
        ("twice.txt", "0 3.1\n1 2.4\n1 2.4\n2 2.9\n"),
        ("windows.txt", "\u{feff}0\t3.1\r\n1\t2.4\r\n2\t2.9\r\n"),
    ] {
        folder.write(name, content);
        let (code, said) = with_trace(&folder, name);
        let line = format!("{name}: 3 s, mean 2.8 Mbit/s, from 2.4 to 3.1");
        assert_eq!((code, said), (Some(0), line));
    }
    folder.write("plain.txt.gz", gz("0 3.1\n1 2.4\n2 2.9\n"));
    let (code, said) = with_trace(&folder, "plain.txt.gz");
    assert_eq!(code, Some(0));
    assert!(said.contains("3 s, mean 2.8 Mbit/s"), "{said}");
}

#[test]
fn what_is_no_trace_of_ours_names_what_reads_it() {
    let folder = Folder::new("trace-others");
    folder.write("t.toml", SCENARIO);
    for (name, content) in [
        ("six.log", "1289406399 549 59.85 10.78 248456 549\n"),
        ("semicolon.csv", "0;3,1\n1;2,4\n"),
        ("dates.csv", "2024-05-01 12:00:00.000,180.2\n"),
        ("pattern.json", "{\"uplink\": {}}"),
        ("kbit.csv", "time_ms,kbps\n0,3000\n"),
    ] {
        folder.write(name, content);
        let (code, said) = with_trace(&folder, name);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("import trace FILE"), "{said}");
    }
    folder.write("no-length.mahimahi", "0\n0\n0\n");
    let (code, said) = with_trace(&folder, "no-length.mahimahi");
    assert!(
        code == Some(2) && said.contains("how long the trace is"),
        "{said}"
    );
    let (_, said) = with_trace(&folder, "~/trace.txt");
    assert!(said.contains("~ is not replaced here"), "{said}");
}

/// Milliseconds and kbit/s: played as they stand, told, and doubted; read so when that is said.
#[test]
fn units_that_were_mixed_up_are_seen() {
    let folder = Folder::new("trace-units");
    folder.write("t.toml", SCENARIO);
    folder.write(
        "ms-and-kbit.txt",
        "0 3000\n1000 4000\n2000 2500\n3000 1000\n",
    );
    let (code, said) = with_trace(&folder, "ms-and-kbit.txt");
    assert_eq!(code, Some(0));
    assert!(
        said.starts_with("ms-and-kbit.txt: 4000 s, mean 2625 Mbit/s, from 1000 to 4000"),
        "{said}"
    );
    let hint = "`analects import trace FILE --time-unit ms --unit kbit`";
    assert!(said.contains(hint), "{said}");
    let units = ["--time-unit", "ms", "--unit", "kbit"];
    let trace = imported(&folder, "ms-and-kbit.txt", &units);
    assert_eq!(trace.0, "0 3\n1 4\n2 2.5\n3 1\n");
    // What `--set` names, and what the scenario names for another way of a link.
    folder.write(
        "up.toml",
        SCENARIO.replace("[[traffic]]", "up.trace = \"ms-and-kbit.txt\"\n[[traffic]]"),
    );
    let (_, said) = run(&folder, &["run", "up.toml"]);
    assert!(said.starts_with("ms-and-kbit.txt: 4000 s"), "{said}");
}

#[test]
fn one_unreadable_trace_of_a_folder_is_left_out_and_named() {
    let folder = Folder::new("trace-broken");
    folder.write("t.toml", SCENARIO);
    std::fs::create_dir(folder.0.join("traces")).unwrap();
    folder.write("traces/1.txt", "0 5\n");
    folder.write("traces/2.txt", "0 fast\n");
    folder.write("traces/3.txt", "0 6\n");
    let (code, said) = with_trace(&folder, "traces");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("traces/2.txt: left out: line 1: found \"fast\""),
        "{said}"
    );
    assert!(
        said.contains("traces/1.txt: 1 s") && said.contains("traces/3.txt: 1 s"),
        "{said}"
    );
    // Other ways not to be one: cut off, of another kind, a folder, without a word in it.
    let cut = gz("0 3.1\n1 2.4\n2 2.9\n");
    folder.write("traces/4.txt.gz", &cut[..cut.len() / 2]);
    folder.write("traces/5.txt", b"\x7fELF\x02\x01\x01\0\0");
    folder.write("traces/6.txt", "");
    std::fs::create_dir(folder.0.join("traces/7.txt")).unwrap();
    let (code, said) = with_trace(&folder, "traces");
    assert_eq!(code, Some(0), "{said}");
    for left in ["2.txt", "4.txt.gz", "5.txt", "6.txt"] {
        assert!(
            said.contains(&format!("traces/{left}: left out: ")),
            "{said}"
        );
    }
    let strict = ["run", "t.toml", "--set", "link.trace=traces", "--strict"];
    let (code, said) = run(&folder, &strict);
    assert!(code == Some(2) && said.contains("traces/2.txt"), "{said}");
    folder.write("traces/1.txt", "0 slow\n");
    folder.write("traces/3.txt", "-\n");
    let (code, said) = with_trace(&folder, "traces");
    assert!(code == Some(2) && said.contains("traces/1.txt"), "{said}");
}

/// What is printed, and what is told.
fn imported(folder: &Folder, file: &str, args: &[&str]) -> (String, String) {
    let output = folder.analects(&[&["import", "trace", file], args].concat());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{file}: {said}");
    (text(&output.stdout), said)
}

fn made(name: &str, content: &str, args: &[&str]) -> (String, String) {
    let folder = Folder::new(&format!("import-trace-{name}"));
    folder.write("file", content);
    imported(&folder, "file", args)
}

/// 248456 bytes in 549 ms, 197694 in 330, 231003 in 930.
#[test]
fn six_columns() {
    let log = "1289406399 549 59.85 10.78 248456 549\n1289406400 879 59.85 10.78 197694 330\n\
               1289406401 1809 59.85 10.78 231003 930\n";
    let ought = "0 3.62048816\n0.549 4.792581818\n0.879 1.987122581\n1.344 1.987122581\n";
    let (trace, said) = made("six", log, &[]);
    assert_eq!(trace, ought);
    assert!(said.contains("a 3G or 4G log of six columns"), "{said}");
    assert!(said.contains("file: 1.809 s, mean 2.995 Mbit/s"), "{said}");
    let asked = ["--time", "1", "--bytes", "5", "--ms", "6"];
    assert_eq!(made("six-asked", log, &asked).0, ought);
    // Ghent's count milliseconds since 1970.
    let ghent = log
        .replace("12894063", "14531217906")
        .replace("12894064", "14531217907");
    assert_eq!(made("six-ghent", &ghent, &[]).0, ought);
}

fn is_made(name: &str, content: &str, args: &[&str], ought: &str) {
    let (trace, said) = made(name, content, args);
    assert_eq!(trace, ought, "{name}: {said}");
    assert!(said.contains("rates from column"), "{name}: {said}");
}

#[test]
fn tables_of_many_forms() {
    let two = "0 180.2\n0.5 150.1\n";
    for (name, content, args, ought) in [
        (
            "dates",
            "timestamp,throughput_mbps\n2024-05-01 12:00:00.000,180.2\n2024-05-01 12:00:00.500,150.1\n",
            &[][..],
            two,
        ),
        (
            "zone",
            "time,Mbps\n2024-05-01T12:00:00Z,180.2\n2024-05-01T14:00:00.5+02:00,150.1\n",
            &[],
            two,
        ),
        (
            "spaces",
            "2024-05-01 12:00:00 180.2\n2024-05-01 12:00:00.5 150.1\n",
            &[],
            two,
        ),
        ("semicolons", "0;180,2\r\n0,5;150,1\r\n", &[], two),
        ("commas", "0 180,2\n0,5 150,1\n", &[], two),
        (
            "tabs",
            "\u{feff}Zeit [ms]\tRate (kbit/s)\n0\t180200\n500\t150100\n",
            &["--time", "1"],
            two,
        ),
        (
            "epoch-ms",
            "ts,bandwidth_kbps\n1714557600000,180200\n1714557600500,150100\n",
            &[],
            two,
        ),
        (
            "epoch-ns",
            "time (ns GMT),throughput_bps\n1714557600000000000,180200000\n1714557600500000000,150100000\n",
            &[],
            two,
        ),
        (
            "quoted",
            "\"time\",\"Throughput (MB/s)\"\n\"0\",\"22.525\"\n\"0.5\",\"18.7625\"\n",
            &[],
            two,
        ),
    ] {
        is_made(name, content, args, ought);
    }
}

/// As public data sets have them, and what options say.
#[test]
fn tables_of_data_sets() {
    let two = "0 180.2\n0.5 150.1\n";
    for (name, content, args, ought) in [
        // Raca's 5G: many columns, kbit/s without a word of it, a line without a measurement.
        (
            "raca",
            "Timestamp,Longitude,CellID,DL_bitrate,UL_bitrate,State\n2019.12.16_13.40.04,-8.4,11,180200,86,D\n\
             2019.12.16_13.40.05,-8.4,11,-,86,D\n2019.12.16_13.40.06,-8.4,11,150100,86,D\n",
            &[][..],
            "0 180.2\n2 150.1\n",
        ),
        (
            "uplink",
            "Timestamp,DL_bitrate,UL_bitrate\n00:00:01,1,180200\n00:00:01.5,1,150100\n",
            &["--rate", "UL_bitrate"],
            two,
        ),
        (
            "puffer",
            "time (ns GMT),session_id,cwnd,delivery_rate\n1714557600000000000,x,9,22525000\n1714557600500000000,x,9,18762500\n",
            &[],
            two,
        ),
        (
            "commas-in-times",
            "2024-05-01 12:00:00,000;180,2\n2024-05-01 12:00:00,500;150,1\n",
            &[],
            two,
        ),
        (
            "midnight",
            "23:59:59.75 180.2\n00:00:00.25 150.1\n",
            &[],
            two,
        ),
        (
            "every",
            "Throughput (Mbit/s)\n180.2\n150.1\n",
            &["--every", "500ms"],
            two,
        ),
        (
            "number",
            "a,b,c\n9,0,180200\n9,0.5,150100\n",
            &["--time", "2", "--rate", "c", "--unit", "kbit"],
            two,
        ),
    ] {
        is_made(name, content, args, ought);
    }
    let (_, said) = made("assumed", "0 180.2\n1 150.1\n", &[]);
    assert!(
        said.contains("in Mbit/s, which the file does not say (--unit)"),
        "{said}"
    );
}

#[test]
fn patterns_of_json() {
    // The last piece holds for two seconds.
    let ought = "0 3.1\n1 2.4\n2 2.4\n";
    let longer = r#"[{"duration": 1000, "capacity": 3100}, {"duration": 2000, "capacity": 2400}]"#;
    let model = |bw: [&str; 2], duration: [&str; 2]| {
        let pieces: Vec<String> = bw
            .iter()
            .zip(duration)
            .map(|(bw, duration)| {
                format!(r#"{{"StaticBwConfig": {{"bw": {bw}, "duration": {duration}}}}}"#)
            })
            .collect();
        format!(
            r#"{{"RepeatedBwPatternConfig": {{"pattern": [{}], "count": 0}}}}"#,
            pieces.join(",")
        )
    };
    let texts = model(
        [r#""3.1Mbps""#, r#""2400kbps""#],
        [r#""1s""#, r#""2000ms""#],
    );
    let numbers = model(
        [r#"{"gbps":0,"bps":3100000}"#, r#"{"gbps":0,"bps":2400000}"#],
        [r#"{"secs":1,"nanos":0}"#, r#"{"secs":2,"nanos":0}"#],
    );
    for (name, content) in [
        (
            "opennetlab",
            format!(r#"{{"type": "video", "uplink": {{"trace_pattern": {longer}}}}}"#),
        ),
        (
            "both",
            format!(
                r#"{{"uplink": {{"trace_pattern": []}}, "downlink": {{"trace_pattern": {longer}}}}}"#
            ),
        ),
        ("list", longer.to_owned()),
        (
            "sabre",
            longer
                .replace("duration", "duration_ms")
                .replace("capacity", "bandwidth_kbps"),
        ),
        ("rattan-texts", texts),
        ("rattan-numbers", numbers),
        (
            "many",
            r#"{"TraceBwConfig": {"pattern": [["1s", ["3.1Mbps"]], ["2s", ["2.4Mbps"]]]}}"#
                .to_owned(),
        ),
    ] {
        let (trace, said) = made(name, &content, &[]);
        assert_eq!(trace, ought, "{name}: {said}");
        assert!(
            said.contains("2 pieces of a duration and a rate"),
            "{name}: {said}"
        );
    }
    let both = r#"{"downlink": {"trace_pattern": []}, "uplink": {"trace_pattern": [{"duration": 1000, "capacity": 5000}]}}"#;
    assert_eq!(made("up", both, &["--up"]).0, "0 5\n");
}

/// Written, compressed, and played as it was converted.
#[test]
fn what_is_written_runs() {
    let folder = Folder::new("import-trace-out");
    folder.write("t.toml", SCENARIO);
    folder.write(
        "log.csv.gz",
        gz("timestamp,throughput_mbps\n2024-05-01 12:00:00,5\n2024-05-01 12:00:01,4\n"),
    );
    let args = ["import", "trace", "log.csv.gz", "--out", "line.txt"];
    let output = folder.analects(&args);
    assert_eq!(text(&output.stdout), "line.txt: written\n");
    let (code, said) = with_trace(&folder, "line.txt");
    assert_eq!(
        (code, &*said),
        (Some(0), "line.txt: 2 s, mean 4.5 Mbit/s, from 4 to 5")
    );
}

#[test]
fn what_is_not_understood_is_named() {
    let folder = Folder::new("import-trace-wrong");
    for (content, args, words) in [
        (
            "a,b,c\n1,2,3\n",
            &[][..],
            "which column is the rate? there are: 1 a, 2 b, 3 c",
        ),
        ("1,2,3\n", &[], "there are: 1 (1), 2 (2), 3 (3)"),
        (
            "time,mbps\n0,fast\n",
            &[],
            "line 2: found \"fast\" in column 2 \"mbps\", expected a number",
        ),
        (
            "time,mbps\nsoon,3\n",
            &[],
            "line 2: found \"soon\" in column 1 \"time\", expected a time",
        ),
        (
            "1 3\n0 3\n",
            &[],
            "line 2: its time is before that of the line before",
        ),
        (
            "7\n8\n",
            &[],
            "one column: Mahimahi's format is read as it is",
        ),
        ("", &[], "it has no lines"),
        ("time,mbps\n", &[], "names only"),
        (
            "0 3\n",
            &["--rate", "9"],
            "--rate \"9\": there is no such column",
        ),
        (
            "0 3\n",
            &["--unit", "furlongs"],
            "--unit \"furlongs\" is no unit of rates",
        ),
        (
            "0 3\n",
            &["--time-unit", "years"],
            "--time-unit \"years\" is no unit of times",
        ),
        ("0 3\n", &["--bytes", "2"], "--bytes 5 --ms 6"),
        ("0 0\n1 0\n", &[], "carries nothing"),
        ("{\"a\": 1}", &[], "a piece without a duration"),
        ("[5]", &[], "found 5, expected pieces"),
        ("{", &[], "expected JSON"),
        ("{\"NormalizedBwConfig\": {}}", &[], "draws its rates"),
        (
            "[{\"duration\": 0, \"capacity\": 5}]",
            &[],
            "found duration: 0",
        ),
    ] {
        folder.write("file", content);
        let (code, said) = run(&folder, &[&["import", "trace", "file"], args].concat());
        assert_eq!(code, Some(2), "{content:?}: {said}");
        assert!(said.contains(words), "no {words:?} in: {said}");
    }
}
