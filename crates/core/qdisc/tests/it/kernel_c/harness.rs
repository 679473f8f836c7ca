//! Common parts of the comparisons of disciplines in Rust with those in `kernel/`: the C programs,
//! and their output.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Operations, and the decisions that they led to.
#[derive(Debug, Default)]
pub struct Trace {
    pub operations: String,
    pub decisions: String,
}

/// Traces that one process of the C program is given.
const BATCH: u64 = 100;

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kernel")
}

/// Compiles `kernel/test/SOURCE.c` with `$CC`, or `cc`, and `flags` for the test of this name.
pub fn compile_with(test: &str, source: &str, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{source}-{test}"));
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

/// A program that replays traces, with `$CFLAGS` too.
pub fn compile(test: &str, source: &str) -> PathBuf {
    let flags = std::env::var("CFLAGS").unwrap_or_default();
    let flags: Vec<_> = flags.split_whitespace().collect();
    compile_with(test, source, &flags)
}

/// A header of `kernel/`, as `mencius/mencius.h`, and all that it includes.
pub fn headers_of(header: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![header.to_owned()];
    while let Some(header) = next.pop() {
        let text = std::fs::read_to_string(kernel().join(&header)).unwrap();
        let (room, _) = header.split_once('/').unwrap();
        let lines = text.lines();
        let named = lines.filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
        next.extend(named.map(|path| match path.strip_prefix("../") {
            Some(other) => other.to_owned(),
            None => format!("{room}/{path}"),
        }));
        next.retain(|other| !found.contains(other));
        found.insert(header);
    }
    found
}

/// Fails unless `header` of `kernel/` includes what it uses, but for the words of `test/user.h`.
pub fn assert_compiles_alone(header: &str) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(&compiler)
        .args(["-std=gnu11", "-fsyntax-only", "-w"])
        .args(["-Werror=implicit-function-declaration", "-x", "c"])
        .arg("-include")
        .arg(kernel().join("test/user.h"))
        .arg(kernel().join(header))
        .output()
        .unwrap_or_else(|error| panic!("cannot run {compiler}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{header} alone: {said}");
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

/// A core runs with interrupts of the network held off: the work of each call must be bounded.
/// `kernel/test/SOURCE.c` finds the call of each scenario with the most work, and counts its
/// instructions, which have to be as `expected`: fewer, and they were not counted.
#[cfg(target_arch = "x86_64")]
pub fn assert_no_call_is_long(source: &str, scenarios: &[&str], expected: Range<u64>) {
    let blocks = compile_with("blocks", source, &["-fsanitize-coverage=trace-pc"]);
    let steps = compile_with("steps", source, &["-mno-red-zone"]);
    for scenario in scenarios {
        let worst = numbers(&blocks, &[scenario]);
        let (call, blocks) = (worst[0].to_string(), worst[1]);
        // Otherwise counting takes minutes.
        assert!(blocks < 20_000, "{scenario}: call {call}, {blocks} blocks");
        let instructions = numbers(&steps, &[scenario, &call, "1"])[0];
        println!("{scenario}: call {call} took {instructions} instructions");
        assert!(
            expected.contains(&instructions),
            "{scenario}: call {call}, {instructions}"
        );
    }
}

/// The output of the C program for `operations`.
pub fn replay(program: &Path, operations: String) -> String {
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

/// The value of a variable of the environment.
pub fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text}: expected a number")),
        Err(_) => default,
    }
}

/// Replays so many random traces, or `ANALECTS_TRACES` of them, and fails if `program` decides
/// differently from the one in Rust. Returns its decisions, and separately the lines that begin
/// with `did`, which only C prints.
pub fn compare_random(
    program: &Path,
    default: u64,
    random: impl Fn(u64) -> Trace,
    mut seen: impl FnMut(&Trace, &str),
) {
    let traces = number("ANALECTS_TRACES", default);
    for first in (0..traces).step_by(BATCH as usize) {
        let seeds = first..traces.min(first + BATCH);
        let batch: Vec<_> = seeds.clone().map(&random).collect();
        let operations = batch
            .iter()
            .map(|trace| trace.operations.as_str())
            .collect();
        let printed = replay(program, operations);
        let mut lines = printed.split_inclusive('\n').peekable();
        for (seed, trace) in seeds.zip(&batch) {
            let mut decided = String::new();
            for line in lines.by_ref() {
                decided.push_str(line);
                if line.starts_with("end ") {
                    break;
                }
            }
            compare(seed, &trace.decisions, &decided);
            let did = lines.next_if(|line| line.starts_with("did "));
            seen(trace, did.unwrap_or_default());
        }
        assert_eq!(lines.next(), None);
    }
}

/// The traces in `kernel_c/FOLDER`, which were worked out by hand, with their names. A line of a
/// file is an operation, or a decision behind `> `; `#` begins a remark.
pub fn written_traces(folder: &str) -> Vec<(String, Trace)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/kernel_c")
        .join(folder);
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut traces: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "trace"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut trace = Trace::default();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let (to, line) = match line.strip_prefix("> ") {
                    Some(decision) => (&mut trace.decisions, decision),
                    None => (&mut trace.operations, line),
                };
                to.push_str(line);
                to.push('\n');
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, trace)
        })
        .collect();
    traces.sort_by(|a, b| a.0.cmp(&b.0));
    traces
}

/// Writes `ANALECTS_TRACES` random traces down, as `NUMBER.trace` and `NUMBER.expected`, and `others`
/// by their names, into the folder that `ANALECTS_TRACE_DIR` names.
pub fn write_down(random: impl Fn(u64) -> Trace, others: Vec<(String, Trace)>) {
    let folder = std::env::var("ANALECTS_TRACE_DIR").expect("ANALECTS_TRACE_DIR names a folder");
    std::fs::create_dir_all(&folder).unwrap();
    let seeds = 0..number("ANALECTS_TRACES", 100);
    let random = seeds.map(|seed| (seed.to_string(), random(seed)));
    for (name, trace) in random.chain(others) {
        let path = |kind: &str| Path::new(&folder).join(format!("{name}.{kind}"));
        std::fs::write(path("trace"), trace.operations).unwrap();
        std::fs::write(path("expected"), trace.decisions).unwrap();
    }
}

/// Fails unless the C program gives up at each of these, and names the line.
pub fn assert_refused(program: &Path, cases: &[&str]) {
    for case in cases {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may have given up before the end of its input.
        let _ = child.stdin.take().unwrap().write_all(case.as_bytes());
        let output = child.wait_with_output().unwrap();
        let says = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{case:?}: {says}");
        assert!(says.starts_with("line "), "{case:?}: {says}");
    }
}
