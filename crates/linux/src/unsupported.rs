//! What of a scenario the kernel engine cannot run.

use crate::network::MTU;
use crate::{controls, disciplines};
use guest::ports;
use measure::Unsupported;
use scenario::{Kind, Scenario, Stack, Traffic};
use units::Instant;
use units::random::Stream;
use workload::call::Encoder;

/// What of `scenario` the kernel engine cannot run, whatever the discipline.
pub fn unsupported(scenario: &Scenario) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let mut refuse = |entry: String, reason: &str| {
        let reason = reason.to_owned();
        found.push(Unsupported { entry, reason });
    };
    if scenario.stack != Stack::Linux {
        refuse("stack".to_owned(), "this is Linux's own TCP");
    }
    if scenario.pacing {
        let reason = "TCP is paced where its control names a rate, as bbr does, and not otherwise";
        refuse("pacing".to_owned(), reason);
    }
    if scenario.links.len() != 1 {
        refuse(
            "links".to_owned(),
            "there is one bottleneck, not a chain of them",
        );
    }
    for link in &scenario.links {
        if link.device > 0 {
            let reason = "packets leave the discipline one by one; there is no device behind it";
            refuse(format!("link.{}.device", link.name), reason);
        }
        let own = link.discipline.iter();
        let own = own.chain(link.up.iter().filter_map(|up| up.discipline.as_ref()));
        for choice in own {
            if let Err(reason) = disciplines::told(choice, None) {
                refuse(format!("link.{}.discipline", link.name), &reason);
            }
        }
    }
    for choice in &scenario.disciplines {
        if let Err(reason) = disciplines::told(choice, None) {
            refuse("disciplines".to_owned(), &reason);
        }
    }
    for traffic in &scenario.traffic {
        for (key, reason) in unsupported_traffic(traffic) {
            refuse(format!("traffic.{}.{key}", traffic.name), &reason);
        }
    }
    found
}

/// Keys of an entry that cannot be run, and why.
fn unsupported_traffic(traffic: &Traffic) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if traffic.access.is_some() {
        let reason = "senders have no link of their own in front of the bottleneck";
        found.push(("access", reason.to_owned()));
    }
    if traffic.count > ports::FLOWS {
        found.push(("count", format!("there are {} ports", ports::FLOWS)));
    }
    match &traffic.kind {
        Kind::Call(call, media) => {
            if let Err(reason) = controls::ours(&traffic.control) {
                found.push(("control", reason));
            }
            let encoder = Encoder::new(call, Instant::ZERO, Stream::new(0, "check"));
            if let Err(error) = encoder {
                found.push(("min_rate", error.to_string()));
            }
            if media.packet() > MTU {
                found.push(("session", format!("a packet has at most {MTU} B here")));
            }
        }
        Kind::Page { params, .. } => {
            found.extend(controls::linux(&traffic.control).map(|reason| ("control", reason)));
            if params.rtt_spread > 0.0 {
                let reason = "all origins are as far away as the scenario says";
                found.push(("rtt_spread", reason.to_owned()));
            }
        }
        Kind::Bulk(_) => {
            found.extend(controls::linux(&traffic.control).map(|reason| ("control", reason)));
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
    }
}
