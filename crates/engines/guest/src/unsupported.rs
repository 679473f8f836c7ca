//! Parts of a scenario that real sockets cannot run.

use crate::controls;
use measure::Unsupported;
use scenario::{Scenario, Stack, Traffic, addresses};
use units::Refusal;
use workload::Rows;

/// Bytes of the largest packet.
pub const MTU: u32 = 1500;

/// The parts of the traffic of `scenario` that real sockets cannot run, independent of the network
/// between them.
pub fn unsupported(scenario: &Scenario) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let mut refuse = |entry: String, refusal: Refusal| {
        found.push(Unsupported { entry, refusal });
    };
    if scenario.stack == Stack::Ns3 {
        refuse("stack".to_owned(), Refusal::new("this is Linux's own TCP"));
    }
    if let Some((entry, refusal)) = scenario.followed() {
        refuse(entry, refusal);
    }
    if scenario.small_queues {
        let reason = "the queue under test is on a router: its senders' own queues are elsewhere";
        refuse("small_queues".to_owned(), Refusal::new(reason));
    }
    if scenario.ack_every != scenario.stack.config().ack_every {
        let reason = "Linux's own TCP decides when it acknowledges";
        refuse("ack_every".to_owned(), Refusal::new(reason));
    }
    if scenario.receive_window.get() != scenario.stack.config().receive_window {
        let reason = "Linux's own TCP sizes the windows of its receivers";
        refuse("receive_window".to_owned(), Refusal::new(reason));
    }
    if scenario.senders.is_some() {
        let reason = "only the engine sim looks into its senders";
        refuse("senders".to_owned(), Refusal::new(reason));
    }
    if scenario.pacing {
        let reason = "TCP is paced where its control names a rate, as bbr does, and not otherwise";
        refuse("pacing".to_owned(), Refusal::new(reason));
    }
    for traffic in &scenario.traffic {
        for (key, refusal) in of_traffic(traffic) {
            refuse(format!("traffic.{}.{key}", traffic.name), refusal);
        }
    }
    found
}

/// Keys of an entry that cannot be run, and why.
fn of_traffic(traffic: &Traffic) -> Vec<(&'static str, Refusal)> {
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
    if kind.entry.rows == Rows::Call && !kind.has_session() && !kind.workload.only_quic() {
        let reason = "how much of a socket's bytes wait cannot be told to the call here";
        found.push(("tcp", Refusal::new(reason)));
    } else if kind.has_session() || kind.workload.only_quic() {
        let refused = control.and_then(|control| controls::ours(traffic, control));
        found.extend(refused.map(|refusal| ("control", refusal)));
        if kind.has_session() && traffic.session.packet() > MTU {
            let reason = format!("a packet has at most {MTU} B here");
            found.push(("session", Refusal::new(reason)));
        }
    } else {
        let refused = control.and_then(controls::linux);
        found.extend(refused.map(|refusal| ("control", refusal)));
    }
    if !traffic.via.is_empty() {
        found.push(("via", Refusal::new("there is one link, and one way")));
    }
    found
}
