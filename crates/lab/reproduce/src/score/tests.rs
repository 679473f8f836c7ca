//! Runs that were made up, whose verdicts are known.

use super::*;
use crate::claim::Judged;
use crate::data::Data;
use crate::departures::Departures;
use crate::experiment::Experiment;
use crate::facts::Facts;
use crate::testing::NoEngine;
use measure::{PageResult, RunResult};

const TEXT: &str = r#"
title = "t"
paper = "p"
about = "a"
cases = ["fq_codel", "mencius", "cake"]
[scenario]
name = "s"
[[vary]]
name = "rate"
path = "link.rate"
values = ["1mbit", "2mbit"]
"#;

/// A run in which a page takes `load` ms, with Jain's index `jfi`.
fn run(case: &str, link: &str, seed: u64, load: f64, jfi: f64) -> RunResult {
    RunResult {
        discipline: case.to_owned(),
        seed,
        variant: Settings::from([("rate".to_owned(), link.to_owned())]),
        pages: vec![PageResult {
            plt_ms: Some(load),
            ..PageResult::default()
        }],
        jfi: Some(jfi),
        ..RunResult::default()
    }
}

/// Thirty seeds. At 1 Mbit/s a page takes about 100 ms under `mencius`, 1000 under `fq_codel`, none under
/// `cake`; at 2 it takes none at all.
fn runs() -> Vec<RunResult> {
    let mut runs = Vec::new();
    for link in ["1mbit", "2mbit"] {
        for (case, load) in [("fq_codel", 1000.0), ("mencius", 100.0), ("cake", 0.0)] {
            for seed in 1..=30_u64 {
                let noise = 1.0 + 0.1 * ((seed * 7 % 11) as f64 - 5.0) / 5.0;
                let load = if link == "1mbit" { load * noise } else { 0.0 };
                let jfi = if case == "cake" { 0.98 } else { 1.0 };
                runs.push(run(case, link, seed, load, jfi));
            }
        }
    }
    runs
}

fn scored(score: &str) -> Result<Scored, Refusal> {
    let experiment = Experiment::parse("test", "test.toml", &format!("{TEXT}{score}"))
        .map_err(|error| Refusal::new(error.message))?;
    let data = Data::default();
    let facts = Facts::new(&NoEngine, &data);
    let runs = runs();
    let records = Records::new(experiment.design(), false, &facts, &runs);
    let scores = &experiment.written.score;
    scores[0].scored(&records, scores)
}

const LOADS: &str = r#"
[[score]]
title = "loads"
of = "mencius"
metric = "plt"
margin = 5
"#;

#[test]
fn better_in_one_cell_and_worse_against_another_rival() {
    let scored = scored(LOADS).unwrap();
    assert_eq!(scored.rivals(), ["fq_codel", "cake"]);
    assert_eq!(
        scored.counts("fq_codel"),
        [1, 1, 0, 0],
        "better, and the same"
    );
    assert_eq!(scored.counts("cake"), [0, 1, 1, 0]);
    let lost = scored.lost();
    assert_eq!((lost.len(), &lost[0].rival[..]), (1, "cake"));
    assert_eq!(lost[0].cell, ["1mbit"]);
    assert!((lost[0].worse_by.value - 100.0).abs() < 10.0);
    let [ours, theirs] = scored.means("fq_codel");
    assert!((ours - 50.0).abs() < 5.0 && (theirs - 500.0).abs() < 50.0);
}

#[test]
fn a_large_margin_forgives_it() {
    let scored = scored(&LOADS.replace("= 5", "= 1000")).unwrap();
    assert_eq!(scored.counts("cake"), [0, 2, 0, 0]);
}

/// At 1 Mbit/s a page takes 100 ms longer than under `cake`.
#[test]
fn a_value_of_an_axis_may_have_a_margin_of_its_own() {
    let at = |link: &str, margin: u32| {
        let margins = format!("{LOADS}[score.margins]\nrate = {{ \"{link}\" = {margin} }}");
        scored(&margins).unwrap()
    };
    assert_eq!(at("1mbit", 1000).counts("cake"), [0, 2, 0, 0]);
    assert_eq!(at("1mbit", 50).counts("cake"), [0, 1, 1, 0]);
    assert_eq!(at("2mbit", 1000).counts("cake"), [0, 1, 1, 0]);
    assert_eq!(at("1mbit", 1000).margin, "5 ms (1000 at rate 1mbit)");
    let refused = |margins: &str| {
        let text = format!("{LOADS}[score.margins]\n{margins}");
        scored(&text).unwrap_err().to_string()
    };
    assert!(refused("rate = { \"3mbit\" = 9 }").contains("3mbit"));
    assert!(refused("rate = { \"2mbit\" = -9 }").contains("margin -9"));
}

