//! An outcome as a page to send to a colleague: limits and causes, and how a call went that missed one.

use crate::figure::{CheckFigure as Of, FIGURES, Unit};
use crate::file::{Check, Condition};
use crate::log::{LoggedFate, LoggedPacket};
use crate::outcome::{Judged, Outcome, Verdict};
use crate::samples::Samples;
use maud::{Markup, html};
use report::{Course, CourseFigure, Time, framed};

/// Waits are drawn as the longest of so long, in s.
const STEP: f64 = 0.1;
/// Rates are drawn as the mean of so long, in s.
const WIDE: f64 = 0.5;

/// A call that missed a limit.
#[derive(Debug, Clone)]
pub struct Example {
    /// The number of its condition.
    pub condition: usize,
    /// What the application told.
    pub samples: Samples,
    /// What the link's log has.
    pub packets: Vec<LoggedPacket>,
    /// The times of trouble.
    pub times: Vec<(f64, f64)>,
}

/// The page, as HTML.
pub fn page(check: &Check, outcome: &Outcome, examples: &[Example]) -> String {
    let content = html! {
        h1 { (outcome.name) }
        p class="verdict" { (said(outcome)) }
        (limits(outcome))
        @for (number, (judged, condition)) in outcome.conditions.iter().zip(&check.conditions).enumerate() {
            @if judged.verdict != Verdict::Passed {
                section {
                    h2 { (judged.name) }
                    @for fault in faults(judged) { p { (fault) "." } }
                    @if let Some(example) = examples.iter().find(|example| example.condition == number) {
                        (course(check, condition, example).pictures())
                    }
                }
            }
        }
    };
    framed(&outcome.name, "", &content)
}

/// One sentence on all of it.
pub fn said(outcome: &Outcome) -> String {
    let all = outcome.conditions.len();
    let count = |wanted| {
        outcome
            .conditions
            .iter()
            .filter(|judged| judged.verdict == wanted)
            .count()
    };
    let (failed, undecided) = (count(Verdict::Failed), count(Verdict::Undecided));
    match outcome.verdict {
        Verdict::Passed => format!("Passed, in {all} of {all} conditions."),
        Verdict::Failed => format!("Failed, in {failed} of {all} conditions."),
        Verdict::Undecided => format!("Not decided, in {undecided} of {all} conditions."),
    }
}

/// What is wrong with a condition, each as a sentence without a stop.
pub fn faults(judged: &Judged) -> Vec<String> {
    let mut all: Vec<String> = judged
        .limits
        .iter()
        .filter_map(|tried| tried.fault())
        .collect();
    all.extend(judged.failure());
    all.extend(
        judged
            .undecided
            .iter()
            .map(|why| format!("not decided: {why}")),
    );
    all
}

