//! The discipline in `kernel/floq/floq.h` against the one in Rust: for thousands of random traces both make
//! the same decisions, to the packet. Those in `kernel_c/floq` were worked out by hand.
//!
//! `ANALECTS_TRACES=100000` tries more of them, `CFLAGS=-fsanitize=address,undefined` watches the C.

mod params;
mod trace;

use super::harness::{assert_refused, compare_random, compile, replay, write_down, written_traces};
use trace::{decide, random};

/// How often each of these was decided.
#[derive(Debug, Default)]
struct Seen {
    /// Counters that only C prints: `did`.
    did: [u64; 14],
    lines: [u64; 8],
}

const DID: [&str; 14] = [
    "initial, responsive",
    "initial after a loss, responsive",
    "later, responsive",
    "initial, unresponsive",
    "initial after a loss, unresponsive",
    "later, unresponsive",
    "dropped: initial, responsive",
    "dropped: initial after a loss, responsive",
    "dropped: later, responsive",
    "dropped: initial, unresponsive",
    "dropped: initial after a loss, unresponsive",
    "dropped: later, unresponsive",
    "flows forgotten",
    "packets of guests",
];
const LINES: [&str; 8] = [
    "tx",
    "mark",
    " -1 0",
    " 0 1",
    " 1 0",
    " tail",
    " congestion",
    " change",
];

impl Seen {
    fn note(&mut self, decisions: &str, did: &str) {
        let numbers = did
            .split_whitespace()
            .filter_map(|word| word.parse::<u64>().ok());
        for (sum, number) in self.did.iter_mut().zip(numbers) {
            *sum += number;
        }
        for line in decisions.lines() {
            let moved = line.starts_with("move ");
            for (sum, kind) in self.lines.iter_mut().zip(LINES) {
                let ends = line.ends_with(kind) && moved == kind.ends_with(['0', '1']);
                *sum += u64::from(line.starts_with(kind) || ends);
            }
        }
    }
}

/// The traces have to reach all branches, or their agreement proves little.
#[test]
fn rust_and_c_decide_alike() {
    let mut seen = Seen::default();
    compare_random(
        &compile("random", "replay_floq"),
        3000,
        random,
        |trace, did| seen.note(&trace.decisions, did),
    );
    println!("{seen:?}");
    let counts = DID.iter().zip(seen.did).chain(LINES.iter().zip(seen.lines));
    for (kind, count) in counts {
        assert!(count > 50, "{kind}: {count}");
    }
}

#[test]
fn both_decide_as_worked_out_by_hand() {
    let program = compile("written", "replay_floq");
    for (name, trace) in written_traces("floq") {
        let (operations, decisions) = (trace.operations, trace.decisions);
        assert_eq!(decide(&operations), decisions, "{name}, in Rust");
        let printed = replay(&program, operations);
        let end = printed.find("did ").unwrap();
        assert_eq!(printed[..end], decisions, "{name}, in C");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn no_call_takes_more_than_1500_instructions() {
    let hostile = ["all-idle", "full", "anything"];
    super::harness::assert_no_call_is_long("steps_floq", &hostile, 200..1500);
}

/// Writes some traces down, as `NUMBER.trace` and `NUMBER.expected`, into the folder that
/// `ANALECTS_TRACE_DIR` names.
#[test]
#[ignore = "writes files"]
fn write_traces_down() {
    write_down(random, written_traces("floq"));
}

#[test]
fn the_c_program_refuses_what_it_cannot_read() {
    let program = compile("refuse", "replay_floq");
    let new = "new 1 10 8 0 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n";
    let cases = [
        "d 0\n",
        "end\n",
        "x\n",
        "\n",
        "new 1 0 8 0 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 7 0 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 51 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 101 2 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 101 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 1001 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 10 2 10 99999 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 10 2 10 10000000 9999 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 10 2 10 10000000 50000 0 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 10 2 10 10000000 50000 8 100 3 3 0\n",
        "new 1 10 8 4 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n",
        "new 1 10 8 0 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3\n",
        &format!("{new}e 5 0 100\n"),
        &format!("{new}e 5 0 100 4\n"),
        &format!("{new}d 5\nd 4\n"),
        &format!("{new}d 99999999999999999999\n"),
        &format!("{new}change 5 1 10 16 0 50 30 80 2 5 10 2 10 10000000 50000 8 10 3 3 0\n"),
        &format!("{}\n", "d 1 ".repeat(1000)),
        "d 1",
    ];
    assert_refused(&program, &cases);
}
