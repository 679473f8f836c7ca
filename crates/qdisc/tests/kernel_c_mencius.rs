//! The discipline in `kernel/mencius.h` against the one in Rust: for thousands of random traces both
//! make the same decisions, to the packet. Those in `kernel_c/mencius` were worked out by hand.
//!
//! `ANALECTS_TRACES=100000` tries more of them, `CFLAGS=-fsanitize=address,undefined` watches the C.

#[path = "kernel_c/harness.rs"]
mod harness;
#[path = "kernel_c/mencius.rs"]
mod trace;

use harness::{compare_random, compile};
use trace::random;

/// How often each of these was decided.
#[derive(Debug, Default)]
struct Seen {
    /// What only C prints: `did`.
    did: [u64; 6],
    lines: [u64; 6],
    /// Dequeues in which CoDel dropped all that it may.
    bounded: u64,
}

const DID: [&str; 6] = [
    "held back for a flow",
    "held back for a host",
    "flows forgotten",
    "hosts forgotten",
    "guests of flows",
    "guests of hosts",
];
const LINES: [&str; 6] = [
    "tx",
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

/// The traces have to lead everywhere, or their agreement says little.
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
        assert!(count > 50, "{kind}: {count}");
    }
}
