//! A parameter of one of our disciplines is the same in Rust, in its kernel module, in tc's plugin, in
//! the manual page and here: name, unit, range and default.
//!
//! The module's policy, defaults and words of tc are generated from one list,
//! `kernel/*/*_params.h`, which `kernel/test/declared.c` prints; tc's plugin is queried itself.
//!
//! An executable of its own: a child between its fork and its exec holds the locks of the journals that
//! the other tests open and close.

use netcfg::Discipline;
use netcfg::tc::{Setting, Spelling};
use qdisc::Registry;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use units::param::{Spec, Value};
use units::{Bytes, Choice, Duration, Rate};

const OURS: [&str; 3] = ["confucius", "mencius", "floq"];

/// Kinds in C that a kind in Rust may be.
fn kinds(kind: &str) -> &'static [&'static str] {
    match kind {
        "count" => &["NUMBER", "PACKETS", "PERCENT", "SIZE"],
        "size" => &["SIZE"],
        "duration" => &["TIME"],
        "yes or no" => &["FLAG"],
        _ => &["CHOICE", "OWN"],
    }
}

/// A line of a list in C.
#[derive(Debug, Clone)]
struct Listed {
    word: String,
    which: String,
    kind: String,
    range: (i64, i64),
    default: i64,
    written: String,
}

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kernel")
}

