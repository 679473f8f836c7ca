//! An outcome as JUnit's XML: a test suite for each condition, a test case for each limit.
//!
//! The form is the one that Jenkins, GitLab and others read (github.com/testmoapp/junitxml describes what they have in
//! common): a limit that is missed is a `failure`, and one that runs do not decide is an `error`.

use crate::decide::Decision;
use crate::outcome::{Judged, Outcome, TriedLimit, Verdict};
use core::fmt::Write as _;

/// A test case: its name, and how it ended if not well.
type Case = (String, Option<Ended>);

/// How a test case ended, other than well.
struct Ended {
    element: &'static str,
    message: String,
}

/// The text of the file.
pub fn junit(outcome: &Outcome) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let suites: Vec<(&Judged, Vec<Case>)> = outcome
        .conditions
        .iter()
        .map(|judged| (judged, cases(judged)))
        .collect();
    let all = suites.iter().flat_map(|(_, cases)| cases);
    _ = writeln!(
        text,
        "<testsuites name=\"{}\" {}>",
        escaped(&outcome.name),
        counts(all)
    );
    for (judged, cases) in &suites {
        let name = escaped(&judged.name);
        _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" {}>",
            counts(cases.iter())
        );
        for (case, ended) in cases {
            let head = format!(
                "    <testcase name=\"{}\" classname=\"{}.{name}\"",
                escaped(case),
                escaped(&outcome.name)
            );
            _ = match ended {
                None => writeln!(text, "{head}/>"),
                Some(Ended { element, message }) => writeln!(
                    text,
                    "{head}>\n      <{element} message=\"{}\"/>\n    </testcase>",
                    escaped(message)
                ),
            };
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// Its limits, and whether calls come about, if some did not.
fn cases(judged: &Judged) -> Vec<Case> {
    let limits = judged.limits.iter();
    let mut cases: Vec<_> = limits
        .map(|tried| (tried.limit.clone(), ended(judged, tried)))
        .collect();
    // Of a condition that passes in spite of a call that failed nothing is wrong.
    if let Some(message) = judged
        .failure()
        .filter(|_| judged.verdict == Verdict::Failed)
    {
        let element = "failure";
        cases.push((
            "calls come about".to_owned(),
            Some(Ended { element, message }),
        ));
    }
    if let Some(why) = &judged.undecided
        && cases.iter().all(|(_, ended)| ended.is_none())
    {
        let (element, message) = ("error", format!("not decided: {why}"));
        cases.push(("is decided".to_owned(), Some(Ended { element, message })));
    }
    cases
}

fn ended(judged: &Judged, tried: &TriedLimit) -> Option<Ended> {
    if let Some(message) = tried.fault() {
        let element = "failure";
        return Some(Ended { element, message });
    }
    let why = judged.undecided.as_ref()?;
    let is_open = tried.decision == Decision::Open && judged.verdict == Verdict::Undecided;
    is_open.then(|| Ended {
        element: "error",
        message: format!("not decided: {why}"),
    })
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for (_, ended) in cases {
        tests += 1;
        match ended.as_ref().map(|ended| ended.element) {
            Some("failure") => failures += 1,
            Some(_) => errors += 1,
            None => {}
        }
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
}

/// A value of an attribute: XML 1.0 has no other control characters than these, not even escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::{Cause, CheckCauseKind};
    use crate::outcome::Because;

    fn tried(limit: &str, decision: Decision) -> TriedLimit {
        let cause = Cause {
            kind: CheckCauseKind::Loss,
            way: Some("up"),
            share: 0.5,
            words: "the wire lost \"half\" of it\u{1b}[31m".to_owned(),
        };
        TriedLimit {
            name: "freezes".to_owned(),
            limit: limit.to_owned(),
            shown: "3".to_owned(),
            ci95: None,
            values: vec![3.0; 2],
            missed: 2,
            decision,
            because: Some(Because {
                cause,
                also: Vec::new(),
                runs: 2,
                of: 2,
            }),
            compared: None,
        }
    }

    #[test]
    fn each_limit_is_a_case() {
        let judged = |name: &str, verdict, undecided: Option<&str>, limits| Judged {
            name: name.to_owned(),
            verdict,
            runs: 2,
            late: 0,
            failed: vec!["status 3 & more".to_owned()],
            undecided: undecided.map(str::to_owned),
            limits,
        };
        let missed = vec![
            tried("freezes <= 1", Decision::Missed),
            tried("fps >= 20", Decision::Kept),
        ];
        let open = vec![tried("fps >= 20", Decision::Open)];
        let outcome = Outcome {
            name: "a<b".to_owned(),
            verdict: Verdict::Failed,
            conditions: vec![
                judged("lte", Verdict::Failed, None, missed),
                judged("dsl", Verdict::Undecided, Some("this host was late"), open),
            ],
        };
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuites name=\"a&lt;b\" tests=\"4\" failures=\"2\" errors=\"1\">\n  \
            <testsuite name=\"lte\" tests=\"3\" failures=\"2\" errors=\"0\">\n    \
            <testcase name=\"freezes &lt;= 1\" classname=\"a&lt;b.lte\">\n      \
            <failure message=\"freezes &lt;= 1 is missed in 2 of 2 runs, mean 3: the wire lost &quot;half&quot; of it\u{fffd}[31m\"/>\n    \
            </testcase>\n    \
            <testcase name=\"fps &gt;= 20\" classname=\"a&lt;b.lte\"/>\n    \
            <testcase name=\"calls come about\" classname=\"a&lt;b.lte\">\n      \
            <failure message=\"the application failed in 1 of 3 calls: status 3 &amp; more\"/>\n    \
            </testcase>\n  \
            </testsuite>\n  \
            <testsuite name=\"dsl\" tests=\"1\" failures=\"0\" errors=\"1\">\n    \
            <testcase name=\"fps &gt;= 20\" classname=\"a&lt;b.dsl\">\n      \
            <error message=\"not decided: this host was late\"/>\n    \
            </testcase>\n  \
            </testsuite>\n\
            </testsuites>\n";
        assert_eq!(junit(&outcome), expected);
    }
}
