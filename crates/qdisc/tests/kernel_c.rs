//! The discipline in `kernel/confucius.h` against the one in Rust: for thousands of random traces
//! both make the same decisions, to the packet. Those in `kernel_c/traces` were worked out by hand.
//!
//! `ANALECTS_TRACES=100000` tries more of them, `CFLAGS=-fsanitize=address,undefined` watches the C.

#[path = "kernel_c/trace.rs"]
mod trace;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trace::{Trace, decide};

/// Traces that one process of the C program is given.
const BATCH: u64 = 100;

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel")
}

/// Compiles `kernel/test/SOURCE.c` with `$CC`, or `cc`, and `flags` for the test of this name.
fn compile_with(test: &str, source: &str, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("confucius-{test}"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(kernel().join(format!("test/{source}.c")))
        .status()
        .unwrap_or_else(|error| panic!("cannot run {compiler}: {error}"));
    assert!(status.success(), "{compiler} refused {source}.c");
    program
}

/// The program that replays traces, with `$CFLAGS` too.
fn compile(test: &str) -> PathBuf {
    let flags = std::env::var("CFLAGS").unwrap_or_default();
    let flags: Vec<_> = flags.split_whitespace().collect();
    compile_with(test, "replay", &flags)
}

/// The numbers that a program prints.
fn numbers(program: &Path, arguments: &[&str]) -> Vec<u64> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

/// The core runs with interrupts of the network held off: no call may do much, whatever is due.
/// `kernel/test/steps.c` finds the call in which most was done, and counts its instructions.
#[test]
#[cfg(target_arch = "x86_64")]
fn no_call_takes_more_than_20000_instructions() {
    let blocks = compile_with("blocks", "steps", &["-fsanitize-coverage=trace-pc"]);
    let steps = compile_with("steps", "steps", &["-mno-red-zone"]);
    let hostile = [
        "all-ripen",
        "all-age",
        "all-idle",
        "moved",
        "large",
        "heaps",
        "anything",
    ];
    for scenario in hostile {
        let worst = numbers(&blocks, &[scenario]);
        let (call, blocks) = (worst[0].to_string(), worst[1]);
        // Otherwise counting takes minutes.
        assert!(blocks < 20_000, "{scenario}: call {call}, {blocks} blocks");
        let instructions = numbers(&steps, &[scenario, &call, "1"])[0];
        println!("{scenario}: call {call} took {instructions} instructions");
        assert!(
            (500..20_000).contains(&instructions),
            "{scenario}: call {call}, {instructions}"
        );
    }
}

/// What the C program prints about `operations`.
fn replay(program: &Path, operations: String) -> String {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(operations.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the C program gave up");
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Fails with the first line in which the two differ.
fn compare(seed: u64, rust: &str, c: &str) {
    if rust == c {
        return;
    }
    let same = rust.lines().zip(c.lines()).take_while(|(a, b)| a == b);
    let line = same.count();
    let of = |text: &str| text.lines().nth(line).unwrap_or("nothing").to_owned();
    panic!(
        "trace {seed}, decision {}: Rust says {:?}, C says {:?}",
        line + 1,
        of(rust),
        of(c)
    );
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text}: expected a number")),
        Err(_) => default,
    }
}

#[test]
fn rust_and_c_decide_alike() {
    let program = compile("replay");
    let traces = number("ANALECTS_TRACES", 3000);
    for first in (0..traces).step_by(BATCH as usize) {
        let seeds = first..traces.min(first + BATCH);
        let batch: Vec<_> = seeds.clone().map(Trace::random).collect();
        let operations = batch
            .iter()
            .map(|trace| trace.operations.as_str())
            .collect();
        let decisions = replay(&program, operations);
        let mut rest = decisions.as_str();
        for (seed, trace) in seeds.zip(&batch) {
            let end = rest.find("end ").map_or(rest.len(), |at| {
                at + rest[at..]
                    .find('\n')
                    .map_or(rest.len() - at, |newline| newline + 1)
            });
            let (decided, later) = rest.split_at(end);
            compare(seed, &trace.decisions, decided);
            rest = later;
        }
        assert_eq!(rest, "");
    }
}

/// The traces that were worked out by hand: name, operations, and decisions. A line of a file is an
/// operation, or a decision behind `> `; `#` begins a remark.
fn written_traces() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel_c/traces");
    let files = std::fs::read_dir(folder).unwrap();
    let mut traces: Vec<_> = files
        .map(|file| {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (mut operations, mut decisions) = (String::new(), String::new());
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let (to, line) = match line.strip_prefix("> ") {
                    Some(decision) => (&mut decisions, decision),
                    None => (&mut operations, line),
                };
                to.push_str(line);
                to.push('\n');
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, operations, decisions)
        })
        .collect();
    traces.sort();
    traces
}

/// Whether a packet's memory is not its length: the discipline in Rust knows only one of them.
fn tells_memory(operations: &str) -> bool {
    let words = |line: &str| line.split_whitespace().count();
    operations
        .lines()
        .any(|line| line.starts_with("e ") && words(line) == 7)
}

#[test]
fn both_decide_as_worked_out_by_hand() {
    let program = compile("written");
    for (name, operations, decisions) in written_traces() {
        if !tells_memory(&operations) {
            assert_eq!(decide(&operations), decisions, "{name}, in Rust");
        }
        assert_eq!(replay(&program, operations), decisions, "{name}, in C");
    }
}

