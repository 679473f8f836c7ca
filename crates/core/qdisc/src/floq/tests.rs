//! Admission: probabilities, borders and a packet trace. Flows are letters.

mod closed_loop;
mod flows;

use super::admission::{AdmissionRules, FlowType, Phase, WaitingByType};
use super::*;
use crate::Ecn;
use crate::testing::{Log, letters, ms, numbers, of_flow, packet, put, settings, take};

fn floq(set: &[(&str, &str)]) -> Floq<u32> {
    Floq::new(&settings(set), &Env::default()).unwrap()
}

/// With these, chances are easily worked out by hand.
const BY_HAND: [(&str, &str); 2] = [("g", "10"), ("f_r", "2")];

fn rules(set: &[(&str, &str)]) -> AdmissionRules {
    let set = [&BY_HAND[..], set].concat();
    AdmissionRules::of(&FloqParams::parse(&settings(&set)).unwrap()).unwrap()
}

fn waiting(responsive: u32, unresponsive: u32) -> WaitingByType {
    let mut waiting = WaitingByType::default();
    (0..responsive).for_each(|_| waiting.add(FlowType::Responsive));
    (0..unresponsive).for_each(|_| waiting.add(FlowType::Unresponsive));
    waiting
}

const FIRST: Phase = Phase::Establishment { lost: false };
const AGAIN: Phase = Phase::Establishment { lost: true };

/// Thousandths of a percent, rounded.
fn chance(rules: &AdmissionRules, (rq, uq): (u32, u32), kind: FlowType, phase: Phase) -> u64 {
    let probability = rules.drop_probability(waiting(rq, uq), kind, phase);
    (probability * 100_000 + (1 << 31)) >> 32
}

/// Of 100 packets: quotas of 50 and 30, 20 in neither, `AT = 80`. With 90 waiting, `F_d` is
/// `10 * 10 / 20 = 5`, and 10 for a type that would take more than its own and the 20.
#[test]
fn probabilities_follow_the_queue_and_the_type() {
    use FlowType::{Responsive, Unresponsive};
    use Phase::Later;
    let rules = rules(&[("limit", "100")]);
    for (counts, kind, phase, expected) in [
        // The own quota is not filled, at the other end of the buffer: 49 of 50, 29 of 30.
        ((49, 50), Responsive, Later, 0),
        ((70, 29), Unresponsive, Later, 0),
        // At the threshold, and one above: F_d = 10 / 20 = 0.5.
        ((50, 30), Responsive, Later, 0),
        ((50, 30), Unresponsive, Later, 0),
        ((50, 31), Responsive, Later, 2_500),
        ((50, 31), Unresponsive, Later, 7_500),
        // F_d = 5: 2 + 5, 5 * 6, and spared 2.
        ((55, 35), Responsive, Later, 7_000),
        ((55, 35), Unresponsive, Later, 30_000),
        ((55, 35), Responsive, FIRST, 5_000),
        ((55, 35), Responsive, AGAIN, 0),
        ((55, 35), Unresponsive, FIRST, 30_000),
        ((55, 35), Unresponsive, AGAIN, 30_000),
        // The last that fits into own and other, and the first that would not.
        ((69, 21), Responsive, Later, 7_000),
        ((70, 20), Responsive, Later, 12_000),
        ((41, 49), Unresponsive, Later, 30_000),
        ((40, 50), Unresponsive, Later, 55_000),
        // One place is left: F_d = 9.5. 5 * (1 + 19) is all of them.
        ((99, 0), Responsive, FIRST, 19_000),
        ((0, 99), Unresponsive, Later, 100_000),
    ] {
        let found = chance(&rules, counts, kind, phase);
        assert_eq!(found, expected, "{counts:?} {kind:?} {phase:?}");
    }
}

/// 90 of 100 wait, `F_d = 5`. Equation (1) and algorithm 1 are chances of admission.
#[test]
fn literal_readings() {
    use FlowType::{Responsive, Unresponsive};
    let at = |variant, kind, phase| {
        let rules = rules(&[("limit", "100"), ("variant", variant)]);
        assert_eq!(chance(&rules, (49, 40), Responsive, phase), 0);
        assert_eq!(chance(&rules, (50, 30), kind, phase), 0);
        chance(&rules, (55, 35), kind, phase)
    };
    // Admitted: 2 * 5 and (2 + 2) * 5 for responsive flows, 5 * 5 for others.
    assert_eq!(at("equation", Responsive, FIRST), 90_000);
    assert_eq!(at("equation", Responsive, AGAIN), 90_000);
    assert_eq!(at("equation", Responsive, Phase::Later), 80_000);
    assert_eq!(at("equation", Unresponsive, Phase::Later), 75_000);
    // 2 + F_r + 2 * 5 = 14, 2 + 4 * 5 = 22; 5 + F_r + 5 * 5 = 32, 5 + 5 * 5 = 30.
    assert_eq!(at("algorithm", Responsive, FIRST), 86_000);
    assert_eq!(at("algorithm", Responsive, Phase::Later), 78_000);
    assert_eq!(at("algorithm", Unresponsive, FIRST), 68_000);
    assert_eq!(at("algorithm", Unresponsive, Phase::Later), 70_000);
    assert_eq!(at("algorithm-drop", Responsive, FIRST), 14_000);
    assert_eq!(at("algorithm-drop", Responsive, Phase::Later), 22_000);
    assert_eq!(at("algorithm-drop", Unresponsive, Phase::Later), 30_000);
}

