//! Claims about facts, and the theory's value next to a measurement.

use super::*;
use crate::data::Data;
use crate::experiment::Experiment;
use crate::testing::{NoEngine, first_cell, run};
use scenario::ScenarioError;

fn experiment(claim: &str) -> Result<Experiment, Refusal> {
    with_seeds(4, claim).map_err(|error| Refusal::new(error.message))
}

fn with_seeds(seeds: u64, claim: &str) -> Result<Experiment, ScenarioError> {
    let text = format!(
        r#"
        title = "t"
        paper = "p"
        about = "a"
        cases = ["pfifo"]
        seeds = {seeds}
        [scenario]
        name = "s"
        [[vary]]
        name = "flows"
        path = "traffic.web.count"
        values = ["12", "60"]
        [[claim]]
        id = "c"
        question = "q"
        {claim}"#
    );
    Experiment::parse("test", "test.toml", &text)
}

fn checked(claim: &str) -> Checked {
    first_cell(&experiment(claim).unwrap(), &[])
}

#[test]
fn facts_are_compared() {
    // 11 · 15 kB at 20 Mbit/s are 66 ms; 99 of them are 594: 800 % more.
    let many = "fact = \"theory cbq flows=100 of completion integral\"\n";
    let few = "to = \"theory cbq flows=12 of completion integral\"\n";
    let of = |rest: &str| checked(&format!("{many}{rest}"));
    let alone = of("expect = \"590 to 600\"");
    assert_eq!((alone.inside, alone.unit.as_str()), (Some(true), "ms"));
    let change = of(&format!("{few}expect = \"799 to 801\""));
    assert_eq!((change.inside, change.unit.as_str()), (Some(true), "%"));
    let less = of(&format!(
        "{few}as = \"difference\"\nexpect = \"at most 527\""
    ));
    assert_eq!((less.inside, less.unit.as_str()), (Some(false), "ms"));
    // 528 of 594.
    let spread = of(&format!("{few}as = \"spread\"\nexpect = \"88.8 to 88.9\""));
    assert_eq!((spread.inside, spread.unit.as_str()), (Some(true), "%"));
    let none =
        checked("fact = \"theory confucius weights of delay corrected\"\nexpect = \"at least 0\"");
    assert_eq!(none.inside, None);
    assert!(none.note.contains("there is no theory"), "{}", none.note);
}

#[test]
fn the_theory_stands_beside_a_measurement() {
    let claim = |bound: &str| {
        format!(
            "metric = \"stall\"\nof = \"pfifo\"\neach = \"flows\"\nexpect = \"at most 1\"\nbound = \"{bound}\""
        )
    };
    let written = experiment(&claim("fq flows={flows}")).unwrap();
    let data = Data::default();
    let facts = Facts::new(&NoEngine, &data);
    let records = Records::new(written.design(), false, &facts, &[]);
    let at = |flows: &str| {
        let place = Settings::from([("flows".to_owned(), flows.to_owned())]);
        written.written.claim[0].theory(&records, &place).unwrap()
    };
    // 12 · (30.01 + 5 + 40) = 900 as printed, and 60 · 75.01 = 4501.
    assert_eq!(
        at("12"),
        "theory: a queue delay of 603 ms in the fluid model, 900 ms by table 1"
    );
    assert!(at("60").contains(", 4501 ms by"), "{}", at("60"));
    for (bound, part) in [
        ("drr flows={flows}", "\"drr\""),
        ("fq flows={size}", "flows"),
    ] {
        let error = experiment(&claim(bound)).unwrap_err().to_string();
        assert!(
            error.contains("claim \"c\"") && error.contains(part),
            "{error}"
        );
    }
}

/// Five links of two cases each, one run of each: the mean is that of the links, and has an interval.
/// An interval needs four runs, so that a claim about three is never decided; facts need none.
#[test]
fn too_few_seeds_are_refused() {
    let refused = |claim: &str| with_seeds(3, &format!("{claim}\nexpect = \"at most 0\"")).err();
    let error = refused("metric = \"stall\"\nof = \"pfifo\"").unwrap();
    let parts = ["claim \"c\"", "3 seeds decide nothing", "seeds = 4"];
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    assert!(refused("fact = \"theory fq flows=12 of delay printed\"").is_none());
}

#[test]
fn pooled_cases_have_each_combination_as_a_unit() {
    let text = |rest: &str| {
        format!(
            r#"
            title = "t"
            paper = "p"
            about = "a"
            cases = ["pfifo", "fq"]
            [scenario]
            name = "s"
            [[vary]]
            name = "flows"
            path = "traffic.web.count"
            values = ["1", "2", "3", "4", "5"]
            [[claim]]
            id = "c"
            question = "q"
            metric = "credited"
            of = ["pfifo", "fq"]
            pooled = true
            expect = "at least 1"
            {rest}"#
        )
    };
    let parse = |rest: &str| Experiment::parse("test", "test.toml", &text(rest));
    assert!(parse("to = \"fq\"").unwrap_err().message.contains("pooled"));
    let experiment = parse("").unwrap();
    let run = |(flows, case, value): (u32, &str, f64)| measure::RunResult {
        variant: [("flows".to_owned(), flows.to_string())].into(),
        ..run(case, 1, "credited", value)
    };
    // Links' means are 10, 20, 30, 40 and 50.
    let of = |flows: u32| {
        let value = 10.0 * f64::from(flows);
        [(flows, "pfifo", value - 1.0), (flows, "fq", value + 1.0)]
    };
    let runs: Vec<_> = (1..=5).flat_map(of).map(run).collect();
    let checked = first_cell(&experiment, &runs);
    assert_eq!(checked.ours, Some(30.0));
    let (low, high) = checked.ci95.unwrap();
    assert!(low < 22.0 && 38.0 < high && checked.inside == Some(true));
}
