//! Engines with the same results agree, and one with another link does not.

use crate::common::Folder;
use campaign::{Keeping, Progress, Store};
use link::Capacity;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use reproduce::agreement::{AgreementVerdict, Compared, compare};
use reproduce::{Data, Experiment, Wanted, outcome, page, registry};
use scenario::{Choice, Names, Scenario};
use sim::Simulator;
use units::Rate;

const EXPERIMENT: &str = r#"
title = "a transfer"
paper = "none"
about = "small"
cases = ["pfifo", "fq_codel"]
seeds = 8

[scenario]
name = "small"
duration = "4s"
warmup = "1s"

[scenario.link]
rate = "10mbit"
rtt = "40ms"
buffer = "100p"

[[scenario.traffic]]
name = "bulk"
kind = "bulk"
control = "cubic"
"#;

/// The simulator with a link of 12 Mbit/s, regardless of the scenario.
struct Faster(Simulator);

impl Engine for Faster {
    fn name(&self) -> &'static str {
        "faster"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        self.0.check(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let mut scenario = scenario.clone();
        scenario.links[0].capacity = Capacity::Constant(Rate::from_bits(12_000_000));
        self.0.run(&scenario, discipline, seed, sink)
    }
}

/// The simulator on a host that is too slow for one run.
struct Slow(Simulator);

const SLOW: &str = "this host was too slow";

impl Engine for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        self.0.check(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let mut links = self.0.run(scenario, discipline, seed, sink)?;
        if discipline.name == "pfifo" && seed == 3 {
            links[0].doubt = Some(SLOW.to_owned());
        }
        Ok(links)
    }
}

struct Silent;

impl Progress for Silent {
    fn done(&self) {}
}

fn rows(folder: &Folder, witness: &dyn Engine) -> Vec<(String, &'static str, AgreementVerdict)> {
    let rows = compared(folder, witness).figures.into_iter();
    rows.map(|row| (row.case, row.metric, row.verdict))
        .collect()
}

fn compared(folder: &Folder, witness: &dyn Engine) -> Compared {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let experiment = Experiment::parse("engines/small", "small.toml", EXPERIMENT).unwrap();
    let wanted = Wanted {
        quick: false,
        data: &Data::default(),
    };
    let store = Store::open(&folder.0).unwrap();
    let [ours, theirs] = ["a", "b"].map(|basis| Keeping {
        store: &store,
        basis,
    });
    let engines: [(&dyn Engine, Keeping<'_>); 2] = [(&simulator, ours), (witness, theirs)];
    compare(engines, names, &experiment, wanted, &Silent).unwrap()
}

/// An engine with the limits of Linux, without one.
struct Linux;

impl Engine for Linux {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        linux::unsupported(scenario)
    }

    fn run(
        &self,
        _: &Scenario,
        _: &Choice,
        _: u64,
        _: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        unreachable!("nothing is run")
    }
}

#[test]
fn linux_can_run_what_it_is_asked_to_confirm() {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let wanted = Wanted {
        quick: false,
        data: &Data::default(),
    };
    let experiments = registry::find_for_engines("engines/all").unwrap();
    assert_eq!(experiments.len(), 10);
    for experiment in &experiments {
        let grid = experiment.grid(wanted).unwrap();
        grid.plan(&Linux, names).unwrap();
    }
}

#[test]
fn the_same_engine_agrees_with_itself_and_another_link_is_noticed() {
    let folder = Folder::new("agreement");
    let same = rows(&folder, &Simulator::default());
    let compared: Vec<(&str, &str)> = same.iter().map(|(c, m, _)| (c.as_str(), *m)).collect();
    let metrics = ["utilization", "sojourn", "flow_rate", "flow_delay"];
    let of = |case| metrics.map(|metric| (case, metric));
    let expected = ["pfifo", "fq_codel"].map(of).concat();
    assert_eq!(compared, expected);
    assert!(
        same.iter()
            .all(|(_, _, verdict)| *verdict == AgreementVerdict::Agrees)
    );
    let other = rows(&folder, &Faster(Simulator::default()));
    let rates = other.iter().filter(|(_, metric, _)| *metric == "flow_rate");
    let verdicts: Vec<AgreementVerdict> = rates.map(|(_, _, verdict)| *verdict).collect();
    assert_eq!(verdicts, [AgreementVerdict::Differs; 2]);
}

/// A run that is not to be believed stands as such beside each figure that it is in.
#[test]
fn runs_that_are_not_to_be_believed_are_marked() {
    let folder = Folder::new("agreement-slow");
    let compared = compared(&folder, &Slow(Simulator::default()));
    let told = format!("not to be believed: pfifo, seed 3: {SLOW}");
    assert_eq!(compared.invalid, [format!("engines/small: {told}")]);
    let rows = &compared.figures;
    assert!(rows.iter().all(|row| row.invalid == (row.case == "pfifo")) && rows.len() == 8);

    let claim = |case: &str, to: &str| {
        format!(
            "[[claim]]\nid = \"{case}{}\"\nquestion = \"fast?\"\nmetric = \"flow_rate\"\n\
             of = \"{case}\"\n{to}expect = \"at least 0\"\n",
            to.len()
        )
    };
    let claims = [
        claim("pfifo", ""),
        claim("fq_codel", ""),
        claim("fq_codel", "to = \"pfifo\"\n"),
    ];
    let text = format!("{EXPERIMENT}\n{}", claims.concat());
    let experiment = Experiment::parse("own/small", "small.toml", &text).unwrap();
    let (engine, store) = (Slow(Simulator::default()), Store::open(&folder.0).unwrap());
    let keeping = Keeping {
        store: &store,
        basis: "slow",
    };
    let wanted = Wanted {
        quick: false,
        data: &Data::default(),
    };
    let found = outcome(
        &engine,
        &engine.0,
        &experiment,
        wanted,
        keeping,
        &Silent,
        "0",
    )
    .unwrap();
    assert_eq!(found.invalid, told.clone() + "\n");
    let cells = || found.claims.iter().map(|claim| &claim.checks[0].cells[0]);
    let marked: Vec<bool> = cells().map(|cell| cell.invalid).collect();
    assert_eq!(marked, [true, false, true]);
    let ours: Vec<bool> = cells()
        .map(|cell| page::ours(cell).ends_with(" (!)"))
        .collect();
    assert_eq!(ours, marked);
    assert!(page::html(&found).contains(&told));
    for text in [page::markdown(&found), page::beside(&[found])] {
        assert!(text.contains(&format!("**{told}**")), "{text}");
    }
}
