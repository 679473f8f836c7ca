//! Every parameter at the ends of its range: a run ends, or is refused, and never panics.

use crate::common::{Record, resolve};
use measure::Engine;
use sim::Simulator;
use units::param::Spec;

/// A second of all kinds of traffic, with these pieces in it.
fn scenario(discipline: &str, control: &str, session: &str, call: &str, page: &str) -> String {
    format!(
        r#"
        duration = "1s"
        disciplines = ["{discipline}"]
        [link]
        rate = "8mbit"
        rtt = "20ms"
        up = {{ rate = "1mbit" }}
        [[traffic]]
        name = "call"
        kind = "call"
        control = "{control}"
        session = {{ {session} }}
        {call}
        [[traffic]]
        name = "page"
        kind = "page"
        source = "generated:1"
        {page}
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        "#
    )
}

/// Runs the scenario in `text`, unless it is refused; returns whether it ran.
fn run(text: &str) -> bool {
    let Ok(scenario) = resolve(text) else {
        return false;
    };
    let engine = Simulator::default();
    let mut record = Record::default();
    let result = engine.run(&scenario, &scenario.disciplines[0], 1, &mut record);
    result.is_ok()
}

/// The ends of a parameter's range, or both truth values.
fn extremes(spec: &Spec) -> Vec<&'static str> {
    match spec.range {
        Some((min, max)) => vec![min, max],
        None if spec.kind == "yes or no" => vec!["yes", "no"],
        None => Vec::new(),
    }
}

#[test]
fn disciplines() {
    for entry in qdisc::Registry::<u32>::builtin().iter() {
        for spec in entry.params {
            for value in extremes(spec) {
                let discipline = format!("{},{}={value}", entry.name, spec.name);
                run(&scenario(&discipline, "gcc", "", "", ""));
            }
        }
    }
}

/// A second of a transfer over QUIC, which alone has two subflows.
fn over_quic(control: &str) -> String {
    format!(
        r#"
        duration = "1s"
        disciplines = ["pfifo"]
        [link]
        rate = "8mbit"
        rtt = "20ms"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        carrier = "quic"
        control = "{control}"
        "#
    )
}

#[test]
fn controls() {
    for entry in cca::Registry::builtin().iter() {
        let of_a_call = run(&scenario("pfifo", entry.name, "", "", ""));
        assert!(of_a_call || run(&over_quic(entry.name)), "{}", entry.name);
        for spec in entry.params {
            for value in extremes(spec) {
                let control = format!("{},{}={value}", entry.name, spec.name);
                run(&scenario("pfifo", &control, "", "", ""));
                run(&over_quic(&control));
            }
        }
    }
}

#[test]
fn calls_and_their_sessions() {
    for control in ["gcc", "copa"] {
        for spec in transport::media::MediaParams::SPECS {
            for value in extremes(spec) {
                let session = format!("{} = \"{value}\"", spec.name);
                run(&scenario("pfifo", control, &session, "", ""));
            }
        }
        for spec in workload::encoder::CallParams::SPECS {
            for value in extremes(spec) {
                let call = format!("{} = \"{value}\"", spec.name);
                run(&scenario("pfifo", control, "", &call, ""));
            }
        }
    }
}

#[test]
fn pages() {
    for spec in workload::page::PageParams::SPECS {
        for value in extremes(spec) {
            let page = format!("{} = \"{value}\"", spec.name);
            run(&scenario("pfifo", "gcc", "", "", &page));
        }
    }
}

#[test]
fn links() {
    let plain = scenario("fq_codel", "gcc", "", "", "");
    for (from, to) in [
        ("8mbit", "1kbit"),
        ("8mbit", "1gbit"),
        ("20ms", "0s"),
        ("20ms", "60s"),
        ("1mbit", "1kbit"),
        ("rtt =", "buffer = \"1p\"\nrtt ="),
        ("rtt =", "buffer = \"1500B\"\nrtt ="),
        ("rtt =", "buffer = \"1000bdp\"\nrtt ="),
        ("rtt =", "overhead = \"1000B\"\nrtt ="),
    ] {
        assert_eq!(plain.matches(from).count(), 1, "{from}");
        assert!(run(&plain.replace(from, to)), "{to}");
    }
}