/// 2100 new flows beside one old flow, with `head_start` = 6, would weigh 1 at 2^18 > 2100 · 2^6, but
/// age out at their seventeenth step, the last that there is.
fn crowd() -> String {
    let mut operations = "new 20000 33554432 4096 1514 0 100000 1000 6 10 100000 1000000 0 10\n\
        e 0 0 0 100 0\nd 0\ne 900000 0 0 100 0\nd 900000\ne 1000000 0 0 100 0\nd 1000000\n"
        .to_owned();
    for flow in 1..=2100_u32 {
        let hash = flow * (u32::MAX / 2101);
        writeln!(operations, "e 1000000 {hash} {flow} 100 0").unwrap();
    }
    // Every packet takes eight flows on.
    for step in 2..=20 {
        for _ in 0..300 {
            writeln!(operations, "e {step}000000 0 0 100 0").unwrap();
        }
        // So that it shows when they move.
        writeln!(operations, "d {step}000000").unwrap();
    }
    operations.push_str("end\n");
    operations
}

#[test]
fn a_crowd_reaches_the_last_step() {
    let decisions = decide(&crowd());
    assert_eq!(replay(&compile("crowd"), crowd()), decisions);
    let moves = |end: &str| {
        let lines = decisions.lines();
        lines
            .filter(|line| line.starts_with("move") && line.ends_with(end))
            .count()
    };
    assert_eq!(moves(" - 0"), 2101);
    assert!(moves(" 0 1") > 2050, "{} aged out", moves(" 0 1"));
    // One step less, and nobody of them has aged out.
    let until = crowd().find("e 18000000 ").unwrap();
    assert!(!decide(&crowd()[..until]).contains("move 1 0 1"));
}

/// Writes some traces down, as `NUMBER.trace` and `NUMBER.expected`, into the folder that
/// `ANALECTS_TRACE_DIR` names: what `kernel/test/in-kernel.sh` replays inside a kernel.
#[test]
#[ignore = "writes files"]
fn write_traces_down() {
    let folder = std::env::var("ANALECTS_TRACE_DIR").expect("ANALECTS_TRACE_DIR names a folder");
    std::fs::create_dir_all(&folder).unwrap();
    for seed in 0..number("ANALECTS_TRACES", 100) {
        let trace = Trace::random(seed);
        let path = |kind: &str| Path::new(&folder).join(format!("{seed}.{kind}"));
        std::fs::write(path("trace"), trace.operations).unwrap();
        std::fs::write(path("expected"), trace.decisions).unwrap();
    }
    let crowd = ("crowd".to_owned(), crowd(), decide(&crowd()));
    for (name, operations, decisions) in written_traces().into_iter().chain([crowd]) {
        let path = |kind: &str| Path::new(&folder).join(format!("{name}.{kind}"));
        std::fs::write(path("trace"), operations).unwrap();
        std::fs::write(path("expected"), decisions).unwrap();
    }
}

/// The traces have to lead everywhere, or their agreement says little.
#[test]
fn traces_show_every_kind_of_decision() {
    let traces: Vec<_> = (0..300).map(Trace::random).collect();
    let count = |says: &dyn Fn(&str) -> bool| {
        let lines = traces.iter().flat_map(|trace| trace.decisions.lines());
        lines.filter(|line| says(line)).count()
    };
    for start in ["tx ", "mark "] {
        let found = count(&|line| line.starts_with(start));
        assert!(found > 1000, "only {found} of {start:?}");
    }
    let drops = [" tail", " overlimit", " change"];
    let moves = [
        " - 0", " 0 1", " 0 2", " 0 3", " 1 2", " 2 3", " 2 1", " 3 2",
    ];
    for end in drops.into_iter().chain(moves) {
        let found = count(&|line| line.ends_with(end) && !line.starts_with("tx"));
        println!("{found} of {end:?}");
        assert!(found > 10, "only {found} of {end:?}");
    }
    let shared = traces
        .iter()
        .filter(|trace| !trace.decisions.contains("\nend 0 "));
    assert!(shared.count() > 10, "flows hardly ever share");
}

#[test]
fn the_c_program_refuses_what_it_cannot_read() {
    let program = compile("refuse");
    let new = "new 10 4000 8 1514 0 100000 250000 0 10 100000 1000000 0 10 50 90\n";
    let cases = [
        "d 0\n",
        "end\n",
        "x\n",
        "\n",
        "new 0 4000 8 1514 0 100000 250000 0 10 100000 1000000 0 10\n",
        "new 10 4000 8 1514 0 100000 250000 0 10 100000 1000000 0\n",
        "new 10 4000 8 1514 0 100000 250000 0 10 100000 1000000 0 50 50\n",
        "new 10 4000 8 1514 0 100000 250000 0 10 100000 1000000 0 1 2 3 4 5 6 7 8\n",
        "new 10 4000 99999999 1514 0 100000 250000 0 10 100000 1000000 0 10\n",
        &format!("{new}e 5 0 0 100\n"),
        &format!("{new}e 5 0 0 100 4\n"),
        &format!("{new}d 5\nd 4\n"),
        &format!("{new}d 99999999999999999999\n"),
        &format!("{new}change 5 10 4000 16 1514 0 100000 250000 0 10 100000 1000000 0 10\n"),
        &format!("{}\n", "d 1 ".repeat(1000)),
        "d 1",
    ];
    for case in cases {
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may have given up before it was told everything.
        let _ = child.stdin.take().unwrap().write_all(case.as_bytes());
        let output = child.wait_with_output().unwrap();
        let says = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{case:?}: {says}");
        assert!(says.starts_with("line "), "{case:?}: {says}");
    }
}
