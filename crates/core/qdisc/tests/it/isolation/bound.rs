//! The bound that the description of `mencius` states ("Security Considerations"), under random attacks, in
//! Rust and in C.

use super::attack::Attack;
use super::line::{COUNTED, Line, Outcome, SPARSE, bytes_a_second, hosts, sparse};
use crate::kernel_c::harness::{compile, replay};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
/// Bytes of the longest packet.
const LONGEST: u64 = 1500;

/// ns that a packet waits at most which finds none of its host waiting, and no debt, if its host has sent before.
fn bound(attack: &Attack) -> u64 {
    let bytes = ((2 * hosts(attack) + 3) * LONGEST + 18_168) * 16 / 11;
    // And the packet that is being sent.
    (bytes + LONGEST) * SECOND / bytes_a_second(attack)
}

/// The first line of a trace: the defaults, hosts by destination.
fn header(attack: &Attack) -> String {
    let limit = attack.value("buffer, packets");
    let shaped = attack.value("shaped by the queue");
    let rate = shaped * bytes_a_second(attack);
    format!(
        "new {limit} 33554432 4096 1 1514 20000 100000 1 20000 80000 400000 3000000 128 {rate} 0 0 0 0\n"
    )
}

fn attacked(attack: &Attack) -> Outcome {
    Line::new(attack, "mencius", 0, Some(header(attack))).run(COUNTED, 5 * SECOND)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nobody_waits_for_what_others_have_earned(numbers: [u8; 16]) {
        let attack = Attack::of(numbers);
        let bound = bound(&attack);
        // Only a settled flow is sure of its turn for longer than `min_wait`.
        prop_assume!(bound < SECOND / 50 || sparse(&attack) < SECOND / 5);
        let outcome = attacked(&attack);
        let waits = &outcome.got[SPARSE as usize].waits;
        prop_assert!(!waits.is_empty());
        let longest = waits.iter().max().copied().unwrap_or(0);
        prop_assert!(longest <= bound, "{longest} ns of {bound} beside {attack:?}");
    }
}

/// Bursts of flows that were kept alive, of one computer and of twenty in turn, while flows begin: a packet
/// waited for hundreds of milliseconds when settled packets of all hosts stood in one queue.
#[test]
fn bursts_of_settled_flows() {
    for numbers in [
        [0, 0, 0, 0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 4, 1, 1, 0, 4, 0, 3, 0, 0, 1, 0, 0],
    ] {
        let attack = Attack::of(numbers);
        let (bound, outcome) = (bound(&attack), attacked(&attack));
        let longest = outcome.got[SPARSE as usize].waits.iter().max().copied();
        println!("{longest:?} ns of {bound}");
        assert!(
            longest.is_some_and(|longest| longest <= bound),
            "{attack:?}"
        );
    }
}

/// The C makes the same decisions under such attacks.
#[test]
fn c_serves_them_alike() {
    let program = compile("attacks", "replay_mencius");
    let mut random = units::random::Stream::new(1, "attacks in C");
    for _ in 0..8 {
        let attack = Attack::random(&mut random);
        let outcome = attacked(&attack);
        let printed = replay(&program, outcome.operations);
        let end = printed.find("did ").unwrap();
        assert!(printed[..end] == outcome.decisions, "{attack:?}");
    }
}
