//! A search for attacks under which a call with GCC, look-ups or Cubic's downloads are served worse under `mencius`
//! than under `cake`.
//!
//! `ANALECTS_ATTACKS=2000` tries so many, `ANALECTS_ATTACKS_FROM=1000` others, and `ANALECTS_MINIMISE=1` finds the
//! simplest that is as bad.

use super::attack::Attack;
use super::household::{due, has_call, scenario, set};
use super::verdict::{SEEDS, is_told, of_rates, of_waits};
use crate::common::resolve;
use measure::RunResult;
use sim::Simulator;
use units::random::Stream;

const MENCIUS: &str = "mencius";
const CAKE: &str = "cake,flowmode=dual-dsthost";
/// ms.
const FOREVER: f64 = 1e6;

/// What somebody gets, of which a discipline should leave no less than cake.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Score {
    CallRate,
    CallWait,
    Answered,
    Answers,
    Downloads,
}

const SCORES: [Score; 5] = [
    Score::CallRate,
    Score::CallWait,
    Score::Answered,
    Score::Answers,
    Score::Downloads,
];

impl Score {
    /// Mbit/s, ms, or % of look-ups that arrived. A wait of which nothing is known is forever.
    fn of(self, run: &RunResult) -> f64 {
        let call = run.calls.first();
        let figure = |name: &str| {
            let mut figures = run.figures.iter();
            figures.find(|row| row.name == "names" && row.figure == name)
        };
        let known = match self {
            Score::CallRate => call.map(|call| call.goodput_mbps),
            Score::CallWait => call.and_then(|call| call.sojourn_ms.p95),
            Score::Answered => figure("udp_lost")
                .and_then(|row| row.value)
                .map(|lost| 100.0 - lost),
            Score::Answers => figure("udp_answered").and_then(|row| row.p95),
            Score::Downloads => {
                let transfers = run.flows.iter().filter(|flow| flow.control == "cubic");
                Some(transfers.map(|flow| flow.goodput_mbps).sum())
            }
        };
        known.unwrap_or(if self.is_wait() { FOREVER } else { 0.0 })
    }

    const fn is_wait(self) -> bool {
        matches!(self, Score::CallWait | Score::Answers)
    }

    /// How far a run is from what is allowed.
    fn margin(self, attack: &Attack, [ours, other]: &[RunResult; 2]) -> f64 {
        self.margin_of(attack, [self.of(ours), self.of(other)])
    }

    /// How far it is from what is allowed: below 0 it is worse. Downloads may have what their hosts are due, where
    /// the other discipline gives them more.
    fn margin_of(self, attack: &Attack, [ours, other]: [f64; 2]) -> f64 {
        match self {
            Score::CallRate | Score::CallWait if !has_call(attack) => 0.0,
            Score::CallWait | Score::Answers => of_waits(ours, other),
            Score::CallRate | Score::Answered => of_rates(ours, other),
            Score::Downloads => of_rates(ours, other.min(due(attack) / 1e6)),
        }
    }
}

/// What is worse: the score, what it is, and what it is under cake.
type Worse = (Score, [f64; 2]);

/// Found by the search, and not mended, with what was worse then. GCC sends a picture faster than its computer's share,
/// and what is more than a quantum in a round waits for the next one.
const KNOWN: [([usize; 16], &[Worse]); 1] = [(
    [0, 1, 0, 1, 2, 4, 1, 2, 4, 2, 0, 3, 3, 2, 1, 2],
    &[(Score::CallWait, [11.54, 1.39])],
)];

/// What comes of an attack with `judged`, and with cake. Cake is judged beside itself with other seeds.
fn both(attack: &Attack, judged: &str, seed: u64) -> [RunResult; 2] {
    let other = if judged == CAKE { seed + SEEDS } else { seed };
    [(judged, seed), (CAKE, other)].map(|(choice, seed)| {
        let choice = set(attack, choice);
        let text = format!("disciplines = [\"{choice}\"]\n{}", scenario(attack));
        let scenario = resolve(&text).unwrap_or_else(|error| panic!("{attack:?}: {error}"));
        let choice = scenario.disciplines[0].clone();
        measure::run(&Simulator::default(), &scenario, &choice, seed, false).unwrap()
    })
}