fn limits(outcome: &Outcome) -> Markup {
    html! {
        div class="wide" tabindex="0" {
            table class="claims" {
                thead { tr { th { "Condition" } th { "Limit" } th { "Mean, 95 %" } th { "Missed" } th { "Verdict" } } }
                tbody {
                    @for judged in &outcome.conditions {
                        @for tried in &judged.limits {
                            tr {
                                th { (judged.name) }
                                td { (tried.limit) }
                                td { (tried.shown) }
                                td { (tried.missed) " of " (tried.values.len()) " runs" }
                                td { (tried.said()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A call over time.
fn course(check: &Check, condition: &Condition, example: &Example) -> Course {
    let shaded = |what: &str, spans: &[(f64, f64)]| -> Vec<Time> {
        let time = |span: &(f64, f64)| Time {
            span: *span,
            what: what.to_owned(),
            told: String::new(),
            is_shaded: true,
        };
        spans.iter().map(time).collect()
    };
    let mut figures: Vec<CourseFigure> = FIGURES
        .iter()
        .filter(|of| of.has_moments())
        .map(|of| told(of, &example.samples))
        .collect();
    let lines = |each: &dyn Fn(usize) -> Vec<(f64, Option<f64>)>| {
        [("down", 0), ("up", 1)]
            .map(|(name, way)| (name.to_owned(), each(way)))
            .to_vec()
    };
    let media = |packet: &&LoggedPacket| check.application.media.has(packet);
    figures.push(CourseFigure {
        title: "How long the call's packets waited in the link's queues".to_owned(),
        ordinate: "ms".to_owned(),
        lines: lines(&|way| {
            waits(
                example
                    .packets
                    .iter()
                    .filter(media)
                    .filter(|packet| packet.way == way),
            )
        }),
    });
    let seconds = condition.duration.as_secs_f64();
    let of = |is_call: bool| {
        move |packet: &&LoggedPacket| check.application.media.has(packet) == is_call
    };
    for (title, is_call) in [
        ("What left the queues, of the call", true),
        ("What left them, of others", false),
    ] {
        figures.push(CourseFigure {
            title: title.to_owned(),
            ordinate: "Mbit/s".to_owned(),
            lines: lines(&|way| {
                rates(
                    example
                        .packets
                        .iter()
                        .filter(of(is_call))
                        .filter(|packet| packet.way == way),
                    seconds,
                )
            }),
        });
    }
    Course {
        seconds,
        times: shaded("when the call missed its limit", &example.times),
        figures,
        ..Course::default()
    }
}

/// A figure that the application told.
fn told(of: &Of, samples: &Samples) -> CourseFigure {
    let (unit, factor) = match of.unit {
        Unit::Count => ("", 1.0),
        Unit::Time => ("ms", 1e3),
        Unit::Share => ("%", 100.0),
        Unit::Rate => ("Mbit/s", 1e-6),
    };
    let points = samples.moments(of.told, 0.0).into_iter();
    CourseFigure {
        title: format!("{}: {}", of.name, of.about),
        ordinate: if unit.is_empty() { of.name } else { unit }.to_owned(),
        lines: vec![(
            of.name.to_owned(),
            points
                .map(|(at, value)| (at, Some(factor * value)))
                .collect(),
        )],
    }
}

/// The longest wait in each step.
fn waits<'a>(packets: impl Iterator<Item = &'a LoggedPacket>) -> Vec<(f64, Option<f64>)> {
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    for packet in packets {
        let at = libm::floor(packet.left / STEP) * STEP;
        let waited = 1e3 * (packet.left - packet.came);
        match points.last_mut().filter(|last| last.0 >= at) {
            Some(last) => last.1 = last.1.map(|longest| longest.max(waited)),
            None => points.push((at, Some(waited))),
        }
    }
    points
}

/// Mbit/s of those that left for the wire.
fn rates<'a>(
    packets: impl Iterator<Item = &'a LoggedPacket>,
    seconds: f64,
) -> Vec<(f64, Option<f64>)> {
    let mut bytes = vec![0.0; libm::ceil(seconds / WIDE).max(1.0) as usize];
    for packet in packets.filter(|packet| packet.fate != LoggedFate::Dropped) {
        if let Some(sum) = bytes.get_mut((packet.left / WIDE) as usize) {
            *sum += packet.bytes;
        }
    }
    let points = bytes.into_iter().enumerate();
    points
        .map(|(step, sum)| ((step as f64 + 0.5) * WIDE, Some(8e-6 * sum / WIDE)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Run;
    use crate::samples::OutputLine;
    use scenario::AnyNames;

    #[test]
    fn a_page_says_why_and_draws_a_call() {
        let text = "limits = [\"fps >= 20\"]\n[application]\nnear = \"x\"\n[[condition]]\nname = \"a\"\npreset = \"dsl\"\n";
        let check = Check::read("<calls>.toml", text, &AnyNames::default()).unwrap();
        let run = Run {
            values: vec![10.0],
            ..Run::default()
        };
        let outcome = Outcome::of(&check, &[vec![run.clone(), run]], None, None);
        let lines = [1.0, 2.0].map(|read| OutputLine {
            read,
            text: "{\"framesPerSecond\": 10}".to_owned(),
        });
        let packet = |came: f64| LoggedPacket {
            came,
            left: came + 0.02,
            way: 0,
            carrier: "udp".to_owned(),
            ends: ["1.2.3.4:5".to_owned(), "1.2.3.4:6".to_owned()],
            bytes: 1200.0,
            fate: LoggedFate::Sent,
        };
        let example = Example {
            condition: 0,
            samples: Samples::read(&lines).unwrap(),
            packets: vec![packet(1.0), packet(1.5)],
            times: vec![(1.0, 2.0)],
        };
        let page = page(&check, &outcome, &[example]);
        for words in [
            "Failed, in 1 of 1 conditions.",
            "fps &gt;= 20 is missed in 2 of 2 runs",
            "<svg",
            "&lt;calls&gt;",
            "Shaded: when the call missed",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
}