#[test]
fn it_is_claimed_in_how_many_cells_it_is_worse() {
    let claimed = |text: &str| {
        let place = crate::claim::ClaimsPlace {
            experiment: "matrix/test",
            calls: None,
            paper: "p",
            departures: &Departures::default(),
        };
        scored(text).unwrap().claimed(place, false)
    };
    assert!(claimed(LOADS).is_none());
    let at_most = |most: u32| {
        let claim = claimed(&format!("{LOADS}worse_in_at_most = {most}")).unwrap();
        assert_eq!(claim.checks[0].cells[0].ours, Some(1.0));
        claim
    };
    let inside = |claim: &Judged| claim.checks[0].cells[0].inside;
    assert_eq!(inside(&at_most(0)), Some(false));
    let holds = at_most(1);
    assert_eq!(inside(&holds), Some(true));
    assert_eq!(
        holds.sentence,
        "loads: mencius is worse by more than 5 ms than any one of fq_codel, cake in at most 1 of 2 \
         combinations"
    );
    assert_eq!(
        holds.checks[0].cells[0].note,
        "Worse than fq_codel 0 (0 cannot be told), cake 1 (0 cannot be told); \
         than at least one of them in 1"
    );
}

/// `mencius` is worse than `cake`, but not than `fq_codel`.
#[test]
fn it_can_be_enough_to_be_no_worse_than_another() {
    let or = |case: &str| format!("{LOADS}to = \"cake\"\nor = {case:?}");
    assert_eq!(
        scored(&or("fq_codel")).unwrap().counts("cake"),
        [0, 2, 0, 0]
    );
    assert_eq!(scored(&or("cake")).unwrap().counts("cake"), [0, 1, 1, 0]);
    assert!(
        scored(&or("caek"))
            .unwrap_err()
            .to_string()
            .contains("caek")
    );
}

/// `cake` loads pages faster, but its index is lower than that of others.
#[test]
fn a_rival_counts_where_it_does_not_lose_what_it_has_to_fit() {
    let fit = |to: &str, margin| {
        format!(
            "{LOADS}fit = \"shares\"\n[[score]]\ntitle = \"shares\"\nof = \"mencius\"\n\
             to = {to:?}\nmetric = \"jfi\"\nmargin = {margin}\npercent = true"
        )
    };
    let against_cake = |text: &str| scored(text).unwrap().counts("cake");
    assert_eq!(against_cake(&fit("mencius", 1)), [0, 0, 0, 0]);
    assert_eq!(against_cake(&fit("mencius", 3)), [0, 1, 1, 0]);
    assert_eq!(
        against_cake(&fit("cake", 1)),
        [0, 1, 1, 0],
        "not against itself"
    );
    let there = scored(&fit("mencius", 1)).unwrap().counts("fq_codel");
    assert_eq!(there, [1, 1, 0, 0], "whoever fits stays");
    let none = scored(&LOADS.replace("margin", "fit = \"loads\"\nmargin")).unwrap_err();
    assert!(none.to_string().contains("loads"), "{none}");
}

/// More of Jain's index is better: cake's 0.98 is 2 % less.
#[test]
fn where_more_is_better_less_is_worse() {
    let fairness = |of: &str, margin| {
        let text = format!(
            "[[score]]\ntitle = \"r\"\nof = {of:?}\nto = [\"mencius\"]\nmetric = \"jfi\"\n\
             margin = {margin}\npercent = true\n[score.where]\nrate = \"2mbit\""
        );
        scored(&text).unwrap().counts("mencius")
    };
    assert_eq!(fairness("cake", 1), [0, 0, 1, 0]);
    assert_eq!(fairness("cake", 3), [0, 1, 0, 0]);
    assert_eq!(fairness("fq_codel", 1), [0, 1, 0, 0]);
}

#[test]
fn a_sample_of_none_is_refused() {
    let text = TEXT.replace("cases =", "sample = 0\ncases =");
    let refused = Experiment::parse("test", "test.toml", &text).unwrap_err();
    assert!(refused.to_string().contains("sample = 0"), "{refused}");
}

#[test]
fn whoever_draws_says_how_many_and_by_what() {
    let read = |keys: &str| {
        let text = TEXT.replace("cases =", &format!("{keys}\ncases ="));
        Experiment::parse("test", "test.toml", &text)
    };
    let drawn = read("sample = 1\ndraw = \"2ce8cb7\"").unwrap();
    let sentence = "Drawn by 2ce8cb7 from 2 combinations.";
    assert_eq!(drawn.drawn_by().as_deref(), Some(sentence));
    let other = drawn.clone().with_draw("v1.0").unwrap();
    assert_eq!(other.written.draw.as_deref(), Some("v1.0"));
    assert!(drawn.with_draw("a b").is_err());
    let fixed = read("sample = 1").unwrap().with_draw("v1.0").unwrap();
    assert_eq!(fixed.drawn_by(), None, "fixed beforehand");
    let refused = read("draw = \"2ce8cb7\"").unwrap_err().to_string();
    assert!(refused.contains("draw without a sample"), "{refused}");
}

#[test]
fn what_it_names_has_to_exist() {
    let wrong = |from: &str, to: &str| scored(&LOADS.replace(from, to)).unwrap_err().to_string();
    assert!(wrong("\"mencius\"", "\"menicus\"").contains("menicus"));
    assert!(wrong("plt", "plts").contains("plts"));
    assert!(wrong("= 5", "= -1").contains("margin -1"));
    assert!(wrong("plt", "marks").contains("marks"));
    let place = scored(&format!("{LOADS}[score.where]\nrate = \"3mbit\"")).unwrap_err();
    assert!(place.to_string().contains("3mbit"), "{place}");
}
