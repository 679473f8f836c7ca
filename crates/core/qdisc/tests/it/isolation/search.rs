//! A search for attacks under which `mencius` serves a host that stays below its share, or one that takes no
//! more than it is given, worse than `cake`.
//!
//! `ANALECTS_ATTACKS=20000` tries more of them, `ANALECTS_ATTACKS_FROM=100000` others, and
//! `ANALECTS_MINIMISE=1` finds the simplest that is as bad.

use super::attack::Attack;
use super::line::{CALL, COUNTED, Line, Outcome, SPARSE};
use super::verdict::{SEEDS, is_told, of_rates, of_waits};
use crate::kernel_c::harness::number;
use units::random::Stream;

const SECOND: u64 = 1_000_000_000;
/// From when a run is counted, and when it ends.
const RUN: [u64; 2] = [COUNTED, 6 * SECOND];
/// The same once every host has spent its allowance, which is at most two seconds of its share.
const SPENT: [u64; 2] = [20 * SECOND, 30 * SECOND];

const CAKE: &str = "cake,flowmode=dual-dsthost";

/// What is worse: the score, what it is, and what it is under cake.
type Worse = (Score, f64, f64);

/// Found by the search, and not mended, with what was worse then. In the first a packet is 4 to 6 ms long, and ten
/// computers that take a little more than their share come back as often as one that sends little. In the second the
/// buffer has 100 packets, of which the attack's are 60 and 200 bytes long: a call's picture finds no place. `cake`
/// counts bytes, so that it has room for several times as many.
const KNOWN: [([usize; 16], &[Worse]); 2] = [
    (
        [4, 0, 1, 0, 3, 0, 2, 2, 0, 0, 1, 3, 1, 2, 4, 0],
        &[(Score::SparseWait, 19.07, 9.37)],
    ),
    (
        [5, 3, 1, 2, 2, 4, 3, 2, 4, 2, 1, 2, 3, 0, 4, 2],
        &[(Score::CallWait, 1000.0, 46.21)],
    ),
];

/// What of a victim is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Score {
    CallRate,
    CallWait,
    SparseRate,
    SparseWait,
    Downloads,
    Names,
}

const SCORES: [Score; 6] = [
    Score::CallRate,
    Score::CallWait,
    Score::SparseRate,
    Score::SparseWait,
    Score::Downloads,
    Score::Names,
];

impl Score {
    /// A download may have what its host is due, where the other discipline gives it more.
    fn of(self, outcome: &Outcome) -> f64 {
        let got = |host: u32| &outcome.got[host as usize];
        match self {
            Score::CallRate => got(CALL).bytes as f64,
            Score::SparseRate => got(SPARSE).bytes as f64,
            Score::Downloads => outcome.downloads() as f64 / outcome.due as f64,
            Score::CallWait => got(CALL).p95(),
            Score::SparseWait => got(SPARSE).p95(),
            Score::Names => outcome.names_p95(),
        }
    }

    const fn is_wait(self) -> bool {
        matches!(self, Score::CallWait | Score::SparseWait | Score::Names)
    }

    /// Whether it is of a host that stays below its share. A download wants more, and lends turns at first.
    const fn is_of_victims(self) -> bool {
        !matches!(self, Score::Downloads)
    }

    /// How far `ours` is from what is allowed beside `other`: below 0 it is worse.
    fn margin(self, ours: f64, other: f64) -> f64 {
        match self.is_wait() {
            true => of_waits(ours, other),
            false if !self.is_of_victims() => of_rates(ours, other.min(1.0)),
            false => of_rates(ours, other),
        }
    }
}

/// What comes of an attack with `judged`, and with cake. Cake is judged beside itself with other seeds.
fn both(attack: &Attack, judged: &str, seed: u64, [from, to]: [u64; 2]) -> [Outcome; 2] {
    let other = if judged == CAKE { seed + SEEDS } else { seed };
    [(judged, seed), (CAKE, other)]
        .map(|(choice, seed)| Line::new(attack, choice, seed, None).run(from, to))
}

/// The scores in which the mean of ten is worse, with the interval of the mean below what is allowed.
fn told(attack: &Attack, judged: &str) -> Vec<Worse> {
    let runs: Vec<_> = (0..SEEDS)
        .map(|seed| both(attack, judged, seed, RUN))
        .collect();
    let worse = SCORES.iter().filter_map(|&score| {
        let margins = runs.iter().map(|[ours, other]| {
            let [ours, other] = [ours, other].map(|outcome| score.of(outcome));
            score.margin(ours, other)
        });
        let margins: Vec<f64> = margins.collect();
        let mean_of = |which: usize| {
            let sum: f64 = runs.iter().map(|run| score.of(&run[which])).sum();
            sum / SEEDS as f64
        };
        let told = is_told(&margins) && (score.is_of_victims() || lasts(score, attack, judged));
        told.then(|| (score, mean_of(0), mean_of(1)))
    });
    worse.collect()
}

/// Whether it is worse when no host has allowance left.
fn lasts(score: Score, attack: &Attack, judged: &str) -> bool {
    let [ours, other] = both(attack, judged, 0, SPENT);
    score.margin(score.of(&ours), score.of(&other)) < 0.0
}

/// Whether one run looks worse; ten are not worth while for what does not last.
fn looks_bad(attack: &Attack, judged: &str) -> bool {
    let [ours, other] = both(attack, judged, 0, RUN);
    SCORES.iter().any(|&score| {
        let worse = score.margin(score.of(&ours), score.of(&other)) < 0.0;
        worse && (score.is_of_victims() || lasts(score, attack, judged))
    })
}