/// By default, initial packets are not dropped by chance: only a full buffer drops them.
#[test]
fn by_default_first_packets_are_spared_any_chance() {
    let rules = AdmissionRules::of(&FloqParams::default()).unwrap();
    for counts in [(600, 300), (500, 499), (650, 340)] {
        assert_eq!(chance(&rules, counts, FlowType::Responsive, FIRST), 0);
        assert!(chance(&rules, counts, FlowType::Unresponsive, FIRST) > 0);
    }
    assert!(chance(&rules, (600, 300), FlowType::Responsive, Phase::Later) > 0);
}

/// However large the buffer and the parameters, a probability is at most all.
#[test]
fn nothing_overflows() {
    for variant in ["reading", "equation", "algorithm", "algorithm-drop"] {
        let rules = rules(&[
            ("limit", "1000000"),
            ("variant", variant),
            ("threshold", "0"),
            ("g", "1000"),
            ("f_r", "100"),
            ("drop_responsive", "100"),
            ("drop_unresponsive", "100"),
        ]);
        for kind in [FlowType::Responsive, FlowType::Unresponsive] {
            for counts in [(999_999, 0), (0, 999_999), (500_000, 499_999)] {
                for phase in [FIRST, AGAIN, Phase::Later] {
                    let found = rules.drop_probability(waiting(counts.0, counts.1), kind, phase);
                    assert!(found <= 1 << 32, "{variant} {kind:?} {counts:?}");
                }
            }
        }
    }
}

/// A queue of 100 packets with 90 of flow A waiting: filled while all packets were admitted. A has
/// then seen 90 packets.
fn filled(seed: u64, more: &[(&str, &str)]) -> Floq<u32> {
    let fill = settings(&[("limit", "100"), ("threshold", "100"), ("flows", "8")]);
    let env = Env {
        seed,
        ..Env::default()
    };
    let mut queue = Floq::new(&fill, &env).unwrap();
    put(&mut queue, ms(0), &"A".repeat(90), 1500, &mut letters());
    let set = settings(&[&BY_HAND[..], &[("threshold", "80")], more].concat());
    queue.change(ms(0), &set, &mut letters()).unwrap();
    queue
}

/// A takes more than its own 50 and the other 20, so that `F_d = 2 * 5`: of A's packets 12 % are
/// dropped, of a first packet of B's 10 %, of its second none.
#[test]
fn chances_by_counting() {
    const SEEDS: u32 = 20_000;
    let (mut later, mut first, mut again) = (0, 0, 0);
    for seed in 0..u64::from(SEEDS) {
        let dropped = |flows| {
            let (mut queue, mut log) = (filled(seed, &[]), letters());
            put(&mut queue, ms(0), flows, 1500, &mut log);
            log.dropped.len()
        };
        later += dropped("A");
        first += dropped("B");
        again += usize::from(dropped("BBBB") > 1);
    }
    let percent = |count| 100.0 * count as f64 / f64::from(SEEDS);
    // Three standard deviations are 0.69 and 0.64 of a percent.
    let (later, first) = (percent(later), percent(first));
    assert!((later - 12.0).abs() < 0.7, "{later}");
    assert!((first - 10.0).abs() < 0.7, "{first}");
    assert_eq!(
        again, 0,
        "no flow lost two of its initial packets by chance"
    );
}

const TRACE_SEED: u64 = 335;

/// Of 10 packets: quotas of 5 and 3, 2 in neither, `AT = 8`; `g = 50`. Draws are fractions of 2^32:
/// 0.83, 0.14, 0.77, 0.14 with this seed.
///
/// - A sends 9: it finds 0 to 8, and all are admitted.
/// - A's 10th finds 9, `F_d = 50 / 2 = 25`, doubled as 9 is not below 5 + 2. It is an initial packet: 2 +
///   50 - 2 = 50 %. 0.83: admitted. The queue is full.
/// - A's 11th is a tail drop, without a draw. One leaves: 9 wait.
/// - A's 12th is past establishment: 52 %. 0.14: dropped.
/// - B's first: 50 %. 0.77: admitted, and the next one of B a tail drop. One leaves.
/// - B's third: an initial packet was lost: admitted, without a draw. Two leave: 8 wait.
/// - A's 13th finds 8: admitted, without a draw.
/// - A's 14th finds 9: 52 %, 0.14: dropped.
#[test]
fn a_trace_by_hand() {
    let set = settings(&[("limit", "10"), ("g", "50"), ("f_r", "2")]);
    let env = Env {
        seed: TRACE_SEED,
        ..Env::default()
    };
    let mut draws = Chance::new(TRACE_SEED);
    let draws: [u64; 4] = std::array::from_fn(|_| (u64::from(draws.bits()) * 100) >> 32);
    assert_eq!(draws, [83, 14, 77, 14]);

    let mut queue = Floq::new(&set, &env).unwrap();
    let mut log = letters();
    let step = |queue: &mut Floq<u32>, log: &mut Log<char>, flows, leave| {
        put(queue, ms(0), flows, 1500, log);
        let dropped: Vec<_> = log.dropped.drain(..).map(|(_, why)| why.name()).collect();
        take(queue, ms(0), leave);
        (dropped.join(" "), queue.backlog().packets)
    };
    for (flows, leave, dropped, left) in [
        ("AAAAAAAAA", 0, "", 9),
        ("A", 0, "", 10),
        ("A", 1, "tail", 9),
        ("A", 0, "congestion", 9),
        ("B", 0, "", 10),
        ("B", 1, "tail", 9),
        ("B", 2, "", 8),
        ("A", 0, "", 9),
        ("A", 0, "congestion", 9),
    ] {
        let found = step(&mut queue, &mut log, flows, leave);
        assert_eq!(found, (dropped.to_owned(), left), "{flows}");
    }
}

