//! Parts of a scenario that the kernel engine cannot run.

use crate::disciplines;
use measure::Unsupported;
use qdisc::Home;
use scenario::Scenario;
use units::{Duration, Refusal};

/// The parts of `scenario` that the kernel engine cannot run, independent of the discipline.
pub fn unsupported(scenario: &Scenario) -> Vec<Unsupported> {
    let mut found = guest::unsupported(scenario);
    let mut refuse = |entry: String, refusal: Refusal| {
        found.push(Unsupported { entry, refusal });
    };
    if let Some(refusal) = scenario.stack.needs_webrtc() {
        refuse("stack".to_owned(), refusal);
    }
    if scenario.links.len() != 1 {
        let reason = "there is one bottleneck, not a chain of them";
        refuse("links".to_owned(), Refusal::new(reason));
    }
    for link in &scenario.links {
        if link.wire.device > 0 {
            let reason = "packets leave the discipline one by one; there is no device behind it";
            refuse(format!("link.{}.device", link.name), Refusal::new(reason));
        }
        if link.wire.delay > Duration::ZERO {
            let reason = "all of the round trip is at its ends";
            refuse(format!("link.{}.delay", link.name), Refusal::new(reason));
        }
        if link.wire.grants > Duration::ZERO {
            let reason = "netem delays packets one by one, and not in groups";
            refuse(format!("link.{}.grants", link.name), Refusal::new(reason));
        }
        let own = link.discipline.iter();
        let own = own.chain(link.up.iter().filter_map(|up| up.discipline.as_ref()));
        for choice in own {
            if let Err(refusal) = disciplines::told(choice, None, Home::Receivers) {
                refuse(format!("link.{}.discipline", link.name), refusal);
            }
        }
    }
    for choice in &scenario.disciplines {
        if let Err(refusal) = disciplines::told(choice, None, Home::Receivers) {
            refuse("disciplines".to_owned(), refusal);
        }
    }
    for traffic in &scenario.traffic {
        if traffic.kind.workload.rtt_spread() > 0.0 {
            let reason = "all origins are as far away as the scenario says";
            let entry = format!("traffic.{}.rtt_spread", traffic.name);
            refuse(entry, Refusal::new(reason));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_cannot_be_run_is_listed_with_its_reason() {
        let scenario = samples::read(
            r#"
            disciplines = ["pfifo", "fq_fifo", "pie,tarket=1"]
            stack = "ns3"
            ack_every = 4
            receive_window = "1MB"
            senders = "1s"
            [[link]]
            name = "a"
            rate = "20mbit"
            device = 3
            [[link]]
            name = "b"
            rate = "20mbit"
            discipline = "cbq"
            [[traffic]]
            name = "x"
            kind = "bulk"
            control = "prague"
            access = "1gbit"
            [[traffic]]
            name = "y"
            kind = "page"
            control = "bbr,version=9"
            rtt_spread = 0.5
            [[traffic]]
            name = "z"
            kind = "call"
            control = "gcc"
            session = { payload = 8000 }
            "#,
        );
        let found: Vec<String> = unsupported(&scenario)
            .iter()
            .map(ToString::to_string)
            .collect();
        let entries: Vec<&str> = found.iter().map(|f| f.split(':').next().unwrap()).collect();
        assert_eq!(
            entries,
            [
                "stack",
                "ack_every",
                "receive_window",
                "senders",
                "traffic.x.access",
                "traffic.x.control",
                "traffic.y.control",
                "traffic.z.session",
                "links",
                "link.a.device",
                "link.b.discipline",
                "disciplines",
                "disciplines",
                "traffic.y.rtt_spread",
            ],
            "{found:#?}"
        );
        assert!(unsupported(&samples::bulk("control = \"cubic\"")).is_empty());
        let conference = samples::read(
            r#"
            disciplines = ["pfifo"]
            link = { rate = "20mbit" }
            traffic = [{ name = "x", kind = "conference" }]
            "#,
        );
        assert_eq!(unsupported(&conference), []);
    }
}
