//! What of a scenario the kernel engine cannot run.

use crate::network::MTU;
use crate::{controls, disciplines};
use measure::Unsupported;
use scenario::{Scenario, Stack, Traffic, addresses};
use units::{Duration, Refusal};
use workload::Rows;

/// What of `scenario` the kernel engine cannot run, whatever the discipline.
pub fn unsupported(scenario: &Scenario) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let mut refuse = |entry: String, refusal: Refusal| {
        found.push(Unsupported { entry, refusal });
    };
    if scenario.stack != Stack::Linux {
        refuse("stack".to_owned(), Refusal::new("this is Linux's own TCP"));
    }
    if scenario.pacing {
        let reason = "TCP is paced where its control names a rate, as bbr does, and not otherwise";
        refuse("pacing".to_owned(), Refusal::new(reason));
    }
    if scenario.links.len() != 1 {
        let reason = "there is one bottleneck, not a chain of them";
        refuse("links".to_owned(), Refusal::new(reason));
    }
    for link in &scenario.links {
        if link.device > 0 {
            let reason = "packets leave the discipline one by one; there is no device behind it";
            refuse(format!("link.{}.device", link.name), Refusal::new(reason));
        }
        if link.delay > Duration::ZERO {
            let reason = "all of the round trip is at its ends";
            refuse(format!("link.{}.delay", link.name), Refusal::new(reason));
        }
        let own = link.discipline.iter();
        let own = own.chain(link.up.iter().filter_map(|up| up.discipline.as_ref()));
        for choice in own {
            if let Err(refusal) = disciplines::told(choice, None) {
                refuse(format!("link.{}.discipline", link.name), refusal);
            }
        }
    }
    for choice in &scenario.disciplines {
        if let Err(refusal) = disciplines::told(choice, None) {
            refuse("disciplines".to_owned(), refusal);
        }
    }
    for traffic in &scenario.traffic {
        for (key, refusal) in unsupported_traffic(traffic) {
            refuse(format!("traffic.{}.{key}", traffic.name), refusal);
        }
    }
    found
}

/// Keys of an entry that cannot be run, and why.
fn unsupported_traffic(traffic: &Traffic) -> Vec<(&'static str, Refusal)> {
    let mut found = Vec::new();
    if traffic.access.is_some() {
        let reason = "senders have no link of their own in front of the bottleneck";
        found.push(("access", Refusal::new(reason)));
    }
    if traffic.count > addresses::FLOWS {
        let reason = format!("there are {} ports", addresses::FLOWS);
        found.push(("count", Refusal::new(reason)));
    }
    let kind = &traffic.kind;
    if workload::Registry::builtin().get(kind.name()).is_none() {
        let reason = format!("the guest knows no {}", kind.name());
        found.push(("kind", Refusal::new(reason)));
    }
    let control = traffic.control.as_ref();
    if kind.entry.rows == Rows::Call && !kind.has_session() {
        let reason = "how much of a socket's bytes wait cannot be told to the call here";
        found.push(("tcp", Refusal::new(reason)));
    } else if kind.has_session() {
        let refused = control.and_then(|control| controls::ours(control).err());
        found.extend(refused.map(|refusal| ("control", refusal)));
        if traffic.session.packet() > MTU {
            let reason = format!("a packet has at most {MTU} B here");
            found.push(("session", Refusal::new(reason)));
        }
    } else {
        let refused = control.and_then(controls::linux);
        found.extend(refused.map(|refusal| ("control", refusal)));
    }
    if kind.workload.rtt_spread() > 0.0 {
        let reason = "all origins are as far away as the scenario says";
        found.push(("rtt_spread", Refusal::new(reason)));
    }
    if !traffic.via.is_empty() {
        found.push(("via", Refusal::new("there is one link, and one way")));
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
                "links",
                "link.a.device",
                "link.b.discipline",
                "disciplines",
                "disciplines",
                "traffic.x.access",
                "traffic.x.control",
                "traffic.y.control",
                "traffic.y.rtt_spread",
                "traffic.z.session",
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
