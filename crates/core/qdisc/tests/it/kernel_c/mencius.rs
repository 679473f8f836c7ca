//! The discipline in `kernel/mencius/mencius.h` against the one in Rust: for thousands of random traces both
//! make the same decisions, to the packet. Those in `kernel_c/mencius` were worked out by hand.
//!
//! `ANALECTS_TRACES=100000` tries more of them, `CFLAGS=-fsanitize=address,undefined` watches the C.

mod params;
mod trace;

use super::harness::{
    assert_compiles_alone, assert_refused, compare_random, compile, headers_of, replay, write_down,
    written_traces,
};
use super::memory::tells_memory;
use trace::{decide, random};

/// How often each of these was decided.
#[derive(Debug, Default)]
struct Seen {
    /// Counters that only C prints: `did`.
    did: [u64; 7],
    lines: [u64; 7],
    /// Dequeues in which CoDel dropped all that it may.
    bounded: u64,
}

const DID: [&str; 7] = [
    "held back for a flow",
    "held back for a host",
    "flows forgotten",
    "hosts forgotten",
    "guests of flows",
    "guests of hosts",
    "hosts without allowance at the end",
];
const LINES: [&str; 7] = [
    "tx",
    "wait",
    "mark",
    " tail",
    " overlimit",
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
        let mut run = 0;
        for line in decisions.lines() {
            for (sum, kind) in self.lines.iter_mut().zip(LINES) {
                *sum += u64::from(line.starts_with(kind) || line.ends_with(kind));
            }
            let congestion = line.ends_with(" congestion");
            run = if congestion { run + 1 } else { 0 };
            self.bounded += u64::from(run == 32);
        }
    }
}

/// Who reads or moves one header needs no other order than its own includes. `make test OF=upstream` has those that
/// need a kernel.
#[test]
fn each_header_of_the_core_compiles_alone() {
    let headers = headers_of("mencius/mencius.h");
    assert!(headers.len() > 15, "{headers:?}");
    headers
        .iter()
        .for_each(|header| assert_compiles_alone(header));
}

/// The traces have to reach all branches, or their agreement proves little.
#[test]
fn rust_and_c_decide_alike() {
    let mut seen = Seen::default();
    compare_random(
        &compile("random", "replay_mencius"),
        1500,
        random,
        |trace, did| seen.note(&trace.decisions, did),
    );
    println!("{seen:?}");
    let counts = DID.iter().zip(seen.did).chain(LINES.iter().zip(seen.lines));
    for (kind, count) in counts.chain([(&"drops at most", seen.bounded)]) {
        // Only traces of imitators end without allowance.
        let least = if kind.contains("allowance") { 1 } else { 50 };
        assert!(count > least, "{kind}: {count}");
    }
}

#[test]
fn both_decide_as_worked_out_by_hand() {
    let program = compile("written", "replay_mencius");
    for (name, trace) in written_traces("mencius") {
        let (operations, decisions) = (trace.operations, trace.decisions);
        if !tells_memory(&operations, 8) {
            assert_eq!(decide(&operations), decisions, "{name}, in Rust");
        }
        let printed = replay(&program, operations);
        let end = printed.find("did ").unwrap();
        assert_eq!(printed[..end], decisions, "{name}, in C");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn no_call_takes_more_than_20000_instructions() {
    let hostile = [
        "overdrawn-within",
        "overdrawn-between",
        "all-idle",
        "stale-within",
        "stale-between",
        "late",
        "large",
        "others",
        "anything",
    ];
    super::harness::assert_no_call_is_long("steps_mencius", &hostile, 500..20_000);
}

/// Writes some traces down, as `NUMBER.trace` and `NUMBER.expected`, into the folder that
/// `ANALECTS_TRACE_DIR` names.
#[test]
#[ignore = "writes files"]
fn write_traces_down() {
    write_down(random, written_traces("mencius"));
}

#[test]
fn the_c_program_refuses_what_it_cannot_read() {
    let program = compile("refuse", "replay_mencius");
    let new = "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0 0\n";
    let cases = [
        "d 0\n",
        "end\n",
        "x\n",
        "\n",
        "new 0 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0\n",
        "new 10 4000 99999999 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0 0\n",
        "new 10 4000 8 4 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 2 20000 100000 400000 3000000 128 0 0 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 257 0 0 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 999 0 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 257 0 0 0\n",
        "new 10 4000 8 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 3 0\n",
        &format!("{new}e 5 0 0 0 100\n"),
        &format!("{new}e 5 0 0 0 0 0\n"),
        &format!("{new}e 5 0 0 0 100 8\n"),
        &format!("{new}d 5\nd 4\n"),
        &format!("{new}d 99999999999999999999\n"),
        &format!(
            "{new}change 5 10 4000 16 0 1514 5000 100000 1 20000 100000 400000 3000000 128 0 0 0 0 0\n"
        ),
        &format!("{}\n", "d 1 ".repeat(1000)),
        "d 1",
    ];
    assert_refused(&program, &cases);
}