/// Compiles a C program for the test of this name.
fn compile(test: &str, flags: &[&str], sources: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let status = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
        .current_dir(kernel())
        .args(["-std=gnu11", "-O1"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .args(sources)
        .status();
    assert!(status.unwrap().success(), "{sources:?}");
    program
}

/// The list of a discipline in C.
fn listed(program: &Path, discipline: &str) -> Vec<Listed> {
    let printed = Command::new(program).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let lines = printed.lines().map(|line| line.splitn(8, ' ').collect());
    let ours = lines.filter(|words: &Vec<&str>| words[0] == discipline);
    ours.map(|words| Listed {
        word: words[1].to_owned(),
        which: words[2].to_owned(),
        kind: words[3].to_owned(),
        range: (words[4].parse().unwrap(), words[5].parse().unwrap()),
        default: words[6].parse().unwrap(),
        written: words[7].to_owned(),
    })
    .collect()
}

fn specs(discipline: &str) -> &'static [Spec] {
    let registry = Registry::<()>::builtin();
    registry.get(discipline).unwrap().params
}

/// The kernel's value of a parameter's text: microseconds, bytes, bytes per second, numbers.
fn value(spec: &Spec, text: &str) -> Option<i64> {
    let number = match spec.kind {
        "duration" => Duration::parse(text).unwrap().as_nanos() / 1000,
        "size" => Bytes::parse(text).unwrap().get(),
        "yes or no" => u64::from(bool::parse(text).unwrap()),
        "count" => u64::parse(text).unwrap(),
        "signed count" => return Some(text.parse().unwrap()),
        "rate or unlimited" if text == "unlimited" => 0,
        "rate or unlimited" => Rate::parse(text).unwrap().as_bits() / 8,
        _ => return None,
    };
    Some(number.try_into().unwrap())
}

/// Differences between Rust and C in a parameter; none if they agree.
fn differences(spec: &Spec, other: &Listed) -> Vec<String> {
    let mut found = Vec::new();
    if !kinds(spec.kind).contains(&other.kind.as_str()) {
        found.push(format!("unit: {} and {}", spec.kind, other.kind));
    }
    if let (Some((least, most)), "core" | "own") = (spec.range, other.which.as_str())
        && let (Some(least), Some(most)) = (value(spec, least), value(spec, most))
        && (least, most) != other.range
    {
        found.push(format!("range: {:?} and {:?}", (least, most), other.range));
    }
    let name = spec.default.to_uppercase().replace('-', "_");
    let same = match value(spec, spec.default) {
        Some(default) => default == other.default,
        None if other.kind == "CHOICE" => other.written.ends_with(&format!("_{name}")),
        // A list of numbers, which the module's own code has: the manual page is asked.
        None => true,
    };
    if !same {
        found.push(format!("default: {} and {}", spec.default, other.written));
    }
    found
}

#[test]
fn rust_and_the_kernels_list_declare_the_same() {
    let program = compile("declared", &[], &["test/declared.c"]);
    for discipline in OURS {
        let listed = listed(&program, discipline);
        let names = |around: bool| -> BTreeSet<&str> {
            let of = listed.iter().filter(|it| (it.which == "around") == around);
            of.map(|it| it.word.as_str()).collect()
        };
        let spelling = Spelling::of(discipline).unwrap();
        let declared: BTreeSet<_> = specs(discipline).iter().map(|spec| spec.name).collect();
        let around: BTreeSet<_> = spelling.kernel().map(|setting| setting.key()).collect();
        assert_eq!(declared, names(false), "{discipline}: in Rust, in C");
        assert_eq!(around, names(true), "{discipline}: in netcfg, in C");
        for spec in specs(discipline) {
            let other = listed.iter().find(|it| it.word == spec.name).unwrap();
            let found = differences(spec, other);
            assert!(found.is_empty(), "{discipline} {}: {found:?}", spec.name);
        }
    }
}

/// The test above can fail: for a name it does by itself, for all else here.
#[test]
fn every_kind_of_drift_is_found() {
    let spec = specs("mencius").iter().find(|spec| spec.name == "low");
    let spec = spec.unwrap();
    let same = Listed {
        word: "low".to_owned(),
        which: "core".to_owned(),
        kind: "TIME".to_owned(),
        range: (1000, 1_000_000),
        default: 20_000,
        written: "20000".to_owned(),
    };
    assert_eq!(differences(spec, &same), [""; 0]);
    let mut drifts = [(); 4].map(|()| same.clone());
    drifts[0].kind = "SIZE".to_owned();
    drifts[1].range.0 = 999;
    drifts[2].range.1 = 1_000_001;
    drifts[3].default = 20;
    for (drift, what) in drifts.iter().zip(["unit", "range", "range", "default"]) {
        let found = differences(spec, drift);
        assert!(found.len() == 1 && found[0].starts_with(what), "{found:?}");
    }
    let hosts = specs("mencius").iter().find(|spec| spec.name == "hosts");
    let other = Listed {
        kind: "CHOICE".to_owned(),
        written: "TC_MENCIUS_HOSTS_SOURCE".to_owned(),
        ..same
    };
    assert_eq!(differences(hosts.unwrap(), &other).len(), 1);
}

/// tc's plugin of a discipline, with a small tc around it that prints the options it received.
fn plugin(discipline: &str, test: &str) -> PathBuf {
    let answer = format!("-DANSWER=\"answer_{discipline}.h\"");
    let sources = [
        format!("tc/q_{discipline}.c"),
        format!("tc/q_{discipline}_stats.c"),
        "tc/tests/small_tc.c".to_owned(),
        "tc/tc_words.c".to_owned(),
        "tc/tc_figures.c".to_owned(),
        "tc/tc_print.c".to_owned(),
    ];
    let flags = [&format!("-DDISCIPLINE={discipline}"), answer.as_str()];
    let name = format!("{discipline}-{test}");
    compile(&name, &flags, &sources.each_ref().map(String::as_str))
}

fn told(plugin: &Path, words: &str) -> Output {
    let words = words.split_whitespace();
    Command::new(plugin).args(words).output().unwrap()
}

/// A number as tc and its manual pages write it.
fn number(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-');
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: i64 = digits.parse().ok()?;
    Some(match unit {
        "" | "p" | "b" | "%" | "us" => number,
        "ms" => number * 1000,
        "s" => number * 1_000_000,
        "Kb" => number << 10,
        "Mb" => number << 20,
        "kbit" => number * 125,
        "gbit" => number * 125_000_000,
        _ => return None,
    })
}

/// The plugin's word for a value, or nothing if it refuses it.
fn shown(plugin: &Path, setting: Setting, text: &str) -> Option<String> {
    let output = told(plugin, &setting.words(text).ok()?);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace();
    output.status.success().then(|| match words.next() {
        Some(word) if word == setting.key() => words.next().unwrap_or_default().to_owned(),
        Some(word) => word.to_owned(),
        None => String::new(),
    })
}

#[test]
fn the_plugin_takes_what_netcfg_writes_and_no_more() {
    for discipline in OURS {
        let plugin = plugin(discipline, "takes");
        for spec in specs(discipline) {
            let spelling = Spelling::of(discipline).unwrap();
            let mut settings = spelling.declared();
            let setting = settings.find(|it| it.key() == spec.name).unwrap();
            let place = format!("{discipline} {}", spec.name);
            let shows = |text: &str| shown(&plugin, setting, text);
            let unsaid = setting.is_unsaid(spec.default);
            assert!(
                unsaid || shows(spec.default).is_some(),
                "{place}: {}",
                spec.default
            );
            let Some((least, most)) = spec.range.filter(|_| spec.kind != "targets") else {
                continue;
            };
            // Half of it above, and a part below if possible.
            let beyond = format!("{}{most}", most.chars().next().unwrap());
            for text in [least, most] {
                let number = shows(text).and_then(|shown| number(&shown));
                // Values that are 0 and quiet are not shown.
                assert!(
                    number == value(spec, text) || value(spec, text) == Some(0),
                    "{place}: {text}"
                );
            }
            assert_eq!(shows(&beyond), None, "{place}: {beyond}");
            let choice = format!("{discipline},{}={beyond}", spec.name);
            let choice: Choice = choice.parse().unwrap();
            assert!(Discipline::new(&choice).is_err(), "{choice}");
        }
        for setting in Spelling::of(discipline).unwrap().kernel() {
            for text in ["yes", "no"] {
                assert!(shown(&plugin, setting, text).is_some(), "{}", setting.key());
            }
        }
    }
}

/// The paragraph of a manual page about the parameter of this name.
fn paragraph<'a>(page: &'a str, name: &str, default: &str) -> &'a str {
    let (_, parameters) = page.split_once(".SH PARAMETERS").unwrap();
    let (parameters, _) = parameters.split_once("\n.SH").unwrap();
    // A choice may be written by its values, and a flag by both of its words.
    let heads = |head: &str| {
        let words: Vec<_> = head.split([' ', '"']).collect();
        words.contains(&name) || name == "framing" && words.contains(&default)
    };
    let mut paragraphs = parameters.split("\n.TP\n").skip(1);
    paragraphs
        .find(|paragraph| heads(paragraph.lines().next().unwrap()))
        .unwrap_or_else(|| panic!("{name} is not described"))
}

