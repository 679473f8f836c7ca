//! Which way the call went: the pair of addresses in use, by the kinds of its ends, not by its addresses.

use super::{TimelineCause, TimelineFinding};
use crate::yours::import::axis::SecondsAxis;
use crate::yours::import::dump::{DumpConnection, DumpReport};
use scenario::printable;
use std::collections::BTreeMap;

/// Longest word of a kind or a protocol.
const WORD: usize = 16;

/// Times over a server of TURN.
pub fn relays(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let pairs = connection.reports("candidate-pair");
    let ends = PairEnds::of(connection);
    let mut findings: Vec<TimelineFinding> = Vec::new();
    for transport in connection.reports("transport").values() {
        let mut goes_on = false;
        for (time, pair) in transport.samples("selectedCandidatePairId") {
            let time = axis.at(time);
            let pair = pair.as_str().and_then(|id| pairs.get(id));
            let relayed = pair.map(|of| ends.way(of)).filter(|way| way.1);
            let told = relayed.map(|(way, _)| {
                format!("the selected candidate-pair is {way}: a server of TURN carries the call")
            });
            match (told, findings.last_mut()) {
                (Some(told), Some(last)) if goes_on && last.told == told => last.until = time,
                (Some(told), _) => {
                    findings.push(TimelineFinding::new(
                        TimelineCause::Relay,
                        (time, time),
                        told,
                    ));
                    goes_on = true;
                }
                (None, _) => goes_on = false,
            }
        }
    }
    findings
}

/// The kinds of the ends of the pair that was selected last, if the dump says.
pub fn last(connection: &DumpConnection) -> Option<String> {
    let transports = connection.reports("transport");
    let mut selected = transports
        .values()
        .filter_map(|of| of.text("selectedCandidatePairId"));
    let pairs = connection.reports("candidate-pair");
    let pair = selected.find_map(|id| pairs.get(id.as_str()))?;
    Some(PairEnds::of(connection).way(pair).0)
}

/// The reports of the pairs' ends.
struct PairEnds<'a> {
    local: BTreeMap<&'a str, DumpReport<'a>>,
    remote: BTreeMap<&'a str, DumpReport<'a>>,
}

impl<'a> PairEnds<'a> {
    fn of(connection: &'a DumpConnection) -> Self {
        PairEnds {
            local: connection.reports("local-candidate"),
            remote: connection.reports("remote-candidate"),
        }
    }

    /// The kinds of a pair's ends, and whether one is a relay.
    fn way(&self, pair: &DumpReport<'_>) -> (String, bool) {
        let end = |of: &BTreeMap<&str, DumpReport<'_>>, id: &str| {
            let text = |name: &str| {
                let id = pair.text(id)?;
                of.get(id.as_str())?.text(name)
            };
            let kind = text("candidateType").unwrap_or_default();
            let over = text("relayProtocol").or_else(|| text("protocol"));
            let over = over.map_or_else(String::new, |over| format!("/{over}"));
            (printable(&format!("{kind}{over}"), WORD), kind == "relay")
        };
        let (here, relayed) = end(&self.local, "localCandidateId");
        let (there, relays) = end(&self.remote, "remoteCandidateId");
        (
            format!("{here} here, {there} at the other end"),
            relayed || relays,
        )
    }
}