/// Whether it is worse: in one run, and then in ten.
fn is_bad(attack: &Attack, judged: &str) -> bool {
    looks_bad(attack, judged) && !told(attack, judged).is_empty()
}

/// The attacks with these numbers, of which none is known to be bad.
fn drawn(from: u64, count: u64) -> impl Iterator<Item = Attack> {
    let attacks = (from..from + count).map(|seed| Attack::random(&mut Stream::new(seed, "attack")));
    let known = KNOWN.map(|(numbers, _)| Attack::from(numbers));
    attacks.filter(move |attack| !known.contains(attack))
}

/// The bad ones, each printed, or the simplest attack that is as bad.
fn bad_of(attacks: impl Iterator<Item = Attack>, judged: &str) -> usize {
    let minimise = number("ANALECTS_MINIMISE", 0) == 1;
    let bad = attacks.filter(|attack| is_bad(attack, judged));
    let shown = bad.map(|attack| {
        let simplest = if minimise {
            attack.minimised(|attack| is_bad(attack, judged))
        } else {
            attack
        };
        println!("{simplest:?}");
        for (score, ours, cake) in told(&simplest, judged) {
            println!("    {score:?} {ours:.2}, cake {cake:.2}");
        }
    });
    shown.count()
}

/// What became harmless leaves the list of the known, and nothing in it becomes worse.
#[test]
fn what_is_known_is_still_so() {
    for (numbers, recorded) in KNOWN {
        let attack = Attack::from(numbers);
        let found = told(&attack, "mencius");
        let scores = |worse: &[Worse]| worse.iter().map(|known| known.0).collect::<Vec<_>>();
        assert_eq!(scores(&found), scores(recorded), "{attack:?}: {found:?}");
        for ((score, ours, _), (_, then, _)) in found.iter().zip(recorded) {
            let margin = score.margin(*ours, *then);
            assert!(margin >= 0.0, "{attack:?}: {score:?} {ours}, was {then}");
        }
    }
}

/// Where both count bytes, a call's picture finds room in a buffer of 100 full packets beside small ones.
#[test]
fn a_limit_in_bytes_has_room_for_a_picture() {
    let attack = Attack::from(KNOWN[1].0);
    let bytes = attack.value("buffer, packets") * 1500;
    let judged = format!("mencius,limit=1000000,memory_limit={bytes}B");
    assert!(told(&attack, &judged).is_empty());
}

/// What the search has found and what was mended, or what does not last: each stays harmless.
const FOUND: [[usize; 16]; 15] = [
    [2, 2, 0, 2, 1, 4, 0, 1, 0, 1, 1, 2, 1, 0, 4, 0],
    [3, 0, 1, 2, 4, 2, 3, 0, 1, 1, 2, 3, 0, 1, 3, 0],
    // Who came back within a round stood behind all that always have packets.
    [4, 3, 1, 3, 4, 2, 1, 0, 0, 2, 1, 3, 2, 1, 2, 1],
    [1, 0, 0, 2, 4, 2, 1, 2, 2, 2, 3, 3, 2, 1, 1, 2],
    [4, 2, 1, 3, 4, 3, 3, 1, 1, 2, 3, 1, 2, 0, 4, 3],
    [4, 2, 1, 2, 3, 3, 2, 0, 3, 2, 1, 1, 2, 3, 2, 1],
    [1, 2, 0, 2, 3, 2, 1, 2, 5, 1, 3, 1, 3, 1, 2, 3],
    [4, 2, 1, 2, 0, 1, 3, 1, 1, 0, 3, 3, 3, 3, 1, 1],
    // Of those that come back each sent what was left of its quantum, and a look-up waited for it.
    [4, 0, 1, 3, 4, 2, 0, 1, 4, 2, 1, 0, 2, 2, 0, 0],
    [4, 2, 1, 0, 4, 3, 1, 1, 1, 0, 1, 3, 1, 3, 4, 3],
    [4, 3, 0, 3, 4, 4, 2, 0, 5, 0, 3, 1, 1, 3, 0, 1],
    [4, 3, 1, 2, 3, 4, 3, 1, 3, 0, 1, 0, 0, 1, 3, 1],
    [1, 3, 0, 0, 4, 4, 3, 1, 3, 2, 0, 3, 3, 3, 2, 3],
    [4, 3, 1, 3, 2, 4, 3, 1, 0, 1, 1, 2, 0, 3, 0, 2],
    // Bad if who comes back shares the credit of newcomers: many that do would have half of the line together.
    [2, 1, 0, 0, 4, 0, 3, 0, 5, 2, 0, 3, 1, 1, 4, 0],
];

#[test]
fn what_was_found_stays_harmless() {
    let found = bad_of(FOUND.map(Attack::from).into_iter(), "mencius");
    assert_eq!(found, 0, "attacks do more harm than under cake");
}

#[test]
fn no_attack_harms_more_than_under_cake() {
    let attacks = drawn(
        number("ANALECTS_ATTACKS_FROM", 0),
        number("ANALECTS_ATTACKS", 40),
    );
    let found = bad_of(attacks, "mencius");
    assert_eq!(found, 0, "attacks do more harm than under cake");
}

/// The zero of the search: what it finds of a discipline beside itself is chance.
#[test]
fn cake_beside_itself_is_no_find() {
    let attacks = number("ANALECTS_ATTACKS", 40).div_ceil(4);
    let found = bad_of(drawn(number("ANALECTS_ATTACKS_FROM", 0), attacks), CAKE);
    assert_eq!(found, 0, "cake is worse than itself");
}
