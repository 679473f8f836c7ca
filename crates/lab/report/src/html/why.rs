//! Why each call stalled: in words, and each stall.

use super::frame::section as wrap;
use super::headline::sentence;
use super::report::{Drawn, Report};
use super::words::time;
use maud::{Markup, html};
use measure::CallResult;
use measure::why::{CauseKind, Stall, Whose};

/// A line for each discipline, and folded behind it the explanation of each call in its runs that are drawn.
pub fn section(report: &Report<'_>) -> Markup {
    let explained: Vec<Option<Markup>> = (0..report.summaries.len())
        .map(|n| of_discipline(report, n))
        .collect();
    let some = explained.iter().any(Option::is_some);
    let content = html! {
        @for (n, explained) in explained.iter().enumerate() {
            @match explained {
                Some(explained) => {
                    details class="why" { summary { (sentence(report, n)) } (explained) }
                }
                None => p { (sentence(report, n)) },
            }
        }
        @if some {
            p class="note" {
                "From the packets of late frames: the longest part of the way of the one with which a \
                 frame was complete is where the frame was late. Percentages behind names: of the bytes \
                 that left the queue meanwhile."
                @if !tried(report) {
                    " Shares of the stall are what those packets suggest: "
                    code { "analects run --why" }
                    " tries each cause by leaving it out."
                }
            }
        }
    };
    wrap("why", "Why calls stall", &content)
}

/// Whether causes of the drawn runs were tried by leaving each out.
fn tried(report: &Report<'_>) -> bool {
    let calls = report.drawn.iter().flat_map(|drawn| &drawn.run.calls);
    let whys = calls.filter_map(|call| call.why.as_ref());
    let mut causes = whys.flat_map(|why| why.causes.iter().chain(&why.refuted));
    causes.any(|cause| cause.tried.is_some())
}

/// What is known of a discipline's runs, if calls stalled in them.
fn of_discipline(report: &Report<'_>, n: usize) -> Option<Markup> {
    let drawn = report.drawn.iter().filter(|drawn| drawn.n == n);
    let runs: Vec<Markup> = drawn.filter_map(|drawn| run(report, drawn)).collect();
    (!runs.is_empty()).then(|| html! { @for run in &runs { (run) } })
}

fn run(report: &Report<'_>, drawn: &Drawn<'_>) -> Option<Markup> {
    let calls = drawn.run.calls.iter();
    let calls: Vec<&CallResult> = calls.filter(|call| call.why.is_some()).collect();
    let stalls = calls.iter().filter_map(|call| {
        let stalls = &call.why.as_ref()?.stalls;
        (!stalls.is_empty()).then_some((call.name.as_str(), stalls))
    });
    let stalls: Vec<(&str, &Vec<Stall>)> = stalls.collect();
    let runs = report.runs();
    (!calls.is_empty()).then(|| {
        html! {
            div class=(format!("d{}", drawn.n)) {
                @if runs > 1 { p { (drawn.which(runs)) ":" } }
                ul class="notes" {
                    @for why in calls.iter().filter_map(|call| call.why.as_ref()) { li { (why.text) } }
                }
                @if !stalls.is_empty() {
                    details class="values" {
                        summary { "Each stall, or the longest twenty of a call" }
                        (table(&stalls))
                    }
                }
            }
        }
    })
}

const HEADINGS: [&str; 8] = [
    "call",
    "from s",
    "to s",
    "stall",
    "longest delay",
    "where",
    "behind",
    "call’s Mbit/s",
];

fn table(of: &[(&str, &Vec<Stall>)]) -> Markup {
    html! {
        div class="wide" {
            table class="cards" {
                thead { tr { @for heading in HEADINGS { th scope="col" { (heading) } } } }
                tbody {
                    @for (call, stalls) in of {
                        @for stall in *stalls { (line(call, stall)) }
                    }
                }
            }
        }
    }
}

fn line(call: &str, stall: &Stall) -> Markup {
    let cells = [
        format!("{:.1}", stall.from_s),
        format!("{:.1}", stall.to_s),
        time(stall.stall_s * 1e3),
        stall.worst_ms.map_or_else(|| "lost".to_owned(), time),
        place(stall),
        behind(stall),
        format!(
            "{:.2} → {:.2}",
            stall.rate_before_mbps, stall.rate_lowest_mbps
        ),
    ];
    html! {
        tr {
            th scope="row" { (call) }
            @for (cell, heading) in cells.iter().zip(&HEADINGS[1..]) {
                td data-of=(heading) { (cell) }
            }
        }
    }
}

fn place(stall: &Stall) -> String {
    let queue = stall.cause.queue.as_deref().unwrap_or_default();
    let place = match stall.cause.kind {
        CauseKind::Queue => format!("queue of {queue}"),
        CauseKind::Dip => format!("{queue} carried little"),
        CauseKind::Device => format!("device behind {queue}"),
        CauseKind::Jitter => format!("jitter behind {queue}"),
        CauseKind::Loss => format!("losses behind {queue}"),
        CauseKind::Policing => format!("rate limit at {queue}"),
        CauseKind::Access => "sender’s line".to_owned(),
        CauseKind::Sender => "sender".to_owned(),
        CauseKind::Distance => "distance".to_owned(),
        CauseKind::Unknown => "not seen".to_owned(),
    };
    if stall.cause.back {
        format!("on the way back: {place}")
    } else {
        place
    }
}

fn behind(stall: &Stall) -> String {
    match stall.cause.behind.first() {
        None => "–".to_owned(),
        Some(first) if first.whose == Whose::Own => "itself".to_owned(),
        Some(first) => format!("{} {:.0} %", first.name, first.share * 100.0),
    }
}
