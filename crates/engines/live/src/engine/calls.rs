//! Calls over a real WebRTC stack.

use guest::log::Log;
use guest::{Sessions, Stage};
use rtc::{Failure, Rates};
use scenario::{Scenario, Stack, Traffic};
use transport::media::MediaParams;
use units::{Instant, Refusal};

/// The control that the stack has.
const CONTROL: &str = "gcc";

/// Calls that the scenario's stack cannot carry, and why.
pub fn refused(scenario: &Scenario) -> Vec<(String, Refusal)> {
    let calls = scenario
        .traffic
        .iter()
        .filter(|traffic| scenario.stack == Stack::WebRtc && traffic.kind.has_session());
    let refused = calls.filter_map(|traffic| {
        let refusal = suits(traffic).err()?;
        Some((format!("traffic.{}", traffic.name), refusal))
    });
    refused.collect()
}

/// What a call may send, if the stack can carry it.
///
/// # Errors
/// If the stack has no such call.
fn suits(traffic: &Traffic) -> Result<Rates, Refusal> {
    let refused = |reason: &str| Refusal::new(format!("stack webrtc: {reason}"));
    if traffic.kind.name() != "call" {
        let message = format!("it has calls, and no {}", traffic.kind.name());
        return Err(refused(&message));
    }
    let control = traffic.control.as_ref();
    if control.is_none_or(|control| control.name != CONTROL || !control.settings.is_empty()) {
        let reason = "it has a congestion control of its own, which is a gcc without settings";
        return Err(refused(reason).with_help("write control = \"gcc\", or leave it out"));
    }
    if traffic.session != MediaParams::default() {
        return Err(refused("its session has settings of its own").with_help("leave session out"));
    }
    let values = traffic.kind.workload.values();
    if values
        .iter()
        .any(|(key, value)| *key == "scalability" && value != "L1T1")
    {
        return Err(refused("it has no temporal layers").with_help("leave scalability out"));
    }
    let media = traffic.kind.workload.media();
    let (start, (_, most)) = media.ok_or_else(|| refused("it has no calls over TCP or QUIC"))?;
    Ok(Rates { start, most })
}

/// Makes the ends of calls; `failure` keeps what goes wrong in one.
fn sessions(failure: Failure) -> Sessions {
    Box::new(move |now: Instant, traffic: &Traffic| {
        let made = rtc::pair(now, suits(traffic)?, &failure);
        made.map_err(|error| Refusal::new(error.to_string()))
    })
}

/// Runs the applications, with the calls that the scenario's stack has.
///
/// # Errors
/// If a socket behaves as it should not, or a call breaks down.
pub fn play(scenario: &Scenario, seed: u64, stage: Stage) -> Result<Log, String> {
    let failure = Failure::default();
    let sessions = (scenario.stack == Stack::WebRtc).then(|| sessions(failure.clone()));
    let played = guest::play(scenario, seed, stage, sessions);
    match failure.get() {
        Some(failure) => Err(failure.to_string()),
        None => played.map_err(|failure| failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{AnyNames, Document};

    #[test]
    fn what_the_stack_has_not_is_refused() {
        let words = |entry: &str| {
            let text = format!(
                "stack = \"webrtc\"\ndisciplines = [\"pfifo\"]\nduration = \"9s\"\n\
                 link = {{ rate = \"9mbit\", rtt = \"9ms\" }}\ntraffic = [{{ name = \"one\", {entry} }}]\n"
            );
            let document = Document::parse("test", &text).unwrap();
            let scenario = document.resolve(&AnyNames::default()).unwrap();
            let found = refused(&scenario);
            found
                .into_iter()
                .map(|(_, refusal)| refusal.message)
                .collect::<String>()
        };
        assert_eq!(words("kind = \"call\""), "");
        assert_eq!(words("kind = \"bulk\""), "", "over Linux's TCP");
        assert!(words("kind = \"call\", control = \"copa\"").contains("congestion control"));
        assert!(
            words("kind = \"call\", control = \"gcc,alr_probing=yes\"")
                .contains("without settings")
        );
        assert!(words("kind = \"call\", session = { nack = \"no\" }").contains("session"));
        assert!(words("kind = \"call\", scalability = \"L1T3\"").contains("temporal layers"));
        assert!(words("kind = \"conference\"").contains("no conference"));
    }
}
