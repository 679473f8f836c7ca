//! The evidence given by each row of a comparison of the simulator with Linux.
//!
//! Not all of Linux's side is Linux: applications and media sessions are the simulator's own code
//! in the guest (decision 0050), and our module is a second implementation of the discipline by the
//! same authors. The engine `live` has the simulator's link and disciplines as well.

use crate::cli::Witness;
use reproduce::agreement::Row;
use std::collections::BTreeSet;

const CALL: &str = "call";
const PAGE: &str = "page";

/// The kinds of traffic of the experiment whose rows these are.
pub fn kinds<'a>(rows: impl IntoIterator<Item = &'a Row>) -> BTreeSet<&'static str> {
    rows.into_iter().filter_map(|row| row.kind).collect()
}

/// The parts of `row` for which each engine has code of its own, and the shared ones; its
/// experiment has traffic of these `kinds`.
pub fn of(row: &Row, kinds: &BTreeSet<&'static str>, witness: Witness) -> String {
    let queue = match row.case.split(',').next() {
        _ if witness == Witness::Live => "clock",
        Some(name) if machine::OURS.contains(&name) => "our module",
        _ => "qdisc",
    };
    let transfers = kinds.iter().any(|kind| *kind != CALL);
    let apart = match (row.kind, transfers) {
        (_, false) => queue.to_owned(),
        (Some(CALL), true) => format!("{queue}, TCP beside it"),
        (_, true) => format!("TCP, {queue}"),
    };
    let same = match row.kind {
        Some(CALL) => "; not the call",
        Some(PAGE) => "; not the browser",
        _ if kinds.contains(CALL) => "; with the same call",
        _ if kinds.contains(PAGE) => "; with the same browser",
        _ => "",
    };
    apart + same
}

/// The parts for which both engines run the same code in an experiment with traffic of these
/// `kinds`.
pub fn shared(kinds: &BTreeSet<&'static str>, witness: Witness) -> &'static str {
    if witness == Witness::Live {
        return "Both engines run the same link and disciplines, calls, browsers and QUIC; TCP, sockets and \
                the clock are this host's.";
    }
    match (kinds.contains(CALL), kinds.contains(PAGE)) {
        (false, false) => {
            "The engines share no code that carries or queues packets here: TCP, qdisc and shaper are \
             Linux's, and the modules for `confucius` and `mencius` are ours a second time."
        }
        (true, false) => {
            "Both engines run the same call: encoder, media session and congestion control."
        }
        (false, true) => {
            "Both engines run the same browser and pages, and the same QUIC where a page has HTTP/3."
        }
        (true, true) => {
            "Both engines run the same call (encoder, media session and congestion control), the same \
             browser and pages, and the same QUIC where a page has HTTP/3."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reproduce::agreement::AgreementVerdict;

    fn row(kind: Option<&'static str>, case: &str) -> Row {
        Row {
            scenario: String::new(),
            case: case.to_owned(),
            of: String::new(),
            kind,
            metric: "sojourn",
            unit: "ms",
            ours: 1.0,
            witness: 1.0,
            difference: 0.0,
            ci95: None,
            allowed: 0.1,
            pairs: 8,
            p: 1.0,
            verdict: AgreementVerdict::Untold,
            needed: None,
            reader: None,
            invalid: false,
        }
    }

    #[test]
    fn what_both_run_is_no_evidence_of_itself() {
        let found = |kind, case, among: &[&'static str]| {
            let kinds = among.iter().copied().collect();
            of(&row(kind, case), &kinds, Witness::Kernel)
        };
        for (kind, case, among, expected) in [
            (Some("bulk"), "pie", &["bulk"][..], "TCP, qdisc"),
            (None, "confucius,doubling=1s", &["bulk"], "TCP, our module"),
            (Some("call"), "pie", &["call"], "qdisc; not the call"),
            (
                Some("call"),
                "pie",
                &["call", "bulk"],
                "qdisc, TCP beside it; not the call",
            ),
            (
                Some("bulk"),
                "pie",
                &["call", "bulk"],
                "TCP, qdisc; with the same call",
            ),
            (
                Some("page"),
                "pie",
                &["call", "page"],
                "TCP, qdisc; not the browser",
            ),
            (
                None,
                "pie",
                &["bulk", "page"],
                "TCP, qdisc; with the same browser",
            ),
        ] {
            assert_eq!(found(kind, case, among), expected, "{kind:?} {case}");
        }
        let kinds = ["bulk"].into_iter().collect();
        let live = of(&row(Some("bulk"), "pie"), &kinds, Witness::Live);
        assert_eq!(live, "TCP, clock", "the discipline is the same");
    }
}
