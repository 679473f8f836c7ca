//! The discipline in `kernel/confucius/confucius.h` against the one in Rust: for thousands of random traces
//! both make the same decisions, to the packet. Those in `kernel_c/confucius` were worked out by hand.
//!
//! `ANALECTS_TRACES=100000` tries more of them, `CFLAGS=-fsanitize=address,undefined` watches the C.

mod trace;

use super::harness::{
    Trace, assert_refused, compare_random, compile, replay, write_down, written_traces,
};
use super::memory::tells_memory;
use std::fmt::Write as _;
use trace::{decide, random};

#[test]
#[cfg(target_arch = "x86_64")]
fn no_call_takes_more_than_20000_instructions() {
    let hostile = [
        "all-ripen",
        "all-age",
        "all-idle",
        "moved",
        "large",
        "heaps",
        "anything",
    ];
    super::harness::assert_no_call_is_long("steps_confucius", &hostile, 500..20_000);
}

#[test]
fn rust_and_c_decide_alike() {
    compare_random(
        &compile("random", "replay_confucius"),
        3000,
        random,
        |_, _| {},
    );
}

#[test]
fn both_decide_as_worked_out_by_hand() {
    let program = compile("written", "replay_confucius");
    for (name, trace) in written_traces("confucius") {
        let Trace {
            operations,
            decisions,
        } = trace;
        if !tells_memory(&operations, 7) {
            assert_eq!(decide(&operations), decisions, "{name}, in Rust");
        }
        assert_eq!(replay(&program, operations), decisions, "{name}, in C");
    }
}

/// 2100 new flows next to one old flow, with `head_start` = 6, would weigh 1 at 2^18 > 2100 · 2^6,
/// but age out at their seventeenth step, the last that there is.
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
    assert_eq!(
        replay(&compile("crowd", "replay_confucius"), crowd()),
        decisions
    );
    let moves = |end: &str| {
        let lines = decisions.lines();
        lines
            .filter(|line| line.starts_with("move") && line.ends_with(end))
            .count()
    };
    assert_eq!(moves(" - 0"), 2101);
    assert!(moves(" 0 1") > 2050, "{} aged out", moves(" 0 1"));
    // One step less, and none of them has aged out.
    let until = crowd().find("e 18000000 ").unwrap();
    assert!(!decide(&crowd()[..until]).contains("move 1 0 1"));
}

/// Writes some traces down, as `NUMBER.trace` and `NUMBER.expected`, into the folder that
/// `ANALECTS_TRACE_DIR` names: for `kernel/test/in-kernel.sh` to replay inside a kernel.
#[test]
#[ignore = "writes files"]
fn write_traces_down() {
    let crowd = Trace {
        operations: crowd(),
        decisions: decide(&crowd()),
    };
    let mut others = written_traces("confucius");
    others.push(("crowd".to_owned(), crowd));
    write_down(random, others);
}

/// The traces have to reach all branches, or their agreement proves little.
#[test]
fn traces_show_every_kind_of_decision() {
    let traces: Vec<_> = (0..300).map(random).collect();
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
    let program = compile("refuse", "replay_confucius");
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
    assert_refused(&program, &cases);
}