/// The tenth packet is initial, the eleventh is not. Losing any of them protects, for any reason;
/// 100 % would be dropped otherwise.
#[test]
fn a_lost_initial_packet_protects_the_others() {
    let certain = [("drop_responsive", "100"), ("f_r", "0")];
    let (mut queue, mut log) = (filled(0, &certain), letters());
    put(&mut queue, ms(0), "BBBBBBBBBBB", 1500, &mut log);
    // Nine are admitted after the first; the eleventh finds 99 and is dropped.
    assert_eq!(log.who(), "BB");
    assert_eq!(queue.backlog().packets, 99);
    // The buffer being full protects too: D's first.
    put(&mut queue, ms(0), "CCDDD", 1500, &mut log);
    assert_eq!(log.who(), "BBCDDD", "C's second filled the buffer");
    take(&mut queue, ms(0), 1);
    put(&mut queue, ms(0), "ED", 1500, &mut log);
    assert_eq!(log.who(), "BBCDDDE", "D was admitted");
}

/// A packet keeps the type with which it was counted, and counts are of queued packets.
#[test]
fn counts_are_of_what_waits() {
    let (mut queue, mut log) = (floq(&[("limit", "10")]), letters());
    put(&mut queue, ms(0), "AAAB", 1500, &mut log);
    assert_eq!(queue.waiting.of(FlowType::Responsive), 4);
    let smaller = settings(&[("limit", "2")]);
    queue.change(ms(0), &smaller, &mut log).unwrap();
    assert_eq!(
        log.dropped,
        [('B', DropReason::Change), ('A', DropReason::Change)]
    );
    assert_eq!(queue.waiting.of(FlowType::Responsive), 2);
    assert_eq!(take(&mut queue, ms(0), 9), "AA");
    assert_eq!(queue.waiting.all(), 0);
}

/// Packets that would be dropped by chance are marked if they can be; a full buffer drops all the
/// same.
#[test]
fn marks_instead_of_drops_if_asked() {
    for (ecn, field, marked) in [
        ("no", Ecn::Ect0, false),
        ("yes", Ecn::NotCapable, false),
        ("yes", Ecn::Ect0, true),
    ] {
        let certain = [("drop_responsive", "100"), ("f_r", "0"), ("ecn", ecn)];
        let (mut queue, mut log) = (filled(0, &certain), numbers());
        queue.enqueue(ms(0), packet(7, 1500, field), &mut log);
        let found = (log.marked.len(), log.dropped.len());
        assert_eq!(found, (usize::from(marked), usize::from(!marked)));
    }
    let (mut queue, mut log) = (floq(&[("limit", "1"), ("ecn", "yes")]), numbers());
    for number in 1..=2 {
        queue.enqueue(ms(0), packet(number, 1500, Ecn::Ect0), &mut log);
    }
    assert_eq!(log.dropped, [(2, DropReason::Tail)]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let too_much = settings(&[("responsive", "60"), ("unresponsive", "41")]);
    let refused = Floq::<u32>::new(&too_much, &Env::default()).expect_err("refused");
    assert!(refused.message.contains("100 %"), "{}", refused.message);
    let mut queue = floq(&[]);
    for set in [&too_much[..], &settings(&[("flows", "16")])] {
        queue.change(ms(0), set, &mut letters()).unwrap_err();
        assert_eq!(queue.params, FloqParams::default());
    }
}

#[test]
fn the_link_sets_the_limit() {
    let env = Env {
        limit: Some(crate::Limit::Packets(20)),
        ..Env::default()
    };
    let queue = Floq::<u32>::new(&[], &env).unwrap();
    // Section VI.A: the final 20 % of 20 slots.
    assert_eq!((queue.rules.limit, queue.rules.threshold), (20, 16));
    assert_eq!((queue.rules.own, queue.rules.other), ([10, 6], 4));
}
