//! The place of results, and earlier files there, never cause a loss.

use crate::common::{Folder, text};
use std::path::Path;

const SCENARIO: &str = r#"name = "two"
duration = "1s"
disciplines = ["pfifo", "fq_codel"]
ecn = true

[link]
rate = "10mbit"
rtt = "20ms"

[[traffic]]
name = "flow"
kind = "bulk"
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("s.toml", SCENARIO);
    folder
}

fn ok(folder: &Folder, args: &[&str]) -> String {
    let output = folder.analects(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The message if nothing was run, in one line.
fn refusal(folder: &Folder, args: &[&str]) -> String {
    let output = folder.analects(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    let said = text(&output.stderr);
    let words = said.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().into_string().unwrap()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// Files anywhere below a folder.
fn files(folder: &Path) -> usize {
    let below = |entry: std::io::Result<std::fs::DirEntry>| match entry.unwrap().path() {
        path if path.is_dir() => files(&path),
        _ => 1,
    };
    std::fs::read_dir(folder).unwrap().map(below).sum()
}

#[test]
fn what_is_read_is_not_written() {
    let folder = folder("outputs-read");
    for command in [
        &["run", "s.toml", "--report", "s.toml"][..],
        &["run", "s.toml", "--report", "./s.toml"],
        &[
            "sweep",
            "s.toml",
            "--over",
            "link.rtt=10ms",
            "--report",
            "s.toml",
        ],
    ] {
        let said = refusal(&folder, command);
        assert!(said.contains("s.toml is the scenario"), "{said}");
    }
    folder.write("scenario.toml", SCENARIO);
    let said = refusal(&folder, &["run", "scenario.toml", "--out", "."]);
    assert!(said.contains("scenario.toml is the scenario"), "{said}");
    assert_eq!(
        std::fs::read_to_string(folder.0.join("s.toml")).unwrap(),
        SCENARIO
    );
}

#[test]
fn a_second_run_into_a_folder_replaces_the_first() {
    let folder = folder("outputs-again");
    ok(&folder, &["run", "s.toml", "--out", "o", "--seed", "1"]);
    let out = folder.0.join("o");
    folder.write("o/notes.txt", "mine");
    ok(
        &folder,
        &["run", "s.toml", "--out", "o", "--seed", "2", "-d", "codel"],
    );
    let expected = [
        "000-codel-seed2",
        "notes.txt",
        "plots",
        "report.html",
        "results.csv",
        "results.json",
        "scenario.toml",
        "store",
    ];
    assert_eq!(names(&out), expected);
}

/// An interrupted run goes on where it was: each result is kept when it is there.
#[test]
fn results_are_kept_in_the_folder_as_they_come() {
    let folder = folder("outputs-kept");
    ok(&folder, &["run", "s.toml", "--out", "o", "--repeat", "3"]);
    assert_eq!(files(&folder.0.join("o/store/results")), 6);
    ok(
        &folder,
        &[
            "sweep",
            "s.toml",
            "--over",
            "link.rtt=10ms,20ms",
            "--metric",
            "flow_rate",
            "--out",
            "w",
        ],
    );
    assert_eq!(
        names(&folder.0.join("w")),
        [
            "plots",
            "report.html",
            "results.csv",
            "results.json",
            "store"
        ]
    );
    assert_eq!(files(&folder.0.join("w/store/results")), 4);
}

#[test]
fn several_runs_unless_one_is_asked_for() {
    let folder = folder("outputs-repeat");
    let lines = |args: &[&str]| {
        let output = folder.analects_as_it_is(args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let table = lines(&["run", "s.toml"]);
    assert!(table.contains("10 runs each"), "{table}");
    let table = lines(&["run", "s.toml", "--repeat", "1"]);
    assert!(table.contains("one run each, so no intervals"), "{table}");
    let table = lines(&["run", "s.toml", "--log", "packets.csv"]);
    assert!(table.contains("one run each"), "{table}");
    let table = lines(&[
        "sweep",
        "s.toml",
        "--over",
        "link.rtt=10ms",
        "--metric",
        "flow_rate",
    ]);
    assert!(table.contains("10 runs each"), "{table}");
}

#[test]
fn what_is_so_or_not_is_a_boolean_in_json() {
    let folder = folder("outputs-booleans");
    let json = ok(&folder, &["run", "s.toml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let scenario = &json["scenario"];
    assert_eq!(scenario["ecn"], true);
    assert!(scenario["pacing"].is_boolean(), "{scenario}");
    assert!(!scenario.to_string().contains("\"no\""), "{scenario}");
}

#[test]
fn completion_knows_what_can_be_described() {
    let folder = folder("outputs-completion");
    for shell in ["bash", "zsh"] {
        let script = ok(&folder, &["completions", shell]);
        for name in ["fq_codel", "gcc", "page_stall", "disciplines"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let said = refusal(&folder, &["describe", "fq_codle"]);
    assert!(said.contains("did you mean fq_codel?"), "{said}");
}

#[test]
fn what_contradicts_or_is_not_modelled_is_said() {
    let folder = folder("outputs-contradictions");
    folder.write("t.txt", "0,5\n1,7\n");
    let run = |more: &[&str]| refusal(&folder, &[&["run", "s.toml"], more].concat());
    let said = run(&["--set", "link.trace=t.txt", "--set", "link.rate=5mbit"]);
    assert!(
        said.contains("--set link.trace says what it can carry"),
        "{said}"
    );
    let said = run(&["--set", "link.rate=20mbps"]);
    assert!(said.contains("\"20mbps\" is no rate"), "{said}");
    assert!(said.contains("tc reads mbps as megabytes"), "{said}");
    let said = run(&["--set", "link.rate=100000000000000000000mbit"]);
    assert!(said.contains("below 18 billion gbit"), "{said}");
    let said = run(&["--set", "traffic.flow.simulcast=3"]);
    assert!(said.contains("simulcast is not modelled"), "{said}");
    assert!(said.contains("kind = \"conference\""), "{said}");
    ok(&folder, &["run", "s.toml", "--set", "link.trace=t.txt"]);
}

#[test]
fn columns_are_those_that_are_asked_for() {
    let folder = folder("outputs-columns");
    let table = ok(&folder, &["run", "s.toml", "--columns", "drops,bulk_rate"]);
    let head = table.lines().find(|line| line.contains("discipline"));
    let words: Vec<&str> = head.unwrap().split_whitespace().collect();
    assert_eq!(words, ["discipline", "drops", "bulk", "Mbit/s"]);
    let said = refusal(&folder, &["run", "s.toml", "--columns", "drop"]);
    assert!(
        said.contains("--columns: there is no column \"drop\""),
        "{said}"
    );
    assert!(said.contains("did you mean drops?"), "{said}");
    let columns = ["run", "s.toml", "--columns", "bulk_rate,bulk_rate:flow"];
    let table = ok(&folder, &columns);
    let head = table.lines().find(|line| line.contains("discipline"));
    assert!(head.unwrap().contains("flow: bulk Mbit/s"), "{table}");
    let line = table.lines().find(|line| line.starts_with(" pfifo"));
    let figures: Vec<&str> = line.unwrap().split_whitespace().skip(1).collect();
    assert!(figures.len() == 2 && figures[0] == figures[1], "{table}");
    let said = refusal(&folder, &["run", "s.toml", "--columns", "stall:nobody"]);
    assert!(
        said.contains("--columns: there is no traffic or link \"nobody\""),
        "{said}"
    );
}

/// Below a discipline each entry that has any of the columns has a line: what a column of that entry says.
#[test]
fn lines_of_entries_are_those_of_their_columns() {
    let folder = folder("outputs-by-entry");
    let entries = r#"
[[traffic]]
name = "call"
kind = "call"

[[traffic]]
name = "names"
kind = "udp"
rate = "8kbit"
"#;
    folder.write("c.toml", format!("{SCENARIO}{entries}"));
    let run = |columns: &str, more: &[&str]| {
        let run = ["run", "c.toml", "--repeat", "2", "--columns", columns];
        ok(&folder, &[&run, more].concat())
    };
    let line = |table: &str, begin: &str| {
        let found = table.lines().find(|line| line.starts_with(begin));
        let found = found.unwrap_or_else(|| panic!("{begin:?}: {table}"));
        let words = found[begin.len()..].split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let table = run("frame_p95,bulk_rate,frame_p95:call", &["--by-entry"]);
    let own = line(&run("frame_p95:call,bulk_rate:flow", &[]), " pfifo");
    // A column of one entry says nothing of others; an entry with none of the columns has no line.
    assert_eq!(line(&table, "   call"), [&own[0], "-"], "{table}");
    assert_eq!(line(&table, "   flow"), ["-", &own[1]], "{table}");
    assert!(!table.contains("names"), "{table}");
    let plain = run("frame_p95,bulk_rate,frame_p95:call", &[]);
    assert_eq!(line(&table, " pfifo"), line(&plain, " pfifo"), "{table}");
    assert!(!plain.contains("   call"), "{plain}");
}

/// Figures that only a workload can observe, such as a conference's layers, are in CSV as they are
/// in JSON.
#[test]
fn figures_of_workloads_are_in_csv() {
    let folder = folder("figures-in-csv");
    let entry = "\n[[traffic]]\nname = \"all\"\nkind = \"conference\"\n";
    folder.write("c.toml", format!("{SCENARIO}{entry}"));
    let table = ok(
        &folder,
        &["run", "c.toml", "--repeat", "1", "--format", "csv"],
    );
    for figure in ["conference_switches.value", "conference_large_rate.p95"] {
        let line = format!("pfifo,1,,figures,all,{figure},");
        let found = table.lines().find_map(|found| found.strip_prefix(&line));
        let value = found.and_then(|rest| rest.strip_suffix(','));
        let value: f64 = value.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        assert!(value >= 0.0);
    }
}

#[test]
fn the_table_so_far_goes_to_standard_error() {
    let folder = folder("so-far");
    let run = |more: &[&str]| {
        let output = folder.analects(&[&["run", "s.toml", "--repeat", "3"], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (whole, silent) = run(&[]);
    assert_eq!(silent, "");
    let (same, so_far) = run(&["--watch"]);
    assert_eq!(same, whole);
    // The first run that is done is shown at once.
    let first = so_far.lines().next().unwrap();
    assert!(first.starts_with("1 of 6 runs so far. "), "{so_far}");
    assert!(so_far.contains("discipline"), "{so_far}");
}

/// With `--without`, the runs without that entry have a row beside those with it.
#[test]
fn runs_without_an_entry_have_a_row_of_their_own() {
    let folder = Folder::new("outputs-without");
    folder.write(
        "s.toml",
        "name = \"s\"\nduration = \"4s\"\ndisciplines = [\"pfifo\", \"fq_codel\"]\n[link]\nrate = \"5mbit\"\n\
         rtt = \"40ms\"\n[[traffic]]\nname = \"one\"\nkind = \"bulk\"\n[[traffic]]\nname = \"other\"\nkind = \"bulk\"\n",
    );
    let columns = ["--columns", "bulk_rate", "--repeat", "1"];
    let rows = |without: &[&str]| {
        let args = [&["run", "s.toml"], &columns[..], without].concat();
        let output = folder.analects(&args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let rows = table
            .lines()
            .skip_while(|line| !line.contains("bulk Mbit/s"))
            .skip(1);
        rows.map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|row| !row.is_empty())
        .collect::<Vec<_>>()
    };
    let plain = rows(&[]);
    let with = rows(&["--without", "other"]);
    let names: Vec<String> = with
        .iter()
        .map(|row| row[..row.len() - 1].join(" "))
        .collect();
    assert_eq!(
        names,
        ["pfifo", "without other", "fq_codel", "without other"]
    );
    // The rows of full runs are as before.
    assert_eq!([&with[0], &with[2]], [&plain[0], &plain[1]]);
    // Those without are those of a scenario that does not have it.
    let scenario = std::fs::read_to_string(folder.0.join("s.toml")).unwrap();
    let (one, _) = scenario.rsplit_once("[[traffic]]").unwrap();
    folder.write("s.toml", one);
    let alone = rows(&[]);
    let figure = |row: &[String]| row[row.len() - 1].clone();
    assert_eq!(
        [figure(&with[1]), figure(&with[3])],
        [figure(&alone[0]), figure(&alone[1])]
    );
    assert_ne!(figure(&with[2]), figure(&with[3]));
}