/// The words behind `Default` in a paragraph, without typesetting commands.
fn default_of(paragraph: &str) -> Vec<String> {
    let (_, rest) = paragraph.rsplit_once("\nDefault").unwrap_or(("", ""));
    let words = rest
        .split_whitespace()
        .filter(|word| !matches!(*word, ".B" | ".BR" | "."));
    words
        .map(|word| word.trim_matches(['[', ']', '.', ';']).to_owned())
        .collect()
}

#[test]
fn the_manual_pages_say_the_same() {
    let program = compile("declared-manual", &[], &["test/declared.c"]);
    for discipline in OURS {
        let page = kernel().join(format!("tc/tc-{discipline}.8"));
        let page = std::fs::read_to_string(page).unwrap();
        let listed = listed(&program, discipline);
        for spec in specs(discipline) {
            let other = listed.iter().find(|it| it.word == spec.name).unwrap();
            let paragraph = paragraph(&page, spec.name, spec.default);
            let said = default_of(paragraph);
            let place = format!("{discipline} {}: {said:?}", spec.name);
            match other.kind.as_str() {
                "FLAG" => {
                    let setting = Spelling::of(discipline).unwrap().declared();
                    let setting = setting.into_iter().find(|it| it.key() == spec.name);
                    assert_eq!(
                        said,
                        [setting.unwrap().words(spec.default).unwrap()],
                        "{place}"
                    );
                }
                "CHOICE" => assert_eq!(said, [spec.default], "{place}"),
                // It is raw, which has none, and its range is in the text.
                "OWN" if spec.name == "overhead" => {
                    let range = format!("[{} to {}]", other.range.0, other.range.1);
                    assert!(paragraph.contains(&range), "{place}");
                }
                kind => {
                    let numbers = [&said[1], &said[3]].map(|text| number(text));
                    assert_eq!(
                        numbers,
                        [Some(other.range.0), Some(other.range.1)],
                        "{place}"
                    );
                    if kind == "OWN" {
                        assert_eq!(said[0], spec.default, "{place}");
                    } else {
                        assert_eq!(number(&said[0]), Some(other.default), "{place}");
                    }
                }
            }
        }
    }
}