/// The scores in which the mean of ten is worse, if one run is.
fn told(attack: &Attack, judged: &str) -> Vec<Worse> {
    let first = both(attack, judged, 0);
    if SCORES
        .iter()
        .all(|score| score.margin(attack, &first) >= 0.0)
    {
        return Vec::new();
    }
    let others = (1..SEEDS).map(|seed| both(attack, judged, seed));
    let runs: Vec<_> = std::iter::once(first).chain(others).collect();
    let worse = SCORES.into_iter().filter(|score| {
        let margins: Vec<f64> = runs.iter().map(|run| score.margin(attack, run)).collect();
        is_told(&margins)
    });
    let mean = |score: Score, which: usize| {
        let sum: f64 = runs.iter().map(|run| score.of(&run[which])).sum();
        sum / SEEDS as f64
    };
    worse
        .map(|score| (score, [mean(score, 0), mean(score, 1)]))
        .collect()
}

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap())
}

/// How many of them are bad, each printed, or the simplest attack that is as bad.
fn bad_of(attacks: impl Iterator<Item = Attack>, judged: &str) -> usize {
    let minimise = number("ANALECTS_MINIMISE", 0) == 1;
    let bad = attacks.filter(|attack| {
        let worse = told(attack, judged);
        if worse.is_empty() {
            return false;
        }
        println!("{attack:?}");
        for (score, [ours, cake]) in worse {
            println!("    {score:?} {ours:.2}, cake {cake:.2}");
        }
        if minimise {
            let simplest = attack
                .clone()
                .minimised(|attack| !told(attack, judged).is_empty());
            println!("    as {simplest:?}");
        }
        true
    });
    bad.count()
}

/// The attacks with these numbers, of which none is known to be bad.
fn drawn(from: u64, count: u64) -> impl Iterator<Item = Attack> {
    let attacks = (from..from + count).map(|seed| Attack::random(&mut Stream::new(seed, "attack")));
    let known = KNOWN.map(|(numbers, _)| Attack::from(numbers));
    attacks.filter(move |attack| !known.contains(attack))
}

/// What became harmless leaves the list of the known, and nothing in it becomes worse.
#[test]
#[ignore = "half a minute: `make test OF=slow`"]
fn what_is_known_is_still_so() {
    for (numbers, recorded) in KNOWN {
        let attack = Attack::from(numbers);
        let found = told(&attack, MENCIUS);
        let scores = |worse: &[Worse]| worse.iter().map(|known| known.0).collect::<Vec<_>>();
        assert_eq!(scores(&found), scores(recorded), "{attack:?}: {found:?}");
        for ((score, [ours, _]), (_, [then, _])) in found.iter().zip(recorded) {
            let margin = score.margin_of(&attack, [*ours, *then]);
            assert!(margin >= 0.0, "{attack:?}: {score:?} {ours}, was {then}");
        }
    }
}

#[test]
fn no_attack_harms_a_household_more_than_under_cake() {
    let attacks = drawn(
        number("ANALECTS_ATTACKS_FROM", 0),
        number("ANALECTS_ATTACKS", 4),
    );
    let found = bad_of(attacks, MENCIUS);
    assert_eq!(found, 0, "attacks do more harm than under cake");
}

/// The zero of the search: what it finds of a discipline beside itself is chance.
#[test]
fn cake_beside_itself_is_no_find() {
    let attacks = number("ANALECTS_ATTACKS", 4);
    let found = bad_of(drawn(number("ANALECTS_ATTACKS_FROM", 0), attacks), CAKE);
    assert_eq!(found, 0, "cake is worse than itself");
}
